"""Checks before a run: options, and statements that ask for the impossible."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import NonFiniteError, ParameterError
from ..flattening.flat_model import FlatModel
from ..flattening.template import place_of
from ..modeling.expressions import LONGEST_INTEGER
from ..modeling.number_checks import is_finite, shown

IMPULSES = ("error", "allow")
TIGHTEST, LOOSEST = 1e-15, 1e-2
"""Relative tolerances."""
SMALL = 1e-100
"""Magnitudes of parameters below it, or above its reciprocal, may have powers beyond the range of doubles."""
METHODS = ("auto", "exact", "explicit", "implicit")


def is_number(value: Any) -> bool:
    """True for what converts to one float: numbers and arrays without extent, not text."""
    if isinstance(value, int) and value.bit_length() > LONGEST_INTEGER:
        return False
    if isinstance(value, (str, bytes)) or not hasattr(value, "__float__") or getattr(value, "ndim", 0):
        return False
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def is_real(value: Any) -> bool:
    """True for a number that is no truth value."""
    return is_number(value) and not isinstance(value, (bool, np.bool_))


def check_time(name: str, value: Any) -> None:
    """Raise ParameterError unless an option is a finite number of seconds."""
    if not is_real(value) or not is_finite(value):
        raise ParameterError(f"`{name}` must be a finite time in seconds, got {shown(value)}")


def check_span(t_start: Any, span: Any) -> None:
    """Raise ParameterError unless the begin and the expected length of a stepped run are times."""
    check_time("t_start", t_start)
    if span is not None:
        check_time("span", span)
        if not t_start + span > t_start:
            raise ParameterError(
                f"`span` is the expected length of a run from {t_start:g} s in seconds, got {span:g}",
                hint="leave it out, or give the time that the run will take",
            )


def check_options(t_start: float, t_end: float, impulses: str) -> None:
    """Raise ParameterError unless the span is positive and finite and the policy is known."""
    check_time("t_start", t_start)
    check_time("t_end", t_end)
    if t_end <= t_start:
        raise ParameterError(
            f"a run needs an end after its start, got t_start = {t_start:g} and t_end = {t_end:g}",
            hint="for the values at the start alone take a short run and read result[...].at(t_start)",
        )
    if impulses not in IMPULSES:
        raise ParameterError(f'`impulses` must be "error" or "allow", got {impulses!r}')


def check_method(method: Any, rtol: Any, atol: Any) -> None:
    """Raise ParameterError unless the way of integration exists and tolerances are positive."""
    if method not in METHODS:
        raise ParameterError(f"method is {', '.join(map(repr, METHODS))}, got {method!r}")
    if not (is_real(rtol) and TIGHTEST <= float(rtol) <= LOOSEST):
        raise ParameterError(
            f"`rtol` must be a number between {TIGHTEST:g} and {LOOSEST:g}, got {rtol!r}",
            hint="1e-6 is the default; doubles do not resolve less than the one, steps mean nothing beyond the other",
        )
    if atol is not None and not (is_real(atol) and 0.0 < float(atol) <= 1.0):
        raise ParameterError(
            f"`atol` must be a number above 0, at most 1, got {atol!r}",
            hint="it counts in units of the magnitude of each variable; by default it is a hundredth of `rtol`",
        )


def beyond_doubles(flat: FlatModel, parameters: np.ndarray, t: float, what: str) -> NonFiniteError:
    """Return the error for coefficients that doubles do not hold; it names parameters of extreme magnitude."""
    P = np.abs(parameters)
    extreme = np.flatnonzero(((P > 0.0) & (P < SMALL)) | ((P > 1.0 / SMALL) & np.isfinite(P))).tolist()[:4]
    paths = [flat.parameter(k) for k in extreme]
    shown_ones = ", ".join(f"`{path}` = {parameters[k]:.6g}" for path, k in zip(paths, extreme, strict=True))
    return NonFiniteError(
        f"{what} have coefficients beyond the range of doubles at t = {t:.9g}",
        where=tuple(place for path in paths for place in place_of(flat.root, path)),
        why=f"of {shown_ones}" if paths else "of the products and quotients of its parameters",
        hint="give values of ordinary size; for a part without mass or storage leave it out",
    )
