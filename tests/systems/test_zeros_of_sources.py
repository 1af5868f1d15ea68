"""Guards that vanish where a sine does, or where what follows it comes to rest: whichever way its last digits round."""

import numpy as np
import pytest

from acausal import Circuit, simulate
from acausal.components.blocks import Sine
from acausal.components.electrical import Capacitor, Ground, IdealDiode, Inductor, Resistor, SineVoltage
from acausal.components.translational import (
    ConstantForce,
    Fixed,
    Force,
    HardStop,
    ImpactStop,
    Mass,
    MassWithStopAndFriction,
    Position,
)

V, FREQUENCY = 100.0, 50.0
W = 2.0 * np.pi * FREQUENCY


def peak_rectifier(R: float, C: float, phase: float = 0.0, Ron: float = 0.0) -> Circuit:
    """A sine, a diode, and a capacitor beside a resistor: the voltage of the capacitor follows the sine while it conducts."""
    c = Circuit()
    source, ground = c.add("source", SineVoltage(V=V, f=FREQUENCY, phase=phase)), c.add("ground", Ground())
    diode, load = c.add("diode", IdealDiode(Ron=Ron)), c.add("load", Resistor(R=R))
    capacitor = c.add("capacitor", Capacitor(C=C))
    c.connect(source.p, diode.p)
    c.connect(diode.n, load.p, capacitor.p)
    c.connect(source.n, load.n, capacitor.n, ground.p)
    return c


def bridge(R: float, C: float, **valve: float) -> Circuit:
    c = Circuit()
    source, ground = c.add("source", SineVoltage(V=V, f=FREQUENCY)), c.add("ground", Ground())
    load, capacitor = c.add("load", Resistor(R=R)), c.add("capacitor", Capacitor(C=C))
    d1, d2, d3, d4 = (c.add(f"d{k}", IdealDiode(**valve)) for k in range(4))
    c.connect(source.p, d1.p, d3.n)
    c.connect(source.n, d2.p, d4.n)
    c.connect(d1.n, d2.n, load.p, capacitor.p)
    c.connect(d3.p, d4.p, load.n, capacitor.n, ground.p)
    return c


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
@pytest.mark.parametrize(("R", "C"), [(3.0, 1e-3), (7.0, 2e-3), (50.0, 1e-4)])
def test_a_diode_at_a_capacitor_turns_off_where_its_current_vanishes(R: float, C: float, method: str) -> None:
    result = simulate(peak_rectifier(R, C), 2.0, method=method)
    # C v' + v/R = 0 at the sine v.
    angle = np.pi - np.arctan(W * R * C)
    expected = (angle + 2.0 * np.pi * np.arange(100)) / W
    assert len(result.events) in (200, 201)
    times = np.array([e.t for e in result.events])
    nearest = np.abs(times[:, None] - expected).min(axis=0)
    assert nearest.max() <= (1e-12 if method == "auto" else 1e-7)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("start", [0.02, 0.32, 0.74, 7.4, 62.0])
@pytest.mark.parametrize("phase", [0.0, 2.0 * np.pi])
def test_a_run_begins_at_a_zero_of_its_source(start: float, phase: float) -> None:
    result = simulate(peak_rectifier(3.0, 1e-3, phase), start + 0.02, t_start=start)
    begun = simulate(peak_rectifier(3.0, 1e-3), 0.02)
    assert result["capacitor.v"].mean() == pytest.approx(begun["capacitor.v"].mean(), rel=1e-10)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("valve", [{}, {"Goff": 1e-9}, {"Vknee": 0.7}], ids=str)
@pytest.mark.parametrize(("R", "C"), [(3.0, 1e-4), (10.0, 1e-3)])
def test_a_bridge_at_a_capacitor_runs_on(R: float, C: float, valve: dict[str, float]) -> None:
    result = simulate(bridge(R, C, **valve), 2.0)
    late, early = (result["capacitor.v"].mean(t, t + 0.02) for t in (1.98, 0.04))
    assert late == pytest.approx(early, rel=1e-9)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("turns", [-3, -1, 1, 2, 3, 4, 5, 10])
