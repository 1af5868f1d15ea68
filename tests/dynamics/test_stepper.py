"""Control of the step: limits, failures, first step, linear algebra, counts."""

import math
import pickle

import numpy as np
import pytest

from acausal.dynamics.dormand_prince import DormandPrince
from acausal.dynamics.problem import StepFailure, StepSizeError
from acausal.dynamics.rosenbrock import Rosenbrock
from acausal.dynamics.step import Step
from acausal.dynamics.stepper import Demands, Stepper

from .problems import Given, driven_logistic, heat, march, pendulum, prothero_robinson

METHODS = pytest.mark.parametrize("method", [DormandPrince, Rosenbrock], ids=["DormandPrince", "Rodas5P"])


def start(method: type[Stepper], problem: Given, y: list[float], **options: float) -> Stepper:
    settings = {"span": 10.0, **options}
    demands = Demands(settings.pop("rtol", 1e-6), np.full(len(y), 1e-9), settings.pop("max_step", math.inf))
    return method(problem, 0.0, np.array(y, dtype=float), demands, **settings)


def decay(rate: float = 1.0) -> Given:
    return Given(lambda t, y: -rate * y, lambda t, y: (-rate * np.eye(y.size), np.zeros(y.size)))


@METHODS
def test_a_step_ends_exactly_on_a_near_limit(method: type[Stepper]) -> None:
    stepper = start(method, pendulum(), [1.0, 0.0])
    limits = [0.1, 0.1 + 1e-9, 0.3, math.nextafter(0.3, 1.0), 1.7]
    for limit in limits:
        steps = march(stepper, limit)
        assert steps[-1].t1 == limit == stepper.t
        assert all(step.t1 <= limit for step in steps)


@METHODS
def test_a_short_step_to_a_limit_does_not_shorten_the_next(method: type[Stepper]) -> None:
    stepper = start(method, pendulum(), [1.0, 0.0])
    march(stepper, 2.0)
    h = stepper.h
    stepper.step(2.0 + 1e-6 * h)
    assert stepper.h >= h


@METHODS
def test_steps_join(method: type[Stepper]) -> None:
    steps = march(start(method, pendulum(), [1.0, 0.0]), 5.0)
    for one, two in zip(steps, steps[1:], strict=False):
        assert one.t1 == two.t0
        assert (one.y1 == two.y0).all()
    for step in steps:
        ends = step.at(np.array([0.0, 1.0]))
        assert (ends[0] == step.y0).all()
        assert ends[1] == pytest.approx(step.y1, rel=4e-16, abs=4e-16)


@METHODS
def test_an_accepted_step_does_not_change_later(method: type[Stepper]) -> None:
    stepper = start(method, pendulum(), [1.0, 0.0])
    step = stepper.step(10.0)
    theta = np.linspace(0.0, 1.0, 5)
    before = step.at(theta)
    march(stepper, 10.0)
    assert (step.at(theta) == before).all()


@METHODS
def test_a_row_of_the_dense_output_does_not_depend_on_the_others(method: type[Stepper]) -> None:
    step = start(method, pendulum(), [1.0, 0.0]).step(10.0)
    theta = np.linspace(0.0, 1.0, 13)
    for k in range(13):
        assert (step.at(theta)[k] == step.at(theta[k : k + 1])[0]).all()
        assert (step.at(theta)[k] == step.at(float(theta[k]))).all()
        assert (step.slope(theta)[k] == step.slope(theta[k : k + 1])[0]).all()
        assert (step.slope(theta)[k] == step.slope(float(theta[k]))).all()


def test_the_slope_is_the_derivative_of_the_polynomial() -> None:
    bend = np.array([[1.0, -2.0], [0.5, 3.0], [-1.5, 0.25]])
    step = Step(2.0, 4.0, np.array([1.0, 2.0]), np.array([-1.0, 5.0]), bend, np.zeros((1, 2)))
    for k in range(2):
        p = np.polynomial.Polynomial
        c, s, rest = p(bend[:, k]), p([0.0, 1.0]), p([1.0, -1.0])
        whole = step.y0[k] + s * ((step.y1[k] - step.y0[k]) + rest * c)
        theta = np.linspace(0.0, 1.0, 7)
        assert step.at(theta)[:, k] == pytest.approx(whole(theta), abs=1e-14)
        assert step.slope(theta)[:, k] == pytest.approx(whole.deriv()(theta) / 2.0, abs=1e-14)


