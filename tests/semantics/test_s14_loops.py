"""S14: relations inside algebraic loops join the choice of modes; others only decide values."""

from math import acos, cos, pi

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    Discrete,
    Eq,
    Input,
    NoConsistentModeError,
    Output,
    Parameter,
    Result,
    UnknownPathError,
    Variable,
    absolute,
    assign,
    der,
    if_else,
    maximum,
    minimum,
    pre,
    sample,
    simulate,
    when,
)
from acausal.components.electrical import Ground, Pin, Resistor, SineVoltage

from .observing import Statements


class Wave(Component):
    """u = -2 cos(t)."""

    u: Variable = Variable(start=-2.0)
    v: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.u), self.v)
        yield Eq(der(self.v), -self.u)


def rises(level: float) -> float:
    """First time at which u rises through a level."""
    return acos(-level / 2.0)


def falls(level: float) -> float:
    """First time at which u falls through a level."""
    return 2.0 * pi - acos(-level / 2.0)


def times(result: Result) -> list[float]:
    return [e.t for e in result.events if e.kind == "state"]


def elements(result: Result) -> set[str]:
    return {path for mode in result.modes for path in mode.branches}


# -- limiters --------------------------------------------------------------------------------------------------------


class Inverting(Wave):
    """Amplifier of gain A between limits, its output fed back negatively: y = A u / (1 + A) between them."""

    A: Parameter = Parameter(default=4.0)
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield from super().equations()
        yield Eq(self.y, minimum(maximum(self.A * (self.u - self.y), -1), 1))


def test_limiter_with_negative_feedback_has_one_solution() -> None:
    result = simulate(Inverting(), 2.0 * pi)
    assert times(result) == pytest.approx([rises(-1.25), rises(1.25), falls(1.25), falls(-1.25)], rel=1e-13)
    t = np.linspace(0.0, 2.0 * pi, 41)
    assert result["y"].at(t) == pytest.approx(np.clip(-1.6 * np.cos(t), -1.0, 1.0), abs=1e-13)
    assert len(result.modes) == 3


class Trigger(Wave):
    """The same with positive feedback: three solutions while abs(u) < 1 - 1 / A."""

    A: Parameter = Parameter(default=4.0)
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield from super().equations()
        yield Eq(self.y, minimum(maximum(self.A * (self.u + self.y), -1), 1))


@pytest.mark.parametrize("A", [1.5, 4.0, 1e6])
def test_with_positive_feedback_the_present_branch_stays_until_it_ends(A: float) -> None:
    result = simulate(Trigger(A=A), 2.0 * pi)
    up, down = rises(1.0 - 1.0 / A), falls(1.0 / A - 1.0)
    assert times(result) == pytest.approx([up, down], rel=1e-13)
    at = [0.0, up - 1e-9, up + 1e-9, down - 1e-9, down + 1e-9]
    assert result["y"].at(at) == pytest.approx([-1, -1, 1, 1, -1])


def test_gain_one_leaves_no_solution_between_the_limits() -> None:
    result = simulate(Trigger(A=1.0), 2.0 * pi)
    assert times(result) == pytest.approx([pi / 2, 3 * pi / 2], rel=1e-13)
    assert set(result["y"].at(np.linspace(0.0, 6.0, 23))) == {-1.0, 1.0}


class Corner(Component):
    """A limiter with negative feedback that starts exactly at its upper corner."""

    rate: Parameter = Parameter(default=1.0)
    u: Variable = Variable(start=1.0)
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.u), self.rate)
        yield Eq(self.y, minimum(maximum(3 * (self.u - self.y), -0.75), 0.75))


@pytest.mark.parametrize(("rate", "after"), [(1.0, 0.75), (-1.0, 0.375), (0.0, 0.75)])
def test_limiter_that_starts_at_its_corner_goes_where_the_flow_leads(rate: float, after: float) -> None:
    result = simulate(Corner(rate=rate), 0.5)
    assert result["y"].at([0.0, 0.5]) == pytest.approx([0.75, after], rel=1e-14)
    assert times(result) == []


def test_absolute_value_in_a_loop() -> None:
    class Model(Wave):
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield from super().equations()
            yield Eq(self.y, self.u - 0.5 * absolute(self.y))

    result = simulate(Model(), 3.0)
    u = -2.0 * np.cos(t := np.linspace(0.0, 3.0, 17))
    assert result["y"].at(t) == pytest.approx(np.where(u > 0.0, u / 1.5, 2.0 * u), abs=1e-13)
    assert times(result) == pytest.approx([pi / 2], rel=1e-13)