@pytest.mark.parametrize("Ron", [0.0, 1e-3])
@pytest.mark.parametrize("L", [0.0, 0.02])
def test_a_rectifier_begins_at_any_half_turn(turns: int, Ron: float, L: float) -> None:
    def mean(phase: float) -> float:
        c = Circuit()
        source, ground = c.add("source", SineVoltage(V=V, f=FREQUENCY, phase=phase)), c.add("g", Ground())
        diode, load = c.add("diode", IdealDiode(Ron=Ron)), c.add("load", Resistor(R=3.0))
        coil = c.add("coil", Inductor(L=L))
        c.connect(source.p, diode.p)
        c.connect(diode.n, load.p)
        c.connect(load.n, coil.p)
        c.connect(coil.n, source.n, ground.p)
        return simulate(c, 0.06)["load.v"].mean(0.02, 0.06)

    # A phase of a half turn more moves all by half a period.
    assert mean(turns * np.pi) == pytest.approx(mean(0.0 if turns % 2 == 0 else -np.pi), rel=1e-9)


@pytest.mark.parametrize("method", ["auto", "explicit"])
@pytest.mark.parametrize("phase", [0.0, 2.0 * np.pi, 4.0 * np.pi, 6.0 * np.pi, -2.0 * np.pi])
def test_a_mass_at_a_stop_begins_there(phase: float, method: str) -> None:
    c = Circuit()
    sine = c.add("sine", Sine(amplitude=5.0, f=1.0, phase=phase))
    force, mass = c.add("force", Force(f=sine.y)), c.add("mass", Mass(m=1.0))
    stop = c.add("stop", HardStop(s_min=0.0, s_max=1.0, restitution=0.5))
    c.connect(force.flange, mass.flange_a, stop.flange)
    result = simulate(c, 1.3, method=method)
    w = 2.0 * np.pi
    assert result["mass.s"].at(0.0) == 0.0
    assert result["mass.s"].final == pytest.approx(5.0 / w * 1.3 - 5.0 / w**2 * np.sin(w * 1.3), rel=1e-5)


@pytest.mark.parametrize("phase", [2.0 * np.pi, -2.0 * np.pi])
def test_other_stops_begin_as_without_a_whole_turn(phase: float) -> None:
    def final(phase: float) -> tuple[float, float]:
        c = Circuit()
        sine = c.add("sine", Sine(amplitude=5.0, f=1.0, phase=phase))
        force = c.add("force", Force(f=sine.y))
        mass = c.add(
            "mass",
            MassWithStopAndFriction(
                m=1.0, smin=0.0, smax=1.0, F_prop=0.0, F_Coulomb=0.0, F_Stribeck=0.0, fexp=1.0
            ),
        )
        other, free, wall = c.add("f2", Force(f=sine.y)), c.add("free", Mass(m=1.0)), c.add("wall", Fixed())
        contact = c.add("contact", ImpactStop(restitution=0.0))
        c.connect(force.flange, mass.flange_a)
        c.connect(other.flange, free.flange_a, contact.flange_b)
        c.connect(wall.flange, contact.flange_a)
        result = simulate(c, 2.0)
        return result["mass.s"].final, result["free.s"].final

    assert final(phase) == pytest.approx(final(0.0), rel=1e-12)
    assert final(phase)[1] == pytest.approx(5.0 / np.pi, rel=1e-12)  # the mean speed of a period, for two


def test_a_ball_on_a_shaking_table_lands_again_and_again() -> None:
    c = Circuit()
    sine = c.add("sine", Sine(amplitude=0.1, f=5.0))
    table, ball = c.add("table", Position(s_ref=sine.y)), c.add("ball", Mass(m=1.0))
    weight, contact = c.add("w", ConstantForce(f_constant=-9.81)), c.add("k", ImpactStop(restitution=0.0))
    c.connect(table.flange, contact.flange_a)
    c.connect(contact.flange_b, ball.flange_a, weight.flange)
    result = simulate(c, 6.0)
    assert result.status == "finished"
    flights = result["ball.s"] - result["sine.y"]
    assert flights.min() >= -1e-12
