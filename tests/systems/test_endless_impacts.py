"""Impacts that follow each other without end in one instant."""

import pytest

from acausal import Component, Eq, Impact, Parameter, Structural, Variable, der, minimum, simulate, time

METHODS = pytest.mark.parametrize("method", ["auto", "explicit"])


class Fitting(Component):
    """A ball arrives at a wall when a gate comes to rest behind it: it fits exactly between the two."""

    e: Parameter = Parameter(default=1.0)
    rest: Structural[float | None] = Structural(object, default=None)
    x: Variable = Variable(start=-1.0)
    v: Variable = Variable(start=1.0)
    f: Variable = Variable()
    g: Variable = Variable()

    def equations(self):
        law = {"restitution": self.e, "rest_speed": self.rest}
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.v), self.g - self.f)
        yield Impact(-self.x, self.f, **law, name="wall")
        yield Impact(self.x - minimum(3.0 * time - 3.0, 0.0), self.g, **law, name="gate")


@METHODS
def test_impacts_without_end_are_plastic_after_a_bound_with_a_warning(method: str) -> None:
    with pytest.warns(UserWarning, match="impacts at wall, gate do not end after 1000 rounds"):
        result = simulate(Fitting(), 2.0, method=method)
    assert (result["v"].final, result["x"].final) == pytest.approx((0.0, 0.0), abs=1e-9)
    assert simulate(Fitting(e=0.5), 2.0, method=method)["v"].final == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("rest", [None, 0.0])
@pytest.mark.parametrize("e", [0.1, 0.5, 0.9, 0.99])
@METHODS
@pytest.mark.filterwarnings("ignore:at t = 1 impacts")
def test_what_a_collision_leaves_begins_no_other_without_end(
    e: float, rest: float | None, method: str
) -> None:
    """Every round leaves e of the speed: it ends at 1e-6 of the approach, or in its rounding where no speed is too slow."""
    result = simulate(Fitting(e=e, rest=rest), 2.0, method=method)
    assert (result["v"].final, result["x"].final) == pytest.approx((0.0, 0.0), abs=1e-12)
