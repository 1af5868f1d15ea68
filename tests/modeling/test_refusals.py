"""What the language refuses, with the place and the right spelling: built-ins of Python on symbols, declarations, values."""

import math
import pickle
import re
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

import numpy as np
import pytest

import acausal.flattening.statements as statements
from acausal import (
    AcausalError,
    Circuit,
    Component,
    DeclarationError,
    Discrete,
    Eq,
    ExpressionError,
    If,
    Input,
    NonFiniteError,
    Output,
    Parameter,
    ParameterError,
    Statement,
    StatementError,
    Structural,
    UnitError,
    Variable,
    assign,
    connect,
    der,
    edge,
    if_else,
    initial,
    minimum,
    mod,
    pre,
    sample,
    simulate,
    table,
    time,
    when,
)
from acausal.components.electrical import Resistor
from acausal.modeling.units import parse_unit

Statements = Iterator[Statement]


class Gear(Enum):
    PARK = "park"
    DRIVE = "drive"


class Other(Enum):
    PARK = "park"


class Model(Component):
    x: Variable = Variable(start=1.0)
    y: Variable = Variable()
    n: Discrete = Discrete(int)
    on: Discrete = Discrete(bool)
    gear: Discrete = Discrete(Gear)
    p: Parameter = Parameter(default=2.0)
    side: Structural[Any] = Structural(object, default=None)

    def equations(self) -> Statements:
        yield Eq(der(self.x), -self.x)
        yield Eq(self.y, self.side(self))


