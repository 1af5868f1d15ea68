"""Models with wrong equations() or build() are refused: error, text, component path, line, and what to do."""

import math

import numpy as np
import pytest

from acausal import (
    BalanceError,
    Component,
    DeclarationError,
    Discrete,
    Eq,
    ExpressionError,
    Parameter,
    SingularModelError,
    StatementError,
    UnitError,
    UnknownNameError,
    Variable,
    connect,
    simulate,
    time,
)
from acausal.components.electrical import (
    OnePort,
    Pin,
    Resistor,
)
from acausal.components.rotational import Inertia

from .refusals import Divider, Scalar, Statements, refused, run


def test_missing_super() -> None:
    class Lamp(OnePort):
        R: Parameter = Parameter(unit="Ohm")

        def equations(self) -> Statements:  # <-
            yield Eq(self.v, self.R * self.i)

    class Model(Component):
        def build(self) -> None:
            self.lamp = Lamp(R=1.0)

    text = "Lamp has 4 unknowns to determine but yields 1 equation"
    hint = "OnePort also defines equations(); did you forget `yield from super().equations()`?"
    with refused(BalanceError, text, hint=hint, path="lamp", at=test_missing_super):
        run(Model())


def test_one_equation_too_many_names_the_lines() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:  # <-
            yield Eq(self.x, 1)
            yield Eq(self.x, time)

    with pytest.raises(
        BalanceError,
        match=r"because Eq\(x, 1\) at .*py:\d+\); Eq\(x, time\) at .*py:\d+\) determine `x` more than once",
    ):
        run(Model())
    with refused(
        BalanceError,
        "1 unknown to determine but yields 2",
        hint="remove",
        at=test_one_equation_too_many_names_the_lines,
    ):
        run(Model())


def test_units_of_an_equation() -> None:
    class Model(Component):
        v: Variable = Variable(unit="V")
        i: Variable = Variable(unit="A")

        def equations(self) -> Statements:
            yield Eq(self.i, 1)
            yield Eq(self.v, 3 * self.i)  # <-

    with refused(UnitError, r"`v` .*`3\*i`", hint="units", path="Model", at=test_units_of_an_equation):
        run(Model())


def test_double_equals_is_no_equation() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield self.x == 1  # <-

    with refused(
        ExpressionError, "`==`", hint="yield Eq(a, b)", path="Model", at=test_double_equals_is_no_equation
    ):
        run(Model())


def test_and_on_symbols() -> None:
    class Model(Scalar):
        on: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(self.x, time)
            yield Eq(self.on, self.x > 0 and self.x < 1)  # <-

    with refused(
        ExpressionError, "`x > 0` has no truth value", hint="and_", path="Model", at=test_and_on_symbols
    ):
        run(Model())


def test_if_on_a_symbol() -> None:
    class Inner(Scalar):
        def equations(self) -> Statements:
            if self.x > 0:  # <-
                yield Eq(self.x, 1)

    class Model(Component):
        def build(self) -> None:
            self.inner = Inner()

    with refused(ExpressionError, "`x > 0`", hint="if_else", path="inner", at=test_if_on_a_symbol):
        run(Model())


def test_max_of_symbols() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(self.x, max(time, 1))  # <-

    with refused(ExpressionError, "no truth value", hint="maximum", path="Model", at=test_max_of_symbols):
        run(Model())


def test_chained_comparison() -> None:
    class Model(Scalar):
        on: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(self.x, time)
            yield Eq(self.on, 0 < self.x < 1)  # <-

    with refused(ExpressionError, "no truth value", hint="chained comparisons", at=test_chained_comparison):
        run(Model())


def test_if_on_a_parameter_in_build() -> None:
    class Model(Component):
        n: Parameter = Parameter(default=3.0)

        def build(self) -> None:
            if self.n > 2:  # <-
                self.load = Resistor(R=1.0)

    with refused(
        ExpressionError, "`n > 2`", hint="Structural", path="Model", at=test_if_on_a_parameter_in_build
    ):
        run(Model())


