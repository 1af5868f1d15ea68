"""Segments of nonlinear models, and of any model on request: integrated numerically, with located crossings."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...dynamics.automatic import Stiffness
from ...dynamics.directions import generic_direction
from ...dynamics.modal import AffineFlow, Trajectory
from ...dynamics.readout import PointFrame
from ...dynamics.scan import first_crossing
from ...reduction.affine import Mode
from ...reduction.labels import nonlinear_row
from .form_noise import FormNoise
from .forms import Forms
from .motion import Motion, Place
from .newton import NewtonFailure, continued
from .sampling import sampled_jets, solvable
from .steps import Steps, WatchedSteps, unknowns_of
from .system import NonlinearSystem
from .watch import can_trigger, open_at_zero, orientations

if TYPE_CHECKING:
    from ..run import Run

POLISH = 32
"""Newton steps that move a crossing from the interpolation to the forms themselves."""
BESIDE = (0.3, 3.0, 30.0, 300.0, 3000.0)
"""Distances, in units of the scale, to guesses beside one at which slopes vanish."""
STEPS_A_PANEL = 3
"""Steps under one panel of a quadrature: its 21 nodes resolve their quartics."""
HALVINGS = 5
"""Halvings of such a panel, to about a tenth of a step: within that a solution has no more to show."""


class SampledMotion:
    """What a record keeps of a numerically integrated segment: the state ``[z, z', xi]`` at any time."""

    reach = -1.0
    halvings = HALVINGS

    def __init__(self, steps: Steps, hidden: int) -> None:
        self._steps, self._hidden = steps, hidden
        self._kept: tuple[bytes, np.ndarray] | None = None
        self.freedom = len(steps.motion.selection.states)
        self._z_of = steps.motion.system.mode.z_of
        self.y0 = self._state(steps.begin)
        self.precision = 1e-2 * steps.tolerances.rtol
        steps.motion.recorded()

    @property
    def breaks(self) -> list[float]:
        """Ends of the steps."""
        return [a.step.t1 for a in self._steps.accepted]

    def edges(self, h0: float, h1: float) -> np.ndarray:
        """Ends of panels within a part of the segment."""
        inner = [a.step.t1 for a in self._steps.accepted[::STEPS_A_PANEL]]
        return np.array([h0, *(t for t in inner if h0 < t < h1), h1])

    def at(self, h: float) -> np.ndarray:
        """State at one time."""
        return self._state(self._steps.place(h))

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """States (k, 2 n + q) at the times ``hs`` (k,), not to be changed.

        Those of the last call are kept: variables are read one after the other at the same times.
        """
        hs = np.asarray(hs, float)
        key, found = hs.tobytes(), self._kept
        if found is None or found[0] != key:
            found = self._kept = key, self._sampled(hs)
        return found[1]

    def _sampled(self, hs: np.ndarray) -> np.ndarray:
        out = np.zeros((len(hs), len(self.y0)))
        n, q = self._z_of.shape[0], len(self._steps.begin.xi)
        v0, v1 = sampled_jets(self._steps, hs)
        out[:, :n], out[:, n : 2 * n] = v0 @ self._z_of.T, v1 @ self._z_of.T
        out[:, 2 * n : 2 * n + q] = v0[:, v0.shape[1] - q :]
        out.flags.writeable = False
        return out

    def _state(self, place: Place) -> np.ndarray:
        z, slopes = self._steps.motion.unknowns(place)
        return np.concatenate([z, slopes, place.xi, np.zeros(self._hidden)])


class StillMotion:
    """A state that is kept at one instant."""

    reach = -1.0
    precision = 1e-13
    halvings = HALVINGS

    def __init__(self, y: np.ndarray) -> None:
        self.y0 = y

    def edges(self, h0: float, h1: float) -> np.ndarray:
        """Both ends."""
        return np.array([h0, h1])

    def at(self, h: float) -> np.ndarray:
        """State at any time."""
        return self.y0

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """The same state for all times."""
        return np.tile(self.y0, (len(hs), 1))


@dataclass(eq=False)
class Motions:
    """Makes and starts the motions of a run."""

    kind = Motion

    run: Run
    last: Motion | None = None
    """The one begun last."""
    size: np.ndarray = field(init=False)
    """Largest magnitudes of the core unknowns so far."""
    steps: Steps | None = None
    """Steps of the segment begun last."""
    stiffness: dict[Mode, Stiffness] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.size = np.zeros(len(self.run.z))
        self._stiff = Stiffness()
        self.length = 0.0
        """Of the last segment, in seconds."""

    def system(self) -> NonlinearSystem:
        """The mode in force."""
        run = self.run
        return run.tangents.mode(run.core, run.mode, run.z, run.slopes, run.xi, run.present)

    def sources(self, system: NonlinearSystem, xi: np.ndarray) -> Trajectory:
        """Sources from now on, without the states that only touching models have."""
        S, T0 = system.S, self.run.T0
        flow = self.run.source_flows.get(len(S))
        if flow is None:
            flow = self.run.source_flows[len(S)] = AffineFlow(S, 0, min(T0, self.run.core.unit))
        return flow.start(xi[: len(S)])

    def begin(
        self,
        z: np.ndarray,
        slopes: np.ndarray,
        xi: np.ndarray,
        system: NonlinearSystem,
        guess: np.ndarray | None = None,
    ) -> Motion:
        """The motion through the point next to ``z``; ``guess`` is where algebraic unknowns are sought instead.

        Raises
        ------
        NewtonFailure, DependentConstraints
        """
        motion = self.made(z, slopes, xi, system, guess)
        motion.select(motion.last)
        motion.last = _settled(motion)
        return motion

    def made(
        self,
        z: np.ndarray,
        slopes: np.ndarray,
        xi: np.ndarray,
        system: NonlinearSystem,
        guess: np.ndarray | None = None,
    ) -> Motion:
        """A motion at a point that need not be consistent."""
        run, opened, p = self.run, system.mode, system.orders.unknowns
        h = np.where(opened.slopes, slopes[opened.open], z[opened.open])
        h1 = np.where(opened.slopes, 0.0, slopes[opened.open])
        X = np.concatenate([z[opened.states], h[p >= 1], h1[p >= 2]])
        if guess is not None:
            h = np.where(opened.slopes, h, guess[opened.open])
        H = np.where(p == 0, h, np.where(p == 1, h1, 0.0))
        constants = run.tangents.constants(run.present)
        motion = self.last = self.kind(system, self.sources(system, xi), constants, X, H, run.work)
        return motion

    def segment(self, horizon: float) -> tuple[float, int | None, SampledMotion]:
        """Integrate to the horizon or the first crossing; returns the length, the form that crossed, and the motion."""
        run, system = self.run, self.system()
        self.steps = None
        motion = self.begin(run.z, run.slopes, run.xi, system)
        length = horizon - run.t
        np.maximum(self.size, np.abs(run.z), out=self.size)
        forms, which, armed, open_ended = self._watched(system)
        steps = self.steps = Steps(
            motion, run.solver, run.tolerances, length, forms, self.size, self._stiffness()
        )
        report, begin = run.report, run.t
        if report is not None:
            steps.report = lambda h: report(begin + h)
        noise = self._noise(motion, unknowns_of(system), np.array(which, np.int64), length)
        watched = WatchedSteps(steps, forms, noise, open_ended)
        hit = None
        if forms.count:
            G, floor = np.eye(forms.count), noise.floor
            hit = first_crossing(watched, G, armed, floor, length, run.t, noise.touch)  # type: ignore[arg-type]
        else:
            for _ in watched.pieces(length):
                pass
        h, crossed = length, None
        if hit is not None:
            h, k = self._located(watched, forms, armed, hit)
            crossed = which[k]
            steps.cut(h)
        steps.sizes(self.size)
        self.length = h
        return h, crossed, self._sampled(steps)

    def _stiffness(self) -> Stiffness:
        """What is known of the stiffness of the mode in force: of one entered for the first time, that of the mode before."""
        found = self.stiffness.get(self.run.mode)
        if found is None:
            found = self.stiffness[self.run.mode] = Stiffness(self._stiff.stiff)
        self._stiff = found
        return found

    def bends(self) -> np.ndarray:
        """Second time derivatives of the core unknowns at the end of the last segment, where they are needed."""
        steps = self.steps
        if steps is None or not steps.accepted or not self.run.tangents.deep:
            return np.zeros(len(self.run.z))
        return steps.motion.bends(steps.place(self.length))

    def unfinished(self) -> tuple[float, SampledMotion] | None:
        """Length and motion of the steps before the segment failed that can be read, None without any."""
        steps = self.steps
        if steps is None or not steps.accepted:
            return None
        h = solvable(steps)
        steps.cut(h)
        return (h, self._sampled(steps)) if steps.accepted else None

    def _sampled(self, steps: Steps) -> SampledMotion:
        return SampledMotion(steps, self.run.core.model.q - len(steps.motion.sources.y0))

    def _watched(self, system: NonlinearSystem) -> tuple[Forms, list[int], np.ndarray, np.ndarray]:
        run, tables = self.run, self.run.tables
        values, operators = (
            run.R[run.instants.state_relations].tolist(),
            run.program.unknowns.relation_operators,
        )
        signs = run.signs()
        orientation = orientations(tables.guards, operators, values)
        which = np.flatnonzero(can_trigger(run.data, run.forced, run.disabled, len(signs)))
        rows, nonlinear = run.tangents.watched(run.core, run.mode)
        chosen = type(rows)(rows.E[which], rows.A[which], rows.B[which])
        forms = Forms.of(system.mode, chosen, nonlinear[which], orientation[which])
        armed = (np.array(signs) * orientation > 0)[which]
        return forms, which.tolist(), armed, open_at_zero(tables.guards, operators, values)[which]

    def _noise(self, motion: Motion, of: np.ndarray, which: np.ndarray, length: float) -> FormNoise:
        """Noise of the forms ``which``; ``of`` are the core unknowns behind the coordinates."""
        run, tables = self.run, self.run.tables
        column = np.full(len(run.z) + 1, -1)
        column[run.data.states] = np.arange(len(run.data.states))
        return FormNoise.of(
            tables.signs.noise[which], tables.scale[which], column[of], len(run.data.states),
            motion.sources.magnitude(length), math.ulp(run.t) * np.abs(tables.forms[which] @ (run.data.Ay @ run.y)),
        )  # fmt: skip

    def _located(
        self, watched: WatchedSteps, forms: Forms, armed: np.ndarray, hit: tuple[float, int]
    ) -> tuple[float, int]:
        """Time and form of a crossing, from those of the interpolation."""
        steps, noise, (h, k) = watched.steps, watched.noise, hit
        left = armed | (watched.highest > noise.floor)
        limits = np.where(left, -noise.touch, -noise.floor)
        if watched.vanished[k]:
            limits[k] = np.nextafter(0.0, 1.0)
            return self._sunk(steps, forms, h, limits, (float(watched.nonzero[k]), k))
        if left[k]:
            zero = self._polished(steps, forms, h, k)
            if zero > self.run.tolerance or watched.highest[k] > noise.floor[k]:
                return zero, k
            # It came back to zero in no time: an instant there would be the last one again.
            limits[k] = -noise.floor[k]
        return self._sunk(steps, forms, watched.piece[1], limits, hit)

    def _polished(self, steps: Steps, forms: Forms, h: float, k: int) -> float:
        """Zero of the form itself next to that of its interpolation."""
        for _ in range(POLISH):
            jets = steps.jets(steps.at(h), np.array([h]))
            value, slope = forms.at(steps.motion, *jets)[0, :, k].tolist()
            if not slope < 0.0:
                break
            better = min(max(h - value / slope, 0.0), steps.reached)
            if better == h:
                break
            h = better
        return h

    def _sunk(
        self, steps: Steps, forms: Forms, end: float, limits: np.ndarray, hit: tuple[float, int]
    ) -> tuple[float, int]:
        """Where a form that lay at zero is itself below its limit, or another one crosses before.

        Beside a bend the interpolation is so too early, and nothing would have changed at that instant. After
        ``end`` the search has seen nothing.
        """

        def below(h: float) -> np.ndarray:
            return np.flatnonzero(
                forms.at(steps.motion, *steps.jets(steps.at(h), np.array([h])))[0, 0] < limits
            )

        before, k = hit
        found = below(end)
        if k in below(before) or not len(found):
            return hit
        while before < (middle := 0.5 * (before + end)) < end:
            at = below(middle)
            if len(at):
                end, found = middle, at
            else:
                before = middle
        return end, k if k in found else int(found[0])


def _settled(motion: Motion) -> Place:
    """The consistent point next to the guess a motion was made with."""
    system, guess, dependent = motion.system, motion.last, motion.selection.dependent
    X, H = guess.X, guess.H
    if len(dependent):
        X = motion.on_constraints(X, H, guess.xi, dependent)
    H = settled_unknowns(motion, X, H)
    return Place(0.0, X, H, guess.xi, system.rate(X, H, guess.xi))


def settled_unknowns(motion: Motion, X: np.ndarray, H: np.ndarray) -> np.ndarray:
    """Open unknowns at coordinates ``X``; ``H`` is a guess that may lie far away."""
    try:
        return motion.open_unknowns(X, H, motion.last.xi)
    except NewtonFailure as failure:
        return _by_sources(motion, X, failure)


def _by_sources(motion: Motion, X: np.ndarray, failure: NewtonFailure) -> np.ndarray:
    """Open unknowns by continuation: sources and states grow from zero, where nothing flows, to their values.

    Where slopes vanish at zero the way begins beside it.
    """
    xi, scale = motion.last.xi, motion.system.open_scale
    for guess in (np.zeros(motion.system.m), scale, -scale):
        try:
            return continued(lambda s, H: motion.open_unknowns(s * X, H, s * xi), guess)
        except NewtonFailure:
            continue
    # The way itself may be singular at its begin, as that of a cube is.
    # A high power has hardly a slope near by either, and from far away it is descended quickly.
    beside = scale * generic_direction(motion.system.m)
    for distance in (
        (d * side for d in BESIDE for side in (1.0, -1.0)) if failure.reason == "singular" else ()
    ):
        try:
            return motion.open_unknowns(X, failure.x + distance * beside, xi)
        except NewtonFailure:
            continue
    raise failure


def frame_of(run: Run, states: int) -> PointFrame:
    """How results read the states ``[z, z', xi]`` of the mode in force."""
    nonlinear = run.tangents.rows_in_force(run.mode)
    reason = run.reason
    if run.reduced.nonlinear:
        text, place = nonlinear_row(run.reduced, int(nonlinear[0]) if len(nonlinear) else 0)
        reason = f"{text} at {place}"
    return run.core.readout.moving_frame(run.core.model.S, run.data, states, reason)
