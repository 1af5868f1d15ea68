"""Pulse width modulation. Edges of the sampled modulators are time events, computed from the duty ratio."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum

from acausal.modeling import (
    Component,
    Discrete,
    Eq,
    Expr,
    Input,
    Output,
    Parameter,
    Statement,
    Structural,
    Variable,
    and_,
    assign,
    floor,
    if_else,
    initial,
    maximum,
    minimum,
    not_,
    or_,
    pre,
    require,
    sample,
    time,
    when,
)

from .periodic import periods


class Carrier(Enum):
    """Shape of a carrier over one period, between 0 and 1."""

    SAWTOOTH = "sawtooth"
    """Rises: the pulse begins with the period."""

    TRIANGLE = "triangle"
    """Rises, then falls: half of the pulse begins the period, half ends it."""

    FALLING = "falling"
    """Falls: the pulse ends with the period."""


class PartialPWM(Component):
    """Pulses ``y`` and their complement ``notY`` for a duty ratio."""

    frequency: Parameter = Parameter(unit="Hz", min=0, doc="Frequency of the carrier")
    duty: Input = Input(float, unit="1", doc="Duty ratio, limited to 0 and 1")
    carrier: Structural[Carrier] = Structural(Carrier, default=Carrier.SAWTOOTH, doc="Shape of the carrier")
    phase: Parameter = Parameter(default=0.0, unit="1", min=0, doc="Delay of the carrier in periods")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Begin of the first period at phase 0")
    y: Output = Output(bool, doc="True: duty ratio above the carrier")
    notY: Output = Output(bool, doc="Complement of y")

    def equations(self) -> Iterator[Statement]:
        yield require(self.frequency > 0, "the `frequency` must be positive")

    def first(self) -> Expr:
        """Return the begin of the first period in seconds."""
        return self.startTime + self.phase / self.frequency


class PWM(PartialPWM):
    """Pulse width modulator, ``y = held > carrier``, with the duty ratio held from the begin of each period.

    A duty ratio of 0 or below gives no pulse, not even one without length, and one of 1 or above no gap. Before the
    first period ``y`` is false. Of a continuous duty ratio the value just before the tick counts, of a discrete one that is
    assigned in the instant of the tick the new one; in a period that began before the run the value at its start.
    """

    held: Discrete = Discrete(float, unit="1", doc="Duty ratio of this period")
    end: Discrete = Discrete(float, unit="s", doc="End of the pulse that begins the period")
    begin: Discrete = Discrete(float, unit="s", doc="Begin of the pulse that ends the period")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        period = 1 / self.frequency
        begins, start = periods(period, self.first())
        duty = minimum(maximum(self.duty, 0.0), 1.0)
        share = 0.5 * duty if self.carrier is Carrier.TRIANGLE else duty
        # A full pulse ends after the next period has begun, so that no gap opens at the tick.
        yield when(
            begins,
            assign(self.held, duty),
            assign(self.end, start + if_else(self.duty >= 1, 2.0, share) * period),
            assign(self.begin, start + (1.0 - share) * period),
        )
        on = self.held > 0  # not before the first period
        leading, trailing = and_(on, time < self.end), and_(on, time >= self.begin)
        pulse = {
            Carrier.SAWTOOTH: leading,
            Carrier.TRIANGLE: or_(leading, trailing),
            Carrier.FALLING: trailing,
        }[self.carrier]
        yield Eq(self.y, pulse)
        yield Eq(self.notY, not_(self.y))


class NaturalPWM(PartialPWM):
    """Pulse width modulator with natural sampling, ``y = duty > carrier`` at every time.

    Edges are state events. A duty ratio that is steeper than the carrier gives several pulses in a period.
    """

    piece: Discrete = Discrete(int, start=-1, doc="Number of the straight piece of the carrier, -1 before")
    even: Discrete = Discrete(float, unit="s", doc="Begin of the present or next piece with an even number")
    odd: Discrete = Discrete(float, unit="s", doc="Begin of the present or next piece with an odd number")
    level: Variable = Variable(unit="1", doc="Carrier")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        rate = self.frequency * (2.0 if self.carrier is Carrier.TRIANGLE else 1.0)
        first = self.first()
        tick = sample(period=1 / rate, start=first)
        passed = (time - first) * rate
        yield when(
            initial(), assign(self.piece, maximum(-1, floor(if_else(tick, passed + 0.5, passed))))
        ).elsewhen(tick, assign(self.piece, pre(self.piece) + 1))
        # Pieces take turns, and the one that rests is moved to where it goes on. So where they meet the comparison with the
        # next one, its slope included, is known before it comes into force: the corner makes neither gap nor pulse.
        half = floor(0.5 * self.piece)
        yield Eq(self.even, first + 2.0 * floor(0.5 * self.piece + 0.5) / rate)
        yield Eq(self.odd, first + (2.0 * half + 1.0) / rate)
        of_even, of_odd = (time - self.even) * rate, (time - self.odd) * rate
        even, odd = {
            Carrier.SAWTOOTH: (of_even, of_odd),
            Carrier.TRIANGLE: (of_even, 1.0 - of_odd),
            Carrier.FALLING: (1.0 - of_even, 1.0 - of_odd),
        }[self.carrier]
        running, is_odd = self.piece >= 0, self.piece - 2.0 * half > 0.5
        yield Eq(self.level, if_else(running, if_else(is_odd, odd, even), 1.0))
        above = or_(and_(is_odd, self.duty > odd), and_(not_(is_odd), self.duty > even))
        # The extreme duty ratios touch the carrier at its ends, which must make neither gap nor pulse.
        yield Eq(self.y, and_(running, or_(self.duty >= 1, and_(self.duty > 0, above))))
        yield Eq(self.notY, not_(self.y))


class DeadTime(Component):
    """Drives the two switches of a leg from one signal; each turns on ``dead_time`` after the other has turned off.

    ``high = u`` and ``low = not u``, except for the dead time after each change of ``u`` and after the start, when
    both are false. A pulse that is not longer than the dead time is lost.
    """

    u: Input = Input(bool, doc="True: the upper switch conducts")
    dead_time: Parameter = Parameter(default=0.0, unit="s", min=0, doc="Delay of turning on")
    high: Output = Output(bool, doc="Upper switch")
    low: Output = Output(bool, doc="Lower switch")
    rise: Discrete = Discrete(float, unit="s", doc="Last change of u to true, or the start")
    fall: Discrete = Discrete(float, unit="s", doc="Last change of u to false, or the start")

    def equations(self) -> Iterator[Statement]:
        off = not_(self.u)
        yield when([initial(), self.u], assign(self.rise, time))
        yield when([initial(), off], assign(self.fall, time))
        yield Eq(self.high, and_(self.u, time >= self.rise + self.dead_time))
        yield Eq(self.low, and_(off, time >= self.fall + self.dead_time))


class ComplementaryPWM(Component):
    """Pulse width modulator for the two switches of a leg, as ``PWM`` with ``DeadTime``.

    A pulse or gap that is not longer than the dead time is lost.
    """

    frequency: Parameter = Parameter(unit="Hz", min=0, doc="Frequency of the carrier")
    duty: Input = Input(
        float, unit="1", doc="Duty ratio of the upper switch before the dead time, limited to 0 and 1"
    )
    dead_time: Parameter = Parameter(default=0.0, unit="s", min=0, doc="Delay of turning on")
    carrier: Structural[Carrier] = Structural(Carrier, default=Carrier.SAWTOOTH, doc="Shape of the carrier")
    phase: Parameter = Parameter(default=0.0, unit="1", min=0, doc="Delay of the carrier in periods")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Begin of the first period at phase 0")
    high: Output = Output(bool, doc="Upper switch")
    low: Output = Output(bool, doc="Lower switch")

    def build(self) -> None:
        self.pwm = PWM(
            frequency=self.frequency,
            duty=self.duty,
            carrier=self.carrier,
            phase=self.phase,
            startTime=self.startTime,
        )
        self.delay = DeadTime(u=self.pwm.y, dead_time=self.dead_time)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.high, self.delay.high)
        yield Eq(self.low, self.delay.low)