@pytest.mark.parametrize(
    ("side", "text", "hint"),
    [
        (lambda m: m.x[0], "`[...]` cannot be applied to `x`", "list of variables"),
        (lambda m: len(m.x), "len() cannot be applied to `x`", "list of variables"),
        (lambda m: 2 in m.x, "`in` cannot be applied to `x`", "equals"),
        (lambda m: round(m.x), "round() cannot be applied to `x`", "floor(x + 0.5)"),
        (lambda m: round(m.x, 2), "round() cannot be applied to `x`", "floor(x + 0.5)"),
        (lambda m: int(m.x), "int() cannot be applied to `x`", "floor(x)"),
        (lambda m: float(m.x), "`x` is not a number", "functions of `acausal`"),
        (lambda m: complex(m.x), "complex() cannot be applied", "real and imaginary"),
        (lambda m: math.trunc(m.x), "trunc() cannot be applied", "floor(x)"),
        (lambda m: math.floor(m.x), "math.floor() cannot be applied", "`floor` of acausal"),
        (lambda m: math.ceil(m.x), "ceil() cannot be applied", "-floor(-x)"),
        (lambda m: m.x // 2, "`//` cannot be applied to `x`", "floor(x / y)"),
        (lambda m: 2 // m.x, "`//` cannot be applied to `x`", "floor(x / y)"),
        (lambda m: divmod(m.x, 2)[0], "divmod() cannot be applied", "mod(x, y)"),
        (lambda m: m.x @ m.y, "`@` cannot be applied to `x`", "sum of products"),
        (lambda m: pow(m.x, 2, 3), "pow(x, 2, 3) has no meaning", "mod(x**y, z)"),
        (lambda m: f"{m.x:.3f}", "the format '.3f' cannot be applied to `x`", "from the result"),
        (lambda m: max(m.x, 1), "`x < 1` has no truth value", "maximum"),
        (lambda m: min([m.x, m.y]), "`y < x` has no truth value", "minimum"),
        (lambda m: math.sin(m.x), "`x` is not a number", "functions of `acausal`"),
        (lambda m: np.sin(m.x), "numpy.sin cannot be applied to `x`", "functions of `acausal`"),
        (
            lambda m: np.sin(np.array([m.x]))[0],
            "numpy.sin cannot be applied to `x`",
            "functions of `acausal`",
        ),
        (lambda m: np.sqrt([m.x])[0], "numpy.sqrt cannot be applied to `x`", "functions of `acausal`"),
        (lambda m: np.round(m.x), "numpy.round cannot be applied to `x`", "functions of `acausal`"),
        (lambda m: [1.0, 2.0][m.n], "`n` is not an integer", "Structural"),
        (lambda m: if_else(m.gear == Gear.PARK, 1.0, 2.0), "`==` compares Python objects", "equals"),
        (
            lambda m: if_else(m.gear < Gear.DRIVE, 1.0, 2.0),
            "compares members of an enum, which have no order",
            "or_",
        ),
        (
            lambda m: if_else(m.gear.equals(Other.PARK), 1.0, 2.0),
            "`gear` never equals `Other.PARK`",
            "Gear.PARK",
        ),
        (lambda m: if_else(m.gear.equals(0), 1.0, 2.0), "`gear` never equals `0`", "Gear.PARK"),
        (lambda m: if_else(m.n.equals(Gear.PARK), 1.0, 2.0), "`n` never equals `Gear.PARK`", "another value"),
        (lambda m: m.x * math.nan, "`nan` cannot be part of an expression", ""),
        (lambda m: m.x * 2**70, "an integer of 71 bits cannot be part of an expression", "1e30"),
        (lambda m: m.x * 10**400, "an integer of 1329 bits cannot be part", "1e30"),
        (lambda m: der(m.n), "`n` is a Discrete, which does not move", "Variable"),
        (lambda m: der(m.p), "`p` is a Parameter, which does not move", "Variable"),
        (lambda m: sample(0.1), "sample() needs the keyword `period`, got sample(0.1)", "period=1e-3"),
        (lambda m: minimum(), "min() needs at least one argument", ""),
        (lambda m: m.x << 1, "a shift of bits cannot be applied to `x`", "2**n"),
        (
            lambda m: np.where(m.x > 0, 1, 2),
            "numpy.where cannot be applied",
            "functions of `acausal`",
        ),
        (lambda m: m.x * np.complex128(1j), "(complex128) cannot be part of an expression", "numbers"),
        (lambda m: m.x + Gear.DRIVE, "calculates with `Gear.DRIVE`, a member of Gear", "if_else"),
        (lambda m: -m.gear, "`-gear` calculates with `gear`, a member of Gear", "if_else"),
        (lambda m: if_else(m.on, Gear.PARK, Gear.DRIVE), "`y` takes a number", "if_else"),
        (lambda m: if_else(m.on, Gear.PARK, 1.0), "`1`, a number", "members of one enum"),
        (
            lambda m: if_else(m.on, Gear.PARK, Other.PARK),
            "`Other.PARK`, a member of Other",
            "members of one enum",
        ),
    ],
)
def test_what_python_would_do_with_numbers(side: Callable[[Model], Any], text: str, hint: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(text)) as caught:
        simulate(Model(side=side), 0.1)
    assert hint in caught.value.hint
    assert [place.file for place in caught.value.where] == [__file__]


@pytest.mark.parametrize(
    ("side", "value"),
    [
        (lambda m: abs(-m.x), 1.0),
        (lambda m: 1.5 % m.x, 0.5),
        (lambda m: sum([]) + m.x, 1.0),
        (lambda m: np.mean([m.x, 3 * m.x]), 2.0),
        (lambda m: np.dot([1, 2], [m.x, m.x]), 3.0),
        (lambda m: if_else(m.gear.equals(Gear.PARK), 1.0, 2.0), 1.0),
    ],
)
def test_what_means_the_same_for_symbols(side: Callable[[Model], Any], value: float) -> None:
    assert simulate(Model(side=side), 1e-9)["y"].final == pytest.approx(value, abs=1e-8)


@pytest.mark.parametrize(
    ("side", "text"),
    [
        (lambda m: sample(period=0.1) + 1, "is true at an instant only"),
        (lambda m: if_else(initial(), 1.0, 2.0), "`initial` is true at an instant only"),
        (lambda m: if_else(edge(m.on), 1.0, 2.0), r"`edge\(on\)` is true at an instant only"),
        (lambda m: pre(m.x), r"`pre\(x\)` is the value before an instant"),
    ],
)
def test_events_in_continuous_equations(side: Callable[[Model], Any], text: str) -> None:
    with pytest.raises(StatementError, match=text):
        simulate(Model(side=side), 0.1)


@pytest.mark.parametrize("side", [lambda m: mod(m.x, 0), lambda m: m.x / 0, lambda m: m.x * math.inf])
def test_division_by_a_zero_as_written(side: Callable[[Model], Any]) -> None:
    with pytest.raises(NonFiniteError, match=r"the factor of `x`, `(.*/0|-?inf)`, is -?inf"):
        simulate(Model(side=side), 0.1)


class Assigning(Component):
    x: Variable = Variable(start=1.0)
    n: Discrete = Discrete(int)
    f: Discrete = Discrete(float)
    gear: Discrete = Discrete(Gear)
    on: Discrete = Discrete(bool)
    action: Structural[Any] = Structural(object, default=None)

    def equations(self) -> Statements:
        yield Eq(der(self.x), -self.x)
        yield when(self.x < 0.5, self.action(self))


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda m: assign(m.gear, 1), "`gear` takes a member of Gear, and `1` is a number"),
        (lambda m: assign(m.gear, Other.PARK), "and `Other.PARK` is a member of Other"),
        (lambda m: assign(m.gear, m.n), "`gear` takes a member of Gear, and `n` is a number"),
        (lambda m: assign(m.n, Gear.PARK), "`n` takes a number, and `Gear.PARK` is a member of Gear"),
        (
            lambda m: assign(m.f, table(m.gear, [0, 1], [3.0, 4.0])),
            "`table(gear)` calculates with `gear`, a member of Gear",
        ),
        (lambda m: assign(m.f, m.gear), "`f` takes a number, and `gear` is a member of Gear"),
        (lambda m: assign(m.f, m.x + pre(m.gear)), "calculates with `pre(gear)`, a member of Gear"),
    ],
)
def test_members_and_numbers_are_not_mixed_in_actions(action: Callable[[Any], Any], text: str) -> None:
    with pytest.raises(ExpressionError, match=re.escape(text)) as caught:
        simulate(Assigning(action=action), 1.0)
    assert [place.file for place in caught.value.where] == [__file__]


