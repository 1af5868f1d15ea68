"""First crossing of the guards of a mode along a closed-form trajectory; nothing is sampled away.

Guards are bounded on whole intervals, from values and slopes at their ends; intervals that bounds do not settle are split, and
an isolated root is located to adjacent doubles of absolute time. What counts as zero is known along the way (`noise`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..kernels import crossing
from ..kernels.crossing import HIT, NOISE, Guards, Noise, SearchRoom
from ..kernels.functions import Functions, values
from ..kernels.loading import Bound, Packed
from ..kernels.location import RECORD
from ..kernels.motion import WatchedForms
from ..kernels.rounding import RISE
from ..reduction.affine import ModeData
from ..reduction.rounding import ROUNDING, SUMMED, UNIT
from .closed_form import AffineFlow, Basis, Trajectory
from .location import locate
from .noise import LOCATED, TWICE, FlowNoise, Sizes, shifted

Hit = tuple[float, int]
MOST_SIZES = 64
"""Sizes of searches of which room is kept."""


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
        self._known = TWICE * np.abs(self.forms[:, : len(data.states)])

    def late(self, y: np.ndarray, t: float) -> np.ndarray:
        """How far forms move while the begin of a segment at ``y`` (ny,) may be late."""
        return math.ulp(t) * np.abs(self._slope.dot(y))

    def known(
        self, y: np.ndarray, error: np.ndarray | None, moved: np.ndarray | None = None
    ) -> np.ndarray | float:
        """What the ``error`` of the states at the begin ``y`` (ny,) leaves of the forms for all of the segment; None for none.

        What leaves zero has been seen to do so. Other forms are zero there, so that errors count up to what lies below: what the
        sign test has taken for zero does not cross at once. With what is ``moved`` (ny, ...) the state vector is off as a whole.
        """
        found = 0.0
        if error is not None:
            found = self._known.dot(error)
            if not self.armed.all():
                found = np.where(
                    self.armed, found, np.minimum(found, TWICE * np.maximum(-self.forms.dot(y), 0.0))
                )
        return found if moved is None else found + TWICE * self.armed * shifted(self.forms, moved)

    def rates(self, y: np.ndarray, error: np.ndarray | None) -> np.ndarray:
        """By how much rates of forms at ``y`` (ny,) are off: rounding of their terms, and an ``error`` of the states."""
        rates = np.abs(self._rates)
        found = ROUNDING * rates.dot(np.abs(y))
        return found if error is None else found + rates[:, : len(error)].dot(error)


class FlowWatch(Watch):
    """The same along a closed form, with the noise that moves and rounding of ``coefficients`` (forms, ny) all along."""

    def __init__(self, flow: AffineFlow, coefficients: np.ndarray, *given: Any) -> None:
        super().__init__(*given)
        self.noise = FlowNoise(flow, self.forms, self._rates, TWICE * ROUNDING)
        self._coefficients = TWICE * coefficients[self.which]
        self._starts = self.armed.astype(int), np.where(self.armed, RISE, 1.0)

    def for_kernels(self, orientation: np.ndarray) -> WatchedForms:
        """What kernels read of it, where all forms have this orientation."""
        return WatchedForms(
            np.ascontiguousarray(self.forms), self._slope, self._known, np.ascontiguousarray(self._coefficients),
            orientation[self.which], np.array(self.which, np.int64),
        )  # fmt: skip

    def first(
        self, trajectory: Trajectory, length: float, t0: float, known: Callable[[], np.ndarray | float]
    ) -> Hit | None:
        """The first crossing within some seconds from ``t0`` on, from where forms are off by what is `known`."""

        def floor() -> Floor:
            rounding = self._coefficients.dot(np.abs(trajectory.y0)) + known()
            return Floor(rounding, self.late(trajectory.y0, t0), moving=self.noise)

        search = room(self.forms.shape, trajectory.flow.basis.size, self.noise)
        return _searched(search, trajectory, self.forms, self._starts, floor, length, t0)

    def since(self, trajectory: Trajectory, h: float, k: int, t0: float) -> float:
        """Last time up to ``h`` at which form ``k``, which reacts there, was above zero or rose.

        What began at zero without a sign, or has not left its noise, reacts at a depth and has crossed before: no sign consults a
        third derivative. At that time it is zero, and a restart has no depth to take back, from which all would fall
        higher than before. In the piece of the trajectory that ends there. What was positive at the start by less than functions
        round there crosses when its values and rates at the start say.
        """
        begin, piece = trajectory.piece(h)
        row = self.forms[k] @ piece.C
        form, bounds = Closed(piece.flow.basis, row, 0.0), IntervalBounds(piece.flow.basis.functions, row)
        if h == begin or form.value(h - begin) >= -self.noise.rounding(trajectory, h)[k]:
            return h
        open_ = [(0.0, h - begin)]
        while open_:
            a, b = open_.pop()
            if not bounds.steepest(a, b) <= 0.0:
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
        highest = IntervalBounds(piece.flow.basis.functions, self.forms[k] @ piece.C).highest(0.0, h)
        return h if TWICE * SUMMED * highest <= UNIT * rounding else 0.0


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
    Guards are bounded on whole intervals (`kernels.crossing`), undecided intervals are split, so two crossings between
    two points of evaluation are not missed. Functions too fast for an interval enter with their magnitude, so nothing fast
    is resolved that cannot matter.
    """
    leaves = np.where(armed, RISE, 1.0)
    search = room(G.shape, trajectory.flow.basis.size)
    return _searched(search, trajectory, G, (armed, leaves), floor, h_end, t0)


