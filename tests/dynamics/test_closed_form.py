"""Flow of affine modes against the matrix exponential in multiple precision."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.sparse import csr_array

from acausal import (
    Component,
    Discrete,
    Eq,
    NonFiniteError,
    Parameter,
    Statement,
    Variable,
    assign,
    der,
    simulate,
    time,
    when,
)
from acausal.dynamics.assembly import affine_flow, flow_of_sources
from acausal.dynamics.closed_form import Trajectory

from .oracle import blocks, chain, exact_state, generator, ladder, sinusoid

# A few rounding errors, grown by at most 1 / (eigenvalue T0) where sources are split off.
TOLERANCE = 5e-15


def largest_error(Ay: np.ndarray, nx: int, T0: float, y0: np.ndarray, hs: list[float]) -> float:
    """Largest error of a state relative to its largest magnitude over the given times."""
    y0 = np.asarray(y0, float)
    trajectory = affine_flow(Ay, nx, T0).start(y0)
    exact = np.array([exact_state(Ay, h, y0) for h in hs])
    scale = np.maximum(np.abs(exact).max(0), np.abs(y0))
    scale[scale == 0] = 1.0
    single = np.array([trajectory.at(h) for h in hs])
    together = trajectory.sample(np.array(hs))
    return float(max(np.abs((single - exact) / scale).max(), np.abs((together - exact) / scale).max()))


@pytest.mark.parametrize("conductance", [1e-5, 1e-9, 1e-10, 1e-12])
def test_buck_with_leakage_keeps_its_slow_state(conductance: float) -> None:
    A = [[-1 / (2 * conductance * 1e-4), -1 / 47e-6], [1e4, -2000.0]]
    Ay = generator(A, [[1e5], [0.0]], [[0.0]])
    assert largest_error(Ay, 2, 2e-5, np.array([1.0, 5.0, 12.0]), [1e-14, 1e-9, 5e-6, 1e-3]) < TOLERANCE
    reversed_states = Ay[np.ix_([1, 0, 2], [1, 0, 2])]
    assert (
        largest_error(reversed_states, 2, 2e-5, np.array([5.0, 1.0, 12.0]), [1e-14, 5e-6, 1e-3]) < TOLERANCE
    )


@pytest.mark.parametrize("conductance", [1e-12, 1e-9, 1e-6, 1e-4])
def test_states_that_hardly_drive_each_other_keep_their_digits(conductance: float) -> None:
    """A swing that moves a slow state through leakage alone: small elements of its vectors have all their digits."""
    g = conductance
    A = [
        [-3030.0, 6e4, -3e3 * g],
        [-1e6, -1e6 * g, -1e6 * g],
        [1e3 * g, -2e4 * g, -2127.0],
    ]
    Ay = generator(A, [[-3.6e5], [0.0], [0.0]], [[0.0]])
    start = np.array([0.0, 12.0, 0.0, 1.0])
    assert largest_error(Ay, 3, 4e-6, start, [1e-6, 1e-5, 1e-3]) < TOLERANCE


@pytest.mark.parametrize("seed", range(4))
def test_ladder_with_capacitors_over_twelve_decades(seed: int) -> None:
    rng = np.random.default_rng(seed)
    C = 10.0 ** rng.permutation(np.linspace(-13, -1, 5))
    B = np.zeros((5, 2))
    B[0, 0] = 1 / C[0]
    Ay = generator(ladder(C, 10.0 ** rng.uniform(0, 2, 5)), B, sinusoid(314.0))
    assert largest_error(Ay, 5, 2e-2, rng.normal(size=7), [1e-13, 1e-9, 1e-4, 0.1, 3.0]) < TOLERANCE


@pytest.mark.parametrize(
    ("A", "B", "S", "T0"),
    [
        pytest.param([[0, 1], [0, 0]], [[0], [2]], [[0]], 1.0, id="double integrator"),
        pytest.param([[0, -1e6], [100, -2e4]], [[1], [0]], [[0]], 1e-3, id="critically damped"),
        pytest.param(
            chain(4), [[0, 0], [0, 0], [0, 0], [2, 0]], chain(2), 1.0, id="integrators driven by a ramp"
        ),
        pytest.param(
            chain(4).T, [[2, 0], [0, 0], [0, 0], [0, 0]], chain(2), 1.0, id="integrators in reverse order"
        ),
        pytest.param([[0, 1], [-(314.0**2), 0]], [[0, 0], [1e4, 0]], sinusoid(314.0), 0.02, id="resonance"),
        pytest.param(
            [[0, 1], [-(314.0**2), 0]], [[0, 0], [1e4, 0]], sinusoid(314.001), 0.02, id="close to resonance"
        ),
        pytest.param([[0]], [[2]], [[0]], 0.02, id="integrator driven by a constant"),
        pytest.param([[0]], [[2, 1]], chain(2), 0.02, id="integrator driven by a ramp"),
        pytest.param([[-1e-4]], [[2]], [[0]], 0.02, id="leaky integrator"),
        pytest.param([[-1e-12]], [[2]], [[0]], 0.02, id="hardly leaky integrator"),
        pytest.param([[-3]], [[2, 0]], chain(2), 0.02, id="slow lag driven by a ramp"),
        pytest.param([[-3, 1], [1, -4]], [[1], [1]], [[-3]], 1.0, id="exponential source"),
        pytest.param(
            [[-3, 1], [0, -3]], [[0], [1]], [[-3]], 1.0, id="exponential source at a double eigenvalue"
        ),
        pytest.param(
            [[0, 1, 0, 0], [-9, 0, 1, 0], [0, 0, 0, 1], [0, 0, -9, 0]],
            np.eye(4)[:, :2],
            sinusoid(3.0),
            1.0,
            id="two equal oscillators in a chain at resonance",
        ),
    ],
)
def test_defective_and_resonant_modes(A: object, B: object, S: object, T0: float) -> None:
    Ay = generator(A, B, S)
    nx = len(np.atleast_2d(A))
    y0 = np.arange(1.0, len(Ay) + 1)
    assert largest_error(Ay, nx, T0, y0, [1e-6 * T0, 0.3 * T0, 3 * T0, 50 * T0]) < TOLERANCE


@pytest.mark.parametrize(
    "A",
    [
        pytest.param([[-1e13, 1e3, 0], [1e3, 0, -1e6], [0, 100, -2e4]], id="critically damped"),
        pytest.param([[-1e13, 1e3, 0], [1e3, 0, 1], [0, 0, 0]], id="double integrator"),
        pytest.param(
            [[-1e13 / 0.3, 1e13 / 0.3, 0], [1e13 / 0.7, -1e13 / 0.7, 0], [1, 0, 0]],
            id="masses on a stiff damper",
        ),
    ],
)
def test_stiff_and_defective_together(A: object) -> None:
    Ay = generator(A, [[1], [2], [0]], [[0]])
    assert largest_error(Ay, 3, 1e-3, np.array([1.0, 1.0, 0.2, 0.3]), [1e-14, 1e-6, 1e-4, 0.1]) < TOLERANCE


@pytest.mark.parametrize(("n", "gain"), [(6, 50.0), (8, 10.0)])
def test_one_way_cascade_with_ill_conditioned_eigenvectors(n: int, gain: float) -> None:
    A = -np.diag(np.linspace(1, 3, n)) + np.diag(gain * np.ones(n - 1), -1)
    Ay = generator(A, np.eye(n)[:, :1], [[0]])
    assert largest_error(Ay, n, 1.0, np.ones(n + 1), [1e-3, 0.1, 1.0, 5.0, 20.0]) < TOLERANCE


def test_oscillators_keep_their_phase_over_1e5_radians() -> None:
    Ay = generator([[0, -1 / 1e-5], [1 / 1.1e-5, -1e-3]], [[0, 1e3], [0, 0]], sinusoid(1.3e5))
    assert largest_error(Ay, 2, 1e-4, np.array([1.0, 2.0, 3.0, 4e5]), [1e-6, 0.1, 1.0]) < TOLERANCE


def test_polynomial_of_degree_twelve() -> None:
    rng = np.random.default_rng(3)
    for A in ([[-3.0, 1], [0, 0]], [[-300.0, 1], [0, -2e5]]):
        Ay = generator(A, np.ones((2, 13)), chain(13))
        assert largest_error(Ay, 2, 1.0, rng.normal(size=15), [1e-3, 0.1, 1.0]) < TOLERANCE


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("seed", range(10))
def test_random_stable_modes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 6))
    A = rng.normal(size=(n, n)) * 10 ** rng.uniform(-2, 5, size=(n, 1))
    A -= np.diag(np.abs(A).sum(1))
    Ay = generator(A, rng.normal(size=(n, 3)), blocks(np.zeros((1, 1)), sinusoid(50.0)))
    assert largest_error(Ay, n, 0.02, rng.normal(size=n + 3), [1e-6, 1e-3, 0.1, 2.0]) < TOLERANCE


def test_sources_are_exact() -> None:
    Ay = generator(np.zeros((0, 0)), np.zeros((0, 3)), blocks(np.zeros((1, 1)), chain(2)))
    trajectory = affine_flow(Ay, 0, 1.0).start(np.array([0.1, 0.25, 3.0]))
    assert trajectory.at(0.375).tolist() == [0.1, 0.25 + 3.0 * 0.375, 3.0]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("sparse", [False, True])
def test_sources_alone_are_exact_too(sparse: bool) -> None:
    """Two constants, two polynomials that share the powers of time, two sinusoids of one rate, an exponential."""
    rates = (
        np.zeros((1, 1)),
        chain(4),
        sinusoid(50.0),
        np.zeros((1, 1)),
        chain(2),
        sinusoid(50.0),
        -3.0 * np.eye(1),
    )
    S = blocks(*rates)
    xi = np.array([1.0, 0.1, 0.25, 3.0, -2.0, 0.5, 7.0, -1.5, 0.3, 0.2, 1.0, 2.0, 5.0])
    trajectory = flow_of_sources(csr_array(S) if sparse else S).start(xi)
    for h in (0.0, 1e-6, 0.3, 2.0):
        assert trajectory.at(h) == pytest.approx(exact_state(S, h, xi), rel=1e-14, abs=1e-15)
    least = np.array([np.abs(exact_state(S, h, xi)) for h in np.linspace(0.0, 2.0, 9)]).max(axis=0)
    assert (trajectory.magnitude(2.0) >= least * (1.0 - 1e-12)).all()


def sprung(masses: np.ndarray, sources: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Free masses in a row with springs and dampers, and constants (n - 1, q) among the forces between neighbours.

    Returns the generator, the start at unit constants, and the sums of all magnitudes of forces there.
    """
    n, q = len(masses), sources.shape[1]
    between = np.zeros((n - 1, 2 * n + q))
    rows = np.arange(n - 1)
    for first, force in ((0, 100.0), (n, 3.0)):
        between[rows, first + rows], between[rows, first + rows + 1] = force, -force
    between[:, 2 * n :] = sources
    forces = np.zeros((n, 2 * n + q))
    forces[:-1] -= between
    forces[1:] += between
    start = np.concatenate([np.linspace(0.0, 1.3, n), np.full(n, 0.25), np.ones(q)])
    Ay = generator(
        np.block([[np.zeros((n, n)), np.eye(n)], [forces[:, : 2 * n] / masses[:, None]]]),
        np.vstack([np.zeros((n, q)), forces[:, 2 * n :] / masses[:, None]]),
        np.zeros((q, q)),
    )
    return Ay, start, np.abs(forces) @ np.abs(start)