def test_members_are_chosen_and_assigned() -> None:
    def chosen(m: Assigning) -> Any:
        return assign(m.gear, if_else(m.on, Gear.PARK, Gear.DRIVE))

    result = simulate(Assigning(action=chosen), 1.0)
    assert result["gear"].final == 1
    assert pickle.loads(pickle.dumps(result))["gear"].final == 1


@pytest.mark.parametrize(
    ("side", "text"),
    [
        (lambda m: mod(m.x), "missing 1 required positional argument"),
        (lambda m: m.x(0), "'Symbol' object is not callable"),
    ],
)
def test_an_error_of_python_tells_where_the_model_was_built(side: Callable[[Model], Any], text: str) -> None:
    with pytest.raises(TypeError, match=text) as caught:
        simulate(Model(side=side), 0.1)
    assert "while the model was built, at Model (test_refusals.py" in caught.value.__notes__[0]


# -- units -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("unit", "text"),
    [
        ("degC", r"`degC` in unit .* is not an SI unit"),
        ("m/(s", "a parenthesis in unit .* is not closed"),
        ("(m", "a parenthesis in unit .* is not closed"),
        ("m)", r"`\)` in unit .* is not an SI unit"),
        ("m(s)", r"`\(` in unit .* is not an SI unit"),
        ("N/m.s", "is ambiguous"),
        ("m/s*kg", "is ambiguous"),
        ("m//s", "is not an SI unit"),
    ],
)
def test_units_that_are_none(unit: str, text: str) -> None:
    with pytest.raises(UnitError, match=text):
        Variable(unit=unit)