@METHODS
def test_without_components_a_step_goes_to_the_limit(method: type[Stepper]) -> None:
    stepper = start(method, decay(), [])
    step = stepper.step(7.0)
    assert (step.t0, step.t1, stepper.t) == (0.0, 7.0, 7.0)
    assert step.at(np.linspace(0, 1, 3)).shape == step.slope(np.linspace(0, 1, 3)).shape == (3, 0)
    assert (stepper.steps, stepper.work.evaluations, stepper.work.jacobians) == (1, 0, 0)


@METHODS
def test_a_limit_in_the_past_is_refused(method: type[Stepper]) -> None:
    with pytest.raises(ValueError, match="does not lie after"):
        start(method, decay(), [1.0]).step(0.0)


@METHODS
def test_no_step_is_longer_than_allowed(method: type[Stepper]) -> None:
    steps = march(start(method, decay(), [1.0], max_step=0.125), 2.0)
    assert max(step.t1 - step.t0 for step in steps) == 0.125


@METHODS
def test_a_trial_outside_the_domain_is_repeated_with_half_the_step(method: type[Stepper]) -> None:
    # Torricelli: y' = -2 sqrt(y), y = (1 - t)^2 until the vessel is empty.
    failures = []

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        if y[0] < 0.0:
            failures.append(t)
            raise StepFailure
        return -2.0 * np.sqrt(y)

    problem = Given(rate, lambda t, y: (-1.0 / np.sqrt(y)[:, None], np.zeros(1)))
    stepper = start(method, problem, [1.0], first_step=5.0)
    steps = march(stepper, 0.999)
    assert failures
    assert stepper.work.rejections >= 1
    assert steps[-1].y1[0] == pytest.approx(0.001**2, rel=1e-2)
    assert stepper.y[0] > 0.0


@METHODS
def test_a_trial_that_is_not_finite_counts_as_failure(method: type[Stepper]) -> None:
    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return -2.0 * np.sqrt(y)  # not a number below zero

    problem = Given(rate, lambda t, y: (-1.0 / np.sqrt(y)[:, None], np.zeros(1)))
    stepper = start(method, problem, [1.0], first_step=5.0)
    assert march(stepper, 0.99)[-1].y1[0] == pytest.approx(0.01**2, rel=1e-3)
    assert stepper.work.rejections >= 1


@METHODS
def test_no_step_ends_where_the_rate_has_no_value(method: type[Stepper]) -> None:
    def rate(t: float, y: np.ndarray) -> np.ndarray:
        if y[0] > 1.0:
            raise StepFailure
        return np.ones(1)

    problem = Given(rate, lambda t, y: (np.zeros((1, 1)), np.zeros(1)))
    stepper = start(method, problem, [0.0])
    with pytest.raises(StepSizeError) as caught:
        march(stepper, 2.0)
    assert stepper.y[0] == pytest.approx(1.0, abs=1e-14)
    assert stepper.y[0] <= 1.0
    assert caught.value.t == stepper.t
    assert caught.value.component is None
    assert 0.0 < caught.value.h < 1e-13


@METHODS
def test_a_finite_escape_time_ends_with_an_error(method: type[Stepper]) -> None:
    # y' = y^2 has a pole at t = 1; the other component is harmless.
    problem = Given(lambda t, y: [0.0, y[1] ** 2], lambda t, y: ([[0.0, 0.0], [0.0, 2.0 * y[1]]], [0.0, 0.0]))
    stepper = start(method, problem, [1.0, 1.0])
    with pytest.raises(StepSizeError) as caught:
        march(stepper, 2.0)
    assert caught.value.component == 1
    assert caught.value.t == pytest.approx(1.0, abs=1e-6)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.t, again.component, again.h) == (caught.value.t, 1, caught.value.h)


@METHODS
def test_endless_failures_at_the_start_end_with_an_error(method: type[Stepper]) -> None:
    def rate(t: float, y: np.ndarray) -> np.ndarray:
        if t > 0.0:
            raise StepFailure
        return np.ones(1)

    stepper = start(method, Given(rate, lambda t, y: (np.zeros((1, 1)), np.zeros(1))), [0.0])
    with pytest.raises(StepSizeError, match="trials"):
        stepper.step(1.0)


@METHODS
def test_a_start_without_a_rate_is_refused(method: type[Stepper]) -> None:
    def fails(t: float, y: np.ndarray) -> np.ndarray:
        raise StepFailure

    with pytest.raises(StepSizeError, match="cannot be evaluated at t = 0.0"):
        start(method, Given(fails), [1.0])
    with pytest.raises(StepSizeError, match="not finite") as caught:
        start(method, Given(lambda t, y: [0.0, math.nan]), [1.0, 1.0])
    assert (caught.value.component, caught.value.h) == (1, 0.0)