# -- comparators -----------------------------------------------------------------------------------------------------


class Comparator(Wave):
    """y = 1 where u + feedback * y > 0, else -1."""

    feedback: Parameter = Parameter(default=0.5)
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield from super().equations()
        yield Eq(self.y, if_else(self.u + self.feedback * self.y > 0, 1, -1))


def test_comparator_that_acts_on_its_own_input() -> None:
    result = simulate(Comparator(), 2.0 * pi)
    assert times(result) == pytest.approx([rises(0.5), falls(-0.5)], rel=1e-13)
    at = [rises(0.5) - 1e-9, rises(0.5) + 1e-9, falls(-0.5) - 1e-9, falls(-0.5) + 1e-9]
    assert result["y"].at(at) == pytest.approx([-1, 1, 1, -1])


def test_comparator_that_contradicts_itself_has_no_solution() -> None:
    with pytest.raises(NoConsistentModeError, match="violated") as info:
        simulate(Comparator(feedback=-0.5), 2.0 * pi)
    assert info.value.result.t_end == pytest.approx(rises(-0.5), rel=1e-13)
    assert info.value.result["y"].at(1.0) == -1.0


class Pair(Wave):
    """Two comparators that support each other; z turns first and takes y along."""

    y: Variable = Variable()
    z: Variable = Variable()

    def equations(self) -> Statements:
        yield from super().equations()
        yield Eq(self.y, if_else(self.u + 0.5 * self.z > 0, 1, -1))
        yield Eq(self.z, if_else(self.u + 0.25 * self.y > 0.125, 1, -1))


def test_two_comparators_in_one_loop_turn_together() -> None:
    result = simulate(Pair(), 2.0 * pi)
    assert times(result) == pytest.approx([rises(0.375), falls(-0.125)], rel=1e-13)
    for name in ("y", "z"):
        at = [rises(0.375) - 1e-9, rises(0.375) + 1e-9, falls(-0.125) - 1e-9, falls(-0.125) + 1e-9]
        assert result[name].at(at) == pytest.approx([-1, 1, 1, -1])


def test_two_comparators_that_exclude_each_other_settle() -> None:
    """Evaluated one after the other from their last values, both would turn to and fro without end."""

    class Latch(Component):
        y: Variable = Variable()
        z: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(self.y, if_else(self.z < 0.5, 1, 0))
            yield Eq(self.z, if_else(self.y < 0.5, 1, 0))

    result = simulate(Latch(), 1.0)
    assert sorted([result["y"].final, result["z"].final]) == [0.0, 1.0]
    assert len(result.modes) == 1


# -- loops through other equations -----------------------------------------------------------------------------------


class Amplifier(Component):
    """Output voltage ``Gain * v(input)`` between -V and V; no input current."""

    input, output = Pin(), Pin()
    Gain: Parameter = Parameter(default=-100.0, unit="1")
    V: Parameter = Parameter(default=5.0, unit="V")

    def equations(self) -> Statements:
        yield Eq(self.input.i, 0)
        yield Eq(self.output.v, minimum(maximum(self.Gain * self.input.v, -self.V), self.V))


def amplifier(gain: float) -> Circuit:
    """R1 = 1 kohm from a source of 8 V, 1 / (2 pi) Hz to the input, R2 = 4 kohm from there to the output."""
    circuit = Circuit()
    source, ground = circuit.add("source", SineVoltage(V=8.0, f=0.5 / pi)), circuit.add("ground", Ground())
    r1, r2 = circuit.add("r1", Resistor(R=1e3)), circuit.add("r2", Resistor(R=4e3))
    part = circuit.add("amplifier", Amplifier(Gain=gain))
    circuit.connect(source.p, r1.p)
    circuit.connect(r1.n, r2.p, part.input)
    circuit.connect(r2.n, part.output)
    circuit.connect(source.n, ground.p)
    return circuit


def test_loop_through_a_resistive_network_with_negative_feedback() -> None:
    result = simulate(amplifier(-100.0), 2.0 * pi)
    t = np.linspace(0.0, 2.0 * pi, 37)
    closed = -100.0 * 4.0 / (5.0 + 100.0 * 1.0)
    wanted = np.clip(closed * 8.0 * np.sin(t), -5.0, 5.0)
    assert result["amplifier.output.v"].at(t) == pytest.approx(wanted, abs=1e-12)
    first = np.arcsin(5.0 / (-closed * 8.0))
    assert times(result) == pytest.approx([first, pi - first, pi + first, 2 * pi - first], rel=1e-12)


