"""Contacts that overlap at the start values: bodies are moved apart before their speeds decide anything.

The impulse of a force moves speeds, and the impulse of second order, the rate of one, moves positions in the same proportion.
So the law of an inelastic impact parts what overlaps: with gaps in place of speeds, each contact pushes no further than needed.
"""

from __future__ import annotations

import numpy as np

from ...reduction.affine import SLIDING, Inadmissible, Kind, Mode
from ...reduction.complementarity import NoComplementarySolution
from ...reduction.impact_law import collide
from ...reduction.impacts import FREE, Contacts, touching_contacts
from ...reduction.rounding import ROUNDING
from ..failures import UNSOLVED
from .problem import StartProblem


def parted(problem: StartProblem) -> StartProblem:
    """The problem with positions moved that let contacts overlap; as it is where nothing can move them."""
    model, at, nearest = problem.core.model, problem.z, np.inf
    which = [k for k, e in enumerate(model.elements) if e.kind is Kind.IMPACT and problem.state.forced[k] < 0]
    if not which:
        return problem
    lin, nonlinear = problem.linearisation, problem.reduced.nonlinear
    before = lin.core, lin.z, lin.last
    try:
        while True:
            if nonlinear:
                lin.linearise(at, problem.slopes, problem.xi, problem.values)
            overlap, moved = _moved(problem.at(z=at), which)
            if not 0.0 < overlap < nearest:
                break
            at, nearest = moved, overlap
    except (Inadmissible, NoComplementarySolution, *UNSOLVED):
        return problem
    finally:
        if nonlinear:
            lin.go_back(*before)
    return problem.at(z=at)


def _moved(problem: StartProblem, which: list[int]) -> tuple[float, np.ndarray]:
    """The largest overlap above rounding, and the left limits after a move that ends it."""
    core, z = problem.core, problem.z
    data = core.mode(_opened(problem))
    contacts, y = touching_contacts(core.model, data, which), data.state(z, problem.slopes, problem.xi)
    gaps, rounding = contacts.gaps(y), ROUNDING * (np.abs(contacts.distances) @ np.abs(y))
    overlap = float(np.max(-gaps[gaps < -rounding], initial=0.0))
    if not overlap:
        return overlap, z
    law = collide(contacts.inverse_masses, gaps, np.zeros(len(gaps)), rounding)
    step = contacts.jump @ law.rounds.sum(axis=0)
    rates = data.T @ (data.Ay[:, : len(step)] @ step)
    moved = z + np.where(_positions(problem, contacts), rates, 0.0)
    # What a move takes to zero is known to the rounding of where it was.
    moved[np.abs(moved) <= ROUNDING * np.abs(z)] = 0.0
    return overlap, moved


def _opened(problem: StartProblem) -> Mode:
    """The mode with all contacts open and all friction sliding: it transmits no impulse of second order."""
    held = problem.state.forced
    free = {Kind.IMPACT: FREE, Kind.FRICTION: SLIDING[0]}
    return tuple(
        f if f >= 0 else free.get(e.kind, b)
        for e, b, f in zip(problem.core.model.elements, problem.mode, held, strict=True)
    )


def _positions(problem: StartProblem, contacts: Contacts) -> np.ndarray:
    """Mask of the core unknowns that are positions with start values: those of ports, and those that gaps follow from."""
    of_gaps, states = np.zeros(len(problem.z), bool), contacts.data.states
    of_gaps[states] = (contacts.distances[:, : len(states)] != 0.0).any(axis=0)
    return (problem.program.unknowns.positions | of_gaps) & problem.core.model.differentiated
