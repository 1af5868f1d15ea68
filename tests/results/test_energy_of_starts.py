"""Energies of starts that contradict each other: unknown where nothing says them, and never wrong."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from acausal import Circuit, Component, Eq, Parameter, Result, Statement, simulate, time
from acausal.components import electrical as el
from acausal.components import translational as tr
from tests.systems.circuits import circuit

pytestmark = pytest.mark.filterwarnings("ignore:given starts contradict")
END = 2.0


class Quadratic(el.OnePort):
    """A nonlinear resistor."""

    R: Parameter = Parameter(default=1.0, unit="Ohm")
    k: Parameter = Parameter(default=0.1, unit="Ohm/A")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.v, self.k * self.i * abs(self.i) + self.R * self.i)


def parallel() -> Circuit:
    return circuit(("a", el.Capacitor(C=1.0, v=10.0), "n", "0"), ("b", el.Capacitor(C=1.0, v=0.0), "n", "0"))


def series() -> Circuit:
    return circuit(
        ("s", el.ConstantVoltage(V=10.0), "n", "0"),
        ("a", el.Capacitor(C=1.0, v=0.0), "n", "m"),
        ("b", el.Capacitor(C=4.0, v=0.0), "m", "0"),
    )


def on_a_source() -> Circuit:
    return circuit(("a", el.ConstantVoltage(V=10.0), "n", "0"), ("b", el.Capacitor(C=1.0, v=4.0), "n", "0"))


def masses() -> Circuit:
    made = Circuit()
    a, b = made.add("a", tr.Mass(m=1.0, v=10.0)), made.add("b", tr.Mass(m=3.0, v=0.0))
    made.connect(a.flange_b, b.flange_a)
    return made


def coils(load: Callable[[], Component] = lambda: el.Resistor(R=1.0)) -> Circuit:
    return circuit(
        ("a", el.Inductor(L=1.0, i=10.0), "n", "m"),
        ("b", el.Inductor(L=3.0, i=0.0), "m", "0"),
        ("r", load(), "0", "n"),
    )


def nonlinear() -> Circuit:
    return coils(Quadratic)


def beside_a_rectifier() -> Circuit:
    return circuit(
        ("a", el.Capacitor(C=1.0, v=10.0), "n", "0"),
        ("b", el.Capacitor(C=1.0, v=0.0), "n", "0"),
        ("d", el.IdealDiode(), "n", "k"),
        ("r", el.Resistor(R=1.0), "k", "0"),
    )


@pytest.mark.parametrize(
    "build",
    [parallel, series, on_a_source, masses, coils, nonlinear, beside_a_rectifier],
    ids=lambda b: b.__name__,
)
def test_what_contradicting_starts_lose_is_unknown(build: Callable[[], Circuit]) -> None:
    result = simulate(build(), END)
    assert result.events[0].jumps
    audit = result.audit()
    assert np.isnan(result.energy("a")) and np.isnan(audit.into("b"))
    assert np.isnan(audit.energy_lost) and np.isnan(result.events[0].energy_lost)
    assert "nan J" in repr(audit) and "nan J lost" in repr(result.events[0])
    after = result.audit(1e-300, END)
    assert np.isfinite([part.energy for part in after]).all() and after.energy_lost == 0.0
    assert abs(after.balance) <= 1e-6 * (1.0 + sum(abs(part.energy) for part in after))
    assert result.check().ok


def test_the_energy_of_what_carries_no_impulse_is_known() -> None:
    """The momentum of 10 V.s drives 2.5 A through both coils, 12.5 J, all of which the resistor takes."""
    assert simulate(coils(), 100.0).energy("r") == pytest.approx(12.5, rel=1e-12)
    known = simulate(beside_a_rectifier(), 100.0).energy("r")
    assert known == pytest.approx(25.0, rel=1e-12)


@pytest.mark.parametrize("at", [0.0, 1.0])
def test_what_a_switch_joins_is_known_at_the_start_too(at: float) -> None:
    model = circuit(
        ("a", el.Capacitor(C=1.0, v=10.0), "n", "0"),
        ("s", el.IdealClosingSwitch(control=time >= at), "n", "m"),
        ("b", el.Capacitor(C=1.0, v=0.0), "m", "0"),
    )
    result = simulate(model, END)
    found = [result.energy(part) for part in ("a", "b", "s")]
    assert found == pytest.approx([-37.5, 12.5, 25.0], rel=1e-12)
    assert result.audit().lost == pytest.approx({"s.closed": 25.0}, rel=1e-12)


def test_starts_that_agree_lose_nothing() -> None:
    model = circuit(
        ("a", el.Capacitor(C=1.0, v=5.0), "n", "0"),
        ("b", el.Capacitor(C=1.0, v=5.0), "n", "0"),
        ("r", el.Resistor(R=1.0), "n", "0"),
    )
    result = simulate(model, 100.0)
    assert [result.energy(p) for p in ("a", "b", "r")] == pytest.approx([-12.5, -12.5, 25.0], rel=1e-12)
    assert result.audit().lost == {}


def test_files_keep_what_is_unknown(tmp_path: Path) -> None:
    simulate(parallel(), END).save(tmp_path / "run")
    saved = Result.load(next(tmp_path.iterdir()))
    assert np.isnan(saved.energy("b")) and np.isnan(saved.audit().energy_lost)
