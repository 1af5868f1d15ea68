"""How exactly guards are known, and what the constants of that mean, against errors that are measured."""

import math
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import mpmath as mp
import numpy as np
import pytest
from scipy.sparse import csr_array

from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.dormand_prince import DormandPrince
from acausal.dynamics.noise import CERTAIN, LOCATED, FlowNoise, StepNoise, lasting, rounded_chain
from acausal.dynamics.scan import FlowWatch
from acausal.dynamics.stepper import Demands
from acausal.reduction.rounding import ROUNDING, SUMMED
from acausal.simulation.clocks import Clock, Schedule
from acausal.simulation.instants.transition import SignTable
from acausal.simulation.self_check import ROUNDED, rounded_step

from .oracle import blocks, exact_state, generator, sinusoid
from .problems import Given, march, moving
from .test_scan import ARMED, OMEGA, crossing, sine_and_constant


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("R", [1e-3, 1e-6, 1e-9])
def test_what_follows_a_source_is_known_as_well_as_their_difference(R: float, constant: bool) -> None:
    """C v' = (u - v) / R - v / 50 with a sine u, also beside a constant: the flow (u - v) / R is C u' + v / 50, not u / R."""
    C = 1e-3
    u0, S, into = 325.0, sinusoid(OMEGA), [1.0, 0.0]
    y0 = [u0, u0, 0.0]
    if constant:
        S, into, y0 = blocks(S, np.zeros((1, 1))), [*into, 1.0], [u0 + 10.0, u0, 0.0, 10.0]
    B = np.array([into]) / (R * C)
    Ay, error, h = generator(-(1.0 / R + 1.0 / 50.0) / C, B, S), 1e-6, 2e-3
    flow, G = affine_flow(Ay, 1, 0.02), np.array([[-1.0 / R, *(B[0] * C)]])

    def noise(error: float) -> np.ndarray:
        found = FlowNoise(flow, G, G @ Ay, error)
        return np.array(moving(found, flow.start(np.array(y0)), h, h))

    moved = sum(abs(float(G[0] @ exact_state(Ay, h, unit))) for unit in np.diag(error * np.array(y0)))
    for found in (noise(error) - noise(0.0))[:, 0].tolist():
        assert moved * (1.0 - 1e-6) <= found <= 3.0 * moved


@pytest.mark.parametrize("T0", [1e-3, 2e-3, 1.0])
def test_what_is_zero_at_the_start_is_zero_up_to_its_noise_at_once(T0: float) -> None:
    """A mass on a spring, one that follows it at a distance, and one at rest: subspaces are apart to some thirty digits alone."""
    for stiffness in (20.0 / 9.0, 10.0 / 9.0, 0.3, 5.0, 10.0, 1e5 / 3.0):
        Ay = np.zeros((7, 7))
        Ay[0, 4:] = -stiffness, -7.0 / 6.0, 2.0 / 9.0
        Ay[1, 2] = Ay[3, 0] = Ay[4, 0] = 1.0
        y0 = np.array([0.0, 1.75, 0.0, 1.5, 0.0, 1.0, 5.5])
        flow = affine_flow(Ay, 5, T0)
        trajectory, noise = flow.start(y0), FlowNoise(flow, np.eye(7), Ay, 2.0 * ROUNDING)
        floor = moving(noise, trajectory, 0.0, 0.0)[0]
        assert (np.abs(trajectory.C @ flow.basis.at(0.0)) <= floor)[y0 == 0.0].all()


# -- what the constants mean: each test fails where its constant is a thousand times larger or smaller --------------------


def test_a_sum_of_a_few_products_is_off_by_its_rounding_and_hardly_less() -> None:
    rng = np.random.default_rng(3)
    worst = max(off_by(rng.normal(size=4), rng.normal(size=4)) for _ in range(3000))
    assert 0.05 * SUMMED < worst < SUMMED


