"""The equations of a flattened model as CasADi functions, before any reduction."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import casadi as ca
import numpy as np

from ..errors import ModeNotSquareError, ParameterError
from ..flattening.flat_model import FlatModel
from ..flattening.flatten import flatten, overrides
from ..modeling.component import Component
from .residual_equations import equation_names, requirements, residual_vector
from .residual_modes import branch_number, mode_entries, mode_guards
from .residual_scope import Entries, Scope
from .residual_updates import updates
from .residual_variables import Quantities, Symbols
from .semi_explicit import Reduction, SemiExplicit

ARGUMENTS = ["t", "xdot", "x", "w", "u", "p", "d", "m"]


class Residual:
    """The differential-algebraic equations of a model, ``F(t, xdot, x, w, u, p, d, m) = 0``.

    All equations of the flattened model in the order of `equations`, those of connections included,
    before any elimination. There are as many as entries in ``x`` and ``w``.

    Attributes
    ----------
    F : Function
        ``(t, xdot, x, w, u, p, d, m) -> (residual, y)``.
    mass_matrix : Function
        The same arguments -> ``dF/dxdot``, sparse.
    guards : Function
        The same arguments -> one number for each row of `guard_table`, negative where the branch in force has to be left.
    x, w : Quantities
        Differentiated variables, and the other continuous unknowns.
    u, y : Quantities
        Open inputs and continuous outputs of the model itself.
    p : Quantities
        Independent parameters. A bound parameter is an expression of these, unless its value was changed.
    d : Quantities
        Discrete variables other than modes: Booleans as 0 and 1, enumerations as their codes.
    m : Quantities
        The mode vector: per entry the branch in force, ``start`` is the one at the start as far as it is declared.
    equations : tuple of Equation
        What the rows of ``F`` are, with file and line.
    modes : tuple of ModeEntry
        What the entries of ``m`` are: statements with branches, then the relations that equations read (0 or 1).
    guard_table : tuple of Guard
        (entry, branch, target) of every guard.
    requirements : Function
        The same arguments -> one number for each row of `requirement_table`, negative where a ``require`` does not hold.
    requirement_table : tuple of Equation
        What is required, with file and line.
    updates : tuple of Update
        Discrete equations, whens and state machines with their new values.

    Notes
    -----
    While ``m`` and ``d`` are constant, ``F`` is as smooth as the functions in the equations: branches are selected by ``m``
    alone, kinks (``if_else``, ``minimum``, ``absolute``, ...) and comparisons with time included. Whether the
    branches are the right ones is what `guards` tell.

    Where the mode changes, the values after the change follow from the values before (``-``) by the equations
    integrated over the instant. With ``E = dF/dxdot`` and ``A = -dF/d(x, w)``, both in the new mode at the values before,

        E (x+ - x-) = A J,    E J = 0,    F+ = 0,

    where ``J`` is the integral of ``(x, w)`` over the instant and ``F+ = 0`` means that the new values satisfy the
    equations and the constraints that follow from them: charge, flux and momentum are conserved
    (Camlibel, Heemels, van der Schaft, Schumacher, IEEE Transactions on Circuits and Systems I 50, 2003;
    Frasca, Camlibel, Goknar, Iannelli, Vasca, ibid. 57, 2010). A variable of a ``reinit`` gets its
    value by a further column ``E[:, x]`` on the right.
    """

    def __init__(self, flat: FlatModel, changes: Mapping[str, float] | None = None) -> None:
        self.flat = flat
        self._symbols = s = Symbols(flat, changes or {})
        self._entries = Entries(flat)
        self.x, self.w, self.u, self.p, self.d, self.y = s.of_x, s.of_w, s.of_u, s.of_p, s.of_d, s.of_y
        self.modes = mode_entries(flat, self._entries)
        self.equations = tuple(equation_names(flat, self._entries))
        if len(self.equations) != len(s.at_x) + len(s.at_w):
            raise ModeNotSquareError(
                f"{flat.label} has {len(self.equations)} equations for {len(s.at_x) + len(s.at_w)} unknowns",
                hint="a model with ports of its own is a part: put it into a model that connects them",
            )
        m = ca.vertcat(*(ca.SX.sym(f"m_{k}") for k in range(len(self.modes)))) if self.modes else ca.SX(0, 1)
        self._arguments = [s.t, s.xdot, s.x, s.w, s.u, s.p, s.d, m]
        scope = Scope(s, self._entries, [m[k] for k in range(len(self.modes))])
        value = residual_vector(scope)
        self.F = self._function("F", [value, s.y], ["residual", "y"])
        self.mass_matrix = self._function("mass_matrix", [ca.jacobian(value, s.xdot)], ["E"])
        self.guard_table, guards = mode_guards(scope)
        self.guards = self._function("guards", [ca.vertcat(*guards) if guards else ca.SX(0, 1)], ["guards"])
        self.requirement_table, required = requirements(scope)
        self.requirements = self._function(
            "requirements", [ca.vertcat(*required) if required else ca.SX(0, 1)], ["requirements"]
        )
        self.m = self._mode_quantities()

    @classmethod
    def of(cls, model: Component) -> Residual:
        """Return the residual of a model that is not otherwise compiled, as ``compile_model(model).residual()`` would.

        Raises
        ------
        ModelError
            For a model that is not well formed.
        """
        return cls(flatten(model), overrides(model))

    def __repr__(self) -> str:
        sizes = ", ".join(f"{n}: {len(getattr(self, n))}" for n in ("x", "w", "u", "p", "d", "m", "y"))
        return f"<Residual of {self.flat.label}, {len(self.equations)} equations; {sizes}>"

    def __reduce__(self) -> Any:
        raise TypeError("a Residual does not pickle: pickle the model or the program and ask for it again")

    def _function(self, name: str, results: list[Any], result_names: list[str]) -> ca.Function:
        return ca.Function(name, self._arguments, results, ARGUMENTS, result_names)

    def _mode_quantities(self) -> Quantities:
        n = len(self.modes)
        start = np.zeros(n)
        for k, p in enumerate(self._entries.elements):
            start[k] = self._entries.element(p).statement.table.start
        values = [q.start for q in (self.x, self.w, self.u, self.p, self.d)]
        start = self._settled(("if", "relation"), 0.0, np.zeros(len(self.x)), *values, start)
        names = tuple(e.name for e in self.modes)
        last = np.array([len(e.branches) - 1.0 for e in self.modes])
        return Quantities(names, ("1",) * n, start, np.zeros(n), last, np.ones(n))

    @cached_property
    def updates(self) -> tuple[Any, ...]:
        """Discrete equations, whens and state machines in written order."""
        pre = ca.SX.sym("pre", len(self.d)) if len(self.d) else ca.SX(0, 1)
        before = {k: pre[n] for n, k in enumerate(self._symbols.at_d)}
        m = self._arguments[-1]
        scope = Scope(self._symbols, self._entries, [m[k] for k in range(len(self.modes))], before)
        return updates(scope, [*self._arguments, pre], [*ARGUMENTS, "pre"])

    # -- modes ---------------------------------------------------------------------------------------------------

    def mode(self, given: Mapping[str, Any] | None = None) -> np.ndarray:
        """Return a mode vector: the branches at the start, some replaced by name.

        Parameters
        ----------
        given : mapping of str to str, bool or int, optional
            Name of an entry -> name of a branch, its position, or the value of a Boolean mode variable.

        Raises
        ------
        UnknownPathError
            For a name that is no entry.
        ParameterError
            For a branch that the entry does not have.
        """
        found = self.m.start.copy()
        for name, value in (given or {}).items():
            found[self.m.index(name)] = branch_number(self.modes[self.m.index(name)], value)
        return found

    def relations_at(
        self, t: float, xdot: Any, x: Any, w: Any, u: Any, p: Any, d: Any, m: Any = None
    ) -> np.ndarray:
        """Return a mode vector in which the relations have their values at the given arguments; elements stay as in ``m``."""
        return self._settled(("relation",), t, xdot, x, w, u, p, d, self.m.start if m is None else m)

    def _settled(self, kinds: tuple[str, ...], *arguments: Any) -> np.ndarray:
        """Follow the guards of entries with two branches; a relation may be read by the next one."""
        m = np.array(arguments[-1], float).ravel()
        for _ in range(len(m) + 1):
            before = m.copy()
            g = np.array(self.guards(*arguments[:-1], m)).ravel()
            for guard, number in zip(self.guard_table, g, strict=True):
                if (
                    self.modes[guard.entry].kind in kinds
                    and guard.branch == before[guard.entry]
                    and number < 0
                ):
                    m[guard.entry] = guard.target
            if (m == before).all():
                break
        return m

    def semi_explicit(self, m: Mapping[str, Any] | Any = None) -> SemiExplicit:
        """Return the equations of one mode as ``xdot = f(t, x, w, u, p, d)``, ``0 = g(t, x, w, u, p, d)``.

        Equations that are linear in the unknowns with constant coefficients are eliminated, and
        differentiated as often as they constrain differentiated variables. What is left must have index 1.

        Parameters
        ----------
        m : mapping or array, optional
            As for `mode`, or a whole mode vector; by default the mode at the start.

        Raises
        ------
        StructuralError
            If the equations of the mode contradict each other, leave a variable open, or have an index
            above 1: it names the equations and the differentiated variables that they tie.
        """
        vector = self.mode(m) if m is None or isinstance(m, Mapping) else np.asarray(m, float).ravel()
        if len(vector) != len(self.modes):
            raise ParameterError(f"a mode vector has {len(self.modes)} entries, got {len(vector)}")
        numbers = [ca.SX(branch_number(e, v)) for e, v in zip(self.modes, vector.tolist(), strict=True)]
        scope = Scope(self._symbols, self._entries, numbers)
        return Reduction(self._symbols, self.equations, residual_vector(scope)).form()
