"""Sums of rank-one products, one or several for each function."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..values import frozen
from .power_series import PowerSeries


@frozen
class Departure:
    """The state of a flow that is farthest from the exponential, by how much, its size, and by how much it may be off."""

    state: int
    off: float
    size: float
    allowed: float


@frozen
class Parts:
    """Flow as rank-one terms sorted by basis function.

    Attributes
    ----------
    basis : Basis
    left, right : (ny, nt), (nt, ny)
        Both dense, or sparse by columns and by rows with units on the left.
    starts : (basis.size,)
        First term of every basis function.
    reach : float
    limited : list of (reach, columns, decays)
        Basis functions that belong to a truncated series, exact over `reach`.
    series : list of PowerSeries
        Terms beside the products.
    shortest : float
        Time from which on parts of sources and modes that were split apart do not all but cancel.
    size : (ny, ny) or None
        How large states are within a time unit, for each one that begins with 1.
    departure : Departure or None
        Where the flow is not the exponential of its generator, see `exponential`.
    """

    basis: Any
    left: Any
    right: Any
    starts: np.ndarray
    reach: float
    limited: list[tuple[float, np.ndarray, bool]]
    series: list[PowerSeries]
    shortest: float
    size: np.ndarray | None = None
    departure: Departure | None = None


def independent(
    left: np.ndarray, right: np.ndarray, starts: np.ndarray, nx: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Columns, rows and functions of the same sum, in which terms of a function do not all but cancel.

    Those of a function begin at ``starts``; the first ``nx`` states are physical.
    """
    ends = np.append(starts[1:], left.shape[1])
    pairs = [_joined(left[:, a:b], right[a:b], nx) for a, b in zip(starts, ends, strict=True)]
    function = np.repeat(np.arange(len(pairs)), [len(rows) for _, rows in pairs])
    return (
        np.hstack([left[:, :0], *(columns for columns, _ in pairs)]),
        np.vstack([right[:0], *(rows for _, rows in pairs)]),
        function,
    )


def _joined(left: np.ndarray, right: np.ndarray, nx: int) -> tuple[np.ndarray, np.ndarray]:
    """Terms of one function where those of the sources alone are summed for each of their states: there they may all but cancel.

    What follows a source through a small resistance cancels the source in the flow between them.
    """
    forced = ~right[:, :nx].any(1)
    sources = np.flatnonzero(right[forced].any(0))
    if len(sources) > np.count_nonzero(forced):
        return left, right
    summed = left[:, forced] @ right[forced][:, sources]
    return np.hstack([left[:, ~forced], summed]), np.vstack([right[~forced], np.eye(right.shape[1])[sources]])
