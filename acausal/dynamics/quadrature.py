"""Integrals of functions of the state along one closed-form trajectory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import warn
from .basis import NODES, ROUNDING, panel_integrals, resolved_panels
from .modal import Trajectory

Integrand = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""States (k, ny) and times (k,) to values (k, m)."""

LEVELS = 45
"""Halvings after which a panel is taken as it is."""
STALE = 5
"""Halvings that leave most of the error after which it is rounding of the integrand."""
MOST_PANELS = 2**18
"""Panels of one integral; what turns more often is not resolved."""
CHUNK = 4_000_000
"""Numbers in one intermediate array."""
MANY = 4096
"""Panels that are not evaluated all at once."""


def integrate(
    trajectory: Trajectory,
    f: Integrand,
    h0: float,
    h1: float,
    rtol: float | None = None,
    noise: np.ndarray | float = 0.0,
    name: str = "an integral over time",
) -> np.ndarray:
    """Integral of ``f(y(h), h)`` over ``[h0, h1]``.

    Parameters
    ----------
    trajectory : Trajectory
    f : callable
        Vectorised: states (k, ny) and times (k,) to values (k, m).
    h0, h1 : float
        Limits in seconds since the start of the trajectory.
    rtol : float
        Error relative to the integral of the magnitude of each component; by default as good as the
        trajectory.
    noise : (m,) or float
        Rounding in the values of ``f``; halving does not go below it.
    name : str
        What is integrated, for the warning.

    Returns
    -------
    integral : (m,)

    Warns
    -----
    UserWarning
        If so many periods lie between the limits that the panels cannot resolve them.

    Notes
    -----
    Gauss-Kronrod rule of 10 and 21 points, exact for polynomials up to degree 31; panels that
    disagree are halved, all panels of one generation are evaluated in one call. The first panels
    are graded toward `h0` where the trajectory has decaying functions that are fast against the
    segment, and no longer than what a turning function needs.

    References
    ----------
    Piessens, de Doncker-Kapenga, Ueberhuber, Kahaner, "QUADPACK", Springer 1983.
    """
    if h1 <= h0:
        return np.zeros(np.asarray(f(trajectory.sample(np.array([h0])), np.array([h0]))).shape[1])
    return _halved(trajectory, f, h0, h1, trajectory.precision if rtol is None else rtol, noise, name)


def _halved(
    trajectory: Trajectory,
    f: Integrand,
    h0: float,
    h1: float,
    rtol: float,
    noise: np.ndarray | float,
    name: str,
) -> np.ndarray:
    """Integral over panels, those that disagree being halved."""
    edges = trajectory.edges(h0, h1)
    left, half = edges[:-1], 0.5 * np.diff(edges)
    total: np.ndarray | float = 0.0
    magnitude: np.ndarray | float = 0.0
    parent: np.ndarray | None = None
    stale: np.ndarray | int = 0
    last = min(LEVELS, trajectory.halvings + 1) - 1
    for level in range(last + 1):
        fine, error, size = _evaluated(trajectory, f, left, half)
        allowed = np.maximum(rtol * (half / (h1 - h0))[:, None] * (magnitude + size.sum(0)), ROUNDING * size)
        allowed = np.maximum(allowed, 2.0 * half[:, None] * noise)
        if parent is not None:
            halves = error.reshape(len(parent), 2, -1).sum(1)
            # Panels with many periods disagree at random, and halving them changes nothing either.
            long = 2.0 * half > _resolved(trajectory, left)
            stale = stale + (np.repeat(halves > 0.5 * parent, 2, axis=0) & ~long[:, None])
        # What is not a number stays one however small the panels.
        good = np.all((error <= allowed) | (stale >= STALE) | np.isnan(error), axis=1)
        if level == last or _too_many(trajectory, left[~good], half[~good], name, h1 - h0):
            good[:] = True
        total = total + fine[good].sum(0)
        if good.all():
            break
        magnitude = magnitude + size[good].sum(0)
        parent = error[~good]
        stale = np.repeat(np.broadcast_to(stale, error.shape)[~good], 2, axis=0)
        left, half = left[~good], 0.5 * half[~good]
        left = np.stack([left, left + 2.0 * half], 1).ravel()
        half = np.repeat(half, 2)
    return np.asarray(total)


@np.errstate(all="ignore")  # what is not finite is an error of its own, where it is read
def _evaluated(
    trajectory: Trajectory, f: Integrand, left: np.ndarray, half: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integrals, errors and integrals of the magnitude (k, m) of panels."""
    found = []
    step = max(1, CHUNK // (len(NODES) * max(1, len(trajectory.y0)))) if len(left) > MANY else len(left)
    for k in range(0, len(left), step):
        part = half[k : k + step]
        hs = ((left[k : k + step] + part)[:, None] + part[:, None] * NODES).ravel()
        values = np.asarray(f(trajectory.sample(hs), hs), float).reshape(len(part), len(NODES), -1)
        found.append(panel_integrals(values, part))
    if len(found) == 1:
        return found[0]
    fine, error, size = (np.concatenate(x) for x in zip(*found, strict=True))
    return fine, error, size


def _resolved(trajectory: Trajectory, left: np.ndarray) -> np.ndarray | float:
    """Longest panels at some times in which nothing turns too often."""
    if not isinstance(trajectory, Trajectory):
        # Steps of a solver resolve what they follow.
        return np.inf
    return resolved_panels(trajectory.flow.basis, trajectory.C, left)


def _too_many(trajectory: Trajectory, left: np.ndarray, half: np.ndarray, name: str, length: float) -> bool:
    """Whether panels would become too many before they resolve what turns; this is told."""
    if not len(left) or not isinstance(trajectory, Trajectory):
        return False
    needed = 2.0 * half / _resolved(trajectory, left)
    many = bool(needed.sum() > MOST_PANELS)
    if many:
        warn(unresolved(name, length))
    return many


def unresolved(name: str, length: float) -> str:
    """Text of the warning that a quantity has too many periods in a window of some length."""
    return (
        f"{name} is not resolved: it turns too often in {length:.3g} s without an event to be followed, and the value "
        "found is an estimate; give a shorter window, or take `at` for values at single times"
    )
