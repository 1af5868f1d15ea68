"""Discrete statements at run time: relations in actions, writers, types, values that are not numbers."""

from collections.abc import Callable, Iterator
from enum import Enum
from math import log

import numpy as np
import pytest

from acausal import (
    Component,
    DeclarationError,
    Discrete,
    DiscreteValueError,
    DuplicateWriterError,
    Eq,
    Expr,
    ExpressionError,
    Input,
    NonFiniteError,
    Output,
    Parameter,
    ParameterError,
    Program,
    RequirementError,
    Statement,
    Structural,
    Variable,
    assign,
    der,
    if_else,
    no_event,
    not_,
    or_,
    pre,
    reinit,
    require,
    sample,
    simulate,
    sqrt,
    time,
    to,
    transitions,
    when,
)

Statements = Iterator[Statement]


class Thermostat(Component):
    """x' = u - x with u = 30 or 10, switched at 18 and 20: periods of ln(12/10) + ln(10/8)."""

    x: Variable = Variable(start=17.0, fixed=True)
    heat: Discrete = Discrete(bool, start=True)
    way: Structural[int] = Structural(int, default=0)

    def action(self) -> Expr:
        x = self.x
        return [x < 18, not_(x >= 18), 18 > x, or_(x < 18, x < -5), not_(x > 20), 20 >= x][self.way]

    def equations(self) -> Statements:
        yield Eq(der(self.x), if_else(self.heat, 30.0, 10.0) - self.x)
        yield when([self.x > 20, self.x < 18], assign(self.heat, self.action()))


@pytest.mark.parametrize("way", range(6))
@pytest.mark.parametrize("method", ["auto", "implicit"])
def test_a_relation_in_an_action_has_the_value_that_the_event_gave_it(way: int, method: str) -> None:
    result = simulate(Thermostat(way=way), 3.0, method=method, rtol=1e-9)
    first, up, down = log(13.0 / 10.0), log(12.0 / 10.0), log(10.0 / 8.0)
    expected = first + 0.0
    times = [expected]
    while expected < 3.0:
        expected += down if len(times) % 2 else up
        times.append(expected)
    found = [e.t for e in result.events if e.t > 0.0]

    switched = [t for t in found if any(abs(t - s) < 1e-6 for s in times)]
    assert switched == pytest.approx([t for t in times if t < 3.0], rel=1e-7)


class Sampled(Component):
    """What a sampled action compares beside makes no events."""

    x: Variable = Variable(start=1.0, fixed=True)
    low: Discrete = Discrete(bool)
    lower: Discrete = Discrete(bool)
    hidden: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        yield Eq(der(self.x), -self.x)
        yield when(
            sample(period=0.25),
            assign(self.low, self.x < 0.7),
            assign(self.lower, self.x < 0.5),
            assign(self.hidden, no_event(self.x < 0.6)),
        )


def test_other_relations_in_actions_are_evaluated_as_they_come() -> None:
    result = simulate(Sampled(), 1.1)
    assert [e.t for e in result.events] == [0.0, 0.25, 0.5, 0.75, 1.0]
    assert result["low"].at([0.3, 0.6]).tolist() == [False, True]
    assert result["lower"].at([0.7, 0.8]).tolist() == [False, True]
    assert result["hidden"].at([0.45, 0.55]).tolist() == [False, False]


class Sensor(Component):
    x: Input = Input(float)
    found: Output = Output(bool)

    def equations(self) -> Statements:
        yield Eq(self.found, or_(self.x > 20, self.x < 18))


WAYS: list[Callable[["Controller"], Expr]] = [
    lambda c: c.x < c.limit,
    lambda c: not_(c.x >= c.limit),
    lambda c: c.limit > c.x,
    lambda c: or_(c.x < c.limit, c.x < -5),
    lambda c: c.x - 18 < 0,
    lambda c: c.x * c.x < c.limit**2,
    lambda c: 2 / c.x > 2 / c.limit,
    lambda c: c.x + time < c.limit + time,
    lambda c: if_else(c.x < c.limit, 1, 0) > 0.5,
    lambda c: pre(c.x) < c.limit,
]


