"""Lexicographic signs of forms over a state vector: of the first of value and derivatives that rises above its noise."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .dialect import kernel

TAU = 0


class SignForms(NamedTuple):
    """The forms of one mode, their derivatives and what rounds them, one order behind the other."""

    layout = "f2 f2 i1 f1"
    forms: np.ndarray
    """Rows (2 orders * forms, ny): values and derivatives, then the rates of all of these."""
    rounding: np.ndarray
    """Rows (orders * forms, ny) over magnitudes."""
    orders: np.ndarray
    """How many orders are consulted of each form (forms,)."""
    numbers: np.ndarray
    """The unit of time of the derivatives."""


@kernel
def product(row: np.ndarray, x: np.ndarray) -> float:
    """Scalar product; ``x`` may be longer."""
    found = 0.0
    for j in range(row.shape[0]):
        found += row[j] * x[j]
    return found


@kernel
def find_signs(
    s: SignForms,
    y: np.ndarray,
    size: np.ndarray,
    late: float,
    shift: np.ndarray,
    shifted: bool,
    signs: np.ndarray,
) -> bool:
    """Signs (forms,) at ``y``, which rounds as numbers of this ``size`` do; whether none is negative.

    Sources and states may be ``late``, in seconds, and moved by ``shift`` all together.
    """
    count, rates, positive = s.orders.shape[0], s.rounding.shape[0], True
    resolution = late / s.numbers[TAU]
    for i in range(count):
        signs[i] = 0
        for order in range(s.orders[i]):
            k = i + order * count
            value = product(s.forms[k], y)
            depth = product(s.rounding[k], size)
            if resolution > 0.0:
                depth += resolution * abs(product(s.forms[k + rates], y))
            if shifted:
                depth += abs(product(s.forms[k], shift))
            if abs(value) > depth:
                signs[i] = 1 if value > 0.0 else -1
                break
        positive = positive and signs[i] >= 0
    return positive
