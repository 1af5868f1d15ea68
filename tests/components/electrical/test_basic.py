"""Linear parts against their closed forms."""

import numpy as np
import pytest

from acausal import simulate
from acausal.components.electrical import (
    Capacitor,
    Conductor,
    ConstantCurrent,
    ConstantVoltage,
    CoupledInductors,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    IdealTransformer,
    Inductor,
    RampCurrent,
    Resistor,
    StepVoltage,
)
from acausal.errors import AcausalError, ParameterError
from acausal.modeling import Circuit, Start, time
from tests.components.electrical.circuits import coupled, loop, parallel

# The exact path has rounding errors only.
CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def test_ground_fixes_the_potentials() -> None:
    result = simulate(loop(source=ConstantVoltage(V=10.0), load=Resistor(R=4.0)), 1.0)
    assert result["ground.p.v"].final == 0
    assert result["source.p.v"].final == pytest.approx(10)
    assert result["ground.p.i"].final == pytest.approx(0, abs=1e-12)


def test_resistors_divide_a_voltage() -> None:
    circuit = loop(source=ConstantVoltage(V=10.0), upper=Resistor(R=1.0), lower=Resistor(R=3.0))
    result = simulate(circuit, 1.0)
    assert result["lower.v"].final == pytest.approx(7.5)
    assert result["upper.i"].final == pytest.approx(2.5)
    assert result["source.i"].final == pytest.approx(-2.5)


def test_a_resistor_of_zero_is_a_connection() -> None:
    circuit = loop(source=ConstantVoltage(V=10.0), upper=Resistor(R=0.0), lower=Resistor(R=4.0))
    result = simulate(circuit, 1.0)
    assert result["upper.v"].final == 0
    assert result["upper.i"].final == pytest.approx(2.5)


def test_conductors_divide_a_current() -> None:
    circuit = parallel(
        source=ConstantCurrent(I=-3.0), a=Conductor(G=0.5), b=Conductor(G=0.25), c=Conductor(G=0.0)
    )
    result = simulate(circuit, 1.0)
    assert result["a.v"].final == pytest.approx(4)
    assert result["a.i"].final == pytest.approx(2)
    assert result["b.i"].final == pytest.approx(1)
    assert result["c.i"].final == 0


@pytest.mark.parametrize(("R", "C"), [(1e3, 1e-6), (1e-3, 1e-9), (1e6, 1e-12)])
def test_a_capacitor_charges_through_a_resistor(R: float, C: float) -> None:
    tau = R * C
    circuit = loop(source=ConstantVoltage(V=5.0), resistor=Resistor(R=R), capacitor=Capacitor(C=C, v=1.0))
    result = simulate(circuit, 5 * tau)
    t = np.linspace(0, 5 * tau, 50)
    np.testing.assert_allclose(result["capacitor.v"].at(t), 5 - 4 * np.exp(-t / tau), **CLOSE)
    np.testing.assert_allclose(R * result["capacitor.i"].at(t), 4 * np.exp(-t / tau), **CLOSE)


def test_an_inductor_takes_up_current_through_a_resistor() -> None:
    R, L = 2.0, 0.1
    circuit = loop(source=ConstantVoltage(V=6.0), resistor=Resistor(R=R), inductor=Inductor(L=L))
    result = simulate(circuit, 0.3)
    t = np.linspace(0, 0.3, 50)
    np.testing.assert_allclose(result["inductor.i"].at(t), 3 * (1 - np.exp(-t * R / L)), **CLOSE)
    np.testing.assert_allclose(result["inductor.v"].at(t), 6 * np.exp(-t * R / L), **CLOSE)


def test_inductor_and_capacitor_oscillate() -> None:
    L, C = 1e-3, 1e-6
    w, Z = 1 / np.sqrt(L * C), np.sqrt(L / C)
    result = simulate(parallel(capacitor=Capacitor(C=C, v=5.0), inductor=Inductor(L=L)), 100 * 2 * np.pi / w)
    t = np.linspace(0, 100 * 2 * np.pi / w, 501)
    np.testing.assert_allclose(result["capacitor.v"].at(t), 5 * np.cos(w * t), atol=5e-9)
    np.testing.assert_allclose(Z * result["inductor.i"].at(t), 5 * np.sin(w * t), atol=5e-9)


