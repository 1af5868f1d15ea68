"""Relations and guards as users wrote them, and what to say when one of them triggers without end."""

from __future__ import annotations

from ..errors import ChatteringError, Location
from ..flattening.flat_model import FlatModel
from ..flattening.template import expressions_of
from ..modeling.expressions import walk
from ..simulation.failures import NoProgress, Sliding
from ..simulation.standing import Standing


def relation_text(now: Standing, number: int) -> str:
    """Return a relation as written, with its component."""
    rows, i = now.reduced.relation_at(number)
    path = now.flat.path(rows.batch, i)
    return f"`{rows.relation.node}`" + (f" of `{path}`" if path else "")


def relation_place(now: Standing, number: int) -> Location:
    """Return the place of the statement with a relation."""
    rows, i = now.reduced.relation_at(number)
    return now.flat.location(
        rows.batch, i, now.flat.batches[rows.batch].template.origin_of(rows.relation.node)
    )


def form_name(now: Standing, hit: int) -> tuple[str, Location]:
    """What crossed, a guard of an element or a relation, and where it is stated."""
    n = len(now.data.Gy)
    if hit < n:
        name, place = now.program.unknowns.element_place(int(now.data.guard_element[hit]))
        return f"a guard of `{name}`", place
    number = now.relations[hit - n]
    return relation_text(now, number), relation_place(now, number)


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


def without_progress(now: Standing, failure: NoProgress) -> ChatteringError:
    """Return the error for the same event at the same time again and again."""
    what, place = ("a time event", None) if failure.hit is None else form_name(now, failure.hit)
    why = ""
    if failure.hit is not None and failure.hit >= len(now.data.Gy):
        why = _made_of(now, now.relations[failure.hit - len(now.data.Gy)])
    return ChatteringError(
        f"at t = {now.state.t:.9g} {what} triggers again and again without progress",
        where=() if place is None else (place,),
        why=why,
        hint="give it a hysteresis, or state the switching as a set-valued element (DryFriction, Modes)",
    )


def _made_of(now: Standing, number: int) -> str:
    """Return which equation compares, if a comparison is not written there but is that of a sign or an absolute value."""
    rows, _ = now.reduced.relation_at(number)
    node = rows.relation.node
    for statement in now.flat.batches[rows.batch].template.residuals:
        if any(n is node for e in expressions_of(statement) for n in walk(e)):
            return "" if str(node) in statement.text else f"`{statement.text}` chooses by it"
    return ""
