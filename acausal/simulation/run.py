"""A run: its numbers, its mode and point at the present time, and what happened so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..dynamics.noise import LOCATED, Uncertainty
from ..dynamics.quadrature import Course
from ..dynamics.readout import Moment, ReadMode
from ..dynamics.work import Work
from ..errors import AcausalError
from ..kernels.segments import ANEW, MUCH_LONGER, is_power
from ..reduction.affine import Mode, ModeData, Rows
from ..reduction.core import Values
from ..results.record import Reasons, Record, Segment
from . import self_check
from .clocks import Clock, Schedule
from .compiled import CompiledModel
from .cores import Cores
from .failures import EquationsLost, Failure, NotFinite, Notice
from .instants.discrete import DiscretePart, Outcome
from .instants.hints import Hints
from .instants.transition import ModeTables
from .large.motion import LargeMotion
from .large.signs import MotionSigns
from .method import Method
from .nonlinear.bounds import Bounds, core_bounds
from .nonlinear.integration import Integration
from .nonlinear.linearisation import Linearisation
from .nonlinear.system import NonlinearSystem
from .nonlinear.tangents import Tangents
from .numeric import NumericCore, Times
from .options import Options, Status
from .propagator import Arrival
from .sources.source_states import OpenInput, SourceStates, Stretch
from .standing import Standing
from .starts.left_limits import guesses, left_limits
from .starts.problem import StartProblem
from .starts.stated import Starts
from .state import State, values_of

Explain = Callable[[Standing, Failure], AcausalError]


@dataclass(eq=False)
class Run:
    """State of one run at the present time; ``record`` keeps what happened before."""

    program: CompiledModel
    cores: Cores
    values: Values
    base: NumericCore
    """The numbers of the affine rows; ``core`` linearises the nonlinear ones at the present point."""
    open_inputs: tuple[OpenInput, ...]
    options: Options
    begin: float  # Time of the first instant.
    T0: float
    span: float
    clocks: tuple[Clock, ...]
    starts: Starts
    explain: Explain
    """Makes words of what fails."""
    says: Callable[[Standing, Notice], None]
    """Says what has happened."""
    parameters: dict[str, float] = field(default_factory=dict)
    """Parameters given for the run or changed after construction, by path."""
    record: Record = field(default_factory=Record)
    status: Status = field(default_factory=Status)
    work: Work = field(default_factory=Work)
    visits: dict[Mode, int] = field(default_factory=dict)
    looked: dict[Mode, float] = field(default_factory=dict)  # Lengths of the longest segments that were.

    def __post_init__(self) -> None:
        self.reduced, self.flat = self.program.reduced, self.program.flat
        self.schedule, (z, _, q) = Schedule(self.clocks), left_limits(self.program, self.starts)
        self.state = State(
            self.begin, self.program.unknowns.first_mode, z, np.zeros(len(z)), np.zeros(len(z)), q, self.values.D,
            self.values.R, np.ones(self.program.discrete.memory), ticks=self.schedule.begin(self.begin),
        )  # fmt: skip
        """What changes as the run goes on, but for what follows from it and for the record."""
        self.linearisation = Linearisation(self.base, None, z, self.work)
        self._arrived: tuple[NumericCore, Mode, np.ndarray, np.ndarray] | None = None
        """Core, mode, point and sources from which ``data`` and ``y`` are made where they were not set since."""
        self.data, self.y = None, np.zeros(0)  # type: ignore[assignment]
        self.next_tick = self.schedule.next(self.state.ticks)
        """Time of the next tick of all clocks."""
        self.hints, core = Hints(self.cores.modes_after), self.core
        self.analysed = {core: (core.analysed, core.seconds)}
        self.take_inputs(self.open_inputs)
        self._prepare_numerical()
        self._signs: tuple[NumericCore, list[int]] | None = None
        """The model in force and the signs at the present point."""
        self.frozen = any(len(ids) for ids in self.reduced.frozen)
        self.contradictable = bool(self.reduced.presolved.R.m)
        """Whether what is known of the sources may contradict itself."""
        elements, accuracy = self.core.model.elements, self.method.accuracy
        self.discrete = DiscretePart(self.program, elements, self.values.P, accuracy)
        self.report: Callable[[float], object] | None = None
        self.each = False
        """What is called with the time reached, now and then or after ``each`` instant and step; what it raises ends the run."""
        self._mark: tuple[tuple[Any, ...], Status, int, int] | None = None
        self.stands, self.met = math.nan, dict[Any, int]()  # Time of the last instant, and what came then.

    def _prepare_numerical(self) -> None:
        """What numerical integration needs: nonlinear rows, or a method that asks for it."""
        nonlinear, sparse = bool(self.reduced.nonlinear), self.base.system is not None
        self.method = Method.of(self.options, self.base.model, nonlinear, sparse, self.T0)
        self.numerical = self.method.numerical
        self.homotopy = 1.0
        """Share of the actual parts of homotopies."""
        self.bounds: Bounds | None = core_bounds(self.program) if self.reduced.nonlinear else None
        """Bounds of the core unknowns while a start is sought."""
        self.integration = self._new_integration()
        z, xi = self.state.z, self.sources.states(self.state.t, self.state.D, self.state.R)
        self.state.z = guesses(self.program, self.base, self.starts, z, xi, self.bounds)
        if self.numerical:
            self.linearisation.use(self.base, self._look_at(self.base))
            self.here()

    def _look_at(self, core: NumericCore) -> Tangents:
        """Nonlinear rows with these numbers."""
        return Tangents(core, self.program.nonlinear_functions, self.bounds)

    def _new_integration(self) -> Integration:
        return Integration(len(self.state.z), self.method.solver, self.method.tolerances)

    @property
    def core(self) -> NumericCore:
        """The affine model in force."""
        return self.linearisation.core

    @property
    def tangents(self) -> Tangents:
        """The nonlinear rows."""
        return self.linearisation.tangents

    def take_inputs(self, open_inputs: tuple[OpenInput, ...]) -> None:
        """Take the open inputs from ``open_inputs``, which have the degrees of the exosystem."""
        longest = min(self.span, self.T0) if math.isfinite(self.schedule.shortest) else self.span / 8
        self.open_inputs = open_inputs
        self.sources = SourceStates(
            self.program.sources, self.core.exosystem, self.values.P, open_inputs,
            self.core.unit, self.T0, Stretch(self.span, self.begin + self.span, longest),
        )  # fmt: skip

    @property
    def tolerance(self) -> float:
        """Events closer than this share an instant."""
        return max(LOCATED * math.ulp(self.state.t), self.schedule.together)

    @property
    def known(self) -> Uncertainty:
        """How exactly the present point is known."""
        now, shift = self.state, self.state.shift
        if shift is not None and self.numerical:
            moved = np.multiply.outer(now.late * (self.core.model.S @ self.xi), np.ones(shift.shape[1:]))
            shift = np.concatenate([shift[: len(now.z)], moved])  # Amplitudes may be others since.
        return Uncertainty(LOCATED * math.ulp(now.t), now.error, shift=shift)

    def take_ticks(self) -> list[bool]:
        """Which clocks tick in the present instant; they move on to their next ticks."""
        now = self.state
        due = self.schedule.due(now.t, now.ticks)
        if any(due):
            now.ticks = tuple([k + on for k, on in zip(now.ticks, due, strict=True)])
            self.next_tick = self.schedule.next(now.ticks)
        return due

    def snapshot(self) -> State:
        """The present state; later instants do not change it."""
        return State(*values_of(self.state))

    def standing(self) -> Standing:
        """Where the run stands, for those who explain."""
        state = self.snapshot()
        entered = self.__dict__["data"] if "data" in self.__dict__ else self._arrived and self._arrived[:2]
        xi = self.sources.states(state.t, state.D, state.R)
        return Standing(
            self.program, self.linearisation, self.starts, self.numerical, state, xi, self.present, self.base,
            self.integration.steps, entered, tuple(self.discrete.state_relations.tolist()),
        )  # fmt: skip

    def put(self, state: State) -> None:
        """Go on from a state of this model."""
        self._take_state(state)
        self.stands = math.nan
        self.settle()

    def _take_state(self, state: State) -> None:
        self.state = State(*values_of(state))
        self.next_tick = self.schedule.next(state.ticks)

    def mark(self) -> None:
        """Note that the run is between two instants, to go back to where it is interrupted."""
        self._mark = values_of(self.state), self.status, len(self.record.segments), len(self.record.steps)

    @property
    def marked(self) -> State | None:
        """The state at the last mark, None before the first instant is complete."""
        return None if self._mark is None else State(*self._mark[0])

    def go_back(self) -> None:
        """Forget what was begun after the last mark and not completed."""
        if self._mark is None:
            return
        values, self.status, segments, steps = self._mark
        self.record.cut(segments, steps)
        # Whatever was at work may have been left with half of its own values.
        self.linearisation.forget_motion()
        self.integration = self._new_integration()
        self.take_inputs(self.open_inputs)
        self.put(State(*values))

    def settle(self) -> None:
        """Take the numbers in force where values were put in from outside."""
        self.forget_signs()
        self.refresh_core()
        self.xi = self.sources.states(self.state.t, self.state.D, self.state.R)
        self.place()

    def situation(self) -> tuple[Any, ...]:
        """What is in force beside the mode: relations with their operators, forced and disabled branches."""
        now, relations = self.state, self.discrete.state_relations
        return self.program.unknowns.relation_operators, (now.R, relations), now.forced, now.disabled

    @cached_property
    def data(self) -> ModeData:
        """The mode in force, None before the first instant; where the run has arrived it is analysed when first asked for."""
        assert self._arrived is not None
        return self._arrived[0].mode(self._arrived[1])

    @cached_property
    def y(self) -> np.ndarray:
        """State vector in the mode in force."""
        assert self._arrived is not None
        _, _, z, xi = self._arrived
        return self.data.state(z, self.state.slopes, xi)

    def _arrive(self) -> None:
        """Take the present mode and point as those in force; they are looked at when asked for."""
        self._arrived = self.core, self.state.mode, self.state.z, self.xi
        self.__dict__.pop("data", None)
        self.__dict__.pop("y", None)

    @property
    def tables(self) -> ModeTables:
        """Flow and sign tables of the mode in force."""
        core = self.linearisation.core
        found = core.search.test.known.get(self.state.mode)
        return found if found is not None and found.data is self.data else core.tables(self.data)

    def signs(self) -> list[int]:
        """Lexicographic signs of all guards and relations at the present state."""
        if self._signs is None or self._signs[0] is not self.core:
            self._signs = self.core, self.tested()
        return self._signs[1]

    def tested(self) -> list[int]:
        """The same, told anew."""
        if self.core.system is None:
            return self.tables.signs.signs(self.y, self.known)[0]
        return self.along(*self.tangents.watched(self.core, self.state.mode)).signs(self.known)

    def along(self, rows: Rows, nonlinear: np.ndarray) -> MotionSigns:
        """Signs of forms along the motion from the present point."""
        now = self.state
        motion = self.linearisation.made(now.z, now.slopes, self.xi, self.system(), self.present)
        assert isinstance(motion, LargeMotion)
        return MotionSigns(motion, rows, nonlinear, self.core.amplitudes)

    def system(self) -> NonlinearSystem:
        """The nonlinear mode in force."""
        now = self.state
        return self.linearisation.mode(now.mode, now.z, now.slopes, self.xi, self.present)

    def relation_values(self) -> np.ndarray:
        """Truth of the state relations from their lexicographic signs along the flow in force."""
        signs, operators = reversed(self.signs()), self.discrete.operators
        return np.array([f(s) for f, s in zip(reversed(operators), signs, strict=False)][::-1], float)

    def remember(self, o: Outcome) -> None:
        """Accept relations and conditions of an evaluation; what ends the run does so if it holds at the begin."""
        memory = o.memory.copy()
        memory[self.program.discrete.stop.memory] = 0.0
        self.state.R, self.state.memory, self.state.timed_next = o.R, memory, o.timed_next

    def moment(self) -> Moment:
        """What the present segment has besides its trajectory."""
        return Moment(self.state.t, self.state.D, self.state.R, self.state.q)

    def read(self, ids: tuple[int, ...], slopes: tuple[int, ...] = ()) -> np.ndarray:
        """Values of continuous variables, then time derivatives of others, after the previous micro-step."""
        if self._arrived is None or "data" in self.__dict__:
            return self.core.readout.at(ids, self.data, self.y, self.moment(), slopes)
        y = np.concatenate([self._arrived[2], self.state.slopes, self._arrived[3]])
        return self.base.readout.at(ids, self.base.frame, y, self.moment(), slopes)

    def forget_signs(self, known: list[int] | None = None) -> None:
        """The point has moved: signs of forms are taken anew, unless they are known."""
        self._signs = None if known is None else (self.core, known)

    def visit(self, length: float) -> bool:
        """Count a segment in the present mode; whether to look inside, as at the 1st, 4th, 16th, ... and much longer ones."""
        mode, longest = self.state.mode, self.looked.get(self.state.mode, 0.0)
        count = self.visits[mode] = self.visits.get(mode, 0) + 1
        if looks := is_power(count, ANEW) or self_check.EVERY_VISIT or length > MUCH_LONGER * longest:
            self.looked[mode] = max(length, longest)
        return looks

    @property
    def present(self) -> Values:
        """Parameters, discretes and relations as they are now."""
        return Values(self.values.P, self.state.D, self.state.R, self.homotopy)

    def linearise(self) -> None:
        """Take the affine model that linearises the nonlinear one at the present point."""
        now = self.state
        self.linearisation.linearise(now.z, now.slopes, self.xi, self.present, now.second)

    def here(self) -> None:
        """Touch at the present point, if integration is numerical."""
        if self.numerical:
            self.xi = self.sources.states(self.state.t, self.state.D, self.state.R)
            self.linearise()

    def place(self) -> None:
        """Put the point into the numbers and the mode in force."""
        self._arrive()
        self.y = self.data.state(self.state.z, self.state.slopes, self.xi)

    def reach(self, t: float) -> None:
        """Take a later time as the present one."""
        self.state.t = t
        self.forget_signs()

    def keep(self, data: ReadMode, course: Course, end: float) -> None:
        """Record the segment from the present time to ``end``, with its integrals."""
        moment = self.moment()
        self.record.segments.append(Segment(moment.t, end, data, course, moment, self.base.readout))
        if len(moment.q):
            self._integrate(data, course, moment, end - moment.t)

    def follow(self, end: Arrival) -> None:
        """Take the point at the end of a segment."""
        now = self.state
        now.z, now.slopes, now.second = end.z, end.slopes, end.second
        now.error, now.late, now.shift = end.error, end.late, end.shift
        if end.y is not None:
            self.y = end.y
        elif end.xi is not None:
            self.xi = end.xi

    def forget_bounds(self) -> None:
        """From now on points are sought next to the last one, wherever that is."""
        self.bounds = None
        if self.numerical:
            self.tangents.forget_bounds()

    def apply_reinits(self, requested: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Set integrals at once; return the reinits of core unknowns."""
        core, integrals = self.program.unknowns.targets(requested)
        q = self.state.q = self.state.q.copy()
        q[[n for n, _ in integrals]] = [value for _, value in integrals]
        return list(dict(core).items())

    def refresh_core(self) -> np.ndarray:
        """Rebuild the numbers when a discrete in a factor or the unit of time changed; return the states of the sources."""
        xi = self.suit(self.state.D, self.state.R)
        if self.numerical:
            self.here()
        return xi

    def suit(self, D: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Take the numbers of these discretes and relations, in a unit of time that suits the sources; return their states."""
        unit = self.sources.unit_at(self.state.t, D, R)
        if self.frozen or unit != self.core.unit:
            self.use(self.numbers(D, R, self.open_inputs, unit))
        return self.sources.states(self.state.t, D, R)

    def numbers(
        self, D: np.ndarray, R: np.ndarray, open_inputs: tuple[OpenInput, ...], unit: float | None = None
    ) -> NumericCore:
        """The numbers of these discretes and relations."""
        times = Times(self.T0, self.span, self.T0 if unit is None else unit, self.core.longest)
        values, sparse = Values(self.values.P, D, R), self.base.system is not None
        made = self.cores.numbers(values, open_inputs, times, self.starts, sparse)
        if made is None:
            raise self.failed(EquationsLost(self.state.t))
        return made

    def use(self, core: NumericCore) -> None:
        """Go on with other numbers; the counters of the search stay."""
        if core is self.base:
            return
        self.base = core
        self.sources.count_in(core.unit)
        self.analysed.setdefault(core, (core.analysed, core.seconds))
        self.linearisation.use(core, self._look_at(core) if self.numerical else None)
        self.here()

    def failed(self, failure: Failure) -> AcausalError:
        """The error to raise for a failure, in the words of the model."""
        return self.explain(self.standing(), failure)

    def notify(self, notice: Notice) -> None:
        """Say what has happened."""
        self.says(self.standing(), notice)

    def stop(self, message: str) -> None:
        """End the run normally after the present instant."""
        self.status = Status(True, message)

    # -- the start -----------------------------------------------------------------------------------------------

    def begin_anew(self, before: State, share: float = 1.0) -> None:
        """Forget an attempt at the start; the next one takes a ``share`` of the actual parts of homotopies."""
        self._take_state(before)
        self.homotopy = share
        self.data, self.record, self.status = None, Record(), Status()  # type: ignore[assignment]
        if self.numerical:
            self.tangents.forget_modes()
        self.forget_signs()
        self.refresh_core()

    def stand(self, at: StartProblem) -> None:
        """Take the point to which an attempt at the start has come."""
        self._take_state(at.state)
        self.data, self.y, self.xi = at.entered, at.y, at.xi  # type: ignore[assignment]
        self.record.begin(self.state.z, self.state.D)
        self.forget_signs()

    def begun(self, q: np.ndarray, reasons: Reasons) -> None:
        """The start is complete, with these integrals; ``reasons`` tell what its values follow from."""
        self.state.q = q
        self.record.explain(reasons)

    def _integrate(self, data: ReadMode, trajectory: Course, moment: Moment, h: float) -> None:
        """Take the integrals to the end of a segment."""
        before = self.work.enter("record")
        q = self.state.q = self.core.readout.advance(data, trajectory, moment, h)
        if not np.isfinite(q).all():
            wrong = tuple(np.flatnonzero(~np.isfinite(q)).tolist())
            raise self.failed(NotFinite("integral", wrong, until=self.state.t + h))
        self.work.enter(before)