class Controller(Component):
    """Compares by itself, with a limit of its own, when it is told to."""

    x: Input = Input(float)
    found: Input = Input(bool)
    heat: Discrete = Discrete(bool, start=True)
    limit: Parameter = Parameter(default=18.0)
    way: Structural[int] = Structural(int, default=0)

    def equations(self) -> Statements:
        yield when(self.found, assign(self.heat, WAYS[self.way](self)))


class Room(Component):
    x: Variable = Variable(start=17.0, fixed=True)
    way: Structural[int] = Structural(int, default=0)

    def build(self) -> None:
        self.sensor = Sensor(x=self.x)
        self.controller = Controller(x=self.x, found=self.sensor.found, way=self.way)

    def equations(self) -> Statements:
        yield Eq(der(self.x), if_else(self.controller.heat, 30.0, 10.0) - self.x)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("way", range(len(WAYS)))
@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
def test_a_relation_in_an_action_knows_a_crossing_that_another_component_found(way: int, method: str) -> None:
    """x' = u - x with u = 30 or 10, switched at 18 and 20."""
    result = simulate(Room(way=way), 5.0, method=method, rtol=1e-9)
    first, period = log(13.0 / 10.0), (log(10.0 / 8.0), log(12.0 / 10.0))
    expected = [first]
    while expected[-1] + period[len(expected) % 2 - 1] < 5.0:
        expected.append(expected[-1] + period[len(expected) % 2 - 1])
    heat = result["controller.heat"]
    found = [e.t for e in result.events if e.discretes.get("controller.heat")]
    assert found == pytest.approx(expected, rel=1e-12 if method == "auto" else 1e-7)
    assert heat.at([t + 1e-3 for t in found]).tolist() == [bool(k % 2) for k in range(len(found))]
    assert result["x"].at(np.linspace(0.3, 5.0, 1001)).min() > 18.0 - 1e-6


@pytest.mark.parametrize(
    ("start", "expected"), [(18.0, False), (18.0 + 1e-13, False), (18.1, False), (17.9, True)]
)
def test_a_relation_in_an_action_of_what_rests_at_its_limit_is_strict(start: float, expected: bool) -> None:
    class Resting(Component):
        x: Variable = Variable(start=start, fixed=True)
        below: Discrete = Discrete(bool, start=True)
        not_above: Discrete = Discrete(bool, start=False)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 0 * self.x)
            yield when(
                sample(period=0.5, start=0.5),
                assign(self.below, self.x < 18),
                assign(self.not_above, self.x <= 18),
            )

    result = simulate(Resting(), 1.0)
    assert bool(result["below"].final) is expected
    assert bool(result["not_above"].final) is (start <= 18.0 + 1e-12)


def test_a_relation_in_an_action_follows_the_second_derivative() -> None:
    """x = (t - 1)^2 touches zero at t = 1."""

    class Touching(Component):
        x: Variable = Variable(start=1.0, fixed=True)
        v: Variable = Variable(start=-2.0, fixed=True)
        below: Discrete = Discrete(bool, start=True)
        above: Discrete = Discrete(bool)
        far: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(self.far, self.x > 0.5)
            yield Eq(der(self.x), self.v)
            yield Eq(der(self.v), 2.0)
            yield when(self.v > 0, assign(self.below, self.x < 0), assign(self.above, self.x > 0))

    result = simulate(Touching(), 2.0)
    assert result["below"].final == 0.0
    assert result["above"].final == 1.0


class Level(Component):
    """An action compares with the level that another action of the branch sets."""

    x: Variable = Variable(start=0.0, fixed=True)
    level: Discrete = Discrete(float, start=1.0)
    above: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        yield Eq(der(self.x), 1.0)
        yield when(self.x > self.level, assign(self.level, 2.0), assign(self.above, self.x > self.level))


