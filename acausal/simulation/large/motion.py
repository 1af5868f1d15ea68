"""The motion of a large model: rates by sparse factors of its equations, steps by those of the shifted matrix."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ...dynamics.problem import StepFailure
from ..nonlinear.motion import Motion, Place
from ..nonlinear.newton import NewtonFailure
from ..nonlinear.singular_points import SparseSurroundings, scaled_sparse
from ..nonlinear.state_selection import Selection
from .sparse_matrices import Factors
from .system import LargeSystem


class LargeMotion(Motion):
    """A `Motion` without eliminated or dependent coordinates; its open unknowns are all unknowns of the model."""

    batched = False
    system: LargeSystem  # type: ignore[assignment]

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.accept(replace(self.last, X_t=self.last.H[self.system.x]))
        self._step = StepMatrix(self.system)
        self._factors: Factors | None = None

    def solve(
        self, h: float, y: np.ndarray, near: Place | None = None, selection: Selection | None = None
    ) -> Place:
        """The point with states ``y``, sought from ``near``, by default the last point."""
        near, xi = near or self.last, self.sources.at(h)
        H = self.open_unknowns(y, near.H, xi)
        return Place(h, np.concatenate((y, H)), len(y), xi, H[self.system.x])

    def stage_kernel(self, count: int) -> None:
        """None: kernels solve small dense systems, and the points of large models are found by sparse factors."""

    def open_unknowns(self, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Unknowns at ``X``; ``H`` is a guess."""
        system = self.system
        try:
            factors = self._factors_at(X, H, xi) if self._factors is None else self._factors
            return system.solve(X, H, xi, self.constants, factors, self.work)
        except np.linalg.LinAlgError:
            raise NewtonFailure("singular", H, np.full(system.n, np.nan), system.mode.nonlinear) from None
        except NewtonFailure as failure:
            residual = self._defects(failure, X, xi)[system.nonlinear]
            raise replace(failure, residual=residual, rows=system.mode.nonlinear) from None

    def _defects(self, failure: NewtonFailure, X: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """Residuals as corrections of the unknowns.

        Next to a double root the residual of the row to blame is below the rounding of others; no number where it has no slope.
        """
        if failure.reason == "not finite":
            return failure.residual
        with np.errstate(all="ignore"):
            return failure.residual / abs(self._slopes(X, failure.x, xi)).max(axis=1).toarray().ravel()

    def _factors_at(self, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> Factors | None:
        """Factors of the matrix over the unknowns, None where it has no finite entries or is singular at a mere guess."""
        system = self.system
        gradient = system.gradient(X, H, xi, self.constants)
        if system.exact:
            return self._refreshed(gradient)
        if np.isfinite(gradient).all():
            with suppress(np.linalg.LinAlgError):
                return self._refreshed(gradient)
        return None

    def surroundings(self, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> SparseSurroundings:
        """Slopes of all rows by the unknowns at a point, which need not be consistent."""
        return SparseSurroundings(self.system.rows.nonlinear, scaled_sparse(self._slopes(X, H, xi)))

    def _slopes(self, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> Any:
        """Matrix over the unknowns in units of their scales."""
        system = self.system
        return system.pattern.over_unknowns(system.gradient(X, H, xi, self.constants)) * system.open_scale

    def jacobian(self, t: float, y: np.ndarray) -> tuple[StepMatrix, np.ndarray]:
        """The matrix of a step, and the derivative of the rate by time."""
        place, system = self._found(t, y), self.system
        gradient = system.gradient(place.X, place.H, place.xi, self.constants)
        try:
            factors = self._refreshed(gradient)
        except np.linalg.LinAlgError:
            raise StepFailure("singular") from None
        self._step.take(gradient, factors)
        return self._step, factors.solve(-system.by_time(gradient, place.xi))[system.x]

    def _refreshed(self, gradient: np.ndarray) -> Factors:
        self._factors = self.system.factors(gradient)
        return self._factors

    def jets(self, place: Place) -> tuple[np.ndarray, np.ndarray]:
        """``v = [X; u; xi]`` and its time derivative at a point."""
        try:
            return self._moving(place, place.X_t)
        except np.linalg.LinAlgError:
            return self._first_two(place, place.X_t, np.full(self.system.n, np.nan))

    def carried(self, place: Place, changes: np.ndarray) -> np.ndarray:
        """Changes of ``v`` (nv, k) that changes of the states (n, k) bring about at a place."""
        system, gradient = self.system, self._gradient(place)
        try:
            factors = self._refreshed(gradient)
        except np.linalg.LinAlgError:
            return np.full((system.nx + system.n + system.q, changes.shape[1]), np.nan)
        none = np.zeros(system.q)
        moved = [self._moved(gradient, factors, change) for change in changes.T]
        return np.array([np.concatenate([c, u, none]) for c, u in zip(changes.T, moved, strict=True)]).T

    def along(self, place: Place, slope: np.ndarray, selection: Selection) -> tuple[np.ndarray, np.ndarray]:
        """``v`` and its derivative along a curve on which the states have the slope."""
        try:
            return self._moving(place, slope)
        except np.linalg.LinAlgError:
            return self.jets(place)

    def derivatives(self, place: Place) -> list[np.ndarray]:
        """``v`` and its first two time derivatives.

        With the nonlinear rows ``rho(a)`` the second one of ``F = 0`` is that of a motion with ``X''`` and ``xi''`` in place
        of ``X'`` and ``xi'``, plus ``rho_aa[a', a']``.
        """
        system, gradient = self.system, self._gradient(place)
        v0, v1 = self._moving(place, place.X_t)
        X_tt, sources = v1[system.nx + system.x], system.S @ place.xi
        bends = np.zeros(system.n)
        if len(system.nonlinear):
            jets = [system.arguments @ v0, system.arguments @ v1, np.zeros(len(gradient))]
            bends[system.nonlinear] = system.evaluate(2, jets, self.constants)[0][system.mode.nonlinear]
        assert self._factors is not None
        u_tt = self._moved(gradient, self._factors, X_tt, system.by_time(gradient, sources) + bends)
        return [v0, v1, np.concatenate([X_tt, u_tt, system.S @ sources])]

    def _gradient(self, place: Place) -> np.ndarray:
        """Derivatives of the nonlinear rows by their arguments at a point."""
        return self.system.gradient(place.X, place.H, place.xi, self.constants)

    def _moving(self, place: Place, X_t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """``v`` and its time derivative where the states have the slope ``X_t``."""
        gradient = self._gradient(place)
        driven = self.system.by_time(gradient, place.xi)
        return self._first_two(place, X_t, self._moved(gradient, self._refreshed(gradient), X_t, driven))

    def _moved(
        self, gradient: np.ndarray, factors: Factors, dX: np.ndarray, rest: np.ndarray | float = 0.0
    ) -> np.ndarray:
        """``du`` from ``F_u du + F_X dX + rest = 0``."""
        system = self.system
        values = system.pattern.matrix(system.pattern.parts(gradient)[1])
        moved = np.zeros(system.n)
        moved[system.x] = dX
        return factors.solve(-(values @ moved + rest))

    def _first_two(self, place: Place, X_t: np.ndarray, u_t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return np.concatenate((place.y, place.xi)), np.concatenate([X_t, u_t, self.system.S @ place.xi])


class StepMatrix:
    """``shift I - dX'/dX`` of a large system, without ever forming it: a `dynamics.linear.Shifted`.

    With ``F_X' dX' + F_w dw + F_X dX = 0`` the equation ``(shift I - J) k = b`` reads
    ``(shift F_X' + F_X) k + F_w dw = F_X' b``.
    """

    def __init__(self, system: LargeSystem) -> None:
        self._pattern, self._x = system.pattern, system.x
        self._slopes = self._values = np.zeros(0)
        self._right: Any = None
        self._left: Any = None

    def take(self, gradient: np.ndarray, factors: Factors) -> None:
        """Take the slopes of the nonlinear rows at a point, and the factors of the matrix over the unknowns there."""
        self._slopes, self._values = self._pattern.parts(gradient)
        self._unknowns = factors
        if self._right is None or len(gradient):
            self._right = self._pattern.matrix(self._slopes)[:, self._x]
            self._left = self._pattern.matrix(self._values)[:, self._x]

    def __matmul__(self, k: np.ndarray) -> np.ndarray:
        return -self._unknowns.solve(self._left @ k)[self._x]

    def factorise(self, shift: float, jacobian: Any) -> None:
        """Factors of the sparse matrix."""
        try:
            self._factors = Factors(self._pattern.matrix(shift * self._slopes + self._values))
        except np.linalg.LinAlgError as singular:
            raise StepFailure("singular") from singular

    def solve(self, b: np.ndarray) -> np.ndarray:
        """Solution for the right-hand side ``b``."""
        return self._factors.solve(self._right @ b)[self._x]
