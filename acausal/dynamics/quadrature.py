"""Integrals of functions of the state along one closed-form trajectory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..reduction.rounding import SUMMED
from .closed_form import (
    INTEGRAL,
    Intervals,
    PanelIntegrals,
    Trajectory,
    integrate_intervals,
    many_periods,
    resolved_panels,
)

SMALLEST = 1e-6
"""Magnitude, relative to the largest integrand, below which an integrand need not be resolved to the precision."""
Integrand = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""States (k, ny) and times (k,) to values (k, m)."""


class Course(Protocol):
    """The state along one segment: a `Trajectory`, or what stands for one where steps were taken."""

    reach: float
    """Length in seconds over which a closed form is exact, negative where there is none."""
    precision: float
    """Relative error that integrals may have."""
    halvings: int
    """Halvings of a panel of `edges` beyond which integrals gain nothing."""

    @property
    def y0(self) -> np.ndarray:
        """State at the begin."""
        ...

    def edges(self, h0: float, h1: float) -> np.ndarray:
        """Ends of the panels with which a quadrature over ``[h0, h1]`` begins."""
        ...

    def magnitude(self, length: float) -> np.ndarray:
        """Magnitudes (ny,) by which the states are rounded within the first ``length`` seconds."""
        ...

    def terms(self, hs: np.ndarray) -> np.ndarray:
        """Sums (k, ny) of the magnitudes of the terms of the states at the times ``hs`` (k,)."""
        ...

    def at(self, h: float) -> np.ndarray:
        """State (ny,) at one time."""
        ...

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """States (k, ny) at the times ``hs`` (k,)."""
        ...


def integrate(
    trajectory: Course,
    f: Integrand,
    h0: float,
    h1: float,
    noise: np.ndarray | float = 0.0,
    name: str = INTEGRAL,
    rounding: Callable[[np.ndarray], np.ndarray] | None = None,
    corners: np.ndarray | None = None,
) -> np.ndarray:
    """Integral of ``f(y(h), h)`` over ``[h0, h1]``.

    Parameters
    ----------
    trajectory : Course
    f : callable
        Vectorised: states (k, ny) and times (k,) to values (k, m).
    h0, h1 : float
        Limits in seconds since the start of the trajectory.
    noise : (m,) or float
        Rounding in the values of ``f``; halving does not go below it.
    name : str
        What is integrated, for the warning.
    rounding : callable, optional
        Times (k,) to the rounding (k, m) in the values there.
    corners : (c,) array, optional
        Times between the limits at which panels have to end, ascending.

    Returns
    -------
    integral : (m,)

    Warns
    -----
    UserWarning
        If so many periods lie between the limits that the panels cannot resolve them.

    Notes
    -----
    The error is relative to the integral of the magnitude of each component, as small as that of the trajectory.
    Gauss-Kronrod rule of 10 and 21 points, exact for polynomials up to degree 31; panels that disagree are halved, all
    panels of one generation are evaluated in one call. The first panels are graded toward `h0` where the trajectory has
    decaying functions that are fast against the segment, and no longer than what a turning function needs.

    References
    ----------
    Piessens, de Doncker-Kapenga, Ueberhuber, Kahaner, "QUADPACK", Springer 1983.
    """
    if h1 <= h0:
        return np.zeros(np.asarray(f(trajectory.sample(np.array([h0])), np.array([h0]))).shape[1])
    return _panels(trajectory, f, h0, h1, noise, name, rounding, corners).total


def integrals(
    trajectory: Course, hs: np.ndarray, f: Integrand, rounding: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray:
    """Integrals (k, m) of ``f(y(h), h)`` from the start of a trajectory to times ``hs`` (k,), not all zero; see `integrate`.

    The panels are those of the integral to the last time, so that many times cost little more than one.
    """
    return _panels(trajectory, f, 0.0, float(hs.max()), 0.0, INTEGRAL, rounding).until(hs)


def _panels(
    trajectory: Course,
    f: Integrand,
    h0: float,
    h1: float,
    noise: np.ndarray | float,
    name: str,
    rounding: Callable[[np.ndarray], np.ndarray] | None,
    corners: np.ndarray | None = None,
) -> PanelIntegrals:
    """Integrals over panels of ``[h0, h1]``, h1 > h0."""

    def values(_: np.ndarray, hs: np.ndarray) -> np.ndarray:
        return np.asarray(f(trajectory.sample(hs.ravel()), hs.ravel()), float).reshape(*hs.shape, -1)

    def longest(_: np.ndarray, left: np.ndarray) -> np.ndarray:
        if isinstance(trajectory, Trajectory):
            return resolved_panels(trajectory.flow.basis, trajectory.C, left)
        # Steps of a solver resolve what they follow.
        return np.full(len(left), np.inf)

    edges, width = trajectory.edges(h0, h1), len(trajectory.y0)
    first = [edges if corners is None else np.union1d(edges, corners)]
    parts = Intervals(first, values, longest, width, trajectory.halvings, rounding)
    return integrate_intervals(parts, trajectory.precision, noise, name)


def turns_often(trajectory: Trajectory, h0: float, h1: float) -> bool:
    """Whether functions of a closed form turn too often within ``[h0, h1]`` for panels."""
    return bool(many_periods(trajectory.flow.basis, trajectory.C[None], np.array([h1 - h0]))[0])


def rough(trajectory: Course, bounds: Integrand, h0: float, h1: float) -> np.ndarray:
    """Error of integrands along a trajectory; ``bounds`` are sums of the magnitudes of their terms, which may cancel.

    They are taken at the ends and middles of the first panels.
    """
    edges = trajectory.edges(h0, h1)
    hs = np.sort(np.concatenate([edges, 0.5 * (edges[1:] + edges[:-1])]))
    size = bounds(trajectory.sample(hs), hs).max(axis=0)
    # What is zero up to rounding has no digits that halving could find.
    size = np.maximum(size, SMALLEST * size.max(initial=0.0))
    return max(SUMMED, trajectory.precision) * size