def test_functions_of_math_and_numpy() -> None:
    class WithMath(Scalar):
        def equations(self) -> Statements:
            yield Eq(self.x, math.sin(time))

    class WithNumpy(Scalar):
        def equations(self) -> Statements:
            yield Eq(self.x, np.sin(time))

    with refused(ExpressionError, "`time` is not a number", hint="functions of `acausal`", path="WithMath"):
        run(WithMath())
    with refused(
        ExpressionError,
        "numpy.sin cannot be applied to `time`",
        hint="functions of `acausal`",
        path="WithNumpy",
    ):
        run(WithNumpy())


def test_count_by_a_parameter() -> None:
    class Model(Scalar):
        n: Parameter = Parameter(default=3)

        def equations(self) -> Statements:
            for _ in range(self.n):  # <-
                yield Eq(self.x, 1)

    with refused(
        ExpressionError, "`n` is not an integer", hint="Structural(int)", at=test_count_by_a_parameter
    ):
        run(Model())


@pytest.mark.parametrize(
    ("wrong", "text", "hint"),
    [
        (None, "yielded a NoneType", "yield Eq"),
        ([], "yielded a list", "yield from"),
        (time > 1, r"yielded `time > 1`", "Eq(lhs, rhs)"),
        (Resistor(R=1.0), "yielded a Resistor", "build()"),
    ],
)
def test_yield_of_what_is_no_statement(wrong: object, text: str, hint: str) -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(self.x, 1)
            yield wrong  # <-

    with refused(StatementError, text, hint=hint, path="Model", at=test_yield_of_what_is_no_statement):
        run(Model())


def test_equations_without_yield() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:  # <-
            Eq(self.x, 1)

    with refused(StatementError, "returned None", hint="write `yield`", at=test_equations_without_yield):
        run(Model())


def test_foreign_exceptions_carry_a_note() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(self.x, [1, 2][3])

    with pytest.raises(IndexError) as info:
        run(Model())
    (note,) = info.value.__notes__
    assert "Model" in note and "test_broken_equations.py" in note


def test_unknown_attributes() -> None:
    class Model(Component):
        def build(self) -> None:
            self.load = Resistor(R=1.0)

        def equations(self) -> Statements:
            yield connect(self.load.P, self.load.n)  # <-

    with refused(
        UnknownNameError, "Resistor has no `P`", hint="`p`", path="Model", at=test_unknown_attributes
    ):
        run(Model())
    with refused(UnknownNameError, "port `p` .Pin. has no `u`", hint="`v`, `i`"):
        _ = Resistor(R=1.0).p.u
    with refused(DeclarationError, "Divider has no field `Load`", hint="`load`"):
        Divider().Load = 3.0


def test_a_port_that_is_annotated_without_a_value() -> None:
    class Held(Component):
        p: Pin
        n: Pin = Pin()
        R: Parameter

        def equations(self) -> Statements:
            yield Eq(self.p.v, 0)

    with refused(UnknownNameError, "Held has no `p`", hint="write `p: Pin = Pin()`"):
        run(Held())
    with refused(UnknownNameError, "Held has no `R`", hint="write `R: Parameter = Parameter()`"):
        _ = Held().R
    with refused(UnknownNameError, "Held has no `q`", hint="`n`"):
        _ = Held().q


def test_a_model_whose_own_ports_are_open() -> None:
    class Free(Component):
        def build(self) -> None:
            self.inertia = Inertia(J=1.0, w=2.0)

        def equations(self) -> Statements:
            yield from ()

    with refused(
        SingularModelError,
        "nothing determines `flange_a.tau`",
        hint="ports `flange_a`, `flange_b` of the model itself are open",
    ):
        run(Inertia(J=1.0, w=2.0))
    assert simulate(Free(), 1.0)["inertia.w"].final == 2.0
