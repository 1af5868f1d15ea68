"""Which forms can trigger during a segment, and from which side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..reduction.affine import ModeData


def can_trigger(data: ModeData, forced: Sequence[int], disabled: frozenset[Any], count: int) -> np.ndarray:
    """Which of ``count`` guards and relations can trigger: not those of forced elements or disabled guards."""
    found = np.ones(count, bool)
    position: dict[int, int] = {}
    for i, e in enumerate(data.guard_element.tolist()):
        k = position[e] = position.get(e, -1) + 1
        found[i] = forced[e] < 0 and (e, data.mode[e], k) not in disabled
    return found


def orientations(guards: int, operators: Sequence[str], values: Sequence[float]) -> np.ndarray:
    """Sign that makes every form positive where it is in force: guards as they are, relations by their value."""
    towards = [
        1.0 if bool(v) == (op in (">", ">=")) else -1.0 for op, v in zip(operators, values, strict=True)
    ]
    return np.array([1.0] * guards + towards)


def open_at_zero(guards: int, operators: Sequence[str], values: Sequence[float]) -> np.ndarray:
    """Forms that are not in force any more where they come to lie at zero: strict relations that hold, others that do not."""
    return np.array(
        [False] * guards + [bool(v) == (op in "<>") for op, v in zip(operators, values, strict=True)]
    )
