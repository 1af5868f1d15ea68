"""The loop of a run: instant, segment, instant, ...

An instant is a sequence of micro-steps of relations, discrete equations, mode choice and restart until nothing changes; a
segment follows the closed form of the mode, or is integrated, to the first crossing of a guard or the next time event.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from functools import cached_property, partial
from time import perf_counter
from typing import Any

import numpy as np

from ..dynamics.noise import Uncertainty
from ..errors import AcausalError, Location
from ..reduction.affine import Inadmissible, Kind, Mode, ModeData, Restart
from ..reduction.impacts import meets, pushed, start_limits
from ..reduction.rounding import ROUNDING
from ..results.record import MicroStep
from . import self_check
from .closed_form import ClosedForm
from .confirmation import (
    confirm_instant,
    confirm_jump,
    confirm_recorded,
    missed_statement,
    require,
)
from .failures import (
    UNSOLVED,
    CrossingUnresolved,
    DiscreteUnsound,
    Failure,
    GivenContradict,
    Micro,
    NoMotionAfterImpact,
    NoProgress,
    NotFinite,
    NotSolved,
    ReadNotFinite,
    RequirementMissed,
    SearchFailed,
    SeveralModes,
    TwoReinits,
    Unsettled,
)
from .instants.choice import choose, derivatives, one_by_one, only_mode
from .instants.collisions import can_collide
from .instants.discrete import Outcome
from .instants.hints import Cause
from .instants.impact_rounds import ImpactFailed, Stage
from .instants.impulse_policy import interruption, source_leaps
from .instants.jumps import collide, jump_record, way
from .instants.overlaps import all_open, overlap, parted
from .instants.pivoting import modes_around
from .instants.restart import LeftLimits
from .instants.search import NoConsistentMode
from .instants.standstill import through_standstill
from .instants.transition import Choice, Instant
from .nonlinear.numerical import Integrated
from .propagator import Propagator, RangeLeft
from .quiet_rows import QuietRows
from .sources.source_states import OpenInput
from .state import Given
from .watch import can_trigger, orientations

TIME = -1
"""In the place of a guard: what comes due is a time, not a crossing."""
REPEATED = ("time", "state")
"""Kinds of instants that come again."""
MOST_TIMES = 3
"""Instants at the same time, mode and discrete values with the same cause, after which nothing moves any more: others may lie
between them, that lead back."""


class Loop(QuietRows):
    """A run that moves."""

    # -- time --------------------------------------------------------------------------------------------------------

    @np.errstate(
        over="ignore", invalid="ignore", divide="ignore"
    )  # what is not finite is an error of its own
    def advance(
        self, t_end: float, report: Callable[[float], object] | None = None, *, each: bool = False
    ) -> None:
        """Move to ``t_end``, instants at ``t_end`` included; ``report`` is told the time after ``each`` instant and step.

        Otherwise it is told now and then. What it raises ends the run.
        Where that is interrupted, the run is left at the last instant, or step of integration, that is complete.
        """
        self.report, self.each = report, each
        if t_end > self.sources.stretch.stop:
            self.sources.stretch.end_at(t_end)
        try:
            self._advance(t_end)
        except AcausalError:
            raise
        except BaseException:
            self.seen = None  # An interrupt may have left a situation half packed.
            raise
        finally:
            self.release()

    def _advance(self, t_end: float) -> None:
        """The same."""
        state = self.state
        seconds = self.work.seconds
        while not self.status.finished:
            if state.pending is None:
                begin, recorded = perf_counter(), seconds["record"]
                ends = self._ends_before(t_end)
                seconds["flow"] += perf_counter() - begin - (seconds["record"] - recorded)
                if ends:
                    return
            begin = perf_counter()
            self.mark()
            assert state.pending is not None
            self._instant(state.pending)
            state.pending = None
            seconds["instants"] += perf_counter() - begin
            if self.report is not None:
                self.mark()
                self.report(state.t)
            if state.t >= t_end:
                return

    def _ends_before(self, t_end: float) -> bool:
        """Move on until an instant is pending; whether the end comes first."""
        state = self.state
        repeat = self.repeat_quietly if self.numerical else self.repeat
        if not (self.report and self.each) and repeat(t_end):
            return True
        if state.pending is not None:
            return False
        self.mark()
        due = min(self.next_tick, state.timed_next)
        if self.sources.varies:
            due = min(due, self.sources.next_break(state.t))
        horizon = min(t_end, due)
        hit = self._segment(horizon)
        if hit is None and horizon >= t_end and due > t_end + self.tolerance:
            # What crosses zero at the end itself, to the last digits of time, belongs to this run.
            hit = self.turning()
            if hit is None:
                return True
        state.pending = TIME if hit is None else hit
        return False

    def finish(self) -> None:
        """Process ``when(terminal())`` after the last instant."""
        self.mark()
        self.process("terminal", ("terminal",))

    def change_inputs(self, open_inputs: tuple[OpenInput, ...]) -> None:
        """Go on with other open inputs, with numbers that suit these."""
        for open_input in open_inputs:
            open_input.measure(self.state.t, self.span)
        other = not all(map(OpenInput.suits, open_inputs, self.open_inputs))
        if other:
            self.use(self.numbers(self.state.D, self.state.R, open_inputs))
        self.take_inputs(open_inputs)
        if other:
            self.settle()

    # -- segments ------------------------------------------------------------------------------------------------

    def _closed(self) -> bool:
        """Whether the present mode has a closed form; the model in which it does is taken."""
        lin, mode = self.linearisation, self.state.mode
        core = None if self.method.everywhere else lin.exact(mode, self.present)
        if core is not None and core is not lin.core:
            lin.take(core)
            self.data = core.mode(mode)
            self.y = self.data.state(self.state.z, self.state.slopes, self.xi)
            self.forget_signs()
        return core is not None

    def propagator(self) -> Propagator:
        """What moves on from the present point: the closed form of the mode, where it has one."""
        return ClosedForm(self, self.holds) if not self.numerical or self._closed() else Integrated(self)

    def _segment(self, horizon: float) -> int | None:
        """Move on to the horizon or the first crossing; return the form that crossed, or None."""
        state = self.state
        if not horizon > state.t:
            self.reach(horizon)
            return None
        motion = self.propagator()
        h, hit = motion.advance(horizon - state.t)
        t = horizon if hit is None else state.t + h
        end, lost = motion.end(h, t), None
        if isinstance(end, RangeLeft):
            # What is known until there is kept.
            lost, h, hit = end, end.h, None
            t = state.t + h
            end = motion.end(h, t)
            assert not isinstance(end, RangeLeft)
        if h > 0.0:
            self.keep(*motion.dense(), t)
        if end is not None:
            self.follow(end)
        if h > 0.0:
            motion.confirm(h)
        if end is not None and end.y is None:
            self.linearise()
            self._arrive()
        self.reach(t)
        if lost is not None:
            raise self.failed(NotFinite("state", lost.which))
        return hit

    def holds(self) -> bool:
        """Whether all that has to hold at the present point is positive up to rounding: no other doubt has to be judged."""
        state, which = self.state, self.discrete.state_relations
        if not self._watches or not len((tables := self.tables).forms):
            return True
        relations = state.R[which].tobytes() if len(which) else b""
        held = tables.situations.get((relations, state.forced, state.disabled))
        if held is None or held.selections:
            return False
        # Lists: reductions of short arrays take longer. What is no number is not above any.
        values = held.rows.dot(self.y).tolist()
        if not values or (min(values) >= 0.0 and sum(values) >= 0.0):
            return True
        return held.clear(self.y, self_check.lateness(state.t, self.tolerance) * self.data.Ay.dot(self.y))

    def _instant(self, hit: int) -> None:
        state = self.state
        close = self.next_tick <= state.t + self.tolerance
        ticks = self.take_ticks() if close else ()
        triggers: tuple[Any, ...] = (hit, *[k for k, due in enumerate(ticks) if due])
        key = (triggers, state.mode, state.D.tobytes())
        if state.t != self.stands:
            self.stands, self.met = state.t, {}
        times = self.met[key] = self.met.get(key, 0) + 1
        if times > MOST_TIMES:
            raise self.failed(NoProgress(None if hit == TIME else hit))
        self.process("time" if hit == TIME else "state", triggers, ticks)

    # -- instants ------------------------------------------------------------------------------------------------

    def process(
        self,
        kind: str,
        triggers: tuple[Any, ...],
        ticks: Sequence[bool] = (),
        reinits: list[tuple[int, float]] | None = None,
        given: Given | None = None,
    ) -> None:
        """Run the micro-steps of the present instant; what is ``given`` from outside changes in its first one."""
        state = self.state
        trail: list[Micro] = []
        jumped, limit = False, self.options.max_micro_steps
        for k in range(limit + 1):
            first = k == 0
            outcome = self.evaluate(
                ticks if first else (), kind == "start" and first, kind == "terminal" and first,
                given.D if first and given else None, state.mode if first else self.carrying(),
            )  # fmt: skip
            quiet = (not first or kind == "terminal") and self._same(outcome)
            # What an impulse decided need not hold after it.
            if quiet and not (jumped and self._turns()):
                self._take(outcome)
                break
            requested = self._reinits(outcome) if outcome.fired else []
            if first and given:
                self.change_inputs(given.open_inputs)
            if first and reinits:
                requested = reinits + requested
            before = None if self.seen is None or kind not in REPEATED else self.situation_key()
            searched = bool(first or jumped or requested or self._moves(outcome))
            if searched:
                jumped = self._accept(outcome, requested, kind, triggers, k)
            else:
                self._take(outcome)
                step = MicroStep(state.t, k, kind, triggers, state.mode, state.mode, D=state.D, R=state.R)
                self.record.steps.append(step)
            if self.seen is not None and before is not None:
                self.learn(before, triggers, searched, jumped)
            trail.append((state.D, state.mode, state.z if self.is_clear else self.y, outcome.R, state.memory))
            if k == limit or (k > 0 and _repeats(trail)):
                begin = max(0, len(trail) - 6)
                raise self.failed(Unsettled(trail[begin:], begin, self._switching_relations()))
        self._check()
        if not self.holds():
            confirm_instant(self)

    def evaluate(
        self, ticks: Sequence[bool] = (), initial: bool = False, terminal: bool = False,
        given: np.ndarray | None = None, mode: Mode | None = None,
    ) -> Outcome:  # fmt: skip
        """Evaluate relations at the values of the previous micro-step, then the discrete part with what is ``given``.

        Elements that latch do so in ``mode``, which is the present one if none is given.
        """
        state = self.state
        mode = state.mode if mode is None else mode
        discrete, R = self.discrete, state.R
        if len(discrete.state_relations):
            R = R.copy()
            R[discrete.state_relations] = self.relation_values()
        x: Any = ()
        if discrete.x_ids or discrete.slope_ids:
            x = self.read(discrete.x_ids, discrete.slope_ids)
            if not math.isfinite(float(x.sum())) and not np.isfinite(x).all():
                raise self.failed(ReadNotFinite(discrete.x_ids, discrete.slope_ids, x))
        now = (state.t, self.tolerance, initial, terminal)
        found = discrete(state.D, R, x, ticks, state.memory, now, mode, given)
        needed = discrete.compares(found) if found.fired else ()
        if needed:
            # Only then does it matter how variables move: a mode that is left at once need not be analysed for that.
            x = np.concatenate([x, self._motions(needed).ravel()])
            found = discrete(state.D, R, x, ticks, state.memory, now, mode, given)
        if not found.sound:
            raise self.failed(DiscreteUnsound(found.D))
        if found.defects is not None:
            require(self, missed_statement(discrete.program, found), state.t)
        return found

    def carrying(self) -> Mode:
        """The mode, where elements that latch count as open that carry nothing: nothing holds them closed."""
        mode = self.state.mode
        closed = [k for k in self.discrete.latches if mode[k] == 1]
        if not closed:
            return mode
        signs, found = self.signs(), list(mode)
        for sign, (k, _, _) in zip(signs, self.tables.origin, strict=False):
            if k in closed and sign == 0:
                found[k] = 0
        return tuple(found)

    def _motions(self, needed: Collection[int]) -> np.ndarray:
        """First two derivatives of what is compared and the depths at which values and these count as zero, a row for each.

        Zeros for variables that are not needed, and for those outside of the core: their values alone tell their signs.
        """
        core, compared = self.core, self.discrete.compared
        found = np.zeros((len(compared), 5))
        moving = [k in needed and not core.readout.observed(k) for k in compared]
        ids = tuple([k for k, on in zip(compared, moving, strict=True) if on])
        if ids:
            if core.system is None:
                levels = core.variables(self.data, ids).levels(self.y, self.known)
            else:
                levels = self.along(core.readout.core_rows(ids), np.full(len(ids), -1)).levels(self.known)
            found[moving] = np.concatenate([levels[0][1:], levels[1]]).T
        return found

    def _same(self, o: Outcome) -> bool:
        state = self.state
        same = not o.fired and o.forced == state.forced and o.disabled == state.disabled
        return same and _equal(o.D, state.D) and _equal(o.R, state.R)

    def _moves(self, o: Outcome) -> bool:
        """Whether another mode or point may follow from a micro-step after one that has led to the present ones.

        Not where it changes only discretes and relations that no equation, source or element reads: the same search would find
        the same.
        """
        state = self.state
        source = self.sources.program
        if self.numerical or o.forced != state.forced or o.disabled != state.disabled:
            return True
        discretes, relations = self.reduced.frozen
        return not (
            _equal(o.D[discretes], state.D[discretes])
            and _equal(o.D[source.d], state.D[source.d])
            and _equal(o.R[relations], state.R[relations])
            and _equal(o.R[source.r], state.R[source.r])
        )

    def _take(self, o: Outcome) -> None:
        """Accept discretes, relations and branches of an evaluation of the discrete part."""
        state = self.state
        state.D, state.R, state.forced, state.disabled = o.D, o.R, o.forced, o.disabled
        state.memory, state.timed_next = o.memory, o.timed_next

    def _reinits(self, o: Outcome) -> list[tuple[int, float]]:
        found = []
        places: dict[Any, tuple[int, Location]] = {}
        for b in o.fired:
            branch = self.discrete.program.branches[b]
            for x, position in branch.reinits:
                target = self.program.unknowns.reinit_target(x)[:2]
                if target in places:
                    raise self.failed(TwoReinits(places[target], (x, branch.place)))
                places[target] = x, branch.place
                value = self.discrete.value(position)
                if not np.isfinite(value):
                    raise self.failed(NotFinite("reinit", (x,), (value,), place=branch.place))
                found.append((x, value))
            for message in branch.messages:
                self.stop(message or "terminated")
        return found

    def _accept(
        self, o: Outcome, requested: list[tuple[int, float]], kind: str, triggers: tuple[Any, ...], k: int
    ) -> bool:
        """Make one micro-step; whether a differentiated variable jumped in it."""
        state = self.state
        self._take(o)
        xi = self.sources.constant
        if xi is None or self.numerical or self.frozen:
            xi = self.refresh_core()
        reinits = self.apply_reinits(requested) if requested else []
        first, known = kind == "start" and k == 0, self._known(kind == "start", xi)
        depth = self._part(known) if self._contacts and not first else None
        z_minus = state.z
        begin = start_limits(self.core.model, z_minus, xi) if first else z_minus
        crossed = None if k else partial(self._crossed, triggers, xi)
        left = partial(way, self, first, z_minus if begin is None else begin, known)
        instant = Instant(known, z_minus, xi, o.forced, o.disabled, reinits, crossed, depth)
        if kind == "time" and not reinits and self.passes(instant, triggers, k):
            return False
        try:
            choice = self.next_mode(state.mode, instant, triggers)
            restart, parts, last = self._impelled(self._finite(kind, choice.restart, instant), instant, left)
        except ImpactFailed as failure:
            raise self.failed(NoMotionAfterImpact(failure)) from None
        except (NoConsistentMode, Inadmissible) as error:
            raise self.failed(self._without_mode(error, instant, requested, kind)) from None
        except UNSOLVED as failure:
            raise self.failed(NotSolved(failure, "start" if kind == "start" else "restart")) from None
        if choice.others:
            self.notify(SeveralModes(restart.data.mode, choice.others))
        before, logged = state.mode, dict[str, Any]()
        if restart.jumped:
            if kind != "start":  # There left limits may contradict the model.
                cut = interruption(self.core.model, restart, z_minus, self.options.impulses)
                if cut is not None:
                    raise self.failed(cut)
            stages = parts or left(restart)
            held = [j for j, value in reinits if first and value == z_minus[j]]
            contradicting = begin is None or (first and self._contradicting(restart, z_minus, xi, held))
            confirm_jump(self, restart, stages, reinits, known, bool(parts))
            logged = jump_record(self, restart, z_minus, xi, stages, contradicting, held)
            if begin is not None:
                confirm_recorded(self, logged["parts"], begin, restart)
        # What an impulse decided need not hold after it.
        self.enter(restart, choice.signs if restart is choice.restart and not restart.jumped else None)
        if restart.jumped:  # What moves slower then is known no better.
            moved, data = None, restart.data  # Large models choose no other states.
            if self.numerical and last is not None and isinstance(data, ModeData):
                moved = LeftLimits(data, last.z_minus, xi, last.known).carried()
            elif not self.numerical:
                # While rounding leaves the time of an impact open, what touches moves together: no distance changes.
                known = known._replace(shift=None)
            known = known.after(restart, restart.removed)
            state.error, state.shift = (known.each, None) if moved is None else (known.error, moved.point)
            state.late = 0.0 if moved is None else state.late
        elif restart.removed is not None:
            state.error = known.after(restart, restart.removed).error
        after, D, R = restart.data.mode, state.D, state.R
        self.record.steps.append(MicroStep(state.t, k, kind, triggers, before, after, D=D, R=R, **logged))
        return restart.jumped

    def _impelled(
        self, restart: Restart, instant: Instant, left: Callable[[Restart], tuple[Stage, ...]]
    ) -> tuple[Restart, tuple[Stage, ...], Instant | None]:
        """A restart behind the law of impact, or with what turns around stopped on the way; and the way, if it has such parts.

        Third what remains of the instant behind them; None where it does not tell how left limits move together.
        """
        if restart.jumped and can_collide(self.core.model, restart):
            return collide(self, restart, instant, left, self.next_mode)
        if restart.jumped and self._has_curves:
            solve = partial(self.next_mode, triggers=("standstill",))
            found, parts = through_standstill(lambda: self.core.model, restart, instant, left, solve)
            return found, parts, None if parts else instant
        return restart, (), instant

    def _finite(self, kind: str, restart: Restart, instant: Instant) -> Restart:
        """The restart, if no source that steps moves at once what has inertia, or that is allowed."""
        if restart.jumped and kind != "start" and not instant.reinits and self.options.impulses == "error":
            before = self.y[len(self.data.states) :]
            found = source_leaps(self.core, self.program.unknowns, self.moment(), before, restart, instant)
            if found is not None:
                raise self.failed(found)
        return restart

    @cached_property
    def _contacts(self) -> tuple[int, ...]:
        """Elements that are contacts."""
        return tuple(k for k, e in enumerate(self.core.model.elements) if e.kind is Kind.IMPACT)

    @cached_property
    def _has_curves(self) -> bool:
        """Whether there are elements with a power in more than one branch, which depends on the direction of a speed."""
        return any(e.absorbing is not None for e in self.core.model.elements)

    def _part(self, known: Uncertainty) -> np.ndarray | None:
        """Move apart what the motion has let overlap; by how much each element (K,) did, None where none does beyond doubt.

        The micro-step before may have taken for zero, with more doubt, what now is below it.
        """
        core, state, data = self.core, self.state, self.data
        # A point of a large model has no impulses.
        if not isinstance(data, ModeData) or not overlap(self._contacts, self.tables, self.y, known):
            return None
        which = [k for k in self._contacts if state.forced[k] < 0]
        positions, xi = self.program.unknowns.positions, self.y[len(data.states) :]
        opened = all_open(core, state.mode, state.forced)
        found = parted(core, which, opened, positions, state.z, state.slopes, xi)
        if found is None:
            return None
        state.z, depth = found
        self.y = data.state(state.z, state.slopes, xi)
        self.forget_signs()
        return depth

    def _contradicting(self, restart: Restart, z_minus: np.ndarray, xi: np.ndarray, held: list[int]) -> bool:
        """Whether left limits contradict what holds in every mode, or ``held`` ones are held against impulses."""
        if not restart.J1.any():
            return False
        if self.reduced.nonlinear:
            rows = self.tangents.at(z_minus, self.state.slopes, xi, self.present).common_constraints
        else:
            rows = self.linearisation.base.common_constraints
        meet = meets(rows, np.concatenate([z_minus, xi]))
        return not meet or pushed(self.core.model, restart, z_minus, held)

    def _without_mode(
        self,
        error: NoConsistentMode | Inadmissible,
        instant: Instant,
        requested: list[tuple[int, float]],
        kind: str,
    ) -> Failure:
        """Why there is no mode: the one before would do if its guard had not crossed zero, or none is consistent."""
        crossed = None if instant.crossed is None else instant.crossed()
        if crossed is not None:
            uncrossed = replace(instant, crossed=None)
            if self.core.search.test(self.state.mode, uncrossed).consistent:
                return CrossingUnresolved(crossed[1][0])
        return SearchFailed(error, instant.forced, requested, kind)

    def _known(self, start: bool, xi: np.ndarray) -> Uncertainty:
        """How exactly left limits are known: the first instant is when it is, others are as late as what moves in them."""
        state, known = self.state, self.known
        if start:
            # What Newton's method completes is as exact as its last step; what is stated is exact.
            solved = ROUNDING * self.core.model.scale if self.reduced.nonlinear else None
            at = Uncertainty.at(state.t, self.core.model.S @ xi)
            return at._replace(error=solved, shift=known.shift)
        slopes = state.slopes
        rate = (lambda: slopes) if self.numerical else partial(_rate, self.data, self.y)
        doubt = self.sources.doubt(state.t) if self.sources.fitted else None
        return Uncertainty(known.late, known.error, rate, doubt, known.shift)

    def _crossed(self, triggers: tuple[Any, ...], xi: np.ndarray) -> tuple[Mode, tuple[int, int, int]] | None:
        """Mode and guard whose crossing alone caused the first micro-step of an instant, None without any."""
        hit = self.state.pending
        if hit is None or hit < 0 or triggers != (hit,):
            return None
        tables = self.tables
        if hit >= tables.count:
            return None
        moved, size = np.abs(xi - self.y[len(self.y) - len(xi) :]), np.abs(xi)
        core = self.core
        known = ROUNDING * core.amplitudes.dot(size) + self.tolerance * np.abs(core.exosystem.S).dot(size)
        if (moved > known).any():
            return None
        return self.state.mode, tables.origin[hit][2]

    def next_mode(self, present: Mode, instant: Instant, triggers: tuple[Any, ...]) -> Choice:
        """The consistent mode after an instant, and the point in it."""
        state, lin = self.state, self.linearisation
        if lin.core.system is not None:
            return only_mode(lin, state.slopes, instant.z_minus, instant.reinits, instant.xi, self.present)
        free, relations = self.bounds is None and not instant.reinits, self.state_relations
        cause = Cause(present, triggers, instant.forced, instant.disabled_guards, relations)
        hint = self.hints.foreseen(cause) if free and self.reduced.nonlinear else None
        ended = None if hint is None else self.ended(present, instant, hint)

        def search(begin: Mode) -> Choice:
            return self.hints.next_mode(lin.core.search, begin, instant, triggers, relations, ended)

        if not self.reduced.nonlinear:
            return search(present)
        first = self.base.search.begin(present, instant.forced)
        modes = [
            mode for mode in dict.fromkeys((None if ended or not free else first, hint)) if mode is not None
        ]
        begin, at = (state.z, state.slopes), (instant.z_minus, instant.xi, self.present)
        try:
            return choose(lin, search, begin, *at, present, modes)
        except (NoConsistentMode, *UNSOLVED):
            # What tangents of other points refuse may suit on its own.
            around = modes_around(self.base.model, instant.forced, first) if free else ()
            found = one_by_one(lin, partial(self._suits, instant), state.slopes, *at, around)
            if found is None:
                raise
            self.hints.remember(cause, first, found.restart.data.mode, lin.core.search)
            return found

    def _suits(self, instant: Instant, mode: Mode) -> Choice | None:
        """What a mode gives with the numbers in force, None where it does not suit."""
        verdict = self.linearisation.core.search.test(mode, instant)
        if verdict.restart is None or not verdict.consistent:
            return None
        return Choice(verdict.restart, (), verdict.signs)

    def enter(self, restart: Restart, signs: list[int] | None = None) -> None:
        """Accept a restart; ``signs`` of its guards, where they are known."""
        state = self.state
        self.data, self.y, state.z, state.mode = restart.data, restart.y, restart.z, restart.data.mode
        state.D = self.discrete.written(state.D, state.mode)
        self._signs = None if signs is None or self.discrete.operators else (self.linearisation.core, signs)
        if self.numerical:
            state.slopes, state.second = derivatives(restart)
            self.xi = self.y[len(self.data.states) :]

    def turning(self) -> int | None:
        """The form that is about to change its sign at the present point; None without any."""
        state = self.state
        if not self._watches:
            return None
        tables = self.tables
        values = state.R[self.discrete.state_relations].tolist()
        side = orientations(tables.count, self.program.unknowns.relation_operators, values)
        found = np.array(self.tested()) * side < 0.0
        found &= can_trigger(self.data, state.forced, state.disabled, len(found))
        return int(np.argmax(found)) if found.any() else None

    @property
    def _watches(self) -> bool:
        """Whether guards or relations of states may be near zero: where there are none a mode need not be analysed for them."""
        return not self.is_clear and bool(self.base.model.elements or len(self.discrete.state_relations))

    def _turns(self) -> bool:
        """Whether a form is about to change its sign, or relations select another branch of an element than the one in force."""
        return self.turning() is not None or bool(
            self.tables.deselected(self.state.forced, self.y, self.known)
        )

    def _check(self) -> None:
        """Known quantities do not contradict each other, and requirements hold."""
        state = self.state
        missed = self.discrete.missed()
        if self.contradictable:
            xi = self.sources.states(state.t, state.D, state.R)
            row = self.base.contradicting_row(xi)
            if row is not None:
                raise self.failed(GivenContradict(row, xi))
        if missed is not None:
            batch, instance, check = self.discrete.program.checks[missed]
            place = self.flat.location(batch, instance, check.origin)
            raise self.failed(RequirementMissed(check.message, place, str(check.condition), state.t))

    def _switching_relations(self) -> list[int]:
        which = self.discrete.state_relations
        values = self.relation_values() if len(which) else np.zeros(0)
        return [int(n) for n, v in zip(which, values, strict=True) if v != self.state.R[n]]


def _rate(data: ModeData, y: np.ndarray) -> np.ndarray:
    """Time derivatives of the core unknowns."""
    return data.T.dot(data.Ay.dot(y))


def _equal(a: np.ndarray, b: np.ndarray) -> bool:
    # Bytes are the cheaper comparison; zeros of different sign are left to the dear one.
    return a is b or a.tobytes() == b.tobytes() or bool((a == b).all())


def _repeats(trail: list[Micro]) -> bool:
    """Whether the last state occurred before; what remembers that a `when` has fired belongs to it."""
    D, mode, y, R, memory = trail[-1]
    arrays = D, y, R, memory
    before = [(s[0], *s[2:]) for s in trail[:-1] if s[1] == mode]
    return any(all(map(np.array_equal, arrays, s)) for s in before)
