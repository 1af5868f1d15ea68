"""Runs of models too large for dense matrices: one mode, whose equations are solved as they stand."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from ...errors import InitializationError, SingularModelError
from ..failures import UNSOLVED, DiscreteUnsound, GivenContradict, MovesForEver, NotSolved, Started
from ..instants.instant import evaluated, process
from ..nonlinear.motion import Place
from ..numeric import NumericCore
from ..run import Run
from ..sources.source_states import OpenInput
from ..starts.conditions import Conditions
from ..starts.initialization import check_computed, check_held, held_values
from ..starts.integrals import rest_integrals
from ..starts.problem import StartProblem, StartTables
from ..starts.starting import along_homotopy
from .demands import Demand, demands
from .report import reporter
from .sizes import LARGE
from .starting import SparseStart
from .system import LargeSystem


class LargeRun(Run):
    """A run without elements whose affine rows stay sparse."""

    always_numerical = True

    def numbers(self, open_inputs: tuple[OpenInput, ...], unit: float | None = None) -> NumericCore:
        """The numbers of the present discrete values.

        Raises
        ------
        SingularModelError
            With them the equations do not determine all unknowns, or constrain states as they did not before.
        """
        made = self.cores.large(
            self.values, self.D, self.R, open_inputs, self.T0, self.span, self.starts, unit
        )
        if made is None:
            raise SingularModelError(
                f"at t = {self.t:.9g} the equations of {self.flat.label} no longer determine all unknowns",
                why="a coefficient that depends on discrete variables has become zero",
                hint=f"keep it away from zero: models with more than {LARGE} unknowns do not change their structure",
            )
        return made

    @property
    def equations(self) -> LargeSystem:
        """The only mode."""
        made: Any = self.system()
        return made

    def solved(self, z: np.ndarray, slopes: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The point with the states of ``z``."""
        motion = self.linearisation.begin(z, slopes, xi, self.equations, self.present)  # type: ignore[arg-type]
        return motion.unknowns(motion.last)

    def begin(self) -> None:
        """Process the first instant.

        Raises
        ------
        InitializationError
            If a fixed value does not hold.
        """
        check_computed(self.flat, self.starts, None)
        held = held_values(self.program, self.starts)
        ticks = self.take_ticks()
        before = self.state()

        def attempt(share: float, near: np.ndarray | None) -> tuple[None, np.ndarray]:
            if near is not None:
                states = self.core.model.differentiated & ~self._resting
                self.begin_anew(replace(before, z=np.where(states, before.z, near)), share)
            self._start(ticks, held)
            return None, self.z.copy()

        along_homotopy(attempt, before.z, self.program.nonlinear_rows.has_homotopy)
        self.notify(self, Started(None))

    def _start(self, ticks: list[bool], held: list[tuple[int, float]]) -> None:
        """The point that the starts lead to, and the micro-steps from there."""
        z, D, now = self.z, self.D, (self.t, self.tolerance, True, False)
        outcome = self.discrete.at_start(self.starts.value, D, self.R, ticks, self.memory, now, self.mode)
        if not outcome.sound:
            raise self.failed(DiscreteUnsound(outcome.D))
        xi = self.sources.states(self.t, outcome.D, outcome.R)
        row = self.base.contradicting_row(xi)
        if row is not None:
            raise self.failed(GivenContradict(row, xi))
        met = self._started(z, xi)
        if met is not None:
            z, self.slopes = met
        try:
            self.z, self.slopes = self.solved(z, self.slopes, xi)
            self.xi = xi
            self.linearise()
        except UNSOLVED as failure:
            raise self.failed(NotSolved(failure, "start")) from None
        self.D, first = D, self.z
        self.place()
        self.record.begin(first, D)
        self.remember(evaluated(self))
        process(self, "start", (), ticks, held)
        check_held(self.flat, self.core, self.starts, self.D, self.data, self.y, self.read)
        same = np.array_equal(self.D, outcome.D) and np.array_equal(self.R, outcome.R)
        if met is not None or not same or any(step.jumps for step in self.record.steps):
            self._check_demands()
        q = rest_integrals(self.program.unknowns, self.starts, self.q, self.T0, self._rates_of)
        if isinstance(q, MovesForEver):
            raise self.failed(q)
        self.begun(q, reporter(self.program, self.core, self.equations, self.starts, q, first, xi))

    def _rates_of(self, q: np.ndarray) -> np.ndarray:
        return self.core.readout.rates(self.data, self.y, replace(self.moment(), q=q))

    def _started(self, z: np.ndarray, xi: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
        """The point at which the run begins, with its slopes, where the starts of the states do not meet what is demanded."""
        stated, wished = self._demands()
        if wished is not None:
            with suppress(InitializationError):
                return self._started_with(wished, z, xi)
        return self._started_with(stated, z, xi)

    def _started_with(
        self, stated: Demand, z: np.ndarray, xi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        if stated.of_states(self.equations.nx):
            return None
        place = self._consistent(z, xi)
        if place is not None and stated.hold(np.concatenate((place.y, place.xi))):
            return None
        return self._met(self._sparse_start(stated), place, z, xi)

    def _consistent(self, z: np.ndarray, xi: np.ndarray) -> Place | None:
        """The point with the starts of the states, if there is one."""
        with suppress(*UNSOLVED):
            begin = self.linearisation.begin
            return begin(z, self.slopes, xi, self.equations, self.present).last  # type: ignore[arg-type]
        return None

    def _sparse_start(self, stated: Demand) -> SparseStart:
        starts, states = self.starts, self.equations.mode.states
        given = self._core_mask(starts.given & ~starts.fixed & self.reduced.differentiated) & ~self._resting
        where = f"start at t = {self.t:.9g}"
        return SparseStart(self.equations, stated, given[states], self._resting[states], where)

    @cached_property
    def _resting(self) -> np.ndarray:
        """Mask of the core unknowns that are to be at rest."""
        steady = self.starts.steady
        return self._core_mask(steady) if steady.any() else np.zeros(len(self.z), bool)

    def _core_mask(self, of: np.ndarray) -> np.ndarray:
        """Mask of the differentiated core unknowns that some of these variables are."""
        found = np.zeros(len(self.z), bool)
        for x in np.flatnonzero(of).tolist():
            target = self.program.unknowns.settable(x)
            if target is not None and target[0] == "core":
                found[target[1]] = True
        return found

    def _demands(self) -> tuple[Demand, Demand | None]:
        tables = StartTables(
            self.program, self.starts, self.discrete, self.search, [], self.values.P, self.bounds, True, self.work
        )  # fmt: skip
        problem = StartProblem(tables, self.linearisation, self.state(), self.xi, self.homotopy)
        return demands(Conditions(problem, wishes=False), self.equations)

    def _check_demands(self) -> None:
        """Raise InitializationError unless what is demanded holds after the first instant.

        That may have changed the equations, and with them the unknowns over which demands are rows.
        """
        assert self.linearisation.last is not None
        place = self.linearisation.last.last
        v = np.concatenate((place.y, place.xi))
        self._sparse_start(self._demands()[0]).check(v, self.equations.constants(self.present))

    def _met(
        self, met: SparseStart, place: Place | None, z: np.ndarray, xi: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Core unknowns and their slopes where all that is demanded holds, sought from the place of the starts if possible."""
        system, ids = self.equations, self.equations.mode.open
        xi = xi[: system.q]
        guess = np.where(system.mode.slopes, 0.0, z[ids]) if place is None else place.H
        X, u = met.solve(z[ids][system.x], guess, xi, system.constants(self.present))
        v = np.concatenate([X, u, xi])
        return system.z_of @ v, system.mode.slope_of @ v
