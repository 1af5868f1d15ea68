"""An explicit method that notices where stability holds its steps."""

import numpy as np
import pytest

from acausal.dynamics.explicit import HELD, LONG, Explicit
from acausal.dynamics.stepper import Demands

from .problems import Given, march, pendulum, prothero_robinson


def start(problem: Given, y: list[float], rtol: float) -> Explicit:
    return Explicit(problem, 0.0, np.array(y), Demands(rtol, np.full(len(y), 1e-2 * rtol)), span=10.0)


def march_until_stiff(stepper: Explicit, end: float) -> None:
    while stepper.fastest is None and stepper.t < end:
        stepper.step(end)


@pytest.mark.parametrize(("stiffness", "rtol"), [(1e4, 1e-3), (1e4, 1e-6), (1e8, 1e-6), (1e8, 1e-9)])
def test_a_motion_that_has_died_away_is_told_with_its_time_constant(stiffness: float, rtol: float) -> None:
    problem, exact = prothero_robinson(stiffness)
    stepper = start(problem, [1.0], rtol)
    march_until_stiff(stepper, 10.0)
    found = stepper.fastest
    assert found is not None
    assert found.component == 0
    assert found.time_constant == pytest.approx(1.0 / stiffness, rel=1e-2)
    assert found.h == pytest.approx(3.3 / stiffness, rel=0.1)
    assert LONG <= stepper.work.held <= stepper.steps < LONG + 1000
    assert stepper.y == pytest.approx(exact(np.array([stepper.t]))[0], abs=10 * rtol)


@pytest.mark.parametrize("damping", [0.1, 0.2, 0.5, 0.8, 0.99])
def test_so_is_one_that_swung(damping: float) -> None:
    """The boundary of the stability domain is as far from zero for pairs of eigenvalues; a slow oscillation goes on beside."""
    w = 1e4
    A = np.zeros((4, 4))
    A[0, 1], A[1, 0] = 1.0, -1.0
    A[2, 3], A[3, 2], A[3, 3] = w, -w, -2.0 * damping * w
    A[3, 0] = w
    stepper = start(Given(lambda t, y: A @ y), [1.0, 0.0, 0.0, 0.0], 1e-6)
    march_until_stiff(stepper, 10.0)
    found = stepper.fastest
    assert found is not None
    assert found.component in (2, 3)
    assert found.time_constant == pytest.approx(1.0 / np.abs(np.linalg.eigvals(A)).max(), rel=0.3)
    assert stepper.steps < 5 * LONG


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize(("rtol", "end"), [(1e-6, 6000.0), (1e-3, 3000.0), (1e-1, 5000.0)])
def test_accuracy_holds_the_steps_along_an_oscillation_however_long_it_lasts(rtol: float, end: float) -> None:
    stepper = start(Given(lambda t, y: [y[1], -y[0]]), [1.0, 0.0], rtol)
    march(stepper, end)
    assert stepper.steps > (20000 if rtol == 1e-6 else 2 * LONG)
    assert stepper.fastest is None
    assert stepper.work.held < 0.01 * LONG


def test_so_it_does_where_a_fast_motion_would_allow_longer_steps() -> None:
    """What is left of it in every step, at 1.8 of its time constants, is all that the tolerance allows."""
    problem, _ = prothero_robinson(1e4)
    stepper = start(problem, [1.0], 1e-9)
    while stepper.steps < 3 * LONG:
        stepper.step(10.0)
    assert stepper.made * 1e4 == pytest.approx(1.8, abs=0.1)
    assert stepper.work.held == 0


@pytest.mark.parametrize("rtol", [1e-1, 1e-6])
def test_nor_does_stability_along_one_that_is_not_linear(rtol: float) -> None:
    stepper = start(pendulum(), [3.0, 0.0], rtol)
    march(stepper, 1000.0)
    assert stepper.work.lead < 10


def test_a_few_steps_that_stability_holds_are_no_stiffness() -> None:
    problem, _ = prothero_robinson(1e4)
    stepper = start(problem, [1.0], 1e-6)
    march(stepper, 0.3)
    assert 800 < stepper.work.held < LONG
    assert stepper.fastest is None


def test_no_motion_without_loss_is_held_that_far_from_zero() -> None:
    """Nor one that loses up to 5 % of its amplitude in a radian: the polynomial of stability says so."""
    h = 1j * HELD * np.exp(1j * np.linspace(0.0, 0.05, 50))
    assert (np.abs(np.polyval([1 / 600, 1 / 120, 1 / 24, 1 / 6, 1 / 2, 1, 1], h)) > 1.0).all()