@pytest.mark.parametrize("T0", [1.0, 60.0])
@pytest.mark.parametrize("sources", [1, 2, 3, 7])
def test_constant_forces_between_equal_masses_do_not_drive_them_together(sources: int, T0: float) -> None:
    """The common speed is what it was; both forces of a pair round alike, so that nothing is left of their sum."""
    Ay, start, _ = sprung(np.full(2, 2.0), np.array([np.linspace(50.1, -7.3, sources)]))
    trajectory = affine_flow(Ay, 4, T0).start(start)
    for h in (1.0, 60.0, 1000.0):
        assert trajectory.at(h)[2:4].sum() == pytest.approx(0.5, abs=1e-15)


@pytest.mark.parametrize(
    "masses", [(2.0, 3.0), (0.7, 0.7, 1.9), (1.0, 4.0, 0.3, 2.2), (8.0, 0.125, 1.0, 1.0, 0.5)]
)
def test_constant_forces_between_masses_round_as_the_forces_do(masses: tuple[float, ...]) -> None:
    """Accelerations are rounded in the generator itself: momentum drifts by no more than that, nor the flow."""
    sizes = np.array(masses)
    n = len(sizes)
    sources = np.random.default_rng(n).uniform(-50.0, 50.0, (n - 1, 3))
    Ay, start, forces = sprung(sizes, sources)
    trajectory = affine_flow(Ay, 2 * n, 1.0).start(start)
    rounded = forces.sum() * 2.0**-53
    for h in (1.0, 60.0):
        y, exact = trajectory.at(h), exact_state(Ay, h, start)
        assert np.abs(sizes * (y - exact)[n : 2 * n]).max() < rounded * (1.0 + h)
        assert sizes @ y[n : 2 * n] == pytest.approx(0.25 * sizes.sum(), abs=2.0 * rounded * (1.0 + h))


