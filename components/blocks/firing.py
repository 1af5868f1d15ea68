"""Firing of line-commutated converters."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

from acausal.modeling import (
    Component,
    Discrete,
    Eq,
    Input,
    Output,
    Parameter,
    Statement,
    and_,
    assign,
    maximum,
    minimum,
    require,
    time,
    when,
)

from .periodic import periods


class PhaseAngle(Component):
    """Gate pulses of a two-pulse thyristor bridge, from the firing angle to the end of each half-wave.

    ``fire_p`` is true from ``alpha`` to ``pi`` of every period, ``fire_n`` from ``pi + alpha`` to ``2 * pi``; the
    angle is held from the begin of each half-wave, in one that began before the run from its start. An angle of ``pi``
    gives no pulse. The pulses follow the clock, not the line: frequency and phase must be those of the source. For more
    phases take one object per phase.
    """

    alpha: Input = Input(float, unit="rad", doc="Firing angle, limited to 0 and pi")
    frequency: Parameter = Parameter(unit="Hz", min=0, doc="Frequency of the line")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Begin of a positive half-wave")
    fire_p: Output = Output(bool, doc="Gate of the thyristors that conduct in positive half-waves")
    fire_n: Output = Output(bool, doc="Gate of the thyristors that conduct in negative half-waves")
    begin_p: Discrete = Discrete(float, unit="s", doc="Begin of the last positive pulse")
    begin_n: Discrete = Discrete(float, unit="s", doc="Begin of the last negative pulse")
    end_p: Discrete = Discrete(float, unit="s", doc="End of the last positive half-wave")
    end_n: Discrete = Discrete(float, unit="s", doc="End of the last negative half-wave")

    def equations(self) -> Iterator[Statement]:
        yield require(self.frequency > 0, "the `frequency` must be positive")
        period = 1 / self.frequency
        half = 0.5 * period
        delay = minimum(maximum(self.alpha, 0.0), pi) / pi * half
        positive, negative = self.startTime, self.startTime + half
        for first, begin, end in ((positive, self.begin_p, self.end_p), (negative, self.begin_n, self.end_n)):
            begins, start = periods(period, first)
            yield when(begins, assign(begin, start + delay), assign(end, start + half))
        yield Eq(self.fire_p, and_(time >= self.begin_p, time < self.end_p))
        yield Eq(self.fire_n, and_(time >= self.begin_n, time < self.end_n))
