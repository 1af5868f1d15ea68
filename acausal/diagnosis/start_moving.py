"""What moves for ever where all else rests: why there is no steady state, and how to start without one."""

from __future__ import annotations

import numpy as np

from ..errors import AcausalError, InitializationError
from ..flattening.template import place_of
from ..simulation.failures import UNSOLVED, MovesForEver
from ..simulation.standing import Standing
from ..simulation.starts.completion import Completion, Unreachable, completion
from ..simulation.starts.conditions import Conditions
from ..simulation.starts.frames import Frame
from ..simulation.starts.priorities import MISSED, least_squares
from ..simulation.starts.stated import Rank

MOST_NAMED = 8


def moves_for_ever(now: Standing, failure: MovesForEver) -> InitializationError:
    """Return the error for variables that cannot rest though no rate depends on them."""
    ids, rates, fixing = failure.variables, failure.rates, failure.fixing
    names = [now.flat.variable(x) for x in ids[:MOST_NAMED]]
    told = [
        f"`{name}` at {rate:.6g} {_per_second(now, x)}"
        for name, rate, x in zip(names, rates, ids, strict=False)
    ]
    more = f" and {len(ids) - MOST_NAMED} more" if len(ids) > MOST_NAMED else ""
    values = ", ".join(f'"{now.flat.variable(x)}": {now.starts.value[x]:.9g}' for x in fixing[:MOST_NAMED])
    verb = "move" if len(ids) > 1 else "moves"
    return InitializationError(
        f"there is no steady state at t = {now.state.t:.9g}: {', '.join(told)}{more} {verb} for ever",
        where=tuple(dict.fromkeys(p for n in names for p in place_of(now.flat.root, n))),
        why="no rate depends on it, so that it need not rest for all else to rest"
        if len(ids) == 1
        else "no rate depends on them, so that they need not rest for all else to rest",
        hint=f'start the rest of the model at rest: initial={{"": "steady state", {values}}}, where what is given may move',
    )


def _per_second(now: Standing, x: int) -> str:
    unit = now.program.unknowns.unit(x)
    return f"{unit}/s" if unit not in ("", "1") else "per second"


def moving(now: Standing, conditions: Conditions, failure: Unreachable) -> InitializationError | None:
    """Return the error that names what moves for ever, if all else can rest; else None."""
    found = _free(conditions, failure)
    if not len(found):
        return None
    problem = conditions.problem
    relaxed = Conditions(problem)
    relaxed.rank[found] = Rank.STEADY_FIXED
    try:
        rest = completion(relaxed, Frame(problem))
    except (AcausalError, Unreachable, *UNSOLVED):
        return None
    items, model = conditions.items, now.core.model
    unknowns = np.array([items[k].rate_of for k in found.tolist()])
    rates = rest.slopes[unknowns]
    moves = np.abs(rates) * model.T0 > MISSED * model.network_scale[unknowns]
    ids = [now.program.unknowns.listed[j] for j in unknowns[moves].tolist()]
    if not ids or not _alone(relaxed, rest, found[moves]):
        return None
    fixing = [ids[k] for k in _independent(rest.of_states[unknowns[moves]])]
    return moves_for_ever(now, MovesForEver(ids, rates[moves].tolist(), fixing))


def _free(conditions: Conditions, failure: Unreachable) -> np.ndarray:
    """Conditions of rest of the variables that move along directions in which no rate changes, nor what is fixed."""
    system, nearest = failure.system, failure.nearest
    steady = np.flatnonzero(conditions.rank == Rank.STEADY)
    if not len(steady) or not len(system.A):
        return steady[:0]
    _, free = least_squares(system.A[system.top], np.zeros(int(system.top.sum())))
    over = nearest.of_states[[conditions.items[k].rate_of for k in steady.tolist()]]
    size = np.linalg.norm(over, axis=1)
    return steady[np.linalg.norm(over @ free, axis=1) > MISSED * np.maximum(size, np.finfo(float).tiny)]


def _alone(conditions: Conditions, rest: Completion, moving: np.ndarray) -> bool:
    """Whether the motion at a point changes no rate but those of ``moving``: else nothing stays at rest."""
    speed = least_squares(rest.of_states, rest.slopes)[0]
    rates = np.array([c.rate_of >= 0 for c in conditions.items])
    rates[moving] = False
    system = rest.system
    change = system.A[(system.which >= 0) & rates[system.which]] @ speed
    return bool((np.abs(change) <= MISSED * np.linalg.norm(speed)).all())


def _independent(rows: np.ndarray) -> list[int]:
    """The first rows that the others are combinations of."""
    kept: list[int] = []
    basis = np.zeros((0, rows.shape[1]))
    for k, row in enumerate(rows):
        new = row / np.linalg.norm(row)
        new = new - basis.T @ (basis @ new)
        new = new - basis.T @ (basis @ new)
        if np.linalg.norm(new) > MISSED:
            kept.append(k)
            basis = np.vstack([basis, new / np.linalg.norm(new)])
    return kept