def test_long_series_continue_in_pieces() -> None:
    Ay = generator([[-3.0]], [[2.0, 0.0]], chain(2))
    trajectory = affine_flow(Ay, 1, 0.02).start(np.array([0.0, 1.0, 1.0]))
    assert trajectory.reach < 1.0
    pieces = list(trajectory.pieces(4.0))
    assert [start for start, _ in pieces] == [k * trajectory.reach for k in range(len(pieces))]
    exact = exact_state(Ay, 4.0, np.array([0.0, 1.0, 1.0]))
    assert trajectory.at(4.0) == pytest.approx(exact, rel=1e-14)
    assert trajectory.sample(np.array([4.0, 0.0]))[1].tolist() == [0.0, 1.0, 1.0]


def test_decayed_group_ends_the_pieces() -> None:
    n = 6
    A = -np.diag(np.linspace(1, 3, n)) + np.diag(50.0 * np.ones(n - 1), -1)
    trajectory = affine_flow(generator(A, np.zeros((n, 1)), [[0]]), n, 1.0).start(np.ones(n + 1))
    last = list(trajectory.pieces(1e9))[-1][1]
    assert last.reach == np.inf
    assert isinstance(last, Trajectory)
    assert np.abs(trajectory.at(1e9)[:n]).max() < 1e-15


