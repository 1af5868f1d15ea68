"""Transistors as composites of ideal elements: a controlled path and its antiparallel diode."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Impulse, Input, Parameter, Statement, Structural, connect

from .ideal import IdealClosingSwitch, IdealDiode, IdealGTOThyristor
from .interfaces import TwoPin


class TransistorWithDiode(TwoPin):
    """Partial: parameters of a controlled path from ``p`` to ``n`` with a diode from ``n`` to ``p``."""

    Ron: Parameter = Parameter(default=0.0, unit="Ohm", min=0, doc="Resistance of the transistor when on")
    Goff: Parameter = Parameter(default=0.0, unit="S", min=0, doc="Conductance of the transistor when off")
    RonDiode: Parameter = Parameter(default=0.0, unit="Ohm", min=0, doc="Forward resistance of the diode")
    GoffDiode: Parameter = Parameter(default=0.0, unit="S", min=0, doc="Reverse conductance of the diode")
    VkneeDiode: Parameter = Parameter(
        default=0.0, unit="V", min=0, doc="Forward threshold voltage of the diode"
    )
    gate: Input = Input(bool, doc="True: the transistor is on")


class IdealIGBT(TransistorWithDiode):
    """Insulated-gate bipolar transistor with antiparallel diode; ``p`` is the collector, ``n`` the emitter.

    Forward: `IdealGTOThyristor` with ``fire = gate``; backward: `IdealDiode`, whatever the gate. The transistor
    itself does not conduct backward. Switching is instantaneous, without tail current and reverse recovery.
    """

    Vknee: Parameter = Parameter(default=0.0, unit="V", min=0, doc="Threshold voltage of the transistor")

    def build(self) -> None:
        self.transistor = IdealGTOThyristor(Ron=self.Ron, Goff=self.Goff, Vknee=self.Vknee, fire=self.gate)
        self.diode = IdealDiode(Ron=self.RonDiode, Goff=self.GoffDiode, Vknee=self.VkneeDiode)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield connect(self.p, self.transistor.p, self.diode.n)
        yield connect(self.n, self.transistor.n, self.diode.p)


class IdealMOSFET(TransistorWithDiode):
    """MOSFET with body diode, n-channel; ``p`` is the drain, ``n`` the source.

    Channel: `IdealClosingSwitch` with ``control = gate``, which conducts both ways; body: `IdealDiode` backward. With
    the gate on and current backward the two share it as ``Ron``, ``RonDiode`` and ``VkneeDiode`` demand; if all are
    zero only the sum is determined. Switching is instantaneous, without capacitances and reverse recovery.
    """

    interrupt: Structural[Impulse] = Structural(
        Impulse,
        default=Impulse.DEFAULT,
        doc="What to do when the channel cuts a current that has no other path",
    )

    def build(self) -> None:
        self.channel = IdealClosingSwitch(
            Ron=self.Ron, Goff=self.Goff, interrupt=self.interrupt, control=self.gate
        )
        self.diode = IdealDiode(Ron=self.RonDiode, Goff=self.GoffDiode, Vknee=self.VkneeDiode)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield connect(self.p, self.channel.p, self.diode.n)
        yield connect(self.n, self.channel.n, self.diode.p)
