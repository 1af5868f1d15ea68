"""Wrong values, paths and parts are refused: error, text, component path, line, and what to do."""

import inspect
import math

import pytest

from acausal import (
    Circuit,
    Component,
    DeclarationError,
    Eq,
    ExpressionError,
    NonFiniteError,
    Parameter,
    ParameterError,
    RequirementError,
    UnknownPathError,
    Variable,
    compile_model,
    connect,
    der,
    require,
    simulate,
    sqrt,
)
from acausal.components import blocks
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    Resistor,
    SignalVoltage,
)

from .refusals import Divider, Scalar, Statements, refused, run


def test_negative_resistance_in_the_constructor() -> None:
    with refused(
        ParameterError,
        "`R` of Resistor must be at least 0 Ohm, got -1",
        hint="",
        path="Resistor",
        at=test_negative_resistance_in_the_constructor,
    ):
        Resistor(R=-1.0)  # <-


def test_negative_resistance_as_a_parameter_of_the_run() -> None:
    with pytest.raises(ParameterError, match="`load.R` must be at least 0 Ohm, got -2") as info:
        simulate(Divider(), 1.0, parameters={"load.R": -2.0})
    (place,) = info.value.where
    assert place.path == "load" and place.file == inspect.getfile(Divider)


def test_binding_outside_the_bounds() -> None:
    class Model(Component):
        k: Parameter = Parameter(default=1.0)

        def build(self) -> None:
            self.load = Resistor(R=2 * self.k)  # <-

    text = r"`load.R` must be at least 0 Ohm, got -4\n.*\n  because it is bound to `2\*k`"
    with refused(ParameterError, text, hint="change `k`", path="load", at=test_binding_outside_the_bounds):
        simulate(Model(), 1.0, parameters={"k": -2.0})


def test_an_overridden_binding_is_not_checked() -> None:
    class Model(Component):
        k: Parameter = Parameter(default=-1.0)

        def build(self) -> None:
            self.source, self.load, self.ground = ConstantVoltage(V=6.0), Resistor(R=self.k), Ground()

        def equations(self) -> Statements:
            yield connect(self.source.p, self.load.p)
            yield connect(self.source.n, self.load.n, self.ground.p)

    assert simulate(Model(), 1.0, parameters={"load.R": 3.0})["load.i"].final == pytest.approx(2.0, rel=1e-14)


@pytest.mark.parametrize("wrong", ["a", None, True, math.nan, [1.0]])
def test_wrong_type_of_a_parameter(wrong: object) -> None:
    with refused(ParameterError, "`R` of Resistor must be a finite number", hint=""):
        Resistor(R=wrong)


def test_wrong_types_of_other_keywords() -> None:
    with refused(DeclarationError, "start value `v` of Capacitor must be a finite number, got 'a'", hint=""):
        Capacitor(C=1.0, v="a")
    with refused(ExpressionError, "input `control` of IdealClosingSwitch takes True, False", hint=""):
        IdealClosingSwitch(control="on")
    with refused(ParameterError, "`interrupt` of IdealClosingSwitch must be of type Impulse", hint=""):
        IdealClosingSwitch(interrupt="error")
    with refused(DeclarationError, "output `y` of Constant cannot be given", hint=""):
        blocks.Constant(k=1.0, y=2.0)


def test_a_block_instead_of_its_output() -> None:
    with refused(
        ExpressionError, "`control` of IdealClosingSwitch takes True, False", hint="control=self.pwm.y"
    ):
        IdealClosingSwitch(control=blocks.PWM(frequency=1e3, duty=0.5))
    with refused(ExpressionError, "`v` of SignalVoltage takes a finite number", hint="self.sine = Sine(...)"):
        SignalVoltage(v=blocks.Sine(f=50.0))


def test_missing_parameter() -> None:
    class Model(Component):
        def build(self) -> None:
            self.r = Resistor()  # <-

    with refused(
        DeclarationError, "Resistor needs `R`", hint="Resistor(R=...)", path="Resistor", at=Model.build
    ):
        simulate(Model(), 1.0)
    with refused(DeclarationError, "Resistor needs `R`", hint="Resistor(R=...)"):
        Circuit().add("r", Resistor())


class Sized(Component):
    """Leaves its numbers to the run."""

    R: Parameter = Parameter(unit="Ohm")
    k: Parameter = Parameter(shape=(2,))
    y: Variable = Variable()

    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=6.0), Ground()
        self.load = Resistor(R=2.0 * self.R)

    def equations(self) -> Statements:
        yield connect(self.source.p, self.load.p)
        yield connect(self.source.n, self.load.n, self.ground.p)
        yield Eq(self.y, self.k[0] - self.k[1])


def test_numbers_of_the_model_may_be_left_to_the_run() -> None:
    program = compile_model(Sized())
    result = program.simulate(1.0, parameters={"R": 1.5, "k": (5.0, 3.0)})
    assert (result["load.i"].final, result["y"].final) == pytest.approx((2.0, 2.0))
    with refused(ParameterError, "`R` of Sized has no value", hint='parameters={"R": ...}'):
        program.simulate(1.0)
    with refused(ParameterError, r"`k\[1\]` of Sized has no value", hint='parameters={"k[1]": ...}'):
        program.simulate(1.0, parameters={"R": 1.5, "k[0]": 5.0})
    with refused(ParameterError, "`R` of Sized has no value", hint="Sized(R=...)", path="Sized"):
        Sized().load.R  # noqa: B018


