"""Integrals of affine outputs that no equation reads, as positions and charges, against closed forms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    Discrete,
    Eq,
    Parameter,
    Program,
    Start,
    Statement,
    Variable,
    assign,
    connect,
    der,
    pre,
    sample,
    simulate,
    when,
)
from acausal.components import electrical as el
from acausal.components import rotational as rot
from acausal.components import translational as tr
from acausal.components.blocks import PWM
from acausal.simulation import self_check
from acausal.simulation.seen_events import SeenEvents


class Meter(Component):
    """A converter's leg on a coil, the charge through it, and the energy into it."""

    load: Parameter = Parameter(default=5.0, unit="Ohm")
    charge: Variable = Variable(unit="A.s", start=0.0, fixed=True)
    energy: Variable = Variable(unit="J", start=0.0, fixed=True)

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=24.0), el.Ground()
        self.switch, self.diode = el.IdealClosingSwitch(), el.IdealDiode()
        self.coil, self.resistor = el.Inductor(L=1e-4), el.Resistor(R=self.load)
        self.gate = PWM(frequency=20e3, duty=0.4)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.coil.p, self.diode.n)
        yield connect(self.coil.n, self.resistor.p)
        yield connect(self.source.n, self.resistor.n, self.diode.p, self.ground.p)
        yield connect(self.gate.y, self.switch.control)
        yield Eq(der(self.charge), self.resistor.i)
        yield Eq(der(self.energy), self.resistor.i * self.resistor.v)


def currents(T: float, duty: float, count: int) -> tuple[float, float, float]:
    """Current, charge and energy after some periods of that circuit, which conducts all along, period by period."""
    tau, R, V = 1e-4 / 5.0, 5.0, 24.0
    i = q = e = 0.0
    for _ in range(count):
        for final, h in ((V / R, duty * T), (0.0, (1 - duty) * T)):
            a = i - final
            d1, d2 = -math.expm1(-h / tau) * tau, -math.expm1(-2 * h / tau) * tau / 2
            q += final * h + a * d1
            e += R * (final**2 * h + 2 * final * a * d1 + a * a * d2)
            i = final + a * math.exp(-h / tau)
    return i, q, e


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["exact", "explicit", "implicit"])
def test_charge_and_energy_of_a_converter(method: str) -> None:
    count = 200
    result = simulate(Meter(), count / 20e3, method=method, rtol=1e-9)
    i, q, e = currents(1 / 20e3, 0.4, count)
    rel = 1e-12 if method == "exact" else 1e-7
    assert result["coil.i"].final == pytest.approx(i, rel=rel)
    assert result["charge"].final == pytest.approx(q, rel=rel)
    assert result["energy"].final == pytest.approx(e, rel=max(rel, 1e-11))


class Servo(Component):
    """A mass that a sampled controller pushes to a place; nothing but the controller reads its position."""

    command: Discrete = Discrete(float)
    old: Discrete = Discrete(float, unit="m")

    def build(self) -> None:
        self.mass = tr.MassWithFriction(
            m=2.0, f_coulomb=0.0, f_breakaway=0.0, s=Start(0.0, fixed=True), v=Start(0.0, fixed=True)
        )
        self.force = tr.Force()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.force.f, self.command)
        yield connect(self.force.flange, self.mass.flange_a)
        error = 0.1 - self.mass.s
        yield when(
            sample(period=1e-3),
            assign(self.command, 200.0 * error - 30e3 * (self.mass.s - pre(self.old))),
            assign(self.old, self.mass.s),
        )


def test_a_position_that_a_controller_samples(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "EVERY_VISIT", False)
    followed = [0]
    recorded = SeenEvents.recorded

    def counting(self: SeenEvents, *given: Any) -> Any:
        found = recorded(self, *given)
        followed[0] += len(found[0])
        return found

    monkeypatch.setattr(SeenEvents, "recorded", counting)
    result = Program(Servo()).simulate(0.5)
    s = v = old = 0.0
    h, places = 1e-3, []
    for _ in range(500):
        f = 200.0 * (0.1 - s) - 30e3 * (s - old)
        old = s
        s, v = s + h * v + 0.25 * f * h * h, v + 0.5 * f * h
        places.append(s)
    times = np.arange(1, 501) * h
    assert result["mass.s"].at(times, side="left") == pytest.approx(np.array(places), rel=1e-11)
    assert followed[0] > 400


def test_an_angle_of_many_turns() -> None:
    circuit = Circuit()
    inertia = circuit.add(
        "inertia", rot.Inertia(J=1e-3, phi=Start(0.0, fixed=True), w=Start(0.0, fixed=True))
    )
    torque, damper, fixed = (
        circuit.add("torque", rot.ConstantTorque(tau_constant=1.0)),
        circuit.add("damper", rot.Damper(d=1e-4)),
        circuit.add("fixed", rot.Fixed()),
    )
    circuit.connect(torque.flange, inertia.flange_a)
    circuit.connect(inertia.flange_b, damper.flange_a)
    circuit.connect(damper.flange_b, fixed.flange)
    result = simulate(circuit, 1e4)
    w, T = 1e4, 10.0
    times = np.array([1e-3, 1.0, 30.0, 1e3, 1e4])
    exact = w * (times + T * np.expm1(-times / T))
    assert result["inertia.phi"].at(times) == pytest.approx(exact, rel=1e-12, abs=1e-16 * w * T)


def test_a_body_that_slides_to_rest() -> None:
    circuit = Circuit()
    body = circuit.add(
        "body",
        tr.MassWithFriction(
            m=2.0, f_coulomb=3.0, f_breakaway=5.0, s=Start(1.0, fixed=True), v=Start(4.0, fixed=True)
        ),
    )
    result = simulate(circuit, 5.0)
    stop = 4.0 * 2.0 / 3.0
    assert body is not None
    assert result.events.after_start == pytest.approx([stop], rel=1e-14)
    assert result["body.s"].final == pytest.approx(1.0 + 4.0 * stop / 2.0, rel=1e-14)
    assert result["body.s"].at(stop) == result["body.s"].at(5.0)
