"""The unknowns, inputs, parameters and discrete variables of a flat model as symbols, with what is declared about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Any

import casadi as ca
import numpy as np

from ..errors import StructuralError, UnknownPathError, nearest
from ..flattening.flat_model import FlatModel, kind_of, number_of, parameter_vector, start_values
from ..flattening.locating import locate_symbol
from ..flattening.template import Template, expressions_of
from ..modeling.expressions import Expr, Symbol, walk
from ..modeling.typed_fields import Output
from ..values import frozen
from .lowering import lower


@frozen
class Quantities:
    """What is declared about the entries of one argument or result.

    Attributes
    ----------
    names : tuple of str
        Paths.
    units : tuple of str
    start, min, max, nominal : ndarray of float
        Start values, bounds (infinite where none is declared), typical magnitudes (1 where none is declared).
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    start: np.ndarray
    min: np.ndarray
    max: np.ndarray
    nominal: np.ndarray

    def __len__(self) -> int:
        return len(self.names)

    def __repr__(self) -> str:
        shown = ", ".join(self.names[:8]) + (", ..." if len(self) > 8 else "")
        return f"<Quantities {len(self)}: {shown}>"

    def index(self, name: str) -> int:
        """Return the position of a name.

        Raises
        ------
        UnknownPathError
            With the nearest names.
        """
        if name not in self.names:
            raise UnknownPathError(f"there is no entry `{name}`", hint=nearest(name, self.names))
        return self.names.index(name)

    def values(self, given: Mapping[str, float] | None = None) -> np.ndarray:
        """Return the start values with some replaced, by name; shape (n,).

        Raises
        ------
        UnknownPathError
            For a name that is none of these.
        """
        found = self.start.copy()
        for name, value in (given or {}).items():
            found[self.index(name)] = float(value)
        return found

    def take(self, which: Sequence[int]) -> Quantities:
        """Return some of the entries, in the given order."""
        at = np.array(which, np.int64)
        names, units = tuple(self.names[k] for k in at), tuple(self.units[k] for k in at)
        return Quantities(names, units, self.start[at], self.min[at], self.max[at], self.nominal[at])

    def join(self, other: Quantities) -> Quantities:
        """Return these entries followed by others."""
        arrays = (np.concatenate([getattr(q, a) for q in (self, other)]) for a in ARRAYS)
        return Quantities(self.names + other.names, self.units + other.units, *arrays)


ARRAYS = ("start", "min", "max", "nominal")


def quantities(names: Sequence[str], fields: Sequence[Any], start: np.ndarray) -> Quantities:
    """Return the entries of some fields."""

    def declared(attribute: str, default: float) -> np.ndarray:
        values = [getattr(f, attribute, None) for f in fields]
        return np.array([default if v is None else v for v in values], float)

    units = tuple(f.unit for f in fields)
    bounds = declared("min", -np.inf), declared("max", np.inf)
    return Quantities(tuple(names), units, np.asarray(start, float), *bounds, declared("nominal", 1.0))


