"""What a run says of its start when the first instant is complete."""

from __future__ import annotations

import numpy as np

from ..reduction.rounding import SUMMED
from ..simulation.failures import Started
from ..simulation.large.demands import guesses
from ..simulation.standing import Standing
from ..simulation.starts.initialization import Completed
from ..simulation.starts.priorities import MISSED
from .freedoms import islands, undetermined
from .nonlinear_points import stated
from .search_failures import conflicts_of, demanding
from .steep_rows import steep_start
from .wording import quoted


def start_notices(now: Standing, started: Started) -> list[str]:
    """Return what to say of a start: what was moved, is steep, has no ground, or is determined by nothing."""
    return [*_moved(now, started.completed), *steep_start(now), *_islands(now), *_undetermined(now)]


def _islands(now: Standing) -> list[str]:
    """What no integer row determines, said once for a compiled model."""
    if "islands" in now.program.warned:
        return []
    now.program.warned.add("islands")
    return list(islands(now.reduced, conflicts_of(now)))


def _undetermined(now: Standing) -> list[str]:
    """Unknowns that nothing determines, for constraints that follow from others among nonlinear ones.

    Where elements are open or closed, that is no matter for a warning.
    """
    if now.numerical and len(now.tangents.left_out):
        tangents = now.tangents
        left, whole = (stated(now, rows.tolist()).text for rows in (tangents.left_out, tangents.dependent))
        names = [now.program.unknowns.state_name(j) for j in tangents.open_unknowns(now.core.model).tolist()]
        follow = "follows" if len(tangents.left_out) == 1 else "follow"
        return [
            f"redundant: {left} {follow} from the other constraints of {whole}; nothing determines {quoted(names)};"
            " of all values that fit those are taken whose squares, of all variables in SI units, have the smallest sum"
        ]
    if now.numerical or now.core.model.elements or not now.data.undetermined.any():
        return []
    xi = now.xi
    conflicts, free = conflicts_of(now).of_mode(now.core.model, now.state.mode, xi)
    return [
        undetermined(conflicts, [now.program.unknowns.state_name(j) for j in np.flatnonzero(free).tolist()])
    ]


def _moved(now: Standing, completed: Completed | None) -> list[str]:
    """Given starts that do not hold after the first instant: they counted as left limits only.

    Those of computed variables are guesses, which nobody expects to stay.
    """
    starts = now.starts
    given = starts.given & ~starts.fixed
    guessed = set() if completed is None else completed.guessed()
    if now.core.system is not None:
        guessed = set(guesses(now.core, given & ~now.reduced.differentiated))
    # Beside a demanded steady state all starts are guesses.
    guessed |= set(np.flatnonzero(given).tolist()) if starts.steady.any() else set()
    guessed |= set(now.flat.computed.tolist())
    ids = [x for x in np.flatnonzero(given).tolist() if x not in guessed]
    moved, held = [], []
    for x, value in zip(ids, now.read(tuple(ids)).tolist(), strict=True):
        wanted = float(starts.value[x])
        if abs(value - wanted) > max(MISSED * max(abs(value), abs(wanted)), _rounding(now, x)):
            moved.append(f"`{now.flat.variable(x)}` from {wanted:g} to {value:g}")
            held.append((x, wanted))
    told = [_choice(now)] if completed is not None and completed.found.beside else []
    if moved:
        reason = "" if completed is None else _without_room(now, held)
        told.append(
            f"given starts contradict the model, which moves {', '.join(moved)} at the start{reason};"
            " Start(value, fixed=True) makes that an error"
        )
    return told


def _rounding(now: Standing, x: int) -> float:
    """What equations that are solved for a variable leave it to differ from a start of zero."""
    target = now.program.unknowns.settable(x)
    if target is None or target[0] != "core":
        return 0.0
    return SUMMED * float(now.core.model.scale[target[1]])


def _without_room(now: Standing, held: list[tuple[int, float]]) -> str:
    """Which parts determine given starts by themselves, whatever the states are."""
    data, found = now.data, []
    for x, wanted in held:
        target = now.program.unknowns.settable(x)
        if target is not None and target[0] == "core" and not data.T[target[1], : len(data.states)].any():
            parts = {p.path: None for p in demanding(now, (), data.mode, [(x, wanted)])}
            if parts:
                names = ", ".join(f"`{path or now.flat.label}`" for path in parts)
                found.append(f"the equations of {names} leave no other value to `{now.flat.variable(x)}`")
    return "".join(f"; {text}" for text in dict.fromkeys(found))


def _choice(now: Standing) -> str:
    """Start values that do not say which of several points is meant: slopes vanish at them."""
    at = np.flatnonzero(now.core.model.differentiated)
    names = [f"`{now.program.unknowns.state_name(j)}` = {now.state.z[j]:.6g}" for j in at.tolist()[:6]]
    return (
        f"the start values do not say which of several points is meant; taken: {', '.join(names)};"
        " give starts of position next to the point you mean"
    )
