"""Orders of convergence, and errors in units of the tolerance, on problems with known solutions."""

import math

import numpy as np
import pytest

from acausal.dynamics.dormand_prince import DormandPrince
from acausal.dynamics.rosenbrock import Rosenbrock
from acausal.dynamics.step import Step
from acausal.dynamics.stepper import Demands, Stepper

from .problems import Given, driven_logistic, march, pendulum, prothero_robinson, robertson, van_der_pol

METHODS = pytest.mark.parametrize("method", [DormandPrince, Rosenbrock], ids=["DormandPrince", "Rodas5P"])


def fixed(method: type[Stepper], problem: Given, y: np.ndarray, steps: int, end: float) -> list[Step]:
    """Equal steps: the tolerance accepts everything, and the longest step decides."""
    h = end / steps
    stepper = method(problem, 0.0, y, Demands(1e9, np.full(y.size, 1e9), h), first_step=h, span=end)
    found = march(stepper, end)
    assert len(found) == steps
    return found


def observed(errors: list[float]) -> float:
    """Order from the last halving of the step."""
    return math.log2(errors[-2] / errors[-1])


def inner(steps: list[Step], theta: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, dense output and its slope of all steps."""
    times = [step.t0 + theta * (step.t1 - step.t0) for step in steps]
    values = [step.at(theta) for step in steps]
    return (
        np.concatenate(times),
        np.concatenate(values),
        np.concatenate([step.slope(theta) for step in steps]),
    )


@pytest.mark.parametrize(
    ("method", "order"),
    [(DormandPrince, 5), (Rosenbrock, 5)],
    ids=["DP", "Rodas5P"],
)
def test_order_of_convergence(method: type[Stepper], order: int) -> None:
    problem, exact = driven_logistic()
    y0, y1 = exact(np.array([0.0, 2.0]))
    errors = [np.abs(fixed(method, problem, y0, n, 2.0)[-1].y1 - y1).max() for n in (50, 100, 200)]
    assert observed(errors) == pytest.approx(order, abs=0.3)


@pytest.mark.parametrize(
    ("method", "order"),
    [(DormandPrince, 4), (Rosenbrock, 4)],
    ids=["DP", "Rodas5P"],
)
def test_order_of_the_dense_output(method: type[Stepper], order: int) -> None:
    # Locally one order higher: the step itself is exact to at least that order.
    problem, exact = driven_logistic()
    y0 = exact(np.array([0.6]))[0]
    theta = np.linspace(0.1, 0.9, 9)
    errors, slopes = [], []
    for h in (0.05, 0.025, 0.0125):
        stepper = method(problem, 0.6, y0, Demands(1e9, np.full(2, 1e9)), first_step=h, span=1.0)
        t, y, slope = inner([stepper.step(0.6 + h)], theta)
        errors.append(np.abs(y - exact(t)).max())
        derivative = [problem.rate(tk, yk) for tk, yk in zip(t, exact(t), strict=True)]
        slopes.append(np.abs(slope - derivative).max())
    assert observed(errors) == pytest.approx(order + 1, abs=0.4)
    assert observed(slopes) == pytest.approx(order, abs=0.4)


@pytest.mark.parametrize(("stiffness", "order"), [(1e2, 3.8), (1e4, 4.0), (1e6, 4.9)])
def test_no_order_reduction_on_a_stiff_problem(stiffness: float, order: float) -> None:
    """Steinebach 2023: Rodas5P keeps order 4 on the problem of Prothero and Robinson, where most methods fall to 1 or 2.

    Inside of steps the first error of what is infinitely stiff is taken away. In between, errors fall from those to the ones at
    the ends of steps.
    """
    problem, exact = prothero_robinson(stiffness)
    errors = []
    for n in (10, 20, 40):
        steps = fixed(Rosenbrock, problem, np.array([1.0]), n, 2.0)
        t, y, _ = inner(steps, np.linspace(0.0, 1.0, 11))
        errors.append(np.abs(y - exact(t)).max())
    assert math.log2(errors[0] / errors[-1]) / 2.0 > order
    assert errors[-1] < 3e-9


@METHODS
@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7, 1e-9])
def test_errors_are_of_the_order_of_the_tolerance(method: type[Stepper], rtol: float) -> None:
    problem, exact = driven_logistic()
    steps = march(
        method(problem, 0.0, exact(np.zeros(1))[0], Demands(rtol, np.full(2, rtol)), span=10.0), 10.0
    )
    t, y, _ = inner(steps, np.linspace(0.0, 1.0, 11))
    scale = rtol + rtol * np.abs(exact(t))
    assert (np.abs(y - exact(t)) / scale).max() < 10


@METHODS
@pytest.mark.parametrize("rtol", [1e-3, 1e-5, 1e-7, 1e-9])
def test_dense_output_is_as_accurate_as_the_steps(method: type[Stepper], rtol: float) -> None:
    problem, exact = driven_logistic()
    stepper = method(problem, 0.0, exact(np.zeros(1))[0], Demands(rtol, np.full(2, rtol)), span=10.0)
    for step in march(stepper, 10.0):
        t, y, _ = inner([step], np.linspace(0.0, 1.0, 11))
        errors = (np.abs(y - exact(t)) / (rtol + rtol * np.abs(exact(t)))).max(axis=1)
        assert errors.max() < max(errors[0], errors[-1]) + 2.0


@METHODS
def test_the_pendulum_against_elliptic_functions(method: type[Stepper]) -> None:
    from mpmath import ellipfun, ellipk, mp

    k = math.sin(0.5)
    t = 20.0
    with mp.workdps(30):
        # Released at rest from the angle 1: sin(angle / 2) = k sn(K + t, k).
        exact = float(2 * mp.asin(k * ellipfun("sn", ellipk(k**2) + t, m=k**2)))
    steps = march(method(pendulum(), 0.0, np.array([1.0, 0.0]), Demands(1e-9, np.full(2, 1e-9)), span=t), t)
    assert steps[-1].y1[0] == pytest.approx(exact, abs=1e-7)


@pytest.mark.parametrize("rtol", [1e-4, 1e-7])
def test_stiff_problem_of_prothero_and_robinson(rtol: float) -> None:
    problem, exact = prothero_robinson(1e7)
    stepper = Rosenbrock(problem, 0.0, np.array([1.0]), Demands(rtol, np.full(1, rtol)), span=10.0)
    t, y, _ = inner(march(stepper, 10.0), np.linspace(0.0, 1.0, 11))
    assert np.abs(y - exact(t)).max() < 20 * rtol
    assert stepper.steps < 400


def test_a_fast_transient_decays() -> None:
    problem, _ = prothero_robinson(1e6)
    stepper = Rosenbrock(problem, 0.0, np.array([3.0]), Demands(1e-6, np.full(1, 1e-6)), span=1.0)
    t, y, _ = inner(march(stepper, 1.0), np.linspace(0.0, 1.0, 11))
    # y - cos t = 2 exp(-1e6 t)
    assert np.abs(y[:, 0] - np.cos(t) - 2.0 * np.exp(-1e6 * t)).max() < 2e-5


def radau(problem: Given, y: list[float], times: list[float]) -> np.ndarray:
    from scipy.integrate import solve_ivp

    found = solve_ivp(
        problem.rate,
        (0.0, times[-1]),
        y,
        method="Radau",
        t_eval=times,
        rtol=1e-12,
        atol=1e-18,
        jac=lambda t, y: problem.jacobian(t, y)[0],
    )
    return found.y.T


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-8])
def test_robertson_against_radau(rtol: float) -> None:
    times = [0.4, 4.0, 40.0]
    reference = radau(robertson(), [1.0, 0.0, 0.0], times)
    atol = rtol * np.array([1e-4, 1e-8, 1e-4])
    stepper = Rosenbrock(robertson(), 0.0, np.array([1.0, 0.0, 0.0]), Demands(rtol, atol), span=40.0)
    for t, y in zip(times, reference, strict=True):
        march(stepper, t)
        assert stepper.t == t
        assert np.abs(stepper.y / y - 1.0).max() < 5 * rtol


def test_robertson_over_eleven_decades() -> None:
    # F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008), problem ROBER.
    reference = [0.2083340149701255e-07, 0.8333360770334713e-13, 0.9999999791665050]
    y0 = np.array([1.0, 0.0, 0.0])
    stepper = Rosenbrock(robertson(), 0.0, y0, Demands(1e-7, np.full(3, 1e-18)), span=1e11)
    march(stepper, 1e11)
    assert stepper.y == pytest.approx(reference, rel=1e-6, abs=0)
    assert stepper.steps < 1000


def test_stiff_van_der_pol() -> None:
    # F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008), problem VDPOL.
    reference = [0.1706167732170483e1, -0.8928097010247975]
    stepper = Rosenbrock(
        van_der_pol(1000.0), 0.0, np.array([2.0, 0.0]), Demands(1e-7, np.full(2, 1e-9)), span=2.0
    )
    march(stepper, 2.0)
    assert stepper.y == pytest.approx(reference, rel=1e-6)


@pytest.mark.sweep(every=6)
@METHODS
def test_van_der_pol_against_scipy(method: type[Stepper]) -> None:
    problem = van_der_pol(5.0)
    reference = radau(problem, [2.0, 0.0], [0.5, 2.0])
    stepper = method(problem, 0.0, np.array([2.0, 0.0]), Demands(1e-8, np.full(2, 1e-8)), span=2.0)
    for t, y in zip([0.5, 2.0], reference, strict=True):
        march(stepper, t)
        assert stepper.y == pytest.approx(y, rel=1e-5)