def test_a_singular_matrix_of_a_step_is_avoided() -> None:
    # y' = y: I / (gamma h) - 1 vanishes for the first trial.
    from acausal.dynamics.rosenbrock_tableaus import RODAS5P

    problem = Given(lambda t, y: y, lambda t, y: (np.eye(1), np.zeros(1)))
    h = 1.0 / RODAS5P.gamma
    stepper = start(Rosenbrock, problem, [1.0], first_step=h)
    march(stepper, 10.0)
    assert stepper.work.rejections >= 1
    assert stepper.y[0] == pytest.approx(math.exp(10.0), rel=1e-4)


@METHODS
@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e6])
def test_steps_do_not_depend_on_the_unit_of_time(method: type[Stepper], unit: float) -> None:
    problem = Given(
        lambda t, y: np.array([y[1], -math.sin(y[0])]) / unit,
        lambda t, y: (np.array([[0.0, 1.0], [-math.cos(y[0]), 0.0]]) / unit, np.zeros(2)),
    )
    steps = march(start(method, problem, [1.0, 0.0], span=10.0 * unit), 10.0 * unit)
    reference = march(start(method, pendulum(), [1.0, 0.0]), 10.0)
    assert len(steps) == len(reference)
    assert [step.t1 / unit for step in steps] == pytest.approx([step.t1 for step in reference], rel=1e-6)


@METHODS
@pytest.mark.parametrize("y", [[1.0, 0.0], [0.0, 0.0], [1e-12, 1e5]])
def test_the_first_step_is_neither_rejected_often_nor_wasteful(method: type[Stepper], y: list[float]) -> None:
    stepper = start(method, pendulum(), y)
    first = stepper.h
    stepper.step(10.0)
    assert stepper.work.rejections <= 1
    assert 0.0 < first <= 10.0


@METHODS
def test_rest_is_kept_exactly(method: type[Stepper]) -> None:
    steps = march(start(method, pendulum(), [0.0, 0.0]), 10.0)
    assert all((step.at(np.linspace(0, 1, 5)) == 0.0).all() for step in steps)
    assert len(steps) < 20


def test_a_sparse_jacobian_gives_the_same_solution() -> None:
    y = np.sin(np.linspace(0.0, math.pi, 32)[1:-1])
    found = []
    for sparse in (False, True):
        stepper = start(Rosenbrock, heat(30, sparse), list(y), span=1.0)
        found.append((stepper, march(stepper, 1.0)))
    (dense, some), (sparse, others) = found
    assert dense.steps == sparse.steps
    assert sparse.y == pytest.approx(dense.y, rel=1e-9)
    assert [step.t1 for step in others] == pytest.approx([step.t1 for step in some], rel=1e-6)


@METHODS
def test_a_run_repeats_to_the_bit(method: type[Stepper]) -> None:
    def run() -> list:
        problem, exact = driven_logistic()
        steps = march(start(method, problem, list(exact(np.zeros(1))[0])), 5.0)
        return [(step.t1, step.y1.tobytes(), step.dense.tobytes()) for step in steps]

    assert run() == run()


@METHODS
def test_a_problem_may_return_the_same_array_each_time(method: type[Stepper]) -> None:
    class Reusing(Given):
        buffer = np.zeros(2)

        def rate(self, t: float, y: np.ndarray) -> np.ndarray:
            self.buffer[:] = super().rate(t, y)
            return self.buffer

    plain = pendulum()
    reusing = Reusing(plain._rate, plain._jacobian)
    one, two = (start(method, problem, [1.0, 0.0]) for problem in (plain, reusing))
    march(one, 3.0)
    march(two, 3.0)
    assert (one.y == two.y).all()


def test_counts_of_the_explicit_method() -> None:
    calls = []
    problem = Given(lambda t, y: (calls.append(t), -y)[1])
    stepper = start(DormandPrince, problem, [1.0])
    march(stepper, 10.0)
    assert stepper.work.evaluations == len(calls) == 2 + 7 * (stepper.steps + stepper.work.rejections)
    assert stepper.work.jacobians == stepper.work.factorisations == 0


def test_counts_of_the_implicit_method() -> None:
    problem, _ = prothero_robinson(100.0)
    stepper = start(Rosenbrock, problem, [3.0], first_step=1.0)
    march(stepper, 10.0)
    assert stepper.work.rejections >= 1
    assert stepper.work.jacobians == stepper.steps
    assert stepper.work.factorisations == stepper.steps + stepper.work.rejections
    # In a trial seven stages and one inner point; the first stage was evaluated at the end of the step before.
    assert stepper.work.evaluations == 1 + 8 * stepper.work.factorisations + stepper.steps
