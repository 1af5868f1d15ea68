"""Arguments of the wrong kind are refused by name before anything is computed."""

import copy
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from acausal import (
    AcausalError,
    Circuit,
    Component,
    DeclarationError,
    Discrete,
    Eq,
    ExpressionError,
    Input,
    NonFiniteError,
    Parameter,
    ParameterError,
    RequirementError,
    Structural,
    UnconnectedInputError,
    UnknownPathError,
    assign,
    compile_model,
    connect,
    der,
    simulate,
    when,
)
from acausal.components import translational
from acausal.components.blocks import (
    PWM,
    BooleanTable,
    ComplementaryPWM,
    Mean,
    NaturalPWM,
    PhaseAngle,
    SampledPI,
    Sampler,
    TimeTable,
)
from acausal.components.electrical import Capacitor, IdealClosingSwitch, Resistor, TableVoltage
from acausal.modeling.fields import MISSING

from .refusals import Divider, Scalar, Statements, refused


class Driven(Scalar):
    """One unknown that an input gives."""

    u: Input = Input(float)

    def equations(self) -> Statements:
        yield Eq(self.x, self.u)


@pytest.mark.parametrize("value", [1e-320, -5e-324, 10**400])
def test_numbers_that_cannot_be_computed_with(value: float) -> None:
    with refused(ParameterError, "`C` of Capacitor must be", hint=""):
        Capacitor(C=value)
    with refused(ParameterError, "`load.R` must be", hint="", path="load"):
        simulate(Divider(), 1.0, parameters={"load.R": value})


def test_bound_parameter_that_has_no_inverse() -> None:
    class Model(Component):
        R: Parameter = Parameter(default=1e-300)

        def build(self) -> None:
            self.load = Resistor(R=1e-10 * self.R)

    with refused(
        ParameterError, r"`load.R` must be 0 or at least 2.2\d*e-308", hint="change `R`", path="load"
    ):
        simulate(Model(), 1.0)


def test_start_value_beyond_the_range_of_floats() -> None:
    with refused(DeclarationError, "the start value `v` of Capacitor must be a finite number", hint=""):
        Capacitor(C=1.0, v=10**400)


def test_keywords_only() -> None:
    positional: Any = Resistor
    with refused(DeclarationError, "Resistor takes keywords only, got 1", hint="Resistor(R=...)"):
        positional(1)


def test_circuit_is_no_part_of_itself() -> None:
    circuit = Circuit()
    with refused(DeclarationError, "a Circuit cannot be a part of itself, as `me`", hint="second object"):
        circuit.add("me", circuit)
    outer = Circuit()
    circuit.add("outer", outer)
    with refused(DeclarationError, "cannot be a part of itself", hint="second object"):
        outer.add("inner", circuit)


def test_name_of_a_part_is_a_string() -> None:
    name: Any = 3
    with refused(DeclarationError, "the name of a part is a string, got 3", hint="r1"):
        Circuit().add(name, Resistor(R=1.0))


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ((), "at least one row"),
        ("abc", "at least one row"),
        (((0, 1), (0,)), r"rows of two finite numbers \(x, y\), got \(0,\)"),
        (((0, "a"),), "rows of two finite numbers"),
        (((0, 1), (1, float("nan"))), "rows of two finite numbers"),
        (((1, 0), (0, 1)), "must ascend, but 0 follows 1"),
    ],
)
def test_tables_of_points(table: Any, text: str) -> None:
    with refused(ParameterError, f"`table` of TableVoltage .*{text}", hint=""):
        TableVoltage(table=table)
    with refused(ParameterError, f"`table` of TimeTable .*{text}", hint=""):
        TimeTable(table=table)


