"""Harmonics and distortion of a signal over whole periods, free of sampling and leakage."""

from __future__ import annotations

from math import inf, isfinite

import numpy as np

from ..errors import ParameterError
from .names import window
from .panels import Panels
from .source import Source

PERIODS = 1e-9
"""Allowed error of a number of periods."""
PER_PERIOD = 8
"""Panels in a period of the fundamental, so that a series of their degree holds its sine."""
NOTHING = 1e-13
"""Amplitude of the fundamental, relative to the rms value, that counts as none."""


def harmonics(source: Source, frequency: float, count: int, t0: float | None, t1: float | None) -> np.ndarray:
    """Complex amplitudes (count + 1,) of the harmonics, the mean first; `Signal.harmonics`."""
    count = _checked(count, 1)
    a, b, periods = whole_periods(frequency, t0, t1, source.t_start, source.t_end)
    found = _amplitudes(source.panels(a, b, inf), a, b, periods, count)
    # From a phase that counts from `a` to one that counts from time zero.
    return found * np.exp(-2j * np.pi * np.arange(count + 1) * (a * frequency % 1.0))


def distortion(
    source: Source, frequency: float, count: int | None, t0: float | None, t1: float | None
) -> float:
    """Total harmonic distortion relative to the fundamental; `Signal.thd`."""
    count = None if count is None else _checked(count, 2)
    a, b, periods = whole_periods(frequency, t0, t1, source.t_start, source.t_end)
    panels = source.panels(a, b, (b - a) / (PER_PERIOD * periods))
    found = _amplitudes(panels, a, b, periods, count or 1)
    fundamental = abs(found[1])
    rms = np.sqrt(panels.integral(panels.values**2) / (b - a))
    if not fundamental > NOTHING * rms:
        raise ParameterError(
            f"the signal has no component of {frequency:g} Hz, to which a distortion could be related",
            why=f"its amplitude is {fundamental:.3g}, the rms value {rms:.3g}",
            hint="give the frequency of the fundamental, and a window in which the signal is periodic",
        )
    if count is not None:
        return float(np.sqrt(np.sum(np.abs(found[2:]) ** 2)) / fundamental)
    # Parseval's theorem, with the difference taken before the squares: a small distortion keeps its digits.
    turns = np.exp(2j * np.pi * periods / (b - a) * (panels.t - a))
    rest = panels.values - found[0].real - (found[1] * turns).real
    return float(np.sqrt(2.0 * panels.integral(rest**2) / (b - a)) / fundamental)


def _amplitudes(panels: Panels, a: float, b: float, periods: int, count: int) -> np.ndarray:
    """Complex amplitudes (count + 1,) with phase zero at ``a``."""
    omega = 2.0 * np.pi * periods / (b - a) * np.arange(count + 1)
    found = panels.fourier(omega, a) * (2.0 / (b - a))
    found[0] *= 0.5
    return found


def _checked(count: int, least: int) -> int:
    if isinstance(count, bool) or not isinstance(count, (int, np.integer)) or count < least:
        raise ParameterError(f"count is the order of the highest harmonic, at least {least}, got {count!r}")
    return int(count)


def whole_periods(
    frequency: float, t0: float | None, t1: float | None, t_start: float, t_end: float
) -> tuple[float, float, int]:
    """Return a window and the number of periods in it.

    By default the last period before ``t1`` or the end; with ``t0`` alone as many periods as fit.

    Raises
    ------
    ParameterError
        If the frequency is not positive, or the window is no whole number of periods or not inside the run.
    """
    try:
        f = float(frequency)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"a frequency is a number in Hz, got {frequency!r}") from error
    if not (isfinite(f) and f > 0.0):
        raise ParameterError(f"a frequency must be positive and finite, got {f:g} Hz")
    a, b = window(t0, t1, t_start, t_end)
    # Times themselves are rounded, which a fast signal late in a run feels.
    slack = PERIODS / f + 4.0 * float(np.spacing(max(abs(t_start), abs(t_end))))
    if t0 is None:
        if (b - t_start) < 1.0 / f - slack:
            raise ParameterError(
                f"a period of {f:g} Hz lasts {1 / f:g} s, but there are only {b - t_start:g} s up to {b:g} s",
                hint="run for at least one period",
            )
        a = max(b - 1.0 / f, t_start)
    elif t1 is None:
        b = min(a + max(1, np.floor((b - a + slack) * f)) / f, b)
    periods = round((b - a) * f)
    if periods < 1 or abs((b - a) - periods / f) > slack * max(1, periods):
        raise ParameterError(
            f"the window {a:.12g} .. {b:.12g} s is {(b - a) * f:.9g} periods of {f:g} Hz, not a whole number",
            hint=f"end it at {a + max(1, periods) / f:.12g} s",
        )
    return a, b, periods
