"""Closed planar loops: positions and speeds from the geometry, motion from the energy of one coordinate."""

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_ivp


@dataclass(frozen=True)
class SliderCrank:
    """Crank `r` with flywheel `J`, rod of mass `m` and `inertia_of_rod` about its middle, piston of mass `M`; no gravity.

    The kinetic energy is ``A(phi) w**2 / 2``, and it stays what it is: ``phi' = w0 sqrt(A(phi0) / A(phi))``.
    """

    r: float
    length: float
    J: float
    m: float
    inertia_of_rod: float
    M: float

    def piston(self, phi: np.ndarray) -> np.ndarray:
        """Distance of the piston from the axis of the crank."""
        return self.r * np.cos(phi) + np.sqrt(self.length**2 - (self.r * np.sin(phi)) ** 2)

    def inertia(self, phi: np.ndarray) -> np.ndarray:
        """Kinetic energy ``A`` over half of the squared speed of the crank, from velocities per speed of the crank."""
        s, c = np.sin(phi), np.cos(phi)
        tilt = np.sqrt(1 - (self.r / self.length * s) ** 2)
        turning = -self.r / self.length * c / tilt
        slope = -self.r * s - self.r**2 * s * c / (self.length * tilt)
        middle = ((-self.r * s + slope) / 2) ** 2 + (self.r * c / 2) ** 2
        return self.J + self.m * middle + self.inertia_of_rod * turning**2 + self.M * slope**2

    def angle(self, phi0: float, w0: float, t: np.ndarray) -> np.ndarray:
        """Angle of the crank at `t`."""
        energy = self.inertia(phi0) * w0**2

        def speed(_: float, y: np.ndarray) -> np.ndarray:
            return np.sqrt(energy / self.inertia(y))

        return solve_ivp(speed, (t[0], t[-1]), [phi0], "DOP853", t, rtol=1e-12, atol=1e-12).y[0]


@dataclass(frozen=True)
class FourBar:
    """Crank `a`, coupler `b`, rocker `c`, pivots at a distance `d` on the first axis."""

    a: float
    b: float
    c: float
    d: float

    def rocker(self, phi: np.ndarray, side: int) -> np.ndarray:
        """Angle of the rocker from the law of cosines; `side` 1 or -1 says on which side of the diagonal the coupler joins it."""
        x, y = self.d - self.a * np.cos(phi), -self.a * np.sin(phi)
        diagonal = np.hypot(x, y)
        inner = np.arccos((diagonal**2 + self.c**2 - self.b**2) / (2 * diagonal * self.c))
        return np.unwrap(np.arctan2(-y, -x) - side * inner)
