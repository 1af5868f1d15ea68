"""Transistors of power electronics, composed of a quasi-static channel and junctions. Ideal ones: `IdealMOSFET`."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Parameter, Statement, Structural, connect

from .interfaces import Pin
from .mos import NMOS
from .semiconductors import Diode2


class PowerTransistor(Component):
    """Partial: parameters of a channel driven by the gate, and of a diode against its direction."""

    Beta: Parameter = Parameter(
        default=10.0, unit="A/V2", min=0, doc="Transconductance parameter of the channel"
    )
    Vth: Parameter = Parameter(default=3.0, unit="V", doc="Threshold voltage of the gate")
    Roff: Parameter = Parameter(
        default=1e7, unit="Ohm", min=1e-9, doc="Resistance of the channel when it is cut off"
    )
    IdsDiode: Parameter = Parameter(
        default=1e-12, unit="A", min=0, doc="Reverse saturation current of the diode"
    )
    NDiode: Parameter = Parameter(default=1.1, unit="1", min=1e-3, doc="Emission coefficient of the diode")
    RsDiode: Parameter = Parameter(default=5e-3, unit="Ohm", min=0, doc="Series resistance of the diode")
    VfDiode: Parameter = Parameter(default=1.0, unit="V", min=0, doc="Forward voltage of the diode")
    Bv: Parameter = Parameter(default=600.0, unit="V", min=0, doc="Breakdown voltage of the diode")

    def channel_of(self) -> NMOS:
        """Return the channel: a square one whose body is to be joined to its source."""
        return NMOS(Beta=self.Beta, Vt=self.Vth, K2=0.0, K5=1.0, W=1.0, L=1.0, dW=0.0, dL=0.0, RDS=self.Roff)

    def diode_of(self) -> Diode2:
        """Return the diode."""
        return Diode2(Ids=self.IdsDiode, N=self.NDiode, Rs=self.RsDiode, Vf=self.VfDiode, Bv=self.Bv, Gp=0.0)


class PowerMOSFET(PowerTransistor):
    """Power MOSFET, n-channel: `NMOS` with its body at the source, and its body diode, `Diode2` from ``S`` to ``D``.

    Saturation current ``Beta / 2 * (vgs - Vth)**2``, resistance when on ``1 / (Beta * (vgs - Vth))`` at small current;
    the diode breaks down at ``Bv``. Quasi-static: gate charge, output capacitance and reverse recovery are left out,
    and so are the drift region and the temperature.
    """

    D = Pin()
    G = Pin()
    S = Pin()

    def build(self) -> None:
        self.channel = self.channel_of()
        self.diode = self.diode_of()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.D, self.channel.D, self.diode.n)
        yield connect(self.S, self.channel.S, self.channel.B, self.diode.p)
        yield connect(self.G, self.channel.G)


class IGBT(PowerTransistor):
    """Insulated-gate bipolar transistor: a junction in series with a channel, and an antiparallel diode.

    From the collector ``C`` the current passes `Diode2` ``junction`` and `NMOS` ``channel`` to the emitter ``E``:
    no current below the knee of the junction, saturation at ``Beta / 2 * (vge - Vth)**2``, blocking in reverse.
    This is the approximation as PiN rectifier and MOSFET in series (Baliga, Fundamentals of Power Semiconductor
    Devices, 2nd edition 2019, chapter 9). The gain of the internal pnp transistor is contained in ``Beta``, not
    modelled: stored charge, tail current, latch-up, gate charge and temperature are left out. The freewheeling
    ``diode``, `Diode2` from ``E`` to ``C``, is there while ``antiparallel`` is true.
    """

    C = Pin()
    G = Pin()
    E = Pin()
    Ids: Parameter = Parameter(
        default=1e-12, unit="A", min=0, doc="Reverse saturation current of the junction"
    )
    N: Parameter = Parameter(default=1.2, unit="1", min=1e-3, doc="Emission coefficient of the junction")
    Rs: Parameter = Parameter(default=5e-3, unit="Ohm", min=0, doc="Series resistance of the junction")
    Vf: Parameter = Parameter(default=1.0, unit="V", min=0, doc="Forward voltage of the junction")
    antiparallel: Structural[bool] = Structural(
        bool, default=True, doc="True: with antiparallel diode; false: blocks in reverse up to Bv"
    )

    def build(self) -> None:
        self.junction = Diode2(Ids=self.Ids, N=self.N, Rs=self.Rs, Vf=self.Vf, Bv=self.Bv, Gp=0.0)
        self.channel = self.channel_of()
        if self.antiparallel:
            self.diode = self.diode_of()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.C, self.junction.p)
        yield connect(self.junction.n, self.channel.D)
        yield connect(self.E, self.channel.S, self.channel.B)
        yield connect(self.G, self.channel.G)
        if self.antiparallel:
            yield connect(self.E, self.diode.p)
            yield connect(self.C, self.diode.n)
