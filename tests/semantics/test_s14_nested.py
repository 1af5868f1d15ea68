"""S14: relations that read each other in one loop."""

import numpy as np
import pytest

from acausal import Component, Eq, Parameter, Variable, maximum, minimum, simulate, time

from .observing import Statements


class Unstable(Component):
    """A limiter with positive feedback that starts between its limits."""

    rate: Parameter = Parameter(default=1.0)
    u: Variable = Variable()
    y: Variable = Variable(start=0.0, fixed=True)

    def equations(self) -> Statements:
        yield Eq(self.u, 0.5 * self.y + 3.0 * self.rate * time)
        yield Eq(self.y, maximum(-5, minimum(5, 10.0 * self.u)))


class UnstableToo(Unstable):
    """The other limit is the inner one."""

    def equations(self) -> Statements:
        yield Eq(self.u, 0.5 * self.y + 3.0 * self.rate * time)
        yield Eq(self.y, minimum(5, maximum(-5, 10.0 * self.u)))


@pytest.mark.parametrize("limiter", [Unstable, UnstableToo])
@pytest.mark.parametrize("rate", [1.0, -1.0])
def test_the_unstable_branch_of_positive_feedback_is_left_for_the_other_limit(
    limiter: type[Unstable], rate: float
) -> None:
    """``y = 10 (y / 2 + 3 t)``: y falls as its input rises, down to a limit; beyond it only the other one is left."""
    result = simulate(limiter(rate=rate), 1.0)
    end = 2.0 / 3.0
    assert [e.t for e in result.events if e.kind == "state"] == pytest.approx([end], rel=1e-13)
    at = [0.0, 0.5, end - 1e-9, end + 1e-9, 1.0]
    assert result["y"].at(at) == pytest.approx(rate * np.array([0.0, -3.75, -5.0, 5.0, 5.0]), abs=1e-7)
