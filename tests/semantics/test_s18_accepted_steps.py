"""S18: memory changes by accepted micro-steps only, never by candidates that are tried."""

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    If,
    NoConsistentModeError,
    Variable,
    assign,
    der,
    pre,
    sample,
    simulate,
    when,
)

from .observing import Statements


class Counted(Component):
    """A mode that is searched for, and counters of what the run accepted."""

    x: Variable = Variable()
    y: Variable = Variable()
    ups: Discrete = Discrete(int)
    samples: Discrete = Discrete(int)

    def equations(self) -> Statements:
        branch = If(self.y > 0.5, [Eq(der(self.x), -1 - self.x)], [Eq(der(self.x), 1)], name="high")
        yield branch
        yield Eq(self.y, self.x)
        yield when(branch.mode, assign(self.ups, pre(self.ups) + 1))
        yield when(sample(period=0.1), assign(self.samples, pre(self.samples) + 1))


class Once(Component):
    """The condition stays true after it was reached."""

    x: Variable = Variable()
    ups: Discrete = Discrete(int)
    samples: Discrete = Discrete(int)

    def equations(self) -> Statements:
        branch = If(self.x > 0.5, [Eq(der(self.x), 2)], [Eq(der(self.x), 1)], name="high")
        yield branch
        yield when(branch.mode, assign(self.ups, pre(self.ups) + 1))
        yield when(sample(period=0.1), assign(self.samples, pre(self.samples) + 1))


def test_candidates_fire_nothing() -> None:
    result = simulate(Once(), 1.0)
    assert result["ups"].final == 1
    assert result["samples"].final == 11
    assert result["x"].final == pytest.approx(1.5, rel=1e-12)


def test_a_failed_instant_leaves_the_memory_of_the_last_accepted_one() -> None:
    with pytest.raises(NoConsistentModeError) as info:
        simulate(Counted(), 1.0)
    result = info.value.result
    assert result.t_end == pytest.approx(0.5, rel=1e-14)
    assert result["samples"].at(0.45) == 5
    assert result["ups"].at(0.45) == 0


def test_runs_of_one_program_do_not_share_memory() -> None:
    model = Once()
    assert [simulate(model, t)["samples"].final for t in (1.0, 0.5, 1.0)] == [11, 6, 11]
