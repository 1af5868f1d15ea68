"""Why no mode was found, in the words of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..errors import (
    AcausalError,
    ContradictorySourcesError,
    InitializationError,
    Location,
    MixedRestitutionError,
    ModeNotSquareError,
    NoConsistentModeError,
    SimulationError,
)
from ..modes.affine import Inadmissible

if TYPE_CHECKING:
    from .run import Run


def search_failed(
    run: Run, error: Exception, forced: Sequence[int], reinits: Sequence[tuple[int, float]], kind: str
) -> AcausalError:
    """Return the error to raise for a failed search."""
    reasons = _reasons(run, error, forced)
    t = run.t
    kinds = {reason for reason, _ in reasons}
    where = tuple(dict.fromkeys(name for _, names in reasons for name in names))
    elements = [run.element_place(k) for k, b in enumerate(forced) if b >= 0]
    places = tuple(place for _, place in elements)
    if kinds == {"contradictory sources"}:
        return ContradictorySourcesError(
            f"at t = {t:.9g} ideal sources contradict each other: {'; '.join(where[:6])}",
            where=_places(run, where) or places[:4],
            why="the closed and open elements leave an equation between given quantities that does not hold",
            hint="put an impedance between source and switch, or check which elements are closed at the same time",
        )
    if "reinit" in kinds and (kinds == {"reinit"} or reinits):
        made = InitializationError if kind == "start" else SimulationError
        names = ", ".join(f"`{run.state_name(j)}` = {v:g}" for j, v in reinits)
        return made(
            f"at t = {t:.9g} the values {names} contradict the model: {'; '.join(where[:6])}",
            where=_places(run, where),
            hint="a value that constraints determine cannot be prescribed as well; drop `fixed` or the reinit",
        )
    if kinds == {"mixed restitution"}:
        return MixedRestitutionError(
            f"at t = {t:.9g} contacts with different restitution close together: {', '.join(where)}",
            hint="give them one restitution, or separate the impacts in time",
        )
    if kinds == {"singular"}:
        return ModeNotSquareError(
            f"at t = {t:.9g} the elements in force leave no unique solution: {'; '.join(where[:6])}",
            where=_places(run, where) or places[:4],
            hint="too many elements are open in series or closed in parallel for the equations that remain",
        )
    return NoConsistentModeError(
        f"no consistent mode at t = {t:.9g}\n{_history(run, error)}",
        where=places[:4],
        hint="no combination of branches satisfies all guards: look for ideal sources that elements short or cut",
    )


def _reasons(run: Run, error: Exception, forced: Sequence[int]) -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(error, Inadmissible):
        return [(error.reason, error.where)]
    found: list[tuple[str, tuple[str, ...]]] = []
    for _, verdict in getattr(error, "history", ()):
        reason, _, names = verdict.partition(": ")
        if reason in ("contradictory sources", "singular", "reinit", "mixed restitution"):
            found.append((reason, tuple(names.split(", "))))
        else:
            found.append(("violated", ()))
    return found


def _history(run: Run, error: Any) -> str:
    lines = []
    for mode, verdict in getattr(error, "history", ())[:12]:
        branches = ", ".join(
            f"{run.element_place(k)[0]}={e.branches[b].name}"
            for k, (e, b) in enumerate(zip(run.core.model.elements, mode, strict=True))
        )
        lines.append(f"    {branches[:200]}: {verdict}")
    return "\n".join(lines)


def _places(run: Run, names: Sequence[str]) -> tuple[Location, ...]:
    """Places of the elements among the culprits; equations carry theirs in the text."""
    table = {run.core.model.elements[k].path: k for k in range(len(run.core.model.elements))}
    return tuple(run.element_place(table[n])[1] for n in names if n in table)[:4]
