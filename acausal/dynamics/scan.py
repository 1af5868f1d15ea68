"""First crossing of the guards of a mode along a closed-form trajectory; nothing is sampled away."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from .bounds import Bounds, GuardForms
from .guard_noise import GuardNoise
from .location import Closed, locate
from .modal import Trajectory

TOUCH = 0.01
"""Part of the noise floor a guard must go below zero to count as a crossing, not as a touch, on closed forms."""
RISE = 0.04
"""Part of the noise floor at which a guard known to leave zero upwards is searched for its next zero."""
STEADY = 2.0
"""Factor within which depths on an interval are much the same."""
PARTS = 4
"""Parts into which an undecided interval is split."""
FINEST = 2.0**-80
"""Smallest interval next to the start, relative to the length of the search."""
CHUNK = 16
"""Intervals examined together."""
Hit = tuple[float, int]


class Depth(NamedTuple):
    """What counts as zero within an interval, at the least and at the most; arrays (guards,)."""

    floor: np.ndarray
    """Noise of the values."""
    touch: np.ndarray
    """Depth below zero up to which a guard touches it."""
    rise: np.ndarray
    """Value above which a guard has left its noise."""
    most_floor: np.ndarray
    most_touch: np.ndarray
    most_rise: np.ndarray


def first_crossing(
    trajectory: Trajectory, G: np.ndarray, armed: np.ndarray, floor: np.ndarray, h_end: float, t0: float = 0.0,
    touch: np.ndarray | None = None, noise: GuardNoise | None = None,
) -> Hit | None:  # fmt: skip
    """Earliest time at which a guard ``G y >= 0`` is left.

    Parameters
    ----------
    trajectory : Trajectory
    G : (ng, ny)
        Guard rows.
    armed : (ng,) bool
        Guards with positive lexicographic sign at the start. They trigger at their next zero,
        once they have left their noise. The others are silent at the start: they are armed when
        they rise above their noise floor, and trigger when they fall below minus that floor.
    floor : (ng,)
        Noise floors of the values.
    h_end : float
        Length of the search in seconds.
    t0 : float
        Absolute time of the start; crossings are located to adjacent doubles of ``t0 + h``.
    touch : (ng,), optional
        Depth below zero up to which a guard touches zero and does not cross it; by default a hundredth of the
        floor. Both may grow in place while a trajectory is continued piece by piece.
    noise : GuardNoise, optional
        Noise of the values along the trajectory; adds to the floor at every time what it is then.

    Returns
    -------
    (h, k) or None
        Smallest `h` at which guard `k` is not positive any more; of equal times the first guard.
        Zero when a guard is below minus its noise floor from the start.

    Notes
    -----
    Guards are bounded on whole intervals (`bounds.GuardForms.bounds`), undecided intervals are split,
    so two crossings between two points of evaluation are not missed. Functions too fast for an
    interval enter with their magnitude, so nothing fast is resolved that cannot matter.
    """
    if not len(G):
        return None
    search = _Search(G, armed, floor, touch, noise)
    for start, piece in trajectory.pieces(h_end):
        if piece.reach == 0.0:
            continue  # a step shorter than any number
        hit = search.piece(piece, min(piece.reach, h_end - start), t0 + start, start + piece.reach < h_end)
        if hit is not None:
            return start + hit[0], hit[1]
    return None


class _Search:
    """Which guards have left their noise, and the closed form of all on the present piece."""

    def __init__(
        self,
        G: np.ndarray,
        armed: np.ndarray,
        floor: np.ndarray,
        touch: np.ndarray | None,
        noise: GuardNoise | None,
    ) -> None:
        self._G, self._armed, self._floor, self._touch, self._noise = G, armed, floor, touch, noise
        self._steady: Depth | None = None
        """That of the whole piece, where it is much the same all along."""
        self.begun = False

    def piece(self, trajectory: Trajectory, length: float, t0: float, goes_on: bool) -> Hit | None:
        """Search the first `length` seconds of a trajectory that starts at `t0`, and whether another one follows."""
        self.forms = forms = GuardForms(trajectory.flow.basis, self._G.dot(trajectory.C))
        bounds = forms.whole(length)
        touch = TOUCH * self._floor if self._touch is None else self._touch
        # What does not go below zero triggers at no depth, whether it has left its noise or not.
        if not goes_on and (bounds.low >= -touch).all():
            return None
        self.t0, self.finest = t0, FINEST * length
        self._sizes = None if self._noise is None else self._noise.sizes(trajectory)
        self._steady = None
        whole = self._depth(0.0, length)
        if (whole.most_floor <= STEADY * whole.floor).all():
            self._steady = whole
        if not self.begun:
            below = self._begin(forms.R.dot(forms.basis.frame[:, 0]))
            if below is not None:
                return below
        open_guards = self._open(bounds, 0, whole)
        if open_guards is None:
            self._rise(bounds, 0, whole)
            return None
        hit = self._roots(bounds, 0, (0.0, length), open_guards, whole)
        return hit if hit is not None else self._march(length, whole.touch)

    def _depth(self, a: float, b: float) -> Depth:
        """What counts as zero between two times of the piece."""
        if self._steady is not None:
            return self._steady
        least = most = self._floor
        if self._noise is not None and self._sizes is not None:
            added = self._noise.between(self._sizes, a, b)
            least, most = least + added[0], most + added[1]
        touch, most_touch = (TOUCH * least, TOUCH * most) if self._touch is None else (self._touch,) * 2
        leaves = np.where(self._armed, RISE, 1.0)
        return Depth(least, touch, leaves * least, most, most_touch, leaves * most)

    def _begin(self, start: np.ndarray) -> Hit | None:
        """Arm the guards above their noise; one below minus its noise has triggered already."""
        self.begun = True
        depth = self._depth(0.0, 0.0)
        self._note(start > depth.most_rise)
        below = start < -depth.most_floor
        return (0.0, int(below.argmax())) if below.any() else None

    def _note(self, above: np.ndarray) -> None:
        self.above = above
        self.all_above = bool(above.all())

    def _march(self, length: float, touch: np.ndarray) -> Hit | None:
        """Search from left to right in chunks, with steps that follow the speed of the guards where they exceed ``touch``."""
        h, growth = 0.0, 1.0
        while h < length:
            step = min(self._spacing(h, length, touch) * growth, 0.25 * length)
            count = min(CHUNK, max(1, math.ceil((length - h) / step * (1.0 - 1e-9))))
            last = h + count * step
            if last >= length * (1.0 - 1e-12):
                last = length
            hit, split = self._walk(h, last, count)
            if hit is not None:
                return hit
            growth = 1.0 if split else 2.0 * growth
            h = last
        return None

    def _spacing(self, h: float, length: float, touch: np.ndarray) -> float:
        """Interval that suits the fastest function still above the noise of some guard."""
        basis = self.forms.basis
        size = np.abs(self.forms.R) * basis.envelope(h, length)
        matters = (size > touch[:, None]).any(0)
        return float(basis.time_unit[matters].min(initial=length))

    def _walk(self, h: float, last: float, count: int) -> tuple[Hit | None, bool]:
        """Settle ``count`` equal intervals, at the depths of all of them; whether one had to be split into finer ones."""
        nodes = np.arange(count + 1) * ((last - h) / count) + h
        nodes[count] = last
        bounds, depth = self.forms.bounds(nodes), None
        clear = (bounds.low >= 0.0).all(1).tolist()
        split = False
        for i in range(count):
            if self.all_above and clear[i]:
                continue
            if i and not np.isfinite(bounds.ends[i - 1]).all():
                break  # beyond the range of doubles, which the end of the segment tells
            depth = self._depth(h, last) if depth is None else depth
            open_guards = self._open(bounds, i, depth)
            if open_guards is None:
                self._rise(bounds, i, depth)
                continue
            a, b = float(nodes[i]), float(nodes[i + 1])
            hit = self._roots(bounds, i, (a, b), open_guards, depth)
            if hit is None:
                split, end = True, bounds.ends[i]
                # Where bounds leave the range of doubles before the values do, the values decide.
                beyond = np.isfinite(end).all() and not np.isfinite(bounds.low[i]).all()
                hit = self._at_end(end, b) if beyond else self._inside(end, a, b)
            if hit is not None:
                return hit, True
        return None, split

    def _open(self, bounds: Bounds, i: int, depth: Depth) -> np.ndarray | None:
        """Guards that may trigger on interval `i`, None if there is none; what is settled is so at the least depth."""
        low = bounds.low[i]
        settled = low >= -depth.touch
        if not self.all_above:
            leaving = bounds.inside(i) >= -depth.touch
            if not leaving.all():
                leaving |= bounds.high(i) <= depth.rise
            settled = np.where(self.above, settled, leaving & (low >= -depth.floor))
        return None if settled.all() else ~settled

    def _rise(self, bounds: Bounds, i: int, depth: Depth) -> None:
        """Note the guards that have left their noise on interval `i`."""
        if not self.all_above:
            rise = depth.most_rise
            self._note(self.above | (bounds.ends[i] > rise) | (bounds.middle(i) > rise))

    def _roots(
        self, bounds: Bounds, i: int, ends: tuple[float, float], open_guards: np.ndarray, depth: Depth
    ) -> Hit | None:
        """Earliest trigger on interval `i` if every open guard certainly has exactly one; None otherwise."""
        end, floor = bounds.ends[i], depth.most_floor
        down = end < -depth.most_touch
        if not self.all_above:
            # A guard that never left its noise triggers at a depth: that must be much the same all along the interval.
            sinks = (end < -floor) & (bounds.high(i) < depth.rise) & (floor <= STEADY * depth.floor)
            down = np.where(self.above, down, sinks)
        if not down[open_guards].all() or not (bounds.slope(i)[open_guards] < 0.0).all():
            return None
        best: Hit | None = None
        for k in np.flatnonzero(open_guards).tolist():
            row = self.forms.R[k]
            offset = 0.0 if self.above[k] else float(floor[k])
            closed = Closed(self.forms.basis, row, row.dot(self.forms.basis.derivative), offset)
            if best is not None and closed.value(best[0]) > 0.0:
                continue
            h = locate(closed, ends[0], ends[1] if best is None else best[0], self.t0)
            if best is None or h < best[0]:
                best = h, k
        return best

    def _inside(self, end: np.ndarray, a: float, b: float) -> Hit | None:
        """Split the interval ``[a, b]``; at adjacent doubles the values `end` at the right end decide."""
        if b - a > PARTS * max(math.ulp(self.t0 + b), self.finest):
            return self._walk(a, b, PARTS)[0]
        return self._at_end(end, b)

    def _at_end(self, end: np.ndarray, b: float) -> Hit | None:
        """Settle an interval that ends at `b` by the values `end` there."""
        depth = self._depth(b, b)
        down = np.flatnonzero(end < -np.where(self.above, depth.touch, depth.floor))
        if len(down):
            return b, int(down[0])
        self._note(self.above | (end > depth.rise))
        return None
