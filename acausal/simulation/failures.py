"""Why no mode was found, in the words of the model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import (
    AcausalError,
    ContradictorySourcesError,
    InitializationError,
    Location,
    MixedRestitutionError,
    ModeNotSquareError,
    NoConsistentModeError,
    RequirementError,
    SimulationError,
    SingularModelError,
)
from ..flattening.template import place_of
from ..modes.affine import Inadmissible
from ..modes.labels import integer_row_name
from .curved_failures import tangents_contradict

if TYPE_CHECKING:
    from .run import Run


def search_failed(
    run: Run, error: Exception, forced: Sequence[int], reinits: Sequence[tuple[int, float]], kind: str
) -> AcausalError:
    """Return the error to raise for a failed search; ``reinits`` are (variable, value) that must hold."""
    reasons = _reasons(error)
    t = run.t
    kinds = {reason for reason, _ in reasons}
    where = tuple(dict.fromkeys(name for _, names in reasons for name in names))
    elements = [run.element_place(k) for k, b in enumerate(forced) if b >= 0]
    places = tuple(place for _, place in elements)
    curved = tangents_contradict(run, where, "start" if kind == "start" else "restart")
    if kinds <= {"contradictory sources", "singular"} and curved is not None:
        return curved
    if kinds == {"contradictory sources"}:
        given = _given(run, error, forced, where)
        switched = any(e.path in where for e in run.core.model.elements)
        return ContradictorySourcesError(
            f"at t = {t:.9g} ideal sources contradict each other: {'; '.join((*where[:6], *given[:6]))}",
            where=_places(run, where) or places[:4],
            why=f"{'the closed and open elements' if switched else 'they'} leave an equation between"
            " given quantities that does not hold",
            hint="put an impedance between source and switch, or check which elements are closed at the same time"
            if switched
            else "put an impedance between the sources, or drop all but one of the prescriptions",
        )
    if "reinit" in kinds and (kinds == {"reinit"} or reinits):
        made = InitializationError if kind == "start" else SimulationError
        names = ", ".join(f"`{run.flat.variable(x)}` = {v:g}" for x, v in reinits)
        several = len(reinits) > 1
        return made(
            f"at t = {t:.9g} {names} cannot {'all ' * several}hold after the instant",
            where=_prescribed(run, reinits, kind),
            why=_constraints(run, error, reinits),
            hint="a value that constraints determine cannot be prescribed as well: drop `fixed`, the initial value or the reinit,"
            " or put a part between",
        )
    if kinds == {"mixed restitution"}:
        return MixedRestitutionError(
            f"at t = {t:.9g} contacts with different restitution close together: {', '.join(where)}",
            where=_places(run, where),
            why="Newton's law of impact has no answer for several different ratios in one instant",
            hint="give them one restitution, or separate the impacts in time",
        )
    if kinds == {"singular"} and not run.core.model.elements:
        return SingularModelError(
            f"the equations do not determine all unknowns: {'; '.join(where[:6])}",
            why="one of the equations named follows from the others, or contradicts them",
            hint="state an independent equation for each of the unknowns named",
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


def _given(run: Run, error: Exception, forced: Sequence[int], where: Sequence[str]) -> tuple[str, ...]:
    """Equations that give quantities to the culprits; presolve has put them in the place of variables."""
    model = run.reduced
    V, U, kept = model.presolved.V, model.presolved.U, model.presolved.kept_row_origin
    rows = [k for k in model.core_rows.tolist() if integer_row_name(model, int(kept[k])) in where]
    origins = [V.col[V.ptr[x] : V.ptr[x + 1]] for x in _variables(run, error, forced, where)]
    origins += [U.col[U.ptr[k] : U.ptr[k + 1]] for k in rows]
    found = dict.fromkeys(r for origin in origins for r in origin.tolist() if model.row_known[r] >= 0)
    return tuple(integer_row_name(model, r) for r in found)


def _variables(run: Run, error: Exception, forced: Sequence[int], where: Sequence[str]) -> list[int]:
    """Variables in the equations of the elements among the culprits, in the branches that were tried."""
    model, stamps = run.reduced, run.flat.stamps
    modes = [tuple(forced), *(mode for mode, _ in getattr(error, "history", ()))]
    keys = {r.first: tuple(r.form.factors) for r in model.rows} | {
        c.first: c.curve.keys for c in model.curves
    }
    places = [(rows, i) for rows in model.elements for i in range(len(stamps[rows.stamp].vb))]
    found: dict[int, None] = {}
    for k, element in enumerate(run.core.model.elements):
        rows, i = places[k]
        for branch in dict.fromkeys(mode[k] for mode in modes if mode[k] >= 0 and element.path in where):
            for first in rows.branches[branch][0]:
                found.update((int(stamps[rows.stamp].vb[i]) + x, None) for x, _ in keys[first])
    return list(found)


def _reasons(error: Exception) -> list[tuple[str, tuple[str, ...]]]:
    if isinstance(error, Inadmissible):
        return [(error.reason, error.where)]
    found: list[tuple[str, tuple[str, ...]]] = []
    for _, verdict in getattr(error, "history", ()):
        reason, _, names = verdict.partition(": ")
        if reason in ("contradictory sources", "singular", "reinit", "mixed restitution"):
            found.append((reason, _split(names)))
        else:
            found.append(("violated", ()))
    return found


def _split(names: str) -> tuple[str, ...]:
    """Parts between commas outside of parentheses."""
    parts, depth = [""], 0
    for c in names:
        depth += (c == "(") - (c == ")")
        if c == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += c
    return tuple(p.strip() for p in parts)


def _prescribed(run: Run, reinits: Sequence[tuple[int, float]], kind: str) -> tuple[Location, ...]:
    """Where values are prescribed: components with start values, else the statements with the reinits."""
    if kind == "start":
        places = [place_of(run.flat.root, run.flat.variable(x)) for x, _ in reinits]
        return tuple(dict.fromkeys(p for found in places for p in found))
    wanted = {x for x, _ in reinits}
    branches = run.program.discrete.branches
    return tuple(dict.fromkeys(b.place for b in branches if any(x in wanted for x, _ in b.reinits)))


def _constraints(run: Run, error: Exception, reinits: Sequence[tuple[int, float]]) -> str:
    """What the constraints of the first candidate say about the prescribed variables."""
    mode = next((m for m, verdict in getattr(error, "history", ()) if verdict.startswith("reinit")), run.mode)
    data, model = run.core.mode(mode), run.core.model
    xi = run.sources.states(run.t, run.D, run.R)
    found: dict[str, None] = {}
    for j, _ in run.core_only(list(reinits)):
        row = data.T[j]
        if not row[: len(data.states)].any():
            found.setdefault(f"`{run.state_name(j)}` = {float(row[len(data.states) :] @ xi):g}")
        for row in data.constraints:
            if abs(row[j]) * model.scale[j] > 1e-9 * float(np.max(np.abs(row[: model.n]) * model.scale)):
                found.setdefault(
                    _equation(run, row[: model.n] / row[j], float(row[model.n :] @ xi / row[j]), j)
                )
    return f"the equations in force demand {' and '.join(found)}" if found else ""


def _equation(run: Run, row: np.ndarray, known: float, j: int) -> str:
    """``x = ...`` from ``row @ z + known = 0`` with ``row[j] = 1``."""
    terms = [f"{-c:g}*`{run.state_name(k)}`" for k, c in enumerate(row.tolist()) if k != j and abs(c) > 1e-12]
    text = " + ".join(
        t.removeprefix("1*") for t in terms + [f"{0.0 - known:g}"] * (known != 0.0 or not terms)
    )
    return f"`{run.state_name(j)}` = {text}"


def requirement_failed(
    message: str, place: Location, condition: str, t: float | None = None
) -> RequirementError:
    """Return the error for a ``require`` that does not hold; ``t`` is None when parameters alone decide."""
    when = "" if t is None else f" (at t = {t:.9g})"
    hint = (
        "change the parameters in it" if t is None else "change the model, its parameters or its start values"
    )
    return RequirementError(f"{message}{when}", where=(place,), why=f"`{condition}` does not hold", hint=hint)


def _history(run: Run, error: Any) -> str:
    lines = []
    for mode, verdict in getattr(error, "history", ())[:12]:
        branches = ", ".join(
            f"{e.path}={e.branches[b].name}" for e, b in zip(run.core.model.elements, mode, strict=True)
        )
        lines.append(f"    {branches[:200]}: {verdict}")
    return "\n".join(lines)


def _places(run: Run, names: Sequence[str]) -> tuple[Location, ...]:
    """Places of the elements among the culprits; equations carry theirs in the text."""
    table = {run.core.model.elements[k].path: k for k in range(len(run.core.model.elements))}
    return tuple(run.element_place(table[n])[1] for n in names if n in table)[:4]
