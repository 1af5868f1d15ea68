"""Charging a capacitor through a pi filter with least loss: exact solution of the linear-quadratic problem.

u --R--+--L--+
       C1    C2

The loss in R, the integral of (u - v1)^2 / R, is to be least while (v1, i, v2) goes from rest to (V, 0, V) in time T.
By Pontryagin's principle the control is u = v1 - R * b' y / 2 with b = (1 / (R C1), 0, 0), and state and costate y obey
one linear system, whose matrix exponential turns the boundary values into three linear equations
(A. E. Bryson, Y.-C. Ho, Applied Optimal Control, chapters 2 and 5).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.linalg import expm


@dataclass(frozen=True)
class Charging:
    R: float = 10.0
    C1: float = 1e-3
    L: float = 50e-3
    C2: float = 2e-3
    V: float = 12.0
    T: float = 0.1

    @cached_property
    def hamiltonian(self) -> np.ndarray:
        """(x, y)' = H (x, y), for the deviation e = u - v1 as control: x' = A x + b e, cost e^2 / R."""
        A = np.array([[0, -1 / self.C1, 0], [1 / self.L, 0, -1 / self.L], [0, 1 / self.C2, 0]])
        b = np.array([[1 / (self.R * self.C1)], [0.0], [0.0]])
        # H = e^2 / R + y' (A x + b e) is stationary for e = -R b' y / 2.
        return np.block([[A, -0.5 * self.R * b @ b.T], [np.zeros((3, 3)), -A.T]])

    @cached_property
    def _start(self) -> np.ndarray:
        e = expm(self.hamiltonian * self.T)
        target = np.array([self.V, 0.0, self.V])
        return np.concatenate([np.zeros(3), np.linalg.solve(e[:3, 3:], target)])

    def at(self, t: np.ndarray) -> np.ndarray:
        """Optimal (v1, i, v2, u) at times, shape (k, 4)."""
        z = np.array([expm(self.hamiltonian * s) @ self._start for s in np.atleast_1d(t)])
        return np.column_stack([z[:, :3], z[:, 0] - 0.5 * z[:, 3] / self.C1])

    @cached_property
    def loss(self) -> float:
        """Least energy in R: quadrature of e^2 / R = R (b' y / 2)^2 by Gauss and Legendre."""
        nodes, weights = np.polynomial.legendre.leggauss(40)
        t = 0.5 * self.T * (nodes + 1)
        y = np.array([(expm(self.hamiltonian * s) @ self._start)[3] for s in t])
        return float(0.5 * self.T * weights @ (self.R * (0.5 * y / (self.R * self.C1)) ** 2))
