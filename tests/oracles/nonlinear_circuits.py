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


# -- NAND gate of the test set for IVP solvers ------------------------------------------------------------------------

VDD, VBB = 5.0, -2.5
GATE_START = np.array([5.0, 5.0, VBB, VBB, 5.0, 3.62385, 5.0, VBB, VBB, 3.62385, 0.0, 3.62385, VBB, VBB])
DEPLETION, ENHANCEMENT = (5.35e-4, 5.35e-4, -2.43, 0.2, 1.28), (1.748e-3, 1.748e-4, 0.2, 0.035, 1.01)
"""``beta`` forwards and backwards, ``vt0``, ``gamma``, ``phi`` of the load, and of the two transistors below it."""


def trapezoid(t: float, rising: float, width: float, period: float) -> tuple[float, float]:
    """Voltage of a gate and its slope: from ``rising`` on up to 5 V in 5, there for ``width``, and down in 5."""
    at = (t - rising) % period if t >= rising else -1.0
    if at < 0.0:
        return 0.0, 0.0
    if at < 5.0:
        return at, 1.0
    if at < 5.0 + width:
        return 5.0, 0.0
    return (10.0 + width - at, -1.0) if at < 10.0 + width else (0.0, 0.0)


def channel(kind: tuple[float, ...], vds: float, vgs: float, vgd: float, vbs: float, vbd: float) -> float:
    """Current from drain to source (Shichman and Hodges)."""
    beta, back, vt0, gamma, phi = kind
    if vds < 0.0:
        return -channel((back, beta, *kind[2:]), -vds, vgd, vgs, vbd, vbs)
    u = vgs - vt0 - gamma * (np.sqrt(phi - vbs) - np.sqrt(phi))
    if u <= 0.0:
        return 0.0
    w = min(vds, u)
    return beta * w * (2.0 * u - w) * (1.0 + 0.02 * vds)


def gate(t: Array, rtol: float = 1e-10) -> Array:
    """Potentials of the fourteen nodes at times ``t``, shape ``(14, len(t))``: ``C(y) y' = f(t, y)`` of Kirchhoff's law.

    Some of the times are in each stretch of 5 s.

    Nodes of a transistor are its inner source and drain and two of its bulk; 5 and 10 are the output and the one between the
    lower transistors. A run ends where a slope of the inputs jumps.
    """

    def depletion(v: float) -> float:
        return 2.4e-5 * (1.0 / np.sqrt(1.0 - v / 0.87) if v <= 0.0 else 1.0 + v / (2.0 * 0.87))

    # Inner source, inner drain, bulk at the source, bulk at the drain, source, drain; -1: ground, -2: supply.
    transistors = [(DEPLETION, 0, 4, -2), (ENHANCEMENT, 5, 9, 4), (ENHANCEMENT, 10, -1, 9)]

    def rate(time: float, y: Array) -> Array:
        C, f = np.zeros((14, 14)), np.zeros(14)

        def potential(node: int) -> float:
            return y[node] if node >= 0 else (0.0 if node == -1 else VDD)

        def stamp(a: int, b: int, c: float) -> None:
            for p, q in ((a, b), (b, a)):
                if p >= 0:
                    C[p, p] += c
                    if q >= 0:
                        C[p, q] -= c

        def flow(a: int, b: int, i: float) -> None:
            for p, way in ((a, -i), (b, i)):
                if p >= 0:
                    f[p] += way

        inputs = [None, trapezoid(time, 5.0, 5.0, 20.0), trapezoid(time, 15.0, 15.0, 40.0)]
        for (kind, first, source, drain), given in zip(transistors, inputs, strict=True):
            s, d, bs, bd = first, first + 1, first + 2, first + 3
            vg = y[4] if given is None else given[0]
            for inner in (s, d):
                if given is None:
                    stamp(4, inner, 6e-5)
                else:
                    C[inner, inner] += 6e-5
                    f[inner] += 6e-5 * given[1]
            flow(s, source, (y[s] - potential(source)) / 4.0)
            flow(d, drain, (y[d] - potential(drain)) / 4.0)
            vbs, vbd = y[bs] - potential(source), y[bd] - potential(drain)
            for node, end, v in ((bs, source, vbs), (bd, drain, vbd)):
                stamp(node, end, depletion(v))
                flow(node, end, 1e-14 * (np.exp(min(v, 0.0) / 25.85) - 1.0))
                f[node] -= (y[node] - VBB) / 10.0
            flow(d, s, channel(kind, y[d] - y[s], vg - y[s], vg - y[d], vbs, vbd))
        C[4, 4] += 5e-5
        C[9, 9] += 5e-5
        return np.linalg.solve(C, f)

    y, found = GATE_START, np.zeros((14, len(t)))
    for begin in np.arange(0.0, t[-1], 5.0):
        end = min(begin + 5.0, t[-1])
        inside = (t >= begin) & (t <= end)
        solution = solve_ivp(rate, (begin, end), y, method="Radau", rtol=rtol, atol=rtol, dense_output=True)
        found[:, inside], y = solution.sol(t[inside]), solution.y[:, -1]
    return found


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
