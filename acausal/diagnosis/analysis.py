"""The structure of a mode at the point where a run starts."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics.directions import generic_direction
from ..reduction.affine import Mode, ModeData
from ..reduction.constraints import FoundConstraint, traced_constraints
from ..simulation.nonlinear.motion import Motion
from ..simulation.nonlinear.system import NonlinearSystem
from ..simulation.standing import Standing
from .equations import Equations
from .findings import AffineConstraint, Findings, Key, NonlinearConstraint
from .numbering import branches_in_force, equation_of_form, equations_in_force

BESIDE = 1e-3
"""Distance, in units of the scale of the coordinates, of the second point at which Jacobians are looked at."""


class Analysis:
    """One mode at the present point of a run."""

    def __init__(self, now: Standing, mode: Mode) -> None:
        self.now, self.mode, self.reduced = now, mode, now.program.reduced
        self.equations = Equations(now.flat, branches_in_force(self.reduced, mode))
        self.variable: list[int] = now.program.unknowns.variables.tolist()
        self.in_force = equations_in_force(self.reduced, mode, self.equations)

    def findings(self) -> Findings:
        """Analyse the mode."""
        now, model = self.now, self.now.core.model
        data = now.core.mode(self.mode)
        motion = self._motion() if self.reduced.nonlinear else None
        opened = None if motion is None else motion.system.mode
        index = data.index if opened is None else opened.index
        rounds = index - int(np.count_nonzero(model.differentiated) < model.n)
        affine = self._affine(data, rounds, motion is not None)
        shared = {
            "values": now.present,
            "starts": now.starts,
            "mode": self.mode,
            "affine": tuple(affine),
            "integrals": tuple(o.variable for o in self.reduced.output_equations if o.integral),
            "open": tuple(self.variable[j] for j in np.flatnonzero(data.undetermined).tolist()),
        }
        if motion is None:
            states = tuple((self.variable[j], 0) for j in data.states.tolist())
            return Findings(index=index, states=states, **shared)
        return self._with_nonlinear(motion, index, shared)

    # -- affine rows ---------------------------------------------------------------------------------------------

    def _affine(self, data: ModeData, rounds: int, nonlinear: bool) -> list[AffineConstraint]:
        if rounds <= 0:
            return []
        model = self.now.core.model
        m = len(model.rows(self.mode))
        if not nonlinear:
            rows, settled, read = np.zeros(m, bool), data.settled[:0], np.zeros(model.n, bool)
        else:
            tangents = self.now.tangents
            rows, settled, read = tangents.numbers_in_force(self.mode) >= 0, data.settled, tangents.read
        found = traced_constraints(model, self.mode, rounds, rows, settled, read)
        return [self._constraint(c) for c in found]

    def _constraint(self, c: FoundConstraint) -> AffineConstraint:
        x = np.flatnonzero(self.now.core.model.differentiated)
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

    def _motion(self) -> Motion:
        """The motion of the nonlinear mode, with the states selected."""
        now = self.now
        z, slopes, xi = now.state.z, now.state.slopes, now.xi
        system = now.tangents.mode(now.core, self.mode, z, slopes, xi, now.present)
        motion = now.linearisation.made(z, slopes, xi, system, now.present)
        motion.select(motion.last)
        return motion

    def _with_nonlinear(self, motion: Motion, index: int, shared: dict[str, Any]) -> Findings:
        system = motion.system
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
        of_row = {k: int(number[row]) for k, row in enumerate(self.now.program.nonlinear_rows.rows.tolist())}
        levels = dict(zip(system.mode.nonlinear.tolist(), system.orders.rows.tolist(), strict=True))
        highest = int(max([*system.orders.rows.tolist(), *p.tolist()], default=0))
        return Findings(
            index=max(index, highest + 1),
            states=tuple(X[k] for k in motion.selection.states.tolist()),
            coordinates=tuple(X),
            iterated=tuple(H),
            nonlinear=tuple(self._levels(motion, [*X, *H], of_row)),
            hidden={of_row[k]: n for k, n in levels.items() if n},
            slope=_Slopes(self, system, open_keys).of,
            **shared,
        )

    def _levels(self, motion: Motion, keys: list[Key], of_row: dict[int, int]) -> list[NonlinearConstraint]:
        """Differentiated nonlinear rows with the coordinates that occur in them."""
        system, place = motion.system, motion.last
        y = np.concatenate([place.X, place.H])
        scale = np.concatenate([system.scale, system.open_scale])
        pattern = np.zeros((system.constraints + system.m, len(y)), bool)
        for step in (0.0, BESIDE):
            at = y + step * scale * generic_direction(len(y))
            found = system.linear(at, place.xi, motion.constants)
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

    def __init__(self, analysis: Analysis, system: NonlinearSystem, open_keys: list[Key]) -> None:
        self.analysis, self.mode = analysis, system.mode
        ns = len(self.mode.states)
        self.keys = [(analysis.variable[j], 0) for j in self.mode.states.tolist()] + open_keys
        self.position = {k: n for n, k in enumerate(self.keys)}
        self.ns, self.nv = ns, len(self.keys)
        self.highest = {k: int(p) for k, p in zip(open_keys, system.orders.unknowns.tolist(), strict=True)}

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
        W, V = reduced.W_core[[v]], reduced.V_known[[v]] @ self.analysis.now.core.exosystem.K
        row = (W @ (self.mode.z_of if order == 0 else self.mode.slope_of)).ravel()
        moving = row[self.nv + 1 :].any() or V.tocsc()[:, 1:].nnz
        return None if moving else row[: self.nv]
