"""Many points of a numerically integrated segment at once: those that one iteration finds together."""

from __future__ import annotations

import math

import numpy as np

from ...compilation.lowering import BATCH
from ...dynamics.step import Step
from ...errors import warn
from .accepted_steps import Accepted, AcceptedSteps
from .newton import NewtonFailure, solutions, undamped_many
from .slope_reading import SlopeReading
from .state_selection import Selection

PROBES = np.modf(np.arange(1, 25) * 0.6180339887498949)[0]
"""Where a step is tried, in its length: spread by the golden ratio."""
TRIED = 24
"""Steps in a row in which all points tried can be solved: those before them are taken to be as good."""
BACK = 20.0
"""Way back from the first point that cannot be solved, in lengths from there to the end: the singular point is farther."""
MOST_BACK = 1e-6
"""The same in lengths of the segment: beyond that it is not rounding which decides."""


def sampled_jets(steps: AcceptedSteps, hs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """``v = [s; h; xi]`` and its time derivative at times ``hs`` (k,) of a segment, (k, nv) each."""
    if not steps.motion.batched:
        found = [steps.motion.jets(steps.place(h)) for h in hs.tolist()]
        return np.array([v for v, _ in found]), np.array([v for _, v in found])
    stacked = steps.in_arrays(Stacked)
    of = np.searchsorted(stacked.ends, hs)
    nv = steps.motion.system.arguments.shape[1]
    v0, v1 = np.empty((len(hs), nv)), np.empty((len(hs), nv))
    for number in np.unique(stacked.stack_of[of]).tolist():
        at = np.flatnonzero(stacked.stack_of[of] == number)
        v0[at], v1[at] = _Batch(steps, stacked.stacks[number], of[at], stacked.place[of[at]], hs[at]).jets()
    return v0, v1


def sampled_unknowns(steps: AcceptedSteps, hs: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Core unknowns, their time derivatives, and sources at times ``hs`` (k,) of a segment, one row for each."""
    system, q = steps.motion.system, len(steps.begin.xi)
    if not reads_slopes(steps):
        v0, v1 = sampled_jets(steps, hs)
        return v0 @ system.z_of.T, v1 @ system.z_of.T, v0[:, v0.shape[1] - q :]
    stacked, n = steps.in_arrays(Stacked), system.z_of.shape[0]
    of = np.searchsorted(stacked.ends, hs)
    z, slopes, xi = np.empty((len(hs), n)), np.empty((len(hs), n)), np.empty((len(hs), q))
    for number in np.unique(stacked.stack_of[of]).tolist():
        at = np.flatnonzero(stacked.stack_of[of] == number)
        batch = _Batch(steps, stacked.stacks[number], of[at], stacked.place[of[at]], hs[at])
        z[at], slopes[at] = batch.unknowns(stacked)
        xi[at] = batch.xi
    return z, slopes, xi


def reads_slopes(steps: AcceptedSteps) -> bool:
    """Whether states are quick in some of the steps."""
    if not steps.motion.batched or not steps.motion.system.nx:
        return False
    return bool(steps.in_arrays(Stacked).quick.any())


def shortest_corrected(steps: AcceptedSteps) -> float:
    """Length of the shortest step in which states are quick; there are such steps."""
    stacked = steps.in_arrays(Stacked)
    return float(stacked.lengths[stacked.quick].min())


def solvable(steps: AcceptedSteps) -> float:
    """Time before a failure up to which points within the accepted steps can be solved.

    Next to a singular point rounding decides whether an iteration converges: the ends of steps were found, points
    between them need not be.
    """
    accepted, end = steps.accepted, steps.accepted[-1].step.t1
    good, first = 0, end
    for a in reversed(accepted):
        bad = _first_unsolved(steps, a.step.t0, a.step.t1)
        good, first = (good + 1, first) if bad is None else (0, bad)
        if good == TRIED:
            break
    most = MOST_BACK * steps.length
    last = nearest = first - min(BACK * (end - first), most)
    while end - last < most:
        last = first - min(BACK * (end - first), most)
        # As long again as what is left out.
        bad = _first_unsolved(steps, max(0.0, last - (end - last)), last)
        if bad is None:
            break
        first = bad
    else:
        # The begin of a step is known without an iteration.
        last = nearest if _first_unsolved(steps, nearest, nearest) is None else accepted[-1].step.t0
    return max(0.0, last)


def _first_unsolved(steps: AcceptedSteps, h0: float, h1: float) -> float | None:
    """The first of the points tried between two times, the last one included, that cannot be solved."""
    hs = np.append(np.sort(h0 + PROBES * (h1 - h0)), h1)
    try:
        sampled_jets(steps, hs)
    except NewtonFailure:
        for h in hs.tolist():
            try:
                sampled_jets(steps, np.array([h]))
            except NewtonFailure:
                return h
        return h0
    return None


def _from_values(times: np.ndarray) -> str:
    """Text of the warning that slopes told nothing at some times."""
    others = f" and {len(times) - 1} other times" if len(times) > 1 else ""
    return (
        f"at t = {times.min():.9g} s{others} equations have no point between values and slopes of the steps: flows through "
        "small losses follow from the values, whose error they amplify, and energies may be off; a smaller rtol makes them exact"
    )


class Stacked:
    """Accepted steps in arrays, those that integrate the same coordinates together."""

    def __init__(self, steps: AcceptedSteps) -> None:
        accepted = steps.accepted
        self.count = len(accepted)
        self.ends = np.array([a.step.t1 for a in accepted[:-1]])
        groups: dict[bytes, list[int]] = {}
        for k, a in enumerate(accepted):
            groups.setdefault(a.selection.states.tobytes(), []).append(k)
        self.stacks = [Stack(steps, [accepted[k] for k in numbers]) for numbers in groups.values()]
        self.stack_of, self.place = np.empty(self.count, np.int64), np.empty(self.count, np.int64)
        for number, numbers in enumerate(groups.values()):
            self.stack_of[numbers], self.place[numbers] = number, np.arange(len(numbers))
        self.lengths = np.array([a.step.t1 - a.step.t0 for a in accepted])
        self.quick = np.zeros(self.count, bool)
        """In which of them slopes tell more than values."""
        for stack, numbers in zip(self.stacks, groups.values(), strict=True):
            self.quick[numbers] = stack.measured(self.lengths[numbers])


class _Many:
    """Steps as arrays (steps, ...)."""

    def __init__(self, steps: list[Step]) -> None:
        self.t0, self.t1 = np.array([s.t0 for s in steps]), np.array([s.t1 for s in steps])
        self.y0, self.y1 = np.array([s.y0 for s in steps]), np.array([s.y1 for s in steps])
        self.dense = np.array([s.dense for s in steps]).transpose(1, 0, 2)

    def at(self, k: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times ``hs`` in the steps ``k``: as `Step.at`, to the bit."""
        return self._unit(k).at((hs - self.t0[k]) / (self.t1[k] - self.t0[k]))

    def slope(self, k: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Time derivatives there."""
        length = self.t1[k] - self.t0[k]
        return self._unit(k).slope((hs - self.t0[k]) / length) / length[:, None]

    def _unit(self, k: np.ndarray) -> Step:
        """Steps with their length as unit of time."""
        return Step(0.0, 1.0, self.y0[k], self.y1[k], self.dense[:, k], np.empty(0))


class Stack:
    """Steps that integrate the same coordinates."""

    def __init__(self, steps: AcceptedSteps, accepted: list[Accepted]) -> None:
        self.selection: Selection = accepted[0].selection
        self._states = _Many([a.step for a in accepted])
        self._course = _Many([steps.course(a) for a in accepted])
        self._accepted, motion = accepted, steps.motion
        system, chosen = motion.system, self.selection
        self._flows = system.quick
        self.reading: SlopeReading | None = None
        """Corrects points; None where all is affine, and the flows of quick states follow from slopes as they are."""
        if system.m or system.constraints:
            self.reading = SlopeReading(system, motion.constants, chosen.states, chosen.dependent)
        self.units = np.empty((len(accepted), len(chosen.states)))
        """In which the reading measures states in the steps, once these are measured."""

    def measured(self, lengths: np.ndarray) -> np.ndarray:
        """Measure the steps, of these lengths; in which of them slopes tell more than values."""
        if self.reading is None:
            return np.zeros(len(lengths), bool) if self._flows is None else self._flows.counts(lengths) > 0
        ends = [a.begin for a in self._accepted] + [a.end for a in self._accepted]
        y, xi = np.array([p.y for p in ends]), np.array([p.xi for p in ends])
        found, units = self.reading.quickness(y, xi, np.tile(lengths, 2))
        sizes, (first, last) = found.reshape(2, -1), np.split(units, 2)
        longest = np.fmax(*sizes)
        self.units = np.where((sizes[1] == longest)[:, None], last, first)
        bridged = np.array([a.bridge is not None for a in self._accepted])
        return (longest > 1.0) & ~bridged

    def guess(self, k: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Coordinates at times ``hs`` in the steps ``k``: what is integrated, and what is solved is near."""
        y = self._course.at(k, hs)
        y[:, self.selection.states] = self._states.at(k, hs)
        return y

    def rates(self, k: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Slopes of what is integrated."""
        return self._states.slope(k, hs)


class _Batch:
    """Points whose steps integrate the same coordinates; arrays (points, ...)."""

    def __init__(
        self, steps: AcceptedSteps, stack: Stack, of: np.ndarray, place: np.ndarray, hs: np.ndarray
    ) -> None:
        self.steps, self.of, self.hs, self.accepted = steps, of, hs, steps.accepted
        self.motion, self.system = steps.motion, steps.motion.system
        self.stack, self.place, self.solved = stack, place, stack.selection.dependent
        self.xi = steps.motion.sources.sample(hs)
        self.y = stack.guess(place, hs)
        self.y_t: dict[int, np.ndarray] = {}
        """Slopes of the coordinates and open unknowns of points next to a change point."""

    def jets(self) -> tuple[np.ndarray, np.ndarray]:
        """``v`` and its time derivative."""
        system = self.system
        if len(self.solved) + system.m:
            self._solve()
        rates = self.y @ system.rate_of_both.T + self.xi @ system.rate_of_sources.T
        v0 = self.y @ system.v0.y.T + self.xi @ system.v0.xi.T
        v1 = self.y @ system.v1.y.T + self.xi @ system.v1.xi.T
        if len(system.algebraic):
            v1[:, len(system.mode.states) + system.algebraic] = self._open_rates(rates)
        return v0, v1

    def unknowns(self, stacked: Stacked) -> tuple[np.ndarray, np.ndarray]:
        """Core unknowns and their time derivatives where states are as quick as the slopes of their steps tell."""
        system, states = self.system, self.stack.selection.states
        if len(self.solved) + system.m:
            self._solve()
        lengths, read = stacked.lengths[self.of], np.flatnonzero(stacked.quick[self.of])
        slopes = self.stack.rates(self.place[read], self.hs[read])
        if self.stack.reading is not None:
            read, slopes = self._corrected(self.stack.reading, read, slopes, lengths[read])
        rates = self.y @ system.rate_of_both.T + self.xi @ system.rate_of_sources.T
        rates[np.ix_(read, states)] = slopes
        z = (self.y @ system.v0.y.T + self.xi @ system.v0.xi.T) @ system.z_of.T
        v1 = self.y @ system.v1.y.T + self.xi @ system.v1.xi.T
        if system.quick is not None:
            counts = system.quick.counts(lengths[read])
            for count in np.unique(counts[counts > 0]).tolist():
                at = read[counts == count]
                known = system.quick.read(count, rates[at], np.hstack([self.y[at], self.xi[at]]))
                z[at], rates[at] = np.split(known, [z.shape[1]], axis=1)
        ns = len(system.mode.states)
        v1[:, :ns] = rates[:, :ns]
        if len(system.algebraic):
            v1[:, ns + system.algebraic] = self._open_rates(rates)
        return z, v1 @ system.z_of.T

    def _corrected(
        self, reading: SlopeReading, read: np.ndarray, slopes: np.ndarray, lengths: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Which of the points to ``read`` slopes of steps have corrected, and the slopes of their states.

        Both ends are as the run has found them, and gone on from there: what crosses zero there does so in what is read too.
        """
        inside = (self.hs[read] > 0.0) & (self.hs[read] < self.steps.length)
        read, slopes, lengths = read[inside], slopes[inside], lengths[inside]
        found = np.zeros(len(read), bool)
        for first in range(0, len(read), BATCH):
            part = slice(first, first + BATCH)
            at = read[part]
            y, slopes[part], found[part] = reading.corrected(
                self.y[at], self.xi[at], slopes[part], lengths[part], self.stack.units[self.place[at]]
            )
            self.y[at[found[part]]] = y[found[part]]
        if not found.all():
            warn(_from_values(self.steps.started + self.hs[read[~found]]))
        return read[found], slopes[found]

    def _solve(self) -> None:
        """Solved coordinates and open unknowns of all points."""
        correction = self.system.correction(self.solved)
        if correction is None:
            batches = np.array_split(np.arange(len(self.hs)), math.ceil(len(self.hs) / BATCH))
            found = np.concatenate([self._together(which) for which in batches])
        else:
            found = correction.many(self.y, self.xi, self.motion.constants)
        for k in np.unique(self.of).tolist():
            bridge = self.accepted[k].bridge
            if bridge is None:
                continue
            own = np.flatnonzero((self.of == k) & bridge.holds(self.hs))
            if len(own):
                self.y[own], slopes = bridge.sample(self.motion, self.hs[own])
                self.y_t.update(zip(own.tolist(), slopes, strict=True))
                found[own] = True
        for i in np.flatnonzero(~found).tolist():
            place = self.steps.inside(self.accepted[int(self.of[i])], float(self.hs[i]))
            self.y[i] = place.y

    def _together(self, which: np.ndarray) -> np.ndarray:
        """Mask of some of the points: which of them full steps find."""
        system, y, xi, constants = self.system, self.y[which], self.xi[which], self.motion.constants
        columns = np.concatenate((self.solved, system.nx + np.arange(system.m)))

        def equations(at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
            y[np.ix_(at, columns)] = x[at]
            value, slope, _ = system.many(y[at], xi[at], constants)
            return value, slope[:, :, columns]

        def rounding(at: np.ndarray) -> np.ndarray:
            return system.rounding_many(y[at], xi[at], constants)

        x, scale = y[:, columns], np.concatenate((system.scale, system.open_scale))[columns]
        found = undamped_many(equations, rounding, x, scale)
        self.y[np.ix_(which, columns)] = x
        return found

    def _open_rates(self, rates: np.ndarray) -> np.ndarray:
        """Time derivatives of the open unknowns that are not differentiated."""
        system = self.system
        _, slope, moved = system.many(self.y, self.xi, self.motion.constants)
        full = slope[:, system.constraints :]
        given = np.einsum("kij,kj->ki", full[:, :, : system.nx], rates) + moved[:, system.constraints :]
        found = solutions(full[:, :, system.nx :], -given)[:, system.algebraic]
        for i, y_t in self.y_t.items():
            found[i] = y_t[system.nx + system.algebraic]
        for i in np.flatnonzero(~np.isfinite(found).all(axis=1)).tolist():
            place = self.steps.inside(self.accepted[int(self.of[i])], float(self.hs[i]))
            found[i] = self.motion.jets(place)[1][len(system.mode.states) + system.algebraic]
        return found
