"""Scheduled times on integer ticks of rational periods; coinciding events share one instant."""

from __future__ import annotations

import math
from fractions import Fraction

from ..dynamics.noise import LOCATED
from ..errors import Location, ParameterError

MAX_DENOMINATOR = 10**9
TOGETHER = 1e-12
"""Part of the shortest period within which ticks and other events share an instant."""

EXACT = 2**53
"""Whole numbers up to here are numbers in double precision."""


def exact(x: float) -> Fraction | None:
    """Return the rational that a float stands for, None if no small one reproduces it to one ulp."""
    candidate = Fraction(x).limit_denominator(MAX_DENOMINATOR)
    return candidate if abs(float(candidate) - x) <= math.ulp(x) else None


class Clock:
    """Ticks at ``start + k * period``; rational where the floats stand for small rationals."""

    def __init__(self, period: Fraction | float, start: Fraction | float) -> None:
        self.period, self.start = period, start
        self.ratio: tuple[int, int, int] | None = None
        """First tick and period as whole numbers of a part of a second, and how many of these that has; None for floats."""
        if isinstance(period, Fraction) and isinstance(start, Fraction):
            d = math.lcm(period.denominator, start.denominator)
            self.ratio = int(start * d), int(period * d), d

    @classmethod
    def make(cls, period: float, start: float, place: Location) -> Clock:
        """Return the clock of a sampled condition; raises ParameterError unless the period is positive."""
        if not (period > 0 and math.isfinite(period) and math.isfinite(start)):
            raise ParameterError(
                f"sample() needs a positive period, got period={period:g}, start={start:g}", where=(place,)
            )
        p, s = exact(period), exact(start)
        return cls(p, s) if p is not None and s is not None else cls(period, start)

    def tick(self, k: int) -> float:
        """Time of tick ``k`` in seconds."""
        if self.ratio is None:
            return float(self.start + k * self.period)
        first, step, d = self.ratio
        return (first + k * step) / d

    def countable(self, t: float) -> bool:
        """Whether all ticks until ``t`` are quotients of numbers that doubles hold."""
        if self.ratio is None:
            return True
        first, step, d = self.ratio
        return max(d, abs(first) + step + t * d) < EXACT

    def first_from(self, t: float, tolerance: float) -> int:
        """Number of the first tick that is not before ``t``."""
        lag = (t - tolerance - float(self.start)) / float(self.period)
        k = math.ceil(lag) - 1 if lag > 0 else 0
        while self.tick(k) < t - tolerance:
            k += 1
        return k

    def same_as(self, other: Clock) -> bool:
        """Whether both tick at the same times."""
        return (self.period, self.start) == (other.period, other.start)


class Schedule:
    """The clocks of a run. Where it stands is the number of the next tick of every clock."""

    def __init__(self, clocks: tuple[Clock, ...]) -> None:
        self.clocks = clocks
        self.shortest = min((float(c.period) for c in clocks), default=math.inf)
        """The shortest period, infinite without clocks."""
        self.together = TOGETHER * self.shortest if self.clocks else 0.0
        """Seconds within which ticks and other events share an instant, beside the last places of time."""
        self._last: tuple[tuple[int, ...], list[float]] = (), []

    def times(self, ticks: tuple[int, ...]) -> list[float]:
        """Times of the next ticks of all clocks; not to be written to."""
        if self._last[0] is not ticks:
            self._last = ticks, [c.tick(k) for c, k in zip(self.clocks, ticks, strict=True)]
        return self._last[1]

    def begin(self, t: float) -> tuple[int, ...]:
        """Where it stands before anything happened."""
        return tuple(c.first_from(t, 4 * math.ulp(t)) for c in self.clocks)

    def after(self, t: float) -> list[int]:
        """Where it stands after the instant at ``t``."""
        after = t + 2.0 * max(LOCATED * math.ulp(t), self.together)
        return [c.first_from(after, 0.0) for c in self.clocks]

    def next(self, ticks: tuple[int, ...]) -> float:
        """Time of the next tick of all clocks."""
        return min(self.times(ticks), default=math.inf)

    def due(self, t: float, ticks: tuple[int, ...]) -> list[bool]:
        """Which clocks tick in the instant at ``t``."""
        end = t + max(LOCATED * math.ulp(t), self.together)
        return [time <= end for time in self.times(ticks)]
