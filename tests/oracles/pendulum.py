"""The plane pendulum by elliptic functions."""

import numpy as np
from scipy.special import ellipj, ellipk


def pendulum_angle(start: float, w0: float, t: np.ndarray) -> np.ndarray:
    """Angle from the vertical at `t` of a pendulum released at rest; `w0` is the frequency of small oscillations.

    ``sin(phi/2) = k sn(w0 t + K(k), k)``, ``k = sin(start/2)``: Landau and Lifshitz, Mechanics, section 11.
    """
    k = np.sin(start / 2)
    sn, *_ = ellipj(w0 * t + ellipk(k**2), k**2)
    return 2 * np.arcsin(k * sn)