def _searched(
    search: CrossingSearch, trajectory: Trajectory, G: np.ndarray, starts: tuple[np.ndarray, np.ndarray],
    floor: Callable[[], Floor], h_end: float, t0: float,
) -> Hit | None:  # fmt: skip
    """The same in the room of a search; guards that are armed, and where they all have left zero."""
    search.begin(trajectory.flow.basis.packed, *starts)
    zero: Floor | None = None

    def hear(piece: Trajectory, zero: Floor) -> None:
        search.hear(zero.rounding, zero.late, zero.missed)
        if zero.moving is not None:
            search.hear_moving(zero.moving, zero.moving.sizes(piece))

    for start, piece in trajectory.pieces(h_end):
        if piece.reach == 0.0:
            continue  # a step shorter than any number
        search.combine(G, piece.C)
        length, goes_on = min(piece.reach, h_end - start), start + piece.reach < h_end
        if zero is not None:
            hear(piece, zero)
        status = search.run(length, t0 + start, goes_on)
        if status == NOISE:
            zero = floor()
            hear(piece, zero)
            status = search.run(length, t0 + start, goes_on)
        if status == HIT:
            h, k = search.hit
            found = start + h, k
            break
    else:
        found = None
    _idle.setdefault(search.key, []).append(search)
    return found


# -- the arrays of a search ---------------------------------------------------------------------------------------------


UNKNOWN = Packed(
    Functions(
        np.zeros(2, np.int64),
        np.zeros(2),
        np.zeros((5, 0)),
        np.zeros((3, 0)),
        np.zeros(0, np.int64),
        np.zeros(0, np.int64),
    )
)
"""Stands for the functions of a search before it begins."""


