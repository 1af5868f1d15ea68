"""Runs that cannot go on: kind of error, text, place and remedy; what was computed until then stays readable."""

import math
import sys

import numpy as np
import pytest

from acausal import (
    ChatteringError,
    Circuit,
    Component,
    ContradictionError,
    ContradictorySourcesError,
    Discrete,
    Eq,
    EventIterationError,
    FlowInterruptedError,
    Impact,
    InitializationError,
    Input,
    NonFiniteError,
    Parameter,
    ParameterError,
    RequirementError,
    SimulationError,
    Start,
    Variable,
    assign,
    der,
    if_else,
    not_,
    pre,
    reinit,
    require,
    sample,
    sign,
    simulate,
    sqrt,
    tanh,
    time,
    when,
)
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    Inductor,
    Resistor,
)
from acausal.simulation import loop

from .refusals import Scalar, Statements, refused, run


def opened_coil() -> Circuit:
    """10 V on 1 ohm and 1 mH through a switch that opens at 0.4 ms."""
    circuit = Circuit()
    source, ground = circuit.add("source", ConstantVoltage(V=10.0)), circuit.add("ground", Ground())
    switch = circuit.add("switch", IdealClosingSwitch(control=time < 0.4e-3))
    coil, load = circuit.add("coil", Inductor(L=1e-3)), circuit.add("load", Resistor(R=1.0))
    circuit.connect(source.p, switch.p)
    circuit.connect(switch.n, coil.p)
    circuit.connect(coil.n, load.p)
    circuit.connect(load.n, source.n, ground.p)
    return circuit


def test_interrupted_flow_and_the_result_until_then() -> None:
    with pytest.raises(
        FlowInterruptedError, match="opening `switch` at t = 0.0004 interrupts `coil.i`"
    ) as info:
        simulate(opened_coil(), 1e-3)
    error = info.value
    assert error.where[0].path == "switch" and "freewheeling" in error.hint
    t = np.array([1e-4, 2e-4, 3.9e-4])
    assert error.result["coil.i"].at(t) == pytest.approx(10.0 * (1.0 - np.exp(-t / 1e-3)), rel=1e-12)
    assert error.result.t_end == pytest.approx(0.4e-3, rel=1e-12)
    assert error.result["load.v"].final == pytest.approx(10.0 * (1.0 - math.exp(-0.4)), rel=1e-12)


def test_shorted_source() -> None:
    circuit = Circuit()
    source, ground = circuit.add("source", ConstantVoltage(V=10.0)), circuit.add("ground", Ground())
    switch = circuit.add("switch", IdealClosingSwitch(control=time > 0.5))
    circuit.connect(source.p, switch.p)
    circuit.connect(switch.n, source.n, ground.p)
    with pytest.raises(ContradictorySourcesError, match=r"at t = 0.5 .*switch.closed.* at source") as info:
        run(circuit)
    assert info.value.where[0].path == "switch" and "gives way" in info.value.hint
    assert info.value.result["switch.v"].at(0.25) == pytest.approx(10.0, rel=1e-14)


def test_nan_in_a_sampled_controller() -> None:
    class Controller(Scalar):
        d: Discrete = Discrete(float)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield when(sample(period=0.1), assign(self.d, sqrt(0.25 - self.x)))  # <-

    class Model(Component):
        def build(self) -> None:
            self.controller = Controller()

    with refused(
        NonFiniteError,
        "`controller.d` becomes -?nan at t = 0.3",
        hint="root of a negative number",
        path="controller",
        at=test_nan_in_a_sampled_controller,
    ):
        run(Model())
    with pytest.raises(NonFiniteError) as info:
        run(Model())
    assert info.value.result["controller.d"].at(0.25) == pytest.approx(math.sqrt(0.05), rel=1e-12)


def test_two_relations_that_chatter() -> None:
    class Model(Scalar):
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), if_else(self.x > self.y, -2, 2))  # <-
            yield Eq(der(self.y), if_else(self.y > self.x, -3, 1.5))

    text = r"the relations `x > y`, `y > x` switch without end\n.*micro-step 0: .*`x > y`: True"
    with refused(ChatteringError, text, hint="hysteresis", path="Model", at=test_two_relations_that_chatter):
        run(Model())


