"""Sampled blocks.

A sample of a continuous signal is its value just before the instant. The output of another sampled block counts with
its new value: a controller and a modulator on one tick act at once. A processor needs a period for that; put a
``UnitDelay`` between them.
"""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Discrete,
    Eq,
    Expr,
    Input,
    Parameter,
    Statement,
    assign,
    initial,
    maximum,
    minimum,
    pre,
    require,
    sample,
    when,
)

from .interfaces import SISO, SO


class PartialDiscreteSISO(SISO):
    """Continuous input, output that changes at samples only, ``y = held``."""

    samplePeriod: Parameter = Parameter(unit="s", min=0, doc="Sample period")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Time of the first sample")
    held: Discrete = Discrete(float, doc="Output, with its value before the first sample as start value")

    def equations(self) -> Iterator[Statement]:
        yield require(self.samplePeriod > 0, "the `samplePeriod` must be positive")
        yield Eq(self.y, self.held)


class Sampler(PartialDiscreteSISO):
    """Sample and hold, ``held = u`` at every sample and at the start of the run."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        instants = [sample(period=self.samplePeriod, start=self.startTime), initial()]
        yield when(instants, assign(self.held, self.u))


class ZeroOrderHold(PartialDiscreteSISO):
    """Hold element, ``held = u`` at every sample; before the first one the start value of ``held``."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield when(sample(period=self.samplePeriod, start=self.startTime), assign(self.held, self.u))


class UnitDelay(PartialDiscreteSISO):
    """Delay by one sample, ``held = pre(stored)`` and ``stored = u``."""

    stored: Discrete = Discrete(float, doc="Last sample; its start value is the first output")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        tick = sample(period=self.samplePeriod, start=self.startTime)
        yield when(tick, assign(self.held, pre(self.stored)), assign(self.stored, self.u))


class SampledPI(SO):
    """Sampled proportional-integral controller with limits.

    At every sample, with ``e = reference - measurement``: ``integral = limit(pre(integral) + ki * period * e)`` and
    ``y = limit(kp * e + integral)``. The limited integral is the anti-windup. ``ki = kp / Ti`` for an integral time.
    """

    reference: Input = Input(float, doc="Set point")
    measurement: Input = Input(float, doc="Measured value")
    kp: Parameter = Parameter(doc="Proportional gain")
    ki: Parameter = Parameter(default=0.0, doc="Integral gain, per second")
    period: Parameter = Parameter(unit="s", min=0, doc="Sample period")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Time of the first sample")
    yMin: Parameter = Parameter(default=-1e300, doc="Lower limit of the output")
    yMax: Parameter = Parameter(default=1e300, doc="Upper limit of the output")
    integral: Discrete = Discrete(float, doc="Integral part")
    held: Discrete = Discrete(float, doc="Output, with its value before the first sample as start value")

    def equations(self) -> Iterator[Statement]:
        yield require(self.period > 0, "the `period` must be positive")
        yield require(self.yMin <= self.yMax, "the lower limit must not exceed the upper one")
        error = self.reference - self.measurement
        integral = self._limited(pre(self.integral) + self.ki * self.period * error)
        yield when(
            sample(period=self.period, start=self.startTime),
            assign(self.integral, integral),
            assign(self.held, self._limited(self.kp * error + integral)),
        )
        yield Eq(self.y, self.held)

    def _limited(self, value: Expr) -> Expr:
        return minimum(maximum(value, self.yMin), self.yMax)
