"""Nonlinear circuits by SciPy: transistor amplifier, saturating inductor, joined capacitors.

Each function states the equations of its circuit by hand and hands them to `scipy.integrate.solve_ivp` (Radau IIA) or
`scipy.optimize.brentq`.
"""

from collections.abc import Callable
from math import atan, exp, pi

import numpy as np
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

Array = np.ndarray
Function = Callable[[float], float]


def newton(f: Callable[[float], tuple[float, float]], x: float) -> float:
    """Zero of a function of one variable from (value, slope), to the last bits."""
    for _ in range(200):
        value, slope = f(x)
        step = value / slope
        # An exponential is approached from its steep side in small steps: 0.1 V is four times a thermal voltage.
        x -= max(-0.1, min(0.1, step))
        if abs(step) <= 1e-15 * (1 + abs(x)):
            return x
    raise ArithmeticError(f"no convergence at {x}")


# -- Two-stage transistor amplifier of the test set for IVP solvers ---------------------------------------------------

ALPHA, BETA, UF, UB = 0.99, 1e-6, 0.026, 6.0
R0, RK = 1000.0, 9000.0
CAPACITANCES = np.array([1e-6, 2e-6, 3e-6, 4e-6, 5e-6])


def amplifier(t: Array, rtol: float = 1e-11) -> Array:
    """Potentials of the eight nodes at times ``t``, shape ``(8, len(t))``.

    States are the voltages of the five capacitors; nodes 1 and 2, 4 and 5, 7 and 8 follow from one equation each: the
    sum of their currents, from which the current of the capacitor between them drops out.
    """

    def f(u: float) -> tuple[float, float]:
        grown = BETA * exp(u / UF)
        return grown - BETA, grown / UF

    def nodes(time: float, y: Array) -> Array:
        u1, y3, u3, y6, u5 = y
        ue = 0.1 * np.sin(200 * pi * time)

        def first(y2: float) -> tuple[float, float]:
            i, g = f(y2 - y3)
            value = (y2 + u1 - ue) / R0 + y2 / RK + (y2 - UB) / RK + (1 - ALPHA) * i
            return value * RK, (1 / R0 + 2 / RK + (1 - ALPHA) * g) * RK

        y2 = newton(first, y3 + 0.1)
        drawn = ALPHA * f(y2 - y3)[0]

        def second(y5: float) -> tuple[float, float]:
            i, g = f(y5 - y6)
            value = (y5 + u3 - UB) / RK + drawn + y5 / RK + (y5 - UB) / RK + (1 - ALPHA) * i
            return value * RK, (3 / RK + (1 - ALPHA) * g) * RK

        y5 = newton(second, y6 + 0.1)
        y8 = (UB - u5 - RK * ALPHA * f(y5 - y6)[0]) / 2
        return np.array([y2 + u1, y2, y3, y5 + u3, y5, y6, y8 + u5, y8])

    def rate(time: float, y: Array) -> Array:
        n = nodes(time, y)
        into = [
            (0.1 * np.sin(200 * pi * time) - n[0]) / R0,
            f(n[1] - n[2])[0] - n[2] / RK,
            (UB - n[3]) / RK - ALPHA * f(n[1] - n[2])[0],
            f(n[4] - n[5])[0] - n[5] / RK,
            (UB - n[6]) / RK - ALPHA * f(n[4] - n[5])[0],
        ]
        return np.array(into) / CAPACITANCES

    start = [-3.0, 3.0, 3.0, 3.0, 6.0]
    solution = solve_ivp(rate, (0.0, t[-1]), start, method="Radau", t_eval=t, rtol=rtol, atol=rtol)
    return np.array([nodes(a, b) for a, b in zip(t, solution.y.T, strict=True)]).T


# -- Saturating inductor -----------------------------------------------------------------------------------------------


def saturation_current(Lnom: float, Lzer: float, Linf: float, Inom: float) -> float:
    """``Ipar`` with which the flux at ``Inom`` is ``Lnom * Inom``."""

    def excess(Ipar: float) -> float:
        return Linf + (Lzer - Linf) * Ipar / Inom * atan(Inom / Ipar) - Lnom

    return brentq(excess, 1e-9 * Inom, 1e6 * Inom, xtol=1e-15 * Inom, rtol=1e-15)


def saturated_current(flux: float, Lzer: float, Linf: float, Ipar: float) -> float:
    """Current at a flux."""

    def excess(i: float) -> float:
        return Linf * i + (Lzer - Linf) * Ipar * atan(i / Ipar) - flux

    bound = abs(flux) / Linf
    return brentq(excess, -bound, bound, xtol=1e-15, rtol=1e-15) if flux else 0.0


# -- Two nonlinear capacitors joined in an instant ---------------------------------------------------------------------


def joined(charges: tuple[Function, Function], voltages: tuple[float, float]) -> tuple[float, float]:
    """Common voltage of two capacitors, given as charge over voltage, and the charge that has passed into the second."""
    total = sum(q(v) for q, v in zip(charges, voltages, strict=True))
    v = brentq(
        lambda u: charges[0](u) + charges[1](u) - total, min(voltages), max(voltages), xtol=1e-16, rtol=1e-15
    )
    return v, charges[1](v) - charges[1](voltages[1])
