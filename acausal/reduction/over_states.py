"""Affine forms of a mode over its state vector, in twice the digits where their terms cancel.

A variable that is defined as a short sum, as the potential between a large loss and a small one in series, is a difference of
large numbers over the unknowns that were kept. These have all their digits, the difference has those that are left. Where a sum
is so much smaller than its terms, what rounding has left of the unknowns takes part in it.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np

from .double_double import Accumulator
from .rounding import SUMMED, UNIT

Fine = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]
"""What rounding has left of ``T`` and of ``Ay``, and how far this may be off, for each of them."""


class Maps(Protocol):
    """Maps of a mode, ``z = T y`` and ``y' = Ay y``, with what rounding has left of them."""

    @property
    def T(self) -> np.ndarray:
        """Takes the state vector to the unknowns."""
        ...

    @property
    def Ay(self) -> np.ndarray:
        """Takes the state vector to its time derivative."""
        ...

    def fine(self) -> Fine | None:
        """What rounding has left of both; None where it is not known."""
        ...


def over_state(
    maps: Maps, A: np.ndarray, B: np.ndarray, E: np.ndarray | None = None, least: float = 0.0
) -> np.ndarray:
    """The forms ``E z' + A z + B xi`` over ``y = [z[states]; xi]``, shape (m, ny).

    Coefficients up to a part ``least`` of their terms become zero.
    """
    T, Ay = maps.T, maps.Ay
    states = T.shape[1] - B.shape[1]
    value, size = A @ T, np.abs(A) @ np.abs(T)
    value[:, states:] += B
    size[:, states:] += np.abs(B)
    if E is not None and not E.any():
        E = None
    if E is not None:
        value += E @ T @ Ay
        size += np.abs(E @ T) @ np.abs(Ay)
    none = np.abs(value) < least * size
    lost = (UNIT * size > SUMMED * np.abs(value)) & ~none
    some = lost.any(axis=1)
    fine = maps.fine() if some.any() else None
    if fine is not None and any(part.any() for part in fine[:2]):
        better, doubt = _summed(maps, fine, A[some], B[some], None if E is None else E[some])
        better[np.abs(better) <= doubt] = 0.0
        value[some] = np.where(lost[some], better, value[some])
    value[none] = 0.0
    return value


def _summed(
    maps: Maps, fine: Fine, A: np.ndarray, B: np.ndarray, E: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """The same in twice the digits, rounded once, and how far it may be off by what the maps are."""
    T, Ay = maps.T, maps.Ay
    low_T, low_Ay, doubt_T, doubt_Ay = fine
    states = T.shape[1] - B.shape[1]
    total = Accumulator(np.hstack([np.zeros((len(B), states)), B]))
    total.add_rows(A, T)
    total.correct(A @ low_T)
    doubt = np.abs(A) @ doubt_T
    if E is not None:
        moving = Accumulator(np.zeros((len(E), len(Ay))))
        moving.add_rows(E, T)
        high = moving.value
        low = (moving.high - high) + moving.low + E @ low_T
        total.add_rows(high, Ay)
        total.correct(high @ low_Ay + low @ Ay)
        doubt += (np.abs(E) @ doubt_T) @ np.abs(Ay) + np.abs(high) @ doubt_Ay
    return total.value, doubt