def test_relay_without_hysteresis_chatters_when_it_is_reached() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), if_else(self.x > 1, -1, 2))  # <-

    with refused(
        ChatteringError,
        "at t = 0.5 the relation `x > 1` switches without end",
        hint="hysteresis",
        path="Model",
        at=test_relay_without_hysteresis_chatters_when_it_is_reached,
    ):
        run(Model())
    with pytest.raises(ChatteringError) as info:
        run(Model())
    assert info.value.result["x"].at(0.25) == pytest.approx(0.5, rel=1e-12)


def test_a_crossing_without_progress_names_the_equation_that_compares(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The first one is taken for one too many."""

    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), 0.5 - sign(self.x))  # <-

    monkeypatch.setattr(loop, "MOST_TIMES", 0)
    with refused(
        ChatteringError,
        r"`x > 0` triggers again .*(\n.*)*because `Eq\(der\(x\), .*sign\(x\).* chooses by it",
        hint="hysteresis",
        path="Model",
        at=test_a_crossing_without_progress_names_the_equation_that_compares,
    ):
        run(Model(x=0.16))


def test_micro_steps_that_cycle() -> None:
    class Model(Scalar):
        on: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(self.x, time)
            yield Eq(self.on, not_(pre(self.on)))  # <-

    text = r"do not settle: on\n.*micro-step 0: on = 1\n.*micro-step 1: on = 0"
    with refused(EventIterationError, text, hint="when", path="Model", at=test_micro_steps_that_cycle):
        run(Model())


class Ball(Component):
    """A point that falls from 1 with acceleration 10 on a floor at 0."""

    e: Parameter = Parameter(default=0.5)
    h: Variable = Variable(start=1.0)
    v: Variable = Variable()
    force: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.h), self.v)
        yield Eq(der(self.v), -10 + self.force)
        yield Impact(self.h, self.force, restitution=self.e)


def test_requirement_that_fails_at_the_start() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield require(self.x > 0.5, "x must be above one half")  # <-

    text = r"x must be above one half \(at t = 0\)(.|\n)*because `x > 0.5` does not hold"
    with refused(
        RequirementError, text, hint="start values", path="Model", at=test_requirement_that_fails_at_the_start
    ):
        run(Model())


def test_requirement_that_fails_during_the_run() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield require(self.x < 0.5, "x must be below one half")  # <-

    with refused(
        RequirementError,
        r"x must be below one half \(at t = 0.5\)",
        hint="start values",
        path="Model",
        at=test_requirement_that_fails_during_the_run,
    ):
        run(Model())
    with pytest.raises(RequirementError) as info:
        run(Model())
    assert info.value.result["x"].at(0.4) == pytest.approx(0.4, rel=1e-14)


def test_declared_bound_of_a_variable() -> None:
    class Model(Component):
        x: Variable = Variable(max=0.5)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)

    with refused(
        RequirementError, r"`x` must be at most 0.5 \(at t = 0.5\)", hint="start values", path="Model"
    ):
        run(Model())


def joined(left: Component, right: Component) -> Circuit:
    """Two parts in parallel, grounded."""
    circuit = Circuit()
    a, b, ground = circuit.add("a", left), circuit.add("b", right), circuit.add("ground", Ground())
    circuit.connect(a.p, b.p)
    circuit.connect(a.n, b.n, ground.p)
    return circuit


def test_fixed_starts_that_contradict_each_other() -> None:
    model = joined(Capacitor(C=1.0, v=Start(1.0, fixed=True)), Capacitor(C=1.0, v=Start(2.0, fixed=True)))
    with pytest.raises(InitializationError, match="`a.v` = 1.*`b.v` = 2") as info:
        run(model)
    assert "fixed" in info.value.hint


def test_initial_value_against_a_source() -> None:
    with pytest.raises(InitializationError, match=r"`b.v` = 3 cannot hold(.|\n)*demand `b.v` = 1") as info:
        simulate(joined(ConstantVoltage(V=1.0), Capacitor(C=1.0)), 1.0, initial={"b.v": 3.0})
    assert [place.path for place in info.value.where] == ["b", "a"]


def test_initial_value_of_an_algebraic_variable_that_the_model_determines() -> None:
    with refused(
        InitializationError, r"`b.i` is fixed at 3 but the model gives 0.5", hint="drop `fixed`", path="b"
    ):
        simulate(joined(ConstantVoltage(V=1.0), Resistor(R=2.0)), 1.0, initial={"b.i": 3.0})


def test_reinit_of_what_a_source_determines() -> None:
    circuit = joined(ConstantVoltage(V=1.0), Capacitor(C=1.0))
    circuit.state(when(time > 0.5, reinit(circuit.b.v, 3.0)))  # <-
    text = r"at t = 0.5 `b.v` = 3 cannot hold(.|\n)*because the equations in force demand `b.v` = 1"
    with refused(SimulationError, text, hint="reinit", at=test_reinit_of_what_a_source_determines):
        run(circuit)


def test_equations_that_depend_on_each_other() -> None:
    class Model(Scalar):
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x) + der(self.y), 1)
            yield Eq(der(self.x) + der(self.y), 2)

    text = r"(?s)Eq\(der\(x\) \+ der\(y\), 1\) at Model .*; Eq\(der\(x\) \+ der\(y\), 2\).*1 = 0, and nothing determines `x`, `y`"
    with refused(ContradictionError, text, hint="remove one of them, and state an equation for `x`, `y`"):
        run(Model())


class Fed(Component):
    """``der(x) = u`` with an open input."""

    u: Input = Input(float)
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.u)


@pytest.mark.parametrize(
    ("given", "kind", "text"),
    [
        ("fast", ParameterError, "input `u` takes a number, a callable"),
        (([0.0, 2.0, 1.0], [0.0, 1.0, 2.0]), ParameterError, "ascending times"),
        (([0.0, 1.0], [0.0]), ParameterError, "equal length"),
        (math.nan, NonFiniteError, "input `u`"),
        (lambda t: math.nan, NonFiniteError, "input `u` is not finite at t = "),
    ],
)
def test_inputs_that_cannot_be_used(given: object, kind: type[Exception], text: str) -> None:
    with pytest.raises(kind, match=text):
        simulate(Fed(), 1.0, inputs={"u": given})


@pytest.mark.parametrize(
    ("span", "text"),
    [
        (0.0, "t_start = 0 and t_end = 0"),
        (-1.0, "t_end = -1"),
        (math.nan, "`t_end` must be a finite time"),
        (math.inf, "`t_end` must be a finite time"),
        ("1", "`t_end` must be a finite time"),
    ],
)
def test_spans_that_are_refused(span: float, text: str) -> None:
    with refused(ParameterError, text, hint=""):
        simulate(Fed(u=1.0), span)


def test_unknown_policy_for_impulses() -> None:
    with refused(ParameterError, "`impulses` must be", hint=""):
        simulate(Fed(u=1.0), 1.0, impulses="never")


class Grows(Component):
    """A variable that grows with its own value, until it exceeds the range of doubles."""

    x: Variable = Variable(start=1.0)

    def equations(self) -> Statements:
        yield Eq(der(self.x), self.x)


def test_what_grows_beyond_the_range_of_doubles_is_kept_until_then() -> None:
    """The error said that it was not finite at the start, and all that was known until the end was lost."""
    with pytest.raises(NonFiniteError, match=r"`x` leaves the range of doubles after t = 69") as caught:
        simulate(Grows(), 1000.0)
    result = caught.value.result
    assert result is not None
    assert result.t_end == pytest.approx(math.log(sys.float_info.max), rel=0.03)
    assert result["x"].at(300.0) == pytest.approx(math.exp(300.0), rel=1e-12)
    assert math.isfinite(result["x"].final)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_steps_end_with_finite_numbers_before_the_range_of_doubles_ends(method: str) -> None:
    """The last step had a way that was not finite, and with it every other variable."""

    class Both(Grows):
        u: Variable = Variable(start=0.0)

        def equations(self) -> Statements:
            yield Eq(der(self.x), self.x + tanh(self.x))
            yield Eq(der(self.u), 1.0 - self.u)

    with pytest.raises(SimulationError) as caught:
        simulate(Both(), 800.0, method=method)
    result = caught.value.result
    assert result is not None
    assert 700.0 < result.t_end < 709.0
    assert math.isfinite(result["x"].final)
    assert result["u"].max() == pytest.approx(1.0)
    assert result["u"].mean() == pytest.approx(1.0 - 1.0 / result.t_end, rel=1e-6)
