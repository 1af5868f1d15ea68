"""DC machines.

The defaults are those of the Modelica Standard Library: machines of 100 V, 100 A and about 1425 rpm. From the nominal
operating point follows the machine constant ``k = ViNominal / wNominal``, with the induced voltage ``ViNominal`` that the
nominal voltage leaves after the resistances. Losses of friction, of the core, in the brushes and of stray load are left
out, and so are saturation and armature reaction. The housing is fixed.

While ``useThermalPort`` is true the losses of the windings leave through heat ports, and the resistances follow their
temperatures: ``Ra`` belongs to ``TaRef``, and changes by ``alpha20a`` of its value at 20 degC per kelvin; 3.92e-3 1/K is copper.
"""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Expr, Parameter, Statement, Structural, Variable, der, require

from ..electrical.interfaces import Pin
from ..rotational.interfaces import Flange
from ..thermal.interfaces import HeatPort, linear_temperature_dependency


class PartialDCMachine(Component):
    """Partial: armature circuit and rotor, ``va = Ra * ia + der(La * ia) + vi``, ``der(Jr * w) = tauElectrical + flange.tau``.

    A component adds `nominal_drop` and, by `conversion`, what induced voltage ``vi`` and torque ``tauElectrical`` are. With
    ``useThermalPort``: ``heatPortArmature.Q_flow = -Ra * ia**2``, with the resistance at the temperature of that port.
    """

    pin_ap = Pin()
    pin_an = Pin()
    flange = Flange()
    Jr: Parameter = Parameter(default=0.15, unit="kg.m2", min=0, doc="Moment of inertia of the rotor")
    VaNominal: Parameter = Parameter(default=100.0, unit="V", min=0, doc="Nominal armature voltage")
    IaNominal: Parameter = Parameter(default=100.0, unit="A", min=1e-9, doc="Nominal armature current")
    wNominal: Parameter = Parameter(default=149.2256510455152, unit="rad/s", min=1e-9, doc="Nominal speed")
    Ra: Parameter = Parameter(default=0.05, unit="Ohm", min=0, doc="Armature resistance")
    La: Parameter = Parameter(default=1.5e-3, unit="H", min=0, doc="Armature inductance")
    useThermalPort: Structural[bool] = Structural(
        bool, default=False, doc="True: losses leave through heat ports, whose temperatures the windings have"
    )
    TaRef: Parameter = Parameter(default=293.15, unit="K", doc="Temperature to which Ra belongs")
    TaNominal: Parameter = Parameter(
        default=293.15, unit="K", doc="Armature temperature at the nominal point"
    )
    alpha20a: Parameter = Parameter(
        default=0.0, unit="1/K", doc="Temperature coefficient of Ra at 20 degC, with thermal port"
    )
    va: Variable = Variable(unit="V", doc="Armature voltage")
    ia: Variable = Variable(unit="A", doc="Armature current")
    vi: Variable = Variable(unit="V", doc="Induced voltage")
    phiMechanical: Variable = Variable(unit="rad", doc="Angle of the rotor")
    wMechanical: Variable = Variable(unit="rad/s", doc="Speed of the rotor")
    tauElectrical: Variable = Variable(unit="N.m", doc="Torque of the field on the rotor")
    tauShaft: Variable = Variable(unit="N.m", doc="Torque of the shaft on the load")

    def build(self) -> None:
        if self.useThermalPort:
            self.heatPortArmature = HeatPort()

    def equations(self) -> Iterator[Statement]:
        yield require(
            self.nominal_drop() < self.VaNominal,
            "the resistances take up all of the nominal voltage: none is left for the induced one",
        )
        yield Eq(self.va, self.pin_ap.v - self.pin_an.v)
        yield Eq(self.ia, self.pin_ap.i)
        yield Eq(0, self.pin_ap.i + self.pin_an.i)
        Ra = self.armature_resistance(self.heatPortArmature.T) if self.useThermalPort else self.Ra
        yield Eq(self.va, Ra * self.ia + der(self.La * self.ia) + self.vi)
        if self.useThermalPort:
            yield Eq(self.heatPortArmature.Q_flow, -Ra * self.ia**2)
        yield Eq(self.phiMechanical, self.flange.phi)
        yield Eq(self.wMechanical, der(self.phiMechanical))
        yield Eq(self.tauShaft, -self.flange.tau)
        yield Eq(der(self.Jr * self.wMechanical), self.tauElectrical - self.tauShaft)
        yield from self.conversion()

    def armature_resistance(self, T: Expr) -> Expr:
        """Return the resistance of the armature at temperature ``T``."""
        return linear_temperature_dependency(self.Ra, self.TaRef, self.alpha20a, T)

    def nominal_drop(self) -> Expr:
        """Return the voltage across all resistances of the armature circuit at the nominal point."""
        return self.armature_resistance(self.TaNominal) * self.IaNominal

    @property
    def k(self) -> Expr:
        """Induced voltage per speed at nominal excitation, in V.s."""
        return (self.VaNominal - self.nominal_drop()) / self.wNominal

    def conversion(self) -> Iterator[Statement]:
        """Yield the induced voltage and the torque, and the excitation if there is one."""
        raise NotImplementedError