def test_a_sum_of_what_was_itself_summed_is_off_by_its_rounding_and_hardly_less() -> None:
    """Coefficients and values are sums of sums: a product of five matrices against exact fractions."""
    rng = np.random.default_rng(5)
    worst = 0.0
    for _ in range(200):
        parts = [rng.normal(size=(4, 4)) for _ in range(5)]
        found, exact, terms = parts[0], to_fractions(parts[0]), np.abs(parts[0])
        for part in parts[1:]:
            found, exact, terms = found @ part, exact @ to_fractions(part), terms @ np.abs(part)
        worst = max(worst, float(np.max(np.abs(to_fractions(found) - exact) / terms)))
    assert 0.01 * ROUNDING < worst < ROUNDING


def off_by(a: np.ndarray, b: np.ndarray) -> float:
    """Error of a scalar product, in units of the sum of the magnitudes of its terms."""
    return float(
        abs(Fraction(float(a @ b)) - to_fractions(a) @ to_fractions(b))
        / Fraction(float(np.abs(a) @ np.abs(b)))
    )


def to_fractions(matrix: np.ndarray) -> np.ndarray:
    return np.vectorize(Fraction, otypes=[object])(matrix)


def test_a_crossing_is_located_to_a_few_places_of_time() -> None:
    found = []
    for height in np.linspace(0.05, 0.95, 41).tolist():
        G = np.array([[height, -1.0, 0.0]])
        hit = crossing(sine_and_constant(), G, ARMED, np.zeros(1), 0.1, 1.0)
        assert hit is not None
        found.append(abs((1.0 + hit[0]) - (1.0 + float(mp.asin(height) / OMEGA))) / math.ulp(1.0))
    assert 0.1 * LOCATED < max(found) < LOCATED


@pytest.mark.parametrize("period", [1e-6, 0.1, 50.0])
def test_ticks_are_together_within_rounding_of_their_period(period: float) -> None:
    schedule = Schedule((Clock(period, 0.0),))
    assert schedule.due(period * (1.0 - 1e-13), (1,)) == [True]
    assert schedule.due(period * (1.0 - 1e-10), (1,)) == [False]


def test_a_segment_sees_less_than_the_sign_test_at_its_begin() -> None:
    """What is deep enough to cross has a sign there, and little less has none."""
    Ay, forms, y = -np.eye(1), np.ones((1, 1)), np.ones(1)
    flow = affine_flow(Ay, 1, 1.0)
    data: Any = SimpleNamespace(
        Ay=Ay, states=np.arange(1), tau=1.0, chosen=None, balance=SimpleNamespace(z=y)
    )
    watch = FlowWatch(flow, np.zeros((1, 1)), data, forms, np.ones(1), np.array([True]), np.arange(1))
    along = moving(watch.noise, flow.start(y), 0.0, 0.0)[0].item()
    sign = SignTable(forms, data, 1.0).levels(y, CERTAIN)[1][0].item()
    assert sign < along < 10.0 * sign
    floors = [(watch.late(y, 1.0) + watch.known(y, error)).item() for error in (None, np.array([1e-9]))]
    assert 1e-9 < floors[1] - floors[0] < 1e-8
    assert LOCATED * math.ulp(1.0) < floors[0] < 10.0 * LOCATED * math.ulp(1.0)


@pytest.mark.parametrize(("depth", "crosses"), [(0.1, True), (1e-3, False)])
def test_a_touch_is_a_small_part_of_the_rounding(depth: float, crosses: bool) -> None:
    """A dip below zero and back, in units of the floor."""
    floor = 1e-6
    G = np.array([[1.0 - floor * depth, 1.0, 0.0]])
    hit = crossing(sine_and_constant(), G, ARMED, np.full(1, floor), 0.02)
    assert (hit is not None) == crosses


@pytest.mark.parametrize(("height", "crosses"), [(0.2, True), (2e-3, False)])
def test_what_leaves_zero_is_sought_again_from_a_part_of_the_rounding(height: float, crosses: bool) -> None:
    """A form known to rise to a height, in units of the floor, comes back and sinks to 0.6 below zero, which is no crossing."""
    sinks = 0.3
    rises = math.sqrt((height + sinks) ** 2 - sinks**2)
    G = np.array([[-sinks, rises, sinks / OMEGA]])
    hit = crossing(sine_and_constant(), G, ARMED, np.ones(1), math.tau / OMEGA)
    assert (hit is not None) == crosses
    if hit is not None:
        assert hit[0] == pytest.approx(2.0 * math.atan(rises / sinks) / OMEGA, rel=1e-12)


