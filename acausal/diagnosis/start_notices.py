"""What a run says of its start when the first instant is complete."""

from __future__ import annotations

import numpy as np

from ..simulation.failures import Started
from ..simulation.nonlinear.accuracy import ROUNDING
from ..simulation.run import Run
from ..simulation.starts.initialization import Completed
from ..simulation.starts.priorities import MISSED
from .freedoms import islands, undetermined
from .nonlinear_points import stated
from .search_failures import conflicts_of, demanding
from .steep_rows import steep_start
from .wording import quoted


def start_notices(run: Run, started: Started) -> list[str]:
    """Return what to say of a start: what was moved, is steep, has no ground, or is determined by nothing."""
    return [*_moved(run, started.completed), *steep_start(run), *_islands(run), *_undetermined(run)]


def _islands(run: Run) -> list[str]:
    """What no integer row determines, said once for a compiled model."""
    if "islands" in run.program.warned:
        return []
    run.program.warned.add("islands")
    return list(islands(run.reduced, conflicts_of(run)))


def _undetermined(run: Run) -> list[str]:
    """Unknowns that nothing determines, for constraints that follow from others among nonlinear ones.

    Where elements are open or closed, that is no matter for a warning.
    """
    if run.numerical and len(run.tangents.left_out):
        tangents = run.tangents
        left, whole = (stated(run, rows.tolist()).text for rows in (tangents.left_out, tangents.dependent))
        names = [run.program.unknowns.state_name(j) for j in tangents.open_unknowns(run.core.model).tolist()]
        follow = "follows" if len(tangents.left_out) == 1 else "follow"
        return [
            f"redundant: {left} {follow} from the other constraints of {whole}; nothing determines {quoted(names)};"
            " of all values that fit those are taken whose squares, of all variables in SI units, have the smallest sum"
        ]
    if run.numerical or run.core.model.elements or not run.data.undetermined.any():
        return []
    xi = run.sources.states(run.state.t, run.state.D, run.state.R)
    conflicts, free = conflicts_of(run).of_mode(run.core.model, run.state.mode, xi)
    return [
        undetermined(conflicts, [run.program.unknowns.state_name(j) for j in np.flatnonzero(free).tolist()])
    ]


def _moved(run: Run, completed: Completed | None) -> list[str]:
    """Given starts that do not hold after the first instant: they counted as left limits only.

    Those of computed variables are guesses, which nobody expects to stay.
    """
    starts = run.starts
    given = starts.given & ~starts.fixed
    # Nothing was completed in a large model: its states have their starts, all other starts are guesses.
    guessed = set(np.flatnonzero(~run.reduced.differentiated)) if completed is None else completed.guessed()
    # Beside a demanded steady state all starts are guesses.
    guessed |= set(np.flatnonzero(given).tolist()) if starts.steady.any() else set()
    guessed |= set(run.flat.computed.tolist())
    ids = [x for x in np.flatnonzero(given).tolist() if x not in guessed]
    moved, held = [], []
    for x, value in zip(ids, run.read(tuple(ids)).tolist() if ids else (), strict=True):
        wanted = float(starts.value[x])
        if abs(value - wanted) > max(MISSED * max(abs(value), abs(wanted)), _rounding(run, x)):
            moved.append(f"`{run.flat.variable(x)}` from {wanted:g} to {value:g}")
            held.append((x, wanted))
    told = [_choice(run)] if completed is not None and completed.found.beside else []
    if moved:
        reason = "" if completed is None else _without_room(run, held)
        told.append(
            f"given starts contradict the model, which moves {', '.join(moved)} at the start{reason};"
            " Start(value, fixed=True) makes that an error"
        )
    return told


def _rounding(run: Run, x: int) -> float:
    """What equations that are solved for a variable leave it to differ from a start of zero."""
    target = run.program.unknowns.settable(x)
    if target is None or target[0] != "core":
        return 0.0
    return ROUNDING * float(run.core.model.scale[target[1]])


def _without_room(run: Run, held: list[tuple[int, float]]) -> str:
    """Which parts determine given starts by themselves, whatever the states are."""
    data, found = run.data, []
    for x, wanted in held:
        target = run.program.unknowns.settable(x)
        if target is not None and target[0] == "core" and not data.T[target[1], : len(data.states)].any():
            parts = {p.path: None for p in demanding(run, (), data.mode, [(x, wanted)])}
            if parts:
                names = ", ".join(f"`{path or run.flat.label}`" for path in parts)
                found.append(f"the equations of {names} leave no other value to `{run.flat.variable(x)}`")
    return "".join(f"; {text}" for text in dict.fromkeys(found))


def _choice(run: Run) -> str:
    """Start values that do not say which of several points is meant: slopes vanish at them."""
    at = np.flatnonzero(run.core.model.differentiated)
    names = [f"`{run.program.unknowns.state_name(j)}` = {run.state.z[j]:.6g}" for j in at.tolist()[:6]]
    return (
        f"the start values do not say which of several points is meant; taken: {', '.join(names)};"
        " give starts of position next to the point you mean"
    )
