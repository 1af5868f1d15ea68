"""A DC motor behind plus or minus a source, changed over by pulse width modulation, from rest.

``L i' = u - R i - K w``, ``J w' = K i - b w``, ``u = V`` in the first ``duty`` of each period and ``-V`` in the rest: what
a bridge of ideal switches and diodes without dead time does, whatever the direction of the current.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.oracles.piecewise import AffineFlow

Flow = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class MotorDrive:
    """Parameters in SI units; the defaults are the common benchmark case B8 with two switches of 1 mOhm in ``R``."""

    V: float = 24.0
    f: float = 20e3
    duty: float = 0.75
    R: float = 0.502
    L: float = 1e-3
    K: float = 0.05
    J: float = 1e-4
    b: float = 1e-5

    def flows(self, kind: Any = AffineFlow) -> tuple[Any, Any]:
        """Flow of ``(i, w)`` during the pulse and after it."""
        A = [[-self.R / self.L, -self.K / self.L], [self.K / self.J, -self.b / self.J]]
        return kind(A, [self.V / self.L, 0.0]), kind(A, [-self.V / self.L, 0.0])

    def starts(self, periods: int, kind: Any = AffineFlow) -> np.ndarray:
        """States at the begin of each period and, last, at the end of the run, shape ``(periods + 1, 2)``."""
        pulse, rest = self.flows(kind)
        x, found = np.zeros(2), [np.zeros(2)]
        for _ in range(periods):
            x = rest.at(pulse.at(x, self.duty / self.f), (1 - self.duty) / self.f)
            found.append(x)
        return np.array(found)

    def states(self, t: np.ndarray) -> np.ndarray:
        """``(i, w)`` at the times `t`, shape ``(len(t), 2)``."""
        pulse, rest = self.flows()
        found = self.starts(int(np.floor(t.max() * self.f + 0.5)) + 1)
        rows = []
        for time in t:
            n = int(np.floor(time * self.f + 1e-9))
            since, edge = max(time - n / self.f, 0.0), self.duty / self.f
            x = pulse.at(found[n], min(since, edge))
            rows.append(rest.at(x, since - edge) if since > edge else x)
        return np.array(rows)