def test_a_relation_in_an_action_reads_what_the_branch_assigns() -> None:
    result = simulate(Level(), 1.5)
    assert result["level"].final == 2.0
    assert result["above"].final == 0.0


# -- writers ---------------------------------------------------------------------------------------------------------


class Gear(Enum):
    PARK = "park"
    DRIVE = "drive"


class Base(Component):
    x: Variable = Variable(start=1.0, fixed=True)
    y: Variable = Variable()
    n: Discrete = Discrete(int)
    on: Discrete = Discrete(bool)
    gear: Discrete = Discrete(Gear)
    f: Discrete = Discrete(float)
    kind: Structural[str] = Structural(str, default="")

    def equations(self) -> Statements:
        yield Eq(der(self.x), -self.x)
        yield Eq(self.y, sqrt(self.x - 0.5))
        yield from getattr(self, self.kind)()

    def sound(self) -> Statements:
        yield when(
            time > 0.5,
            assign(self.n, pre(self.n) + 2),
            assign(self.on, 1),
            assign(self.gear, Gear.DRIVE),
        )

    def assigned_twice(self) -> Statements:
        yield when(time > 0.5, assign(self.f, 1.0), assign(self.f, 2.0))

    def reinit_twice(self) -> Statements:
        yield when(time > 0.5, reinit(self.x, 1.0), reinit(self.x, 2.0))

    def state_twice(self) -> Statements:
        yield transitions(self.gear, {Gear.PARK: [to(Gear.DRIVE, time > 0.5, assign(self.gear, Gear.PARK))]})

    def two_reinits(self) -> Statements:
        yield when(time > 0.5, reinit(self.x, 1.0))
        yield when(time >= 0.5, reinit(self.x, 2.0))

    def fraction(self) -> Statements:
        yield when(time > 0.5, assign(self.n, 2.7))

    def equation_of_a_fraction(self) -> Statements:
        yield Eq(self.n, if_else(time > 0.5, 0.5, 1.0))

    def no_member(self) -> Statements:
        yield when(time > 0.5, assign(self.gear, 7))

    def no_truth(self) -> Statements:
        yield when(time > 0.5, assign(self.on, self.x))

    def no_number(self) -> Statements:
        yield when(time > 0.5, assign(self.f, 1 / pre(self.f)))

    def read_without_value(self) -> Statements:
        yield when(sample(period=0.9), assign(self.on, self.y > 0.0))


@pytest.mark.parametrize("kind", ["assigned_twice", "reinit_twice", "state_twice"])
def test_a_branch_sets_a_variable_once(kind: str) -> None:
    with pytest.raises(DuplicateWriterError, match=r"`(f|x|gear)` is set twice by the actions of one branch"):
        simulate(Base(kind=kind), 1.0)


def test_two_reinits_of_one_state_in_an_instant() -> None:
    with pytest.raises(DuplicateWriterError, match=r"`x` is set by two reinits at t = 0\.5"):
        simulate(Base(kind="two_reinits"), 1.0)


# -- types -----------------------------------------------------------------------------------------------------------


def test_values_of_their_types() -> None:
    result = simulate(Base(kind="sound"), 0.6)
    assert [result[n].final for n in ("n", "on", "gear")] == [2, True, 1]


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("fraction", r"`n` takes the value 2\.7 at t = 0\.5; it must be a whole number"),
        ("equation_of_a_fraction", r"`n` takes the value 0\.5 at t = 0\.5; it must be a whole number"),
        ("no_truth", r"`on` takes the value 0\.606530659712633 at t = 0\.5; it must be True or False"),
    ],
)
def test_values_of_other_types(kind: str, text: str) -> None:
    with pytest.raises(DiscreteValueError, match=text) as caught:
        simulate(Base(kind=kind), 1.0)
    assert caught.value.where[0].file == __file__


