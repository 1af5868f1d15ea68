"""Three-phase diode bridge: six diodes, with and without inductance in the lines."""

from typing import Any

import numpy as np
import pytest

from acausal import Component, Parameter, Result, connect, simulate
from acausal.components.electrical import Ground, IdealDiode, Inductor, Resistor, ThreePhaseVoltage
from tests.oracles.bridges import ThreePhase, three_phase
from tests.oracles.rectifiers import overlap_angle, phase_voltages, six_pulse_mean, six_pulse_voltage
from tests.systems.circuits import commutations, falls, rises

F = 50.0
T = 1 / F


class SixPulseBridge(Component):
    """Star-connected source, line impedances, six diodes, R-L load; only the load side is grounded."""

    Vm: Parameter = Parameter(default=100.0, unit="V")
    Ls: Parameter = Parameter(default=2e-3, unit="H")
    Rs: Parameter = Parameter(default=0.0, unit="Ohm")
    R: Parameter = Parameter(default=10.0, unit="Ohm")
    L: Parameter = Parameter(default=10e-3, unit="H")

    def build(self) -> None:
        self.source = ThreePhaseVoltage(V=self.Vm, f=F)
        self.lines = [Inductor(L=self.Ls) for _ in range(3)]
        self.resistances = [Resistor(R=self.Rs) for _ in range(3)]
        self.upper = [IdealDiode() for _ in range(3)]
        self.lower = [IdealDiode() for _ in range(3)]
        self.load = Resistor(R=self.R)
        self.choke = Inductor(L=self.L)
        self.ground = Ground()

    def equations(self) -> Any:
        pins = (self.source.p1, self.source.p2, self.source.p3)
        legs = zip(pins, self.lines, self.resistances, self.upper, self.lower, strict=True)
        for pin, line, resistance, upper, lower in legs:
            yield connect(pin, line.p)
            yield connect(line.n, resistance.p)
            yield connect(resistance.n, upper.p, lower.n)
        yield connect(*(d.n for d in self.upper), self.load.p)
        yield connect(self.load.n, self.choke.p)
        yield connect(*(d.p for d in self.lower), self.choke.n, self.ground.p)


@pytest.fixture(scope="module")
def without_inductance() -> Result:
    return simulate(SixPulseBridge(Ls=0.0), 2 * T)


def test_output_is_the_largest_line_to_line_voltage(without_inductance: Result) -> None:
    result = without_inductance
    t = np.linspace(0, 2 * T, 2401)
    output = result["load.v"].at(t) + result["choke.v"].at(t)
    np.testing.assert_allclose(output, six_pulse_voltage(100.0, F, t), rtol=1e-9)
    assert result["choke.v"].mean(T, 2 * T) + result["load.v"].mean(T, 2 * T) == pytest.approx(
        six_pulse_mean(100.0), rel=1e-9
    )


def test_six_commutations_per_period_where_two_phases_meet(without_inductance: Result) -> None:
    np.testing.assert_allclose(commutations(without_inductance), (np.arange(12) + 0.5) * T / 6, rtol=1e-9)
    assert len({step.after for step in without_inductance.steps}) == 6


def test_the_star_point_lies_where_the_source_puts_it(without_inductance: Result) -> None:
    t = np.linspace(0, 2 * T, 241)
    low = phase_voltages(100.0, F, t).min(axis=-1)
    np.testing.assert_allclose(without_inductance["source.n.v"].at(t), -low, rtol=1e-9)


def test_diodes_block_the_rest_of_the_line_to_line_voltages(without_inductance: Result) -> None:
    t = np.linspace(0, 2 * T, 241)
    u = phase_voltages(100.0, F, t)
    for k in range(3):
        expected = u[:, k] - u.max(axis=-1)
        np.testing.assert_allclose(without_inductance[f"upper[{k}].v"].at(t), expected, atol=1e-9 * 100)


def test_overlap_after_ten_periods() -> None:
    Id, w = 10.0, 2 * np.pi * F
    mean = six_pulse_mean(100.0, w_Ls=w * 2e-3, Id=Id)
    model = SixPulseBridge(R=mean / Id, L=10.0)
    result = simulate(model, 12 * T, initial={"choke.i": Id})
    u = overlap_angle(100.0, w * 2e-3, Id)
    for k in range(3):
        begin = next(t for t in rises(result, f"upper[{(k + 1) % 3}].on") if t > 10 * T)
        end = next(t for t in falls(result, f"upper[{k}].on") if t > begin)
        assert np.rad2deg(w * (end - begin)) == pytest.approx(np.rad2deg(u), abs=0.01)
    current = result["choke.i"].mean(11 * T, 12 * T)
    output = result["load.v"].mean(11 * T, 12 * T) + result["choke.v"].mean(11 * T, 12 * T)
    assert output == pytest.approx(six_pulse_mean(100.0, w_Ls=w * 2e-3, Id=current), rel=1e-5)


def test_line_inductance_and_resistance_from_rest() -> None:
    p = ThreePhase()
    t = np.linspace(0, 5 * T, 201)[1:]
    model = SixPulseBridge(Vm=p.V, Ls=p.Ls, Rs=p.Rs, R=p.R, L=p.L)
    result, exact = simulate(model, 5 * T), three_phase(p, t)
    current = exact.states[:, 0]
    np.testing.assert_allclose(result["choke.i"].at(t), current, atol=1e-9 * current.max())
    np.testing.assert_allclose(commutations(result), exact.commutations, rtol=1e-9)
