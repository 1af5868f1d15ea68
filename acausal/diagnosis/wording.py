"""What is wrong, why, and what to do about it, for equations that depend on each other."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ..errors import (
    ContradictionError,
    ContradictorySourcesError,
    ModeNotSquareError,
    SingularModelError,
    listed,
)
from .conflict import Conflict, Participant

MOST_NAMED = 6
"""Equations of one kind in one sentence."""
NEARLY = 1e-6
"""Relative change of factors that would make a conflict consistent, below which it looks like lost digits."""


def contradiction(
    conflict: Conflict, at: str = "", unknowns: Sequence[str] = ()
) -> ContradictionError | ContradictorySourcesError:
    """Return the error for equations that cannot all hold.

    Parameters
    ----------
    conflict : Conflict
    at : str
        Time, as the begin of the sentence; "" if it is so at all times.
    unknowns : sequence of str
        What nothing determines beside them.
    """
    first = _accused(conflict) or conflict.members
    others = [m for m in conflict.members if m not in first]
    kind = ContradictorySourcesError if conflict.of("element") else ContradictionError
    # A factor of zero that gets its value back determines them too.
    lacking = unknowns and not _zero_laws(conflict)
    left = f", and nothing determines {quoted(unknowns)}" if unknowns else ""
    joined = f"with {_listed(others)} " if others else ""
    between = [path for path in conflict.paths if all(path != m.place.path for m in first)]
    through = f", through {quoted(between)}" if len(first) == 1 and between else ""
    return kind(
        f"{at}equations contradict each other: {_listed(first)}{through}",
        where=[m.place for m in (*first, *others) if str(m.place)][:MOST_NAMED],
        why=f"{joined}they leave {conflict.defect:.6g} = 0" + left,
        hint=_way_out(conflict) + (f", and state an equation for {quoted(unknowns)}" if lacking else ""),
    )


def _zero_laws(conflict: Conflict) -> str:
    """What to do about factors of zero; "" without them, and for branches in force, which are to blame before."""
    return "" if conflict.of("element") else _zero_factors(conflict.members)


def _accused(conflict: Conflict) -> list[Participant]:
    """What most likely has to change: branches and what is given, else the laws with factors that do not agree."""
    found = list(conflict.of("element", "given"))
    laws = [m for m in conflict.of("law") if m.zeros] or _disagreeing(conflict)
    return found if conflict.of("element") else [*laws, *found]


def _disagreeing(conflict: Conflict) -> list[Participant]:
    """Laws of a loop, with at most one given quantity, whose factors contradict each other."""
    scaled = [m for m in conflict.of("law") if m.factors]
    return scaled if len(conflict.of("given")) < 2 and len(scaled) > 1 else []


def _way_out(conflict: Conflict) -> str:
    zeros = _zero_laws(conflict)
    if zeros:
        return zeros
    unconnected = ports_left_open(conflict)
    if unconnected:
        return f"connect {unconnected}: nothing is connected there, so its flow is zero"
    if conflict.of("element"):
        return "put a part that gives way between them, or check which elements are closed at the same time"
    given, scaled = conflict.of("given"), _disagreeing(conflict)
    if scaled:
        names = _texts(f"`{f}` of `{m.place.path}`" for m in scaled for f in m.factors)
        if conflict.gap < NEARLY:
            return (
                f"they miss each other by {conflict.gap:.1g} of their size: a factor has lost digits;"
                f" state {names} in full, or by an expression"
            )
        return (
            f"the loop can only rest: the factors {names} do not agree along it; correct a ratio,"
            " or leave out one of the parts"
        )
    if len(conflict.members) == 1:
        return "it holds no unknown that could satisfy it: remove it (`require(...)` is there to check parameters)"
    if not conflict.of("connection"):
        if len(conflict.paths) == 1:
            factors = _texts(f"`{f}`" for m in conflict.members for f in m.factors)
            return f"remove one of them{f', or change {factors}: by their values they are parallel' if factors else ''}"
        return "they close a loop that no value satisfies: change a gain in it, break it by a delay, or remove one of them"
    if len(given) < 2:
        return (
            "one given quantity alone contradicts the connections (a potential between points that are one, a flow"
            " without path)"
        )
    return (
        "no two of them may prescribe the same quantity (potentials in parallel, flows in series): drop all but one of the"
        " prescriptions, or put a part that gives way between the sources"
    )


def ports_left_open(conflict: Conflict) -> str:
    """Return the ports with nothing connected that take part, as a list in words."""
    flows = (m.text.partition("`")[2].partition("`")[0] for m in conflict.of("open"))
    return ", ".join(dict.fromkeys(f"`{flow.rpartition('.')[0]}`" for flow in flows))


def singular(
    conflicts: Sequence[Conflict], unknowns: Sequence[str], at: str = "", flows: bool = False
) -> SingularModelError | ModeNotSquareError:
    """Return the error for unknowns that nothing determines.

    Parameters
    ----------
    conflicts : sequence of Conflict
        Equations that say nothing new.
    unknowns : sequence of str
    at : str
        Time, as the begin of the sentence; "" if it is so at all times.
    flows : bool
        All of the unknowns are flows.
    """
    elements = any(c.of("element") for c in conflicts)
    kind = ModeNotSquareError if elements else SingularModelError
    members = [m for c in conflicts for m in c.members]
    return kind(
        f"{at}nothing determines {quoted(unknowns)}",
        where=[m.place for m in members if m.role != "connection" and str(m.place)][:MOST_NAMED],
        why=dependence(conflicts),
        hint=_remedy(conflicts, elements, flows),
        about=(*unknowns[:MOST_NAMED], *(m.place.path for c in conflicts[:3] for m in c.members)),
    )


def quoted(unknowns: Sequence[str]) -> str:
    """Return names of unknowns as a list in words."""
    return listed([f"`{name}`" for name in unknowns], MOST_NAMED)


def dependence(conflicts: Sequence[Conflict]) -> str:
    """Return what depends on what."""
    sentences = []
    for c in conflicts[:3]:
        if len(c.members) == 1 or len(c.members) == len(c.of("open")) + 1:
            sentences.append(f"{_listed(c.members)}: this says nothing about the unknowns")
        else:
            sentences.append(f"one of these equations follows from the others: {_listed(c.members)}")
    more = f"; and {len(conflicts) - 3} more such sets" if len(conflicts) > 3 else ""
    return "; ".join(sentences) + more


def _remedy(conflicts: Sequence[Conflict], elements: bool, flows: bool) -> str:
    if elements:
        return "too many elements are open in series or closed in parallel for the equations that remain"
    if not conflicts:
        return "connect a part that holds the unknowns (a reference, a compliance or an inertia), or state an equation for them"
    members = [m for c in conflicts for m in c.members]
    zeros = _zero_factors(members)
    if zeros:
        return zeros
    if flows:
        return "leave out one of the parts: what each of them carries is not determined; or give one some compliance"
    if any(c.of("connection", "open") and len(c.paths) > 1 for c in conflicts):
        return "connect a part that holds the unknowns: a reference, a compliance or an inertia"
    scaled = dict.fromkeys(f"`{f}`" for m in members for f in m.factors)
    if scaled:
        return (
            f"they depend on each other by the values of {', '.join(list(scaled)[:MOST_NAMED])}: change a parameter,"
            " or remove one of them and state an independent equation"
        )
    return "remove one of them, and state an independent equation for the unknowns named"


def _zero_factors(members: Iterable[Participant]) -> str:
    zeros = dict.fromkeys(f"`{z.removeprefix('-')}` in {m.located}" for m in members for z in m.zeros)
    return (
        f"the factor {' and '.join(list(zeros)[:3])} is zero: give the parameter another value"
        if zeros
        else ""
    )


def _listed(members: Sequence[Participant]) -> str:
    return listed([m.located for m in members], 2 * MOST_NAMED, "; ")


def _texts(texts: Iterable[str]) -> str:
    return ", ".join(list(dict.fromkeys(texts))[:MOST_NAMED])
