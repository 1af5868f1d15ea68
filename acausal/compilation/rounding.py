"""How far rounding may move a value: the sum over all operations of its expression, by reverse differentiation.

Every operation rounds its result by a unit in the last place, which reaches the value with the derivative of the value by that
result: N. J. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, section 3.3; S. Linnainmaa,
Taylor Expansion of the Accumulated Rounding Error, BIT 16 (1976).
"""

from __future__ import annotations

from typing import Any

import casadi as ca
import numpy as np

from ..kernels.newton import REACHED
from ..reduction.rounding import UNIT

LEAST = float(np.finfo(float).tiny)
"""What an operation may round where its result has left the range of normal numbers."""
_EXACT = frozenset(
    (
        ca.OP_NEG, ca.OP_TWICE, ca.OP_FABS, ca.OP_FMIN, ca.OP_FMAX, ca.OP_IF_ELSE_ZERO, ca.OP_SIGN, ca.OP_FLOOR, ca.OP_CEIL,
        ca.OP_NOT, ca.OP_AND, ca.OP_OR, ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE,
    )
)  # fmt: skip
"""Operations whose result is one of their arguments, or a whole number."""


def rounding_of(value: Any, inputs: list[Any], constants: Any) -> ca.Function:
    """How far rounding may move a value.

    Parameters
    ----------
    value : casadi.SX
        A scalar.
    inputs : list of casadi.SX
        What it is computed from, and known up to errors.
    constants : casadi.SX
        What is known exactly.

    Returns
    -------
    casadi.Function
        ``(*inputs, constants, *errors)`` to the bound; zero where there is none, as slopes are infinite.
    """
    exact = ca.Function("value", [*inputs, constants], [value])
    symbols = [*inputs, constants]
    entries = [ca.vertsplit(s) if s.numel() else [] for s in symbols]
    held: dict[int, Any] = {}
    moved, rounded, found = [], [], ca.SX(0)
    for k in range(exact.n_instructions()):
        op, of, to = exact.instruction_id(k), exact.instruction_input(k), exact.instruction_output(k)
        if op == ca.OP_OUTPUT:
            found = held[of[0]]
        elif op == ca.OP_INPUT:
            held[to[0]] = entries[of[0]][of[1]]
        elif op == ca.OP_CONST:
            held[to[0]] = ca.SX(exact.instruction_constant(k))
        else:
            arguments = [held[j] for j in of]
            result = ca.SX.unary(op, *arguments) if len(of) == 1 else ca.SX.binary(op, *arguments)
            if op not in _EXACT and not result.is_constant():
                rounded.append(result)
                moved.append(ca.SX.sym("moved"))
                result = ca.SX.binary(ca.OP_ADD, result, moved[-1])
            held[to[0]] = result
    errors = [ca.SX.sym("error", x.numel()) for x in inputs]
    shift, size = ca.vertcat(*moved), ca.vertcat(*rounded)
    sources = ca.vertcat(*inputs, shift)
    slope = ca.densify(ca.gradient(found, sources))
    size = ca.vertcat(*errors, UNIT * ca.fabs(size) + LEAST)
    # A branch that is not taken need not have a value.
    parts = ca.if_else(slope, ca.fabs(slope * size), 0.0)
    (bound,) = ca.substitute([ca.sum1(parts)], [shift], [ca.SX.zeros(len(moved))])
    bound = ca.if_else(bound < np.inf, bound, 0.0)
    return ca.Function("rounding", [*symbols, *errors], [ca.densify(bound)])


def solved(r: np.ndarray, rounding: np.ndarray, J: Any, step: np.ndarray, scale: np.ndarray) -> Any:
    """Whether residuals (..., m) are rounding, that of the step which led here included; a Boolean, or many of them.

    The solution of linear equations is exact up to last places of its largest part in units of scales: a matrix that couples
    unknowns of all sizes brings the rounding of some into the others, also where these have to vanish. See Higham, section 9.3.
    """
    off = np.abs(r)
    reached = (off <= REACHED * rounding).all(axis=-1)
    if reached.all() or not hasattr(J, "shape"):
        return reached
    largest = np.max(np.abs(step) / scale, axis=-1, keepdims=True, initial=0.0)
    sizes = np.where(np.isfinite(scale), scale, 0.0) * largest
    moved = (abs(J) @ sizes[..., None])[..., 0]
    return reached | (off <= REACHED * (rounding + UNIT * moved)).all(axis=-1)


def missed(r: np.ndarray, rounding: np.ndarray) -> np.ndarray:
    """Residuals in units of their rounding, zero where they are no more than that; those without any count as one alone."""
    return np.where(np.abs(r) <= REACHED * rounding, 0.0, r / np.where(rounding > 0.0, rounding, 1.0))
