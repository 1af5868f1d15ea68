"""Circuits of nonlinear parts against independent solutions and published values."""

import re
from collections.abc import Iterator
from math import pi

import numpy as np
import pytest

from acausal import Circuit, Component, Eq, Parameter, Result, Statement, exp, simulate
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Diode,
    Inductor,
    Pin,
    Resistor,
    SaturatingInductor,
    SineVoltage,
)
from benchmarks.gates import Gate
from tests.oracles.junction_rectifier import JunctionRectifier
from tests.oracles.nonlinear_circuits import amplifier, gate, saturated_current, saturation_current
from tests.oracles.reference_data import load_case, reference_root, requires_case
from tests.systems.circuits import circuit

# -- Transistor amplifier of the test set for IVP solvers --------------------------------------------------------------


class Transistor(Component):
    """Forward transport model: ``E.i = -f``, ``C.i = alpha * f``, ``f = Is * (exp((B.v - E.v) / Vt) - 1)``."""

    B, C, E = Pin(), Pin(), Pin()
    Is: Parameter = Parameter(default=1e-6, unit="A")
    Vt: Parameter = Parameter(default=0.026, unit="V")
    alpha: Parameter = Parameter(default=0.99, unit="1")

    def equations(self) -> Iterator[Statement]:
        f = self.Is * (exp((self.B.v - self.E.v) / self.Vt) - 1)
        yield Eq(self.B.i, (1 - self.alpha) * f)
        yield Eq(self.C.i, self.alpha * f)
        yield Eq(0, self.B.i + self.C.i + self.E.i)


STARTS = dict(zip("012345678", (0.0, 0.0, 3.0, 3.0, 6.0, 3.0, 3.0, 6.0, 0.0), strict=True))
"""Potentials of the nodes at time 0, in V; node 0 is ground."""


def two_stages() -> Circuit:
    nodes = [("1", "2"), ("3", "0"), ("4", "5"), ("6", "0"), ("7", "8")]
    capacitors = [
        (f"C{k}", Capacitor(C=k * 1e-6, v=STARTS[a] - STARTS[b]), a, b) for k, (a, b) in enumerate(nodes, 1)
    ]
    ends = ("2 0", "ub 2", "3 0", "ub 4", "5 0", "ub 5", "6 0", "ub 7", "8 0")
    model = circuit(
        ("source", SineVoltage(V=0.1, f=100.0), "ue", "0"),
        ("supply", ConstantVoltage(V=6.0), "ub", "0"),
        ("R0", Resistor(R=1e3), "ue", "1"),
        *((f"R{k}", Resistor(R=9e3), *pair.split()) for k, pair in enumerate(ends, 1)),
        *capacitors,
        T1=Transistor(),
        T2=Transistor(),
    )
    for transistor, base, emitter, collector in (
        (model.T1, model.R1.p, model.R3.p, model.R4.n),
        (model.T2, model.R5.p, model.R7.p, model.R8.n),
    ):
        model.connect(base, transistor.B)
        model.connect(emitter, transistor.E)
        model.connect(collector, transistor.C)
    return model


NODES = ("C1.p.v", "R1.v", "R3.v", "C3.p.v", "R5.v", "R7.v", "C5.p.v", "R9.v")


def potentials(result: Result, t: np.ndarray) -> np.ndarray:
    return np.array([result[path].at(t) for path in NODES])


@pytest.mark.parametrize(("rtol", "bound"), [(1e-6, 1e-4), (1e-10, 1e-7)])
def test_transistor_amplifier_over_two_periods(rtol: float, bound: float) -> None:
    t = np.linspace(0.0, 0.02, 101)
    result = simulate(two_stages(), 0.02, rtol=rtol)
    expected = amplifier(t, rtol=1e-10)
    error = np.abs(potentials(result, t) - expected) / (1 + np.abs(expected))
    assert error.max() <= bound