def test_loop_through_a_resistive_network_with_positive_feedback() -> None:
    """The input ``(4 us + y) / 5`` leaves the limit at ``+-V / Gain``."""
    result = simulate(amplifier(100.0), 4.0 * pi)
    threshold = (5.0 - 5.0 * 5.0 / 100.0) / 4.0
    t = np.arcsin(threshold / 8.0)
    turns = [e.t for e in result.events if e.kind == "state" and e.t > 1.0]
    assert turns == pytest.approx([pi + t, 2 * pi + t, 3 * pi + t], rel=1e-12)
    assert np.abs(result["amplifier.output.v"].at(np.linspace(1.0, 12.0, 29))) == pytest.approx(
        np.full(29, 5.0)
    )


class Cubic(Wave):
    """Limiter whose output is fed back through ``w = (y + y**3) / 2``."""

    sign: Parameter = Parameter(default=1.0)
    y: Variable = Variable(start=-1.0)
    w: Variable = Variable(start=-1.0)

    def equations(self) -> Statements:
        yield from super().equations()
        yield Eq(self.y, minimum(maximum(4 * (self.u + self.sign * self.w), -1), 1))
        yield Eq(self.w, (self.y + self.y**3) / 2)


@pytest.mark.parametrize(("rtol", "bound"), [(1e-6, 1e-6), (1e-9, 1e-9)])
def test_limiter_in_a_loop_with_a_nonlinear_equation(rtol: float, bound: float) -> None:
    """``y = 4 (u - w)`` reaches its limits at ``u = +-1.25``; between them a cubic equation gives y."""
    result = simulate(Cubic(sign=-1.0), 2.0 * pi, rtol=rtol)
    assert times(result) == pytest.approx([rises(-1.25), rises(1.25), falls(1.25), falls(-1.25)], abs=bound)
    for t in (rises(-1.25) + 0.01, 1.4, 1.8, 4.5):
        roots = np.roots([0.5, 0.0, 0.75, 2.0 * cos(t)])
        (y,) = roots[np.abs(roots.imag) < 1e-9].real
        assert result["y"].at(t) == pytest.approx(y, abs=bound)
    assert result["y"].at([0.1, 3.0]) == pytest.approx([-1.0, 1.0], abs=1e-12)


@pytest.mark.parametrize(("rtol", "bound"), [(1e-6, 1e-6), (1e-9, 1e-9)])
def test_nonlinear_equation_in_a_loop_with_positive_feedback(rtol: float, bound: float) -> None:
    result = simulate(Cubic(), 2.0 * pi, rtol=rtol)
    assert times(result) == pytest.approx([rises(0.75), falls(-0.75)], abs=bound)
    assert result["y"].at([1.0, 2.0, 5.0, 5.2]) == pytest.approx([-1, 1, 1, -1])


# -- relations outside of loops --------------------------------------------------------------------------------------


def test_relation_outside_of_loops_stays_an_ordinary_event() -> None:
    class Model(Wave):
        y: Variable = Variable()
        z: Variable = Variable()
        w: Variable = Variable()

        def equations(self) -> Statements:
            yield from super().equations()
            yield Eq(self.y, minimum(self.u, 0.5))
            yield Eq(self.z, 2 * self.y + if_else(self.y > -1, 3, 0))
            yield Eq(self.w, if_else(self.z > 0, 1, -1))

    result = simulate(Model(), pi)
    assert elements(result) == set() and len(result.modes) == 1
    assert times(result) == pytest.approx([rises(-1.0), rises(0.5)], rel=1e-13)
    assert result["w"].at([1.0, 1.1]) == pytest.approx([-1.0, 1.0])


def test_a_state_breaks_a_loop() -> None:
    class Model(Component):
        x: Variable = Variable(start=1.0)
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), self.y)
            yield Eq(self.y, if_else(self.x > 0.5, -1, -0.25))

    result = simulate(Model(), 1.5)
    assert elements(result) == set()
    assert times(result) == pytest.approx([0.5], rel=1e-13)
    assert result["x"].final == pytest.approx(0.25, rel=1e-13)