class CrossingSearch:
    """Room for searches of ``count`` guards over ``ny`` states, functions and terms of noise; one search at a time uses it."""

    def __init__(self, count: int, ny: int, size: int, moves: int, stays: int) -> None:
        self.key = count, ny, size, moves, stays

        def row() -> np.ndarray:
            return np.zeros(count)

        def over(terms: int) -> np.ndarray:
            return np.zeros((count, terms))

        def numbers(terms: int) -> np.ndarray:
            return np.zeros(terms, np.int64)

        levels, shifts = crossing.LEVELS, size if moves or stays else 0
        self.guards = Guards(
            over(ny),
            np.zeros((ny, size)),
            over(size),
            over(size),
            over(size),
            numbers(count),
            row(),
            numbers(count),
        )
        self.noise = Noise(
            row(), row(), row(), row(), over(moves), numbers(moves), over(stays), numbers(stays), row(),
            over(moves), row(), over(shifts),
        )  # fmt: skip
        self.work = SearchRoom(
            np.zeros(crossing.NUMBERS), numbers(crossing.FLAGS), over(crossing.BOUNDS), numbers(count),
            np.empty((levels, count, crossing.DEPTHS)), np.zeros((levels, crossing.FRAME)), np.empty((levels, size)),
            np.zeros(size), np.zeros(size), np.zeros(size), over(size), np.zeros(RECORD), np.zeros(crossing.HALVINGS),
        )  # fmt: skip
        packed = (Packed(each) for each in (self.guards, self.noise, self.work))
        self._kernel = Bound("first_crossing", UNKNOWN, *packed)

    def begin(self, functions: Packed, armed: np.ndarray, leaves: np.ndarray) -> None:
        """Begin another search; guards that are ``armed`` (count,) have left zero above a part of their floor."""
        g = self.guards
        g.armed[:], g.leaves[:], g.above[:], self.work.flags[:] = armed, leaves, 0, 0
        self._kernel.records[0], self._kernel.table[: len(functions.table)] = (
            functions.record,
            functions.table,
        )

    def combine(self, G: np.ndarray, C: np.ndarray) -> None:
        """The guards ``G y`` (count, ny) on the next piece, where ``y`` is the combination ``C`` (ny, functions)."""
        self.guards.rows[:], self.guards.states[:] = G, C
        self.work.flags[crossing.FRESH] = 1

    def hear(self, rounding: np.ndarray, late: np.ndarray | float, missed: np.ndarray | float) -> None:
        """What counts as zero all along the search."""
        n = self.noise
        n.rounding[:], n.late[:], n.missed[:] = rounding, late, missed
        self.work.flags[crossing.HEARD] = 1

    def hear_moving(self, noise: FlowNoise, sizes: Sizes) -> None:
        """The noise that moves on the present piece."""
        n, flags = self.noise, self.work.flags
        n.moves[:], n.stays[:] = noise.moves, noise.stays
        n.start[:], n.moving[:], n.staying[:], n.rates[:] = (
            sizes.start,
            sizes.moving,
            sizes.staying,
            sizes.missed,
        )
        flags[crossing.MOVES], flags[crossing.SHIFTED] = 1, sizes.shifted is not None
        if sizes.shifted is not None:
            n.shift[:], n.shift_start[:], n.shift_rates[:] = sizes.shifted

    def run(self, length: float, t0: float, goes_on: bool) -> int:
        """Search some seconds from ``t0`` on; the status."""
        w = self.work
        w.numbers[crossing.LENGTH], w.numbers[crossing.START] = length, t0
        w.flags[crossing.GOES_ON] = goes_on
        return self._kernel.run()

    @property
    def hit(self) -> tuple[float, int]:
        """Seconds and guard of the crossing that the last search has found."""
        return float(self.work.numbers[crossing.FOUND]), int(self.work.flags[crossing.GUARD])


_idle: dict[tuple[int, int, int, int, int], list[CrossingSearch]] = {}
"""Room that no search uses, by its size."""


def room(shape: tuple[int, ...], size: int, noise: FlowNoise | None = None) -> CrossingSearch:
    """Room for one search of rows of a shape, to be given back when it ends: runs in several threads have one each."""
    (count, ny) = shape
    key = count, ny, size, len(noise.moves) if noise else 0, len(noise.stays) if noise else 0
    if len(_idle) > MOST_SIZES:
        _idle.clear()
    try:
        return _idle.setdefault(key, []).pop()
    except IndexError:
        return CrossingSearch(*key)


class IntervalBounds:
    """Bounds of one combination of functions on intervals."""

    def __init__(self, functions: Functions, row: np.ndarray) -> None:
        self._functions, self._search = functions, CrossingSearch(1, 0, len(row), 0, 0)
        self._search.guards.values[:] = row
        crossing.derive(functions, self._search.guards, self._search.work)

    def _bound(self, first: float, last: float) -> float:
        """Bound the combination between two times, whose distance is returned."""
        b, w = self._functions, self._search.work
        values(b, first, w.phi[0])
        values(b, last, w.right)
        crossing.bound(b, self._search.guards, w, w.phi[0], first, last - first, True)
        return last - first

    def lowest(self, first: float, last: float) -> float:
        """From below."""
        self._bound(first, last)
        return float(self._search.work.bounds[0, crossing.LOW])

    def highest(self, first: float, last: float) -> float:
        """From above."""
        self._bound(first, last)
        return float(crossing.high(self._search.work.bounds[0]))

    def steepest(self, first: float, last: float) -> float:
        """Of the slope, from above."""
        length = self._bound(first, last)
        return float(crossing.steepest(self._functions, self._search.guards, self._search.work, 0, length))


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
