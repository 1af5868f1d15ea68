"""The closed forms of one mode: the same motion, written for segments of different lengths."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

from .closed_form import AffineFlow

POWERS = 4
"""Powers of two between the time units of flows for short segments."""


class Flows:
    """Flows of ``y' = Ay y``, made when they are asked for.

    A flow splits sources off from states, as a motion that follows the source and one that decays. Over a time in which neither
    moves much both all but cancel: a short steep ramp into a slow state, written like that, leaves rounding of the slope times
    the time constant. A flow with a time unit as short as the segment keeps what is so slow together.

    Parameters
    ----------
    make : callable
        Makes the flow for a time unit in seconds; inf for the one of the model.
    """

    def __init__(self, make: Callable[[float], AffineFlow]) -> None:
        self._make = make
        self.short: dict[float, AffineFlow] = {}
        """Those for short segments that were made, by the lengths from which they suit."""

    @cached_property
    def usual(self) -> AffineFlow:
        """That for segments of the usual lengths."""
        return self._make(math.inf)

    def within(self, length: float) -> AffineFlow:
        """That for a segment of some seconds, shorter than suits the usual one."""
        if not length > 0.0:
            return self.usual
        unit = 2.0 ** (POWERS * math.floor(math.log2(length) / POWERS))
        found = self.short.get(unit)
        if found is None:
            found = self.short[unit] = self._make(unit)
        return found
