"""S10: events at the end are processed, then terminal(); terminate and until are normal ends."""

import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Variable,
    assign,
    der,
    pre,
    reinit,
    sample,
    simulate,
    terminal,
    terminate,
    time,
    when,
)

from .observing import Statements


class Model(Component):
    x: Variable = Variable()
    n: Discrete = Discrete(int)
    at_end: Discrete = Discrete(int, start=-1)

    def equations(self) -> Statements:
        yield Eq(der(self.x), 1)
        yield when(sample(period=0.5), assign(self.n, pre(self.n) + 1))
        yield when(terminal(), assign(self.at_end, self.n))


def test_an_event_at_the_end_happens_before_terminal() -> None:
    result = simulate(Model(), 1.0)
    assert result["n"].at(1.0, side="left") == 2
    assert result["n"].final == 3
    assert result["at_end"].final == 3


def test_the_last_value_is_the_right_limit() -> None:
    class Resetting(Component):
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield when(time >= 1.0, reinit(self.x, -5.0))

    x = simulate(Resetting(), 1.0)["x"]
    assert x.at(1.0, side="left") == pytest.approx(1.0)
    assert x.final == x.values[-1] == pytest.approx(-5.0)


def test_terminate_is_a_normal_end() -> None:
    class Stopping(Component):
        x: Variable = Variable()
        seen: Discrete = Discrete(bool)

        def equations(self) -> Statements:
            yield Eq(der(self.x), 2)
            yield when(self.x > 1, terminate("full"))
            yield when(terminal(), assign(self.seen, True))

    result = simulate(Stopping(), 10.0)
    assert result.t_end == pytest.approx(0.5, rel=1e-14)
    assert "full" in result.status
    assert result["seen"].final


def test_until_ends_a_run() -> None:
    model = Model()
    result = simulate(model, 10.0, until=model.x > 0.75)
    assert result.t_end == pytest.approx(0.75, rel=1e-14)
    assert result["n"].final == 2
    assert result.status != simulate(model, 10.0).status
