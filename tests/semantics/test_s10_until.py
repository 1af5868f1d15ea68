"""S10: a run that ends where it starts says so."""

import pytest

from acausal import Component, Eq, Variable, der, simulate


class Falling(Component):
    x: Variable = Variable(start=1.0)

    def equations(self):
        yield Eq(der(self.x), -1.0)


@pytest.mark.parametrize("method", ["auto", "explicit"])
def test_a_condition_that_holds_at_the_start_ends_the_run_with_a_warning(method: str) -> None:
    model = Falling()
    with pytest.warns(UserWarning, match=r"ends where it starts, at t = 0: until x > 0.5"):
        result = simulate(model, 2.0, until=model.x > 0.5, method=method)
    assert result.t_end == 0.0
    assert result.status == "until x > 0.5"


def test_a_condition_that_becomes_true_ends_the_run_without_one() -> None:
    model = Falling()
    assert simulate(model, 2.0, until=model.x < 0.5).t_end == pytest.approx(0.5, rel=1e-12)
