"""Contacts that overlap at the start values: bodies are moved apart as far as their masses say."""

from __future__ import annotations

import numpy as np

from ...reduction.affine import Inadmissible, Kind
from ...reduction.complementarity import NoComplementarySolution
from ...reduction.impacts import touching_contacts
from ..failures import UNSOLVED
from ..instants.overlaps import all_open, moved_apart
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
    core = problem.core
    contacts = touching_contacts(
        core.model, core.mode(all_open(core, problem.mode, problem.state.forced)), which
    )
    positions = problem.program.unknowns.positions
    gaps, moved = moved_apart(core, contacts, positions, problem.z, problem.slopes, problem.xi)
    return float(np.max(-gaps, initial=0.0)), moved
