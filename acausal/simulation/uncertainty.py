"""How exactly the point is known from which an instant begins."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

LOCATED = 4.0
"""Units in the last place of time by which the location of an instant may be off."""


class Uncertainty(NamedTuple):
    """How exactly left limits are known."""

    late: float
    """Seconds by which the instant may be early or late."""
    error: np.ndarray | None = None
    """Rounding (n,) of the core unknowns, None where nothing has moved yet."""
    rate: np.ndarray | None = None
    """Time derivatives (n,) of the core unknowns before the instant; None where what moves in ``late`` does not count."""
    sources: np.ndarray | None = None
    """How far sources (q,) may have moved because they are fitted anew; None where they go on."""
    shift: np.ndarray | None = None
    """How far (n + q,) core unknowns and sources move while rounding leaves the time of a crossing open; None if it does not."""

    @classmethod
    def at(
        cls, t: float, error: np.ndarray | None = None, late: float = 0.0, shift: np.ndarray | None = None
    ) -> Uncertainty:
        """At a time, where an instant is located to its last places, or less exactly to ``late`` seconds."""
        return cls(max(LOCATED * math.ulp(t), late), error, shift=shift)

    def of(self, which: np.ndarray) -> np.ndarray | None:
        """Rounding of some of the unknowns."""
        return None if self.error is None else self.error[which]

    def part(self, which: np.ndarray, sources: np.ndarray, n: int) -> Uncertainty:
        """The same for some of ``n`` unknowns and of the sources."""
        rate = None if self.rate is None else self.rate[which]
        moved = None if self.sources is None else self.sources[sources]
        shift = None if self.shift is None else self.shift[np.concatenate([which, n + sources])]
        return Uncertainty(self.late, self.of(which), rate, moved, shift)

    def doubt(self, rows: np.ndarray, driven: np.ndarray) -> np.ndarray:
        """How uncertain rows (k, n) over the core unknowns and (k, q) over the sources are.

        What moves the unknowns together may move a row not at all.
        """
        found = np.zeros(len(rows))
        if self.sources is not None:
            found += np.abs(driven) @ self.sources
        if self.error is not None:
            found += np.abs(rows) @ self.error
        if self.rate is not None:
            found += self.late * np.abs(rows @ self.rate)
        return found

    @property
    def each(self) -> np.ndarray | None:
        """Rounding (n,) of the core unknowns, each with what moves it by itself."""
        if self.rate is None:
            return self.error
        return (0.0 if self.error is None else self.error) + self.late * np.abs(self.rate)


CERTAIN = Uncertainty(0.0)
