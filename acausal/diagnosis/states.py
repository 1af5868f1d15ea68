"""Which variables are integrated, and why these."""

from __future__ import annotations

import numpy as np

from .aliases import Aliases
from .equations import Equations
from .facts import SelectedState
from .findings import Findings, Key

MOST_GIVEN = 4
"""Variables, given by a state through constraints, in its reason."""


def described_states(equations: Equations, aliases: Aliases, found: Findings) -> tuple[SelectedState, ...]:
    """Return the states of a mode with the reasons for their choice."""
    representative = aliases.classes.representative
    tied = _tied(found)
    made = []
    for v, order in (*found.states, *((v, 0) for v in found.integrals)):
        root = int(representative[v])
        members = np.flatnonzero(representative == root)
        start = aliases.start_of(root) if order == 0 else float("nan")
        fixed = bool(aliases.fixed[members].any()) and order == 0
        unit = equations.unit(root) + ("/s" * min(order, 1)) + (str(order) if order > 1 else "")
        if v in found.integrals and order == 0:
            why = "an integral that nothing else depends on"
        else:
            why = _why(equations, aliases, tied.get((v, order)), (v, order), found)
        made.append(SelectedState(equations.variable(root, order), unit, start, fixed, why))
    return tuple(made)


def _tied(found: Findings) -> dict[Key, list[Key]]:
    """States -> what constraints determine from them."""
    states, tied = set(found.states), {}
    for c in found.affine:
        for v in c.factors:
            if (v, 0) in states:
                tied.setdefault((v, 0), []).append((c.dependent, 0))
    solved = [k for k in found.coordinates if k not in states]
    if any(found.hidden.values()):
        for k in found.coordinates:
            if k in states:
                tied.setdefault(k, []).extend(solved)
    return tied


def _why(equations: Equations, aliases: Aliases, others: list[Key] | None, key: Key, found: Findings) -> str:
    if not others:
        return "differentiated, and not constrained"
    names = list(
        dict.fromkeys(equations.variable(int(aliases.classes.representative[v]), o) for v, o in others)
    )
    shown = ", ".join(names[:MOST_GIVEN]) + (", ..." if len(names) > MOST_GIVEN else "")
    own, best = _priority(equations, aliases, key), max(_priority(equations, aliases, k) for k in others)
    if own > best:
        return f"gives {shown} by constraints, preferred by its state_priority"
    if key in found.coordinates and any(found.hidden.values()):
        return f"gives {shown} by constraints, which it does best at this point"
    return f"gives {shown} by constraints, chosen by the size of the factors"


def _priority(equations: Equations, aliases: Aliases, key: Key) -> float:
    members = np.flatnonzero(aliases.classes.representative == aliases.classes.representative[key[0]])
    values = (getattr(equations.field(v), "state_priority", 0) for v in members.tolist())
    return max(values, key=abs, default=0)
