"""States that follow quickly, read from the slopes of steps.

A rate amplifies the error of its state by the inverse of a time constant, and so does a flow through a small loss: rounding of
10 V is 2 uA over 1 nOhm, and the tolerance of a step 100 A, for as long as a segment lasts. The slope of a step is off by that
error over the length of the step alone, and its integral is what the state moves. So where a step is longer than a time constant
its slope is what is known: the state is where its rate is that slope, and everything else follows from there.

Rates that are affine tell once for a mode which states are quick. Beside anything nonlinear each point is sought by value and
slope first (see `slope_reading`), and values hold together whichever states are eliminated here: that removes their rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...reduction.elimination import product
from ...reduction.rounding import ROUNDING


class Reading(NamedTuple):
    """Outputs as ``slopes @ slope_of_step[rows] + values @ v``; what cancels in them is exactly zero."""

    rows: np.ndarray
    slopes: np.ndarray
    values: np.ndarray


class QuickStates:
    """What follows from states and the slopes of the quick ones.

    Parameters
    ----------
    rates : (n, nv) array
        Rates of the states over ``v``, which begins with the states.
    outputs : (m, nv) array
        What else is read, over ``v``.
    """

    def __init__(self, rates: np.ndarray, outputs: np.ndarray) -> None:
        self._rates, self._outputs = rates, np.vstack([outputs, rates])
        self._rows, self._columns, self._slowest = _pivots(_balanced(rates[:, : len(rates)]))
        self._known: dict[int, Reading] = {}

    def counts(self, lengths: np.ndarray) -> np.ndarray:
        """How many states are quick in steps of these lengths."""
        return np.searchsorted(-self._slowest, -1.0 / lengths, side="right")

    def read(self, count: int, slopes: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Outputs and rates (k, m + n) from slopes of steps (k, n) and values (k, nv) where so many states are quick."""
        found = self._known.get(count)
        if found is None:
            found = self._known[count] = self._reading(self._rows[:count], self._columns[:count])
        return slopes[:, found.rows] @ found.slopes.T + v @ found.values.T

    def _reading(self, rows: np.ndarray, columns: np.ndarray) -> Reading:
        """How outputs, and then all rates, are read where the rates in some rows determine the states in some columns."""
        quick, outputs = self._rates[rows], self._outputs
        slopes = product(outputs[:, columns], np.linalg.inv(quick[:, columns]))
        values = product(np.hstack([outputs, -slopes]), np.vstack([np.eye(quick.shape[1]), quick]))
        values[:, columns] = 0.0
        own = len(outputs) - len(self._rates) + rows
        slopes[own], values[own] = np.eye(len(rows)), 0.0
        return Reading(rows, slopes, values)


def _balanced(rates: np.ndarray) -> np.ndarray:
    """Rates in units of the states in which their sizes are near time constants."""
    from scipy.linalg import matrix_balance

    return np.asarray(matrix_balance(rates, permute=False)[0])


def _pivots(rates: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows and columns of an elimination, largest first, and the smallest pivot so far, until only rounding is left."""
    left, terms, found = rates.copy(), np.abs(rates), []
    while True:
        size = np.abs(left)
        if not size.any():
            break
        i, j = np.unravel_index(int(np.argmax(size)), size.shape)
        found.append((i, j, size[i, j]))
        factor = left[:, j] / left[i, j]
        terms += np.outer(np.abs(factor), terms[i])
        left -= np.outer(factor, left[i])
        left[np.abs(left) <= ROUNDING * terms] = 0.0
        left[i], left[:, j] = 0.0, 0.0
    rows, columns, pivots = zip(*found, strict=True) if found else ((), (), ())
    return np.array(rows, int), np.array(columns, int), np.minimum.accumulate(np.array(pivots, float))