def test_scaling_states_scales_the_flow() -> None:
    A = np.array([[0.0, -1e6], [100.0, -2e4]])
    d = np.array([2.0**-30, 2.0**20])
    Ay = generator(A, [[1], [0]], [[0]])
    scaled = generator(A * d[:, None] / d, np.array([[1.0], [0.0]]) * d[:, None], [[0]])
    y = affine_flow(Ay, 2, 1e-3).start(np.array([1.0, 2.0, 3.0])).at(2e-4)
    z = affine_flow(scaled, 2, 1e-3).start(np.array([1.0 * d[0], 2.0 * d[1], 3.0])).at(2e-4)
    assert z[:2] / d == pytest.approx(y[:2], rel=1e-14)


@pytest.mark.parametrize("unit", [1.0, 1e-9, 1e9])
@pytest.mark.parametrize("rate", [0.0, -3.0])
def test_drift_does_not_depend_on_the_unit_of_time(rate: float, unit: float) -> None:
    """Powers of time count by what they reach within a segment, as much in the drift as in the terms."""
    A, units = np.diag([rate] * 3) + np.diag([1.0, 1.0], 1), unit ** np.arange(4.0)
    Ay, y, length = generator(A, [[0], [0], [1]], [[0]]), np.array([0.0, 1.0, 0.5, 2.0]), 0.7
    flows = affine_flow(Ay, 3, 1.0), affine_flow(Ay * units / units[:, None] * unit, 3, 1.0 / unit)
    (off, terms), (off_1, terms_1) = (
        flow.drift(abs(Ay) @ y / u * w, y / u, length / w)
        for flow, u, w in zip(flows, (np.ones(4), units), (1.0, unit), strict=True)
    )
    assert (off_1 * units)[:3] == pytest.approx(off[:3], rel=1e-12)
    assert (terms_1 * units)[:3] == pytest.approx(terms[:3], rel=1e-12)
    exact = np.array([exact_state(Ay, h, y) for h in np.linspace(0.0, length, 9)])
    assert (np.abs(exact).max(0)[:3] <= (1.0 + 1e-14) * terms[:3]).all()


