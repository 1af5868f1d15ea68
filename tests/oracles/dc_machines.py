"""DC machines: the step response with constant excitation in closed form, others by fine integration."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp


@dataclass(frozen=True)
class ConstantExcitation:
    """``V = R i + L i' + k w``, ``J w' = k i - load`` from rest.

    The speed approaches ``w_end = (V - R load/k)/k`` by two exponentials with the roots of ``J L s^2 + J R s + k^2 = 0``;
    ``w(0) = 0`` and ``J w'(0) = -load`` determine their weights.
    """

    V: float
    R: float
    L: float
    k: float
    J: float
    load: float = 0.0

    def speed_and_current(self, t: Any) -> tuple[np.ndarray, np.ndarray]:
        """Speed and current at the times `t`."""
        t = np.atleast_1d(np.asarray(t, float))
        roots = np.roots([self.J * self.L, self.J * self.R, self.k**2]).astype(complex)
        w_end = (self.V - self.R * self.load / self.k) / self.k
        weights = np.linalg.solve(np.array([[1.0, 1.0], roots]), np.array([-w_end, -self.load / self.J]))
        modes = np.exp(np.outer(t, roots))
        w = w_end + (modes @ weights).real
        slope = (modes @ (weights * roots)).real
        return w, (self.J * slope + self.load) / self.k


def separately_excited(
    V: float,
    Ve: float,
    Ra: float,
    La: float,
    Re: float,
    Le: float,
    c: float,
    J: float,
    d: float,
    t: np.ndarray,
) -> np.ndarray:
    """Rows (ia, ie, w) at `t` from rest, with ``vi = c ie w`` and a load ``d w``: armature at `V`, excitation at `Ve`."""

    def slope(_: float, y: np.ndarray) -> list[float]:
        ia, ie, w = y
        return [(V - Ra * ia - c * ie * w) / La, (Ve - Re * ie) / Le, (c * ie * ia - d * w) / J]

    run = solve_ivp(slope, (0.0, t[-1]), [0.0, 0.0, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12)
    return run.y


def series_excited(V: float, R: float, L: float, c: float, J: float, d: float, t: np.ndarray) -> np.ndarray:
    """Rows (i, w) at `t` from rest, with ``vi = c i w`` and a load ``d w``."""

    def slope(_: float, y: np.ndarray) -> list[float]:
        i, w = y
        return [(V - R * i - c * i * w) / L, (c * i**2 - d * w) / J]

    run = solve_ivp(slope, (0.0, t[-1]), [0.0, 0.0], "DOP853", t, rtol=1e-12, atol=1e-12)
    return run.y
