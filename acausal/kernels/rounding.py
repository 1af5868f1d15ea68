"""What rounding leaves of numbers, for kernels and for all that stands on them."""

from __future__ import annotations

UNIT = 2.0**-52
"""Distance of neighbouring numbers relative to their size."""
SUMMED = 4.0 * UNIT
"""Part of its terms by which a sum of products whose factors are exact may be off, as that of a closed form."""
SPLITTER = 134217729.0
"""2**27 + 1: halves a mantissa of 53 bits (Dekker)."""
