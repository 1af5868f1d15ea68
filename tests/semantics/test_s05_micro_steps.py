"""S5: micro-steps follow each other until nothing changes; a cycle is an error that shows it as a table."""

import pytest

from acausal import (
    ChatteringError,
    Complementarity,
    Component,
    Discrete,
    Eq,
    EventIterationError,
    If,
    Variable,
    assign,
    der,
    if_else,
    not_,
    pre,
    reinit,
    simulate,
    time,
    when,
)

from .observing import Statements, micro_steps


class Cascade(Component):
    """A reinit makes a relation true, which fires a when, which sets another variable."""

    x: Variable = Variable()
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.x), 0)
        yield Eq(der(self.y), 0)
        yield when(time >= 1.0, reinit(self.x, 3.0))
        yield when(self.x > 2, reinit(self.y, self.x + 1))


def test_a_jump_triggers_what_depends_on_it_in_the_same_instant() -> None:
    result = simulate(Cascade(), 2.0)
    assert result["x"].at([0.5, 1.0]) == pytest.approx([0.0, 3.0])
    assert result["y"].at([0.5, 1.0]) == pytest.approx([0.0, 4.0])
    (event,) = [e for e in result.events if e.t == 1.0]
    assert event.micro_steps >= 2


def test_the_number_of_micro_steps_is_bounded() -> None:
    class Counting(Component):
        n: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield Eq(self.n, pre(self.n) + if_else(time >= 1.0, 1, 0))

    with pytest.raises(EventIterationError, match=r"at t = 1 .*do not settle: n(.|\n)*micro-step 50: n = 51"):
        simulate(Counting(), 2.0)


def test_a_chain_shorter_than_the_bound_settles() -> None:
    class Settling(Component):
        n: Discrete = Discrete(int)

        def equations(self) -> Statements:
            yield Eq(self.n, pre(self.n) + if_else((time >= 1.0) & (pre(self.n) < 40), 1, 0))

    result = simulate(Settling(), 2.0)
    assert result["n"].final == 40
    assert micro_steps(result, 1.0, "n")[:3] == [(0, 1), (1, 2), (2, 3)]


def test_discrete_values_that_return_are_an_event_iteration_error() -> None:
    class Toggle(Component):
        on: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(self.on, not_(pre(self.on)))

    with pytest.raises(
        EventIterationError, match=r"micro-step 0: on = 1\n.*micro-step 1: on = 0\n.*micro-step 2: on = 1"
    ):
        simulate(Toggle(), 1.0)


def test_a_when_that_fires_later_in_the_instant_and_changes_nothing_is_no_cycle() -> None:
    class Late(Component):
        x: Variable = Variable(start=1.0, fixed=True)
        n: Discrete = Discrete(int)
        m: Discrete = Discrete(int, start=1)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 0)
            yield when(time >= 1.0, assign(self.n, pre(self.n) + 1))
            yield when(pre(self.n) > 0, assign(self.m, 1), reinit(self.x, 1.0))

    class Conducting(Component):
        u: Variable = Variable(start=-1.0, fixed=True)
        i: Variable = Variable()
        m: Discrete = Discrete(int)

        def equations(self) -> Statements:
            valve = Complementarity(self.i - self.u, self.i, name="valve")
            yield valve
            yield Eq(der(self.u), 1)
            yield when(valve.mode, assign(self.m, 0))

    result = simulate(Late(), 2.0)
    assert (result["n"].final, result["m"].final, result["x"].final) == (1, 1, 1.0)
    assert simulate(Conducting(), 2.0)["i"].final == pytest.approx(1.0)


def test_branches_that_decide_each_other_by_their_modes_are_named() -> None:
    class Crossed(Component):
        i: Variable = Variable()
        v: Variable = Variable()

        def equations(self) -> Statements:
            valve = Complementarity(-self.v, self.i, name="valve")
            yield valve
            yield If(valve.mode, [Eq(self.v, -1 - self.i)], [Eq(self.v, 1 - self.i)], name="source")

    with pytest.raises(EventIterationError, match=r"do not settle: valve, source\n") as info:
        simulate(Crossed(), 1.0)
    assert "one `If`" in info.value.hint
    assert "`valve`" in info.value.hint
    assert len(info.value.where) == 2


def test_a_cycle_through_a_relation_of_continuous_variables_is_chattering() -> None:
    class Relay(Component):
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), if_else(self.x > 0, -1, 1))

    with pytest.raises(
        ChatteringError, match=r"`x > 0` switches without end\n.*micro-step 0: `x > 0`: (True|False)"
    ) as info:
        simulate(Relay(), 1.0)
    assert "DryFriction" in info.value.hint
