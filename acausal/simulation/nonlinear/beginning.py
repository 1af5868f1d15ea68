"""The consistent point next to the guess with which a motion begins."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ...dynamics.directions import generic_direction
from .motion import Motion, Place
from .newton import NewtonFailure, continued

BESIDE = (0.3, 3.0, 30.0, 300.0, 3000.0)
"""Distances, in units of the scale, to guesses beside one at which slopes vanish."""


def settled(motion: Motion, before: np.ndarray | None = None) -> Place:
    """The consistent point next to the guess a motion was made with; ``before`` are open unknowns of another begin."""
    system, guess, dependent = motion.system, motion.last, motion.selection.dependent
    X, H = guess.X, guess.H
    if len(dependent):
        X = motion.on_constraints(X, H, guess.xi, dependent)
    H = settled_unknowns(motion, X, H, before)
    y = np.concatenate((X, H))
    return Place(0.0, y, len(X), guess.xi, system.rate(y, guess.xi))


def settled_unknowns(
    motion: Motion, X: np.ndarray, H: np.ndarray, before: np.ndarray | None = None
) -> np.ndarray:
    """Open unknowns at coordinates ``X``; ``H`` is a guess that may lie far away, ``before`` one that may lie nearer."""
    try:
        return motion.open_unknowns(X, H, motion.last.xi)
    except NewtonFailure as failure:
        if before is not None:
            with suppress(NewtonFailure):
                return motion.open_unknowns(X, before, motion.last.xi)
        return _by_sources(motion, X, failure)


def _by_sources(motion: Motion, X: np.ndarray, failure: NewtonFailure) -> np.ndarray:
    """Open unknowns by continuation: sources and states grow from zero, where nothing flows, to their values.

    Where slopes vanish at zero the way begins beside it.
    """
    xi, scale = motion.last.xi, motion.system.open_scale
    for guess in (np.zeros(motion.system.m), scale, -scale):
        try:
            return continued(lambda s, H: motion.open_unknowns(s * X, H, s * xi), guess)
        except NewtonFailure:
            continue
    # The way itself may be singular at its begin, as that of a cube is.
    # A high power has hardly a slope near by either, and from far away it is descended quickly.
    beside = scale * generic_direction(motion.system.m)
    for distance in (
        (d * side for d in BESIDE for side in (1.0, -1.0)) if failure.reason == "singular" else ()
    ):
        try:
            return motion.open_unknowns(X, failure.x + distance * beside, xi)
        except NewtonFailure:
            continue
    raise failure
