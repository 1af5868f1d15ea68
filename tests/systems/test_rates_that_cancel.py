"""Small losses beside smaller leaks: fast rates cancel in a slow motion, and rounding of coefficients moves what is slow."""

from collections.abc import Iterator
from math import exp

import pytest

from acausal import (
    Circuit,
    Component,
    ConsistencyError,
    Eq,
    Parameter,
    Statement,
    Variable,
    der,
    simulate,
    sqrt,
    time,
)
from acausal.components import electrical as el
from tests.systems.circuits import circuit

LEAK = 1e9
"""Ohm across each of the capacitors."""


def shared(Ron: float) -> Circuit:
    """1 uF at 10 V and 3 uF at 2 V are joined at 1 ms; nothing is watched after that."""
    return circuit(
        ("c1", el.Capacitor(C=1e-6, v=10.0), "a", "0"),
        ("r1", el.Resistor(R=LEAK), "a", "0"),
        ("s", el.IdealClosingSwitch(control=time >= 1e-3, Ron=Ron), "a", "b"),
        ("c2", el.Capacitor(C=3e-6, v=2.0), "b", "0"),
        ("r2", el.Resistor(R=LEAK), "b", "0"),
    )


def voltage(t: float) -> float:
    """Closed form after both are joined: each charge decays by itself, then both together."""
    charge = 10e-6 * exp(-1e-3 / (LEAK * 1e-6)) + 6e-6 * exp(-1e-3 / (LEAK * 3e-6))
    return charge / 4e-6 * exp(-2.0 * (t - 1e-3) / (LEAK * 4e-6))


def test_a_closed_form_that_misses_more_than_it_promises_names_the_path_that_promises_less() -> None:
    with pytest.raises(ConsistencyError, match="rates that cancel exceed the motion of") as info:
        simulate(shared(1e-6), 2e-3)
    assert info.value.relative < 1e-6 and 'method="implicit"' in info.value.hint
    result = simulate(shared(1e-6), 2e-3, method="implicit")
    assert result["c1.v"].final == pytest.approx(voltage(2e-3), rel=1e-6)
    assert result.energy("s") == pytest.approx(24e-6, rel=1e-5)


@pytest.mark.parametrize(("Ron", "end", "rtol"), [(1e-6, 10.0, 1e-6), (1e-9, 2e-3, 1e-6), (1e-6, 2e-3, 1e-9)])
def test_steps_that_follow_rounded_rates_beyond_their_tolerance_are_refused(
    Ron: float, end: float, rtol: float
) -> None:
    """They were off by 190, 3.7 and 18 tolerances of the leak alone."""
    for method in ("exact", "implicit"):
        with pytest.raises(ConsistencyError, match="rates that cancel exceed the motion of") as info:
            simulate(shared(Ron), end, method=method, rtol=rtol)
        assert ("implicit" in info.value.hint) == (method == "exact" and info.value.relative <= 1e-6)


def test_an_inductor_cut_set_behind_tiny_losses_names_the_path_too() -> None:
    model = circuit(
        ("v", el.ConstantVoltage(V=10.0), "a", "0"),
        ("l1", el.Inductor(L=1e-3), "a", "b"),
        ("s", el.IdealClosingSwitch(control=time < 1e-3, Ron=1e-9, Goff=1e-9), "b", "0"),
        ("l2", el.Inductor(L=3e-3), "b", "c"),
        ("r", el.Resistor(R=1.0), "c", "0"),
    )
    with pytest.raises(ConsistencyError, match="rates that cancel exceed the motion of") as info:
        simulate(model, 5e-3)
    assert 'method="implicit"' in info.value.hint
    result = simulate(model, 5e-3, method="implicit")
    assert result["l1.i"].final == pytest.approx(10.0 - 7.5 * exp(-1.0), rel=1e-6)
    assert result.energy("s") == pytest.approx(37.5e-3, rel=1e-6)


class Coils(Component):
    """Two coils by their inductances, 2 H and 3 H, and 1 Ohm each; 1 V feeds the first."""

    k: Parameter = Parameter(default=1.0)
    i1: Variable = Variable(start=0.0)
    i2: Variable = Variable(start=0.0)

    def equations(self) -> Iterator[Statement]:
        M = self.k * sqrt(6.0)
        yield Eq(1.0 - self.i1, 2.0 * der(self.i1) + M * der(self.i2))
        yield Eq(-self.i2, M * der(self.i1) + 3.0 * der(self.i2))


def coils(k: float) -> Circuit:
    """The same of components."""
    pair = el.CoupledInductors(L1=2.0, L2=3.0, k=k)
    model = circuit(
        ("v", el.ConstantVoltage(V=1.0), "a", "0"),
        ("r1", el.Resistor(R=1.0), "a", "b"),
        ("r2", el.Resistor(R=1.0), "c", "0"),
        coils=pair,
    )
    model.connect(pair.p1, model.r1.n)
    model.connect(pair.p2, model.r2.p)
    model.connect(pair.n1, pair.n2, model.v.n)
    return model


TIGHT = 1.0 - 0.4 * exp(-0.2), -(0.24**0.5) * exp(-0.2)
"""Currents of both coils after a second, without leakage."""


@pytest.mark.parametrize("leakage", [0.0, 1e-15, 1e-8])
def test_tight_coils_are_right_where_they_run(leakage: float) -> None:
    result = simulate(Coils(k=1.0 - leakage), 1.0)
    assert (result["i1"].final, result["i2"].final) == pytest.approx(TIGHT, rel=1e-7)


@pytest.mark.parametrize("leakage", [1e-10, 1e-13])
def test_the_way_out_of_inductances_that_all_but_cancel(leakage: float) -> None:
    """Rates of 1/leakage in both currents are all that doubles keep of the slow one."""
    for method in ("exact", "implicit")[: 1 if leakage > 1e-12 else 2]:
        with pytest.raises(ConsistencyError, match="rates that cancel exceed the motion of") as info:
            simulate(Coils(k=1.0 - leakage), 1.0, method=method)
        assert "`CoupledInductors`" in info.value.hint
    result = simulate(coils(1.0 - leakage), 1.0)
    assert (result["coils.i1"].final, result["coils.i2"].final) == pytest.approx(TIGHT, rel=1e-8)
    assert result.check().ok


def test_steps_along_rates_that_cancel_are_right_within_their_tolerance() -> None:
    result = simulate(Coils(k=1.0 - 1e-10), 1.0, method="implicit")
    assert (result["i1"].final, result["i2"].final) == pytest.approx(TIGHT, rel=2e-6)
