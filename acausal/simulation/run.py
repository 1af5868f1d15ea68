"""A run: its numbers, its mode and point at the present time, and what happened so far."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..dynamics.readout import Moment
from ..dynamics.work import Work
from ..errors import AcausalError
from ..reduction.affine import Mode, ModeData, Rows
from ..reduction.core import Values
from ..results.record import Reasons, Record
from .clocks import Clock, Schedule
from .compiled import CompiledModel
from .cores import Cores
from .failures import EquationsLost, Failure, NotFinite, Notice
from .instants.discrete import DiscretePart, Outcome
from .instants.transition import Hints, ModeTables, Uncertainty, resolution
from .large.motion import LargeMotion
from .large.signs import MotionSigns
from .method import Method
from .nonlinear.bounds import Bounds, core_bounds
from .nonlinear.form_noise import core_rounding
from .nonlinear.integration import Integration
from .nonlinear.linearisation import Linearisation
from .nonlinear.system import NonlinearSystem
from .nonlinear.tangents import Tangents
from .numeric import NumericCore
from .options import Options, Status
from .sources.source_states import OpenInput, SourceStates, Stretch
from .starts.left_limits import guesses, left_limits
from .starts.problem import StartProblem
from .starts.stated import Starts
from .state import State, of_run

Explain = Callable[["Run", Failure], AcausalError]


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
    t: float
    T0: float
    span: float
    clocks: tuple[Clock, ...]
    starts: Starts
    explain: Explain
    """Makes words of what fails."""
    notify: Callable[[Run, Notice], None]
    """Says what has happened."""
    parameters: dict[str, float] = field(default_factory=dict)
    """Parameters given for the run or changed after construction, by path."""
    forced: tuple[int, ...] = ()
    disabled: frozenset[tuple[int, int, int]] = frozenset()
    record: Record = field(default_factory=Record)
    status: Status = field(default_factory=Status)
    work: Work = field(default_factory=Work)
    visits: dict[Mode, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reduced, self.flat = self.program.reduced, self.program.flat
        self.D, self.R = self.values.D, self.values.R
        self.z, self.q = left_limits(self.program, self.starts)
        self.linearisation = Linearisation(self.base, None, self.z, self.work)
        self._arrived: tuple[NumericCore, Mode, np.ndarray, np.ndarray] | None = None
        """Core, mode, point and sources from which ``data`` and ``y`` are made where they were not set since."""
        self.data, self.y = None, np.zeros(0)  # type: ignore[assignment]
        self.mode: Mode = self.program.unknowns.first_mode
        self.schedule = Schedule(self.clocks)
        self.ticks = self.schedule.begin(self.t)
        self.next_tick = self.schedule.next(self.ticks)
        """Time of the next tick of all clocks."""
        self.hints = Hints()
        self.analysed = {self.core: (self.core.analysed, self.core.seconds)}
        self._begin = self.t
        self.take_inputs(self.open_inputs)
        self._prepare_numerical()
        self._signs: tuple[NumericCore, list[int]] | None = None
        """The model in force and the signs at the present point."""
        self.error, self.late, self.shift = None, 0.0, None  # as in `State`
        self.frozen = any(len(ids) for ids in self.reduced.frozen)
        self.contradictable = bool(self.reduced.presolved.R.m)
        """Whether what is known of the sources may contradict itself."""
        elements, accuracy = self.core.model.elements, self.method.accuracy
        self.discrete = DiscretePart(self.program, elements, self.values.P, accuracy)
        self.memory = np.zeros(self.program.discrete.memory)
        """What conditions of `when` and `edge` were after the last micro-step."""
        self.timed_next = math.inf
        """Next time that a relation of time asks for."""
        self.report: Callable[[float], object] | None = None
        """Called with the time reached; what it raises ends the run."""
        self.pending: int | None = None  # as in `State`
        self._mark: tuple[State, Status, int, int] | None = None
        self.last: tuple[Any, ...] = ()
        self.repeats = 0
        """Key of the last instant, and instants before it that had the same."""

    def _prepare_numerical(self) -> None:
        """What numerical integration needs: nonlinear rows, or a method that asks for it."""
        needed = self.base.system is not None or bool(self.reduced.nonlinear)
        self.method = Method.of(self.options, self.base.model, needed, self.T0)
        self.numerical = self.method.numerical
        self.slopes = self.second = np.zeros(len(self.z))
        """First and second time derivatives of the core unknowns at the present point."""
        self.homotopy = 1.0
        """Share of the actual parts of homotopies."""
        self.bounds: Bounds | None = None
        """Bounds of the core unknowns while a start is sought."""
        self.integration = self._new_integration()
        if self.numerical:
            self.bounds = core_bounds(self.program) if self.reduced.nonlinear else None
            xi = self.sources.states(self.t, self.D, self.R)
            self.z = guesses(self.program, self.base, self.starts, self.z, xi, self.bounds)
            self.linearisation.use(self.base, self._look_at(self.base))
            self.here()

    def _look_at(self, core: NumericCore) -> Tangents:
        """Nonlinear rows with these numbers."""
        program = self.program
        return Tangents(core, program.nonlinear_rows, program.nonlinear_functions, self.bounds)

    def _new_integration(self) -> Integration:
        return Integration(len(self.z), self.method.solver, self.method.tolerances)

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
            self.core.unit, self.T0, Stretch(self.span, self._begin + self.span, longest),
        )  # fmt: skip

    @property
    def tolerance(self) -> float:
        """Events closer than this share an instant."""
        return resolution(self.t, self.schedule.shortest)

    @property
    def known(self) -> Uncertainty:
        """How exactly the present point is known."""
        return Uncertainty.at(self.t, self.error, self.late if self.numerical else 0.0, self.shift)

    def take_ticks(self) -> list[bool]:
        """Which clocks tick in the present instant; they move on to their next ticks."""
        due = self.schedule.due(self.t, self.ticks)
        if any(due):
            self.ticks = tuple([k + on for k, on in zip(self.ticks, due, strict=True)])
            self.next_tick = self.schedule.next(self.ticks)
        return due

    # -- the state as one record ---------------------------------------------------------------------------------

    def state(self) -> State:
        """The present state; later instants do not change it."""
        return State(*of_run(self))

    def put(self, state: State) -> None:
        """Go on from a state of this model."""
        self._take_state(state)
        self.last, self.repeats = (), 0
        self.settle()

    def _take_state(self, state: State) -> None:
        self.t, self.mode, self.ticks, self.timed_next = state.t, state.mode, state.ticks, state.timed_next
        self.z, self.slopes, self.second, self.q = state.z, state.slopes, state.second, state.q
        self.D, self.R, self.memory, self.pending = state.D, state.R, state.memory, state.pending
        self.error, self.late, self.shift = state.error, state.late, state.shift
        self.next_tick = self.schedule.next(self.ticks)
        self.forced, self.disabled = state.forced, state.disabled

    def mark(self) -> None:
        """Note that the run is between two instants, to go back to where it is interrupted."""
        self._mark = State(*of_run(self)), self.status, len(self.record.segments), len(self.record.steps)

    @property
    def marked(self) -> State | None:
        """The state at the last mark, None before the first instant is complete."""
        return None if self._mark is None else self._mark[0]

    def go_back(self) -> None:
        """Forget what was begun after the last mark and not completed."""
        if self._mark is None:
            return
        state, self.status, segments, steps = self._mark
        self.record.cut(segments, steps)
        # Whatever was at work may have been left with half of its own values.
        self.linearisation.forget_motion()
        self.integration = self._new_integration()
        self.take_inputs(self.open_inputs)
        self.put(state)

    def settle(self) -> None:
        """Take the numbers in force where values were put in from outside."""
        self.forget_signs()
        self.refresh_core()
        self.xi = self.sources.states(self.t, self.D, self.R)
        self.place()

    # -- access for the instants ---------------------------------------------------------------------------------

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
        return self.data.state(z, self.slopes, xi)

    def _arrive(self) -> None:
        """Take the present mode and point as those in force; they are looked at when asked for."""
        self._arrived = self.core, self.mode, self.z, self.xi
        self.__dict__.pop("data", None)
        self.__dict__.pop("y", None)

    @property
    def tables(self) -> ModeTables:
        """Flow and sign tables of the mode in force."""
        core = self.linearisation.core
        found = core.search.test.known.get(self.mode)
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
        return self.along(*self.tangents.watched(self.core, self.mode)).signs(self.known)

    def along(self, rows: Rows, nonlinear: np.ndarray) -> MotionSigns:
        """Signs of forms along the motion from the present point."""
        motion = self.linearisation.made(self.z, self.slopes, self.xi, self.system(), self.present)
        assert isinstance(motion, LargeMotion)
        return MotionSigns(self.core, motion, rows, nonlinear)

    def system(self) -> NonlinearSystem:
        """The nonlinear mode in force."""
        return self.linearisation.mode(self.mode, self.z, self.slopes, self.xi, self.present)

    def relation_values(self) -> np.ndarray:
        """Truth of the state relations from their lexicographic signs along the flow in force."""
        signs, operators = self.signs()[self.tables.count :], self.discrete.operators
        return np.array([operators[i](s) for i, s in enumerate(signs)], float)

    def remember(self, o: Outcome) -> None:
        """Accept what an evaluation says of later ones."""
        self.memory, self.timed_next = o.memory, o.timed_next

    def moment(self) -> Moment:
        """What the present segment has besides its trajectory."""
        return Moment(self.t, self.D, self.R, self.q)

    def read(self, ids: tuple[int, ...], slopes: tuple[int, ...] = ()) -> np.ndarray:
        """Values of continuous variables, then time derivatives of others, after the previous micro-step."""
        if self._arrived is None or "data" in self.__dict__:
            return self.core.readout.at(ids, self.data, self.y, self.moment(), slopes)
        _, _, z, xi = self._arrived
        y = np.concatenate([z, self.slopes, xi])
        return self.base.readout.at(ids, self.base.frame, y, self.moment(), slopes)

    def forget_signs(self) -> None:
        """The point has moved: signs of forms are taken anew."""
        self._signs = None

    def visit(self) -> int:
        """Count a segment in the present mode; how many there were."""
        count = self.visits[self.mode] = self.visits.get(self.mode, 0) + 1
        return count

    @property
    def present(self) -> Values:
        """Parameters, discretes and relations as they are now."""
        return Values(self.values.P, self.D, self.R, self.homotopy)

    def linearise(self) -> None:
        """Take the affine model that linearises the nonlinear one at the present point."""
        self.linearisation.linearise(self.z, self.slopes, self.xi, self.present, self.second)

    def here(self) -> None:
        """Touch at the present point, if integration is numerical."""
        if self.numerical:
            self.xi = self.sources.states(self.t, self.D, self.R)
            self.linearise()

    def place(self) -> None:
        """Put the point into the numbers and the mode in force."""
        self._arrive()
        self.y = self.data.state(self.z, self.slopes, self.xi)

    def arrive(self) -> None:
        """Go on from the point at the end of an integrated segment."""
        self.second = self.integration.bends() if self.tangents.deep else np.zeros(len(self.z))
        steps = self.integration
        self.error, self.late = core_rounding(self.data, self.y, steps.lasting), steps.late
        self.linearise()
        self._arrive()

    def forget_bounds(self) -> None:
        """From now on points are sought next to the last one, wherever that is."""
        self.bounds = None
        if self.numerical:
            self.tangents.forget_bounds()

    def apply_reinits(self, requested: list[tuple[int, float]]) -> list[tuple[int, float]]:
        """Set integrals at once; return the reinits of core unknowns."""
        core, integrals = self.program.unknowns.targets(requested)
        self.q = self.q.copy()
        self.q[[n for n, _ in integrals]] = [value for _, value in integrals]
        return list(dict(core).items())

    def refresh_core(self) -> np.ndarray:
        """Rebuild the numbers when a discrete in a factor or the unit of time changed; return the states of the sources."""
        xi = self.suit(self.D, self.R)
        if self.numerical:
            self.here()
        return xi

    def suit(self, D: np.ndarray, R: np.ndarray) -> np.ndarray:
        """Take the numbers of these discretes and relations, in a unit of time that suits the sources; return their states."""
        unit = self.sources.unit_at(self.t, D, R)
        if self.frozen or unit != self.core.unit:
            self.use(self.numbers(D, R, self.open_inputs, unit))
        return self.sources.states(self.t, D, R)

    def numbers(
        self, D: np.ndarray, R: np.ndarray, open_inputs: tuple[OpenInput, ...], unit: float | None = None
    ) -> NumericCore:
        """The numbers of these discretes and relations."""
        sparse, span = self.base.system is not None, self.span
        made = self.cores.numbers(self.values, D, R, open_inputs, self.T0, span, self.starts, unit, sparse)
        if made is None:
            raise self.failed(EquationsLost(self.t))
        return made

    def use(self, core: NumericCore) -> None:
        """Go on with other numbers; the counters of the search stay."""
        if core is self.base:
            return
        self.base = core
        self.sources.unit = core.unit
        self.analysed.setdefault(core, (core.analysed, core.seconds))
        self.linearisation.use(core, self._look_at(core) if self.numerical else None)
        self.here()

    def failed(self, failure: Failure) -> AcausalError:
        """The error to raise for a failure, in the words of the model."""
        return self.explain(self, failure)

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
        self.record.begin(self.z, self.D)
        self.forget_signs()

    def begun(self, q: np.ndarray, reasons: Reasons) -> None:
        """The start is complete, with these integrals; ``reasons`` tell what its values follow from."""
        self.q = q
        self.record.explain(reasons)

    def integrate(self, data: Any, trajectory: Any, moment: Moment, h: float) -> None:
        """Take the integrals to the end of a segment."""
        if not len(self.q):
            return
        self.q = self.core.readout.advance(data, trajectory, moment, h)
        if not np.isfinite(self.q).all():
            wrong = tuple(np.flatnonzero(~np.isfinite(self.q)).tolist())
            raise self.failed(NotFinite("integral", wrong, until=self.t + h))
