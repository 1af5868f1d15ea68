"""A DC motor behind an H-bridge of ideal switches and diodes."""

from __future__ import annotations

from collections.abc import Iterator

from acausal import Component, Parameter, Statement, Structural, connect
from acausal.components.blocks import PWM
from acausal.components.electrical import (
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Resistor,
)
from acausal.components.electromechanical import RotationalEMF
from acausal.components.rotational import Damper, Fixed, IdealGear, Inertia


class MotorBridge(Component):
    """Four switches, each with a diode, apply plus or minus 24 V to a motor at 20 kHz, without dead time.

    The inertia is the rotor's alone, or in part that of a load behind a gear.
    """

    R: Parameter = Parameter(default=0.502, unit="Ohm", doc="Armature resistance and that of two switches")
    geared: Structural[bool] = Structural(bool, default=False, doc="True: a gear and a load")

    def build(self) -> None:
        self.source, self.ground, self.pwm = ConstantVoltage(V=24.0), Ground(), PWM(frequency=20e3, duty=0.75)
        self.ap, self.bn, self.an, self.bp = (IdealClosingSwitch() for _ in range(4))
        self.Dap, self.Dbn, self.Dan, self.Dbp = (IdealDiode() for _ in range(4))
        self.resistor, self.inductor, self.emf = Resistor(R=self.R), Inductor(L=1e-3), RotationalEMF(k=0.05)
        self.rotor = Inertia(J=0.6e-4 if self.geared else 1e-4)
        self.friction, self.housing = Damper(d=1e-5), Fixed()
        if self.geared:
            self.gear, self.load = IdealGear(ratio=10.0), Inertia(J=4e-3)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.pwm.y, self.ap.control, self.bn.control)
        yield connect(self.pwm.notY, self.an.control, self.bp.control)
        yield connect(self.source.p, self.ap.p, self.bp.p, self.Dap.n, self.Dbp.n)
        yield connect(self.source.n, self.an.n, self.bn.n, self.Dan.p, self.Dbn.p, self.ground.p)
        yield connect(self.ap.n, self.an.p, self.Dap.p, self.Dan.n, self.resistor.p)
        yield connect(self.bp.n, self.bn.p, self.Dbp.p, self.Dbn.n, self.emf.n)
        yield connect(self.resistor.n, self.inductor.p)
        yield connect(self.inductor.n, self.emf.p)
        yield connect(self.emf.flange, self.rotor.flange_a, self.friction.flange_b)
        yield connect(self.friction.flange_a, self.housing.flange)
        if self.geared:
            yield connect(self.rotor.flange_b, self.gear.flange_a)
            yield connect(self.gear.flange_b, self.load.flange_a)
