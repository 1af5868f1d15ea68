"""Wrong discrete and switching statements are refused: error, text, component path, line, and what to do."""

from collections.abc import Callable
from enum import Enum
from typing import Any

import pytest

from acausal import (
    Component,
    Discrete,
    DuplicateNameError,
    DuplicateWriterError,
    Eq,
    EventIterationError,
    ExpressionError,
    If,
    Mode,
    Modes,
    NotAffineError,
    Parameter,
    ParameterError,
    Statement,
    StatementError,
    Variable,
    assign,
    compile_model,
    der,
    leave,
    reinit,
    sample,
    sin,
    table,
    time,
    to,
    transitions,
    when,
)

from .refusals import Scalar, Statements, refused, run


def test_two_writers() -> None:
    class Model(Component):
        on: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(self.on, time > 0.5)
            yield when(time > 0.2, assign(self.on, True))

    with pytest.raises(DuplicateWriterError, match="`on` is determined by two statements") as info:
        run(Model())
    first, second = info.value.where
    assert second.line == first.line + 1
    assert "elsewhen" in info.value.hint


def test_two_statements_of_one_name() -> None:
    class Model(Component):
        x: Variable = Variable()
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield If(time > 1, [Eq(self.x, 1)], [Eq(self.x, 2)])
            yield If(time > 2, [Eq(self.y, 1)], [Eq(self.y, 2)])

    with pytest.raises(DuplicateNameError, match="named `branch`") as info:
        run(Model())
    first, second = info.value.where
    assert second.line == first.line + 1
    assert 'name="..."' in info.value.hint


def test_discretes_that_determine_each_other() -> None:
    class Model(Component):
        a: Discrete = Discrete(bool)
        b: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(self.a, ~self.b)  # <-
            yield Eq(self.b, self.a)

    with refused(
        EventIterationError,
        "`a`, `b` determine each other",
        hint="pre(",
        at=test_discretes_that_determine_each_other,
    ):
        run(Model())


def test_when_without_actions() -> None:
    class Model(Component):
        def equations(self) -> Statements:
            yield when(time > 1)  # <-

    with refused(
        StatementError,
        "at least one action",
        hint="assign(d, value)",
        path="Model",
        at=test_when_without_actions,
    ):
        run(Model())


def test_when_with_an_equation() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield when(time > 1, Eq(self.x, 1))  # <-

    with refused(
        StatementError, r"got Eq\(x, 1\)", hint="assign", path="Model", at=test_when_with_an_equation
    ):
        run(Model())


def test_assign_to_a_continuous_variable() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(self.x, 1)
            yield when(time > 1, assign(self.x, 1))  # <-

    with refused(
        StatementError, "got `x`", hint="reinit", path="Model", at=test_assign_to_a_continuous_variable
    ):
        run(Model())


def test_reinit_of_an_algebraic_variable() -> None:
    class Model(Scalar):
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), -self.x)
            yield Eq(self.y, sin(self.x))
            yield when(time > 0.5, reinit(self.y, 1))  # <-

    with refused(
        StatementError,
        "reinit of `y`",
        hint="der(...)",
        path="Model",
        at=test_reinit_of_an_algebraic_variable,
    ):
        run(Model())


def test_table_must_ascend() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            yield Eq(self.x, table(time, (0, 2, 1), (0, 1, 2)))  # <-

    with refused(ExpressionError, "1 follows 2", hint="sort", path="Model", at=test_table_must_ascend):
        run(Model())


def test_sample_needs_a_positive_period() -> None:
    class Sampled(Component):
        T: Parameter = Parameter(default=1.0, unit="s")
        d: Discrete = Discrete(float)

        def equations(self) -> Statements:
            yield when(sample(period=self.T), assign(self.d, 1))  # <-

    class Model(Component):
        def build(self) -> None:
            self.sampled = Sampled(T=0.0)

    with refused(
        ParameterError,
        "positive period, got period=0",
        hint="",
        path="sampled",
        at=test_sample_needs_a_positive_period,
    ):
        run(Model())
    with refused(ExpressionError, "must be positive, got -1", hint=""):
        sample(period=-1)


def test_sample_period_may_not_change() -> None:
    class Model(Scalar):
        d: Discrete = Discrete(float)

        def equations(self) -> Statements:
            yield Eq(self.x, 1)
            yield when(sample(period=self.x), assign(self.d, 1))  # <-

    with refused(
        ExpressionError, "`x`, which changes", hint="parameters", at=test_sample_period_may_not_change
    ):
        run(Model())


class Light(Enum):
    RED = 0
    GREEN = 1


class Other(Enum):
    RED = 0


