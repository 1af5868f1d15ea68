"""A run that leaves rows of quiet instants, and the segments of integration between them, to a kernel.

The kernel makes the same decisions as `quiet_instants` and the steps of a segment, with the numbers of the present ones, and
leaves to these what turns out otherwise, and what they look at closely from time to time.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np

from ..dynamics.noise import lasting
from ..dynamics.readout import Moment
from ..dynamics.rosenbrock import Rosenbrock
from ..kernels import step_records as k
from ..kernels.quiet_instants import MODE_COUNTS, OVER, QuietMode, QuietPlaces
from ..kernels.situations import Situation
from ..reduction.affine import Mode
from ..results.record import Segment
from .failures import UNSOLVED, NotSolved
from .instants.choice import SETTLED
from .instants.transition import ModeTables
from .nonlinear.logged_steps import LoggedMode
from .nonlinear.motion import Motion
from .nonlinear.numerical import Integrated, rounded_unknowns
from .nonlinear.quiet_modes import (
    KERNEL,
    KnownOfMode,
    ModeToFollow,
    PassedSegment,
    QuietModes,
    QuietPoint,
    begins_of,
    over_points,
    source_products,
)
from .nonlinear.quiet_steps import QuietSteps
from .nonlinear.steps import largest_so_far, longest_step, unknowns_of
from .quiet_instants import QuietInstants, keeps_slopes
from .seen_situations import SituationKey
from .self_check import SOLVED

MOST_FRUITLESS = 6
"""After so many calls in vain waits grow no longer: two to this power, less two."""
STEPS = 2048
"""Most steps of one mode that a row writes down."""


class QuietRows(QuietInstants):
    """A run with rows of quiet instants."""

    _rows: QuietModes | None = None
    """What the kernel follows."""
    _rows_of: tuple[Any, ...] = ()
    """The numbers to which that belongs."""
    _fruitless = _waits = 0
    """How often in a row the kernel has followed nothing, and for how many more instants it is not asked."""

    def repeat_quietly(self, t_end: float) -> bool:
        """Follow quiet instants from the present point on; whether that has led to ``t_end``."""
        if self.state.pending is not None or not self.is_clear or not self._may_follow:
            return False
        if self._waits:
            self._waits -= 1
            return False
        status, followed = None, False
        while (number := self._prepare_mode()) is not None:
            status = self._follow_row(number, t_end)
            followed = followed or status is not None
            # Behind a segment that is odd because other states serve better, these go on.
            if status in (None, OVER) or not self.is_clear:
                break
        self._fruitless = 0 if followed else min(self._fruitless + 1, MOST_FRUITLESS)
        self._waits = 0 if followed else 2**self._fruitless - 2
        return status == OVER

    def _follow_row(self, number: int, t_end: float) -> int | None:
        """Follow a row from the present point, in a mode of this number; what it ends with, None where nothing was followed."""
        rows, now = self._rows, self.state
        assert rows is not None
        self.mark()
        frame = np.concatenate([now.z, now.slopes, self.xi])
        at = QuietPoint(
            number, now.t, now.timed_next, self.next_tick, frame, now.D, now.R, now.memory, now.ticks
        )
        constants = self.tangents.constants(self.present)
        known, chooses = self._known_of, self.integration.chooses
        rows.begin(at, t_end, self.schedule.together, self.integration.size, constants, known, chooses)
        status = rows.follow()
        if not rows.count:
            return None
        self._keep_row(rows)
        self.mark()
        if self.report is not None:
            self.report(self.state.t)
        return status

    # -- what is told of modes ---------------------------------------------------------------------------------------

    @cached_property
    def _may_follow(self) -> bool:
        """Whether the kernel knows all that there is in this run."""
        return self.may_pass and self.method.solver != "explicit" and self.can_follow(KERNEL)

    def _known_of(self, mode: Mode) -> KnownOfMode:
        known, first = self.integration.stiffness(mode), dict(self.state.firsts).get(mode, 0.0)
        stiff = known.stiff or not self.integration.chooses
        return KnownOfMode(
            first, self.looked.get(mode, 0.0), self.visits.get(mode, 0), stiff, known.near, known.quiet, known.implicit
        )  # fmt: skip

    def _prepare_mode(self) -> int | None:
        """Choose states of the present mode by its magnitudes; its number for the kernel, None where that cannot follow it."""
        lin, state = self.linearisation, self.state
        system, alike = lin.tangents.known(state.mode), lin.alike(state.mode)
        if system is None or alike is None or not keeps_slopes(system):
            return None
        numbers = self.base, state.D[self._chosen_by[0]].tobytes(), state.R[self._chosen_by[1]].tobytes()
        if self._rows is None or self._rows_of != numbers:
            self._rows, self._rows_of = self._new_rows(len(system.S)), numbers
        try:
            motion = lin.begin(state.z, state.slopes, self.xi, system, self.present)
            # States that steps would choose anew after the first one.
            motion.grow(largest_so_far(motion, self.integration.size))
            if motion.worn(motion.last):
                motion.select(motion.last)
        except UNSOLVED:
            return None
        lin.ready(state.z, self.xi, motion)
        return self._number_of(self._rows, motion, alike)

    def _number_of(self, rows: QuietModes, motion: Motion, alike: ModeTables) -> int | None:
        key = self.situation_key()
        number = rows.place.get(key)
        if number is not None:
            made = rows.modes[number]
            same = np.array_equal(made.motion.selection.dependent, motion.selection.dependent)
            if same and made.motion.system is motion.system:
                made.steps.demand(
                    motion, self.method.tolerances, longest_step(motion, self.method.tolerances)
                )
                return number
        made = self._made(rows, key, motion, alike)
        return None if made is None else rows.add(made)

    def _made(
        self, rows: QuietModes, key: SituationKey, motion: Motion, alike: ModeTables
    ) -> ModeToFollow | None:
        """The present mode as a kernel follows it; None where none can."""
        run, system, tolerances = Integrated(self), motion.system, self.method.tolerances
        kernels, clear = system.kernels(motion.selection.dependent), self.clear_forms(key.mode)
        if kernels is None or clear is None or not motion.selection.states.size or not motion.batched:
            return None
        watched = run.guards()
        if len(watched.forms.rows) or not isinstance(watched.forms.over_v, np.ndarray):
            return None
        steps = QuietSteps(kernels, motion, Rosenbrock.method, watched.forms.count, STEPS)
        steps.watch(motion, watched.forms)
        steps.demand(motion, tolerances, longest_step(motion, tolerances))
        hidden = len(self.xi) - len(system.S)
        logged = LoggedMode(system, motion.selection, motion.sources.flow, watched.forms, tolerances, hidden)
        return ModeToFollow(
            key, motion, steps, logged, run.frame(len(motion.selection.states)),
            self._quiet_mode(rows, key, motion, alike, np.array(watched.which, np.int64)),
        )  # fmt: skip

    def _quiet_mode(
        self, rows: QuietModes, key: SituationKey, motion: Motion, alike: ModeTables, watched: np.ndarray
    ) -> QuietMode:
        n, q, discrete = len(self.state.z), len(motion.system.S), self.discrete
        clear = self.clear_forms(key.mode)
        assert clear is not None
        reads = self.base.readout.reading(self.base.frame, discrete.x_ids, discrete.slope_ids).A
        shown, shows = discrete.shown(key.mode)
        none, counted = np.zeros(0, np.int64), rows.counted(key.mode)
        sizes = np.array([0, 0, alike.count, 0])
        here = Situation(
            sizes, none, np.zeros(0), np.ascontiguousarray(reads[:, : 2 * n + q]), np.array(key.mode, np.int64), none, none,
            np.array(key.forced, np.int64), discrete.enabled.copy(), np.array(key.relations, float), shown, shows,
            np.zeros((0, 5), np.int64),
        )  # fmt: skip
        entries, factors = source_products(motion)
        forms = np.hstack([clear.A, clear.E, clear.B[:, :q]])
        constraints = alike.data.constraints[:, n : n + q].reshape(-1, q)
        return QuietMode(
            here, *counted, np.zeros(k.COUNTS + MODE_COUNTS + 1, np.int64), begins_of(motion, n),
            unknowns_of(motion.system).astype(np.int64), watched, entries, factors, over_points(motion),
            np.ascontiguousarray(forms), np.ascontiguousarray(constraints),
        )  # fmt: skip

    @cached_property
    def _chosen_by(self) -> tuple[np.ndarray, np.ndarray]:
        """Discretes and relations by which constants of the nonlinear rows may choose between equations."""
        _, d, r = self.tangents.nonlinear_rows.places_read
        real = [k for k, _, typed in self.program.discrete.written if typed.type is float]
        return np.setdiff1d(d, real).astype(np.int64), np.unique(r).astype(np.int64)

    def _new_rows(self, q: int) -> QuietModes:
        model, discrete = self.base.model, self.discrete
        constants = self.tangents.nonlinear_rows.constants_of_discretes(len(self.state.D))
        compared = np.array([discrete.x_ids.index(x) for x in discrete.compared], np.int64)
        # After more steps a segment is looked at for sliding.
        most = self.options.max_micro_steps if self.program.nonlinear_rows.eventless else np.inf
        places = QuietPlaces(
            np.array([self.clear_part, SOLVED, SETTLED, most]), model.scale.astype(float), model.xi_scale[:q].astype(float),
            np.sqrt(primes(len(compared))),
            np.flatnonzero(model.differentiated), constants, *self._chosen_by, compared,
        )  # fmt: skip
        return QuietModes(places, self.discrete_records(), len(self.xi))

    # -- what is kept ------------------------------------------------------------------------------------------------

    def _keep_row(self, rows: QuietModes) -> None:
        """Record segments and instants, and go on from the point to which they have led."""
        segments, steps = rows.passed()
        for s in segments:
            moment = Moment(s.start, steps.D[s.held], steps.R[s.held], self.state.q)
            frame = rows.modes[s.mode].frame
            self.record.segments.append(Segment(s.start, s.end, frame, s.course, moment, self.base.readout))
        self.record.steps.extend(steps)
        self.hints.stats.hinted(rows.instants)
        for mode in rows.modes:
            mode.steps.spent(self.work)
        learnt = rows.learnt()
        for which, known in learnt.items():
            self.visits[which] = known.visited
            if self.integration.chooses:
                self.integration.go_on_in(which)
                self.integration.stiffness(which).take(known.stiff, known.near, known.quiet, known.implicit)
        np.maximum(self.integration.size, rows.size, out=self.integration.size)
        self.integration.begin()
        firsts = {which: known.first for which, known in learnt.items()}
        self._arrive_behind(rows, segments[-1], {**dict(self.state.firsts), **firsts})
        if self.integration.chooses:
            self.integration.go_on_in(self.state.mode)

    def _arrive_behind(self, rows: QuietModes, last: PassedSegment, firsts: dict[Mode, float]) -> None:
        """Take the point to which a row has led, whose last segment rounds what is known of it, and first steps of segments."""
        at, lin = rows.reached, self.linearisation
        key, n = rows.modes[at.mode].key, len(self.state.z)
        z, slopes, _ = np.split(at.frame, [n, 2 * n])
        self.put_values(
            at.next_tick, t=at.t, mode=key.mode, forced=key.forced, disabled=key.disabled, D=at.D, R=at.R, memory=at.memory,
            ticks=at.ticks, timed_next=at.timed_next, error=self._rounded_behind(rows.modes[last.mode], last), late=0.0,
            shift=None, firsts=tuple(firsts.items()),
        )  # fmt: skip
        xi = self.sources.states(at.t, at.D, at.R)
        system = lin.tangents.known(key.mode)
        assert system is not None
        try:
            motion = lin.begin(z, slopes, xi, system, self.present, z, True)
        except UNSOLVED as failure:
            raise self.failed(NotSolved(failure, "restart")) from None
        z, slopes = motion.unknowns(motion.last)
        self.stand_clear(z, slopes, xi, motion, self.clear_signs(key.mode, z, slopes, xi))

    def _rounded_behind(self, mode: ModeToFollow, last: PassedSegment) -> np.ndarray:
        """Rounding of the core unknowns at the end of a segment."""
        alike = self.linearisation.alike(mode.key.mode)
        assert alike is not None
        stays, before = 0.0, 0.0
        for end in last.course.breaks:
            length, before = end - before, end
            stays = max(lasting(length, self.method.tolerances.rtol), stays - length)
        n = len(self.state.z)
        z, slopes, xi = np.split(last.course.y0, [n, 2 * n])
        return rounded_unknowns(alike.data, alike.data.state(z, slopes, xi), stays)


def primes(count: int) -> np.ndarray:
    """The first prime numbers, of which no two square roots have a rational ratio."""
    found: list[int] = []
    number = 2
    while len(found) < count:
        if all(number % p for p in found):
            found.append(number)
        number += 1
    return np.array(found, float)
