"""Equations of one mode of a curved model as functions of time and its states, solved by Newton's method.

``X`` holds the states of the affine part and the open unknowns that are differentiated, with their lower
derivatives; ``H`` the highest derivatives of the open unknowns. Curved rows differentiated less often than
needed constrain ``X`` (``C = 0``); differentiated fully they determine ``H`` (``F = 0``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..modes.open_mode import OpenMode, Orders

Evaluate = Any
"""``CurveFunctions``: (level, jets, constants) -> values and gradients."""


@dataclass(frozen=True, eq=False)
class _Jet:
    """Linear map from [X, H] and from xi, shapes (., nX + m) and (., q)."""

    y: np.ndarray
    xi: np.ndarray

    def __call__(self, y: np.ndarray, xi: np.ndarray) -> np.ndarray:
        return self.y.dot(y) + self.xi.dot(xi)


class _Level:
    """Rows of one level in force: which arguments are theirs, where each row begins."""

    def __init__(self, rows: np.ndarray, owner: np.ndarray) -> None:
        self.rows = rows
        self.arguments = np.concatenate([np.flatnonzero(owner == r) for r in rows] or [np.zeros(0, np.int64)])
        counts = np.array([np.count_nonzero(owner == r) for r in rows])
        self.starts = np.concatenate([[0], np.cumsum(counts)])[:-1].astype(np.int64)

    def gather(self, gradients: list[np.ndarray], maps: list[np.ndarray]) -> np.ndarray:
        """Derivatives of the rows through all jets, (rows, columns)."""
        at = self.arguments
        total = sum(g[at, None] * a[at] for g, a in zip(gradients, maps, strict=True))
        return np.add.reduceat(total, self.starts, axis=0)  # type: ignore[arg-type]


@dataclass(eq=False)
class Linear:
    """Residuals and Jacobians at a point; columns are [X, H]."""

    C: np.ndarray
    F: np.ndarray
    C_y: np.ndarray
    F_y: np.ndarray
    C_t: np.ndarray
    F_t: np.ndarray


class CurvedSystem:
    """One mode.

    Parameters
    ----------
    mode : OpenMode
    orders : Orders
    arguments : (na, nv) array
        Arguments of all curved rows over ``v = [s; h; xi]``.
    owner : (na,) array
    evaluate : CurveFunctions
    S : (q, q) array
        Generator of the sources.
    scale : (n_s + m,) array
        Magnitudes of ``s`` and ``h``.
    unit : float
        Unit of time, in seconds.
    """

    def __init__(
        self, mode: OpenMode, orders: Orders, arguments: np.ndarray, owner: np.ndarray, evaluate: Evaluate,
        S: np.ndarray, scale: np.ndarray, unit: float,
    ) -> None:  # fmt: skip
        self.mode, self.orders, self.evaluate, self.S = mode, orders, evaluate, S
        ns, m = len(mode.states), len(mode.open)
        p, c = orders.unknowns, orders.rows
        first, second = np.flatnonzero(p >= 1), np.flatnonzero(p >= 2)
        self.nx, self.m = ns + len(first) + len(second), m
        self.highest = orders.highest
        self.algebraic = np.flatnonzero(p == 0)
        jets = _jets(mode, p, first, second, S, self.nx)
        self.v0, self.v1 = jets[0], jets[1]
        used = jets[: self.highest + 1]
        self.arguments = arguments
        self._a = [_Jet(arguments @ j.y, arguments @ j.xi) for j in used]
        self._rate = _rates(mode, p, first, second, jets, self.nx)
        self.scale = np.concatenate([scale[:ns], scale[ns + first], scale[ns + second] / unit])
        self.open_scale = scale[ns:] / unit**p
        self.levels = [_Level(mode.curved[c == level], owner) for level in range(self.highest + 1)]
        self.hidden = [_Level(mode.curved[c > level], owner) for level in range(self.highest)]
        self.constraints = sum(len(h.rows) for h in self.hidden)
        self.place = np.concatenate([np.flatnonzero(c == level) for level in range(self.highest + 1)])
        """Curved row in force behind every row of F."""

    # -- evaluation ----------------------------------------------------------------------------------------------

    def linear(
        self, X: np.ndarray, H: np.ndarray, xi: np.ndarray, constants: np.ndarray, time: bool = False
    ) -> Linear:
        """Constraints ``C`` and equations ``F`` at a point with their derivatives."""
        y = np.concatenate([X, H])
        jets = [a(y, xi) for a in self._a]
        maps, moves = [a.y for a in self._a], [a.xi for a in self._a]
        xi_t = self.S.dot(xi) if time else None
        parts: list[list[np.ndarray]] = [[] for _ in range(6)]
        for level in range(self.highest + 1):
            values, gradients = self._derivatives(level, jets, constants)
            chosen = [(self.levels[level], 1)] + ([(self.hidden[level], 0)] if level < self.highest else [])
            for rows, full in chosen:
                if not len(rows.rows):
                    continue
                parts[full].append(values[rows.rows])
                parts[2 + full].append(rows.gather(gradients, maps[: level + 1]))
                if xi_t is not None:
                    parts[4 + full].append(rows.gather(gradients, moves[: level + 1]) @ xi_t)
        width = self.nx + self.m
        made = [
            np.concatenate(part) if part else np.zeros((0, width) if k in (2, 3) else 0)
            for k, part in enumerate(parts)
        ]
        return Linear(*made)

    def _derivatives(
        self, level: int, jets: list[np.ndarray], constants: np.ndarray
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        found = self.evaluate(level, jets[: level + 1], constants)
        values, gradients = found[0], list(found[1:])
        if level:
            # The gradient with respect to the highest jet is that of the row itself.
            gradients.append(self._gradient)
        else:
            self._gradient = gradients[0].copy()
        return values, gradients

    def rate(self, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> np.ndarray:
        """``dX/dt``."""
        return self._rate(np.concatenate([X, H]), xi)

    @property
    def rate_map(self) -> np.ndarray:
        """``dX/dt`` over [X, H]."""
        return self._rate.y

    @property
    def rate_of_sources(self) -> np.ndarray:
        """``dX/dt`` over xi."""
        return self._rate.xi


def _jets(
    mode: OpenMode, p: np.ndarray, first: np.ndarray, second: np.ndarray, S: np.ndarray, nx: int
) -> list[_Jet]:
    """``v = [s; h; xi]`` and its first two time derivatives; what is not known of them is zero."""
    ns, m, q = len(mode.states), len(mode.open), len(S)
    nv = ns + m + q
    power, jets = np.eye(q), []
    lower = {0: (first, ns), 1: (second, ns + len(first))}
    for level in range(3):
        y, xi = np.zeros((nv, nx + m)), np.zeros((nv, q))
        if level == 0:
            y[np.arange(ns), np.arange(ns)] = 1.0
        else:
            y[:ns], xi[:ns] = mode.rate @ jets[-1].y, mode.rate @ jets[-1].xi
        known, at = lower.get(level, (first[:0], 0))
        y[ns + known, at + np.arange(len(known))] = 1.0
        top = np.flatnonzero(p == level)
        y[ns + top, nx + top] = 1.0
        xi[ns + m :] = power
        power = power @ S
        jets.append(_Jet(y, xi))
    return jets


def _rates(
    mode: OpenMode, p: np.ndarray, first: np.ndarray, second: np.ndarray, jets: list[_Jet], nx: int
) -> _Jet:
    ns = len(mode.states)
    rows = np.concatenate([np.arange(ns), ns + first])
    y, xi = jets[1].y[rows], jets[1].xi[rows]
    last = np.zeros((len(second), y.shape[1]))
    last[np.arange(len(second)), nx + second] = 1.0
    return _Jet(np.vstack([y, last]), np.vstack([xi, np.zeros((len(second), xi.shape[1]))]))