def test_a_capacitor_takes_its_charge_from_an_ideal_source_at_once() -> None:
    circuit = loop(source=StepVoltage(V=5.0, startTime=0.5), a=Capacitor(C=1.0), b=Capacitor(C=4.0))
    result = simulate(circuit, 1.0)
    assert result["a.v"].at(0.5, side="left") == 0
    assert result["a.v"].at(0.5) == pytest.approx(4)
    assert result["b.v"].final == pytest.approx(1)


def test_an_ideal_source_of_current_moves_an_inductor() -> None:
    circuit = loop(source=RampCurrent(I=-5.0, duration=1.0), inductor=Inductor(L=1e-3))
    result = simulate(circuit, 2.0)
    np.testing.assert_allclose(result["inductor.v"].at(np.array([0.5, 1.5])), [5e-3, 0.0], atol=1e-15)
    assert result["inductor.i"].final == pytest.approx(5)


def test_inductors_in_series_share_one_current() -> None:
    circuit = loop(source=ConstantVoltage(V=6.0), a=Inductor(L=1.0), b=Inductor(L=2.0))
    result = simulate(circuit, 1.0)
    assert result["a.i"].final == pytest.approx(2)
    assert result["b.v"].final == pytest.approx(4)


def test_transformer_ratio_of_voltages_and_currents() -> None:
    circuit = coupled(ConstantVoltage(V=10.0), IdealTransformer(n=2.0), Resistor(R=5.0))
    result = simulate(circuit, 1.0)
    assert result["right.v"].final == pytest.approx(5)
    assert result["right.i"].final == pytest.approx(1)
    assert result["port.i1"].final == pytest.approx(0.5)
    power = (
        result["port.v1"].final * result["port.i1"].final + result["port.v2"].final * result["port.i2"].final
    )
    assert power == pytest.approx(0, abs=1e-12)


def test_transformer_transforms_an_impedance() -> None:
    n, L = 3.0, 0.2
    circuit = coupled(ConstantVoltage(V=9.0), IdealTransformer(n=n), Inductor(L=L))
    result = simulate(circuit, 0.5)
    t = np.linspace(0, 0.5, 20)
    np.testing.assert_allclose(result["port.i1"].at(t), 9 * t / (n**2 * L), **CLOSE)


L1, L2, V = 0.5, 2.0, 8.0


def test_coupled_inductors_with_open_secondary() -> None:
    k = 0.9
    circuit = coupled(ConstantVoltage(V=V), CoupledInductors(L1=L1, L2=L2, k=k), Conductor(G=0.0))
    result = simulate(circuit, 1.0)
    t = np.linspace(0, 1, 11)
    np.testing.assert_allclose(result["port.i1"].at(t), V * t / L1, **CLOSE)
    np.testing.assert_allclose(result["port.v2"].at(t[1:]), k * np.sqrt(L2 / L1) * V, **CLOSE)


def test_coupled_inductors_with_shorted_secondary() -> None:
    k = 0.9
    circuit = coupled(ConstantVoltage(V=V), CoupledInductors(L1=L1, L2=L2, k=k), Resistor(R=0.0))
    result = simulate(circuit, 1.0)
    t = np.linspace(0, 1, 11)
    i1 = V * t / (L1 * (1 - k**2))
    np.testing.assert_allclose(result["port.i1"].at(t), i1, **CLOSE)
    np.testing.assert_allclose(result["port.i2"].at(t), -k * np.sqrt(L1 / L2) * i1, **CLOSE)


def test_coupled_inductors_discharge_from_given_currents() -> None:
    """Both windings shorted through R: ``M di/dt = -R i`` with the inductance matrix M."""
    k, R = 0.6, 3.0
    M = np.array([[L1, k * np.sqrt(L1 * L2)], [k * np.sqrt(L1 * L2), L2]])
    windings = CoupledInductors(L1=L1, L2=L2, k=k, i1=Start(2.0, fixed=True), i2=Start(1.0, fixed=True))
    result = simulate(coupled(Resistor(R=R), windings, Resistor(R=R)), 1.0)
    rates, modes = np.linalg.eig(-R * np.linalg.inv(M))
    t = np.linspace(0, 1, 21)
    expected = modes @ (np.linalg.solve(modes, [2.0, 1.0])[:, None] * np.exp(np.outer(rates, t)))
    np.testing.assert_allclose(result["port.i1"].at(t), expected[0], **CLOSE)
    np.testing.assert_allclose(result["port.i2"].at(t), expected[1], **CLOSE)


def test_without_coupling_there_are_two_inductors() -> None:
    circuit = coupled(ConstantVoltage(V=V), CoupledInductors(L1=L1, L2=L2, k=0.0), ConstantVoltage(V=-V))
    result = simulate(circuit, 1.0)
    assert result["port.i1"].final == pytest.approx(V / L1)
    assert result["port.i2"].final == pytest.approx(-V / L2)


