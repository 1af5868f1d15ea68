"""The example Friction of the Modelica Standard Library: clutch and brake stick and slip, against its trajectories."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from acausal import Component, Eq, Input, Output, Statement, connect, if_else, simulate, time
from acausal.components.blocks import Sine, Step
from acausal.components.rotational import Brake, Clutch, Inertia, SpringDamper, Torque
from tests.components.signals import changes


class Until(Component):
    """Passes its input on until 0.5 s."""

    u: Input = Input(float)
    y: Output = Output(float)

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, if_else(time < 0.5, self.u, 0.0))


class DriveTrain(Component):
    """An inertia under an alternating torque, a clutch, an inertia, a soft shaft, an inertia with a brake."""

    def build(self) -> None:
        self.source, self.gate, self.torque = Sine(amplitude=200.0, f=50.0 / np.pi), Until(), Torque()
        self.inertia3, self.inertia2 = Inertia(J=1.0, w=100.0), Inertia(J=0.05, w=90.0)
        self.inertia1 = Inertia(J=1.0, w=90.0)
        self.clutch = Clutch(fn_max=160.0, mu=0.5, f_normalized=1.0)
        self.spring = SpringDamper(c=160.0, d=1.0)
        self.brake, self.step = Brake(fn_max=1600.0, mu=0.5), Step(startTime=0.5)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.y, self.gate.u)
        yield connect(self.gate.y, self.torque.tau)
        yield connect(self.step.y, self.brake.f_normalized)
        yield connect(self.torque.flange, self.inertia3.flange_a)
        yield connect(self.inertia3.flange_b, self.clutch.flange_a)
        yield connect(self.clutch.flange_b, self.inertia2.flange_a)
        yield connect(self.inertia2.flange_b, self.spring.flange_a)
        yield connect(self.spring.flange_b, self.inertia1.flange_a)
        yield connect(self.inertia1.flange_b, self.brake.flange_a)


@pytest.fixture(scope="module")
def result():
    return simulate(DriveTrain(), 3.0)


def test_events_of_clutch_and_brake(result) -> None:
    clutch = [0.00678, 0.05934, 0.10929, 0.53425, 1.66364]
    assert changes(result["clutch.state"]) == pytest.approx(np.array(clutch), abs=5e-4)
    assert changes(result["brake.state"]) == pytest.approx(np.array([0.5, 0.64061]), abs=5e-4)


def test_trajectories(result, reference: Path) -> None:
    data = np.genfromtxt(reference / "msl_rot_friction" / "data.csv", delimiter=",", names=True)
    t = data["time"]
    steady = np.all(np.abs(t[:, None] - [0.5, *changes(result["clutch.state"])]) > 1e-3, axis=1)
    for name, column, tolerance in [
        ("clutch.w_rel", "w_clutch", 0.05),
        ("inertia3.w", "w3", 0.05),
        ("spring.phi_rel", "phi_spring", 1e-3),
    ]:
        found = result[name].at(t[steady])
        assert np.abs(found - data[column][steady]).max() < tolerance
