"""Scheduled times on integer ticks of rational periods; coinciding events share one instant."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from ..errors import Location, ParameterError

MAX_DENOMINATOR = 10**9


def exact(x: float) -> Fraction | None:
    """Return the rational that a float stands for, None if no small one reproduces it to one ulp."""
    candidate = Fraction(x).limit_denominator(MAX_DENOMINATOR)
    return candidate if abs(float(candidate) - x) <= math.ulp(x) else None


@dataclass(eq=False)
class Clock:
    """Ticks at ``start + k * period``; rational where the floats stand for small rationals.

    Attributes
    ----------
    next : float
        Time of the next tick in seconds.
    """

    period: Fraction | float
    start: Fraction | float
    k: int = 0

    def __post_init__(self) -> None:
        self._ratio: tuple[int, int, int] | None = None
        if isinstance(self.period, Fraction) and isinstance(self.start, Fraction):
            d = math.lcm(self.period.denominator, self.start.denominator)
            self._ratio = int(self.start * d), int(self.period * d), d
        self.next = self._tick()

    def _tick(self) -> float:
        if self._ratio is None:
            return float(self.start + self.k * self.period)
        first, step, d = self._ratio
        return (first + self.k * step) / d

    @classmethod
    def make(cls, period: float, start: float, place: Location) -> Clock:
        """Return the clock of a sampled condition; raises ParameterError unless the period is positive."""
        if not (period > 0 and math.isfinite(period) and math.isfinite(start)):
            raise ParameterError(
                f"sample() needs a positive period, got period={period:g}, start={start:g}", where=(place,)
            )
        p, s = exact(period), exact(start)
        return cls(p, s) if p is not None and s is not None else cls(period, start)

    def advance_to(self, t: float, tolerance: float) -> None:
        """Skip the ticks before ``t``."""
        lag = (t - tolerance - float(self.start)) / float(self.period)
        self.k = max(self.k, math.ceil(lag - 1e-9)) if lag > 0 else self.k
        while self._tick() < t - tolerance:
            self.k += 1
        self.next = self._tick()

    def due(self, t: float, tolerance: float) -> bool:
        """True when the next tick belongs to the instant ``t``; the clock then moves on."""
        if self.next <= t + tolerance:
            self.k += 1
            self.next = self._tick()
            return True
        return False
