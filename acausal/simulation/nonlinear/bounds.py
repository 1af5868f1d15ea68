"""Bounds of variables, within which a start is sought first."""

from __future__ import annotations

import numpy as np

from ...modeling.fields import Variable
from ...reduction.open_mode import OpenMode, Orders
from ..compiled import CompiledModel

Bounds = tuple[np.ndarray, np.ndarray]
"""Lower and upper bounds, infinite where there are none."""


def core_bounds(program: CompiledModel) -> Bounds | None:
    """Bounds of the core unknowns (n,) as variables declare them; None without any."""
    unknowns, n = program.unknowns, len(program.reduced.core)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    for f, ids in program.flat.variable_fields():
        if not isinstance(f, Variable) or not (np.isfinite(f.min) or np.isfinite(f.max)):
            continue
        for x in ids.tolist():
            alias = unknowns.single(x)
            k = -1 if alias is None else int(unknowns.core_index[alias[0]])
            if alias is None or k < 0:
                continue
            ends = sorted((alias[1] * f.min, alias[1] * f.max))
            low[k], high[k] = max(low[k], ends[0]), min(high[k], ends[1])
    bounded = np.isfinite(low) | np.isfinite(high)
    return (low, high) if bounded.any() and (low <= high).all() else None


def open_bounds(bounds: Bounds | None, opened: OpenMode, orders: Orders) -> Bounds | None:
    """Bounds of the open unknowns of a mode; None without any."""
    if bounds is None:
        return None
    free = opened.slopes | (orders.unknowns > 0)
    low = np.where(free, -np.inf, bounds[0][opened.open])
    high = np.where(free, np.inf, bounds[1][opened.open])
    return (low, high) if np.isfinite(low).any() or np.isfinite(high).any() else None


def within(x: np.ndarray, bounds: Bounds | None) -> np.ndarray:
    """The nearest point within the bounds."""
    return x if bounds is None else np.clip(x, *bounds)


def inside(x: np.ndarray, bounds: Bounds, scale: np.ndarray) -> np.ndarray:
    """A point away from the bounds: in the middle between two, a scale from a single one."""
    low, high = bounds
    both = np.isfinite(low) & np.isfinite(high)
    middle = 0.5 * (np.where(both, low, 0.0) + np.where(both, high, 0.0))
    return np.where(both, middle, np.clip(x, low + scale, np.maximum(high - scale, low + scale)))
