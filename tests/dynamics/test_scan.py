"""Guard crossings against exact times and against dense sampling."""

from __future__ import annotations

import math

import mpmath as mp
import numpy as np
import pytest

from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.closed_form import AffineFlow, Trajectory
from acausal.dynamics.location import locate
from acausal.dynamics.scan import Closed, Floor, Hit, first_crossing

from .oracle import blocks, chain, exact_state, generator, sinusoid

OMEGA = 314.0
ARMED = np.array([True])
SILENT = np.array([False])


def sources(*parts: np.ndarray, y0: list[float]) -> Trajectory:
    """Trajectory of an exosystem alone."""
    S = blocks(*parts)
    return affine_flow(generator(np.zeros((0, 0)), np.zeros((0, len(S))), S), 0, 0.02).start(np.array(y0))


def sine_and_constant(phase: float = 0.0, size: float = 1.0) -> Trajectory:
    """``size`` times [1, sin(w t + phase), w cos(w t + phase)]."""
    y0 = [size, size * math.sin(phase), size * OMEGA * math.cos(phase)]
    return sources(np.zeros((1, 1)), sinusoid(OMEGA), y0=y0)


def crossing(
    trajectory: Trajectory, G: np.ndarray, armed: np.ndarray, floor: np.ndarray, h_end: float, t0: float = 0.0
) -> Hit | None:
    """The first crossing where nothing but a floor of the values counts as zero."""
    return first_crossing(trajectory, G, armed, lambda: Floor(floor), h_end, t0)


def resolution(h: float, slope: float, size: float) -> float:
    """Adjacent doubles, or what the rounding of the guard leaves of the time."""
    return 2 * math.ulp(h) + 4e-16 * size / slope


@pytest.mark.parametrize("k", range(1, 10))
def test_both_crossings_of_a_grazing_guard(k: int) -> None:
    amplitude = 1 + 10.0**-k
    angle = mp.asin(1 / mp.mpf(amplitude))
    first, second = float(angle / OMEGA), float((mp.pi - angle) / OMEGA)
    slope = OMEGA * math.sqrt(2 * 10.0**-k)
    G, floor = np.array([[1.0, -amplitude, 0.0]]), np.array([2e-10])
    trajectory = sine_and_constant()
    hit = crossing(trajectory, G, ARMED, floor, 0.1)
    assert hit is not None
    assert abs(hit[0] - first) <= resolution(first, slope, 2.0)
    middle = math.pi / OMEGA / 2
    back = crossing(AffineFlow.start(trajectory.flow, trajectory.at(middle)), -G, ARMED, floor, 0.1)
    assert back is not None
    assert abs(middle + back[0] - second) <= resolution(second, slope, 2.0) + 4 * math.ulp(middle)


@pytest.mark.parametrize(("touch", "crosses"), [(0.1, False), (0.01, True)])
def test_a_dip_is_a_crossing_below_the_depth_of_a_touch(touch: float, crosses: bool) -> None:
    G, floor = np.array([[1.0, -1.05, 0.0]]), np.array([2e-10])
    depth = Floor(floor, missed=np.array([touch]))
    hit = first_crossing(sine_and_constant(), G, ARMED, lambda: depth, 0.1)
    assert (hit is not None) == crosses
    if hit is not None:
        assert hit[0] == pytest.approx(math.asin(1 / 1.05) / OMEGA, rel=1e-13)


def test_touch_is_no_crossing() -> None:
    assert crossing(sine_and_constant(), np.array([[1.0, -1.0, 0.0]]), ARMED, np.array([2e-10]), 0.1) is None


@pytest.mark.parametrize("size", [1.0, 1e-4, 1e-6, 1e-9])
def test_guard_positive_for_a_short_part_of_each_period(size: float) -> None:
    level = math.cos(OMEGA * 0.15e-3)
    G = np.array([[level, -1.0, 0.0]])
    floor = np.array([2e-10 * size + 1e-12])
    trajectory = sine_and_constant(0.3, size)
    angle = mp.asin(mp.mpf(level))
    opening = float((angle - mp.mpf("0.3")) / OMEGA)
    hit = crossing(trajectory, G, ARMED, floor, 0.1)
    assert hit is not None
    slope = OMEGA * math.sqrt(1 - level**2)
    assert abs(hit[0] - opening) <= resolution(opening, slope, 2.0)
    inside = trajectory.flow.start(trajectory.at(opening + 0.15e-3))
    hit = crossing(inside, -G, ARMED, floor, 0.1)
    assert hit is not None
    assert abs(hit[0] - 0.15e-3) <= 4 * math.ulp(opening) + resolution(opening, slope, 2.0)


