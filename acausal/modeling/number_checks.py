"""What counts as a number, and how values stand in messages."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .expressions import LONGEST_INTEGER, Expr


def is_number(value: Any) -> bool:
    """True for a number that is no condition, expression or array, nor an integer beyond 64 bits."""
    if isinstance(value, int) and value.bit_length() > LONGEST_INTEGER:
        return False
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
    if isinstance(value, int) and value.bit_length() > LONGEST_INTEGER:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= 100 else text[:97] + "..."