def test_unknown_exosystem_block_is_refused() -> None:
    with pytest.raises(ValueError, match="constant, polynomial, sinusoid or exponential"):
        affine_flow(generator([[0]], [[1, 0]], [[1, 1], [0, 2]]), 1, 1.0)


def test_groups_cut_at_a_gap_of_speed_are_decoupled() -> None:
    """Six capacitors in a ring with a load: five states at rest, one coefficient wrong by its rounding."""
    sign = np.array([1.0, -1, 1, -1, 1, -1])
    A = np.zeros((7, 7))
    A[:6, :6] = -1e4 * np.outer(sign, sign)
    A[1:6:2, 6], A[6, 1:6:2], A[6, 6] = -1.0, -0.5 + 3.67317288e-13, -0.5
    B = np.zeros((7, 2))
    B[:6, 0] = 1e4 * sign
    Ay = generator(A, B, sinusoid(314.0))
    y0 = np.array([9.7, 8.4, 7.8, 2.0, 1.4, 0.3, 0.01, 9.8, -620.0])
    # The state of 0.01 is fed by the others, a thousand times as large.
    assert largest_error(Ay, 7, 2e-2, y0, [1e-5, 2.7e-3, 1e-1]) < 1e3 * TOLERANCE


def test_conjugate_pairs_of_rounding_size_are_counted_once() -> None:
    """Capacitors in a ring: three states at rest, whose eigenvalues are rounding errors of either kind."""
    A = np.zeros((5, 5))
    A[[0, 2], ::2], A[[1, 3], ::2], A[4, ::2] = -0.6, -0.4, -0.5
    B = np.array([[0, -0.2], [0, 0.2], [0, -0.2], [0, 0.2], [0, 0]])
    y0 = np.array([10.0, 1.0, 4.0, 0.3, 0.1, -9.2, 1200.0])
    assert largest_error(generator(A, B, sinusoid(314.0)), 5, 2e-2, y0, [1e-9, 1e-4, 1.0]) < 3 * TOLERANCE


@pytest.mark.parametrize("T0", [0.5, 2.0, 5.0])
def test_rounded_zeros_are_not_told_apart(T0: float) -> None:
    """Masses that move together, one that rests and springs: the mode has three constants, and Schur only near zeros."""
    A = np.zeros((5, 5))
    A[[0, 3, 4], 1] = 1.0
    A[1] = [0.0, -12.5, 13.5, -12.5, -1.0]
    B = np.zeros((5, 4))
    B[1] = [-3.625, 0.0, 0.25, 0.25]
    start = np.array([-1.8008011, -0.02177432, 0.95493206, 0.70802794, -0.0817113, 1.0, 2.0, -0.5, 0.0])
    Ay = generator(A, B, np.zeros((4, 4)))
    assert largest_error(Ay, 5, T0, start, [1e-3, 0.1, 0.5, 2.0]) < TOLERANCE
    flow = affine_flow(Ay, 5, T0)
    # What rounds is not much larger than what moves, and constants are one function, not several that hardly differ.
    assert (flow.magnitude(start, 2.0)[:5] < 10.0).all()
    assert len(set(flow.basis.sigma.tolist())) == 3


def test_zeros_of_a_chain_and_beside_it_are_not_told_apart() -> None:
    """Two masses on one damper, and three springs that nothing but they stretch: a chain of two and two constants."""
    A = np.zeros((5, 5))
    A[0, [0, 4]] = A[4, [4, 0]] = [-25.15, 25.15]
    A[1:4, 0], A[1:4, 4] = [0.5, -1.0, -1.0], [-1.0, -1.0, 0.5]
    Ay = generator(A, [[1.0], [0.0], [0.0], [0.0], [1.0]], [[0.0]])
    start = np.array([1.3, -0.013, 1.4, -0.92, -0.3, 1.0])
    assert largest_error(Ay, 5, 10.0, start, [0.01, 0.3, 3.0, 10.0]) < TOLERANCE
    assert (affine_flow(Ay, 5, 10.0).magnitude(start, 1.0) < 20.0).all()


