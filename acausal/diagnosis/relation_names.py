"""Relations and guards as users wrote them, and what to say when one of them triggers without end."""

from __future__ import annotations

from ..errors import ChatteringError, Location
from ..simulation.failures import NoProgress
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
    n = run.tables.guards
    if hit < n:
        name, place = run.program.unknowns.element_place(int(run.data.guard_element[hit]))
        return f"a guard of `{name}`", place
    number = int(run.discrete.state_relations[hit - n])
    return relation_text(run, number), relation_place(run, number)


def without_progress(run: Run, failure: NoProgress) -> ChatteringError:
    """Return the error for the same event at the same time again and again."""
    what, place = ("a time event", None) if failure.hit is None else form_name(run, failure.hit)
    return ChatteringError(
        f"at t = {run.t:.9g} {what} triggers again and again without progress",
        where=() if place is None else (place,),
        hint="give it a hysteresis, or state the switching as a set-valued element (DryFriction, Modes)",
    )
