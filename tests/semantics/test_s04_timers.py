"""S4: a when may determine what its own condition compares with time; it reads that from before the micro-step."""

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Variable,
    assign,
    der,
    if_else,
    not_,
    pre,
    sample,
    simulate,
    time,
    when,
)

from .observing import Statements

METHODS = pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])


class Timer(Component):
    t0: Discrete = Discrete(float)

    def equations(self) -> Statements:
        yield when(time >= self.t0 + 5.0, assign(self.t0, time))


class Difference(Component):
    t0: Discrete = Discrete(float)

    def equations(self) -> Statements:
        yield when(time - self.t0 >= 5.0, assign(self.t0, time))


class Counted(Component):
    n: Discrete = Discrete(int, start=1)

    def equations(self) -> Statements:
        yield when(time >= self.n * 5.0, assign(self.n, pre(self.n) + 1))


class Signalled(Component):
    """The time of the next event is a variable that a discrete alone determines."""

    t0: Discrete = Discrete(float)
    due: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(self.due, self.t0 + 5.0)
        yield when(time >= self.due, assign(self.t0, time))


class Shared(Component):
    """The relation that fires is read by an equation too."""

    t0: Discrete = Discrete(float)
    early: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        due = time >= self.t0 + 5.0
        yield when(due, assign(self.t0, time))
        yield Eq(self.early, not_(due))


@METHODS
@pytest.mark.parametrize("kind", [Timer, Difference, Counted, Signalled, Shared])
def test_a_timer_restarts_itself(kind: type[Component], method: str) -> None:
    result = simulate(kind(), 21.0, method=method)
    assert [e.t for e in result.events if e.t > 0.0] == [5.0, 10.0, 15.0, 20.0]
    result.check().require()


class Astable(Component):
    """On for one second, off for two."""

    t0: Discrete = Discrete(float)
    on: Discrete = Discrete(bool)
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), if_else(self.on, 1.0, -0.5))
        yield when(
            time >= self.t0 + if_else(self.on, 1.0, 2.0),
            assign(self.t0, time),
            assign(self.on, not_(pre(self.on))),
        )


@METHODS
def test_a_timer_restarts_itself_with_another_time(method: str) -> None:
    result = simulate(Astable(), 20.0, method=method)
    t = [e.t for e in result.events if "on" in e.discretes]
    assert t == [2.0, 3.0, 5.0, 6.0, 8.0, 9.0, 11.0, 12.0, 14.0, 15.0, 17.0, 18.0, 20.0]
    assert result["x"].at([2.0, 3.0, 18.0]) == pytest.approx([-1.0, 0.0, 0.0], abs=1e-12)


class Either(Component):
    """A state or the time since the last turn, whichever comes first."""

    t0: Discrete = Discrete(float)
    up: Discrete = Discrete(bool, start=True)
    x: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), if_else(self.up, 1.0, -0.25))
        yield when(
            [time >= self.t0 + 1.0, self.x >= 0.8], assign(self.t0, time), assign(self.up, not_(pre(self.up)))
        )


@METHODS
def test_a_timer_beside_a_limit(method: str) -> None:
    result = simulate(Either(), 5.0, method=method)
    # 0.8 s up, a second down to 0.55; 0.25 s up, ...
    expected = [0.8, 1.8, 2.05, 3.05, 3.3, 4.3, 4.55]
    assert [e.t for e in result.events if "up" in e.discretes] == pytest.approx(expected, rel=1e-9)


class Monoflop(Component):
    """Another statement sets the time: the relation has the value that this gives it in the same micro-step."""

    t0: Discrete = Discrete(float)
    on: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        yield Eq(self.on, time < self.t0 + 2.0)
        yield when(sample(period=3.0, start=3.0), assign(self.t0, time))


@METHODS
def test_a_pulse_begins_in_the_micro_step_that_sets_its_time(method: str) -> None:
    result = simulate(Monoflop(), 20.0, method=method)
    assert [e.t for e in result.events if "on" in e.discretes and e.t > 0.0] == [
        2.0, 3.0, 5.0, 6.0, 8.0, 9.0, 11.0, 12.0, 14.0, 15.0, 17.0, 18.0, 20.0,
    ]  # fmt: skip