def test_what_integration_missed_is_a_few_estimated_errors() -> None:
    noise = StepNoise(np.zeros(1), np.zeros(1))
    noise.follow(0.0, np.zeros(1), np.ones(1))
    assert 1.0 < noise.touch.item() < 100.0
    assert noise.floor.item() == noise.touch.item()


def test_a_late_begin_lies_in_the_floor_and_in_no_touch() -> None:
    """What has left it knows nothing of it any more, and steps are not allowed to miss as much."""
    noise = StepNoise(np.full(1, 1e-9), np.ones(1))
    noise.follow(0.0, np.zeros(1), np.zeros(1))
    assert noise.floor.item() == 1.0 + 1e-9
    assert noise.touch.item() < noise.resolution.item() == 1e-9


@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-12])
@pytest.mark.parametrize("omega", [1.0, 1e4])
def test_what_a_step_follows_moves_by_its_size_while_its_rounding_lasts(rtol: float, omega: float) -> None:
    """An oscillation moves by its size within a radian."""
    problem = Given(lambda t, y: np.array([omega * y[1], -omega * y[0]]))
    stepper = DormandPrince(
        problem, 0.0, np.array([1.0, 0.0]), Demands(rtol, np.full(2, rtol)), span=10.0 / omega
    )
    lengths = [step.t1 - step.t0 for step in march(stepper, 10.0 / omega)]
    assert 0.5 < lasting(float(np.median(lengths)), rtol) * omega < 20.0


@pytest.mark.parametrize("product", [1e-6, 0.5, 1.0, 2.0, 1e6])
@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_rounding_of_what_grows_or_decays_within_a_step(sign: float, product: float) -> None:
    """What a rate that rounds makes of x' = a x, on the side on which it is small: growth over just the step raised an error."""
    h = 0.5
    rates, exact = np.array([[sign * product / h]]), -np.expm1(-product) / product * h * 3.0
    found = rounded_chain(rates, np.array([3.0]), h)[0] / ROUNDING
    assert 0.5 * exact <= found <= 2.0 * exact
    data: Any = SimpleNamespace(Ay=rates, sizes=(np.eye(1), np.eye(1)))
    assert rounded_step(data, np.array([3.0]), h)[0] / ROUNDED == pytest.approx(found, rel=1e-12)


def test_rounding_of_what_grows_beside_what_decays() -> None:
    h, terms = 0.5, np.array([3.0, 2.0])
    rates = np.diag([1.0, -1.0]) / h
    exact = -np.expm1(-1.0) * h * terms
    found = rounded_chain(rates, terms, h) / ROUNDING
    data: Any = SimpleNamespace(Ay=rates, sizes=(np.eye(2), np.eye(2)))
    for each in (found, rounded_step(data, terms, h) / ROUNDED):
        assert (0.5 * exact <= each).all()
        assert (each <= 2.0 * exact).all()


@pytest.mark.parametrize("sparse", [False, True])
def test_rounding_of_a_step_inverts_no_more_than_what_moves(
    sparse: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What has no rate stays: three constants for each of 400 tables made a matrix to be inverted of 1601 rows of one of 400."""
    rng, h, n = np.random.default_rng(3), 0.3, 9
    Ay = np.zeros((n, n))
    Ay[:4] = rng.normal(size=(4, n))
    terms, sizes, inverse = rng.uniform(1.0, 2.0, n), [], np.linalg.inv
    expected = np.min([np.abs(inverse(np.eye(n) - step * Ay)) @ terms for step in (h, -h)], axis=0)
    monkeypatch.setattr(np.linalg, "inv", lambda a: sizes.append(len(a)) or inverse(a))
    data: Any = SimpleNamespace(Ay=csr_array(Ay) if sparse else Ay, sizes=(np.eye(n), np.eye(n)))
    assert rounded_step(data, terms, h) / (ROUNDED * h) == pytest.approx(expected, rel=1e-12)
    assert sizes == [4, 4]
