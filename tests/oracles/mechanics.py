"""Closed forms for mechanical systems with impacts and dry friction."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np


@dataclass(frozen=True)
class BouncingBall:
    """Point mass dropped at rest from `height` above the floor, restitution ``0 <= e < 1``, gravity `g`.

    With ``t1 = sqrt(2 height/g)`` and ``v1 = g t1``, impact n (from 1) is at ``t1 + 2 t1 (e + ... + e^(n-1))`` and
    leaves with the speed ``v1 e^n``; impacts accumulate at ``t1 (1 + e)/(1 - e)``, after which the ball rests.
    """

    height: float = 1.0
    e: float = 0.9
    g: float = 9.81

    @property
    def first(self) -> float:
        """Time of the first impact."""
        return float(np.sqrt(2 * self.height / self.g))

    @property
    def accumulation(self) -> float:
        """Time at which infinitely many impacts have taken place."""
        return self.first * (1 + self.e) / (1 - self.e)

    def impacts(self, n: int) -> np.ndarray:
        """Times of the first `n` impacts."""
        powers = self.e ** np.arange(1, n)
        return self.first + 2 * self.first * np.concatenate([[0.0], np.cumsum(powers)])

    def state(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """Height and velocity (right limit) at the times `t`."""
        t = np.atleast_1d(np.asarray(t, float))
        times = self.impacts(self._count_before(float(t.max())) + 2)
        n = np.searchsorted(times, t, side="right")
        begin = np.where(n > 0, times[np.clip(n - 1, 0, None)], 0.0)
        v0 = np.where(n > 0, self.g * self.first * self.e**n, 0.0)
        tau = t - begin
        q = np.where(n > 0, 0.0, self.height) + v0 * tau - 0.5 * self.g * tau**2
        resting = t >= self.accumulation
        return np.where(resting, 0.0, q), np.where(resting, 0.0, v0 - self.g * tau)

    def _count_before(self, t: float) -> int:
        if self.e == 0 or t < self.first:
            return 1
        remaining = max(1 - t / self.accumulation, 1e-15) * (1 + self.e) / 2
        return int(np.ceil(np.log(remaining) / np.log(self.e))) + 2


class StickSlipEvent(NamedTuple):
    """Right limit at `t`: position `x`, and whether the mass sticks to the belt from there on."""

    t: float
    x: float
    sticks: bool


@dataclass(frozen=True)
class StickSlip:
    """Mass `m` on a belt of speed `vb`, held by a spring `k`; sliding friction `Fc`, stiction ``Fs >= Fc > 0``.

    Starts at ``x = v = 0``, slower than the belt. Slipping: ``m x'' = Fc - k x``, i.e. a circle in ``(x, v/w)`` about
    ``xc = Fc/k``, ``w = sqrt(k/m)``, until ``v = vb``. Sticking: ``x' = vb`` until ``k x = Fs``. From breaking away at
    ``a = (Fs - Fc)/k`` beyond the centre, the mass sticks again at ``xc - a`` after ``2 (pi - atan(a w/vb))/w``.
    """

    m: float = 1.0
    k: float = 10.0
    Fc: float = 1.0
    Fs: float = 1.5
    vb: float = 0.2

    def events(self, t_end: float) -> list[StickSlipEvent]:
        """All changes between sticking and slipping up to `t_end`; empty when the belt is too fast for sticking."""
        w, centre, reach = self._circle()
        if self.vb > w * centre:
            return []
        first = np.arcsin(self.vb / (w * centre)) / w
        x_first = centre * (1 - np.cos(w * first))
        slip = 2 * (np.pi - np.arctan2(reach * w, self.vb)) / w
        stick = 2 * reach / self.vb
        t_break = first + (self.Fs / self.k - x_first) / self.vb
        events = [StickSlipEvent(float(first), float(x_first), True)]
        for n in range(int(t_end / (slip + stick)) + 1):
            begin = t_break + n * (slip + stick)
            events.append(StickSlipEvent(float(begin), centre + reach, False))
            events.append(StickSlipEvent(float(begin + slip), centre - reach, True))
        return [event for event in events if event.t <= t_end]

    def position(self, t: Any) -> np.ndarray:
        """Position at the times `t`."""
        t = np.atleast_1d(np.asarray(t, float))
        w, centre, reach = self._circle()
        x = centre * (1 - np.cos(w * t))
        for event in self.events(float(t.max())):
            tau = t - event.t
            slipping = centre + reach * np.cos(w * tau) + self.vb / w * np.sin(w * tau)
            x = np.where(tau >= 0, event.x + self.vb * tau if event.sticks else slipping, x)
        return x

    def _circle(self) -> tuple[float, float, float]:
        return float(np.sqrt(self.k / self.m)), self.Fc / self.k, (self.Fs - self.Fc) / self.k


@dataclass(frozen=True)
class ClutchLocking:
    """Two inertias joined by a clutch of constant sliding torque `capacity`, external torques on both.

    Slipping with ``w1 > w2``: ``J1 w1' = tau1 - capacity``, ``J2 w2' = tau2 + capacity``. The relative speed ends at
    ``t_lock``; locked: ``(J1 + J2) w' = tau1 + tau2``, transmitting ``(J2 tau1 - J1 tau2)/(J1 + J2)``, which must not
    exceed the capacity. Signs are mirrored for ``w1 < w2``.
    """

    J1: float
    J2: float
    w1: float
    w2: float
    capacity: float
    tau1: float = 0.0
    tau2: float = 0.0

    @property
    def transmitted(self) -> float:
        """Torque from the first to the second inertia while locked."""
        return (self.J2 * self.tau1 - self.J1 * self.tau2) / (self.J1 + self.J2)

    @property
    def t_lock(self) -> float:
        """Time of locking, infinite when the clutch never locks."""
        a1, a2 = self._slipping_rates()
        approach = -(a1 - a2) * np.sign(self.w1 - self.w2)
        return float(abs(self.w1 - self.w2) / approach) if approach > 0 else np.inf

    def speeds(self, t: Any) -> np.ndarray:
        """Both speeds at the times `t`, shape ``(len(t), 2)``; raises `ValueError` if the locked clutch slips again."""
        if np.isfinite(self.t_lock) and abs(self.transmitted) > self.capacity:
            msg = "the clutch cannot hold the torque it would transmit when locked"
            raise ValueError(msg)
        t = np.atleast_1d(np.asarray(t, float))
        a1, a2 = self._slipping_rates()
        slipping = np.minimum(t, self.t_lock)
        after = (t - slipping) * (self.tau1 + self.tau2) / (self.J1 + self.J2)
        return np.stack([self.w1 + a1 * slipping + after, self.w2 + a2 * slipping + after], axis=-1)

    def _slipping_rates(self) -> tuple[float, float]:
        friction = self.capacity * np.sign(self.w1 - self.w2)
        return (self.tau1 - friction) / self.J1, (self.tau2 + friction) / self.J2


@dataclass(frozen=True)
class CoulombOscillator:
    """Mass `m` on a spring `k` with dry friction `F` (static = sliding), released at rest from `x0`.

    ``m x'' = -k x - F sign(x')``: every half period ``pi sqrt(m/k)`` is a half cosine about ``+-F/k``; the turning
    points lose ``2 F/k`` in magnitude, and the mass rests at the first one with ``k |x| <= F``.
    """

    m: float = 2.0
    k: float = 50.0
    F: float = 4.0
    x0: float = 1.05

    @property
    def half_period(self) -> float:
        """Time between turning points."""
        return float(np.pi * np.sqrt(self.m / self.k))

    def turning_points(self) -> np.ndarray:
        """Positions at rest, from `x0` to the one at which the mass sticks."""
        points = [self.x0]
        while self.k * abs(points[-1]) > self.F:
            points.append(2 * np.sign(points[-1]) * self.F / self.k - points[-1])
        return np.array(points)

    @property
    def stop_time(self) -> float:
        """Time at which the mass sticks for good."""
        return (len(self.turning_points()) - 1) * self.half_period

    def position(self, t: Any) -> np.ndarray:
        """Position at the times `t`."""
        t = np.atleast_1d(np.asarray(t, float))
        points = self.turning_points()
        n = np.clip((t / self.half_period).astype(int), 0, len(points) - 1)
        a, b = points[n], points[np.clip(n + 1, None, len(points) - 1)]
        phase = np.where(n < len(points) - 1, np.pi * (t / self.half_period - n), 0.0)
        return (a + b) / 2 + (a - b) / 2 * np.cos(phase)
