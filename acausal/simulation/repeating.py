"""A run that leaves events which it has seen before to a kernel: when it does, and what both tell each other.

The kernel knows ideal elements between closed forms. It repeats each decision with the numbers of the present event, and leaves
the event to the loop where one turns out otherwise.
"""

from __future__ import annotations

import math
from itertools import takewhile
from typing import Any

import numpy as np

from ..compilation.programs import ends_of, with_own_numbers
from ..dynamics.closed_form import AffineFlow
from ..kernels.events import FULL, LOOK, OVER
from ..kernels.instants import MOST_MICRO_STEPS
from ..kernels.loading import compiled_function
from ..kernels.programs import Arithmetic
from ..kernels.situations import Clocks, DiscretePlaces, DiscreteRecords
from ..reduction.affine import Kind, ModeData
from ..reduction.assemble import truth
from ..results.record import SegmentColumns, StepColumns
from . import self_check
from .closed_form import ClosedForm
from .confirmation import in_force
from .instants.hints import Cause
from .numeric import NumericCore
from .run import Run
from .seen_events import KERNEL, MOST_CLOCKS, SeenEvents, Standpoint
from .seen_situations import SaidInSituation, SituationKey, Way

LEARNT = 16
"""Instants after which a run looks whether it has seen some of them before, if none of the program has seen any."""
MOST_BYTES = 50_000_000
"""Bytes of what kernels read beyond which all of it is given back."""
LEFT_OUT = (Kind.IMPACT, Kind.CONDITION)
"""Kinds of elements that the kernel knows nothing of."""
NOTHING = Arithmetic(np.zeros((0, 4), np.int64), *(np.zeros(0) for _ in range(3)))
WITHOUT_COMPILER = False
"""Have the kernel follow events though it is interpreted, which takes longer than the loop: for tests."""


