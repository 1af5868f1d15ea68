"""A comparison within an instant: the sign of a difference is that of its first derivative above the noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import casadi as ca

from ..reduction.rounding import ROUNDING
from .lowering import apply


def compared(
    op: str, left: Any, right: Any, moving: Sequence[tuple[Any, Any, Any]], t: Any, tolerance: Any
) -> Any:
    """Truth of a comparison in an instant: value, then derivatives along the motion, decide.

    Parameters
    ----------
    moving : sequence of (x, rates, floors)
        Variables that occur, with two time derivatives, and the depths at which the three count as zero.
    t, tolerance
        Time and its resolution.
    """
    x = ca.vertcat(*(s for s, _, _ in moving), *(r[0] for _, r, _ in moving), t)
    along = ca.vertcat(*(r[0] for _, r, _ in moving), *(r[1] for _, r, _ in moving), 1)
    floors = ca.vertcat(*(f[0] for _, _, f in moving), *(f[1] for _, _, f in moving), 0)
    bends = ca.vertcat(*(r[1] for _, r, _ in moving)) if moving else ca.SX.zeros(0)
    level, depths, levels = left - right, [], []
    for k in range(3):
        slopes = ca.jacobian(level, x)
        depth = ca.fabs(slopes) @ floors
        if k == 2 and moving:
            depth += ca.fabs(ca.jacobian(level, bends)) @ ca.vertcat(*(f[2] for _, _, f in moving))
        levels.append(level)
        depths.append(depth)
        level = slopes @ along
    if moving:
        depths[0] += ROUNDING * (ca.fabs(left) + ca.fabs(right))
    for k in range(2):
        depths[k] += tolerance * ca.fabs(levels[k + 1])
    sign = ca.SX(0)
    for value, depth in zip(reversed(levels), reversed(depths), strict=True):
        sign = ca.if_else(ca.fabs(value) > depth, ca.sign(value), sign)
    return apply(op, sign, ca.SX(0))
