"""How a run moves on numerically: segments of integration, and points of the nonlinear equations."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from functools import cache, cached_property, partial

import numpy as np

from ...dynamics.noise import LOCATED, TWICE, StepNoise, rounded_chain, rounded_states
from ...dynamics.point_frame import PointFrame
from ...dynamics.quadrature import Course
from ...dynamics.readout import ReadMode
from ...dynamics.scan import Watch
from ...reduction.affine import ModeData
from ...reduction.labels import nonlinear_row
from ...reduction.rounding import SUMMED, terms_of_sources
from ..confirmation import confirm_steps, require
from ..failures import UNSOLVED, ChangePointPassed, HeldByStability, NotSolved, Sliding
from ..instants.transition import ModeTables
from ..propagator import Arrival
from ..run import Run
from ..self_check import SOLVED, worst
from ..watch import can_trigger, open_at_zero, orientations
from .accuracy import rates_from
from .forms import Forms
from .integration import SampledMotion, StillMotion
from .motion import Motion, Place
from .sliding import slides
from .steps import Span
from .watched_steps import Watched


class Integrated:
    """The motion of the mode in force by steps of integration, from the present point on."""

    def __init__(self, run: Run) -> None:
        self._run, self._begin = run, run.known._replace(late=run.state.late)
        self._motion: SampledMotion | None = None
        self._sources: tuple[np.ndarray, np.ndarray] | None = None
        """At the end of the segment: those that moved, and as they are evaluated."""

    @property
    def _scheduled(self) -> bool:
        """Whether the segment begins with an instant that was scheduled, as others did before: steps of these suit it."""
        steps = self._run.record.steps
        return bool(steps) and steps[-1].kind == "time" and steps[-1].t == self._run.state.t

    @cached_property
    def _tables(self) -> ModeTables:
        """Tables of the mode, as it was analysed the last time: its structure, and how it rounds."""
        run, lin = self._run, self._run.linearisation
        found = None if "data" in run.__dict__ else lin.alike(run.state.mode)
        if found is not None:
            return found
        if isinstance(run.data, ModeData):
            lin.keep(run.tables)
        return run.tables

    @property
    def _y(self) -> np.ndarray:
        """States and sources."""
        state = self._run.state
        return self._tables.data.state(state.z, state.slopes, self._run.xi)

    def dense(self) -> tuple[PointFrame, Course]:
        """A point of the mode, and the points along the steps."""
        run, motion = self._run, self._motion
        if motion is not None:
            return self.frame(motion.freedom), motion
        frame = self._frame_before() or self.frame(len(self._tables.data.states))
        return frame, StillMotion(np.concatenate([run.state.z, run.state.slopes, run.xi]))

    def advance(self, length: float) -> tuple[float, int | None]:
        """Integrate for some seconds or to the first crossing."""
        run = self._run
        # Before anything may be interrupted: what is kept then are steps of this segment.
        run.integration.begin()
        try:
            h, hit, self._motion = self._integrated(length)
        except UNSOLVED as failure:
            error = run.failed(NotSolved(failure, "integration"))
            self._keep_unfinished()
            raise error from None
        except BaseException:
            # An interruption, or whatever watches the run raises.
            self._keep_unfinished()
            raise
        self._tell()
        return h, hit

    def _tell(self) -> None:
        """Say once that a change point was passed."""
        run, integration = self._run, self._run.integration
        steps, t = integration.steps, run.state.t
        over = None if steps is None or ChangePointPassed in integration.told else steps.bridge
        if steps is not None and over is not None:
            integration.tell(ChangePointPassed)
            place, between = over.place(steps.motion, over.passed), (t + over.course.t0, t + over.course.t1)
            run.notify(ChangePointPassed(t + over.passed, between, (place.X, place.H, place.xi)))

    def guards(self) -> Watched:
        """What can end the segment, and from which side."""
        run, state, tables, signs = self._run, self._run.state, self._tables, self._run.signs()
        told = run.program.unknowns.relation_operators, state.R[run.discrete.state_relations].tolist()
        orientation = orientations(tables.count, *told)
        armed = np.array(signs) * orientation > 0
        which = np.flatnonzero(can_trigger(tables.data, state.forced, state.disabled, len(signs)))
        rows, nonlinear = run.tangents.watched(run.base, state.mode)
        amplitudes = run.base.amplitudes
        forms = Forms.of(
            run.system().mode, rows.take(which), nonlinear[which], orientation[which], amplitudes
        )
        if run.core.system is None:
            noise = partial(self._noise, Watch(tables.data, tables.forms, orientation, armed, which))
        else:
            noise = partial(self._noise_of_rows, forms, armed[which])
        return Watched(forms, which.tolist(), armed[which], open_at_zero(tables.count, *told)[which], noise)

    def _noise(self, watch: Watch, motion: Motion) -> StepNoise:
        """Noise of forms of a mode that is analysed."""
        run, state, data, y = self._run, self._run.state, self._tables.data, self._y
        error, shift = None if state.error is None else state.error[data.states], run.known.shift
        late = watch.late(y, state.t) + watch.known(y, None, None if shift is None else data.chosen(shift))
        if not run.reduced.nonlinear:  # Tangents do not tell how forms bend.
            late += 0.5 * watch.armed * bent(watch.forms, data.Ay, y, state.late)
        begin = np.zeros(len(late)) + watch.known(y, error)
        weights, rates = np.abs(watch.forms[:, : len(data.states)]), data.Ay[: len(data.states)]
        place, solved = motion.last, motion.solved

        @cache
        def terms() -> np.ndarray:
            found = np.abs(rates) @ np.abs(y)
            if not motion.batched:
                return found
            return np.maximum(found, rates_from(motion, place, solved)[data.states])

        return StepNoise(
            begin,
            late,
            lambda h: weights @ rounded_states(np.abs(rates), terms(), h) if h else np.zeros(len(late)),
            lambda h: weights @ rounded_chain(rates, terms(), h),
            watch.rates(y, error),
        )

    def _noise_of_rows(self, forms: Forms, armed: np.ndarray, motion: Motion) -> StepNoise:
        """The same of a model with sparse rows."""
        state, (v, slope) = self._run.state, motion.jets(motion.last)
        late = TWICE * LOCATED * math.ulp(state.t) * np.abs(forms.at(motion, v[None], slope[None])[0, 1])
        begin = np.zeros(len(late))
        if state.error is not None:
            error = np.zeros(len(v))
            error[: motion.system.nx] = state.error[motion.system.mode.states]
            begin += TWICE * armed * (forms.sizes(motion, v) @ error)
        return StepNoise(begin, late)

    def _integrated(self, length: float) -> tuple[float, int | None, SampledMotion]:
        run, state, system = self._run, self._run.state, self._run.system()
        ends = self.guards()
        motion = run.linearisation.begin(state.z, state.slopes, run.xi, system, run.present)
        hidden = run.base.model.q - len(motion.sources.y0)
        looks: list[Callable[[float], object]] = []
        if run.program.nonlinear_rows.eventless:
            looks.append(self._sliding(len(motion.selection.states), motion.unknowns, hidden))
        if run.method.solver == "explicit" and HeldByStability not in run.integration.told:
            looks.append(self._held)
        if run.report is not None:
            looks.append(run.report)

        def report(t: float) -> None:
            for look in looks:
                look(t)

        span = Span(state.t, length, run.tolerance, report, run.each)
        first = dict(state.firsts).get(state.mode) if self._scheduled else None
        return run.integration.segment(motion, ends, state.mode, state.z, span, hidden, first)

    def _held(self, t: float) -> None:
        """Say once that stability alone holds the steps."""
        run, integration = self._run, self._run.integration
        fastest = None if integration.steps is None else integration.steps.fastest
        if fastest is not None and HeldByStability not in integration.told:
            integration.tell(HeldByStability)
            run.notify(HeldByStability(t, run.work.held, fastest))

    def _sliding(
        self, freedom: int, unknowns: Callable[[Place], tuple[np.ndarray, np.ndarray]], hidden: int
    ) -> Callable[[float], None]:
        """What looks after each step whether the motion slides along a comparison that makes no event."""
        run = self._run
        which, least = run.program.nonlinear_rows.eventless, run.options.max_micro_steps
        between = [(batch, i, node.args[0] - node.args[1]) for batch, i, node in which]

        def values(places: list[Place]) -> np.ndarray:
            ys = np.array([np.concatenate([*unknowns(p), p.xi, np.zeros(hidden)]) for p in places])
            times = np.array([p.h for p in places])
            return run.core.readout.expressions(between, self.frame(freedom), ys, run.moment(), times)

        due = least + 1

        def look(t: float) -> None:
            nonlocal due
            steps = run.integration.steps
            assert steps is not None
            if len(steps.accepted) < due:
                return
            # When there are twice as many: looking back at half of the steps takes no longer than the steps.
            due = 2 * len(steps.accepted)
            sliding = slides(steps, values, least)
            if sliding:
                raise run.failed(Sliding(t, tuple(which[k] for k in sliding)))

        return look

    def end(self, h: float, t: float) -> Arrival:
        """The point after ``h`` seconds, at ``t``, with sources evaluated as the instant that follows does."""
        run, steps = self._run, self._run.integration
        z, slopes, xi = self._point(h)
        if h > 0.0 and isinstance(self._tables.data, ModeData):
            z, xi = self._with_sources(z, xi, t)
        second = steps.bends() if run.tangents.deep else np.zeros(len(z))
        stays = 0.0 if steps.steps is None else steps.steps.lasting
        first = steps.steps.grown if self._scheduled and steps.steps is not None else None
        error = rounded_unknowns(self._tables.data, self._y, stays)
        return Arrival(z, slopes, second, error, steps.late, steps.shift, xi=xi, first=first)

    def _with_sources(self, z: np.ndarray, xi: np.ndarray, t: float) -> tuple[np.ndarray, np.ndarray]:
        """A point with sources as they are evaluated at ``t``, which differ from those that moved by rounding."""
        run, steps = self._run, self._run.integration.steps
        assert steps is not None
        moved, evaluated = len(steps.begin.xi), xi.copy()
        run.sources.evaluate(t, run.state.D, run.state.R, evaluated)
        evaluated[moved:] = xi[moved:]  # Only results read these.
        self._sources = xi, evaluated
        data = self._tables.data
        return z + data.T[:, len(data.states) :] @ (evaluated - xi), evaluated

    def confirm(self, h: float) -> None:
        """Judge the ends of all steps, and the way there at the first visits of the mode."""
        if self._sources is not None:
            base, ends = self._run.base, np.maximum(*map(np.abs, self._sources))
            size = base.amplitudes.dot(np.maximum(ends, np.abs(self._run.xi)))
            size = np.maximum(terms_of_sources(base.exosystem.S, size, h), base.model.xi_scale)
            off = np.abs(np.subtract(*self._sources))
            place = len(self._tables.data.states) + np.arange(len(size))
            require(self._run, worst("motion", place, off, size, SOLVED * size), self._run.state.t + h)
        confirm_steps(self._run, self._tables, h, self._begin)

    def _point(self, h: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        assert self._motion is not None
        if not h > 0.0:
            return self._run.state.z, self._run.state.slopes, self._run.xi
        return self._parts(self._motion.at(h))

    def _parts(self, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        n = len(self._run.state.z)
        return y[:n].copy(), y[n : 2 * n].copy(), y[2 * n :].copy()

    def _keep_unfinished(self) -> None:
        """Record the accepted steps of a segment that failed: the result of the error ends with the last one."""
        found = self._run.integration.unfinished()
        if found is None:
            return
        run, (h, self._motion) = self._run, found
        state = run.state
        end = state.t + h
        # As results read it: next to a singular point other iterations need not converge.
        z, slopes, xi = self._parts(self._motion.sample(np.array([end - state.t]))[0])
        run.keep(*self.dense(), end)
        run.follow(Arrival(z, slopes, state.second, state.error, state.late, state.shift, xi=xi))
        run.reach(end)
        run.place()
        run.mark()

    def _frame_before(self) -> PointFrame | None:
        """That of the segment which ends here, where the mode goes on: it need not be analysed again."""
        run, record = self._run, self._run.record
        if not record.segments or (record.steps and record.steps[-1].t >= run.state.t):
            return None
        last = record.segments[-1].data
        return last if isinstance(last, PointFrame) and last.mode == run.state.mode else None

    def frame(self, states: int) -> PointFrame:
        """How results read the states ``[z, z', xi]`` of the mode in force."""
        base = self._run.base
        return base.readout.moving_frame(base.exosystem.S, self._tables.data, states, self._reason)

    def _reason(self) -> str:
        """What keeps the mode in force off the closed form."""
        run = self._run
        bends = run.tangents.exact(run.state.mode, run.present)[1]
        if bends < 0:
            return run.method.reason
        text, place = nonlinear_row(run.reduced, bends)
        return f"{text} at {place}"


def rounded_unknowns(data: ReadMode, y: np.ndarray, h: float) -> np.ndarray:
    """Rounding (n,) of the core unknowns: that of the states ``y`` stays for ``h`` seconds, others are sums of these."""
    n = data.T.shape[0]
    found = np.zeros(max(n, len(data.states)))
    if isinstance(data, ModeData):
        found += SUMMED * (data.sizes[0] @ np.abs(y))
    rates = np.abs(data.Ay[: len(data.states)])
    found[data.states] = rounded_states(rates, rates @ np.abs(y), h)
    return found[:n]


def bent(forms: np.ndarray, Ay: np.ndarray, y: np.ndarray, late: float) -> np.ndarray:
    """``forms (late Ay)**2 y``, by which forms bend that vanish with their rates; of what is faster no more than there is of it.

    The time is late or early. What decays fast is bounded forward, what grows fast backward: the smaller of both counts.
    """
    if not late:
        return np.zeros(len(forms))
    found = np.full(len(forms), np.inf)
    for step in (abs(late) * Ay, -abs(late) * Ay):
        with suppress(np.linalg.LinAlgError):  # Growth over just this time, seen from its begin.
            step = np.linalg.solve(np.eye(len(y)) - step, step)
            found = np.fmin(found, np.abs(forms @ (step @ (step @ y))))
    return np.where(np.isfinite(found), found, np.abs(forms) @ np.abs(y))
