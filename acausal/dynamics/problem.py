"""What a stepper asks of a problem, and what can go wrong between them."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np


class Problem(Protocol):
    """Initial value problem ``dy/dt = rate(t, y)``.

    Both methods may return arrays they use again: a stepper copies what it keeps. They are called with the floating
    point warnings of NumPy switched off; a value that is not finite rejects the step like a `StepFailure`.
    """

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        """Derivative of `y` by time, (n,). Raises `StepFailure` where it has no value."""
        ...

    def jacobian(self, t: float, y: np.ndarray) -> tuple[Any, np.ndarray]:
        """Derivatives of the rate by `y`, and by `t`, (n,).

        Implicit methods only. The first is an (n, n) array, a SciPy sparse matrix, or one object that solves shifted
        systems itself with the numbers of the last call (`linear.Shifted`), and multiplies vectors. A problem stays
        with one kind.
        """
        ...

    def forget(self) -> None:
        """Forget what was found on the way of a step that is tried again: it may belong to another solution."""
        ...


class StepFailure(Exception):
    """Raised by a problem that cannot be evaluated at a trial point; the step is tried again at half its size."""


class StepSizeError(Exception):
    """No step of a sensible size meets the tolerance.

    Attributes
    ----------
    t : float
        Time that was reached.
    component : int or None
        Component with the largest error, or the first one whose rate is not finite; None when the problem could not be
        evaluated.
    h : float
        Size of the last step that was tried; 0 when the rate has no value at `t` itself.
    """

    def __init__(self, reason: str, t: float, component: int | None, h: float) -> None:
        self.reason = reason
        self.t = t
        self.component = component
        self.h = h
        super().__init__(f"{reason} at t = {t!r}, component {component}, last step size {h!r}")

    def __reduce__(self) -> Any:
        return type(self), (self.reason, self.t, self.component, self.h)
