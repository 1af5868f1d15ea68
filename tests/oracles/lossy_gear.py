"""A gear with mesh and bearing losses between two inertias: one degree of freedom, integrated from one standstill to the next."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp

Losses = tuple[float, float, float, float]
"""Efficiency driving and driven, bearing friction driving and driven."""


@dataclass(frozen=True)
class GearTrain:
    """``J1 w' = drive(t) - tau``, ``J2 w' / ratio = load + ratio * (tau - loss)``; speeds are ``w`` and ``w / ratio``.

    Turning forwards the loss is ``max((1 - e1) tau + t1, (1 - 1/e2) tau + t2)``, backwards
    ``min((1 - e1) tau - t1, (1 - 1/e2) tau - t2)``; `losses` gives (e1, e2, t1, t2) at a speed.
    """

    J1: float
    J2: float
    ratio: float
    load: float
    drive: Callable[[float], float]
    losses: Callable[[float], Losses]

    def acceleration(self, t: float, w: float, direction: int) -> float:
        """Acceleration of the first inertia when it turns forwards (1) or backwards (-1)."""
        e1, e2, t1, t2 = self.losses(abs(w))
        lines = ((1 - e1, direction * t1), (1 - 1 / e2, direction * t2))
        share = self.J2 / (self.ratio * self.J1)
        for slope, offset in lines:
            tau = (share * self.drive(t) - self.load + self.ratio * offset) / (
                share + self.ratio * (1 - slope)
            )
            both = [k * tau + c for k, c in lines]
            chosen = max(both) if direction > 0 else min(both)
            if abs(chosen - (slope * tau + offset)) <= 1e-12 * (1 + abs(chosen)):
                return (self.drive(t) - tau) / self.J1
        raise ArithmeticError("no line of losses is consistent")

    def speeds(self, w: float, t_end: float) -> tuple[np.ndarray, np.ndarray]:
        """Times and speeds of the first inertia."""
        t, times, found = 0.0, [], []
        while t < t_end:
            direction = int(np.sign(w)) or self._begins(t)
            if direction == 0:
                grid = np.linspace(t, t_end, 20001)
                moving = [s for s in grid[1:] if self._begins(s)]
                end = self._start_of_motion(t, moving[0]) if moving else t_end
                times.append(np.linspace(t, end, 5))
                found.append(np.zeros(5))
                t = end if end == t_end else end + 1e-12
                continue
            run = self._turn(t, w, direction, t_end)
            inner = np.linspace(t, run.t[-1], 25)
            times.append(inner)
            found.append(run.sol(inner)[0])
            t, w = float(run.t[-1]), 0.0
        return np.concatenate(times), np.concatenate(found)

    def _begins(self, t: float) -> int:
        if self.acceleration(t, 0.0, 1) > 0:
            return 1
        return -1 if self.acceleration(t, 0.0, -1) < 0 else 0

    def _start_of_motion(self, rest: float, moving: float) -> float:
        while moving - rest > 1e-13 * (1 + moving):
            middle = (rest + moving) / 2
            rest, moving = (rest, middle) if self._begins(middle) else (middle, moving)
        return moving

    def _turn(self, t: float, w: float, direction: int, t_end: float):
        def stops(s: float, y: np.ndarray) -> float:
            # Begins at zero, which is no crossing.
            return direction * y[0] if s > t + 1e-9 else 1.0

        stops.terminal, stops.direction = True, -1  # type: ignore[attr-defined]

        def slope(s: float, y: np.ndarray) -> list[float]:
            return [self.acceleration(s, y[0], direction)]

        return solve_ivp(
            slope,
            (t, t_end),
            [w],
            "DOP853",
            events=[stops],
            rtol=1e-11,
            atol=1e-12,
            dense_output=True,
            max_step=0.01,
        )