def test_small_entries_of_mixed_states_set_no_units() -> None:
    """Capacitors in a ring: of seven states only their weighted sum moves."""
    A = np.zeros((7, 7))
    A[[0, 2], ::2], A[[1, 3], ::2], A[[4, 6], ::2] = -0.6, -0.4, -1.0
    B = np.array([[0, -0.2], [0, 0.2], [0, -0.2], [0, 0.2], [0, 0], [0, 0], [0, 0]])
    y0 = np.array([10.0, 1.0, 4.0, 0.3, 0.1, 0.7, 0.005, -5.2, 2700.0])
    assert largest_error(generator(A, B, sinusoid(314.0)), 7, 2e-2, y0, [1e-12, 1e-4, 1.0]) < 3 * TOLERANCE


@pytest.mark.parametrize("seed", range(3))
def test_rounding_of_a_state_of_rest_is_bounded_by_the_magnitude(seed: int) -> None:
    """``x'' = -K (x - 1) - D x'`` at ``x = 1``: the speeds are zero, and a closed form has them to rounding of ``x`` only."""
    random = np.random.default_rng(seed)
    root = random.integers(-9, 10, (3, 3))
    K, D = root.T @ root + 100.0 * np.eye(3), np.diag(random.uniform(0.5, 20.0, 3))
    Ay = np.zeros((7, 7))
    Ay[:3, 3:6] = np.eye(3)
    Ay[3:6] = np.hstack([-K, -D, K.sum(axis=1)[:, None]])
    y0 = np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0, 1.0])
    trajectory = affine_flow(Ay, 6, 1.0).start(y0)
    unit = 4.0 * 2.0**-52
    for h in (0.0, 0.01, 0.3, 10.0):
        assert (np.abs(trajectory.at(h) - y0) <= unit * trajectory.magnitude(h)).all()
    speed = float(np.sqrt(np.linalg.eigvalsh(K).max()))
    assert (trajectory.magnitude(10.0)[3:6] < 1e3 * speed).all()


class Growing(Component):
    """x' = a x from 1e-200: exp(a t) leaves the range of doubles before x does."""

    x: Variable = Variable(start=1e-200, fixed=True)
    a: Parameter = Parameter(default=1000.0)
    passed: Discrete = Discrete(float)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.a * self.x)
        yield when(self.x > 1e200, assign(self.passed, time))


def test_growth_beyond_the_range_of_the_exponential() -> None:
    result = simulate(Growing(), 1.0)
    t = np.array([0.5, 0.69, 0.71, 0.9, 1.0])
    with np.errstate(all="ignore"):
        exact = np.exp(500.0 * t) * 1e-200 * np.exp(500.0 * t)
    assert result["x"].at(t) == pytest.approx(exact, rel=1e-12)
    assert result["passed"].final == pytest.approx(400.0 * np.log(10.0) / 1000.0, rel=1e-13)


@pytest.mark.filterwarnings("error")
def test_growth_beyond_doubles_is_named() -> None:
    with pytest.raises(NonFiniteError, match="`x` leaves the range of doubles after t = 0.38"):
        simulate(Growing(a=3000.0), 1.0)


def test_unstable_functions_without_amplitude_cost_nothing() -> None:
    flow = affine_flow(np.diag([1e9, -1.0, 0.0]), 2, 1.0)
    trajectory = flow.start(np.array([0.0, 1.0, 1.0]))
    assert trajectory.reach == np.inf
    assert trajectory.at(1.0)[:2] == pytest.approx([0.0, np.exp(-1.0)], rel=1e-14)


def test_a_long_row_of_equal_rates_has_powers_beyond_the_factorials_of_floats() -> None:
    n = 180
    Ay = generator(-np.eye(n) + np.diag(np.ones(n - 1), -1), np.zeros((n, 1)), [[0.0]])
    start = np.zeros(n + 1)
    start[0] = 1.0
    trajectory = affine_flow(Ay, n, 1.0).start(start)
    # The k-th state is h^k exp(-h) / k!.
    exact = [math.exp(k * math.log(0.6) - math.lgamma(k + 1.0) - 0.6) for k in range(n)]
    assert trajectory.at(0.6)[:n] == pytest.approx(exact, rel=1e-12, abs=1e-300)
