"""Exact phase currents of a two-level three-phase inverter with dead time and a floating-star R-L load.

Leg k has the upper switch ``2 k`` (to ``Vdc``) and the lower switch ``2 k + 1`` (to 0), each with an antiparallel
diode; all are truly ideal. The current ``i_k`` flows from the leg into the load, ``sum(i) = 0``. With the leg
potentials ``u_k`` and the star point ``u_s = mean(u_k)`` over the legs that are connected::

    L i_k' = u_k - u_s - R i_k,     i_k(t) = q + (i_k(0) - q) exp(-R t / L),   q = (u_k - u_s) / R

A leg with a closed switch is at that rail. During dead time its current chooses the rail: ``i_k > 0`` flows through
the lower diode (``u_k = 0``), ``i_k < 0`` through the upper one (``u_k = Vdc``). Where the current reaches zero the leg
floats at ``u_s``, which lies between the rails, so both diodes block until a switch of the leg closes.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq


class Edge(NamedTuple):
    """Switch `switch` (0..5) closes (`on`) or opens at `t`."""

    t: float
    switch: int
    on: bool


def phase_currents(edges: Sequence[Any], Vdc: float, R: float, L: float, sample_times: Any) -> np.ndarray:
    """Currents at `sample_times` (ascending), shape ``(k, 3)``, all currents zero and all switches open at first.

    Parameters
    ----------
    edges : sequence of (t, switch, on)
        In any order; edges at one instant act together. Both switches of a leg closed raise `ValueError`.
    Vdc, R, L : float
        Direct voltage in V, resistance in ohm (may be 0), inductance in H of each phase.
    sample_times : array_like
        Times in s, not before the first edge that closes a switch.
    """
    inverter = _Inverter(Vdc, R, L)
    pending = sorted(Edge(*edge) for edge in edges)
    rows, k, t = [], 0, min([pending[0].t, *np.atleast_1d(sample_times)[:1]])
    for target in np.atleast_1d(sample_times):
        while k < len(pending) and pending[k].t <= target:
            instant = pending[k].t
            inverter.advance(instant - t)
            t = instant
            while k < len(pending) and pending[k].t == instant:
                inverter.closed[pending[k].switch] = pending[k].on
                k += 1
            inverter.check_legs(t)
        inverter.advance(target - t)
        t = target
        rows.append(inverter.i.copy())
    return np.array(rows)


class _Inverter:
    def __init__(self, Vdc: float, R: float, L: float) -> None:
        self.Vdc, self.R, self.L = Vdc, R, L
        self.i = np.zeros(3)
        self.closed = np.zeros(6, bool)

    def check_legs(self, t: float) -> None:
        if np.any(self.closed[0::2] & self.closed[1::2]):
            msg = f"both switches of a leg are closed at t = {t}"
            raise ValueError(msg)

    def potentials(self) -> np.ndarray:
        """Leg potentials; NaN for a leg that floats."""
        u = np.where(self.i > 0, 0.0, np.where(self.i < 0, self.Vdc, np.nan))
        u = np.where(self.closed[0::2], self.Vdc, u)
        return np.where(self.closed[1::2], 0.0, u)

    def advance(self, duration: float) -> None:
        while duration > 0:
            u = self.potentials()
            connected = ~np.isnan(u)
            drive = np.where(connected, u - np.mean(u[connected]), 0.0) if connected.any() else np.zeros(3)
            free = connected & ~(self.closed[0::2] | self.closed[1::2])
            zeros = [(self._zero(self.i[k], drive[k]), k) for k in np.flatnonzero(free)]
            step, leg = min([*((t, k) for t, k in zeros if t < duration), (duration, -1)])
            self.i = self._flow(self.i, drive, step)
            duration -= step
            if leg >= 0:
                self._clamp(leg)

    def _clamp(self, leg: int) -> None:
        self.i[leg] = 0.0
        if np.count_nonzero(~np.isnan(self.potentials())) == 1 or np.count_nonzero(self.i) == 1:
            self.i[:] = 0.0
        other = np.flatnonzero(self.i)
        if len(other) == 2:  # removes the rounding error of the crossing from the sum of the currents
            self.i[other[1]] = -self.i[other[0]]

    def _flow(self, i: np.ndarray, drive: np.ndarray, t: float) -> np.ndarray:
        if self.R == 0:
            return i + drive / self.L * t
        return i + (drive / self.R - i) * -np.expm1(-self.R / self.L * t)

    def _zero(self, i: float, drive: float) -> float:
        """Time until the current is zero, infinite without a zero."""
        if drive * i >= 0:
            return np.inf
        if self.R == 0:
            return -i * self.L / drive
        return self.L / self.R * np.log1p(-self.R * i / drive)


def sinusoidal_edges(
    depth: float, f: float, f_carrier: float, dead_time: float, t_end: float, phase: float = 0.0
) -> list[Edge]:
    """Naturally sampled sine-triangle edges with dead time.

    Leg k has the reference ``depth sin(2 pi f t + phase - 2 pi k/3)``, ``0 < depth < 1``; the triangle falls from 1 to
    -1 and rises again in every carrier period. The upper switch is commanded while the reference is above the triangle;
    whatever opens does so at the crossing, whatever closes does so `dead_time` later. All lower switches are closed
    from t = 0. `f_carrier` must be high enough for one crossing per flank.
    """
    edges = [Edge(0.0, 2 * k + 1, True) for k in range(3)]
    half = 0.5 / f_carrier
    flanks = int(np.ceil(t_end / half - 1e-9))
    for k in range(3):
        for n in range(flanks):
            falling = n % 2 == 0
            edges += _flank_edges(
                depth, 2 * np.pi * f, phase - 2 * np.pi * k / 3, n, half, falling, dead_time, k
            )
    return sorted(edge for edge in edges if edge.t < t_end)


def _flank_edges(
    depth: float, w: float, angle: float, n: int, half: float, falling: bool, dead_time: float, leg: int
) -> list[Edge]:
    def residual(x: float) -> float:
        carrier = 1 - 2 * x if falling else 2 * x - 1
        return depth * np.sin(w * half * (n + x) + angle) - carrier

    t = half * (n + brentq(residual, 0.0, 1.0, xtol=1e-300, rtol=9e-16))
    upper, lower = 2 * leg, 2 * leg + 1
    opens, closes = (lower, upper) if falling else (upper, lower)
    return [Edge(t, opens, False), Edge(t + dead_time, closes, True)]
