"""Smooth pieces of a function of time that is known by its values: Chebyshev fits between jumps and kinks."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...dynamics.location import begin_of
from ...errors import NonFiniteError, ParameterError
from ...reduction.exosystem import PIECE_DEGREE
from ...reduction.rounding import TINY
from .piece import DEPARTURE, GROWTH, TRIM, Piece, fit

FIT_ERROR = 1e-13
"""Error of a piece, relative to its largest value, for functions without noise."""
LARGEST_ERROR = 1e-8
"""From this error on noise is no rounding."""
NOTHING = 1e-30
"""Part of a typical value that counts as nothing."""
SIZES = 16
"""Values that tell the size of a function."""
FIRST = 1.0 / 64.0
"""First length that is tried, in spans."""
SAMPLES = 800
"""Probes per span at least."""
EDGE = 1.0 / 64.0
"""Part of a piece by which its end is uncertain before the place of a jump is sought."""
SHORT = 1e-9
"""Length, in spans, below which what does not fit counts as a jump."""
SHORTEST = 1e-12
"""Length, in spans, that a singular point may spoil; shorter pieces are constant."""
AT_ONCE = 1e-15
"""Distance, in spans, at which a jump belongs to the start of the piece."""
CROWD, CROWDED = 10, 1e-6
"""So many rough places within this part of the span are no function of pieces."""
MOST_SHORT = 100_000
"""Largest number of pieces that are shorter than what the probes resolve."""
POLE = 1e5
"""Size at a singular point, relative to values elsewhere, that tells a pole."""

Bounded = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]
"""Centres and radii (k, 2 m) of coefficients about the middles (m,) of intervals, by their half lengths (m,)."""


@dataclass(slots=True)
class Stretch:
    """The part of time that functions are followed through; all sources of a run share one."""

    span: float
    """Length of the run, by which lengths are measured."""
    stop: float
    """Its end, beyond which nothing is evaluated; may be moved."""
    longest: float
    """Longest piece."""

    def end_at(self, stop: float) -> None:
        """Evaluate nothing beyond ``stop``."""
        self.stop = stop


class Pieces:
    """The pieces of one function of time, one after the other.

    Parameters
    ----------
    function : callable
    name : str
        What error messages call it.
    stretch : Stretch
    expansion : callable, optional
        Taylor series about the middles of intervals, of given half lengths, and what they leave out: see `Expansion`.

    Notes
    -----
    The polynomial of degree 12 through the Chebyshev points is compared with the function
    between them. A piece that does not fit is bisected until its end is known to a 64th of
    its length; where the function leaves the continued polynomial within that part, the
    point at which it does so, a jump or a kink, is found by bisection to adjacent numbers.

    With an ``expansion`` no piece is taken that misses what the function does between the points it was looked at, and what
    has a series there counts as neither jump nor kink, however steep it is.

    References
    ----------
    Pachon, Platte, Trefethen, "Piecewise-smooth chebfuns", IMA J. Numer. Anal. 30 (2010).
    """

    def __init__(
        self,
        function: Callable[[float], float],
        name: str,
        stretch: Stretch,
        expansion: Bounded | None = None,
    ) -> None:
        self.function, self.name, self.stretch, self.expansion = function, name, stretch, expansion
        self._guess = FIRST * stretch.span
        self._short = 0
        self._parts = 1
        self._error = FIT_ERROR
        self._nothing: float | None = None
        self._rough: deque[float] = deque(maxlen=CROWD)

    def next(self, t: float) -> Piece:
        """Return the piece that begins at ``t``.

        Raises
        ------
        NonFiniteError
            Where the function is not finite.
        ParameterError
            Where it is not smooth anywhere, or has too many pieces.
        """
        if self._nothing is None:
            # Numbers below the normal ones have digits of their own, which are no function of time.
            self._nothing = max(NOTHING * self._typical(), TINY)
        if t >= self.stretch.stop:
            return self._line(t, self._value(t), t, 0.0, t)
        first = min(t + min(self._guess, self.stretch.longest), self.stretch.stop)
        end, bad = first, math.inf
        # After a singular point pieces grow from the shortest ones again.
        shortest = max(self._part(SHORTEST, t) / 8.0, min(self._part(SHORT, t), (end - t) / 8.0))
        found = self._fit(t, end)
        while found is None:
            bad, end = end, 0.5 * (t + end)
            if end - t < shortest and (end - t < self._part(SHORTEST, t) / 8.0 or not self._smooth(t, bad)):
                return self._rough_piece(t, bad)
            found = self._fit(t, end)
        ended = False
        if bad < math.inf:
            found, ended = self._extend(found, bad)
            if ended:
                self._crowd(found.end)
        self._guess = first - t if ended else found.growth * found.length
        self._count(found.length)
        return found

    def holds(self, piece: Piece, t: float) -> bool:
        """Whether a piece holds after ``t``; at the end of the run, also the piece that leads to it."""
        return piece.start <= t < piece.end or (t == piece.end == piece.last and t >= self.stretch.stop)

    def _part(self, part: float, t: float) -> float:
        """A small part of the span, as far as times near ``t`` resolve it."""
        return max(part * self.stretch.span, 2.0 * math.ulp(t))

    # -- smooth pieces -------------------------------------------------------------------------------------------

    def _fit(self, start: float, end: float) -> Piece | None:
        probes = math.ceil(SAMPLES * (end - start) / self.stretch.span)
        found = fit(self.function, start, end, self._error, self._nothing or 0.0, probes)
        return None if found is not None and self._misses(found) else found

    def _misses(self, piece: Piece) -> bool:
        """Whether the function departs from a piece somewhere, as far as its series tell."""
        if self.expansion is None:
            return False
        allowed, taken = _departure(piece), self._parts
        edges = np.linspace(piece.start, piece.last, taken + 1)
        low, high = edges[:-1], edges[1:]
        while 0 < len(low) <= SAMPLES:
            middle, half = 0.5 * (low + high), 0.5 * (high - low)
            centres, radii = self.expansion(middle, half)
            count = len(middle)
            off = np.abs(centres[:-1, :count] - piece.expansion(middle, half))
            if (off[0] > allowed).any():
                return True
            beyond = np.abs(centres[-1, count:]) + radii[-1, count:]
            bounds = (off + radii[:-1, :count]).sum(axis=0) + beyond
            known = (bounds <= allowed) & _finite(centres, radii)
            left = ~known & (high - low > 4.0 * np.spacing(np.abs(middle)))
            low, high = np.append(low[left], middle[left]), np.append(middle[left], high[left])
            taken += len(low) // 2
        # The next piece will take about as many.
        self._parts = min(taken, SAMPLES) if taken > self._parts else max(1, taken - 1)
        return False

    def _smooth(self, start: float, end: float) -> bool:
        """Whether the function has neither jump nor kink on ``[start, end]``; False where nothing tells."""
        if self.expansion is None:
            return False
        middle, half = np.array([0.5 * (start + end)]), np.array([0.5 * (end - start)])
        return bool(_finite(*self.expansion(middle, half)).all())

    def _value(self, t: float) -> float:
        return float(self.function(t))

    def _extend(self, found: Piece, bad: float) -> tuple[Piece, bool]:
        """Move the end of a piece as far as it fits, or to the jump or kink before ``bad`` (then True)."""
        while bad - found.end > EDGE * found.length:
            middle = 0.5 * (found.end + bad)
            longer = self._fit(found.start, middle)
            if longer is None:
                bad = middle
            else:
                found = longer
        if self._smooth(found.end, bad):
            return found, False
        allowed = _departure(found)

        def departs(t: float) -> bool:
            return not abs(self._value(t) - found.value(t)) <= allowed

        if not departs(bad):
            return found, False
        last, end = _edge(departs, found.end, bad)
        return replace(self._fit(found.start, last) or found, end=end), True

    # -- jumps and singular points -------------------------------------------------------------------------------

    def _rough_piece(self, t: float, bad: float) -> Piece:
        """The piece from ``t`` where nothing longer than `SHORT` fits: to a jump, or past a singular point."""
        value = self._value(t)
        if not math.isfinite(value) or abs(value) > POLE * (self._typical() or math.inf):
            raise self._not_finite(t)
        self._crowd(t)
        times = np.linspace(t, bad, 2 * PIECE_DEGREE)
        values = np.array([self._value(s) for s in times.tolist()])
        distance = np.abs(values - value)
        distance[~np.isfinite(distance)] = np.finfo(float).max
        half = 0.5 * float(distance.max())
        first = int(np.argmax(distance > half))
        if first == 0:
            return self._past(t, value)

        def beyond(s: float) -> bool:
            return not abs(self._value(s) - value) <= half

        last, end = _edge(beyond, float(times[first - 1]), float(times[first]))
        left, right = self._value(last), self._value(end)
        if not math.isfinite(right):
            raise self._not_finite(end)
        if abs(right - left) <= 0.5 * half:
            return self._past(t, value)
        if end - t <= self._part(AT_ONCE, t):
            return replace(self.next(end), start=t)
        return self._line(t, value, last, left, end)

    def _typical(self) -> float:
        return typical_size(self.function, self.stretch.stop - self.stretch.span, self.stretch.span)

    def _past(self, t: float, value: float) -> Piece:
        """Past a point where the function is continuous, but has no derivatives."""
        length, shortest = 0.5 * self._part(SHORT, t), self._part(SHORTEST, t)
        while length > shortest:
            found = self._fit(t, t + length)
            if found is not None:
                break
            length *= 0.5
        else:
            length = shortest
            found = self._line(t, value, t + length, self._value(t + length), t + length)
        self._guess = GROWTH * length
        return found

    def _line(self, t: float, value: float, last: float, at_last: float, end: float) -> Piece:
        """Linear from ``t`` to ``last``, in force until ``end``; constant if that is short."""
        c = np.zeros(PIECE_DEGREE + 1)
        c[0] = value
        length = last - t
        if length >= self._part(SHORTEST, t):
            c[1] = at_last - value
        else:
            length = self.stretch.span
        return Piece(t, end, last, t, length, c, max(abs(value), abs(at_last)))

    # -- failures ------------------------------------------------------------------------------------------------

    def _crowd(self, t: float) -> None:
        """Count a jump, kink or singular point; where they crowd, the function is noise as far as its values tell."""
        self._rough.append(t)
        if len(self._rough) == CROWD and 0.0 <= t - self._rough[0] <= CROWDED * self.stretch.span:
            if self._error < LARGEST_ERROR:
                self._error *= 100.0
                self._rough.clear()
                return
            raise ParameterError(
                f"{self.name} has no smooth piece after t = {self._rough[0]:.9g}",
                why=f"{CROWD} jumps or kinks lie within {t - self._rough[0]:.3g} s",
                hint="noise and other rough signals are given as (times, values)",
            )

    def _count(self, length: float) -> None:
        self._short += length < 0.25 * min(self.stretch.longest, self.stretch.span / SAMPLES)
        if self._short > MOST_SHORT:
            raise ParameterError(
                f"{self.name} varies too quickly: {MOST_SHORT} pieces are not enough",
                hint="state fast periodic signals inside of a component, as sin(...) of time, or give (times, values)",
            )

    def _not_finite(self, t: float) -> NonFiniteError:
        return NonFiniteError(
            f"{self.name} is not finite at t = {t:.9g}",
            hint="give a function that is finite during the whole run",
        )


def _departure(piece: Piece) -> float:
    """Distance from a piece at which a function leaves it."""
    return DEPARTURE * max(piece.error, TRIM * piece.size)


def _finite(centres: np.ndarray, radii: np.ndarray) -> np.ndarray:
    """Mask (m,) of intervals in which all coefficients (k, 2 m) are bounded."""
    count = centres.shape[1] // 2
    return np.logical_and.reduce(np.isfinite(centres[:, count:] + radii[:, count:]), axis=0)


def typical_size(function: Callable[[float], float], begin: float, span: float) -> float:
    """Largest of some values of a function, which is a typical one away from singular points."""
    found = 0.0
    for k in range(SIZES):
        try:
            value = abs(float(function(begin + span * (k + 0.5) / SIZES)))
        except Exception:  # The run will meet it, and keep what it has computed until then.
            continue
        found = max(found, value if math.isfinite(value) else 0.0)
    return found


def _edge(beyond: Callable[[float], bool], low: float, high: float) -> tuple[float, float]:
    """Adjacent numbers between which ``beyond`` becomes true."""
    end = begin_of(beyond, low, high)
    while (last := math.nextafter(end, low)) > low and beyond(last):
        end = last
    return last, end
