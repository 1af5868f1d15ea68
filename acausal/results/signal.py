"""A variable over time."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..errors import ParameterError, counted, warn
from .combination import Operand, combined
from .names import window
from .plotting import plot_lines, plot_signals
from .source import Source
from .spectrum import distortion, harmonics
from .waves import extreme

_QUIET = np.errstate(all="ignore")
"""What leaves the range of doubles is infinite or an error of its own, and no warning of NumPy."""


class Signal(NDArrayOperatorsMixin):
    """Values of one variable; both limits at every event.

    Sums, differences, multiples and products of signals of one result are signals again. In other arithmetic and in
    functions of numpy a signal is the array of its values. ``mean``, ``rms`` and ``max`` are over time, not over
    the points.

    Attributes
    ----------
    path, unit, doc : str
    names : dict of int to str
        Names of the codes of an enumeration.
    t, values : (k,) arrays
        Times in seconds and values; equal times are left and right limit. Where values are not numbers, a warning
        says so with the equation and the time. Values
        of Boolean variables are of type bool, those of integers and enumerations of type int.
    """

    def __init__(
        self,
        source: Source,
        path: str,
        unit: str,
        doc: str,
        kind: type = float,
        names: dict[int, str] | None = None,
    ) -> None:
        self.path, self.unit, self.doc, self.names = path, unit, doc, names or {}
        self.source, self._kind = source, kind
        self._values: np.ndarray | None = None

    # -- values --------------------------------------------------------------------------------------------------

    @property
    def t(self) -> np.ndarray:
        """Points in seconds; equal times are left and right limit of an event."""
        return self.source.t

    @property
    @_QUIET
    def values(self) -> np.ndarray:
        """Values at ``t``."""
        if self._values is None:
            self._values = self._named(self.source.sample(), self.source.t).astype(self._kind, copy=False)
        return self._values

    def _named(self, values: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Warn of values that are not numbers."""
        bad = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, bool)
        if bad.any():
            origin = getattr(self.source, "origin", str)()
            warn(
                f"`{self.path}` is not a number at {counted(int(bad.sum()), 'point')}, first at t = {t[bad][0]:.9g} s"
                + (f": {origin}" if origin else "")
            )
        return values

    @property
    def is_discrete(self) -> bool:
        """True for variables that change only at events."""
        return self._kind is not float

    @property
    def final(self) -> Any:
        """Last value: the right limit at the end."""
        return self.at(self.source.t_end)

    @property
    def undetermined(self) -> np.ndarray:
        """Mask over ``t``: the model leaves the value open (a floating potential, a circulating flow)."""
        return self.source.undetermined()

    @_QUIET
    def at(self, t: Any, side: str = "right") -> Any:
        """Return the values at times ``t``; at an event the limit from ``side``, "left" or "right".

        Raises
        ------
        ParameterError
            For times outside the run, or another side.
        """
        if side not in ("left", "right"):
            raise ParameterError(f'side is "left" or "right", got {side!r}')
        try:
            times = np.asarray(t, float)
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(f"`{self.path}` is asked for at times in seconds, got {t!r}") from error
        a, b = self.source.t_start, self.source.t_end
        slack = 4.0 * np.spacing(max(abs(a), abs(b)))
        if not ((times >= a - slack) & (times <= b + slack)).all():
            raise ParameterError(
                f"`{self.path}` is known from {a:g} to {b:g} s only", hint="ask for times within the run"
            )
        inside = np.clip(times, a, b).ravel()
        values = self._named(self.source.at(inside, side), inside).astype(self._kind, copy=False)
        return values.reshape(times.shape) if times.ndim else values[0].item()

    @_QUIET
    def mean(self, t0: float | None = None, t1: float | None = None) -> float:
        """Return the mean over time in [t0, t1], by default the whole run; of a Boolean signal the duty ratio.

        Exact for any number of periods where the signal is a sum of exponentials and sinusoids between events, and
        so is the mean of a product of two such signals.

        Warns
        -----
        UserWarning
            If another signal turns too often between two events to be followed.
        """
        a, b = window(t0, t1, self.source.t_start, self.source.t_end)
        return self.source.power_integral(a, b, 1) / (b - a)

    @_QUIET
    def rms(self, t0: float | None = None, t1: float | None = None) -> float:
        """Return the root mean square over time in [t0, t1], by default the whole run; see `mean`."""
        a, b = window(t0, t1, self.source.t_start, self.source.t_end)
        return float(np.sqrt(self.source.power_integral(a, b, 2) / (b - a)))

    def max(self, t0: float | None = None, t1: float | None = None) -> Any:
        """Return the largest value in [t0, t1], by default the whole run; between the points too.

        Values at single instants do not count: of a jump both limits do, of an impulse none.

        Warns
        -----
        UserWarning
            If the signal turns so often between two events that it cannot be followed; with several frequencies
            the warning says between which limits the value lies.
        """
        return self._extreme(1.0, t0, t1)

    def min(self, t0: float | None = None, t1: float | None = None) -> Any:
        """Return the smallest value in [t0, t1]; see `max`."""
        return self._extreme(-1.0, t0, t1)

    def ptp(self, t0: float | None = None, t1: float | None = None) -> Any:
        """Return the distance from the smallest to the largest value in [t0, t1]; see `max`."""
        return self.max(t0, t1) - self.min(t0, t1)

    @_QUIET
    def _extreme(self, factor: float, t0: float | None, t1: float | None) -> Any:
        """The largest value, of the negative signal for a negative factor."""
        source = self.source
        a, b = window(t0, t1, source.t_start, source.t_end)
        found, t, side, rounding, bound = extreme(source, factor, a, b)
        if bound > found:
            low, high = sorted((factor * found, factor * bound))
            warn(
                f"the {'largest' if factor > 0.0 else 'smallest'} value of `{self.path}` is not resolved: several "
                f"frequencies turn too often in {b - a:.3g} s to be followed, and it lies between {low:.9g} and "
                f"{high:.9g}; give a shorter window"
            )
        # The series has its own rounding; beside a jump its time may lie on the other side.
        value = float(source.at(np.clip(np.array([t]), a, b), side)[0])
        value = value if abs(factor * value - found) <= rounding else factor * found
        return self._kind(round(value)) if self.is_discrete else value

    def plot(self) -> Any:
        """Return a matplotlib figure of the signal."""
        return plot_signals([self])

    # -- harmonics -----------------------------------------------------------------------------------------------

    @_QUIET
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
        return harmonics(self.source, frequency, count, t0, t1)

    def spectrum(
        self, frequency: float, count: int = 40, t0: float | None = None, t1: float | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return frequencies in Hz and peak amplitudes (count + 1,), from the magnitude of the mean on.

        The arguments are those of `harmonics`. For lines between the multiples of a carrier give the frequency
        that all lines are multiples of.
        """
        amplitudes = np.abs(harmonics(self.source, frequency, count, t0, t1))
        return np.arange(len(amplitudes)) * float(frequency), amplitudes

    @_QUIET
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
        return distortion(self.source, frequency, count, t0, t1)

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
        return plot_lines(self, *self.spectrum(frequency, count, t0, t1), log=log)

    # -- array protocol ------------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False and (dtype is None or np.dtype(dtype) == self.values.dtype):
            return self.values
        return np.array(self.values, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        terms = [_term(x) for x in inputs]
        if method == "__call__" and not keywords and None not in terms:
            found = combined(ufunc.__name__, [t for t in terms if t is not None])
            if found is not None:
                return Signal(found.source, found.name, found.unit, "")
        return getattr(ufunc, method)(
            *(_plain(a) for a in inputs), **{k: _plain(a) for k, a in keywords.items()}
        )

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        return function(*(_plain(a) for a in args), **{k: _plain(a) for k, a in keywords.items()})

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]

    def __len__(self) -> int:
        return len(self.t)

    def __repr__(self) -> str:
        unit = f" [{self.unit}]" if self.unit else ""
        return f"<Signal {self.path}{unit}, {len(self.t)} points>"


def _term(value: Any) -> Operand | float | None:
    """What stands for an operand in a combination; None for one that has no place there."""
    if isinstance(value, Signal):
        return None if value.is_discrete else Operand(value.source, value.path, value.unit)
    number = isinstance(value, Real) and not isinstance(value, (bool, np.bool_))
    return float(value) if number else None


def _plain(value: Any) -> Any:
    if isinstance(value, Signal):
        return value.values
    return type(value)(_plain(v) for v in value) if type(value) in (list, tuple) else value
