"""Runs by the explicit method that stability holds: said once, with what holds them."""

import re
import warnings
from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Eq,
    Parameter,
    Statement,
    StiffnessWarning,
    Variable,
    compile_model,
    der,
    if_else,
    simulate,
    sin,
    time,
)

RATES = np.array([[-1.0, 1.0, 0.0], [0.5, -2.0, 3.0], [0.0, 2e4, -6e4]])
TOLD = (
    r"integration at t = \S+: stability alone has held \d{4} steps of the explicit method, now of (\S+) s: the model is stiff,"
    r" since a motion of `(\S+)` with a time constant of (\S+) s has died away, .* method=\"auto\", or .* method=\"implicit\""
)


class Linear(Component):
    a: Variable = Variable(start=1.0)
    b: Variable = Variable(start=0.0)
    c: Variable = Variable(start=-1.0)
    omega: Parameter = Parameter(default=1.0, unit="rad/s")

    def equations(self) -> Iterator[Statement]:
        x = self.a, self.b, self.c
        for k, state in enumerate(x):
            drive = sin(self.omega * time) if k == 0 else 0.0
            yield Eq(der(state), sum((float(r) * v for r, v in zip(RATES[k], x, strict=True)), drive))


class VanDerPol(Component):
    mu: Parameter = Parameter(default=1e4)
    x: Variable = Variable(start=2.0)
    y: Variable = Variable(start=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.y)
        yield Eq(der(self.y), self.mu * (1.0 - self.x**2) * self.y - self.x)


class Sawtooth(Component):
    """A stiff part whose steps are held between events, which come every hundred steps or so."""

    x: Variable = Variable(start=0.0)
    y: Variable = Variable(start=0.0)
    clock: Variable = Variable(start=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), -1e4 * (self.x - sin(self.y)))
        yield Eq(der(self.y), if_else(sin(150.0 * self.clock) > 0.0, 1.0, -1.0))
        yield Eq(der(self.clock), 1.0)


class Swing(Component):
    x: Variable = Variable(start=1.0)
    v: Variable = Variable(start=0.0)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.v)
        yield Eq(der(self.v), -sin(self.x))


@pytest.mark.parametrize("rtol", [1e-3, 1e-6])
def test_a_linear_model_says_once_what_holds_its_steps(rtol: float) -> None:
    fastest = np.abs(np.linalg.eigvals(RATES)).max()
    with pytest.warns(StiffnessWarning, match=TOLD) as told:
        result = simulate(Linear(), 0.2, method="explicit", rtol=rtol)
    assert len(told) == 1
    step, state, constant = told_of(told)
    assert state == "c"
    assert constant == pytest.approx(1.0 / fastest, rel=0.02)
    assert step == pytest.approx(3.3 / fastest, rel=0.1)
    assert 2000 < result.stats.held <= result.stats.steps < 1.2 * result.stats.held
    exact = simulate(Linear(), 0.2, method="exact")
    assert result["a"].final == pytest.approx(exact["a"].final, rel=10 * rtol)


def test_so_does_a_nonlinear_one() -> None:
    mu = 1e4
    with pytest.warns(StiffnessWarning, match=TOLD) as told:
        result = simulate(VanDerPol(mu=mu), 0.3, method="explicit")
    assert len(told) == 1
    _, state, constant = told_of(told)
    x, y = result["x"].final, result["y"].final
    jacobian = [[0.0, 1.0], [-2.0 * mu * x * y - 1.0, mu * (1.0 - x**2)]]
    assert state == "y"
    assert constant == pytest.approx(1.0 / np.abs(np.linalg.eigvals(jacobian)).max(), rel=0.02)


def test_events_do_not_hide_it() -> None:
    with pytest.warns(StiffnessWarning, match=TOLD) as told:
        result = simulate(Sawtooth(), 0.6, method="explicit")
    assert len(told) == 1
    assert len(result.events) > 20
    assert told_of(told)[1:] == ("x", pytest.approx(1e-4, rel=0.02))


def test_a_run_that_is_stepped_on_says_it_once() -> None:
    run = compile_model(Linear()).start(method="explicit")
    with pytest.warns(StiffnessWarning, match=TOLD):
        run.advance(0.1)
    run.advance(0.2)
    assert run.result.stats.held > 2000


def test_raised_as_an_error_it_leaves_what_was_computed() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", StiffnessWarning)
        with pytest.raises(StiffnessWarning, match="stability") as caught:
            simulate(Linear(), 0.2, method="explicit")
    result = caught.value.result  # type: ignore[attr-defined]
    exact = simulate(Linear(), result.t_end, method="exact")
    assert 1000 <= result.stats.steps < 1200
    for path in "abc":
        assert result[path].final == pytest.approx(exact[path].final, rel=1e-5)


@pytest.mark.parametrize("method", ["auto", "implicit"])
def test_other_methods_have_nothing_to_say(method: str) -> None:
    stats = simulate(VanDerPol(), 0.3, method=method).stats
    assert stats.held == 0
    assert stats.steps < 300


@pytest.mark.parametrize("rtol", [1e-2, 1e-6])
def test_an_oscillation_that_accuracy_holds_is_not_stiff(rtol: float) -> None:
    stats = simulate(Swing(), 400.0, method="explicit", rtol=rtol).stats
    assert stats.steps > 300
    assert stats.held < 0.01 * stats.steps


def told_of(told: pytest.WarningsRecorder) -> tuple[float, str, float]:
    """Step, state and time constant of the warning."""

    found = re.match(TOLD, str(told[0].message))
    assert found is not None
    return float(found[1]), found[2], float(found[3])
