"""The structure of a program, at the point where it starts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..diagnosis.as_solved import structure_as_solved
from ..diagnosis.as_written import structure_as_written, structure_of_large_model
from ..diagnosis.branches import element_entries, given_branches
from ..diagnosis.equations import Equations
from ..diagnosis.findings import AffineConstraint, DeclaredStarts, Findings, Key, NonlinearConstraint
from ..diagnosis.numbering import (
    branches_in_force,
    equation_of_form,
    equations_in_force,
    statement_of_element,
)
from ..diagnosis.structure import Structure
from ..dynamics.directions import generic_direction
from ..flattening.flat_model import parameter_vector, start_values
from ..flattening.flatten import overrides
from ..reduction.affine import Mode, ModeData
from ..reduction.constraints import FoundConstraint, traced_constraints
from ..reduction.core import Values
from ..results.names import value_of
from .binding import make_starts, scalar_parameters
from .nonlinear.failures import FAILURES, nonlinear_failed
from .nonlinear.motion import Motion
from .nonlinear.system import NonlinearSystem
from .options import Options
from .starts.conditions import Starts
from .stepping import begin

if TYPE_CHECKING:
    from .program import Program
    from .run import Run

MOST_ANALYSED = 1000
"""Core unknowns up to which a structure is found with numbers."""
BESIDE = 1e-3
"""Distance, in units of the scale of the coordinates, of the second point at which Jacobians are looked at."""


def program_structure(
    program: Program,
    reduce: bool,
    mode: Mapping[str, Any] | None,
    parameters: Mapping[str, Any] | None,
    initial: Mapping[Any, Any] | str | None,
    inputs: Mapping[str, Any] | None,
) -> Structure:
    """Return the structure of a program: see `Program.structure`."""
    flat, entries = program.flat, element_entries(program.flat)
    branches = given_branches(entries, mode)
    P = parameter_vector(flat, {**overrides(program.model), **scalar_parameters(flat, parameters)})
    start, fixed, given, D = start_values(flat, P)
    declared = _declared(make_starts(program, initial, start, fixed, given, D))
    if not reduce:
        names = {entries[k].name: entries[k].branches[b] for k, b in branches.items()}
        return structure_as_written(flat, P, declared, branches, names)
    if len(program.reduced.core) > MOST_ANALYSED:
        return structure_of_large_model(program.reduced, _unanalysed(program, P, D, declared))
    dense = Options(method="exact")
    fed = _fed(program, inputs)
    run = program.prepare(1.0, parameters=parameters, initial=initial, inputs=fed, options=dense)
    begin(run)
    statements = statement_of_element(program.reduced)
    chosen = tuple(branches.get(k, b) for k, b in zip(statements, run.mode, strict=True))
    names = {
        entries[k].name: entries[k].branches[b] for k, b in zip(statements, chosen, strict=True) if k >= 0
    }
    try:
        found = _Analysis(run, chosen).findings()
    except FAILURES as failure:
        raise nonlinear_failed(run, failure, "structure") from None
    return structure_as_solved(program.reduced, found, names, _values(run, fed), _zeros(fed, inputs))


def _fed(program: Program, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Inputs with zero for those that are given nowhere."""
    flat, found = program.flat, dict(given or {})
    for name in flat.root.inputs:
        if name.partition("[")[0] not in flat.own_values and name not in found:
            kind = getattr(flat.root.discretes.get(name), "type", float)
            found[name] = kind()
    return found


def _values(run: Run, fed: Mapping[str, Any]) -> dict[str, Any]:
    """Values of inputs at the present point."""
    root, found = run.flat.root, {}
    for name in (n for n in root.inputs if n in fed):
        d, v = root.index("d", name), root.index("v", name)
        if d is not None:
            found[name] = value_of(root.discretes[name], float(run.present.D[d]))
        elif v is not None:
            found[name] = float(run.read((v,))[0])
    return found