@requires_case("ivp_transistor_amplifier")
@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(("rtol", "bound"), [(1e-6, 1e-4), (1e-10, 1e-7)])
@pytest.mark.slow
def test_transistor_amplifier_at_the_published_end(rtol: float, bound: float) -> None:
    text = (reference_root() / "ivp_transistor_amplifier" / "case.md").read_text()
    published = np.array([float(x) for x in re.findall(r"^\| y\d \| (\S+) \|$", text, re.MULTILINE)])
    end = potentials(simulate(two_stages(), 0.2, rtol=rtol), np.array([0.2]))[:, 0]
    assert np.max(np.abs(end - published) / (1 + np.abs(published))) <= bound


# -- NAND gate of the test set for IVP solvers ------------------------------------------------------------------------


GATE = [(1e-4, 1e-4), (1e-6, 3e-6)]
MORE = [pytest.param(rtol, 3.0 * rtol, marks=pytest.mark.sweep) for rtol in (1e-5, 3e-7, 1e-7, 1e-8, 1e-9)]


@pytest.mark.parametrize(("rtol", "bound"), [*GATE, *MORE])
def test_gate_of_transistors(rtol: float, bound: float, gate_output: np.ndarray) -> None:
    result = simulate(Gate(), 80.0, initial=Gate.START, rtol=rtol)
    found = np.array([result[name].at(TIMES) for name in ("output.v", "middle.v")])
    assert np.abs(found - gate_output).max() <= bound
    assert result.check().ok


TIMES = np.linspace(0.0, 80.0, 161)


@pytest.fixture(scope="module")
def gate_output() -> np.ndarray:
    """Potentials of the output and of the node below it."""
    return gate(TIMES, rtol=1e-10)[[4, 9]]


# -- Saturating beside linear inductor ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def inductors() -> Result:
    """Both on ``1.25 * cos(t)`` V: their fluxes are ``1.25 * sin(t)`` Wb."""
    return simulate(
        circuit(
            ("source", SineVoltage(V=1.25, f=1 / (2 * pi), phase=pi / 2), "a", "0"),
            ("linear", Inductor(L=1.0), "a", "0"),
            ("saturating", SaturatingInductor(Lnom=1.0, Lzer=2.0, Linf=0.5), "a", "0"),
        ),
        6.2832,
    )


def test_saturating_inductor_is_exact(inductors: Result) -> None:
    t = np.linspace(0.0, 6.2832, 201)
    flux, Ipar = 1.25 * np.sin(t), saturation_current(1.0, 2.0, 0.5, 1.0)
    assert np.abs(inductors["saturating.Psi"].at(t) - flux).max() <= 1e-6
    assert np.abs(inductors["linear.i"].at(t) - flux).max() <= 1e-6
    expected = [saturated_current(f, 2.0, 0.5, Ipar) for f in flux]
    np.testing.assert_allclose(inductors["saturating.i"].at(t), expected, atol=3e-6)


@requires_case("msl_saturating_inductor")
def test_saturating_inductor_meets_the_published_course(inductors: Result) -> None:
    data = load_case("msl_saturating_inductor")
    rows = data.time <= inductors.t_end
    for path, name in (("linear.i", "i_lin"), ("saturating.Psi", "psi_sat")):
        assert np.abs(inductors[path].at(data.time[rows]) - data[name][rows]).max() <= 1e-4


# -- Rectifier with a junction diode -----------------------------------------------------------------------------------


def test_rectifier_with_a_junction_diode() -> None:
    p = JunctionRectifier()
    model = circuit(
        ("source", SineVoltage(V=p.V, f=p.f), "a", "0"),
        ("series", Resistor(R=p.Rs), "a", "b"),
        ("diode", Diode(Ids=p.Ids, Vt=p.Vt, R=p.R, Maxexp=50.0), "b", "c"),
        ("capacitor", Capacitor(C=p.C), "c", "0"),
        ("load", Resistor(R=p.RL), "c", "0"),
    )
    t = np.linspace(0.0, 0.06, 301)
    result = simulate(model, 0.06, rtol=1e-10)
    v = p.capacitor(t)
    assert np.abs(result["capacitor.v"].at(t) - v).max() <= 1e-6
    currents = [p.diode_current(float(a), float(b)) for a, b in zip(t, v, strict=True)]
    assert np.abs(result["diode.i"].at(t) - currents).max() <= 1e-6
