"""Coefficients of a Rosenbrock method, in the form without matrix products in the stages.

Form and names as in E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, section IV.7,
equation 7.25: stage i solves ::

    (I / (gamma h) - J) u_i = f(t + nodes_i h, y + sum_j a_ij u_j) + sum_j c_ij u_j / h + times_i h df/dt

The method is stiffly accurate: the argument of the last stage is the embedded solution, and its ``u`` is the error.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from ..values import frozen
from .step import weights_inside


@frozen
class Tableau:
    """Coefficients of a stiffly accurate Rosenbrock method with s stages.

    Attributes
    ----------
    gamma : float
    a, c : (s, s)
        Strictly lower triangular.
    nodes, times : (s,)
        Weights of the step size in the time of a stage, and of the derivative by time.
    dense : (3, s)
        Weights of the stages in the dense output, see `Step`.
    probe : float
        Fraction of the step where the error of the dense output is large, for slow as for stiff components.
    error_order : int
        Order of the estimated error in the step size.
    """

    gamma: float
    a: np.ndarray
    c: np.ndarray
    nodes: np.ndarray
    times: np.ndarray
    dense: np.ndarray
    probe: float
    error_order: int

    @property
    def solution(self) -> np.ndarray:
        """Weights of the stages in the solution, (s,)."""
        return self.a[-1] + np.eye(self.nodes.size)[-1]

    @cached_property
    def inside(self) -> tuple[np.ndarray, np.ndarray]:
        """Weights of the stages in the dense output at `probe`, see `weights_inside`."""
        return weights_inside(self.solution, self.dense, self.probe)

    @cached_property
    def stiff_error(self) -> np.ndarray:
        """The error inside a step of a component that is infinitely stiff, (3,) as in `Step`, in units of that at `probe`.

        Such a component follows what drives it. Powers up to the third are met, so that the first term of the error is that of
        ``theta ** 4``, for which the stages are ``u_i = nodes_i ** 4 - sum_j a_ij u_j``.
        """
        u = np.linalg.solve(np.eye(self.nodes.size) + self.a, self.nodes**4)
        # theta ** 4 itself departs from its chord by -theta (1 - theta) (1 + theta + theta ** 2).
        error = self.dense @ u + 1.0
        p = self.probe
        return error / (p * (1.0 - p) * (error @ p ** np.arange(3)))


def _padded(rows: Sequence[Sequence[float]], width: int) -> np.ndarray:
    return np.array([[*row, *[0.0] * (width - len(row))] for row in rows])


def _rodas5p() -> Tableau:
    gamma = 0.21193756319429014
    last = [-7.502846399306121, 2.561846144803919, -11.627539656261098]
    last += [-0.18268767659942256, 0.030198172008377946]
    a = [
        [],
        [3.0],
        [2.849394379747939, 0.45842242204463923],
        [-6.954028509809101, 2.489845061869568, -10.358996098473584],
        [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
        last,
        [*last, 1.0],
        [*last, 1.0, 1.0],
    ]
    c = [
        [],
        [-14.155112264123755],
        [-17.97296035885952, -2.859693295451294],
        [147.12150275711716, -1.41221402718213, 71.68940251302358],
        [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
        [
            *(24.854864614690072, -3.0009227002832186, 47.4931110020768),
            *(5.5814197821558125, -0.6610691825249471),
        ],
        [
            *(30.91273214028599, -3.1208243349937974, 77.79954646070892),
            *(34.28646028294783, -19.097331116725623, -28.087943162872662),
        ],
        [
            *(37.80277123390563, -3.2571969029072276, 112.26918849496327),
            *(66.9347231244047, -40.06618937091002, -54.66780262877968, -9.48861652309627),
        ],
    ]
    dense = [
        [
            *(25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204),
            *(0.524948541321073, 1.1241088310450404, 0.4272876194431874, -0.17202221070155493),
        ],
        [
            *(-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796),
            *(20.176138334709044, 15.98066361424651, -6.789040303419874, -6.710236069923372),
        ],
        [
            *(11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643),
            *(-52.072871366152654, -59.78993625266729, -0.15582684282751913, 4.883087185713722),
        ],
    ]
    nodes = np.array([0, 3 * gamma, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664, 1, 1, 1])
    times = np.array([gamma, -2 * gamma, -0.3384627126235924, 1.8046452872882734, 2.325825639765069, 0, 0, 0])
    return Tableau(gamma, _padded(a, 8), _padded(c, 8), nodes, times, _padded(dense, 8), 0.5, 5)


RODAS5P = _rodas5p()
"""Order 5(4) with eight stages, dense output of order 4, without order reduction on linear parabolic problems:
G. Steinebach, Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia Differential
Equations package, BIT Numer. Math. 63 (2023) 27."""
