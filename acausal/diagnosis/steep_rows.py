"""Nonlinear equations that all but jump where a start is: there is a direction, of length zero, that nothing gives."""

from __future__ import annotations

import numpy as np

from ..dynamics.directions import generic_direction
from ..errors import AcausalError
from ..simulation.failures import StartSteep
from ..simulation.standing import Standing
from .nonlinear_points import stated

STEEP = 1e6
"""Term of a row at a point over the largest one beside it, from which the row all but jumps there."""
BESIDE = 0.1
"""Distance to the points beside it, in units of the scale."""


def with_steep_rows(now: Standing, failure: StartSteep) -> AcausalError:
    """Return an error of a start whose hint ends with the equations that all but jump where it was sought."""
    error = failure.error
    told = _told(now)
    if told:
        error.advise(f"{told}: give starts of positions away from there")
    return error


def steep_start(now: Standing) -> list[str]:
    """What to say of a start that was found where equations all but jump: it is one of what smooths the jump."""
    told = _told(now)
    found = "steady state" if now.starts.steady.any() else "start"
    return [
        f"at the {found} found, {told}: give starts of positions away from there to find another one"
    ] * bool(told)


def _told(now: Standing) -> str:
    rows = _steep_rows(now)
    if not rows:
        return ""
    found = stated(now, rows)
    return f"{found.text} all but jump at {found.values(now.linearisation.z)}"


def _steep_rows(now: Standing) -> list[int]:
    """Nonlinear rows with a slope at the last point that is far above those on both sides of it."""
    if not (now.numerical and now.reduced.nonlinear):
        return []
    tangents, owner = now.tangents, now.program.nonlinear_rows.owner
    here = tangents.arguments(now.linearisation.z, np.zeros(len(now.linearisation.z)), now.xi)
    step = BESIDE * tangents.scale * generic_direction(len(here))
    constants = tangents.constants(now.present)

    def terms(arguments: np.ndarray) -> np.ndarray:
        return np.abs(np.array(tangents.functions(0, [arguments], constants)[1])) * tangents.scale

    at, near = terms(here), np.maximum(terms(here + step), terms(here - step))
    largest = np.zeros(len(now.program.nonlinear_rows))
    # Where a function has no finite slope on one side, as an exponential, it is no peak that is here.
    np.maximum.at(largest, owner, np.where(np.isnan(near), np.inf, near))
    with np.errstate(invalid="ignore"):
        steep = ~(at <= STEEP * largest[owner]) & (near > 0.0)
    return np.unique(owner[steep]).tolist()