def _zeros(fed: Mapping[str, Any], given: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Note that inputs count as zero which were not given."""
    names = [name for name in fed if name not in (given or {})]
    if not names:
        return ()
    shown = ", ".join(f"`{name}`" for name in names[:6]) + (", ..." if len(names) > 6 else "")
    return (f'not given, taken as zero: {shown}; structure(inputs={{"{names[0]}": ...}}) takes other values',)


def _declared(starts: Starts) -> DeclaredStarts:
    return DeclaredStarts(starts.value, starts.fixed, starts.given)


def _unanalysed(program: Program, P: np.ndarray, D: np.ndarray, declared: DeclaredStarts) -> Findings:
    """What is known of a model before it starts."""
    reduced, flat = program.reduced, program.flat
    mode = [r.forms.statement.table.start for r in reduced.elements for _ in flat.stamps[r.stamp].vb]
    return Findings(Values(P, D, np.zeros(reduced.nr)), declared, tuple(mode), 0, ())


@dataclass(frozen=True, eq=False)
class _Nonlinear:
    """The nonlinear system of a mode, and its motion with the states selected."""

    system: NonlinearSystem
    motion: Motion


class _Analysis:
    """One mode at the present point of a run."""

    def __init__(self, run: Run, mode: Mode) -> None:
        self.run, self.mode, self.reduced = run, mode, run.program.reduced
        self.equations = Equations(run.flat, branches_in_force(self.reduced, mode))
        self.variable: list[int] = run.program.unknowns.variables.tolist()
        self.in_force = equations_in_force(self.reduced, mode, self.equations)

    def findings(self) -> Findings:
        """Analyse the mode."""
        run, model = self.run, self.run.core.model
        data = run.core.mode(self.mode)
        nonlinear = self._nonlinear(data) if self.reduced.nonlinear else None
        opened = None if nonlinear is None else nonlinear.system.mode
        index = data.index if opened is None else opened.index
        rounds = index - int(np.count_nonzero(model.differentiated) < model.n)
        affine = self._affine(data, rounds, nonlinear)
        shared = {
            "values": run.present,
            "starts": _declared(run.starts),
            "mode": self.mode,
            "affine": tuple(affine),
            "integrals": tuple(o.variable for o in self.reduced.observers if o.integral),
            "open": tuple(self.variable[j] for j in np.flatnonzero(data.undetermined).tolist()),
        }
        if nonlinear is None:
            states = tuple((self.variable[j], 0) for j in data.states.tolist())
            return Findings(index=index, states=states, **shared)
        return self._with_nonlinear(nonlinear, index, shared)

    # -- affine rows ---------------------------------------------------------------------------------------------

    def _affine(self, data: ModeData, rounds: int, nonlinear: _Nonlinear | None) -> list[AffineConstraint]:
        if rounds <= 0:
            return []
        model = self.run.core.model
        m = len(model.rows(self.mode))
        if nonlinear is None:
            rows, settled, read = np.zeros(m, bool), data.settled[:0], np.zeros(model.n, bool)
        else:
            tangents = self.run.tangents
            rows, settled, read = tangents.numbers_in_force(self.mode) >= 0, data.settled, tangents.read
        found = traced_constraints(model, self.mode, rounds, rows, settled, read)
        return [self._constraint(c) for c in found]

    def _constraint(self, c: FoundConstraint) -> AffineConstraint:
        x = np.flatnonzero(self.run.core.model.differentiated)
        W = self.reduced.W_core
        factors: dict[int, float] = {}
        for k in np.flatnonzero(c.states).tolist():
            v = self.variable[int(x[k])]
            factors[v] = float(c.states[k] / W.data[W.indptr[v]])
        equations: dict[int, int] = {}
        for order, row in np.argwhere(c.weights).tolist():
            k = int(self.in_force[row])
            equations[k] = max(order, equations.get(k, 0))
        moving = bool(c.sources[1:].any())
        return AffineConstraint(
            c.round, factors, float(c.sources[0]), moving, equations, self.variable[c.dependent]
        )

    # -- nonlinear rows ---------------------------------------------------------------------------------------------

    def _nonlinear(self, data: ModeData) -> _Nonlinear:
        run = self.run
        z, slopes, xi = run.z, run.slopes, run.xi
        system = run.tangents.mode(run.core, self.mode, z, slopes, xi, run.present)
        motion = run.motions.made(z, slopes, xi, system)
        motion.select(motion.last)
        return _Nonlinear(system, motion)

    def _with_nonlinear(self, nonlinear: _Nonlinear, index: int, shared: dict[str, Any]) -> Findings:
        system, motion = nonlinear.system, nonlinear.motion
        p = system.orders.unknowns
        X = [(self.variable[j], 0) for j in system.mode.states.tolist()]
        open_keys = [
            (self.variable[j], int(slope))
            for j, slope in zip(system.mode.open.tolist(), system.mode.slopes.tolist(), strict=True)
        ]
        X += [open_keys[k] for k in np.flatnonzero(p >= 1).tolist()]
        X += [_raised(open_keys[k], 1) for k in np.flatnonzero(p >= 2).tolist()]
        H = [_raised(k, int(times)) for k, times in zip(open_keys, p.tolist(), strict=True)]
        number = equation_of_form(self.reduced, self.mode, self.equations)
        of_row = {k: int(number[row]) for k, row in enumerate(self.run.program.nonlinear_rows.rows.tolist())}
        levels = dict(zip(system.mode.nonlinear.tolist(), system.orders.rows.tolist(), strict=True))
        highest = int(max([*system.orders.rows.tolist(), *p.tolist()], default=0))
        return Findings(
            index=max(index, highest + 1),
            states=tuple(X[k] for k in motion.selection.states.tolist()),
            coordinates=tuple(X),
            iterated=tuple(H),
            nonlinear=tuple(self._levels(nonlinear, [*X, *H], of_row)),
            hidden={of_row[k]: n for k, n in levels.items() if n},
            slope=_Slopes(self, nonlinear, open_keys).of,
            **shared,
        )

    def _levels(
        self, nonlinear: _Nonlinear, keys: list[Key], of_row: dict[int, int]
    ) -> list[NonlinearConstraint]:
        """Differentiated nonlinear rows with the coordinates that occur in them."""
        system, motion = nonlinear.system, nonlinear.motion
        place = motion.last
        y = np.concatenate([place.X, place.H])
        scale = np.concatenate([system.scale, system.open_scale])
        pattern = np.zeros((system.constraints + system.m, len(y)), bool)
        for step in (0.0, BESIDE):
            at = y + step * scale * generic_direction(len(y))
            found = system.linear(at[: system.nx], at[system.nx :], place.xi, motion.constants)
            J = np.concatenate([found.C_y, found.F_y])
            pattern |= (J != 0.0) | np.isnan(J)
        rows = [*zip(system.constraint_rows.tolist(), system.constraint_levels.tolist(), strict=True)]
        rows += [*zip(system.mode.nonlinear.tolist(), system.orders.rows.tolist(), strict=True)]
        return [
            NonlinearConstraint(of_row[row], level, tuple(keys[k] for k in np.flatnonzero(occurs).tolist()))
            for (row, level), occurs in zip(rows, pattern, strict=True)
            if level
        ]


def _raised(key: Key, times: int) -> Key:
    return key[0], key[1] + times


class _Slopes:
    """Time derivatives of variables in terms of coordinates, as the nonlinear system has them."""

    def __init__(self, analysis: _Analysis, nonlinear: _Nonlinear, open_keys: list[Key]) -> None:
        self.analysis, self.mode = analysis, nonlinear.system.mode
        ns = len(self.mode.states)
        self.keys = [(analysis.variable[j], 0) for j in self.mode.states.tolist()] + open_keys
        self.position = {k: n for n, k in enumerate(self.keys)}
        self.ns, self.nv = ns, len(self.keys)
        self.highest = {
            k: int(p) for k, p in zip(open_keys, nonlinear.system.orders.unknowns.tolist(), strict=True)
        }

    def of(self, v: int, order: int) -> dict[Key, float] | None:
        """Return the factors of coordinates and their derivatives."""
        for (w, base), times in self.highest.items():
            if w == v and base <= order < base + times:
                return {(v, order + 1): 1.0}
        row = self._over_v(v, order)
        if row is None:
            return None
        found: dict[Key, float] = {}
        for n in np.flatnonzero(row).tolist():
            for key, factor in (self._rate(n) or {None: 0.0}).items():
                if key is None:
                    return None
                found[key] = found.get(key, 0.0) + float(row[n]) * factor
        return {k: c for k, c in found.items() if c}

    def _rate(self, n: int) -> dict[Key, float] | None:
        """Time derivative of state or open unknown ``n``."""
        if n >= self.ns:
            return {_raised(self.keys[n], 1): 1.0}
        rate = self.mode.rate[n]
        if rate[self.nv :].any():
            return None
        return {self.keys[k]: float(rate[k]) for k in np.flatnonzero(rate[: self.nv]).tolist()}

    def _over_v(self, v: int, order: int) -> np.ndarray | None:
        """A variable, or its derivative, over states and open unknowns; None with a part that moves with time."""
        reduced = self.analysis.reduced
        W, V = reduced.W_core[[v]], reduced.V_known[[v]] @ self.analysis.run.core.exosystem.K
        row = (W @ (self.mode.z_of if order == 0 else self.mode.slope_of)).ravel()
        moving = row[self.nv + 1 :].any() or V.tocsc()[:, 1:].nnz
        return None if moving else row[: self.nv]