def test_two_crossings_within_a_microsecond() -> None:
    # (t - a)^2 - b^2 with a = 0.3, b = 0.5e-6 as value and derivatives at t = 0.
    a, b = 0.3, 0.5e-6
    trajectory = sources(chain(3), y0=[a * a - b * b, -2 * a, 2.0])
    hit = crossing(trajectory, np.array([[1.0, 0.0, 0.0]]), ARMED, np.array([1e-15]), 1.0)
    assert hit is not None
    assert hit[0] == pytest.approx(a - b, abs=1e-9)


def test_guard_that_leaves_zero_is_silent_until_its_next_zero() -> None:
    hit = crossing(sine_and_constant(), np.array([[0.0, 1.0, 0.0]]), ARMED, np.array([1e-10]), 1.0)
    assert hit is not None
    assert abs(hit[0] - math.pi / OMEGA) <= 4 * math.ulp(hit[0])


def test_rounding_residue_below_zero_is_no_crossing() -> None:
    trajectory = sources(np.zeros((1, 1)), sinusoid(OMEGA), y0=[1.0, -3e-17, OMEGA])
    hit = crossing(trajectory, np.array([[0.0, 1.0, 0.0]]), ARMED, np.array([1e-10]), 1.0)
    assert hit is not None
    assert abs(hit[0] - math.pi / OMEGA) <= 4 * math.ulp(hit[0])


def test_guard_with_zero_value_and_slope_but_positive_curvature() -> None:
    # 1 - cos(w t) touches zero after each period; with one per mille more it crosses.
    trajectory = sine_and_constant(math.pi / 2)
    floor = np.array([2e-10])
    assert crossing(trajectory, np.array([[1.0, -1.0, 0.0]]), ARMED, floor, 0.1) is None
    lowered = sources(chain(2), sinusoid(OMEGA), y0=[1.0, -1e-3, 1.0, 0.0])
    hit = crossing(lowered, np.array([[1.0, 0.0, -1.0, 0.0]]), SILENT, floor, 0.1)
    assert hit is not None
    # 1 - 1e-3 t - cos(w t): starts downwards, but its first dip of 5e-12 stays below the noise.
    root = mp.findroot(lambda t: 1 - mp.mpf(1e-3) * t - mp.cos(OMEGA * t), 0.01999)
    assert abs(hit[0] - float(root)) <= 1e-9 * hit[0]


def test_silent_guard_reacts_to_a_cubic_departure() -> None:
    falling = sources(chain(4), y0=[0.0, 0.0, 0.0, -6.0])
    floor = np.array([1e-9])
    hit = crossing(falling, np.array([[1.0, 0.0, 0.0, 0.0]]), SILENT, floor, 1.0)
    assert hit is not None
    assert hit[0] == pytest.approx(1e-3, rel=1e-9)
    rising = sources(chain(5), y0=[0.0, 0.0, 0.0, 6.0, -24.0])
    hit = crossing(rising, np.array([[1.0, 0.0, 0.0, 0.0, 0.0]]), SILENT, floor, 2.0)
    assert hit is not None
    assert abs(hit[0] - 1.0) <= 8 * math.ulp(1.0)


def test_silent_guard_below_its_noise_never_triggers() -> None:
    trajectory = sine_and_constant(0.0, 1e-12)
    assert crossing(trajectory, np.array([[0.0, 1.0, 0.0]]), SILENT, np.array([1e-11]), 1.0) is None
    assert crossing(trajectory, np.zeros((1, 3)), SILENT, np.array([0.0]), 1.0) is None


