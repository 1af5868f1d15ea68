"""Points of a motion, and the equations next to them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...values import frozen


@dataclass(eq=False)
class Linear:
    """Residuals and Jacobians at a point; columns are [X, H]."""

    C: np.ndarray
    F: np.ndarray
    C_y: np.ndarray
    F_y: np.ndarray
    C_t: np.ndarray
    F_t: np.ndarray

    def copy(self) -> Linear:
        """The same in arrays of its own."""
        return Linear(*(part.copy() for part in (self.C, self.F, self.C_y, self.F_y, self.C_t, self.F_t)))


@frozen
class Anchor:
    """A point with the changes of the open unknowns per change of the states and, last column, of time."""

    h: float
    y: np.ndarray
    H: np.ndarray
    slope: np.ndarray


@dataclass(eq=False)
class Place:
    """A point of the motion: coordinates, open unknowns, sources and all arguments with their rates."""

    h: float
    y: np.ndarray
    """Coordinates ``X``, then open unknowns ``H``."""
    nx: int
    xi: np.ndarray
    X_t: np.ndarray
    linear: Linear | None = None
    """Residuals and Jacobians here, once they were looked at."""
    y_t: np.ndarray | None = None
    """Time derivatives of the coordinates and the open unknowns, once they were looked at."""
    bridged: bool = False
    """Whether some of it is interpolated, next to a change point."""

    def __post_init__(self) -> None:
        self.X, self.H = self.y[: self.nx], self.y[self.nx :]

    def linear_by(self, make: Callable[[], Linear]) -> Linear:
        """Residuals and Jacobians here, made when they are first asked for."""
        if self.linear is None:
            self.linear = make()
        return self.linear

    def slopes_by(self, make: Callable[[], np.ndarray]) -> np.ndarray:
        """Time derivatives of the coordinates and the open unknowns, made when they are first asked for."""
        if self.y_t is None:
            self.y_t = make()
        return self.y_t

    def release(self) -> None:
        """Give back the Jacobians: many points are kept, few are looked at again."""
        self.linear = None
