"""S3: pre(d) is d after the previous micro-step, edge and change compare with it."""

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Variable,
    assign,
    change,
    der,
    edge,
    pre,
    reinit,
    simulate,
    time,
    when,
)

from .observing import Statements, micro_steps


class Model(Component):
    a: Discrete = Discrete(bool)
    before: Discrete = Discrete(bool)
    rising: Discrete = Discrete(bool)
    changed: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        yield Eq(self.a, (time >= 1.0) & (time < 2.0))
        yield Eq(self.before, pre(self.a))
        yield Eq(self.rising, edge(self.a))
        yield Eq(self.changed, change(self.a))


def test_pre_edge_and_change_per_micro_step() -> None:
    result = simulate(Model(), 3.0)
    names = ("a", "before", "rising", "changed")
    assert micro_steps(result, 1.0, *names)[:2] == [
        (0, True, False, True, True),
        (1, True, True, False, False),
    ]
    assert micro_steps(result, 2.0, *names)[:2] == [
        (0, False, True, False, True),
        (1, False, False, False, False),
    ]


def test_pre_of_a_continuous_variable_is_its_value_after_the_previous_micro_step() -> None:
    class Jumping(Component):
        x: Variable = Variable(start=1.0)
        first: Discrete = Discrete(bool)
        second: Discrete = Discrete(bool)
        seen_first: Discrete = Discrete(float)
        seen_second: Discrete = Discrete(float)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 0)
            yield Eq(self.first, time >= 1.0)
            yield Eq(self.second, pre(self.first))
            yield when(self.first, assign(self.seen_first, pre(self.x)), reinit(self.x, 5.0))
            yield when(self.second, assign(self.seen_second, pre(self.x)))

    result = simulate(Jumping(), 2.0)
    assert result["seen_first"].final == pytest.approx(1.0)
    assert result["seen_second"].final == pytest.approx(5.0)