def test_guard_below_its_noise_at_the_start_has_triggered() -> None:
    G = np.array([[1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    assert crossing(sine_and_constant(), G, np.array([True, True]), np.full(2, 1e-10), 1.0) == (0.0, 1)


def test_decay_to_zero_is_no_crossing() -> None:
    Ay = generator([[-1e3, 500.0], [300.0, -2e3]], [[0.0], [0.0]], [[0.0]])
    trajectory = affine_flow(Ay, 2, 1e-3).start(np.array([1.0, 0.5, 1.0]))
    assert crossing(trajectory, np.array([[1.0, 0.0, 0.0]]), ARMED, np.array([1e-10]), 10.0) is None


@pytest.mark.parametrize("rate", [1e4, 1e9, 1e13])
def test_crossing_during_a_fast_transient(rate: float) -> None:
    Ay = generator([[-rate]], [[rate]], [[0.0]])
    trajectory = affine_flow(Ay, 1, 2e-5).start(np.array([3.0, -1.0]))
    hit = crossing(trajectory, np.array([[1.0, 0.0]]), ARMED, np.array([1e-10]), 5e-6 if rate > 1e6 else 1.0)
    exact = math.log(4.0) / rate
    assert hit is not None
    assert hit[0] == pytest.approx(exact, rel=4e-16 * 4)


def test_fast_transient_beside_a_slow_guard_costs_no_crossing() -> None:
    Ay = generator([[-1e13, -1 / 47e-6], [1e4, -2000.0]], [[1e5], [0.0]], [[0.0]])
    y0 = np.array([1e-3, 5.0, 12.0])
    trajectory = affine_flow(Ay, 2, 2e-5).start(y0)
    G = np.array([[1.0, 1.0, -0.25]])
    hit = crossing(trajectory, G, ARMED, np.array([1e-9]), 1.0)
    assert hit is not None
    h = hit[0]
    assert abs(float(G[0] @ exact_state(Ay, h, y0))) <= 4e-15 * 6.0


def test_time_is_resolved_to_doubles_of_absolute_time() -> None:
    t0 = 1234.5
    hit = crossing(sine_and_constant(0.1), np.array([[0.0, 1.0, 0.0]]), ARMED, np.array([1e-10]), 1.0, t0)
    exact = float((mp.pi - mp.mpf("0.1")) / OMEGA)
    assert hit is not None
    assert abs(hit[0] - exact) <= math.ulp(t0)


@pytest.mark.parametrize("t0", [0.0, 1024.0])
def test_equal_times_go_to_the_first_guard_and_earlier_ones_win(t0: float) -> None:
    G = np.array([[0.5, -1.0, 0.0], [1.0, -2.0, 0.0], [0.4, -1.0, 0.0]])
    floor, armed = np.full(3, 1e-10), np.ones(3, bool)
    hit = crossing(sine_and_constant(), G[[1, 0]], armed[:2], floor[:2], 1.0, t0)
    assert hit is not None
    assert hit[1] == 0
    hit = crossing(sine_and_constant(), G, armed, floor, 1.0, t0)
    assert hit is not None
    assert hit[1] == 2


def test_crossing_beyond_the_first_piece() -> None:
    # x' = -3 x + t from x = 0 against 0.3: x(t) = (3 t - 1 + exp(-3 t)) / 9.
    Ay = generator([[-3.0]], [[1.0, 0.0, 0.0]], blocks(chain(2), np.zeros((1, 1))))
    trajectory = affine_flow(Ay, 1, 0.02).start(np.array([0.0, 0.0, 1.0, 1.0]))
    hit = crossing(trajectory, np.array([[-1.0, 0.0, 0.0, 0.3]]), ARMED, np.array([1e-11]), 5.0)
    root = mp.findroot(lambda t: (3 * t - 1 + mp.exp(-3 * t)) / 9 - mp.mpf(0.3), 1.2)
    assert trajectory.reach < 0.5
    assert hit is not None
    assert abs(hit[0] - float(root)) <= 4e-15


@pytest.mark.parametrize("block", range(8))
def test_random_modes_against_dense_samples(block: int) -> None:
    for seed in range(25 * block, 25 * block + 25):
        rng = np.random.default_rng(seed)
        n = int(rng.integers(1, 6))
        A = rng.normal(size=(n, n)) * 10 ** rng.uniform(0, 3)
        A -= np.eye(n) * max(0.0, np.linalg.eigvals(A).real.max() * rng.choice([1.0, 1.5]))
        omega = 2 * np.pi * 10 ** rng.uniform(0, 3)
        B = rng.normal(size=(n, 3)) * 10 ** rng.uniform(0, 3) * [1.0, 1.0, 1 / omega]
        Ay = generator(A, B, blocks(np.zeros((1, 1)), sinusoid(omega)))
        y0 = rng.normal(size=n + 3) * np.r_[np.ones(n + 2), omega]
        G = rng.normal(size=(3, n + 3)) * np.r_[np.ones(n + 2), 1 / omega]
        G *= np.sign(G @ y0)[:, None]
        end = 10 ** rng.uniform(-2, 0)
        check_against_samples(Ay, n, y0, G, end)


def check_against_samples(Ay: np.ndarray, n: int, y0: np.ndarray, G: np.ndarray, end: float) -> None:
    """No sample before the crossing is negative, and the guard passes downwards through zero there."""
    trajectory = affine_flow(Ay, n, 0.02).start(y0)
    floor = 1e-10 * np.abs(G) @ np.abs(y0)
    hit = crossing(trajectory, G, np.ones(3, bool), floor, end)
    hs = np.linspace(0.0, end, 5000)
    guards = trajectory.sample(hs) @ G.T
    negative = (guards < -floor).any(1)
    if hit is None:
        assert not negative.any()
        return
    h, k = hit
    assert not negative[hs < h].any()
    y = trajectory.at(h)
    slope = float(G[k] @ Ay @ y)
    assert slope < 0.0
    terms = float((np.abs(G) @ np.abs(trajectory.C) @ np.ones(trajectory.C.shape[1]))[k])
    assert abs(float(G[k] @ y)) <= 2 * math.ulp(h) * -slope + 1e-15 * terms


@pytest.mark.parametrize("late", [0.0, 1e-12, 1e-3])
def test_two_guards_with_one_root_at_the_edge_of_an_interval(late: float) -> None:
    flow = sources(np.zeros((1, 1)), sinusoid(OMEGA), y0=[1.0, 0.0, OMEGA]).flow
    row = np.array([0.5, -1.0, 0.0]) @ flow.start(np.array([1.0, 0.0, OMEGA])).C
    closed = Closed(flow.basis, row, 0.0)
    root = math.pi / 6 / OMEGA
    edge = root + late
    assert abs(locate(closed.at, edge, edge, edge, 0.0) - root) <= resolution(root, 0.5 * OMEGA, 1.0)


class Staircase:
    """A line that falls through zero at `root`, as rounding leaves it: flat stairs, the one at zero at `residue`."""

    stair = 2.0**-53
    derivative = np.array([[0.0, 1.0], [0.0, 0.0]])

    def __init__(self, root: float, slope: float, residue: float) -> None:
        self.root, self.slope, self.residue = root, slope, residue
        self.calls = 0

    def at(self, h: float) -> np.ndarray:
        self.calls += 1
        stairs = math.floor((self.root - h) * self.slope / self.stair)
        return np.array([stairs * self.stair + self.residue, -self.slope])


@pytest.mark.parametrize("t0", [0.0, 1.0])
@pytest.mark.parametrize("slope", [1e-6, 1.4, 1e6])
@pytest.mark.parametrize("residue", [0.0, 1e-25, 2.7e-19, -2.7e-19, 5e-17])
def test_newton_does_not_creep_along_a_stair_of_rounding(residue: float, slope: float, t0: float) -> None:
    stairs = Staircase(1.4e-5, slope, residue)
    closed = Closed(stairs, np.array([1.0, 0.0]), 0.0)  # type: ignore[arg-type]
    # Newton's first step from the middle of the bracket already ends on the stairs next to the root.
    h = locate(closed.at, stairs.root - 1e-9, stairs.root + 5e-9, stairs.root + 2e-9, t0)
    # A residue below zero moves the end of the positive values by one stair.
    assert abs(h - stairs.root) <= stairs.stair / slope + math.ulp(t0 + h)
    assert closed.value(h) <= 0.0
    assert stairs.calls <= 128
