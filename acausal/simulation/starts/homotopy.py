"""Starts along a homotopy: from the solution of simplified equations to that of the actual ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ...errors import AcausalError
from ..nonlinear.newton import NewtonFailure, continued
from .problem import Refused

Found = TypeVar("Found")
Attempt = Callable[[float, np.ndarray | None], tuple[Found, np.ndarray]]
"""Solves a start with a share of the actual parts of homotopies, next to a point if one is given: the outcome, its point."""


def along_homotopy(attempt: Attempt[Found], z: np.ndarray, able: bool) -> Found:
    """Solve a start, and where that fails follow the solution of the simplified equations to that of the actual ones.

    Parameters
    ----------
    attempt : callable
    z : (n,) array
        Start values.
    able : bool
        Whether the model has simplified equations.

    Raises
    ------
    AcausalError
        That of the first attempt, where the way does not lead to the end either.

    Notes
    -----
    In every step the first instant is processed anew from the start values; the solution of the step before is no more
    than the point at which Newton's method begins.
    """
    found: list[Found] = []

    def solve(share: float, near: np.ndarray) -> np.ndarray:
        try:
            result, point = attempt(share, near)
        except (AcausalError, Refused):
            raise NewtonFailure("no convergence", near, np.zeros(0)) from None
        found[:] = [result]
        return point

    try:
        return attempt(1.0, None)[0]
    except AcausalError:
        if not able:
            raise
        try:
            continued(solve, z)
        except NewtonFailure:
            found.clear()
        if not found:
            raise
    return found[0]
