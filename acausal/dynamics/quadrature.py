"""Integrals of functions of the state along one closed-form trajectory."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..errors import warn
from .basis import Basis
from .modal import Trajectory
from .panels import first_edges, resolved_panels

Integrand = Callable[[np.ndarray, np.ndarray], np.ndarray]
"""States (k, ny) and times (k,) to values (k, m)."""

LEVELS = 45
"""Halvings after which a panel is taken as it is."""
ROUNDING = 4e-16
"""Error of a panel, relative to the integral of the magnitude, that halving cannot improve."""
STALE = 5
"""Halvings that leave most of the error after which it is rounding of the integrand."""
MOST_PANELS = 2**18
"""Panels of one integral; what turns more often is not resolved."""
CHUNK = 4_000_000
"""Numbers in one intermediate array."""
MANY = 4096
"""Panels that are not evaluated all at once."""

KRONROD_NODES = np.array([
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452, 0.930157491355708226001207180059508,
    0.865063366688984510732096688423493, 0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784, 0.294392862701460198131126603103866,
    0.148874338981631210884826001129720, 0.0,
])  # fmt: skip
"""Non-negative nodes of the 21 point rule; the odd ones are those of the 10 point Gauss rule."""
KRONROD_WEIGHTS = np.array([
    0.011694638867371874278064396062192, 0.032558162307964727478818972459390, 0.054755896574351996031381300244580,
    0.075039674810919952767043140916190, 0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109585166, 0.134709217311473325928054001771707, 0.142775938577060080797094273138717,
    0.147739104901338491374841515972068, 0.149445554002916905664936468389821,
])  # fmt: skip
GAUSS_WEIGHTS = np.array([
    0.066671344308688137593568809893332, 0.149451349150580593145863397657697, 0.219086362515982043995534934228163,
    0.269266719309996355091226921569469, 0.295524224714752870173815619188769,
])  # fmt: skip

NODES = np.concatenate([-KRONROD_NODES, KRONROD_NODES[-2::-1]])
WEIGHTS = np.concatenate([KRONROD_WEIGHTS, KRONROD_WEIGHTS[-2::-1]])
COARSE = np.zeros(21)
COARSE[1::2] = np.concatenate([GAUSS_WEIGHTS, GAUSS_WEIGHTS[::-1]])
RULES = np.stack([WEIGHTS, WEIGHTS - COARSE])


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
        found.append(_panels(values, part))
    return found[0] if len(found) == 1 else tuple(np.concatenate(x) for x in zip(*found, strict=True))  # type: ignore[return-value]


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


def integrate_together(
    basis: Basis,
    C: np.ndarray,
    f: Callable[[np.ndarray], np.ndarray],
    h0: np.ndarray,
    h1: np.ndarray,
    noise: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Integrals of ``f(C[i] phi(h))`` over ``[h0[i], h1[i]]`` by the first panels of `integrate` alone.

    Parameters
    ----------
    basis : Basis
    C : (k, m, basis.size)
        Combinations of the functions, ``h1 > h0`` within the reach of each.
    f : callable
        Vectorised over the last axis: (..., m) to (..., p).
    h0, h1 : (k,)
    noise : (k, p)

    Returns
    -------
    integrals : (k, p)
    good : (k,)
        Mask: the error is within the tolerance; the others need halving.
    """
    edges = _many_edges(basis, C, h0, h1)
    left, right = (np.concatenate([e[side] for e in edges]) for side in (slice(None, -1), slice(1, None)))
    panels = np.array([len(e) - 1 for e in edges])
    first, of = np.cumsum(panels) - panels, np.repeat(np.arange(len(edges)), panels)
    half = 0.5 * (right - left)
    hs = (left + half)[:, None] + half[:, None] * NODES
    phi = basis.sample(hs.ravel()).reshape(len(hs), len(NODES), -1)
    values = f(phi @ C[of].transpose(0, 2, 1))
    fine, error, size = _panels(values, half)
    magnitude = np.add.reduceat(size, first, axis=0)[of]
    allowed = np.maximum(Trajectory.precision * (half / (h1 - h0)[of])[:, None] * magnitude, ROUNDING * size)
    allowed = np.maximum(allowed, 2.0 * half[:, None] * noise[of])
    exact = np.all(error <= allowed, axis=1)
    return np.add.reduceat(fine, first, axis=0), np.logical_and.reduceat(exact, first)


def _many_edges(basis: Basis, C: np.ndarray, h0: np.ndarray, h1: np.ndarray) -> list[np.ndarray]:
    return [first_edges(basis, c, a, b) for c, a, b in zip(C, h0.tolist(), h1.tolist(), strict=True)]


def _panels(values: np.ndarray, half: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Integrals, errors and integrals of the magnitude (k, m) of panels from values (k, nodes, m)."""
    fine, difference = (RULES @ values).transpose(1, 0, 2) * half[:, None]
    size = WEIGHTS @ np.abs(values) * half[:, None]
    return fine, _error(difference, size), size


def _error(difference: np.ndarray, size: np.ndarray) -> np.ndarray:
    """Error of the fine rule from its difference to the coarse one, which converges half as fast (QUADPACK)."""
    difference = np.abs(difference)
    relative = difference / np.where(size > 0.0, size, 1.0)
    return difference * np.minimum(1.0, 200.0 * np.sqrt(200.0 * relative))
