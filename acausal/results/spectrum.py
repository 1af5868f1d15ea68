"""Harmonics and distortion of a signal over whole periods, free of sampling and leakage."""

from __future__ import annotations

from math import inf, isfinite
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from ..errors import ParameterError
from ..modeling.number_checks import is_number, shown
from .panels import RTOL, Panels
from .plotting import plot_lines
from .segments import window

PERIODS = 1e-9
"""Allowed error of a number of periods."""
PER_PERIOD = 8
"""Panels in a period of the fundamental, so that a series of their degree holds its sine."""


QUIET = np.errstate(all="ignore")
"""What leaves the range of doubles is infinite or an error of its own, and no warning of NumPy."""


class Periodic(Protocol):
    """What harmonics are taken from."""

    @property
    def t_start(self) -> float:
        """Begin in seconds."""
        ...

    @property
    def t_end(self) -> float:
        """End in seconds."""
        ...

    def panels(self, a: float, b: float, longest: float) -> Panels:
        """Series that represent the values on [a, b], no panel longer than ``longest``."""
        ...


S = TypeVar("S", bound=Periodic)


class Harmonics(Generic[S]):
    """Harmonics of a signal."""

    path: str
    unit: str
    source: S

    @QUIET
    def harmonics(
        self, frequency: float, count: int = 40, t0: float | None = None, t1: float | None = None
    ) -> np.ndarray:
        """Return the complex amplitudes of the harmonics over whole periods.

        Parameters
        ----------
        frequency : float
            Frequency of the fundamental in Hz.
        count : int
            Order of the highest harmonic.
        t0, t1 : float, optional
            Window in seconds, a whole number of periods. By default the last period before ``t1``, or before the
            end of the run; with ``t0`` alone as many periods as fit.

        Returns
        -------
        c : (count + 1,) complex array
            In the unit of the signal: ``x(t) = c[0] + sum of Re(c[n] exp(2j pi n frequency t))``. So ``abs(c[n])``
            is the peak amplitude, ``numpy.angle(c[n])`` the phase in rad of a cosine at time zero (a sine has
            -pi/2), and ``c[0]`` the mean.

        Raises
        ------
        ParameterError
            If the window is no whole number of periods or not inside the run, or frequency or count are not
            positive.

        Notes
        -----
        The Fourier integrals are those of the solution itself, piece by piece between the events. Nothing is
        sampled, so nothing folds back from high frequencies. Impulses within instants do not count. If the
        signal is not periodic in the window, the harmonics are those of its periodic continuation.
        """
        count = _checked(count, 1)
        source = self.source
        a, b, periods = whole_periods(frequency, t0, t1, source.t_start, source.t_end)
        found = _amplitudes(source.panels(a, b, inf), a, b, periods, count)
        # From a phase that counts from `a` to one that counts from time zero.
        return found * np.exp(-2j * np.pi * np.arange(count + 1) * (a * frequency % 1.0))

    def spectrum(
        self, frequency: float, count: int = 40, t0: float | None = None, t1: float | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return frequencies in Hz and peak amplitudes (count + 1,), from the magnitude of the mean on.

        The arguments are those of `harmonics`. For lines between the multiples of a carrier give the frequency
        that all lines are multiples of.
        """
        amplitudes = np.abs(self.harmonics(frequency, count, t0, t1))
        return np.arange(len(amplitudes)) * float(frequency), amplitudes

    @QUIET
    def thd(
        self, frequency: float, count: int | None = None, t0: float | None = None, t1: float | None = None
    ) -> float:
        """Return the total harmonic distortion: the rms value of the harmonics over that of the fundamental.

        Parameters
        ----------
        frequency : float
            Frequency of the fundamental in Hz.
        count : int, optional
            Order of the highest harmonic that counts; by default all do, and all else but the mean with them.
        t0, t1 : float, optional
            Window as in `harmonics`.

        Returns
        -------
        thd : float
            As a ratio, 0.01 is 1 %. Relative to the fundamental, THD_F, it may exceed one; relative to the rms value
            without the mean it is ``THD_R = THD_F / sqrt(1 + THD_F**2)``.

        Raises
        ------
        ParameterError
            As `harmonics`, and if there is no fundamental.

        References
        ----------
        D. Shmilovitz, On the definition of total harmonic distortion and its effect on measurement interpretation,
        IEEE Transactions on Power Delivery 20 (2005).
        """
        count = None if count is None else _checked(count, 2)
        a, b, periods = whole_periods(frequency, t0, t1, self.source.t_start, self.source.t_end)
        panels = self.source.panels(a, b, (b - a) / (PER_PERIOD * periods))
        found = _amplitudes(panels, a, b, periods, count or 1)
        fundamental = abs(found[1])
        rms = np.sqrt(panels.integral(panels.values**2) / (b - a))
        if not fundamental > RTOL * rms:
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

    def plot_spectrum(
        self,
        frequency: float,
        count: int = 40,
        t0: float | None = None,
        t1: float | None = None,
        log: bool = False,
    ) -> Any:
        """Return a matplotlib figure of the lines of the spectrum; ``log`` for a logarithmic axis of amplitudes.

        The other arguments are those of `harmonics`.
        """
        return plot_lines(self.path, self.unit, *self.spectrum(frequency, count, t0, t1), log=log)


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
    if not is_number(frequency):
        raise ParameterError(f"a frequency is a number in Hz, got {shown(frequency)}")
    f = float(frequency)
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
