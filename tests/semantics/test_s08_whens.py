"""S8: a when does not fire at the start because its condition holds already, nor because of another one that holds."""

from enum import Enum

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Structural,
    Variable,
    assign,
    change,
    der,
    initial,
    not_,
    pre,
    sample,
    simulate,
    time,
    to,
    transitions,
    when,
)

from .observing import Statements

METHODS = pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])


class Falling(Component):
    """The first condition holds at the start; its action would end the second one, and begin the third."""

    a: Discrete = Discrete(bool)
    b: Discrete = Discrete(bool)
    n: Discrete = Discrete(int)
    m: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield when(time >= 5.0, assign(self.a, True))
        yield when(not_(self.a), assign(self.b, True))
        yield when(not_(self.b), assign(self.n, pre(self.n) + 1))
        yield when(self.b, assign(self.m, pre(self.m) + 1))


@METHODS
def test_nothing_happens_because_conditions_hold(method: str) -> None:
    result = simulate(Falling(), 10.0, method=method)
    assert [result[name].at(1.0) for name in "abnm"] == [0.0, 0.0, 0.0, 0.0]
    assert [result[name].final for name in "abnm"] == [1.0, 0.0, 0.0, 0.0]


class Counted(Component):
    on: Discrete = Discrete(bool, start=True)
    k: Discrete = Discrete(int)
    n: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield when(self.on, assign(self.k, pre(self.k) + 1))
        yield when(self.k < 1, assign(self.n, pre(self.n) + 1))


def test_a_counter_that_does_not_count_ends_no_condition() -> None:
    result = simulate(Counted(), 1.0)
    assert (result["k"].final, result["n"].final) == (0.0, 0.0)


class Later(Component):
    """What has not fired at the start fires when it becomes true."""

    a: Discrete = Discrete(bool)
    k: Discrete = Discrete(int)
    n: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield when(not_(self.a), assign(self.k, pre(self.k) + 1))
        yield when(sample(period=1.0, start=1.0), assign(self.a, not_(pre(self.a))))
        yield when(self.k >= 1, assign(self.n, pre(self.n) + 1))


def test_what_has_not_fired_at_the_start_fires_later() -> None:
    result = simulate(Later(), 2.5)
    assert (result["k"].final, result["n"].final) == (1.0, 1.0)


class Phase(Enum):
    WAIT = 0
    WORK = 1


class Machine(Component):
    phase: Discrete = Discrete(Phase)
    busy: Discrete = Discrete(bool)
    idle: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield transitions(
            self.phase,
            {
                Phase.WAIT: [to(Phase.WORK, (time >= 1.0) & (time < 2.0))],
                Phase.WORK: [to(Phase.WAIT, time >= 2.0)],
            },
        )
        yield when(self.phase.equals(Phase.WORK), assign(self.busy, True)).elsewhen(
            self.phase.equals(Phase.WAIT), assign(self.busy, False)
        )
        yield when(not_(self.busy), assign(self.idle, pre(self.idle) + 1))


def test_a_state_machine_counts_no_phase_before_its_first() -> None:
    result = simulate(Machine(), 3.0)
    assert result["busy"].at([0.5, 1.5, 2.5]).tolist() == [0.0, 1.0, 0.0]
    assert result["idle"].at([0.5, 1.5, 2.5]).tolist() == [0.0, 0.0, 1.0]


class Begun(Component):
    """What `initial()` and a sample at the start set is seen by conditions that it makes true."""

    a: Discrete = Discrete(bool)
    b: Discrete = Discrete(bool)
    n: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield when(initial(), assign(self.a, True))
        yield when(sample(period=10.0), assign(self.b, True))
        yield when(self.a & self.b, assign(self.n, pre(self.n) + 1))


def test_what_the_start_makes_true_fires() -> None:
    assert simulate(Begun(), 1.0)["n"].at(0.0) == 1.0


class Compared(Component):
    """A level that the start sets, and conditions that compare a state with it: before, the state is below."""

    x: Variable = Variable(start=-0.47, fixed=True)
    d: Discrete = Discrete(float, start=0.19)
    above: Discrete = Discrete(bool)
    n: Discrete = Discrete(int)
    m: Discrete = Discrete(int)
    still: Discrete = Discrete(int)
    seen: Discrete = Discrete(float)
    begins: Structural[bool] = Structural(bool, default=False)
    cubic: Structural[bool] = Structural(bool, default=False)

    def equations(self) -> Statements:
        yield when(initial() if self.begins else sample(period=10.0), assign(self.d, -0.7))
        yield Eq(self.above, self.x > self.d)
        yield when(self.above, assign(self.n, pre(self.n) + 1))
        yield when(self.x > self.d, assign(self.m, pre(self.m) + 1), assign(self.seen, self.d))
        yield when(self.x > -0.5, assign(self.still, pre(self.still) + 1))
        yield Eq(der(self.x), -0.1 * (self.x**3 if self.cubic else self.x))


@METHODS
@pytest.mark.parametrize("cubic", [False, True])
@pytest.mark.parametrize("begins", [False, True])
def test_a_state_is_above_a_level_from_when_the_start_sets_that(
    begins: bool, cubic: bool, method: str
) -> None:
    """What held before the start set anything, as ``x > -0.5`` did, fires nothing."""
    result = simulate(Compared(begins=begins, cubic=cubic), 1.0, method=method)
    assert [result[name].at(0.0) for name in ("d", "above", "n", "m", "still")] == [-0.7, 1.0, 1.0, 1.0, 0.0]
    assert result["seen"].at(0.0) == -0.7
    assert result["m"].final == 1.0


class Moved(Component):
    """A state machine that moves at the start."""

    phase: Discrete = Discrete(Phase)
    works: Discrete = Discrete(int)
    changes: Discrete = Discrete(int)
    waits: Discrete = Discrete(int)

    def equations(self) -> Statements:
        yield transitions(self.phase, {Phase.WAIT: [to(Phase.WORK, time >= 0.0)]})
        yield when(self.phase.equals(Phase.WORK), assign(self.works, pre(self.works) + 1))
        yield when(change(self.phase), assign(self.changes, pre(self.changes) + 1))
        yield when(self.phase.equals(Phase.WAIT), assign(self.waits, pre(self.waits) + 1))


@METHODS
def test_what_a_state_machine_does_at_the_start_fires(method: str) -> None:
    result = simulate(Moved(), 1.0, method=method)
    assert [result[name].at(0.0) for name in ("phase", "works", "changes", "waits")] == [1.0, 1.0, 1.0, 0.0]
