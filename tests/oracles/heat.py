"""Networks of heat capacities by the matrix exponential, and equilibria of radiating bodies."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import expm
from scipy.optimize import brentq

SIGMA = 5.670374419e-8
"""Stefan-Boltzmann constant in W/(m2.K4), CODATA 2018."""


@dataclass(frozen=True)
class HeatNetwork:
    """Capacities `C` (n,), conductances `G` (n, n) between them, `Ga` (n,) to surroundings at `Ta`, heat flows `P` (n,)."""

    C: np.ndarray
    G: np.ndarray
    Ga: np.ndarray
    P: np.ndarray
    Ta: float

    def temperatures(self, T0: np.ndarray, t: Any) -> np.ndarray:
        """Temperatures at the times `t`, shape ``(len(t), n)``: the exponential of the homogeneous system with a 1 appended."""
        n = len(self.C)
        laplacian = np.diag(self.G.sum(axis=1) + self.Ga) - self.G
        A = np.zeros((n + 1, n + 1))
        A[:n, :n] = -laplacian / self.C[:, None]
        A[:n, n] = (self.P + self.Ga * self.Ta) / self.C
        start = np.append(T0, 1.0)
        return np.array([(expm(A * s) @ start)[:n] for s in np.atleast_1d(t)])


def shield_temperature(T1: float, T2: float) -> float:
    """Temperature of a thin shield between two equal grey plates: radiation in equals radiation out."""
    return ((T1**4 + T2**4) / 2) ** 0.25


def absorber_temperature(heat: float, Gr: float, G: float, Ta: float) -> float:
    """Temperature at which radiation to and conduction into surroundings at `Ta` carry away `heat`."""
    return float(
        brentq(lambda T: Gr * SIGMA * (T**4 - Ta**4) + G * (T - Ta) - heat, Ta, Ta + 2000.0, xtol=1e-11)
    )
