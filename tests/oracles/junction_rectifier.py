"""Half-wave rectifier with a junction diode: one stiff differential equation, integrated by Radau IIA.

V sin(2 pi f t) --Rs--[diode]--+-- C parallel RL,  i = Ids (exp(v / Vt) - 1) + v / R  (W. Shockley, 1949, with leakage)
"""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq


@dataclass(frozen=True)
class JunctionRectifier:
    V: float = 10.0
    f: float = 50.0
    Rs: float = 1.0
    Ids: float = 1e-6
    Vt: float = 0.04
    R: float = 1e8
    C: float = 1e-3
    RL: float = 100.0

    def diode_current(self, t: float, v: float) -> float:
        """Current at which the voltages of diode and resistor add up to what is between source and capacitor."""
        e = self.V * np.sin(2 * np.pi * self.f * t) - v

        def current(u: float) -> float:
            return self.Ids * np.expm1(u / self.Vt) + u / self.R

        # More than 2 V would be 5e15 A.
        u = brentq(
            lambda u: current(u) - (e - u) / self.Rs, min(e, 0) - 1e-3, min(max(e, 0) + 1e-3, 2), xtol=1e-15
        )
        return current(float(u))

    def capacitor(self, t: np.ndarray) -> np.ndarray:
        """Voltage of the capacitor at ascending times, from zero at the first."""

        def slope(t: float, y: np.ndarray) -> list[float]:
            return [(self.diode_current(t, y[0]) - y[0] / self.RL) / self.C]

        span = (float(t[0]), float(t[-1]))
        return solve_ivp(slope, span, [0.0], method="Radau", rtol=1e-10, atol=1e-13, t_eval=t).y[0]
