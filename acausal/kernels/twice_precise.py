"""Sums of matrix products in twice the working precision.

References: T. J. Dekker, A floating-point technique for extending the available precision, Numerische Mathematik 18 (1971);
T. Ogita, S. M. Rump, S. Oishi, Accurate sum and dot product, SIAM Journal on Scientific Computing 26 (2005).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .dialect import kernel
from .rounding import SPLITTER


class ProductSum(NamedTuple):
    """A sum (m, k) as an unevaluated pair of doubles, and the factors of a product that is added."""

    layout = "f2 f2 f2 f2"
    high: np.ndarray
    low: np.ndarray
    a: np.ndarray
    """(m, n)."""
    b: np.ndarray
    """(n, k)."""


@kernel
def accumulate(s: ProductSum) -> int:
    """Add the product of both factors; terms are added in order."""
    for i in range(s.a.shape[0]):
        for j in range(s.a.shape[1]):
            a = s.a[i, j]
            if a == 0.0:
                continue
            t = SPLITTER * a
            ah = t - (t - a)
            al = a - ah
            for c in range(s.b.shape[1]):
                b, high = s.b[j, c], s.high[i, c]
                t = SPLITTER * b
                bh = t - (t - b)
                bl = b - bh
                p = a * b
                total = high + p
                z = total - high
                s.low[i, c] += (high - (total - z)) + (p - z)
                s.low[i, c] += ((ah * bh - p) + ah * bl + al * bh) + al * bl
                s.high[i, c] = total
    return 0