@pytest.mark.parametrize("table", [(0.5, 0.2), (float("nan"),), ("a",), "abc", 3])
def test_tables_of_times(table: Any) -> None:
    with refused(ParameterError, "`table` of BooleanTable ", hint=""):
        BooleanTable(table=table)


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"parameters": [1]}, "`parameters` takes a mapping"),
        ({"parameters": "load.R"}, "`parameters` takes a mapping"),
        ({"parameters": {3: 1.0}}, "by path, a string, got 3"),
        ({"initial": [("load.v", 1)]}, "`initial` takes a mapping"),
        ({"inputs": 5}, "`inputs` takes a mapping"),
        ({"inputs": "x"}, "`inputs` takes a mapping"),
        ({"save": 5}, "`save` takes a list of paths"),
        ({"grid": ["a"]}, "grid must be"),
        ({"rtol": np.array([1.0, 2.0])}, "`rtol` must be a number between"),
    ],
)
def test_options_of_the_wrong_kind(options: dict[str, Any], text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        simulate(Divider(), 1.0, **options)


def test_end_of_a_run_is_one_time() -> None:
    end: Any = np.array([1.0, 2.0])
    with refused(ParameterError, "`t_end` must be a finite time", hint=""):
        simulate(Divider(), end)
    with refused(ParameterError, "`t_end` must be a finite time", hint=""):
        simulate(Divider(), 10**400)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (lambda t: "x", "must return a number, got 'x' at t = "),
        (lambda t: np.array([t, t]), "must return a number, got array"),
        (lambda: 1.0, "cannot be called with the time: too many positional"),
        (np.array([1.0, 2.0]), "takes a number, a callable or"),
        (([0.0, 1.0], ["a", "b"]), "takes a number, a callable or"),
        (10**400, "takes a number, a callable or"),
    ],
)
def test_inputs_of_the_wrong_kind(value: Any, text: str) -> None:
    with pytest.raises(ParameterError, match=f"input `u` {text}"):
        simulate(Driven(), 1.0, inputs={"u": value})
    stepped = compile_model(Driven()).start(inputs={"u": 1.0})
    with pytest.raises(ParameterError, match=f"input `u` {text}"):
        stepped.advance(1.0, inputs={"u": value})


def test_functions_without_a_signature_are_taken() -> None:
    assert simulate(Driven(), 1.0, inputs={"u": np.sin})["x"].final == pytest.approx(np.sin(1.0), rel=1e-12)


def test_questions_to_signals() -> None:
    signal = simulate(Divider(), 1.0)["load.v"]
    value: Any = "a"
    with refused(ParameterError, "`load.v` is asked for at times in seconds, got 'a'", hint=""):
        signal.at(value)
    with refused(ParameterError, "a window is two times in seconds", hint=""):
        signal.mean(value, 1)


class Switched(Driven):
    """A condition and a count from outside as well."""

    on: Input = Input(bool)
    count: Input = Input(int)


def test_open_inputs_need_a_value() -> None:
    with refused(UnconnectedInputError, "input `u` of Driven has no value", hint='inputs={"u": ...}'):
        simulate(Driven(), 1.0)
    with refused(UnconnectedInputError, "input `on` of Switched has no value", hint='inputs={"on": ...}'):
        simulate(Switched(count=1), 1.0, inputs={"u": 1.0})
    assert simulate(Driven(u=2.0), 1.0)["x"].final == 2.0
    assert simulate(Driven(u=2.0), 1.0, inputs={"u": 3.0})["x"].final == 3.0


def test_array_inputs_may_be_given_as_keyword() -> None:
    class Model(Scalar):
        u: Any = Input(float, shape=(2,))

        def equations(self) -> Statements:
            yield Eq(self.x, self.u[0] - self.u[1])

    assert simulate(Model(u=(5.0, 2.0)), 1.0)["x"].final == 3.0
    assert simulate(Model(), 1.0, inputs={"u[0]": 1.0, "u[1]": 2.0})["x"].final == -1.0
    with refused(UnconnectedInputError, r"input `u\[1\]` of Model has no value", hint='"u[1]"'):
        simulate(Model(), 1.0, inputs={"u[0]": 1.0})


def test_discrete_inputs_take_their_own_values() -> None:
    given = {"u": 0.0, "on": np.True_, "count": 3}
    assert simulate(Switched(), 1.0, inputs=given)["count"].final == 3
    for value in (0.5, 2, float("nan"), "x", None):
        with pytest.raises(ParameterError, match="the discrete input `on` takes True or False"):
            simulate(Switched(), 1.0, inputs={**given, "on": value})
    for value in (0.5, float("inf"), "x"):
        with pytest.raises(ParameterError, match="the discrete input `count` takes a whole number"):
            simulate(Switched(), 1.0, inputs={**given, "count": value})
    for value in (0.5, 3, float("nan")):
        with refused(ExpressionError, "input `control` of IdealClosingSwitch takes True, False", hint=""):
            IdealClosingSwitch(control=value)
    with refused(ExpressionError, "input `u` of Driven takes a finite number", hint=""):
        Driven(u=float("inf"))


