"""What rounding leaves of numbers, for kernels and for all that stands on them."""

from __future__ import annotations

UNIT = 2.0**-52
"""Distance of neighbouring numbers relative to their size."""
SUMMED = 4.0 * UNIT
"""Part of its terms by which a sum of products whose factors are exact may be off, as that of a closed form."""
SPLITTER = 134217729.0
"""2**27 + 1: halves a mantissa of 53 bits (Dekker)."""
ROUNDING = 1e-14
"""Part of its terms below which a sum is zero, some fifty roundings of coefficients and values: for constraints as for guards,
both speak of the same left limits."""
HALF = 2.0**-26
"""Half of the digits: the square of what is smaller is rounding, and rounding of a square may be as large."""
LOCATED = 4.0
"""Units in the last place of time by which the location of an instant may be off."""
RISE = 0.04
"""Part of the noise floor at which a guard known to leave zero upwards is searched for its next zero."""
EVALUATED = 2.0**-46
"""Part of its terms by which a confirmed row may be off that a closed form gives: of sums of a hundred products."""
RESOLVED = 2.0**-24
"""Part of the terms of a state by which rounding may move it along a segment: the last place of a float of single precision. A
loss that is much smaller than this part, in units of the elements beside it, changes less than the rounding of what it makes
large."""
MISSED = 4.0
"""What integration may have missed of a form or of what is solved for, in estimated errors."""
LATE = 16.0
"""Units in the last place of time by which an event may be late where it is confirmed."""