def test_a_unit_is_a_string() -> None:
    with pytest.raises(UnitError, match="a unit is a string, got 5"):
        Variable(unit=5)  # type: ignore[arg-type]


def test_units_with_parentheses() -> None:
    assert parse_unit("J/(kg.K)") == parse_unit("J/kg/K") == (2, 0, -2, 0, -1, 0, 0)
    assert parse_unit("m/(s.(kg.A))") == (1, -1, -1, -1, 0, 0, 0)
    assert parse_unit("(N.m)/rad") == parse_unit("J")


# -- declarations ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("declare", "text"),
    [
        (lambda: Variable(nominal=0.0), "`nominal` of a Variable is a positive magnitude, got 0.0"),
        (lambda: Variable(nominal=math.nan), "`nominal` of a Variable is a positive magnitude"),
        (lambda: Variable(min=2.0, max=1.0), "`min` of a field is above its `max`: 2 > 1"),
        (lambda: Parameter(min=2.0, max=1.0), "`min` of a field is above its `max`: 2 > 1"),
        (lambda: Parameter(min=math.nan), "`min` of a field must be a number, got nan"),
        (lambda: Parameter(default=5.0, max=1.0), "the default of a Parameter must be at most 1, got 5"),
        (lambda: Variable(start=math.nan), "`start` of a Variable must be a finite number, got nan"),
        (lambda: Variable(shape=3), r"`shape` of a field is a tuple of positive integers, got 3"),
        (lambda: Parameter(shape=(0,)), r"`shape` of a field is a tuple of positive integers, got \(0,\)"),
        (lambda: Discrete(int, start=True), "the start of a Discrete must be a whole number, got True"),
        (lambda: Discrete(float, start=True), "the start of a Discrete must be a finite number, got True"),
        (lambda: Discrete(int, start=1j), "must be a whole number, got 1j"),
        (lambda: Discrete(float, start="1"), "must be a finite number, got '1'"),
        (lambda: Discrete(float, start=np.zeros(2)), "must be a finite number, got array"),
        (lambda: Discrete(Gear, start=Other.PARK), "must be one of Gear.PARK, Gear.DRIVE, got <Other.PARK"),
        (lambda: Structural(dict, default={}), r"the default {} of a Structural field cannot be hashed"),
    ],
)
def test_declarations_that_no_value_satisfies(declare: Callable[[], Any], text: str) -> None:
    with pytest.raises(DeclarationError, match=text):
        declare()


class Unhashable:
    __hash__ = None  # type: ignore[assignment]


class Tables(Component):
    a: Parameter = Parameter(shape=(2,), default=(1.0, 2.0))
    q: Parameter = Parameter(default=1.0)
    x: Variable = Variable(start=1.0)
    points: Structural[tuple[Any, ...]] = Structural(tuple, default=())
    thing: Structural[Any] = Structural(object, default=None)

    def equations(self) -> Statements:
        yield Eq(der(self.x), -self.x * self.q * self.a[0])


@pytest.mark.parametrize("value", [{"points": ({},)}, {"thing": {}}, {"thing": Unhashable()}])
def test_structural_values_that_cannot_be_compared(value: dict[str, Any]) -> None:
    with pytest.raises(ParameterError, match="cannot be hashed"):
        Tables(**value)


def test_structural_integers_have_at_most_64_bits() -> None:
    class Counted(Component):
        n: Structural[int] = Structural(int, default=1)

    assert Counted(n=2**63).n == 2**63
    with pytest.raises(ParameterError, match="`n` of Counted must be of type int, got an integer of 81 bits"):
        Counted(n=2**80)