def test_grids_lie_within_the_run() -> None:
    for grid in ([2.0], [-0.1, 0.5], np.linspace(0.0, 1.1, 12)):
        with refused(ParameterError, "times outside the run.* from 0 to 1 s", hint="a step"):
            simulate(Divider(), 1.0, grid=grid)
    end = 0.1 + 0.2
    assert simulate(Divider(), 0.3, grid=[0.0, end]).t.tolist() == [0.0, 0.3]
    assert simulate(Divider(), 1.0, grid=10.0).t.tolist() == [0.0, 1.0]


def test_a_grid_may_outlast_a_run_that_stops() -> None:
    class Clock(Scalar):
        def equations(self) -> Statements:
            yield Eq(der(self.x), 1.0)

    model = Clock()
    result = simulate(model, 1.0, grid=[0.25, 0.75], until=model.x > 0.5)
    assert result.t_end == pytest.approx(0.5, rel=1e-12)
    assert result.t[0] == 0.25 and result.t[-1] <= result.t_end


def test_errors_pickle_without_their_result() -> None:
    with pytest.raises(AcausalError) as info:
        simulate(Driven(), 1.0, inputs={"u": lambda t: 1.0 if t < 0.5 else float("nan")})
    assert info.value.result is not None
    again = pickle.loads(pickle.dumps(info.value))
    assert (type(again), str(again)) == (type(info.value), str(info.value))
    assert again.result is None
    assert again.where == info.value.where


def test_results_are_immutable_and_cross_processes() -> None:
    result = simulate(Divider(), 1.0)
    assert copy.copy(result) is result
    assert copy.deepcopy([result])[0] is result
    with pytest.raises(TypeError, match="item assignment"):
        result["t"] = 2.0  # type: ignore[index]
    again = pickle.loads(pickle.dumps(result))
    assert (list(again), again.t_end) == (list(result), result.t_end)
    assert all(again[name].final == result[name].final for name in result)


def test_the_missing_value_is_one_object() -> None:
    assert pickle.loads(pickle.dumps(MISSING)) is MISSING
    assert copy.deepcopy(MISSING) is MISSING


@pytest.mark.parametrize(
    ("part", "name"),
    [
        (lambda: PWM(frequency=0.0, duty=0.5), "frequency"),
        (lambda: NaturalPWM(frequency=0.0, duty=0.5), "frequency"),
        (lambda: ComplementaryPWM(frequency=0.0, duty=0.5), "frequency"),
        (lambda: PhaseAngle(frequency=0.0, alpha=0.5), "frequency"),
        (lambda: Sampler(samplePeriod=0.0, u=1.0), "samplePeriod"),
        (lambda: SampledPI(period=0.0, kp=1.0, reference=1.0, measurement=0.0), "period"),
        (lambda: Mean(period=0.0, u=1.0), "period"),
    ],
)
def test_periods_and_frequencies_are_positive(part: Callable[[], Component], name: str) -> None:
    circuit = Circuit()
    circuit.add("part", part())
    with pytest.raises(RequirementError, match=f"the `{name}` must be positive") as info:
        simulate(circuit, 1.0)
    assert info.value.where[0].path.startswith("part")


def test_a_period_that_no_run_comes_to_the_end_of() -> None:
    circuit = Circuit()
    circuit.add("hold", Sampler(samplePeriod=1e-12, u=1.0))
    text = "the period 1e-12 s of sample.. in `hold` gives 1e.12 ticks"
    with refused(ParameterError, text, hint="longer period", path="hold"):
        simulate(circuit, 1.0)
    assert simulate(circuit, 1e-10)["hold.y"].final == 1.0


@pytest.mark.parametrize("value", ["a", None, True, [1], float("nan"), 10**400])
def test_times_of_stepped_runs(value: Any) -> None:
    program: Any = compile_model(Divider())
    with refused(
        ParameterError, "`span` must be a finite time in seconds" if value is not None else "`t`", hint=""
    ):
        program.start(span=value).advance(value)
    with refused(ParameterError, "`t` must be a finite time in seconds", hint=""):
        program.start().advance(value)


