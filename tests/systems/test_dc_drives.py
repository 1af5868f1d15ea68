"""DC machines with ideal switches and dry friction: chopper, braking, breaking away."""

import numpy as np
import pytest

from acausal import Component, FrictionState, Parameter, connect, simulate
from acausal.components.blocks import PWM, BooleanStep
from acausal.components.electrical import (
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    IdealTwoWaySwitch,
    Resistor,
)
from acausal.components.electromechanical import DC_PermanentMagnet, DC_SeriesExcited
from acausal.components.rotational import BearingFriction, ConstantSpeed
from tests.systems.circuits import commutations

W = 1425 * 2 * np.pi / 60
K = 95.0 / W


class Chopper(Component):
    """A machine at constant speed behind a switch with a freewheeling diode."""

    duty: Parameter = Parameter(default=0.6, unit="1", doc="Duty ratio")
    w: Parameter = Parameter(default=50.0, unit="rad/s", doc="Speed")

    def build(self) -> None:
        self.source, self.ground, self.pwm = (
            ConstantVoltage(V=100.0),
            Ground(),
            PWM(frequency=200.0, duty=self.duty),
        )
        self.switch, self.diode = IdealClosingSwitch(), IdealDiode()
        self.machine, self.drum = DC_PermanentMagnet(), ConstantSpeed(w_fixed=self.w)

    def equations(self):
        yield connect(self.pwm.y, self.switch.control)
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.machine.pin_ap)
        yield connect(self.source.n, self.diode.p, self.machine.pin_an, self.ground.p)
        yield connect(self.machine.flange, self.drum.flange)


def test_ripple_of_a_chopper() -> None:
    """Periodic solution between ``i_min`` and ``i_max`` of a first-order lag driven by a rectangle."""
    result = simulate(Chopper(), 2.0)
    period, tau = 5e-3, 1.5e-3 / 0.05
    top = 2000.0 * -np.expm1(-0.6 * period / tau) / -np.expm1(-period / tau)
    low = 2000.0 * np.expm1(0.6 * period / tau) / np.expm1(period / tau)
    back = K * 50.0 / 0.05
    ia = result["machine.ia"]
    assert result.modes[0].path == "exact"
    assert ia.at(1.995 + 0.6 * period) == pytest.approx(top - back, rel=1e-10)
    assert ia.final == pytest.approx(low - back, rel=1e-10)
    assert result["machine.tauElectrical"].mean(1.995, 2.0) == pytest.approx(K * (1200.0 - back), rel=1e-10)
    assert abs(result.audit().balance) < 1e-9 * abs(result.energy("source"))


def test_current_of_a_chopper_at_high_speed_is_not_continuous() -> None:
    """The diode blocks when the current, falling towards ``-k * w / R``, is zero."""
    result = simulate(Chopper(duty=0.2, w=0.9 * W), 5e-3)
    tau, back = 1.5e-3 / 0.05, 0.9 * 95.0
    peak = (100.0 - back) / 0.05 * -np.expm1(-1e-3 / tau)
    end = 1e-3 + tau * np.log1p(peak / (back / 0.05))
    assert commutations(result)[:2] == pytest.approx([1e-3, end], rel=1e-12)
    assert result["machine.ia"].at([4e-3]) == pytest.approx([0.0], abs=1e-12)
    assert result["machine.va"].at(4e-3) == pytest.approx(back, rel=1e-12)


class Braking(Component):
    """A running machine is switched from its supply to a brake resistor; a bearing stops it."""

    def build(self) -> None:
        self.source, self.ground, self.brake = ConstantVoltage(V=100.0), Ground(), Resistor(R=0.45)
        self.switch, self.command = IdealTwoWaySwitch(), BooleanStep(startTime=0.5)
        self.machine = DC_PermanentMagnet(La=0.0, wMechanical=100.0 / K)
        self.bearing = BearingFriction(tau_coulomb=2.0, tau_breakaway=3.0)

    def equations(self):
        yield connect(self.command.y, self.switch.control)
        yield connect(self.source.p, self.switch.n1)
        yield connect(self.brake.p, self.switch.n2)
        yield connect(self.switch.p, self.machine.pin_ap)
        yield connect(self.source.n, self.brake.n, self.machine.pin_an, self.ground.p)
        yield connect(self.machine.flange, self.bearing.flange_a)


def test_a_machine_brakes_into_a_resistor_and_stops() -> None:
    """``J * w' = -k**2 / (Ra + R) * w - tau``: a finite time to rest, then the bearing sticks."""
    result = simulate(Braking(), 3.0)
    rate, floor = K**2 / 0.5 / 0.15, 2.0 * 0.5 / K**2
    w0 = result["machine.wMechanical"].at(0.5)
    stop = 0.5 + np.log1p(w0 / floor) / rate
    assert commutations(result)[-1] == pytest.approx(stop, rel=1e-11)
    t = np.linspace(0.5, stop, 11)
    assert result["machine.wMechanical"].at(t) == pytest.approx(
        (w0 + floor) * np.exp(-rate * (t - 0.5)) - floor, abs=1e-9
    )
    assert result["bearing.state"].final == FrictionState.STICK.value
    assert result["machine.wMechanical"].final == 0.0
    assert abs(result.audit().balance) < 1e-9 * abs(result.energy("source"))


class Traction(Component):
    """A series machine pulls against a bearing that sticks at first."""

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=100.0), Ground()
        self.machine = DC_SeriesExcited()
        self.bearing = BearingFriction(tau_coulomb=50.0, tau_breakaway=60.0)

    def equations(self):
        yield connect(self.source.p, self.machine.pin_ap)
        yield connect(self.machine.pin_an, self.machine.pin_ep)
        yield connect(self.machine.pin_en, self.source.n, self.ground.p)
        yield connect(self.machine.flange, self.bearing.flange_a)


def test_a_series_machine_breaks_away_when_its_torque_suffices() -> None:
    """Held still ``i = V / R * (1 - exp(-R * t / L))``; it breaks away at ``c * i**2 = 60``."""
    result = simulate(Traction(), 0.5, rtol=1e-9)
    c, R, L = 94.0 / (1410 * 2 * np.pi / 60) / 100.0, 0.06, 2e-3
    away = -L / R * np.log1p(-np.sqrt(60.0 / c) * R / 100.0)
    assert commutations(result) == pytest.approx([away], rel=1e-7)
    assert result["machine.wMechanical"].at(away / 2) == 0.0
    audit = result.audit()
    assert abs(audit.balance) < 1e-7 * abs(audit.into("source"))