def test_perfect_coupling_is_an_ideal_transformer_with_magnetising_current() -> None:
    n, R = np.sqrt(L2 / L1), 4.0
    circuit = coupled(ConstantVoltage(V=V), CoupledInductors(L1=L1, L2=L2, k=1.0), Resistor(R=R))
    result = simulate(circuit, 1.0)
    t = np.linspace(0, 1, 11)
    np.testing.assert_allclose(result["port.v2"].at(t), n * V, **CLOSE)
    np.testing.assert_allclose(result["port.im"].at(t), V * t / L1, **CLOSE)
    np.testing.assert_allclose(result["port.i1"].at(t), V * t / L1 + n**2 * V / R, **CLOSE)


def test_magnetising_current_decays_with_perfect_coupling() -> None:
    """``L1 * der(im) = v1``, ``im = -v1 / R - n * v2 / R``."""
    n, R = np.sqrt(L2 / L1), 3.0
    result = simulate(
        coupled(Resistor(R=R), CoupledInductors(L1=L1, L2=L2, k=1.0, im=4.0), Resistor(R=R)), 1.0
    )
    t = np.linspace(0, 1, 11)
    im = 4 * np.exp(-R * t / (L1 * (1 + n**2)))
    np.testing.assert_allclose(result["port.im"].at(t), im, **CLOSE)
    np.testing.assert_allclose(result["port.i2"].at(t), n * im / (1 + n**2), **CLOSE)


@pytest.mark.parametrize("k", [0.0, 0.5, 1.0])
def test_coupling_given_for_one_run(k: float) -> None:
    """The structure follows the value: the exact zeros of ``k`` and ``1 - k`` change it."""
    circuit = coupled(ConstantVoltage(V=V), CoupledInductors(L1=L1, L2=L2, k=0.9), Conductor(G=0.0))
    simulate(circuit, 1.0)
    result = simulate(circuit, 1.0, parameters={"port.k": k})
    assert result["port.v2"].final == pytest.approx(k * np.sqrt(L2 / L1) * V, abs=1e-12)
    assert result["port.i1"].final == pytest.approx(V / L1)


def test_perfect_coupling_hands_the_ampere_turns_over() -> None:
    """Flyback: the primary is cut off, the secondary carries the magnetising current on."""
    n, E, off = np.sqrt(L2 / L1), 2.0, 0.5
    c = Circuit()
    source, switch = (
        c.add("source", ConstantVoltage(V=V)),
        c.add("switch", IdealClosingSwitch(control=time < off)),
    )
    port = c.add("port", CoupledInductors(L1=L1, L2=L2, k=1.0))
    diode, sink, ground = (
        c.add("diode", IdealDiode()),
        c.add("sink", ConstantVoltage(V=E)),
        c.add("ground", Ground()),
    )
    c.connect(source.p, switch.p)
    c.connect(switch.n, port.p1)
    c.connect(port.n2, diode.p)
    c.connect(diode.n, sink.p)
    c.connect(ground.p, source.n, port.n1, port.p2, sink.n)
    result = simulate(c, 1.0)
    peak = V * off / L1
    assert result["port.i1"].at(off, side="left") == pytest.approx(peak)
    assert result["port.i2"].at(off, side="left") == pytest.approx(0, abs=1e-9)
    assert result["port.i1"].at(off) == pytest.approx(0, abs=1e-9)
    assert result["port.i2"].at(off) == pytest.approx(peak / n)
    assert result["port.i2"].final == pytest.approx(peak / n - E / L2 * (1.0 - off))


def test_negative_values_are_refused() -> None:
    for part, name in ((Resistor, "R"), (Conductor, "G"), (Capacitor, "C"), (Inductor, "L")):
        with pytest.raises(ParameterError, match=f"`{name}` of {part.__name__} must be at least 0"):
            part(**{name: -1.0})
    with pytest.raises(ParameterError, match="`k` of CoupledInductors must be at most 1"):
        CoupledInductors(L1=1.0, L2=1.0, k=1.1)


def test_coupled_inductors_need_a_positive_primary() -> None:
    circuit = coupled(ConstantVoltage(V=V), CoupledInductors(L1=0.0, L2=1.0, k=0.5), Resistor(R=1.0))
    with pytest.raises(AcausalError, match="L1"):
        simulate(circuit, 1.0)
