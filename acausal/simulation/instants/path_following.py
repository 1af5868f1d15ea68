"""Candidate mode by piecewise-linear path following.

One backward-Euler step from the left limits (the probe) turns the choice of modes into a
piecewise-linear equation. It is solved by Katzenelson's method ("An algorithm for solving
nonlinear resistor networks", 1965; Fujisawa and Kuh, "Piecewise-linear theory of nonlinear
networks", 1972): the right-hand side moves on a straight line from that of an arbitrary start
point to the true one, and the solution is followed from cell to cell. Where the matrix
changes the sign of its determinant the path folds and is followed backward.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...reduction.affine import AffineModel, Mode
from .element_curves import PathLost, PortCurve, Probe, is_free, port_curve

_TILT = 1e-7
_MAX_PIVOTS = 300
_SEED = 20250717


@dataclass(frozen=True)
class Path:
    """Cell in which the true right-hand side was reached."""

    mode: Mode
    pivots: int
    folds: int


def follow_path(
    model: AffineModel, z_minus: np.ndarray, xi: np.ndarray, start: Mode, forced: Sequence[int], h: float
) -> Path:
    """Mode of one backward-Euler step of length ``h``, found from the cell of ``start``.

    Parameters
    ----------
    model : AffineModel
    z_minus : (n,) array
        Left limits.
    xi : (q,) array
        Sources at their right limit.
    start : Mode
        Mode that gives the first cell.
    forced : sequence of int
        Forced branch of every element, or -1.
    h : float
        Length of the step in seconds.

    Raises
    ------
    PathLost
        The path met a singular matrix, came back to a cell, escaped to infinity or took
        more than 300 pivots, or an element has no curve.
    """
    probe = Probe(model, z_minus, xi, h)
    free = [k for k, element in enumerate(model.elements) if is_free(element, forced[k])]
    curves = [port_curve(model.elements[k], probe, _TILT) for k in free]
    system = _CellSystem(probe, curves, *_fixed_rows(model, probe, start, free, curves))
    cell = system.stable_start(
        [curve.branches.index(start[k]) for k, curve in zip(free, curves, strict=True)]
    )
    cell, pivots, folds = _Walk(system, cell, z_minus / model.scale).run()
    mode = list(start)
    for k, curve, segment in zip(free, curves, cell, strict=True):
        mode[k] = curve.branches[segment]
    return Path(tuple(mode), pivots, folds)


def _fixed_rows(
    model: AffineModel, probe: Probe, start: Mode, free: list[int], curves: list[PortCurve]
) -> tuple[np.ndarray, np.ndarray]:
    """Base equations and, slightly tilted, the equations of elements that do not move."""
    P, c = probe.normalised(model.base)
    fixed = [model.elements[k].branches[start[k]].equations for k in range(len(start)) if k not in free]
    blocked = [model.elements[k].blocked[start[k]] for k in range(len(start)) if k not in free]
    if not fixed:
        return P, c
    equations = [probe.normalised(rows) for rows in fixed]
    others = [probe.normalised(rows) for rows in blocked]
    Q, d = np.vstack([rows for rows, _ in equations]), np.concatenate([constant for _, constant in equations])
    W, e = np.vstack([rows for rows, _ in others]), np.concatenate([constant for _, constant in others])
    tilt = _TILT * _passive_signs(P, Q, W, curves)
    return np.vstack([P, Q + tilt[:, None] * W]), np.concatenate([c, d + tilt * e])


def _passive_signs(P: np.ndarray, Q: np.ndarray, W: np.ndarray, curves: list[PortCurve]) -> np.ndarray:
    """Signs of the tilts that dissipate, from the answer of the network to a unit in each equation."""
    ports = [curve.trend[1] * curve.X - curve.trend[0] * curve.Y for curve in curves]
    M = np.vstack([P, Q, *ports])
    answers = np.linalg.pinv(M, rcond=1e-12)[:, len(P) : len(P) + len(Q)]
    gains = np.einsum("kj,jk->k", W, answers)
    return np.where(gains > 1e-12 * np.abs(gains).max(initial=0.0), 1.0, -1.0)


class _CellSystem:
    """Linear equations ``M w + c = 0`` of every cell; ``w`` holds the scaled unknowns and one s per curve."""

    def __init__(
        self, probe: Probe, curves: list[PortCurve], fixed: np.ndarray, constants: np.ndarray
    ) -> None:
        n, m, K = len(probe.scale), len(fixed), len(curves)
        if m + K != n:
            raise PathLost("the probe is not square")
        self.curves, self.n = curves, n
        self._M = np.zeros((n + K, n + K))
        self._c = np.zeros(n + K)
        self._M[:m, :n], self._c[:m] = fixed, constants
        for a, curve in enumerate(curves):
            self._M[m + 2 * a, :n], self._M[m + 2 * a + 1, :n] = curve.X, curve.Y
            self._c[m + 2 * a : m + 2 * a + 2] = curve.offset
        self._rows = m + 2 * np.arange(K)

    def equations(self, cell: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
        """Matrix and constants of a cell."""
        c = self._c.copy()
        for row, curve, segment in zip(self._rows, self.curves, cell, strict=True):
            c[row : row + 2] -= curve.base[segment]
        return self._with_slopes(
            [curve.slope[segment] for curve, segment in zip(self.curves, cell, strict=True)]
        ), c

    def _with_slopes(self, slopes: Sequence[np.ndarray]) -> np.ndarray:
        M = self._M.copy()
        for a, (row, slope) in enumerate(zip(self._rows, slopes, strict=True)):
            M[row : row + 2, self.n + a] = -slope
        return M

    def stable_start(self, cell: list[int]) -> list[int]:
        """``cell``, or a neighbour of it when ``cell`` is an unstable branch.

        A branch is unstable when its determinant has another sign than that of the network
        with every curve replaced by its chord between the far ends.
        """
        stable = np.linalg.slogdet(self._with_slopes([curve.chord for curve in self.curves]))[0]
        if self._sign(cell) == stable:
            return cell
        for a, curve in enumerate(self.curves):
            for segment in range(len(curve.branches)):
                neighbour = [*cell[:a], segment, *cell[a + 1 :]]
                if self._sign(neighbour) == stable:
                    return neighbour
        raise PathLost("no stable cell to start from")

    def _sign(self, cell: Sequence[int]) -> float:
        return float(np.linalg.slogdet(self.equations(cell)[0])[0])


class _Walk:
    """The path from the start cell to the cell with the true right-hand side."""

    def __init__(self, system: _CellSystem, cell: list[int], z: np.ndarray) -> None:
        self._system, self._cell = system, list(cell)
        shift = np.random.default_rng(_SEED).random(len(cell))
        s = [curve.inside(segment, r) for curve, segment, r in zip(system.curves, cell, shift, strict=True)]
        self._w = np.concatenate([z, s])
        M, c = system.equations(cell)
        self._residual = -(M @ self._w + c)
        self._progress = 0.0
        self._folds = 0

    def run(self) -> tuple[list[int], int, int]:
        """Last cell, number of pivots, number of folds."""
        visited = {tuple(self._cell)}
        entered: tuple[int, int] | None = None
        for pivots in range(_MAX_PIVOTS):
            direction, orientation = self._direction(entered)
            entered = self._advance(direction, orientation, entered)
            if entered is None:
                return self._cell, pivots, self._folds
            a, step = entered
            self._cell[a] += step
            if tuple(self._cell) in visited:
                raise PathLost("the path came back to a cell")
            visited.add(tuple(self._cell))
        raise PathLost(f"no end after {_MAX_PIVOTS} pivots")

    def _direction(self, entered: tuple[int, int] | None) -> tuple[np.ndarray, float]:
        """Velocity of the unknowns, and +1 or -1 for the right-hand side moving forward or backward."""
        M, _ = self._system.equations(self._cell)
        try:
            velocity = np.linalg.solve(M, self._residual)
        except np.linalg.LinAlgError as error:
            raise PathLost("singular cell") from error
        if not np.isfinite(velocity).all():
            raise PathLost("singular cell")
        if entered is None or velocity[self._system.n + entered[0]] * entered[1] > 0.0:
            return velocity, 1.0
        self._folds += 1
        return -velocity, -1.0

    def _advance(
        self, velocity: np.ndarray, orientation: float, entered: tuple[int, int] | None
    ) -> tuple[int, int] | None:
        """Move to the next breakpoint and return the element and step to its neighbour; None at the end."""
        nearest, crossing = (1.0 - self._progress if orientation > 0.0 else np.inf), None
        for a, (curve, segment) in enumerate(zip(self._system.curves, self._cell, strict=True)):
            speed = velocity[self._system.n + a]
            step = 1 if speed > 0.0 else -1
            limit = curve.breaks[segment + (step > 0)]
            if speed == 0.0 or not np.isfinite(limit) or entered == (a, -step):
                continue
            distance = max((limit - self._w[self._system.n + a]) / speed, 0.0)
            if distance < nearest:
                nearest, crossing = distance, (a, step, limit)
        if crossing is None:
            if orientation < 0.0:
                raise PathLost("the path escapes to infinity")
            return None
        a, step, limit = crossing
        self._w += nearest * velocity
        self._w[self._system.n + a] = limit
        self._progress += orientation * nearest
        return a, step
