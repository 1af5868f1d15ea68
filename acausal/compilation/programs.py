"""CasADi functions as programs that a kernel executes."""

from __future__ import annotations

import casadi as ca
import numpy as np

from ..kernels import programs as p
from ..kernels.programs import Arithmetic

OPERATIONS = {
    ca.OP_ASSIGN: p.ASSIGN, ca.OP_ADD: p.ADD, ca.OP_SUB: p.SUBTRACT, ca.OP_MUL: p.MULTIPLY, ca.OP_DIV: p.DIVIDE,
    ca.OP_NEG: p.NEGATE, ca.OP_SQ: p.SQUARE, ca.OP_TWICE: p.TWICE, ca.OP_INV: p.INVERT, ca.OP_LT: p.LESS,
    ca.OP_LE: p.LESS_OR_SAME, ca.OP_EQ: p.SAME, ca.OP_NE: p.DIFFERENT, ca.OP_NOT: p.NOT, ca.OP_AND: p.AND, ca.OP_OR: p.OR,
    ca.OP_IF_ELSE_ZERO: p.IF_ELSE_ZERO, ca.OP_FLOOR: p.FLOOR, ca.OP_CEIL: p.CEIL, ca.OP_FABS: p.MAGNITUDE,
    ca.OP_SIGN: p.SIGN, ca.OP_FMIN: p.MINIMUM, ca.OP_FMAX: p.MAXIMUM, ca.OP_SQRT: p.SQUARE_ROOT, ca.OP_EXP: p.EXPONENTIAL,
    ca.OP_LOG: p.LOGARITHM, ca.OP_SIN: p.SINE, ca.OP_COS: p.COSINE, ca.OP_TAN: p.TANGENT, ca.OP_ASIN: p.ARCSINE,
    ca.OP_ACOS: p.ARCCOSINE, ca.OP_ATAN: p.ARCTANGENT, ca.OP_SINH: p.HYPERBOLIC_SINE, ca.OP_COSH: p.HYPERBOLIC_COSINE,
    ca.OP_TANH: p.HYPERBOLIC_TANGENT, ca.OP_ATAN2: p.ANGLE, ca.OP_POW: p.POWER, ca.OP_CONSTPOW: p.POWER,
}  # fmt: skip
"""What kernels can do, by CasADi's names."""


def ends_of(sizes: list[int]) -> np.ndarray:
    """Where arguments or results of these sizes begin behind each other, and the end of the last."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def program_of(function: ca.Function) -> Arithmetic | None:
    """The program of a function, its arguments one behind the other, and its results; None where kernels cannot execute it."""
    if not function.is_a("SXFunction"):
        try:
            function = function.expand()
        except RuntimeError:
            return None
    steps = range(function.n_instructions())
    known = {ca.OP_INPUT, ca.OP_OUTPUT, ca.OP_CONST, *OPERATIONS}
    operations = [function.instruction_id(k) for k in steps]
    dense = all(function.sparsity_out(k).is_dense() for k in range(function.n_out()))
    if not dense or not known.issuperset(operations):
        return None
    into = ends_of([function.numel_in(k) for k in range(function.n_in())])
    out = ends_of([function.numel_out(k) for k in range(function.n_out())])
    code, constants = np.zeros((len(steps), 4), np.int64), np.zeros(len(steps))
    for k, op in enumerate(operations):
        reads, writes = function.instruction_input(k), function.instruction_output(k)
        if op == ca.OP_INPUT:
            code[k] = p.INPUT, into[reads[0]] + reads[1], 0, writes[0]
        elif op == ca.OP_OUTPUT:
            code[k] = p.OUTPUT, reads[0], 0, out[writes[0]] + writes[1]
        elif op == ca.OP_CONST:
            code[k], constants[k] = (p.CONSTANT, 0, 0, writes[0]), function.instruction_constant(k)
        else:
            code[k] = OPERATIONS[op], reads[0], reads[-1], writes[0]
    return Arithmetic(code, constants, np.zeros(into[-1]), np.zeros(out[-1]), np.zeros(function.sz_w() + 1))


def with_own_numbers(program: Arithmetic) -> Arithmetic:
    """The same program, which another run cannot disturb."""
    return Arithmetic(program.code, program.constants, *(np.zeros_like(part) for part in program[2:]))
