"""CasADi functions of the nonlinear rows: values, total derivatives along a motion, and their gradients."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from copy import copy
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..flattening.flat_model import kind_of
from ..flattening.forms import inner
from ..flattening.locating import locate_symbol
from ..modeling.expressions import Expr, Symbol
from ..reduction.nonlinear_rows import Constants, NonlinearRows
from ..reduction.reduced_model import NonlinearFormRows, ReducedModel
from .lowering import Buffered, lower
from .rounding import rounding_of

ROUNDING = -1
"""Stands for a level: bounds of the rounding of level 0."""
MOST_COMPILED = 256
"""Functions of modes that are kept: a run of many modes makes some for each."""


class NonlinearFunctions:
    """Evaluates all nonlinear rows ``rho(a; c)`` and their first three total derivatives in time.

    Level 0 gives ``rho``, level 1 ``d rho/dt = rho_a a1``, level 2 ``d2 rho/dt2 = rho_a a2 + rho_aa[a1, a1]``
    with the arguments ``a``, ``a1 = da/dt``, ``a2 = d2a/dt2``, and level 3 likewise, without gradients.

    Parameters
    ----------
    rows : NonlinearRows
    """

    def __init__(self, rows: NonlinearRows) -> None:
        self.rows = rows
        self._made: dict[int, ca.Function] = {}
        self._levels: dict[int, Buffered] = {}
        self._single: dict[Hashable, Any] = {}
        self._compiled: dict[Hashable, Any] = {}
        self._group = np.repeat(
            np.arange(len(rows.model.nonlinear)), [len(c.instances) for c in rows.model.nonlinear]
        )
        self.scale = np.ones(len(rows.owner))
        """Magnitudes of the arguments."""

    def compiled(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """What was made for these numbers before, by any run, or is made now."""
        found = self._compiled.get(key)
        if found is None:
            found = make()
            while len(self._compiled) >= MOST_COMPILED:
                self._compiled.pop(next(iter(self._compiled)), None)
            self._compiled[key] = found
        return found

    def row(self, k: int, level: int, jets: list[Any], constants: Any) -> Any:
        """Symbolic value of one nonlinear row at a level; ``jets`` and ``constants`` are its own."""
        f = self._of_group(_differentiated, int(self._group[k]), level)
        return f(*jets, constants)[0]

    def row_rounding(self, k: int, level: int, jets: list[Any], constants: Any, errors: list[Any]) -> Any:
        """Symbolic bound of the rounding of `row`, with ``errors`` of the jets."""
        return self._of_group(_rounding, int(self._group[k]), level)(*jets, constants, *errors)

    def _of_group(self, make: Callable[[Any, int], ca.Function], group: int, level: int) -> ca.Function:
        """A function of the rows that are alike, made once."""
        found = self._single.get((make, group, level))
        if found is None:
            found = self._single[make, group, level] = make(self._expression(group), level)
        return found

    def _expression(self, group: int) -> tuple[Any, Any, Any]:
        """Arguments, constants and value of the rows that are alike as SX, from a function that is made once."""
        f = self._single.get(group)
        if f is None:
            own = self.rows
            a, c, value = _expression(own.model, own.model.nonlinear[group], own.constants[group])
            f = self._single[group] = ca.Function("row", [a, c], [value])
        a, c = f.sx_in()
        return a, c, f(a, c)

    @cached_property
    def nonlinear(self) -> np.ndarray:
        """Mask over the arguments: the slope of their row by them is not constant."""
        parts = [np.zeros(0, bool)]
        for group, rows in enumerate(self.rows.model.nonlinear):
            a, _, value = self._expression(group)
            parts.append(np.tile(ca.which_depends(value, a, 2, False), len(rows.instances)))
        return np.concatenate(parts).astype(bool)

    def affine(self, k: int, constants: np.ndarray) -> tuple[float, np.ndarray] | None:
        """Value at zero and slopes of one nonlinear row where its own ``constants`` make it affine, None where they do not.

        What is switched off, or on, is a constant of zero, or one.
        """
        group, switched = (
            int(self._group[k]),
            tuple([x if x in (0.0, 1.0) else None for x in constants.tolist()]),
        )
        key = group, switched
        if key not in self._single:
            self._single[key] = _affine(self._expression(group), switched)
        f = self._single[key]
        if f is None:
            return None
        value, slopes = (found.full()[:, 0] for found in f(constants))
        return (float(value[0]), slopes) if np.isfinite([*value, *slopes]).all() else None

    @cached_property
    def bent(self) -> np.ndarray:
        """Mask over the arguments: the slope of their row by them depends on themselves."""
        parts = [np.zeros(0, bool)]
        for group, rows in enumerate(self.rows.model.nonlinear):
            a, _, value = self._expression(group)
            pattern = ca.hessian(ca.SX(value), a)[0].sparsity()
            found = np.array([pattern.has_nz(i, i) for i in range(a.numel())], bool)
            parts.append(np.tile(found, len(rows.instances)))
        return np.concatenate(parts)

    def rescaled(self, scale: np.ndarray) -> NonlinearFunctions:
        """The same functions with arrays of their own, for arguments of other magnitudes."""
        made = copy(self)
        made._levels, made.scale = {}, scale
        return made

    def __call__(self, level: int, jets: list[np.ndarray], constants: np.ndarray) -> list[np.ndarray]:
        """Values (m,) of a level, and their gradients (na,) with respect to ``jets[0]``, ``jets[1]``, ... in order.

        The gradient of a level with respect to its highest jet is that of level 0 with respect to ``a``.
        The arrays are overwritten by the next call.
        """
        f = self._buffered(level)
        for k in range(level + 1):
            f.inputs[k][:] = jets[k]
        f.inputs[level + 1][:] = constants
        f()
        if level == 0 and not np.isfinite(f.outputs[1]).all():
            self._mend(f)
        return f.outputs

    def rounding(self, a: np.ndarray, constants: np.ndarray, errors: np.ndarray) -> np.ndarray:
        """Bounds (m,) of the rounding of the rows at arguments with these errors; overwritten by the next call."""
        f = self._buffered(ROUNDING)
        f.inputs[0][:], f.inputs[1][:], f.inputs[2][:] = a, constants, errors
        f()
        return f.outputs[0]

    def _buffered(self, level: int) -> Buffered:
        """The function of all rows at a level, or of their rounding."""
        f = self._levels.get(level)
        if f is None:
            if level not in self._made:
                self._made[level] = self._of_all(level)
            f = self._levels[level] = Buffered(self._made[level])
        return f

    def _of_all(self, level: int) -> ca.Function:
        """One function for all rows at a level, or of their rounding: each one mapped over its instances."""
        make, order = (_rounding, 0) if level == ROUNDING else (_differentiated, level)
        functions = [
            (self._of_group(make, group, order), len(rows.instances))
            for group, rows in enumerate(self.rows.model.nonlinear)
        ]
        symbols, parts = [], []
        for j in range(functions[0][0].n_in()):
            sizes = [f.size1_in(j) * n for f, n in functions]
            symbols.append(ca.MX.sym(f"a{j}", sum(sizes)))
            parts.append(ca.vertsplit(symbols[-1], np.cumsum([0, *sizes]).tolist()))
        outputs: list[list[Any]] = []
        for g, (f, n) in enumerate(functions):
            inputs = [ca.reshape(part[g], f.size1_in(j), n) for j, part in enumerate(parts)]
            outputs.append([ca.vec(r) for r in (f.map(n) if n > 1 else f).call(inputs)])
        return ca.Function(
            "nonlinear_rows", symbols, [ca.vertcat(*found) for found in zip(*outputs, strict=True)]
        )

    def _mend(self, f: Buffered) -> None:
        """Put difference quotients over the scale of an argument in place of slopes that are not finite.

        The slope of ``sqrt`` at zero is infinite, its value is not.
        """
        value, gradient = f.outputs[0].copy(), f.outputs[1].copy()
        owner, a = self.rows.owner, f.inputs[0]
        wrong = np.flatnonzero(~np.isfinite(gradient) & np.isfinite(value[owner]))
        for k in wrong.tolist():
            before = a[k]
            # One of the two directions may lead out of the domain of the function.
            for step in (self.scale[k], -self.scale[k]):
                a[k] = before + step
                f()
                gradient[k] = (f.outputs[0][owner[k]] - value[owner[k]]) / step
                if np.isfinite(gradient[k]):
                    break
            a[k] = before
        f.outputs[0][:], f.outputs[1][:] = value, gradient


def _expression(model: ReducedModel, rows: NonlinearFormRows, constants: Constants) -> tuple[Any, Any, Any]:
    """Arguments, constants and value of one nonlinear row as SX."""
    forms, template, form = model.forms[rows.batch], model.flat.batches[rows.batch].template, rows.form
    a = ca.SX.sym("a", len(form.keys) + len(form.knowns))
    c = ca.SX.sym("c", constants.count)
    argument = {key: a[k] for k, key in enumerate(form.keys)}
    known = {id(e): a[len(form.keys) + k] for k, e in enumerate(form.knowns)}
    order = (
        [("p", k) for k in constants.p] + [("d", k) for k in constants.d] + [("r", k) for k in constants.r]
    )
    constant = {name: c[k] for k, name in enumerate(order)}

    def leaf(node: Expr) -> Any:
        if id(node) in known:
            return known[id(node)]
        assert isinstance(node, Symbol)
        kind = kind_of(node)
        local = locate_symbol(template, kind, node)
        return argument[(local, False)] if kind == "v" else constant[(kind, local)]

    def special(node: Expr) -> Any:
        if id(node) in known:
            return known[id(node)]
        if id(node) in forms.relation_at:
            return constant[("r", forms.relation_at[id(node)])]
        if node.op == "der":
            k = forms.classify(inner(node))
            assert k is not None
            return argument[(k, True)]
        if node.op == "homotopy":
            parts = (lower(part, leaf, special) for part in (node.args[0], node.data[0]))
            return _blended(c[c.numel() - 1], *parts)
        return lower(node.args[0], leaf, special) if node.op == "pre" else None

    return a, c, lower(form.expr, leaf, special)


def _blended(share: Any, actual: Any, simplified: Any) -> Any:
    """A homotopy; at both ends it is one of its parts, whatever the other one is, not a number included."""
    way = ca.if_else(share != 0.0, share * actual, 0.0)
    return way + ca.if_else(share != 1.0, (1.0 - share) * simplified, 0.0)


def _derivative(expression: tuple[Any, Any, Any], level: int) -> tuple[list[Any], Any]:
    """Arguments with their time derivatives, and the total derivative of one nonlinear row."""
    a, _, value = expression
    jets = [a]
    for k in range(level):
        jets.append(ca.SX.sym(f"a{k + 1}", a.numel()))
        value = sum((ca.jtimes(value, x, dx) for x, dx in zip(jets[:-1], jets[1:], strict=True)), ca.SX(0))
    return jets, ca.SX(value)


def _affine(expression: tuple[Any, Any, Any], switched: tuple[float | None, ...]) -> ca.Function | None:
    """Value at zero and gradient of one nonlinear row over its constants, some of them known; None where it is not affine."""
    a, c, value = expression
    known = [c[k] if x is None else x for k, x in enumerate(switched)]
    value = ca.SX(ca.substitute(value, c, ca.vertcat(*known))) if known else ca.SX(value)
    if any(ca.which_depends(value, a, 2, False)):
        return None
    return ca.Function(
        "affine_row", [c], [ca.substitute(value, a, ca.DM.zeros(a.shape)), ca.densify(ca.gradient(value, a))]
    )


def _rounding(expression: tuple[Any, Any, Any], level: int) -> ca.Function:
    """Bound of the rounding of the total derivative of one nonlinear row."""
    jets, value = _derivative(expression, level)
    return rounding_of(value, jets, expression[1])


def _differentiated(expression: tuple[Any, Any, Any], level: int) -> ca.Function:
    """Total derivative of one nonlinear row, and its gradients."""
    jets, value = _derivative(expression, level)
    c = expression[1]
    gradients = [ca.densify(ca.gradient(value, x)) for x in jets[: max(level, 1) if level < 3 else 0]]
    return ca.Function("nonlinear_row", [*jets, c], [ca.densify(value), *gradients])
