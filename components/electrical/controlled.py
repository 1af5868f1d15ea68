"""Linear controlled sources: side 1 controls, side 2 delivers."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Parameter, Statement

from .interfaces import TwoPort


class VCV(TwoPort):
    """Voltage-controlled voltage source, ``v2 = gain * v1``, ``i1 = 0``.

    Unlimited in voltage, current and bandwidth.
    """

    gain: Parameter = Parameter(unit="1", doc="Voltage gain")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v2, self.gain * self.v1)
        yield Eq(self.i1, 0)


class VCC(TwoPort):
    """Voltage-controlled current source, ``i2 = transConductance * v1``, ``i1 = 0``.

    Unlimited in voltage, current and bandwidth.
    """

    transConductance: Parameter = Parameter(unit="S", doc="Current from p2 to n2 per voltage from p1 to n1")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i2, self.transConductance * self.v1)
        yield Eq(self.i1, 0)


class CCV(TwoPort):
    """Current-controlled voltage source, ``v2 = transResistance * i1``, ``v1 = 0``.

    Unlimited in voltage, current and bandwidth.
    """

    transResistance: Parameter = Parameter(unit="Ohm", doc="Voltage from p2 to n2 per current from p1 to n1")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v2, self.transResistance * self.i1)
        yield Eq(self.v1, 0)


class CCC(TwoPort):
    """Current-controlled current source, ``i2 = gain * i1``, ``v1 = 0``.

    Unlimited in voltage, current and bandwidth.
    """

    gain: Parameter = Parameter(unit="1", doc="Current gain")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i2, self.gain * self.i1)
        yield Eq(self.v1, 0)
