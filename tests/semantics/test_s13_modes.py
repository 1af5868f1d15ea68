"""S13: Modes leave when an expression becomes positive and its condition holds; ties in written order."""

import pytest

from acausal import Component, Discrete, Eq, Mode, Modes, Variable, der, leave, simulate, time

from .observing import Statements


class Cycle(Component):
    """A furnace: heats from 0 up to 1, cools down to 1/2, heats again."""

    x: Variable = Variable()

    def equations(self) -> Statements:
        heat = Mode("heat", Eq(der(self.x), 1), leave("cool", self.x - 1))
        cool = Mode("cool", Eq(der(self.x), -1), leave("heat", 0.5 - self.x))
        yield Modes("state", heat, cool, start="heat")


def test_one_equation_per_mode_and_a_way_out() -> None:
    result = simulate(Cycle(), 2.9)
    assert result["x"].at([0.5, 1.0, 1.25, 1.5, 1.75, 2.25]) == pytest.approx(
        [0.5, 1.0, 0.75, 0.5, 0.75, 0.75]
    )
    changes = [
        (event.t, event.modes["state"]) for event in result.events if "state" in event.modes and event.t > 0
    ]
    assert [t for t, _ in changes] == pytest.approx([1.0, 1.5, 2.0, 2.5], rel=1e-13)
    assert changes[0][1] == ("heat", "cool") and changes[1][1] == ("cool", "heat")


class Gated(Component):
    """The way out is open after t = 2 only."""

    x: Variable = Variable()
    open: Discrete = Discrete(bool)

    def equations(self) -> Statements:
        yield Eq(self.open, time >= 2.0)
        up = Mode("up", Eq(der(self.x), 1), leave("hold", self.x - 1, enabled=self.open))
        yield Modes("state", up, Mode("hold", Eq(der(self.x), 0)), start="up")


def test_a_way_out_that_is_not_enabled_is_not_taken() -> None:
    result = simulate(Gated(), 3.0)
    assert result["x"].at([1.5, 2.0, 3.0]) == pytest.approx([1.5, 2.0, 2.0])


def test_ties_are_decided_in_written_order() -> None:
    class Fork(Component):
        x: Variable = Variable()
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            start = Mode("start", Eq(self.y, 0), leave("left", self.x - 1), leave("right", self.x - 1))
            yield Modes(
                "state", start, Mode("right", Eq(self.y, 2)), Mode("left", Eq(self.y, 1)), start="start"
            )

    assert simulate(Fork(), 2.0)["y"].final == pytest.approx(1.0)


def test_one_instant_may_pass_through_several_modes() -> None:
    class Through(Component):
        x: Variable = Variable()
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            a = Mode("a", Eq(self.y, 0), leave("b", self.x - 1))
            b = Mode("b", Eq(self.y, 1), leave("c", self.x - 0.5))
            yield Modes("state", a, b, Mode("c", Eq(self.y, 2)), start="a")

    result = simulate(Through(), 2.0)
    assert result["y"].at([0.9, 1.1]) == pytest.approx([0.0, 2.0])