def test_a_sampled_value_breaks_a_loop() -> None:
    """With a delay of one sample the comparator that contradicts itself oscillates."""

    class Model(Component):
        u: Variable = Variable()
        y: Variable = Variable()
        held: Discrete = Discrete(float, start=-1.0)
        turns: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield Eq(der(self.u), 0)
            yield Eq(self.y, if_else(self.u - 0.5 * self.held > 0, 1, -1))
            tick = sample(period=0.25, start=0.25)
            yield when(tick, assign(self.held, self.y), assign(self.turns, pre(self.turns) + 1))

    result = simulate(Model(), 1.1)
    assert elements(result) == set()
    assert result["turns"].final == 4
    assert result["y"].at([0.1, 0.3, 0.6, 0.8]) == pytest.approx([1, -1, 1, -1])


def test_instances_of_one_class_with_and_without_a_loop() -> None:
    class Limit(Component):
        u: Input = Input(float)
        y: Output = Output(float)

        def equations(self) -> Statements:
            yield Eq(self.y, minimum(maximum(4 * self.u, -1), 1))

    class Model(Wave):
        def build(self) -> None:
            self.open, self.closed = Limit(), Limit()

        def equations(self) -> Statements:
            yield from super().equations()
            yield Eq(self.open.u, self.u)
            yield Eq(self.closed.u, self.u - self.closed.y)

    result = simulate(Model(), pi)
    u = -2.0 * np.cos(t := np.linspace(0.0, pi, 31))
    assert result["open.y"].at(t) == pytest.approx(np.clip(4.0 * u, -1.0, 1.0), abs=1e-13)
    assert result["closed.y"].at(t) == pytest.approx(np.clip(0.8 * u, -1.0, 1.0), abs=1e-13)


# -- names -----------------------------------------------------------------------------------------------------------


class Held(Component):
    """A mass on a spring with a damper of limited force; the limit follows that force."""

    x: Variable = Variable(start=3.0)
    v, f, limit = Variable(), Variable(), Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.v), -self.f - self.x)
        yield Eq(self.limit, 0.5 + 0.1 * self.f)
        yield Eq(self.f, maximum(minimum(2 * self.v, self.limit), -self.limit))


def test_an_element_bears_the_name_of_what_it_determines_and_a_branch_says_what_holds_in_it() -> None:
    class Model(Component):
        def build(self) -> None:
            self.mass = [Held(), Held(x=1.0)]

    result = simulate(Model(), 3.0)
    assert elements(result) == {"mass[0].f", "mass[1].f"}
    branches = {b for mode in result.modes for b in mode.branches.values()}
    assert branches <= {
        f"{a}limit > 2*v, {b}{inner} < -limit"
        for a, inner in (("", "2*v"), ("not ", "limit"))
        for b in ("", "not ")
    }
    # No branch was left at the start; later ones name the element.
    assert result.events[0].modes == {}
    assert {t for e in result.events if e.kind == "state" for t in e.triggers} <= elements(result)
    assert any(e.kind == "state" for e in result.events)


def test_names_of_elements_differ() -> None:
    class Part(Component):
        x: Input = Input(float)
        y: Output = Output(float)

        def equations(self) -> Statements:
            yield Eq(self.y, self.x)

    class Model(Wave):
        """Twice the same left side, a part's variable, and no variable alone."""

        y, z, w = Variable(), Variable(), Variable()

        def build(self) -> None:
            self.part = Part()

        def equations(self) -> Statements:
            yield from super().equations()
            yield Eq(self.y, minimum(self.u - self.z, 1))
            yield Eq(self.y, maximum(self.z, -3) + self.z)
            yield Eq(self.part.x, minimum(self.u - self.part.x, 1))
            yield Eq(2 * self.w, minimum(self.u - self.w, 1))

    found = elements(simulate(Model(), 1.0))
    assert {"y", "Eq(part.x, ...)"} < found
    assert len(found) == 4
    assert sum(name.startswith(("Eq(y, ", "Eq(2*w, ")) for name in found) == 2
    with pytest.raises(UnknownPathError, match=r"Eq\(part"):
        simulate(Model(), 1.0, initial={"Eq(part.x, ...)": 1})


def test_a_start_beside_an_element_of_the_same_name_is_that_of_the_variable() -> None:
    assert simulate(Held(), 1.0, initial={"f": 0.25, "x": 2.0})["x"].at(0.0) == 2.0
