"""Relations and guards as users wrote them, and what to say when one of them triggers without end."""

from __future__ import annotations

from ..errors import ChatteringError, Location
from ..flattening.flat_model import FlatModel
from ..simulation.failures import NoProgress, Sliding
from ..simulation.run import Run


def relation_text(run: Run, number: int) -> str:
    """Return a relation as written, with its component."""
    rows, i = run.reduced.relation_at(number)
    path = run.flat.path(rows.batch, i)
    return f"`{rows.relation.node}`" + (f" of `{path}`" if path else "")


def relation_place(run: Run, number: int) -> Location:
    """Return the place of the statement with a relation."""
    rows, i = run.reduced.relation_at(number)
    return run.flat.location(
        rows.batch, i, run.flat.batches[rows.batch].template.origin_of(rows.relation.node)
    )


def form_name(run: Run, hit: int) -> tuple[str, Location]:
    """What crossed, a guard of an element or a relation, and where it is stated."""
    n = run.tables.count
    if hit < n:
        name, place = run.program.unknowns.element_place(int(run.data.guard_element[hit]))
        return f"a guard of `{name}`", place
    number = int(run.discrete.state_relations[hit - n])
    return relation_text(run, number), relation_place(run, number)


def sliding(flat: FlatModel, failure: Sliding) -> ChatteringError:
    """Return the error for comparisons without events along which a motion slides."""
    texts, places = [], []
    for batch, i, node in failure.which:
        path = flat.path(batch, i)
        texts.append(f"`{node}`" + (f" of `{path}`" if path else ""))
        places.append(flat.location(batch, i, flat.batches[batch].template.origin_of(node)))
    return ChatteringError(
        f"at t = {failure.t:.9g} the motion slides along {', '.join(dict.fromkeys(texts))} within no_event",
        where=tuple(dict.fromkeys(places)),
        why="the equations jump there, and on both sides the flow leads back at once: no step is short enough",
        hint="make it continuous there, or state the switching as a set-valued element (DryFriction, Modes)",
    )


def without_progress(run: Run, failure: NoProgress) -> ChatteringError:
    """Return the error for the same event at the same time again and again."""
    what, place = ("a time event", None) if failure.hit is None else form_name(run, failure.hit)
    return ChatteringError(
        f"at t = {run.state.t:.9g} {what} triggers again and again without progress",
        where=() if place is None else (place,),
        hint="give it a hysteresis, or state the switching as a set-valued element (DryFriction, Modes)",
    )
