"""The way to the start from the simplified parts of homotopies to the actual ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from ...errors import AcausalError
from ..nonlinear.newton import NewtonFailure, continued
from ..run import Run

Found = TypeVar("Found")


def along_homotopy(run: Run, attempt: Callable[[], Found], restore: Callable[[], None]) -> Found:
    """Solve a start, and where that fails follow the solution of the simplified equations to that of the actual ones.

    Parameters
    ----------
    attempt : callable
        Solves the start, with the point in ``run.z``.
    restore : callable
        Makes the run what it was before.

    Raises
    ------
    AcausalError
        That of the first attempt, where the way does not lead to the end either.

    Notes
    -----
    In every step the first instant is processed anew from the start values; the solution of the step before is no more
    than the point at which Newton's method begins.
    """
    try:
        return attempt()
    except AcausalError as failure:
        if not run.program.nonlinear_rows.has_homotopy:
            raise
        try:
            return _followed(run, attempt, restore)
        except NewtonFailure:
            run.tangents.forget_modes()
            raise failure from None
        finally:
            run.homotopy, run.near = 1.0, None


def _followed(run: Run, attempt: Callable[[], Found], restore: Callable[[], None]) -> Found:
    found: list[Found] = []

    def solve(share: float, z: np.ndarray) -> np.ndarray:
        run.homotopy, run.near = share, z
        try:
            restore()
            found[:] = [attempt()]
        except AcausalError:
            raise NewtonFailure("no convergence", z, np.zeros(0)) from None
        return run.z.copy()

    restore()
    continued(solve, run.z.copy())
    return found[0]