def test_wrong_keyword() -> None:
    with refused(
        DeclarationError,
        "Resistor has no field `r`",
        hint="did you mean `R`?",
        path="Resistor",
        at=test_wrong_keyword,
    ):
        Resistor(r=1.0)  # <-


def test_unknown_paths_name_the_nearest() -> None:
    with refused(UnknownPathError, "no parameter is named `load.r`", hint="`load.R`"):
        simulate(Divider(), 1.0, parameters={"load.r": 1.0})
    with refused(UnknownPathError, "no parameter is named `load.v`", hint="initial="):
        simulate(Divider(), 1.0, parameters={"load.v": 1.0})
    with refused(UnknownPathError, "no variable is named `laod.v`", hint="`load.v`"):
        simulate(Divider(), 1.0, initial={"laod.v": 1.0})
    with refused(UnknownPathError, "`load.V`", hint="`load.v`"):
        _ = simulate(Divider(), 1.0)["load.V"]
    with refused(UnknownPathError, "no input `u`", hint="declares no Input"):
        simulate(Divider(), 1.0, inputs={"u": 1.0})


def test_assignment_to_a_variable() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            self.x = 3
            yield Eq(self.x, 1)

    with refused(DeclarationError, "`x` of Model is a variable", hint="Model(x=...)"):
        run(Model())


def test_division_by_a_parameter_that_is_zero() -> None:
    class Model(Scalar):
        k: Parameter = Parameter(default=0.0)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1 - self.x / self.k)  # <-

    with refused(
        NonFiniteError,
        "factor of `x`",
        hint="denominator",
        path="Model",
        at=test_division_by_a_parameter_that_is_zero,
    ):
        run(Model())


def test_known_term_that_is_infinite() -> None:
    class Model(Scalar):
        k: Parameter = Parameter(default=0.0)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1 / self.k)  # <-

    with refused(
        NonFiniteError, "1/k` is -?inf", hint="denominator", path="Model", at=test_known_term_that_is_infinite
    ):
        run(Model())


def test_root_of_a_negative_parameter() -> None:
    class Model(Component):
        k: Parameter = Parameter(default=-1.0)

        def build(self) -> None:
            self.load = Resistor(R=sqrt(self.k))  # <-

    with refused(
        ParameterError, "got nan", hint="change `k`", path="load", at=test_root_of_a_negative_parameter
    ):
        run(Model())


def test_requirement_on_parameters() -> None:
    class Stop(Component):
        low: Parameter = Parameter(default=1.0)
        high: Parameter = Parameter(default=0.0)

        def equations(self) -> Statements:
            yield require(self.low < self.high, "the lower stop must lie below the upper one")  # <-

    class Model(Component):
        def build(self) -> None:
            self.stop = Stop()

    text = r"the lower stop must lie below(.|\n)*because `low < high` does not hold"
    with refused(RequirementError, text, hint="parameters", path="stop", at=test_requirement_on_parameters):
        run(Model())


class Endless(Component):
    def build(self) -> None:
        self.inner = Endless()


def test_component_that_contains_itself() -> None:
    with refused(DeclarationError, "Endless contains itself: `inner`", hint="list", path="inner"):
        run(Endless())


def test_part_in_two_places() -> None:
    class Twice(Component):
        def build(self) -> None:
            self.a = Resistor(R=1.0)
            self.b = self.a

    class Row(Component):
        def build(self) -> None:
            self.cells = [Resistor(R=1.0)] * 3

    with refused(
        DeclarationError, "`b` of Twice is the same object as `a`", hint="one component for each place"
    ):
        run(Twice())
    with refused(
        DeclarationError, r"`cells\[1\]` of Row is the same object as `cells\[0\]`", hint="for _ in range(n)"
    ):
        run(Row())


def test_part_shared_by_two_parents() -> None:
    shared = Resistor(R=1.0)  # <-

    class Half(Component):
        def build(self) -> None:
            self.load = shared

    class Model(Component):
        def build(self) -> None:
            self.a, self.b = Half(), Half()

    text = "`load` of Half was not created by its build"
    with refused(DeclarationError, text, hint="inside build()", at=test_part_shared_by_two_parents):
        run(Model())


def test_part_cannot_be_replaced() -> None:
    model = Divider()
    assert model.load.R == 2.0
    with refused(DeclarationError, "the part `load` of Divider cannot be replaced", hint="Structural"):
        model.load = Resistor(R=5.0)


def test_class_in_place_of_an_object() -> None:
    with refused(DeclarationError, "got the class Divider", hint="Divider()"):
        simulate(Divider, 1.0)


class House(Component):
    def build(self) -> None:
        self.h = Divider()


@pytest.mark.parametrize(
    ("path", "what"),
    [
        ("h", "; its parameters: `h.source.V`, `h.load.T_ref`, `h.load.alpha`, `h.load.R`"),
        ("h.load", "; its parameters: `h.load.T_ref`, `h.load.alpha`, `h.load.R`"),
        ("h.ground", " without parameters"),
    ],
)
def test_a_component_in_place_of_a_parameter_lists_its_parameters(path: str, what: str) -> None:
    with refused(UnknownPathError, f"no parameter is named `{path}`", hint=f"`{path}` is a component{what}"):
        simulate(House(), 1.0, parameters={path: 1.0})


def test_a_component_in_place_of_a_signal_lists_its_variables() -> None:
    result = simulate(Divider(), 1.0)
    with refused(UnknownPathError, "nothing is named `load`", hint="`load` is a component; its variables"):
        result["load"]
    with refused(UnknownPathError, "no variable is named `load`", hint="its variables: `load.p.v`"):
        simulate(Divider(), 1.0, initial={"load": 1.0})