class Repeating(Run):
    """A run with events that it has seen before."""

    seen: SeenEvents | None = None
    """These events, while the run moves."""
    served: NumericCore
    """The numbers that they belong to."""
    instants: float = 0
    """Instants before they are looked for."""

    def repeat(self, t_end: float) -> bool:
        """Follow events that have been seen before; whether that has led to ``t_end``."""
        if self.seen is None or self.served is not self.core:
            self.release()
            if not self._has_seen():
                return False
        assert self.seen is not None
        here = self.seen.situations.place.get(self.situation_key())
        return here is not None and self._follow(self.seen, here, t_end)

    def _has_seen(self) -> bool:
        """Take what runs with the numbers in force have seen, or begin to see after some instants; whether there is any."""
        core = self.core
        try:
            idle = core.idle.pop()  # Another thread may be quicker.
        except IndexError:
            idle = None
        if idle is not None and idle.whom is self.hints and self.served is core:
            self.seen, self.served = idle, core  # This run has used it last.
            return True
        self.instants += 1
        if idle is None and self.instants < LEARNT and not self.cores.repeated:
            return False
        if not self._can_repeat():
            if idle is not None:
                core.idle.append(idle)
            self.instants = -math.inf
            return False
        self._serve(idle)
        return True

    def release(self) -> None:
        """Leave what was seen to runs with the same numbers."""
        seen, self.seen = self.seen, None
        if seen is not None:
            self.served.idle.append(seen)

    def _follow(self, seen: SeenEvents, here: int, t_end: float) -> bool:
        self.mark()
        now = self.state
        shift = None if now.shift is None else self.known.shift
        seen.visits.update(self.visits)
        seen.begin(
            Standpoint(
                here, (now.t, now.timed_next, float(now.late), self.next_tick), self.y, now.z, now.error, shift, now.D,
                now.R, now.memory, now.ticks, self._known_signs,
            ),
            t_end, self.schedule.together,
        )  # fmt: skip
        status, moved = seen.follow(), False
        while seen.count:
            moved = True
            segments, steps = self._keep(seen)
            if status == LOOK:
                self._arrive_at(seen, seen.left)
                self._look_back(seen.last_flow, seen.reached)
            self._arrive_at(seen, seen.reached, seen.pending)
            self.mark()
            if self.options.stream is not None:
                self.options.stream.take(segments, steps)
            if self.report is not None:
                self.report(self.state.t)
            if status in (FULL, LOOK):
                status = seen.follow()
        if moved:
            self.hints.stats.hinted(seen.searches)
        return status == OVER

    def _keep(self, seen: SeenEvents) -> tuple[SegmentColumns, StepColumns]:
        """Record events, and return them."""
        segments, steps = seen.recorded(self.state.q, self.base.readout)
        self.record.segments.extend(segments)
        self.record.steps.extend(steps)
        self.visits |= seen.visits
        return segments, steps

    def _look_back(self, flow: AffineFlow, end: Standpoint) -> None:
        """Judge the segment from the present point along a flow to its end, and the way there."""
        motion, mode, length = ClosedForm(self, lambda: False), self.state.mode, end.numbers[0] - self.state.t
        if not length > 0.0:
            return
        self.y, self.looked[mode] = end.y, max(length, self.looked.get(mode, 0.0))
        motion.look(flow, length)

    def _arrive_at(self, seen: SeenEvents, at: Standpoint, pending: int | None = None) -> None:
        key, (t, timed_next, late, next_tick) = seen.key(at.situation), at.numbers
        self._put(
            seen.situations.tables[at.situation].data, at.y, at.signs, next_tick,
            t=t, mode=key.mode, z=at.z, D=at.D, R=at.R, memory=at.memory, forced=key.forced, disabled=key.disabled,
            timed_next=timed_next, ticks=at.ticks, error=at.error, late=late, shift=at.shift,
            pending=pending,
        )  # fmt: skip

    @property
    def _known_signs(self) -> list[int] | None:
        """These signs where they are known."""
        return self._signs[1] if self._signs is not None and self._signs[0] is self.core else None

    def _put(
        self, data: ModeData, y: np.ndarray, signs: list[int] | None, next_tick: float, **state: Any
    ) -> None:
        """Take a point to which events have led, with the signs that are known there, and these values of the state."""
        self.data, self.y = data, y
        self.put_values(next_tick, **state)
        self._signs = None if signs is None else (self.core, signs)

    def put_values(self, next_tick: float, **state: Any) -> None:
        """Take these values of the state, and the time of the next tick."""
        self.next_tick = next_tick
        for name, value in state.items():
            setattr(self.state, name, value)

    # -- what is learnt --------------------------------------------------------------------------------------------

    @property
    def state_relations(self) -> tuple[float, ...]:
        """Truth of the relations of states."""
        return tuple(self.state.R[self.discrete.state_relations].tolist())

    def situation_key(self) -> SituationKey:
        """The present situation."""
        now = self.state
        return SituationKey(now.mode, now.forced, now.disabled, self.state_relations)

    def learn(self, before: SituationKey, triggers: tuple[Any, ...], searched: bool, jumped: bool) -> None:
        """A cause has led from the situation before to the present one, which a jump leaves to the loop another time too."""
        assert self.seen is not None
        now, situations = self.state, self.seen.situations
        there, here = situations.place.get(before), self._enter(self.seen)
        cause, ticks = triggers[0], sum(1 << k for k in triggers[1:])
        key = self.situation_key()
        known = (
            self.hints.known(Cause(before.mode, triggers, now.forced, now.disabled, key.relations))
            if searched
            else ()
        )
        if searched:
            situations.agree(before.mode, cause, ticks, key, tuple(known))
        if jumped or (searched and now.mode not in known):
            return  # A search may find another one.
        search = self.core.search
        rivals = search.rivals(search.begin(before.mode, now.forced), now.mode) if searched else ()
        stays = before.forced == now.forced and before.disabled == now.disabled
        if rivals is None or (rivals and not (rivals == (before.mode,) and stays)):
            return
        if there is not None:
            situations.add_flows(there)
            if here is not None:
                tried = takewhile(lambda mode: mode != now.mode, known)
                situations.connect(there, Way(cause, ticks, here, searched, bool(rivals)), tuple(tried))

    def _enter(self, seen: SeenEvents) -> int | None:
        """Number of the present situation, None where the kernel cannot be in it."""
        key, tables, discrete = self.situation_key(), self.tables, self.discrete
        found = seen.situations.place.get(key)
        if found is not None:
            seen.situations.complete(found)
            return found
        # What does not come again is not worth the room.
        if not seen.comes_again(key) or not tables.flow.plain:
            return None
        if seen.situations.bytes > MOST_BYTES:
            self.cores.repeated.clear()
            self._serve(None)  # Begin anew: what is at work now is seen again.
            return None
        core = self.core
        said = SaidInSituation(
            core.readout.reading(self.data, discrete.x_ids, discrete.slope_ids).A,
            core.variables(self.data, discrete.compared).levels_for_kernels,
            np.array(core.search.sliding(key.mode), np.int64), discrete.enabled.copy(), *discrete.shown(key.mode),
        )  # fmt: skip
        return seen.situations.add(key, tables, in_force(core, tables, *self.situation()), said)

    # -- what the kernel needs ---------------------------------------------------------------------------------------

    def _can_repeat(self) -> bool:
        """Whether the kernel knows all that there is in this run."""
        left_out = any(element.kind in LEFT_OUT for element in self.core.model.elements)
        return not (self.numerical or left_out) and self.can_follow(KERNEL)

    def can_follow(self, kernel: str) -> bool:
        """Whether a kernel knows all that instants of this run read and do, but for elements."""
        discrete, sources, clocks = self.discrete, self.sources, self.schedule.clocks
        update, source = self.program.programs
        return (
            (compiled_function(kernel) is not None or WITHOUT_COMPILER)
            and not (self.frozen or self.contradictable or self_check.EVERY_VISIT)
            and self.core.system is None
            and not len(self.state.q)
            and not self.core.readout.outside[[*discrete.x_ids, *discrete.slope_ids]].any()
            and not (sources.fitted or any(given.degree for given in self.open_inputs))
            and len(clocks) <= MOST_CLOCKS
            and self.options.max_micro_steps >= MOST_MICRO_STEPS
            and all(clock.countable(self.span + abs(self.begin)) for clock in clocks)
            and update is not None
            and not (len(sources.positions) and source is None)
        )

    def _serve(self, idle: SeenEvents | None) -> None:
        """Take what other runs with the same numbers have seen, or begin to see."""
        self.seen = idle or SeenEvents(
            self.core.model, self.program.unknowns.relation_operators, self.cores.repeated
        )
        self.served = self.core
        self.seen.serve(self.discrete_records(), self.hints)
        if idle is not None:
            idle.visits.clear()  # Each run looks closely at the first segments of each mode.
            idle.situations.forget_searches(self._has_one_mode)

    def discrete_records(self) -> DiscreteRecords:
        """The discrete part and the sources as kernels read them, with the numbers of this run."""
        update, sources = self.program.programs
        assert update is not None
        own = with_own_numbers(update)
        own_sources = with_own_numbers(
            sources if sources is not None and len(self.sources.positions) else NOTHING
        )
        return DiscreteRecords(self._places(own, own_sources), own, own_sources, self._clocks())

    def _has_one_mode(self, key: SituationKey) -> bool:
        """Whether a search can find no other mode than that of a situation."""
        return self.core.search.is_unique(key.mode, key.forced)

    def _places(self, update: Arithmetic, sources: Arithmetic) -> DiscretePlaces:
        """How the discrete part reads and writes its program; the parameters are put in place."""
        discrete, program, source = self.discrete, self.program.discrete, self.sources.program
        f, g, P = program.update.function, source.states.function, self.values.P
        into = ends_of([f.numel_in(k) for k in range(f.n_in())])
        out = ends_of([f.numel_out(k) for k in range(f.n_out())])
        of_sources = ends_of([g.numel_in(k) for k in range(g.n_in())])
        update.inputs[into[0] : into[1]] = P[program.p]
        update.inputs[into[6] + 2 : into[6] + 5] = 0.0, 0.0, self.method.accuracy
        if len(self.sources.positions):
            sources.inputs[of_sources[0] : of_sources[1]] = P[source.p]
        truths = [
            [float(truth(op, sign)) for sign in (-1, 0, 1)] for op in self.program.unknowns.relation_operators
        ]
        branches, compared, observed = program.branches, discrete.compared, self.core.readout.observed
        compares = [[k in b.compares and not observed(k) for k in compared] for b in branches]
        return DiscretePlaces(
            into, out, program.inputs, discrete.state_relations, np.array(truths).reshape(-1, 3),
            np.array([not (b.reinits or b.messages) for b in branches], np.int64),
            np.array(compares, np.int64).reshape(len(branches), len(compared)), discrete.forces,
            np.array(discrete.latches, np.int64), source.d, source.r, of_sources, self.sources.positions,
        )  # fmt: skip

    def _clocks(self) -> Clocks:
        clocks = self.schedule.clocks
        rational, real = np.zeros((len(clocks), 3), np.int64), np.zeros((len(clocks), 2))
        for k, clock in enumerate(clocks):
            if clock.ratio is None:
                real[k] = clock.start, clock.period
            else:
                rational[k] = clock.ratio
        return Clocks(rational, real)
