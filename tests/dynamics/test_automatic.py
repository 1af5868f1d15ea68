"""Choice between the explicit and the implicit method while a problem is integrated."""

import numpy as np
import pytest

from acausal.dynamics.automatic import Automatic, Stiffness
from acausal.dynamics.dormand_prince import DormandPrince
from acausal.dynamics.problem import StepFailure
from acausal.dynamics.rosenbrock import Rosenbrock
from acausal.dynamics.stepper import Demands, Stepper

from .problems import Given, driven_logistic, march, pendulum, prothero_robinson, van_der_pol


class Counted:
    """A problem that counts its evaluations, Jacobians included."""

    def __init__(self, problem: Given) -> None:
        self._problem, self.rates, self.jacobians = problem, 0, 0

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        self.rates += 1
        return self._problem.rate(t, y)

    def forget(self) -> None:
        pass

    def jacobian(self, t: float, y: np.ndarray):
        self.jacobians += 1
        return self._problem.jacobian(t, y)


def start(problem, y: list[float], stiffness: Stiffness, rtol: float = 1e-6, t: float = 0.0) -> Automatic:
    atol = np.full(len(y), 1e-2 * rtol)
    return Automatic(problem, t, np.array(y), stiffness=stiffness, demands=Demands(rtol, atol), span=10.0)


def test_a_pendulum_is_left_to_the_explicit_method() -> None:
    problem, known = Counted(pendulum()), Stiffness()
    march(start(problem, [3.0, 0.0], known), 50.0)
    assert problem.jacobians == 0
    assert not known.stiff


def test_a_smooth_problem_is_as_accurate_as_by_the_explicit_method() -> None:
    problem, exact = driven_logistic()
    steps = march(start(problem, exact(np.array([0.0]))[0].tolist(), Stiffness()), 10.0)
    other = DormandPrince(problem, 0.0, exact(np.array([0.0]))[0], Demands(1e-6, np.full(2, 1e-8)), span=10.0)
    assert [s.t1 for s in steps] == [s.t1 for s in march(other, 10.0)]


@pytest.mark.parametrize("stiffness", [1e4, 1e6, 1e9])
def test_a_stiff_problem_costs_little_more_than_by_the_implicit_method(stiffness: float) -> None:
    given, exact = prothero_robinson(stiffness)
    counts = []
    for method in ("automatic", "implicit"):
        problem = Counted(given)
        stepper = (
            start(problem, [1.0], Stiffness())
            if method == "automatic"
            else Rosenbrock(problem, 0.0, np.array([1.0]), Demands(1e-6, np.array([1e-8])), span=10.0)
        )
        for step in march(stepper, 10.0):
            assert step.y1 == pytest.approx(exact(np.array([step.t1]))[0], abs=1e-5)
        counts.append(problem.rates + problem.jacobians)
    assert counts[0] < 1.5 * counts[1]


@pytest.mark.parametrize("mu", [10.0, 30.0, 100.0])
def test_each_phase_of_a_relaxation_oscillation_has_its_method(mu: float) -> None:
    """Stiff along the slow branches, not stiff where it jumps between them: Hairer and Wanner, IV.2.

    The eigenvalue ``mu**2 * (1 - y**2)`` is negative and large where ``y`` falls slowly from 2 to 1 in magnitude, and positive
    inside. Where a jump lands, at 2, short steps follow the transient.
    """
    known, found = Stiffness(), []
    stepper = start(van_der_pol(mu), [2.0, 0.0], known)
    while stepper.t < 5.0:
        stiff = known.stiff
        step = stepper.step(5.0)
        found.append((*step.y0, stiff, step.t1 - step.t0))
    y, v, chosen, h = np.array(found).T
    size, inwards, stiff = np.abs(y), y * v < 0.0, chosen == 1.0
    slow = inwards & (size > 1.2)
    jumps = (inwards & (size < 0.8)) | (~inwards & (size < 1.99))
    assert h[slow & stiff].sum() > 0.9 * h[slow].sum()
    assert stiff[slow & (size < 1.9)].all()
    assert jumps.any() and not stiff[jumps].any()
    landings = np.flatnonzero(slow[1:] & ~slow[:-1]) + 1
    assert len(landings) > 4
    assert not any(stiff[k : k + 10].any() for k in landings)


def test_what_was_found_serves_the_next_stepper() -> None:
    known = Stiffness()
    given, exact = prothero_robinson(1e6)
    march(start(given, [1.0], known), 1.0)
    assert known.stiff
    problem = Counted(given)
    stepper = start(problem, exact(np.array([1.0]))[0].tolist(), known, t=1.0)
    stepper.step(10.0)
    assert problem.jacobians == 1


def test_steps_join_where_the_method_changes() -> None:
    steps = march(start(van_der_pol(100.0), [2.0, 0.0], Stiffness()), 2.0)
    for one, two in zip(steps, steps[1:], strict=False):
        assert one.t1 == two.t0
        assert (one.y1 == two.y0).all()


def test_a_problem_without_components_goes_straight_to_the_limit() -> None:
    problem = Given(lambda t, y: y)
    stepper = Automatic(
        problem, 0.0, np.zeros(0), stiffness=Stiffness(), demands=Demands(1e-6, np.zeros(0)), span=1.0
    )
    assert stepper.step(3.0).t1 == 3.0 == stepper.t


def test_tolerances_that_change_hold_for_the_method_that_follows() -> None:
    known = Stiffness()
    stepper = start(prothero_robinson(1e6)[0], [1.0], known)
    stepper._demands.atol = np.array([1e-3])
    while not known.stiff:
        stepper.step(10.0)
    inner = stepper._stepper
    assert isinstance(inner, Stepper) and inner.demands.atol.tolist() == [1e-3]


class Once(Counted):
    """A problem whose rates at accepted points cannot be found again, as where several branches of a solution meet."""

    def __init__(self, problem: Given) -> None:
        super().__init__(problem)
        self.seen: set[tuple[float, bytes]] = set()

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        key = t, y.tobytes()
        if key in self.seen:
            raise StepFailure("solved coordinates jump")
        self.seen.add(key)
        return super().rate(t, y)


def test_a_change_of_method_goes_on_with_the_rate_that_is_known() -> None:
    known = Stiffness()
    given, exact = prothero_robinson(1e6)
    steps = march(start(Once(given), [1.0], known), 10.0)
    assert known.stiff
    assert steps[-1].y1 == pytest.approx(exact(np.array([10.0]))[0], abs=1e-5)
