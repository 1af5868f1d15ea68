"""Closed forms for line-commutated converters with ideal diodes and thyristors.

Conventions: phase amplitude `V`, ``w = 2 pi f``, angles in rad. Line commutation from a three-phase source uses the
line-to-line amplitude ``sqrt(3) V``; three-phase bridges have six pulses per period.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq


class HalfWaveRL(NamedTuple):
    """Half-wave rectifier with R-L load started at a zero crossing with no current.

    `beta` is the extinction angle in rad, `extinction_time` in s, `average_current` per period and `peak_current` in A.
    """

    beta: float
    extinction_time: float
    average_current: float
    peak_current: float


def extinction_angle(phi: float) -> float:
    """Root in (pi, 2 pi) of ``sin(beta - phi) + sin(phi) exp(-beta / tan(phi)) = 0``, ``phi = atan(w L / R)``."""

    def residual(beta: float) -> float:
        return np.sin(beta - phi) + np.sin(phi) * np.exp(-beta / np.tan(phi))

    return float(brentq(residual, np.pi, 2 * np.pi, xtol=1e-300, rtol=9e-16))


def half_wave_rl(V: float, f: float, R: float, L: float) -> HalfWaveRL:
    """Half-wave rectifier fed by ``V sin(w t)``.

    The current is ``V/Z [sin(a - phi) + sin(phi) exp(-a / tan(phi))]`` at the angle ``a = w t`` up to `beta`; its mean
    over a period is ``V (1 - cos(beta)) / (2 pi R)``.
    """
    w = 2 * np.pi * f
    phi = np.arctan2(w * L, R)
    beta = extinction_angle(phi)

    def slope(a: float) -> float:
        return np.cos(a - phi) - np.cos(phi) * np.exp(-a / np.tan(phi))

    crest = brentq(slope, 1e-3 * np.pi, np.pi, xtol=1e-300, rtol=9e-16)
    peak = half_wave_rl_current(V, f, R, L, crest / w)
    return HalfWaveRL(beta, beta / w, float(V * (1 - np.cos(beta)) / (2 * np.pi * R)), float(peak))


def half_wave_rl_current(V: float, f: float, R: float, L: float, t: np.ndarray | float) -> np.ndarray:
    """Current of `half_wave_rl` at the times `t`; every period starts afresh from zero."""
    w = 2 * np.pi * f
    Z, phi = np.hypot(R, w * L), np.arctan2(w * L, R)
    a = np.mod(w * np.asarray(t, float), 2 * np.pi)
    current = V / Z * (np.sin(a - phi) + np.sin(phi) * np.exp(-a / np.tan(phi)))
    return np.where(a < extinction_angle(phi), current, 0.0)


def full_wave_resistive(V: float, R: float) -> tuple[float, float, float]:
    """Mean ``2 V/pi``, RMS ``V/sqrt(2)`` and power ``V^2/(2 R)`` of an ideal full-wave rectifier with load `R`."""
    return 2 * V / np.pi, V / np.sqrt(2), V * V / (2 * R)


def phase_voltages(V: float, f: float, t: np.ndarray | float) -> np.ndarray:
    """``V sin(w t - 2 pi k/3)``, ``k = 0, 1, 2``; shape ``(..., 3)``."""
    angle = np.multiply.outer(2 * np.pi * f * np.asarray(t, float), np.ones(3))
    return V * np.sin(angle - 2 * np.pi / 3 * np.arange(3))


def six_pulse_voltage(V: float, f: float, t: np.ndarray | float) -> np.ndarray:
    """Output of a diode bridge without source inductance: largest minus smallest phase voltage."""
    u = phase_voltages(V, f, t)
    return u.max(axis=-1) - u.min(axis=-1)


def six_pulse_mean(V: float, alpha: float = 0.0, w_Ls: float = 0.0, Id: float = 0.0) -> float:
    """``3 sqrt(3) V cos(alpha)/pi - 3 w Ls Id/pi``: three-phase bridge, constant load current `Id`, firing `alpha`."""
    return float(3 * np.sqrt(3) * V * np.cos(alpha) / np.pi - 3 * w_Ls * Id / np.pi)


def overlap_angle(V: float, w_Ls: float, Id: float, alpha: float = 0.0) -> float:
    """Commutation angle ``u`` from ``cos(alpha) - cos(alpha + u) = 2 w Ls Id / (sqrt(3) V)``."""
    return float(np.arccos(np.cos(alpha) - 2 * w_Ls * Id / (np.sqrt(3) * V)) - alpha)


def two_pulse_mean(V: float, alpha: float = 0.0, continuous: bool = False) -> float:
    """Mean output of a single-phase thyristor bridge fired at `alpha`.

    ``V (1 + cos(alpha))/pi`` with a resistive load, ``2 V cos(alpha)/pi`` when the load current never ceases.
    """
    return float(2 * V * np.cos(alpha) / np.pi if continuous else V * (1 + np.cos(alpha)) / np.pi)
