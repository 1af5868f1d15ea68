"""Initial value problems with known solutions."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from acausal.dynamics.automatic import Automatic
from acausal.dynamics.closed_form import Trajectory
from acausal.dynamics.noise import FlowNoise
from acausal.dynamics.scan import CrossingSearch
from acausal.dynamics.stepper import Stepper
from acausal.kernels import crossing

Solution = Callable[[np.ndarray], np.ndarray]


class Given:
    """A problem from plain functions."""

    def __init__(self, rate: Callable, jacobian: Callable | None = None) -> None:
        self._rate = rate
        self._jacobian = jacobian

    def rate(self, t: float, y: np.ndarray) -> np.ndarray:
        return np.asarray(self._rate(t, y), dtype=float)

    def forget(self) -> None:
        """Nothing is kept."""

    def jacobian(self, t: float, y: np.ndarray) -> tuple[Any, np.ndarray]:
        assert self._jacobian is not None
        matrix, drift = self._jacobian(t, y)
        matrix = np.array(matrix, dtype=float) if isinstance(matrix, list) else matrix
        return matrix, np.asarray(drift, dtype=float)


def driven_logistic() -> tuple[Given, Solution]:
    """``y' = y (1 - y) cos t``, ``z' = -2 t z^2``: nonlinear, non-autonomous, with a closed form."""

    def rate(t: float, y: np.ndarray) -> list[float]:
        return [y[0] * (1.0 - y[0]) * math.cos(t), -2.0 * t * y[1] ** 2]

    def jacobian(t: float, y: np.ndarray) -> tuple[list, list]:
        matrix = [[(1.0 - 2.0 * y[0]) * math.cos(t), 0.0], [0.0, -4.0 * t * y[1]]]
        return matrix, [-y[0] * (1.0 - y[0]) * math.sin(t), -2.0 * y[1] ** 2]

    def exact(t: np.ndarray) -> np.ndarray:
        return np.stack([1.0 / (1.0 + 3.0 * np.exp(-np.sin(t))), 1.0 / (1.0 + t**2)], axis=-1)

    return Given(rate, jacobian), exact


def prothero_robinson(stiffness: float) -> tuple[Given, Solution]:
    """``y' = -stiffness (y - cos t) - sin t`` with the solution cos t (Math. Comput. 28 (1974) 145)."""

    def rate(t: float, y: np.ndarray) -> list[float]:
        return [-stiffness * (y[0] - math.cos(t)) - math.sin(t)]

    def jacobian(t: float, y: np.ndarray) -> tuple[list, list]:
        return [[-stiffness]], [-stiffness * math.sin(t) - math.cos(t)]

    return Given(rate, jacobian), lambda t: np.cos(t)[..., None]


def pendulum() -> Given:
    def jacobian(t: float, y: np.ndarray) -> tuple[list, list]:
        return [[0.0, 1.0], [-math.cos(y[0]), 0.0]], [0.0, 0.0]

    return Given(lambda t, y: [y[1], -math.sin(y[0])], jacobian)


def van_der_pol(mu: float) -> Given:
    """Slow time scale: ``mu^-2 z' = (1 - y^2) z - y`` (Hairer and Wanner, IV.1)."""

    def rate(t: float, y: np.ndarray) -> list[float]:
        return [y[1], mu**2 * ((1.0 - y[0] ** 2) * y[1] - y[0])]

    def jacobian(t: float, y: np.ndarray) -> tuple[list, list]:
        return [[0.0, 1.0], [mu**2 * (-2.0 * y[0] * y[1] - 1.0), mu**2 * (1.0 - y[0] ** 2)]], [0.0, 0.0]

    return Given(rate, jacobian)


def robertson() -> Given:
    def rate(t: float, y: np.ndarray) -> list[float]:
        slow, fast, pair = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
        return [fast - slow, slow - fast - pair, pair]

    def jacobian(t: float, y: np.ndarray) -> tuple[list, list]:
        a, b, c = 1e4 * y[2], 1e4 * y[1], 6e7 * y[1]
        return [[-0.04, a, b], [0.04, -a - c, -b], [0.0, c, 0.0]], [0.0, 0.0, 0.0]

    return Given(rate, jacobian)


def heat(n: int, sparse: bool) -> Given:
    """Heat conduction in a rod with a quadratic sink, by central differences."""
    from scipy.sparse import csr_array

    laplace = (np.diag(np.full(n - 1, 1.0), -1) - 2.0 * np.eye(n) + np.diag(np.full(n - 1, 1.0), 1)) * (
        n + 1
    ) ** 2

    def rate(t: float, y: np.ndarray) -> np.ndarray:
        return laplace @ y - y**2 + math.sin(t)

    def jacobian(t: float, y: np.ndarray) -> tuple[Any, np.ndarray]:
        matrix = laplace - np.diag(2.0 * y)
        return csr_array(matrix) if sparse else matrix, np.full(n, math.cos(t))

    return Given(rate, jacobian)


def march(stepper: Stepper | Automatic, end: float) -> list:
    """All steps up to `end`."""
    steps = []
    while stepper.t < end:
        steps.append(stepper.step(end))
    return steps


def moving(
    noise: FlowNoise, trajectory: Trajectory, first: float, last: float
) -> tuple[np.ndarray, np.ndarray]:
    """Smallest and largest noise of guards along a trajectory in an interval."""
    functions, count = trajectory.flow.basis.functions, len(noise.sizes(trajectory).start)
    search = CrossingSearch(
        count, trajectory.flow.ny, trajectory.flow.basis.size, len(noise.moves), len(noise.stays)
    )
    search.hear_moving(noise, noise.sizes(trajectory))
    shifted = trajectory.shift is not None
    least, most = (
        np.array(
            [
                crossing.moving_noise(functions, search.noise, k, first, last, shifted, side)
                for k in range(count)
            ]
        )
        for side in (False, True)
    )
    return least, most
