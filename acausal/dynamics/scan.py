"""First crossing of the guards of a mode along a closed-form trajectory; nothing is sampled away.

Guards are bounded on whole intervals, from values and slopes at their ends; intervals that bounds do not settle are split, and
an isolated root is located to adjacent doubles of absolute time. What counts as zero is known along the way (`noise`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..reduction.affine import ModeData
from ..reduction.rounding import ROUNDING, SUMMED, UNIT
from .closed_form import BERNSTEIN, AffineFlow, Basis, Trajectory
from .location import locate
from .noise import LOCATED, TOUCH, TWICE, FlowNoise, shifted

RISE = 0.04
"""Part of the noise floor at which a guard known to leave zero upwards is searched for its next zero."""
STEADY = 2.0
"""Factor within which depths on an interval are much the same."""
PARTS = 4
"""Parts into which an undecided interval is split."""
FINEST = 2.0**-80
"""Smallest interval next to the start, relative to the length of the search, at whose end nothing has crossed."""
CHUNK = 16
"""Intervals examined together."""
Hit = tuple[float, int]
RESOLVED = 2.0
"""Angle or number of time constants up to which a function is interpolated; faster ones enter with their magnitude."""
SLOPE_ERROR = math.sqrt(3.0) / 216.0
"""Error constant of the slope of the cubic Hermite interpolant."""
MIDDLE = np.array([1.0, 4.0, 6.0, 4.0, 1.0]) / 16.0
"""Value at the middle from Bernstein coefficients of degree 4."""


class Watch:
    """Forms of one mode that can trigger in one situation, oriented to be positive where they are in force.

    Parameters
    ----------
    data : ModeData
    forms : (forms, ny) array
    orientation, armed : (forms,) arrays
    which : array of int
        What can trigger.

    Attributes
    ----------
    which : list of int
        Numbers of the forms among all of the mode.
    forms : (m, ny) array
    armed : (m,) array of bool
        The form leaves zero into the positive.
    """

    def __init__(
        self, data: ModeData, forms: np.ndarray, orientation: np.ndarray, armed: np.ndarray, which: np.ndarray
    ) -> None:
        self.which = which.tolist()
        self.forms = forms[which] * orientation[which, None]
        self.armed = armed[which]
        self._rates = self.forms @ data.Ay
        self._slope = TWICE * LOCATED * self._rates
        # What leaves zero has been seen to do so: for it errors of the state count.
        self._known = TWICE * np.abs(self.forms[:, : len(data.states)]) * self.armed[:, None]

    def late(self, y: np.ndarray, t: float) -> np.ndarray:
        """How far forms move while the begin of a segment at ``y`` (ny,) may be late."""
        return math.ulp(t) * np.abs(self._slope.dot(y))

    def known(self, error: np.ndarray | None, moved: np.ndarray | None = None) -> np.ndarray | float:
        """What the ``error`` of the states at the begin leaves of the forms for all of the segment; None for none.

        With what is ``moved`` (ny, ...) the state vector is off as a whole.
        """
        found = 0.0 if error is None else self._known.dot(error)
        return found if moved is None else found + TWICE * self.armed * shifted(self.forms, moved)


class FlowWatch(Watch):
    """The same along a closed form, with the noise that moves and rounding of ``coefficients`` (forms, ny) all along."""

    def __init__(self, flow: AffineFlow, coefficients: np.ndarray, *given: Any) -> None:
        super().__init__(*given)
        self.noise = FlowNoise(flow, self.forms, self._rates, TWICE * ROUNDING)
        self._coefficients = TWICE * coefficients[self.which]

    def first(
        self, trajectory: Trajectory, length: float, t0: float, known: Callable[[], np.ndarray | float]
    ) -> Hit | None:
        """The first crossing within some seconds from ``t0`` on, from where forms are off by what is `known`."""

        def floor() -> Floor:
            rounding = self._coefficients.dot(np.abs(trajectory.y0)) + known()
            return Floor(rounding, self.late(trajectory.y0, t0), moving=self.noise)

        return first_crossing(trajectory, self.forms, self.armed, floor, length, t0)

    def since(self, trajectory: Trajectory, h: float, k: int, t0: float) -> float:
        """Last time up to ``h`` at which form ``k``, which reacts there, was above zero or rose.

        What began at zero without a sign, or has not left its noise, reacts at a depth and has crossed before: no sign consults a
        third derivative. At that time it is zero, and a restart has no depth to take back, from which all would fall
        higher than before. In the piece of the trajectory that ends there. What was positive at the start by less than functions
        round there crosses when its values and rates at the start say.
        """
        begin, piece = trajectory.piece(h)
        forms = self._form(piece, k)
        row = forms.R[0]
        form = Closed(forms.basis, row, 0.0)
        if h == begin or form.value(h - begin) >= -self.noise.rounding(trajectory, h)[k]:
            return h
        open_ = [(0.0, h - begin)]
        while open_:
            a, b = open_.pop()
            if not forms.bounds(np.array([a, b])).slope(0)[0] <= 0.0:
                if b - a <= math.ulp(t0 + h):
                    return begin + b
                middle = 0.5 * (a + b)
                open_ += [(a, middle), (middle, b)]
            elif form.value(a) > 0.0:
                return begin + locate(form.at, a, b, 0.5 * (a + b), t0 + begin)
        value, slope = float(self.forms[k].dot(piece.y0)), float(self._rates[k].dot(piece.y0))
        return min(h, begin + value / -slope) if value > 0.0 > slope else begin

    def lateness(self, trajectory: Trajectory, h: float, k: int) -> float:
        """By how many seconds a crossing at ``h`` may be off: while its form passes through its rounding.

        What left zero and has been within one unit of it since may have crossed at any time. Zero where else it does not pass: a
        form that touches zero tells no time.
        """
        rounding = float(self.noise.rounding(trajectory, h)[k])
        # The rate of a state amplifies its rounding by what is fast; the functions that are left at that time do not.
        slope = abs(float(self.forms[k].dot(trajectory.slope(h))))
        if slope * h > rounding:
            return rounding / slope
        begin, piece = trajectory.piece(h)
        if not self.armed[k] or begin > 0.0:
            return 0.0
        highest = float(self._form(piece, k).bounds(np.array([0.0, h])).high(0)[0])
        return h if TWICE * SUMMED * highest <= UNIT * rounding else 0.0

    def _form(self, piece: Trajectory, k: int) -> GuardForms:
        """Closed form of one guard along a piece."""
        return GuardForms(piece.flow.basis, self.forms[k : k + 1] @ piece.C)


class Floor(NamedTuple):
    """What counts as zero all along a search; arrays (guards,), which may change in place from one piece to the next."""

    rounding: np.ndarray
    """Noise of the values."""
    late: np.ndarray | float = 0.0
    """What a late begin adds. It moves a guard by its rate times that, which is nothing where the guard touches zero."""
    missed: np.ndarray | float = 0.0
    """What integration may have missed: as far below zero, beside `TOUCH` of the noise, a guard touches and does not cross."""
    moving: FlowNoise | None = None
    """Noise that moves: at every time what it is then."""


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
    trajectory: Trajectory,
    G: np.ndarray,
    armed: np.ndarray,
    floor: Callable[[], Floor],
    h_end: float,
    t0: float = 0.0,
) -> Hit | None:
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
    floor : callable
        Returns what counts as zero: asked for once, where something comes near zero.
    h_end : float
        Length of the search in seconds.
    t0 : float
        Absolute time of the start; crossings are located to adjacent doubles of ``t0 + h``.

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
    search = _Search(G, armed, floor)
    for start, piece in trajectory.pieces(h_end):
        if piece.reach == 0.0:
            continue  # a step shorter than any number
        hit = search.piece(piece, min(piece.reach, h_end - start), t0 + start, start + piece.reach < h_end)
        if hit is not None:
            return start + hit[0], hit[1]
    return None


class _Search:
    """Which guards have left their noise, and the closed form of all on the present piece."""

    def __init__(self, G: np.ndarray, armed: np.ndarray, floor: Callable[[], Floor]) -> None:
        self._G, self._given, self._armed = G, floor, armed
        self._leaves = np.where(armed, RISE, 1.0)
        self._zero: Floor | None = None
        self._steady: Depth | None = None
        """That of the whole piece, where it is much the same all along."""
        self.begun = False

    def piece(self, trajectory: Trajectory, length: float, t0: float, goes_on: bool) -> Hit | None:
        """Search the first `length` seconds of a trajectory that starts at `t0`, and whether another one follows."""
        self.forms = forms = GuardForms(trajectory.flow.basis, self._G.dot(trajectory.C))
        bounds = forms.whole(length, self._touch)
        # What does not go below zero triggers at no depth, whether it has left its noise or not.
        if bounds is not None and not goes_on:
            low = bounds.low[0]
            if False not in (low >= 0.0).tolist() or False not in (low >= -self._touch()).tolist():
                return None
        self.t0, self.finest = t0, FINEST * length
        moving = self._floor().moving
        self._sizes = None if moving is None else moving.sizes(trajectory)
        self._steady = None
        whole = self._depth(0.0, length)
        if False not in (whole.most_floor <= STEADY * whole.floor).tolist():
            self._steady = whole
        if not self.begun:
            below = self._begin(forms.R.dot(forms.basis.frame[:, 0]))
            if below is not None:
                return below
        if bounds is None:
            return self._march(length, whole.touch)
        open_guards = self._open(bounds, 0, whole)
        if open_guards is None:
            self._rise(bounds, 0, whole)
            return None
        hit = self._roots(bounds, 0, (0.0, length), open_guards, whole)
        return hit if hit is not None else self._march(length, whole.touch)

    def _floor(self) -> Floor:
        if self._zero is None:
            self._zero = self._given()
        return self._zero

    def _touch(self) -> np.ndarray:
        floor = self._floor()
        return TOUCH * floor.rounding + floor.missed

    def _depth(self, a: float, b: float) -> Depth:
        """What counts as zero between two times of the piece."""
        if self._steady is not None:
            return self._steady
        least, late, missed, moving = self._floor()
        most, below, most_below = least, missed, missed
        if moving is not None and self._sizes is not None:
            low, high = moving.between(self._sizes, a, b)
            least, most = least + low, least + high
            below = missed + moving.leaving(self._sizes, a)
            most_below = missed + moving.leaving(self._sizes, b)

        def rows(size: np.ndarray, below: np.ndarray | float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
            floor = size + late + below
            return floor, TOUCH * size + below, self._leaves * floor

        lower = rows(least, below)
        return Depth(*lower, *(lower if a == b or most is least else rows(most, most_below)))

    def _begin(self, start: np.ndarray) -> Hit | None:
        """Arm the guards above their noise; one below minus its noise has triggered already."""
        self.begun = True
        depth = self._depth(0.0, 0.0)
        self._note(start > depth.most_rise)
        below = start < -depth.most_floor
        return (0.0, int(below.argmax())) if True in below.tolist() else None

    def _note(self, above: np.ndarray) -> None:
        self.above = above
        self.all_above = False not in above.tolist()

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
            if False in leaving.tolist():
                leaving |= bounds.high(i) <= depth.rise
            settled = np.where(self.above, settled, leaving & (low >= -depth.floor))
        return ~settled if False in settled.tolist() else None

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
        which = [k for k, open_ in enumerate(open_guards.tolist()) if open_]
        if False in down[which].tolist() or False in (bounds.slope(i)[which] < 0.0).tolist():
            return None
        best: Hit | None = None
        for k in which:
            row = self.forms.R[k]
            offset = 0.0 if self.above[k] else float(floor[k])
            closed = Closed(self.forms.basis, row, offset)
            last = ends[1] if best is None else best[0] - math.ulp(self.t0 + best[0])
            # What crosses within the last place of the same time is later.
            if best is not None and (last <= ends[0] or closed.value(last) > 0.0):
                continue
            guess = ends[0] + bounds.zero(i, k, offset) * (ends[1] - ends[0])
            best = locate(closed.at, ends[0], last, guess, self.t0), k
        return best

    def _inside(self, end: np.ndarray, a: float, b: float) -> Hit | None:
        """Split the interval ``[a, b]``; at adjacent doubles the values `end` at the right end decide."""
        if b - a > PARTS * max(math.ulp(self.t0 + b), self.finest):
            return self._walk(a, b, PARTS)[0]
        if not self._locatable(end, a, b):
            return self._at_end(end, b)
        return self._walk(a, b, PARTS)[0] if a > 0.0 else self._next_to_start(end, b)

    def _locatable(self, end: np.ndarray, a: float, b: float) -> bool:
        """Whether what leaves zero at first has crossed within the interval, which holds further doubles."""
        if not b - a > PARTS * math.ulp(self.t0 + b):
            return False
        return True in (self._armed & (end < -self._depth(b, b).touch)).tolist()

    def _next_to_start(self, end: np.ndarray, b: float) -> Hit | None:
        """The same of ``[0, b]``: times next to zero have no smallest scale, so that its first part may be split very often."""
        split, hit = list[float](), None
        while self._locatable(end, 0.0, b):
            split.append(b)
            b /= PARTS
            bounds, depth = self.forms.bounds(np.array([0.0, b])), self._depth(0.0, b)
            open_guards, end = self._open(bounds, 0, depth), bounds.ends[0]
            if open_guards is None:
                self._rise(bounds, 0, depth)
                break
            hit = self._roots(bounds, 0, (0.0, b), open_guards, depth)
            if hit is not None:
                return hit
        else:
            hit = self._at_end(end, b)
        while split and hit is None:
            b = split.pop()
            hit = self._walk(b / PARTS, b, PARTS - 1)[0]
        return hit

    def _at_end(self, end: np.ndarray, b: float) -> Hit | None:
        """Settle an interval that ends at `b` by the values `end` there."""
        depth = self._depth(b, b)
        down = np.flatnonzero(end < -np.where(self.above, depth.touch, depth.floor))
        if len(down):
            return b, int(down[0])
        self._note(self.above | (end > depth.rise))
        return None


# -- bounds on intervals -------------------------------------------------------------------------------------------------


class Rest:
    """The part ``R phi`` of the guards that is bounded by magnitudes alone: ``envelope`` (intervals, size) of its functions."""

    __slots__ = ("_basis", "_envelope", "_R", "value")

    def __init__(self, basis: Basis, R: np.ndarray, envelope: np.ndarray) -> None:
        self._basis, self._R, self._envelope = basis, R, envelope
        self.value = envelope.dot(np.abs(R).T)
        """Bounds (intervals, guards)."""

    def slope(self, i: int) -> np.ndarray:
        """Bounds (guards,) of the magnitudes of the slopes on interval `i`."""
        with np.errstate(over="ignore", invalid="ignore"):
            return np.abs(self._R.dot(self._basis.derivative)).dot(self._envelope[i])


class Bounds:
    """Bounds of all guards on consecutive intervals; arrays (intervals, guards) unless said otherwise.

    Parameters
    ----------
    cubics : (5, intervals, guards)
        Bernstein coefficients of degree 4 of the cubics through both ends, without the functions that are too fast for
        the length; written to.
    ends : (intervals, guards)
        Full values at the right ends.
    length : float
    fourth : array
        Bounds of the fourth derivative, times the fourth power of the length.
    rest : Rest or None
        The functions that are too fast for the length.
    noise : array or None
        Rounding errors of the values.

    Notes
    -----
    The cubic Hermite interpolant p on an interval of length L has
    ``abs(g - p) <= x^2 (L - x)^2 M4 / 24``. In Bernstein form of degree 4 that is one coefficient,
    ``M4 L^4 / 144``, so the coefficients of p with this one lowered bound g from below.
    """

    __slots__ = ("coefficients", "ends", "error", "length", "low", "noise", "rest")

    def __init__(
        self,
        cubics: np.ndarray,
        ends: np.ndarray,
        length: float,
        fourth: np.ndarray,
        rest: Rest | None,
        noise: np.ndarray | None = None,
    ) -> None:
        self.ends, self.length, self.rest = ends, length, rest
        self.error = fourth / 144.0
        self.coefficients = cubics
        self.coefficients[2] -= self.error
        low = np.minimum.reduce(self.coefficients)
        self.low = low if rest is None else low - rest.value
        """Bound from below; what only rounding takes below zero counts as above."""
        if noise is not None:
            self.low += noise
        self.noise = noise

    def inside(self, i: int) -> np.ndarray:
        """Bound from below on interval `i` that the left end does not enter."""
        inside = self.coefficients[1:, i].min(0)
        if self.noise is not None:
            inside += self.noise[i]
        return inside if self.rest is None else inside - self.rest.value[i]

    def high(self, i: int) -> np.ndarray:
        """Bound from above on interval `i`."""
        c = self.coefficients[:, i].copy()
        c[2] += 2.0 * self.error[i]
        high = c.max(0)
        return high if self.rest is None else high + self.rest.value[i]

    def zero(self, i: int, k: int, offset: float) -> float:
        """Where on interval `i`, as a part of it, the cubic of guard `k` that falls through zero about vanishes."""
        left, near, _, far, right = self.coefficients[:, i, k].tolist()
        v, w, a, b = left + offset, right + offset, 4.0 * (near - left), 4.0 * (right - far)
        square, cube = 3.0 * (w - v) - 2.0 * a - b, 2.0 * (v - w) + a + b
        x = v / (v - w) if v > w else 0.5
        for _ in range(3):  # Each doubles the digits of a secant: more than the cubic has is of no use.
            slope = a + x * (2.0 * square + x * 3.0 * cube)
            if not slope < 0.0:
                break
            x = min(max(x - (v + x * (a + x * (square + x * cube))) / slope, 0.0), 1.0)
        return x

    def middle(self, i: int) -> np.ndarray:
        """Bound from below at the middle of interval `i`."""
        middle = MIDDLE.dot(self.coefficients[:, i])
        return middle if self.rest is None else middle - self.rest.value[i]

    def slope(self, i: int) -> np.ndarray:
        """Bound from above of the slope on interval `i`."""
        c0, c1, _, c3, c4 = self.coefficients[:, i]
        d0, d4 = c1 - c0, c4 - c3
        steepest = np.maximum(np.maximum(d0, d4), 0.75 * (c4 - c0) - d0 - d4) * (4.0 / self.length)
        steepest = steepest + self.error[i] * (144.0 * SLOPE_ERROR / self.length)
        return steepest if self.rest is None else steepest + self.rest.slope(i)


class GuardForms:
    """Guards as combinations ``R phi(h)`` of the functions of a basis.

    Parameters
    ----------
    basis : Basis
    R : (ng, basis.size)
    """

    def __init__(self, basis: Basis, R: np.ndarray) -> None:
        self.basis, self.R = basis, R
        self.size4 = np.abs(R.dot(basis.fourth))

    def whole(self, length: float, touch: Callable[[], np.ndarray]) -> Bounds | None:
        """Bounds on the one interval ``[0, length]``, None where functions too fast for it take a guard below ``-touch()``."""
        basis, R = self.basis, self.R
        envelope = basis.envelope(0.0, length)
        if basis.fastest * length <= RESOLVED:
            cubics = R.dot(basis.cubics(length)).T[:, None]
            return Bounds(cubics, cubics[4], length, (length**4 * self.size4).dot(envelope)[None], None)
        keep = basis.speed * length <= RESOLVED
        rest = Rest(basis, R * ~keep, np.where(keep, 0.0, envelope)[None])
        if (R.dot(np.where(keep, basis.frame[:, 0], 0.0)) < rest.value[0] - touch()).any():
            return None
        # Functions that grow beyond the range of doubles count as such in the rest, and nowhere else.
        with np.errstate(over="ignore", invalid="ignore"):
            cubics = R.dot(np.where(keep[:, None], basis.cubics(length), 0.0))
            fourth = (length**4 * self.size4).dot(np.where(keep, envelope, 0.0))
            return Bounds(cubics.T[:, None], R.dot(basis.at(length))[None], length, fourth[None], rest)

    def bounds(self, nodes: np.ndarray) -> Bounds:
        """Bounds on the intervals between equally spaced `nodes`."""
        basis, R, size4 = self.basis, self.R, self.size4
        length = float(nodes[1] - nodes[0])
        phi = basis.sample(nodes)
        ends = left = phi.dot(R.T)
        envelope = basis.envelope(nodes[:-1, None], nodes[1:, None])
        rest = None
        if basis.fastest * length > RESOLVED:
            keep = basis.speed * length <= RESOLVED
            rest = Rest(basis, R * ~keep, envelope)
            R, size4 = R * keep, size4 * keep
            left = phi.dot(R.T)
        slope = phi.dot((0.25 * length) * R.dot(basis.derivative).T)
        # Coefficients first: products and minima of long rows are fast.
        values = np.concatenate([left[:-1], slope[:-1], left[1:], slope[1:]])
        cubics = BERNSTEIN.T.dot(values.reshape(4, -1)).reshape(5, *ends[1:].shape)
        noise = SUMMED * envelope.dot(np.abs(self.R).T)
        return Bounds(cubics, ends[1:], length, envelope.dot(length**4 * size4.T), rest, noise)


# -- one guard ------------------------------------------------------------------------------------------------------------


class Closed:
    """The scalar function ``row phi(h) + offset`` with its derivative."""

    __slots__ = ("basis", "offset", "rows")

    def __init__(self, basis: Basis, row: np.ndarray, offset: float) -> None:
        self.basis, self.offset = basis, offset
        self.rows = np.array([row, row.dot(basis.derivative)])
        """Of the value and of the slope."""

    def at(self, h: float) -> tuple[float, float]:
        """Value and slope at `h`."""
        value, slope = self.rows.dot(self.basis.at(h)).tolist()
        return value + self.offset, slope

    def value(self, h: float) -> float:
        """Value at `h`."""
        return self.at(h)[0]
