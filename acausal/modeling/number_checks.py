"""What counts as a number, and how values stand in messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .expressions import Expr


def is_number(value: Any) -> bool:
    """True for a number that is no condition, expression or array."""
    return (
        hasattr(value, "__float__")
        and not isinstance(value, (bool, np.bool_, Expr))
        and not getattr(value, "ndim", 0)
    )


def is_finite(value: Any) -> bool:
    """True for a finite number; integers beyond the range of floats are not."""
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def shown(value: Any) -> str:
    """Return a value as it stands in a message, cut where it is long."""
    if isinstance(value, int) and value.bit_length() > 1100:
        return "an integer above 1e308"
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