def test_expected_lengths_are_positive() -> None:
    with refused(ParameterError, "`span` is the expected length of a run from 0 s", hint="leave it out"):
        compile_model(Divider()).start(span=-1.0)
    begin: Any = "a"
    with refused(ParameterError, "`t_start` must be a finite time", hint=""):
        compile_model(Divider()).start(t_start=begin)


def test_snapshots_of_other_runs() -> None:
    program = compile_model(Divider())
    run: Any = program.start()
    other = compile_model(Charged()).start().snapshot()
    for wrong, text in (
        (other, "one of another run"),
        (program.start().snapshot(), "one of another run"),
        (None, "None"),
    ):
        with refused(
            ParameterError, f"`restore` takes a snapshot of this run, got {text}", hint="start=result"
        ):
            run.restore(wrong)
    run.advance(1.0)
    assert run.result["load.v"].final == 1.0


class Charged(Divider):
    """With a capacitor and a discrete variable beside the resistor."""

    on: Discrete = Discrete(bool, start=False)

    def build(self) -> None:
        super().build()
        self.series, self.store = Resistor(R=1.0), Capacitor(C=1.0)

    def equations(self) -> Statements:
        yield from super().equations()
        yield connect(self.load.p, self.series.p)
        yield connect(self.series.n, self.store.p)
        yield connect(self.store.n, self.load.n)
        yield when(self.store.v > 10.0, assign(self.on, True))


@pytest.mark.parametrize("value", [True, np.True_])
def test_truth_values_are_no_numbers(value: Any) -> None:
    with refused(
        ParameterError, "the initial value of `store.v` must be a finite number", hint="", path="store"
    ):
        simulate(Charged(), 1.0, initial={"store.v": value})
    for options in ({"t_end": value}, {"t_end": 1.0, "t_start": value}, {"t_end": 1.0, "atol": value}):
        with pytest.raises(ParameterError, match="True"):
            simulate(Charged(), **options)
    with refused(ParameterError, "`load.R` must be a finite number", hint="", path="load"):
        simulate(Charged(), 1.0, parameters={"load.R": value})
    with refused(DeclarationError, "the start value `v` of Capacitor must be a finite number, got", hint=""):
        Capacitor(C=1.0, v=value)
    assert simulate(Charged(), 1.0, initial={"on": value})["on"].values.all()


def test_the_whole_model_takes_a_steady_state_only() -> None:
    with refused(
        ParameterError, 'is the whole model, which takes "steady state" only, got 1.0', hint="load.v"
    ):
        simulate(Charged(), 1.0, initial={"": 1.0})
    assert simulate(Charged(), 1.0, initial={"": "steady state"})["store.v"].final == pytest.approx(
        1.0, rel=1e-12
    )


def test_unknown_parameters_are_told_the_parameters() -> None:
    with pytest.raises(UnknownPathError, match="no parameter is named `zz`") as info:
        simulate(Charged(), 1.0, parameters={"zz": 1.0})
    named = re.findall("`([^`]*)`", info.value.hint)
    assert "load.R" in named
    assert all("." in name for name in named)


class Oscillator(Component):
    """A mass on a spring, with a damper or without."""

    m: Parameter = Parameter(default=1.0, unit="kg")
    damped: Structural = Structural(bool, default=True)

    def build(self) -> None:
        self.fixed, self.spring, self.mass = (
            translational.Fixed(),
            translational.Spring(c=1.0),
            translational.Mass(m=self.m),
        )
        if self.damped:
            self.damper = translational.Damper(d=1.0)

    def equations(self) -> Statements:
        yield connect(self.fixed.flange, self.spring.flange_a)
        yield connect(self.spring.flange_b, self.mass.flange_a)
        if self.damped:
            yield connect(self.fixed.flange, self.damper.flange_a)
            yield connect(self.damper.flange_b, self.mass.flange_b)


@pytest.mark.parametrize("m", [1e-300, 1e-307])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_parameters_whose_quotients_no_double_holds_are_named(m: float) -> None:
    for damped, method in ((True, "auto"), (False, "implicit")):
        with pytest.raises(NonFiniteError, match="beyond the range of doubles") as info:
            simulate(Oscillator(m=m, damped=damped), 1.0, initial={"mass.s": 1.0}, method=method)
        assert f"`mass.m` = {m:g}" in info.value.why
        assert "mass" in [place.path for place in info.value.where]