class Symbols:
    """The symbols of all arguments but the mode, numbered from a flat model.

    Attributes
    ----------
    t, xdot, x, w, u, p, d : SX
        Arguments.
    variable : list of SX
        Every continuous variable of the model, one of ``x``, ``w``, ``u``.
    slope : dict of int to SX
        Time derivatives of the differentiated variables.
    parameter : list of SX
        Every parameter: an entry of ``p``, or what it is bound to.
    discrete : dict of int to SX
        Discrete variables that are no modes of elements.
    """

    def __init__(self, flat: FlatModel, changes: Mapping[str, float]) -> None:
        self.flat = flat
        root = flat.root
        inputs = [n for n in root.inputs if n in root.variables]
        at_inputs = [int(root.index("v", n) or 0) for n in inputs]
        differentiated = self._differentiated()
        for k in at_inputs:
            if differentiated[k]:
                raise StructuralError(
                    f"`{flat.variable(k)}` is an open input, but its derivative occurs in an equation",
                    hint="state the derivative as an input of its own: Eq(der(x), u)",
                )
        free = np.ones(flat.nv, bool)
        free[at_inputs] = False
        self.at_x = np.flatnonzero(differentiated).tolist()
        self.at_w = np.flatnonzero(free & ~differentiated).tolist()
        self.at_u = at_inputs
        self.t = ca.SX.sym("t")
        self.x, self.w, self.u = (
            self._vector(k, at) for k, at in (("x", self.at_x), ("w", self.at_w), ("u", self.at_u))
        )
        self.xdot = self._vector("xdot", self.at_x)
        self.slope = {k: self.xdot[n] for n, k in enumerate(self.at_x)}
        self.variable: list[Any] = [None] * flat.nv
        for at, vector in ((self.at_x, self.x), (self.at_w, self.w), (self.at_u, self.u)):
            for n, k in enumerate(at):
                self.variable[k] = vector[n]
        self._parameters(dict(changes))
        self._discretes()
        self._describe(parameter_vector(flat, dict(changes)))

    def _vector(self, kind: str, at: list[int]) -> Any:
        return ca.vertcat(*(ca.SX.sym(f"{kind}_{k}") for k in range(len(at)))) if at else ca.SX(0, 1)

    def _differentiated(self) -> np.ndarray:
        mask = np.zeros(self.flat.nv, bool)
        for s in self.flat.batches:
            t = s.template
            for statement in (*t.residuals, *t.elements, *t.assignments, *t.whens, *t.checks):
                for node in chain.from_iterable(walk(e) for e in expressions_of(statement)):
                    inner = node.args[0] if node.op == "der" else None
                    if isinstance(inner, Symbol) and kind_of(inner) == "v":
                        mask[s.vb + locate_symbol(t, "v", inner)] = True
        return mask

    # -- parameters ----------------------------------------------------------------------------------------------

    def _parameters(self, changes: dict[str, float]) -> None:
        flat = self.flat
        changed = {flat.find("p", path)[0] for path in changes}
        self.parameter: list[Any] = [None] * flat.npar
        independent: list[Any] = []
        self.at_p: list[int] = []

        def place(k: int, bound: Any) -> None:
            if bound is None or k in changed:
                bound = ca.SX.sym(f"p_{len(independent)}")
                independent.append(bound)
                self.at_p.append(k)
            self.parameter[k] = bound

        def descend(t: Template, base: int) -> None:
            for g in t.groups:
                bound = {(row, j): expr for row, j, expr in g.bound}
                for row in range(len(g.kids)):
                    first = base + int(g.poff[row])
                    for j in range(g.values.shape[1]):
                        expr = bound.get((row, j))
                        place(first + j, None if expr is None else self._binding(t, base, expr))
                    descend(g.template, first)

        for k in range(len(flat.root.parameters)):
            place(k, None)
        descend(flat.root, 0)
        self.p = ca.vertcat(*independent) if independent else ca.SX(0, 1)

    def _binding(self, template: Template, base: int, expr: Expr) -> Any:
        """A parameter expression of the component at ``base`` among the parameters."""

        def leaf(node: Expr) -> Any:
            assert isinstance(node, Symbol)
            return self.parameter[base + locate_symbol(template, "p", node)]

        return lower(expr, leaf, lambda node: None)

    # -- discretes -----------------------------------------------------------------------------------------------

    def _discretes(self) -> None:
        flat = self.flat
        mode = np.zeros(flat.nd, bool)
        for s in flat.batches:
            for e in s.template.elements:
                mode[s.db + (s.template.index("d", e.name) or 0)] = True
        self.at_d = np.flatnonzero(~mode).tolist()
        self.d = self._vector("d", self.at_d)
        self.discrete = {k: self.d[n] for n, k in enumerate(self.at_d)}

    # -- what is declared ----------------------------------------------------------------------------------------

    def _describe(self, P: np.ndarray) -> None:
        flat = self.flat
        start, self.fixed, self.given, D = start_values(flat, P)
        for name, k in zip((flat.variable(k) for k in self.at_u), self.at_u, strict=True):
            own = flat.own_values.get(name)
            if isinstance(own, (int, float)):
                start[k] = own
        for name, f in flat.root.discretes.items():
            if name in flat.root.inputs and f.name in flat.own_values and not f.shape:
                D[flat.root.index("d", name)] = number_of(flat.own_values[f.name])
        fields = {kind: flat.field_of(kind) for kind in "vpd"}

        def described(kind: str, at: list[int], values: np.ndarray) -> Quantities:
            name = {"v": flat.variable, "p": flat.parameter, "d": flat.discrete}[kind]
            return quantities([name(k) for k in at], [fields[kind][k] for k in at], values[at])

        self.of_x, self.of_w, self.of_u = (
            described("v", a, start) for a in (self.at_x, self.at_w, self.at_u)
        )
        self.of_p, self.of_d = described("p", self.at_p, P), described("d", self.at_d, D)
        outputs = {n: f for n, f in flat.root.variables.items() if isinstance(f, Output)}
        at_y = [int(flat.root.index("v", n) or 0) for n in outputs]
        self.of_y = described("v", at_y, start)
        self.y = ca.vertcat(*(self.variable[k] for k in at_y)) if at_y else ca.SX(0, 1)