def test_a_set_is_no_tuple() -> None:
    with pytest.raises(ParameterError, match="`points` of Tables must be of type tuple, got frozenset"):
        Tables(points=frozenset((1,)))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("path", "value", "text"),
    [
        ("q", [], r"`q` must be a finite number, got \[\]"),
        ("q", np.array([]), "`q` must be a finite number, got array"),
        ("q", {}, "`q` must be a finite number, got {}"),
        ("q", {"a": 1}, "`q` must be a finite number, got {'a': 1}"),
        ("q", [1.0], r"`q` needs one number, got \[1.0\]"),
        ("q", 2**70, "`q` must be a finite number, got an integer of 71 bits"),
        ("a", [], r"`a` needs 2 values, got \[\]"),
        ("a", [1.0], r"`a` needs 2 values, got \[1.0\]"),
        ("a", [[1.0, 2.0], [3.0, 4.0]], "`a` needs 2 values"),
        ("a", [2**70, 1.0], r"`a\[0\]` must be a finite number, got an integer of 71 bits"),
    ],
)
def test_parameters_of_other_extents(path: str, value: object, text: str) -> None:
    with pytest.raises(ParameterError, match=text):
        simulate(Tables(), 0.1, parameters={path: value})


def test_parameters_of_the_right_extents() -> None:
    assert simulate(Tables(), 1.0, parameters={"a": np.array([2.0, 0.0])})["x"].final == pytest.approx(
        math.exp(-2.0), rel=1e-9
    )
    assert simulate(Tables(), 1.0, parameters={"q": np.array(2.0)})["x"].final == pytest.approx(
        math.exp(-2.0), rel=1e-9
    )


# -- parts -----------------------------------------------------------------------------------------------------------


def test_a_port_connected_with_itself() -> None:
    r = Resistor(R=1.0)
    with pytest.raises(StatementError, match=r"connect\(\) names `p` of one component twice"):
        connect(r.p, r.n, r.p)


def test_one_object_added_twice() -> None:
    c, r = Circuit(), Resistor(R=1.0)
    c.add("a", r)
    with pytest.raises(DeclarationError, match="`b` of Circuit is the same object as `a`"):
        c.add("b", r)


class TwoOfOneName(Component):
    def build(self) -> None:
        self.a = Resistor(R=1.0)
        self.a = Resistor(R=2.0)


class BuildsItself(Component):
    def build(self) -> None:
        self.build()


class StatesItself(Component):
    def equations(self) -> Statements:
        yield from self.equations()


class BuiltByYielding(Component):
    def build(self) -> Any:
        yield Resistor(R=1.0)


class Endless(Component):
    x: Variable = Variable()

    def equations(self) -> Statements:
        while True:
            yield Eq(self.x, 1.0)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (TwoOfOneName, "two parts of TwoOfOneName are named `a`"),
        (BuildsItself, r"build\(\) of BuildsItself calls itself without end"),
        (StatesItself, r"equations\(\) of StatesItself calls itself without end"),
        (BuiltByYielding, r"build\(\) of BuiltByYielding returned <generator"),
        (Endless, r"equations\(\) of Endless does not end: it has yielded 3000 statements"),
    ],
)
def test_builds_without_end(model: type[Component], text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "MOST_STATEMENTS", 3000)
    with pytest.raises(AcausalError, match=text) as caught:
        simulate(model(), 0.1)
    assert [place.file for place in caught.value.where] == [__file__]


class WithoutLists(Component):
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield If(time > 1.0, Eq(self.x, 1.0), Eq(self.x, 2.0))  # type: ignore[arg-type]


def test_branches_are_lists() -> None:
    with pytest.raises(StatementError, match="If `branch` takes lists of Eq") as caught:
        simulate(WithoutLists(), 1.0)
    assert [place.file for place in caught.value.where] == [__file__]


@pytest.mark.parametrize("shape", [3, (2.5,), (0,), (-1,)])
@pytest.mark.parametrize("field", [Discrete, Input, Output, Parameter, Variable])
def test_extents_of_fields(field: Any, shape: Any) -> None:
    with pytest.raises(DeclarationError, match="`shape` of a field is a tuple of positive integers"):
        field(shape=shape)
