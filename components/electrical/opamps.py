"""Operational amplifiers: ideal, ideal with limits, with finite gain.

The output delivers its current from ground, by a way that no pin shows; the supply pins carry none.
"""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Component,
    Eq,
    Expr,
    Mode,
    Modes,
    Parameter,
    Statement,
    Structural,
    Variable,
    absolute,
    leave,
    no_event,
)

from .interfaces import Pin


class IdealOpAmp(Component):
    """Ideal operational amplifier with floating output: nullator and norator.

    ``in_p.v = in_n.v``, ``in_p.i = in_n.i = 0``, ``out_p.i + out_n.i = 0``; voltage and current of the output are
    what the feedback needs. Without negative feedback there is no solution, or a wrong one: the sign of the gain
    does not show. No limits, no bandwidth.
    """

    in_p = Pin()
    in_n = Pin()
    out_p = Pin()
    out_n = Pin()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.in_p.v, self.in_n.v)
        yield Eq(self.in_p.i, 0)
        yield Eq(self.in_n.i, 0)
        yield Eq(0, self.out_p.i + self.out_n.i)


class ThreePinOpAmp(Component):
    """Partial: inputs without current, ``vin = in_p.v - in_n.v``."""

    in_p = Pin()
    in_n = Pin()
    out = Pin()
    vin: Variable = Variable(unit="V", doc="Voltage between the inputs")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.vin, self.in_p.v - self.in_n.v)
        yield Eq(self.in_p.i, 0)
        yield Eq(self.in_n.i, 0)


class IdealOpAmp3Pin(ThreePinOpAmp):
    """Ideal operational amplifier, ``vin = 0``: `IdealOpAmp` with its output against ground."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.vin, 0)


class LimitedOpAmp(ThreePinOpAmp):
    """Partial: the output stays between a lower and an upper limit, parameters or potentials of supply pins."""

    Vps: Parameter = Parameter(default=15.0, unit="V", doc="Upper limit of the output, without supply pins")
    Vns: Parameter = Parameter(default=-15.0, unit="V", doc="Lower limit of the output, without supply pins")
    useSupply: Structural[bool] = Structural(
        bool, default=False, doc="True: the limits are the potentials of the pins s_p and s_n"
    )

    def build(self) -> None:
        if self.useSupply:
            self.s_p, self.s_n = Pin(), Pin()

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        if self.useSupply:
            yield Eq(self.s_p.i, 0)
            yield Eq(self.s_n.i, 0)

    @property
    def upper(self) -> Expr:
        """Upper limit of the output, in V."""
        return self.s_p.v if self.useSupply else self.Vps

    @property
    def lower(self) -> Expr:
        """Lower limit of the output, in V."""
        return self.s_n.v if self.useSupply else self.Vns


class IdealOpAmpLimited(LimitedOpAmp):
    """Operational amplifier of infinite gain with limits: a step along which ``vin`` and ``out.v`` move.

    ``linear``: ``vin = 0`` while ``out.v`` is between the limits; ``high``: ``out.v`` at the upper limit while
    ``vin >= 0``; ``low``: at the lower one while ``vin <= 0``. With positive feedback more than one mode may
    be possible at an instant: the present one stays while it can, which makes a Schmitt trigger of the amplifier.
    The state is read as ``state``. No bandwidth, no slew rate.
    """

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        v = self.out.v
        yield Modes(
            "state",
            Mode("linear", Eq(self.vin, 0), leave("high", v - self.upper), leave("low", self.lower - v)),
            Mode("high", Eq(v, self.upper), leave("linear", -self.vin)),
            Mode("low", Eq(v, self.lower), leave("linear", self.vin)),
            curve=(self.vin, v),
            start="linear",
        )


class OpAmp(LimitedOpAmp):
    """Operational amplifier of finite gain with limits: ``out.v = mean + Slope * vin / (1 + Slope * |vin| / half)``.

    ``mean`` is the middle between the limits and ``half`` the distance from there, so that the gain is ``Slope``
    at ``vin = 0`` and the output tends to its limits. No bandwidth, no offset, no input current.
    """

    Slope: Parameter = Parameter(default=1e4, unit="1", min=0, doc="Gain at vin = 0")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        mean, half = (self.upper + self.lower) / 2, (self.upper - self.lower) / 2
        size = no_event(absolute(self.vin))
        yield Eq(self.out.v, mean + self.Slope * self.vin / (1 + self.Slope * size / half))
