"""An accepted step and the polynomial through it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(slots=True, eq=False)
class Step:
    """One accepted step with dense output.

    The solution inside is ``y0 + theta (y1 - y0 + (1 - theta) (c_0 + c_1 theta + c_2 theta^2))`` with
    ``theta = (t - t0) / (t1 - t0)``, the form in which the dense outputs of both families of methods are published.

    Attributes
    ----------
    t0, t1 : float
    y0, y1 : (n,)
        Not to be changed: they are shared with the stepper.
    dense : (3, n)
        Coefficients c of the deviation from the chord.
    errors : (k, n)
        Estimates of the error, with their signs: what depends on several components may err less than each.
    """

    t0: float
    t1: float
    y0: np.ndarray
    y1: np.ndarray
    dense: np.ndarray
    errors: np.ndarray

    def at(self, theta: float | np.ndarray) -> np.ndarray:
        """Solution at fractions of the step.

        Parameters
        ----------
        theta : float or (k,)
            Fractions in [0, 1].

        Returns
        -------
        (n,) or (k, n)
            Exactly ``y0`` at 0, and ``y1`` up to rounding at 1. A row does not depend on the other fractions, to the bit.
        """
        s = theta[:, None] if isinstance(theta, np.ndarray) else theta
        c0, c1, c2 = self.dense
        return self.y0 + s * ((self.y1 - self.y0) + (1.0 - s) * (c0 + s * (c1 + s * c2)))

    def slope(self, theta: float | np.ndarray) -> np.ndarray:
        """Derivative of `at` by time."""
        s = theta[:, None] if isinstance(theta, np.ndarray) else theta
        c0, c1, c2 = self.dense
        chord = (self.y1 - self.y0) + (1.0 - 2.0 * s) * (c0 + s * (c1 + s * c2))
        return (chord + s * (1.0 - s) * (c1 + 2.0 * s * c2)) / (self.t1 - self.t0)


def weights_inside(solution: np.ndarray, dense: np.ndarray, theta: float) -> tuple[np.ndarray, np.ndarray]:
    """Weights of the stages of a method in its dense output at `theta`, and in the slope there times the step size.

    Parameters
    ----------
    solution : (s,)
        Weights in the solution at the end of the step.
    dense : (3, s)
        Weights in the coefficients of `Step`.
    theta : float
    """
    unit = Step(0.0, 1.0, np.zeros(solution.size), solution, dense, np.empty((0, solution.size)))
    return unit.at(theta), unit.slope(theta)