class Growing(Component):
    """A whole number that grows tenfold at each sample."""

    w: Discrete = Discrete(int, start=1)

    def equations(self) -> Statements:
        yield when(sample(period=0.1), assign(self.w, 10 * pre(self.w) + 1))


def test_whole_numbers_are_exact_or_refused() -> None:
    assert simulate(Growing(), 1.4)["w"].final == 1111111111111111
    with pytest.raises(DiscreteValueError, match=r"whole numbers beyond 2\*\*53 are not exact") as caught:
        simulate(Growing(), 3.0)
    assert caught.value.where[0].file == __file__


def test_a_number_is_no_member_before_anything_runs() -> None:
    with pytest.raises(ExpressionError, match="`gear` takes a member of Gear, and `7` is a number") as caught:
        simulate(Base(kind="no_member"), 1.0)
    assert caught.value.where[0].file == __file__


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"n": 2.5}, "the start value `n` of Base must be a whole number, got 2.5"),
        ({"on": 3}, "must be True or False, got 3"),
        ({"gear": 0}, r"must be one of Gear\.PARK, Gear\.DRIVE, got 0"),
        ({"n": "two"}, "must be a whole number, got 'two'"),
        ({"f": float("nan")}, "must be a finite number, got nan"),
    ],
)
def test_starts_of_other_types(values: dict[str, object], text: str) -> None:
    with pytest.raises(DeclarationError, match=text):
        Base(**values)
    if "gear" not in values and values != {"n": "two"} and values.keys() != {"f"}:
        with pytest.raises(ParameterError, match=text.removeprefix("the start value `n` of Base ")):
            simulate(Base(kind="sound"), 1.0, initial=values)


def test_declared_starts_of_other_types() -> None:
    with pytest.raises(DeclarationError, match="the start of a Discrete must be a whole number, got 2.5"):
        Discrete(int, start=2.5)


def test_members_as_initial_values() -> None:
    result = simulate(Base(kind="fraction"), 0.3, initial={"gear": Gear.DRIVE, "on": True, "n": np.int64(3)})
    assert [result[n].final for n in ("n", "on", "gear")] == [3, True, 1]
    with pytest.raises(ParameterError, match="must be one of"):
        simulate(Base(kind="fraction"), 0.3, initial={"gear": 5})


# -- no numbers ------------------------------------------------------------------------------------------------------


def test_a_discrete_without_a_value() -> None:
    with pytest.raises(NonFiniteError, match="`f` becomes inf"):
        simulate(Base(kind="no_number"), 1.0)


def test_a_variable_without_a_value_is_read() -> None:
    with pytest.raises(NonFiniteError, match=r"`y`, which a discrete statement reads, is nan at t = 0\.9"):
        simulate(Base(kind="read_without_value"), 1.0)


class Required(Component):
    """A requirement each on a parameter, on time, on a discrete and on a variable."""

    x: Variable = Variable(start=0.0, fixed=True)
    low: Parameter = Parameter(default=1.0)
    full: Discrete = Discrete(bool, start=False)
    last: Parameter = Parameter(default=3.0)

    def equations(self) -> Statements:
        yield Eq(der(self.x), 1.0)
        yield when(self.x > 1.0, assign(self.full, True))
        yield require(self.low > 0.5, "low is too low")
        yield require(time < self.last, "it is too late")
        yield require(not_(self.full), "it is full")
        yield require(self.x < 2.0, "x is too large")


def test_requirements_on_parameters_are_decided_before_the_run_and_not_in_it() -> None:
    program = Program(Required())
    asked = [check.message for _, _, check in program.discrete.checks]
    assert asked == ["it is too late", "it is full", "x is too large"]
    with pytest.raises(RequirementError, match="low is too low"):
        program.simulate(0.5, parameters={"low": 0.0})
    for last, text in ((0.5, r"it is too late \(at t = 0.5\)"), (3.0, r"it is full \(at t = 1\)")):
        with pytest.raises(RequirementError, match=text):
            program.simulate(2.5, parameters={"last": last})