class DC_PermanentMagnet(PartialDCMachine):
    """DC machine with permanent magnets, ``vi = k * wMechanical``, ``tauElectrical = k * ia``.

    ``k = (VaNominal - Ra * IaNominal) / wNominal``. Affine: a drive with switches stays on the exact path.
    """

    def conversion(self) -> Iterator[Statement]:
        yield Eq(self.vi, self.k * self.wMechanical)
        yield Eq(self.tauElectrical, self.k * self.ia)


class PartialExcitedMachine(PartialDCMachine):
    """Partial: DC machine with a winding for excitation, ``ve = Re * ie + der(Le * ie)``.

    ``vi = k * ie / IeNominal * wMechanical``, ``tauElectrical = k * ie / IeNominal * ia``: the flux is proportional to the
    current. Only the whole of ``Le`` matters, whatever part of it is stray. With ``useThermalPort``:
    ``heatPortExcitation.Q_flow = -Re * ie**2``, with the resistance at the temperature of that port.
    """

    pin_ep = Pin()
    pin_en = Pin()
    TeRef: Parameter = Parameter(default=293.15, unit="K", doc="Temperature to which Re belongs")
    alpha20e: Parameter = Parameter(
        default=0.0, unit="1/K", doc="Temperature coefficient of Re at 20 degC, with thermal port"
    )
    ve: Variable = Variable(unit="V", doc="Voltage of the excitation")
    ie: Variable = Variable(unit="A", doc="Current of the excitation")

    def build(self) -> None:
        super().build()
        if self.useThermalPort:
            self.heatPortExcitation = HeatPort()

    def excited(self, Re: Expr, Le: Expr, nominal: Expr) -> Iterator[Statement]:
        """Yield the winding of resistance ``Re`` and inductance ``Le``, and the conversion by its current."""
        if self.useThermalPort:
            Re = linear_temperature_dependency(Re, self.TeRef, self.alpha20e, self.heatPortExcitation.T)
            yield Eq(self.heatPortExcitation.Q_flow, -Re * self.ie**2)
        yield Eq(self.ve, self.pin_ep.v - self.pin_en.v)
        yield Eq(self.ie, self.pin_ep.i)
        yield Eq(0, self.pin_ep.i + self.pin_en.i)
        yield Eq(self.ve, Re * self.ie + der(Le * self.ie))
        yield Eq(self.vi, self.k / nominal * self.ie * self.wMechanical)
        yield Eq(self.tauElectrical, self.k / nominal * self.ie * self.ia)


class DC_ElectricalExcited(PartialExcitedMachine):
    """DC machine with separate or shunt excitation: `PartialExcitedMachine`, ``k = (VaNominal - Ra * IaNominal) / wNominal``.

    The excitation between ``pin_ep`` and ``pin_en`` has its own source, or is connected to the armature for a shunt machine.
    """

    IeNominal: Parameter = Parameter(default=1.0, unit="A", min=1e-9, doc="Nominal current of the excitation")
    Re: Parameter = Parameter(default=100.0, unit="Ohm", min=0, doc="Resistance of the excitation")
    Le: Parameter = Parameter(default=1.0, unit="H", min=0, doc="Inductance of the excitation")

    def conversion(self) -> Iterator[Statement]:
        yield from self.excited(self.Re, self.Le, self.IeNominal)


class DC_SeriesExcited(PartialExcitedMachine):
    """DC machine for excitation in series: `PartialExcitedMachine`, ``k = (VaNominal - (Ra + Re) * IaNominal) / wNominal``.

    Connect ``pin_an`` with ``pin_ep``; ``VaNominal`` is the voltage of both windings, ``IaNominal`` the nominal current of both.
    Without load it accelerates without limit. Reversing both voltage and current leaves the torque as it is, so that it
    runs on alternating current too (universal motor).
    """

    wNominal: Parameter = Parameter(default=147.6548547187203, unit="rad/s", min=1e-9, doc="Nominal speed")
    Re: Parameter = Parameter(default=0.01, unit="Ohm", min=0, doc="Resistance of the excitation")
    Le: Parameter = Parameter(default=5e-4, unit="H", min=0, doc="Inductance of the excitation")
    TeNominal: Parameter = Parameter(
        default=293.15, unit="K", doc="Temperature of the excitation at the nominal point"
    )

    def nominal_drop(self) -> Expr:
        Re = linear_temperature_dependency(self.Re, self.TeRef, self.alpha20e, self.TeNominal)
        return super().nominal_drop() + Re * self.IaNominal

    def conversion(self) -> Iterator[Statement]:
        yield from self.excited(self.Re, self.Le, self.IaNominal)
