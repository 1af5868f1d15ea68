"""Priorities as states: they decide where constraints leave a choice, and change no result."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Eq,
    Parameter,
    Start,
    Statement,
    Variable,
    compile_model,
    connect,
    der,
    simulate,
)
from acausal.components.electrical import Capacitor, Ground, Resistor


class Masses(Component):
    """Two masses moving together, x[1] = ratio x[0], pulled by a spring."""

    ratio: Parameter = Parameter(default=1.0)
    m0: Parameter = Parameter(default=2.0, unit="kg")
    m1: Parameter = Parameter(default=1.0, unit="kg")
    c: Parameter = Parameter(default=1.0, unit="N/m")
    x0 = Variable(unit="m", start=1.0)
    v0 = Variable(unit="m/s")
    x1 = Variable(unit="m")
    v1 = Variable(unit="m/s")
    f = Variable(unit="N")

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x0), self.v0)
        yield Eq(der(self.x1), self.v1)
        yield Eq(self.m0 * der(self.v0), -self.c * self.x0 - self.ratio * self.f)
        yield Eq(self.m1 * der(self.v1), self.f)
        yield Eq(self.x1, self.ratio * self.x0)


class PreferFirst(Masses):
    x0 = Variable(unit="m", start=1.0, state_priority=1)
    v0 = Variable(unit="m/s", state_priority=1)


class PreferSecond(Masses):
    x1 = Variable(unit="m", state_priority=1)
    v1 = Variable(unit="m/s", state_priority=1)


class AvoidFirst(Masses):
    x0 = Variable(unit="m", start=1.0, state_priority=-2)
    v0 = Variable(unit="m/s", state_priority=-2)


def states(model: Component) -> set[str]:
    return {s.name for s in compile_model(model).structure().states}


@pytest.mark.parametrize("ratio", [0.2, 1.0, 5.0])
def test_the_preferred_variables_are_the_states(ratio: float) -> None:
    assert states(PreferFirst(ratio=ratio)) == {"x0", "v0"}
    assert states(PreferSecond(ratio=ratio)) == {"x1", "v1"}
    assert states(AvoidFirst(ratio=ratio)) == {"x1", "v1"}


def test_the_reason_names_the_priority() -> None:
    found = compile_model(PreferSecond()).structure()
    assert all("state_priority" in s.why for s in found.states)


def test_the_motion_does_not_depend_on_the_choice() -> None:
    """(2 + ratio^2) x0'' = -x0."""
    for model in (Masses(ratio=3.0), PreferFirst(ratio=3.0), PreferSecond(ratio=3.0)):
        result = simulate(model, 10.0, initial={"x0": 1.0})
        t = np.linspace(0.0, 10.0, 21)
        assert result["x0"].at(t) == pytest.approx(np.cos(t / np.sqrt(11.0)), abs=1e-12)


class Pendulum(Component):
    """A point on a circle in Cartesian coordinates."""

    x: Variable = Variable(unit="m", start=1.0)
    y: Variable = Variable(unit="m")
    vx, vy = Variable(unit="m/s"), Variable(unit="m/s")
    F = Variable(unit="1/s2")

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), -self.F * self.x)
        yield Eq(der(self.vy), -self.F * self.y - 9.81)
        yield Eq(self.x**2 + self.y**2, 1.0)


class PreferHeight(Pendulum):
    y: Variable = Variable(unit="m", state_priority=1)
    vy = Variable(unit="m/s", state_priority=1)


def test_a_priority_decides_among_coordinates_of_a_mechanism_while_it_can() -> None:
    at = {"x": Start(0.6, fixed=True), "y": Start(-0.8, fixed=True)}
    assert states(Pendulum(**at)) == {"x", "vx"}
    assert states(PreferHeight(**at)) == {"y", "vy"}
    lowest = {"x": Start(0.0, fixed=True), "y": Start(-1.0, fixed=True)}
    # There the height does not determine the place.
    assert states(PreferHeight(**lowest)) == {"x", "vx"}


def test_a_pendulum_swings_through_places_where_its_preferred_state_fails() -> None:
    plain, preferred = (simulate(m, 3.0, rtol=1e-9) for m in (Pendulum(), PreferHeight()))
    t = np.linspace(0.0, 3.0, 31)
    assert preferred["x"].at(t) == pytest.approx(plain["x"].at(t), abs=1e-6)
    assert np.abs(preferred["x"].at(t) ** 2 + preferred["y"].at(t) ** 2 - 1.0).max() < 1e-12


class Charge(Component):
    """Two capacitors in parallel that discharge."""

    def build(self) -> None:
        self.a, self.b, self.r, self.ground = Preferred(C=1.0), Capacitor(C=1e-3), Resistor(R=1.0), Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.a.p, self.b.p, self.r.p)
        yield connect(self.a.n, self.b.n, self.r.n, self.ground.p)


class Preferred(Capacitor):
    """A capacitor whose voltage is to be a state."""

    v = Variable(unit="V", start=1.0, state_priority=1)


def test_a_component_of_the_library_can_be_given_a_priority() -> None:
    assert states(Charge()) == {"a.v"}


class ManyPairs(Component):
    """Pairs of parallel capacitors, more than are analysed with dense matrices."""

    def build(self) -> None:
        self.ground = Ground()
        self.a, self.b = [Capacitor(C=1.0) for _ in range(400)], [Preferred(C=2.0) for _ in range(400)]
        self.r = [Resistor(R=1.0) for _ in range(400)]

    def equations(self) -> Iterator[Statement]:
        for a, b, r in zip(self.a, self.b, self.r, strict=True):
            yield connect(a.p, b.p, r.p)
            yield connect(a.n, b.n, r.n, self.ground.p)


def test_a_large_model_keeps_the_preferred_states() -> None:
    run = compile_model(ManyPairs()).prepare(1.0)
    system = getattr(run.core, "system", None)
    assert system is not None, "the model is meant to be large"
    names = {run.program.unknowns.state_name(int(j)) for j in system.rows.ids[system.x]}
    assert names == {f"b[{k}].v" for k in range(400)}
