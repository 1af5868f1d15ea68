"""S12: an If on discrete variables is controlled; with relations of continuous variables its branch must be consistent."""

import math

import pytest

from acausal import Component, Eq, If, NoConsistentModeError, Variable, der, simulate, time

from .observing import Statements


def test_a_condition_on_time_controls_the_branch() -> None:
    class Model(Component):
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield If(time < 1, [Eq(der(self.x), 1)], [Eq(self.x, 3)], name="early")

    result = simulate(Model(), 2.0)
    assert result["x"].at([0.5, 1.5]) == pytest.approx([0.5, 3.0], rel=1e-14)


def test_a_condition_on_variables_selects_the_consistent_branch() -> None:
    class Model(Component):
        """x grows to 1 and then falls with its own size."""

        x: Variable = Variable()
        y: Variable = Variable()

        def equations(self) -> Statements:
            yield Eq(der(self.x), 1)
            yield If(self.x < 1, [Eq(self.y, self.x)], [Eq(self.y, 2 - self.x)], name="rising")

    result = simulate(Model(), 2.0)
    assert result["y"].at([0.5, 1.0, 1.5]) == pytest.approx([0.5, 1.0, 0.5], rel=1e-12)
    assert result["rising"].at([0.9, 1.1]) == pytest.approx([1.0, 0.0])


class Hysteresis(Component):
    """y = u + 1 while y > 0, else y = u - 1: for -1 < u < 1 both branches are consistent."""

    u: Variable = Variable(start=-2.0)
    rate: Variable = Variable(start=1.0)
    y: Variable = Variable()

    def equations(self) -> Statements:
        yield Eq(der(self.u), self.rate)
        yield Eq(der(self.rate), -0.25)
        yield If(self.y > 0, [Eq(self.y, self.u + 1)], [Eq(self.y, self.u - 1)], name="high")


def test_of_two_consistent_branches_the_present_one_stays() -> None:
    """u = -2 + t - t**2 / 8 rises to 0 at t = 4 and falls: it never leaves the band from below."""
    result = simulate(Hysteresis(), 8.0)
    assert not result["high"].at([0.0, 4.0, 8.0]).any()
    raised = simulate(Hysteresis(u=2.0, rate=-1.0), 4.0 * (math.sqrt(1.5) - 1.0))
    assert raised["u"].final == pytest.approx(1.0, rel=1e-9)
    assert raised["high"].final


def test_without_a_consistent_branch_the_error_lists_what_was_tried() -> None:
    class Impossible(Component):
        x: Variable = Variable()

        def equations(self) -> Statements:
            yield If(self.x > 0, [Eq(self.x, time - 1)], [Eq(self.x, 1 - time)], name="positive")

    with pytest.raises(NoConsistentModeError, match=r"positive=(true|false).*violated"):
        simulate(Impossible(), 0.5)