def test_transition_to_a_foreign_state() -> None:
    class Model(Component):
        state: Discrete = Discrete(Light)

        def equations(self) -> Statements:
            yield transitions(self.state, {Light.RED: [to(Other.RED, time > 1)]})  # <-

    with refused(
        StatementError,
        "Other.RED is no state of Light",
        hint="Light.GREEN",
        at=test_transition_to_a_foreign_state,
    ):
        run(Model())


def test_modes_with_an_unknown_target() -> None:
    class Model(Scalar):
        def equations(self) -> Statements:
            a, b = Mode("a", Eq(self.x, 1), leave("c", self.x)), Mode("b", Eq(self.x, 2))
            yield Modes("s", a, b, start="a")  # <-

    with refused(StatementError, "leaves for `c`.*'a', 'b'", hint="", at=test_modes_with_an_unknown_target):
        run(Model())


def test_a_nonlinear_core_is_not_for_the_exact_path() -> None:
    class Pendulum(Component):
        phi: Variable = Variable(start=1.0)
        w: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.phi), self.w)
            yield Eq(der(self.w), -sin(self.phi))  # <-

    class Model(Component):
        def build(self) -> None:
            self.pendulum = Pendulum()

    text = r"`Eq\(der\(w\), -sin\(phi\)\)` is not affine"
    with refused(
        NotAffineError, text, hint="auto", path="pendulum", at=test_a_nonlinear_core_is_not_for_the_exact_path
    ):
        compile_model(Model()).simulate(1.0, method="exact")


def model_with(statement: Callable[[Component], Statement]) -> Component:
    class Model(Component):
        x: Variable = Variable()
        y: Variable = Variable()
        n: Discrete = Discrete(int)
        state: Discrete = Discrete(Light)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1.0)
            yield Eq(self.y, self.x)
            yield statement(self)

    return Model()


go: Any = to
machine: Any = transitions
mode: Any = Mode
modes: Any = Modes
choice: Any = If

NO_LISTS: list[tuple[str, Callable[[Any], Statement], str]] = [
    ("an equation", lambda s: machine(s.state, {Light.RED: [go(Light.GREEN, s.x > 1, Eq(s.n, 1))]}), "to.. takes .*Eq"),
    ("a text", lambda s: machine(s.state, {Light.RED: [go(Light.GREEN, s.x > 1, "boo", 3)]}), "takes actions .*'boo'"),
    ("a list of actions", lambda s: machine(s.state, {Light.RED: [go(Light.GREEN, s.x > 1, [assign(s.n, 1)])]}), "actions"),
    ("no list", lambda s: machine(s.state, {Light.RED: go(Light.GREEN, s.x > 1)}), "takes lists of to"),
    ("a pair", lambda s: machine(s.state, {Light.RED: (Light.GREEN, s.x > 1)}), "takes lists of to.*GREEN"),
    ("a list of pairs", lambda s: machine(s.state, {Light.RED: [(Light.GREEN, s.x > 1)]}), "takes lists of to.*GREEN"),
    ("nothing", lambda s: machine(s.state, {Light.RED: None}), "takes lists of to.*None"),
    ("no mapping", lambda s: machine(s.state, [go(Light.GREEN, s.x > 1)]), "takes a mapping"),
    ("a text as way out", lambda s: modes("m", mode("a", Eq(s.y, 1), "c"), start="a"), "Mode `a` takes ways out .*'c'"),
    ("a relation", lambda s: modes("m", mode("a", s.y > 1), start="a"), "Mode `a` takes one equation.*y > 1"),
    ("two equations", lambda s: modes("m", mode("a", [Eq(s.y, 1), Eq(s.x, 1)]), start="a"), "Mode `a` takes one equation"),
    ("a text as mode", lambda s: modes("m", "a", start="a"), "Modes `m` takes modes, got 'a'"),
    ("no list of equations", lambda s: choice(s.x > 1, s.y > 1, [Eq(s.y, 2)]), "If `branch` takes lists of Eq, got"),
    ("a branch of relations", lambda s: choice(s.x > 1, [s.y > 1], [Eq(s.y, 2)]), "If `branch` takes lists of Eq, got"),
    ("a list of modes", lambda s: modes("m", [mode("a", Eq(s.y, 1))], start="a"), "Modes `m` takes modes"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("statement", "text"), [case[1:] for case in NO_LISTS], ids=[case[0] for case in NO_LISTS]
)
def test_what_is_no_action_way_out_or_mode_is_refused(
    statement: Callable[[Any], Statement], text: str
) -> None:
    with pytest.raises(StatementError, match=text) as info:
        run(model_with(statement))
    assert info.value.where
    assert info.value.hint
