"""A variable over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from ..errors import ParameterError, UnknownNameError
from ..modeling.number_checks import shown
from .arithmetic import Operand, combined, number, with_codes
from .plotting import plot_signals
from .sources import OverTime


class Signal(OverTime, NDArrayOperatorsMixin):
    """Values of one variable; both limits at every event.

    Arithmetic, comparisons, ``& | ~`` of Booleans and elementwise functions of numpy make signals of signals of one result
    and numbers, with both limits at every event: ``(v > 5.0).mean()`` is a duty ratio. Booleans count as 0 and 1; what
    they, whole numbers and sums and products give is exact. Enumerations can only be compared, ``state == "idle"``.
    Beside an array, and in functions over the points such as ``numpy.mean``, a signal is the array of its values.
    ``mean``, ``rms`` and ``max`` are over time, not over the points.

    Attributes
    ----------
    path, unit, doc : str
    names : dict of int to str
        Names of the codes of an enumeration.
    t, values : (k,) arrays
        Times in seconds and values; equal times are left and right limit. Where values are not numbers, a warning says so with
        the equation and the time. Values of Boolean variables are of type bool, those of integers and enumerations of type int.
    """

    @classmethod
    def of(cls, x: Operand) -> Signal:
        """Return the signal of what arithmetic made."""
        return cls(x.source, x.name, x.unit, "", x.kind, composed=x.composed)

    def _operand(self) -> Operand:
        """What arithmetic knows of the signal."""
        return Operand(self.source, self.path, self.unit, self._kind, self.names, self._composed)

    # -- pictures -----------------------------------------------------------------------------------------------

    def plot(self) -> Any:
        """Return a matplotlib figure of the signal."""
        return plot_signals([self])

    # -- array protocol ------------------------------------------------------------------------------------------

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if copy is False and (dtype is None or np.dtype(dtype) == self.values.dtype):
            return self.values
        return np.array(self.values, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **keywords: Any) -> Any:
        # What works in place makes another signal, as with numbers.
        given = {k: v for k, v in keywords.items() if k != "out" or not any(isinstance(o, Signal) for o in v)}
        if method == "__call__" and not given:
            terms = with_codes(ufunc, [x._operand() if isinstance(x, Signal) else x for x in inputs])
            terms = [x if isinstance(x, Operand) else _number_or_array(x, ufunc) for x in terms]
            if not any(isinstance(x, np.ndarray) for x in terms):
                _of_one_result(terms)
                made = tuple(Signal.of(x) for x in combined(ufunc, terms))
                return made if ufunc.nout > 1 else made[0]
        try:
            return getattr(ufunc, method)(*map(_plain, inputs), **{k: _plain(a) for k, a in given.items()})
        except (TypeError, ValueError) as error:
            raise ParameterError(
                f"numpy.{ufunc.__name__} has no meaning for `{self.path}` here: {error}"
            ) from error

    def __array_function__(self, function: Any, types: Any, args: Any, keywords: Any) -> Any:
        return function(*(_plain(a) for a in args), **{k: _plain(a) for k, a in keywords.items()})

    def __getitem__(self, key: Any) -> Any:
        return self.values[key]

    def __len__(self) -> int:
        return len(self.t)

    def __bool__(self) -> bool:
        raise ParameterError(
            f"`{self.path}` has no truth value: it has values over time",
            hint="ask for one of them, signal.final, signal.at(t) or signal.min(); write & and | for `and` and `or`",
        )

    def __float__(self) -> float:
        raise self._no_number()

    def __int__(self) -> int:
        raise self._no_number()

    def __complex__(self) -> complex:
        raise self._no_number()

    def __round__(self, ndigits: int | None = None) -> float:
        raise self._no_number()

    def __format__(self, spec: str) -> str:
        if spec[-1:] in tuple("bcdeEfFgGnoxX%"):
            raise self._no_number()
        return format(str(self), spec)

    def _no_number(self) -> ParameterError:
        return ParameterError(
            f"`{self.path}` is no number: it has values over time",
            hint="ask for one of them, signal.final, signal.at(t) or signal[-1], or for a number over time, signal.mean()",
        )

    def __getattr__(self, name: str) -> Any:
        over = f"; `signal.values.{name}` is over the points" if hasattr(np.ndarray, name) else ""
        raise UnknownNameError(f"a signal has no `{name}`{over}")

    def __repr__(self) -> str:
        return f"<Signal {self.path}{f' [{self.unit}]' * bool(self.unit)}, {len(self.t)} points>"


def _number_or_array(value: Any, ufunc: np.ufunc) -> Any:
    """A number or an array of numbers beside a signal, or raise ParameterError."""
    found = number(value)
    if found is None:
        array = np.asarray(value)
        if not array.ndim or array.dtype.kind not in "biufc":
            raise ParameterError(
                f"numpy.{ufunc.__name__} of a signal takes signals of its result and real numbers, got {shown(value)}",
                hint="`signal.values` is the array of its values at the points `signal.t`",
            )
        return array
    return found


def _of_one_result(terms: list[Any]) -> None:
    """Raise ParameterError where signals of several results meet: their points differ."""
    signals = [x for x in terms if isinstance(x, Operand)]
    if len({id(x.source.result) for x in signals}) > 1:
        names = " and ".join(f"`{x.name}`" for x in signals)
        raise ParameterError(
            f"{names} are signals of different results, with points of their own",
            hint="compare them at common times, a.at(t) - b.at(t); where the points are the same, as with one `grid=`,"
            " a.values - b.values",
        )


def _plain(value: Any) -> Any:
    if isinstance(value, Signal):
        return value.values
    return type(value)(_plain(v) for v in value) if type(value) in (list, tuple) else value
