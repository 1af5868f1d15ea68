"""What the values at the start follow from: which condition determines which variable."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ...flattening.flat_model import FlatModel
from ...results.record import Reasons
from .completion import Completion
from .conditions import Condition
from .initialization import Completed
from .priorities import MISSED
from .problem import StartProblem
from .stated import Rank, Starts

FOLLOWS = "follows from the equations"


def reporter(problem: StartProblem, q: np.ndarray, completed: Completed | None) -> Reasons:
    """Return the function that tells what the values at the start of a run follow from, with its integrals ``q``.

    ``problem`` is where its first instant began.
    """
    if problem.core.system is not None:
        return _of_states(problem, q)
    program, core, starts = problem.program, problem.core, problem.starts
    items = completed.conditions.items if completed else []
    found, left = (completed.found, completed.left) if completed else (None, None)
    unknowns, flat = program.unknowns, program.flat
    of_integrals = {}
    for x in np.flatnonzero(core.reduced.differentiated | starts.fixed | starts.given).tolist():
        target = unknowns.settable(x)
        if target is not None and target[0] == "integral":
            of_integrals[flat.variable(x)] = kind_of_integral(target, starts, q, x)
    elements = core.model.elements
    branches = {
        elements[k].path: (elements[k].branches[b].name, "initial mode") for k, b in starts.branches.items()
    }
    return partial(_reasons, items, found, left, flat, unknowns.listed, of_integrals, branches)


def kind_of_integral(target: tuple[Any, ...], starts: Starts, q: np.ndarray, x: int) -> str:
    """How the start of a variable that nothing reads came about; ``target`` is the integral that it is."""
    if starts.steady[x : x + 1].any() and not starts.fixed[x]:
        if q[target[1]] != target[2] * starts.value[x]:
            return "steady state"
    return starts.kind(x)


def _reasons(
    items: list[Condition],
    found: Completion | None,
    left: np.ndarray | None,
    flat: FlatModel,
    listed: dict[int, int],
    of_integrals: dict[str, str],
    branches: dict[str, tuple[str, str]],
) -> dict[str, tuple[str, str]]:
    """By path, the branch (else "") and the reason."""
    reasons: dict[int, str] = {}
    guesses: set[int] = set()
    if found is not None and left is not None:
        missed, system = found.missed, found.system
        order = np.lexsort((np.arange(len(system.rank)), system.rank))
        others = _own_values(items, found, order, missed, reasons)
        _compromises(items, found, left, reasons)
        _attribute(items, found, others, list(listed), reasons)
        meets = ~missed & ~found.determined
        meets &= np.isin(np.arange(len(items)), system.which)
        guesses = {k for k in np.flatnonzero(meets).tolist() if items[k].rank is Rank.GUESS}
    told = {flat.variable(x): ("", reasons.get(k, FOLLOWS)) for k, x in listed.items()}
    told.update({path: ("", reason) for path, reason in of_integrals.items()})
    for k, c in enumerate(items):
        if c.unknown < 0 and c.variable >= 0 and (c.rank is Rank.FIXED or k in guesses):
            told.setdefault(c.name, ("", c.kind))
    return {**told, **branches}


def _own_values(
    items: list[Condition], found: Completion, order: np.ndarray, missed: np.ndarray, reasons: dict[int, str]
) -> list[tuple[int, np.ndarray]]:
    """Enter prescribed values; return the other conditions that determine something, and the direction in which they do."""
    system = found.system
    basis: list[np.ndarray] = []
    others: list[tuple[int, np.ndarray]] = []
    for row in order.tolist():
        k = int(system.which[row])
        new = system.A[row].copy()
        for known in (*basis, *basis):
            new -= (known @ new) * known
        length = float(np.linalg.norm(new))
        if k >= 0 and items[k].unknown >= 0 and not missed[k]:
            default = items[k].kind == "default start" or items[k].rank is Rank.COMPUTED
            if length > MISSED or not default:
                reasons.setdefault(items[k].unknown, items[k].kind)
        if length > MISSED and not (k >= 0 and missed[k]):
            basis.append(new / length)
            if k >= 0 and items[k].variable < 0:
                others.append((k, basis[-1]))
    return others


def _compromises(
    items: list[Condition], found: Completion, left: np.ndarray, reasons: dict[int, str]
) -> None:
    """Tell the starts that hold no more than nearly, as others of their rank contradict them.

    Without nonlinear constraints those of unknowns that are ``left`` at their starts are none: a jump moves them from there.
    """
    curved = bool((found.system.which < 0).any())
    for k in np.flatnonzero(found.missed & found.room).tolist():
        c = items[k]
        if (
            c.unknown >= 0
            and (curved or not left[c.unknown])
            and c.rank in (Rank.GIVEN, Rank.PREFERRED, Rank.DEFAULT)
            and c.unknown not in reasons
        ):
            reasons[c.unknown] = f"nearest to its {c.kind}, which others contradict"


def _attribute(
    items: list[Condition],
    found: Completion,
    others: list[tuple[int, np.ndarray]],
    unknowns: list[int],
    reasons: dict[int, str],
) -> None:
    """Give each further condition the variable that depends on it most, among those that nothing else explains."""
    for k, direction in others:
        free = [j for j in unknowns if j not in reasons]
        if not free:
            return
        size = np.linalg.norm(found.of_states[free], axis=1)
        share = np.abs(found.of_states[free] @ direction) / np.where(size > 0.0, size, 1.0)
        best = int(np.argmax(share))
        if share[best] > MISSED:
            reasons[free[best]] = items[k].kind


def _of_states(problem: StartProblem, q: np.ndarray) -> Reasons:
    """The same for a large model: states have their starts, and all else follows from them."""
    program, core, starts, z = problem.program, problem.core, problem.starts, problem.z
    ids = np.flatnonzero(core.reduced.differentiated)
    W = core.reduced.W_core[ids]
    values = W @ z + core.readout.VK[ids] @ problem.xi
    size = np.maximum(abs(W) @ core.model.scale, np.abs(values))
    states = np.zeros(len(z), bool)
    states[core.system.mode.states] = True
    own = (np.diff(W.indptr) == 1) & (abs(W) @ states > 0.0)
    kept = own & (np.abs(values - starts.value[ids]) <= MISSED * size)
    integrals = {}
    for x in ids[np.diff(W.indptr) == 0].tolist():
        target = program.unknowns.settable(x)
        if target is not None and target[0] == "integral":
            integrals[x] = kind_of_integral(target, starts, q, x)
    return partial(
        _states_told, program.flat, starts, dict(zip(ids.tolist(), kept.tolist(), strict=True)), integrals
    )


def _states_told(
    flat: FlatModel, starts: Starts, kept: dict[int, bool], integrals: dict[int, str]
) -> dict[str, tuple[str, str]]:
    """By path; ``kept`` are the differentiated variables and whether they are states that have their start."""
    found = {}
    for x, own in kept.items():
        if x in integrals:
            reason = integrals[x]
        elif starts.fixed[x]:
            reason = starts.kind(x)
        elif starts.steady[x : x + 1].any():
            reason = "steady state"
        else:
            reason = starts.kind(x) if own else FOLLOWS
        found[flat.variable(x)] = "", reason
    return found
