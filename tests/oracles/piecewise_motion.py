"""Motion under a law of force with kinks or steps, integrated from one to the next by an explicit method of order 8."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.integrate import solve_ivp

BEYOND = 1e-9
"""Time from a change of the law to the next begin, so that it is not found again."""


def piecewise_motion(
    acceleration: Callable[[float, float], float],
    changes: Sequence[Callable[[float, float], float]],
    start: tuple[float, float],
    t_end: float,
    samples: int = 12,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Times, positions and speeds from `start` on, `samples` of each piece.

    `acceleration` and the `changes`, which are zero where the law has a kink or a step, are functions of position and
    speed. At a step the Taylor step over ``BEYOND`` uses the acceleration before it: an error of 1e-9 of its height.
    """

    def slope(_: float, y: np.ndarray) -> list[float]:
        return [y[1], acceleration(y[0], y[1])]

    def guard(change: Callable[[float, float], float]) -> Any:
        def found(_: float, y: np.ndarray) -> float:
            return change(y[0], y[1])

        found.terminal = True  # type: ignore[attr-defined]
        return found

    guards = [guard(change) for change in changes]
    t, y, times, values = 0.0, np.array(start, float), [], []
    while t < t_end:
        run = solve_ivp(
            slope, (t, t_end), y, "DOP853", events=guards, rtol=1e-12, atol=1e-13, dense_output=True
        )
        inner = np.linspace(t, run.t[-1], samples)
        times.append(inner)
        values.append(run.sol(inner))
        last = run.y[:, -1]
        t, y = float(run.t[-1]) + BEYOND, last + BEYOND * np.array(slope(0.0, last))
    found = np.concatenate(values, axis=1)
    return np.concatenate(times), found[0], found[1]
