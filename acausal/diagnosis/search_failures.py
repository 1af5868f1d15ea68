"""Why no mode was found, in the words of the model."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..errors import (
    AcausalError,
    DiscreteValueError,
    DuplicateWriterError,
    ImpactError,
    InitializationError,
    Location,
    NoConsistentModeError,
    NonFiniteError,
    RequirementError,
    SimulationError,
)
from ..flattening.open_ports import with_open_ports
from ..flattening.template import place_of
from ..reduction.affine import SLIDING, Inadmissible, Kind, Mode
from ..reduction.impact_law import MOST_ROUNDS
from ..reduction.labels import flow_like
from ..simulation.failures import (
    CrossingUnresolved,
    DiscreteUnsound,
    GivenContradict,
    ImpactsUnending,
    NoMotionAfterImpact,
    ReadNotFinite,
    RequirementMissed,
    SearchFailed,
    SeveralModes,
    TwoReinits,
)
from ..simulation.instants.search import History, NoConsistentMode
from ..simulation.standing import Standing
from .conflict import Conflict
from .conflicts import Conflicts, first_defect
from .nonlinear_failures import tangents_contradict
from .wording import MOST_NAMED, contradiction, singular

TAKES_PART = 1e-9
"""Term of a variable, relative to the largest of its constraint at the scales of the model, below which it is rounding of the
analysis: a value that is prescribed does not contradict that constraint."""
NO_TERM = 1e-12
"""Factor of a variable that is not printed: what cancelled ones leave of rounding where others are about one."""


SearchError = NoConsistentMode | Inadmissible


def search_failed(now: Standing, failure: SearchFailed) -> AcausalError:
    """Return the error for a failed search."""
    error, forced, reinits, kind = failure.cause, failure.forced, failure.reinits, failure.kind
    history, refused = _tried(error), _refused(error)
    kinds = {None if r is None else r.reason for r in refused}
    if kinds <= {"contradictory sources", "singular"}:
        nonlinear = tangents_contradict(now, refused, "start" if kind == "start" else "restart")
        if nonlinear is not None:
            return nonlinear
    if kinds == {"contradictory sources"}:
        return contradiction(_conflicts(now, history, forced)[0][0], _at(now))
    if "reinit" in kinds and (kinds == {"reinit"} or reinits):
        return _not_held(now, history, forced, reinits, kind)
    if kinds == {"singular"}:
        return _undetermined(now, history, forced)
    return _inconsistent(now, error, forced)


def crossing_unresolved(now: Standing, failure: CrossingUnresolved) -> AcausalError:
    """Return the error for a crossing whose consequences are lost in rounding."""
    path, place = now.program.unknowns.element_place(failure.element)
    owner, name = f"{path}.", now.core.model.elements[failure.element].path
    values = {now.flat.parameter(k): abs(v) for k, v in enumerate(now.present.P.tolist()) if v}
    own = {p: v for p, v in values.items() if p.startswith(owner)}
    smallest = min(own, key=own.__getitem__, default=None)
    named = "" if smallest is None else f" (the smallest is {smallest} = {own[smallest]:g})"
    return NoConsistentModeError(
        f"{_at(now)}`{name}` has to change its branch, and in no other can its sign be told from rounding",
        where=(place,),
        why="what is asked is the difference of large values times a large factor: losses that are too small to be resolved",
        hint=f"set small losses to zero, which is exact, or make them larger{named}",
    )


def conflicts_of(now: Standing) -> Conflicts:
    """What names equations of a run that depend on each other."""
    core = now.base
    return Conflicts(core.reduced, core.values, core.exosystem)


def given_contradict(now: Standing, failure: GivenContradict) -> AcausalError:
    """Return the error for known quantities that contradict each other through an integer row.

    What else a single component leaves open in the mode in force is named with it.
    """
    reduced, model, conflicts, k, xi = now.reduced, now.base.model, conflicts_of(now), failure.row, failure.xi
    R = reduced.presolved.R
    part = slice(R.ptr[k], R.ptr[k + 1])
    weights = dict(zip(R.col[part].tolist(), R.val[part].tolist(), strict=True))
    sources = (reduced.contradictions[[k]] @ now.base.exosystem.K).toarray()[0]
    conflict = conflicts.of_integer_rows(weights, first_defect(sources, model, xi))
    unknowns: list[str] = []
    if not conflict.of("connection", "open"):
        core = conflicts.of_mode(model, now.state.mode, xi)[1]
        loose = dict.fromkeys(int(v) for island in reduced.presolved.islands for v in island)
        unknowns = [now.flat.variable(v) for v in loose]
        unknowns += [model.names[j] for j in np.flatnonzero(core).tolist()]
    constant = not sources[1:].any()
    return contradiction(conflict, "" if constant else _at(now), unknowns)


def _at(now: Standing) -> str:
    return f"at t = {now.state.t:.9g} "


def _not_held(
    now: Standing, history: History, forced: Sequence[int], reinits: Sequence[tuple[int, float]], kind: str
) -> AcausalError:
    """Prescribed values contradict the equations."""
    made = InitializationError if kind == "start" else SimulationError
    names = ", ".join(f"`{now.flat.variable(x)}` = {v:g}" for x, v in reinits)
    several = len(reinits) > 1
    return made(
        f"{_at(now)}{names} cannot {'all ' * several}hold after the instant",
        where=(*_prescribed(now, reinits, kind), *demanding(now, history, forced, reinits)),
        why=constraints_on(now, history, reinits),
        hint="a value that constraints determine cannot be prescribed as well: drop `fixed`, the initial value or the reinit,"
        " or put a part between",
    )


WHY_IMPACT = {
    "energy": "impacts and friction together would add energy: Newton's law of impact with these coefficients has no motion",
    "unsettled": "sliding, sticking and closing branches follow each other without end while the impulses are sought",
    "nonlinear": "the momentum of what collides is no linear function of its speed",
    "turned": "what is lost of an impulse depends on the direction of a speed that it turns around, and no law splits it there",
    "unsolved": "no impulses of the contacts that touch stop their approach",
}
HINT_IMPACT = {
    "unsolved": "no restitution above zero changes that: let what is struck yield, or take a stiff spring and damper in the place"
    " of the rigid contact",
}


def impact_failed(now: Standing, record: NoMotionAfterImpact) -> ImpactError:
    """Return the error for contacts to which the law of impact gives no motion."""
    failure = record.cause
    names = [now.core.model.elements[k].path for k in failure.elements]
    places = [now.program.unknowns.element_place(k)[1] for k in failure.elements]
    return ImpactError(
        f"{_at(now)}no motion follows the impact at {', '.join(names[:MOST_NAMED])}",
        where=tuple(dict.fromkeys(places))[:MOST_NAMED],
        why=WHY_IMPACT[failure.why],
        hint=HINT_IMPACT.get(
            failure.why,
            "take a lower restitution, or a stiff spring and damper in the place of the rigid contact",
        ),
    )


def unending_impacts(now: Standing, notice: ImpactsUnending) -> str:
    """Return the warning of impacts that did not end within an instant."""
    names = ", ".join(now.core.model.elements[k].path for k in notice.elements[:MOST_NAMED])
    return f"{_at(now)}impacts at {names} do not end after {MOST_ROUNDS} rounds: their rest counts as plastic"


def several_modes(now: Standing, notice: SeveralModes) -> str:
    """Return the warning of frictions that break away together, of which some could stay at rest."""
    elements = now.core.model.elements

    def sliding(mode: Mode) -> list[str]:
        return [
            f"`{e.path}` {e.branches[b].name}"
            for e, b, a in zip(elements, mode, now.state.mode, strict=True)
            if e.kind is Kind.FRICTION and b in SLIDING and a not in SLIDING
        ]

    ways = "; or ".join(", ".join(sliding(mode)) for mode in notice.others)
    return (
        f"{_at(now)}several motions are possible: all that cannot hold at the breakaway levels slide"
        f" ({', '.join(sliding(notice.chosen))}), but fewer could: {ways}"
    )


def _undetermined(now: Standing, history: History, forced: Sequence[int]) -> AcausalError:
    """Equations that depend on each other, and the unknowns that they leave open."""
    conflicts, free = _conflicts(now, history, forced)
    unknowns = [now.program.unknowns.state_name(j) for j in free]
    if conflicts and conflicts[0].defect:
        return contradiction(conflicts[0], _at(now), unknowns)
    flows = flow_like(now.reduced)[now.reduced.presolved.y[now.reduced.core[free]]]
    found = singular(conflicts, unknowns, _at(now) if now.core.model.elements else "", bool(flows.all()))
    zeros = any(m.zeros for c in conflicts for m in c.members)
    return found if zeros else with_open_ports(found, now.flat)


def _inconsistent(now: Standing, error: SearchError, forced: Sequence[int]) -> AcausalError:
    """Every combination of branches that was tried violates a guard; the elements that contradict each other are named."""
    elements = error.elements if isinstance(error, NoConsistentMode) else ()
    complete = not isinstance(error, NoConsistentMode) or error.complete
    bends = complete and bool(now.reduced.nonlinear)
    names = [now.core.model.elements[k].path for k in elements[:MOST_NAMED]]
    forced_ones = [k for k, b in enumerate(forced) if b >= 0]
    places = dict.fromkeys(now.program.unknowns.element_place(k)[1] for k in (*elements, *forced_ones))
    # Tangents prove nothing of other points: a nonlinear equation may have further roots.
    fate = "have no branches" if complete and not bends else "were not seen to have branches"
    tried = (
        "of some combinations of branches another root of the nonlinear equations may satisfy all guards"
        if bends
        else "no combination of branches satisfies all guards"
        if complete
        else "not all combinations of branches were tried"
    )
    return NoConsistentModeError(
        f"no consistent mode at t = {now.state.t:.9g}\n{_history(now, error)}",
        where=tuple(places)[:4],
        why=f"{', '.join(names)} {fate} that go together" if names else "",
        hint=f"{tried}: look for ideal sources that elements short or cut, and for elements that drive each other",
    )


def _conflicts(
    now: Standing, history: History, forced: Sequence[int], held: Sequence[tuple[int, float]] = ()
) -> tuple[list[Conflict], list[int]]:
    """Conflicts of the first mode that was tried, those that contradict if any, and unknowns that are undetermined."""
    mode = history[0][0] if history else tuple(max(b, 0) for b in forced)
    xi = now.xi
    conflicts, free = conflicts_of(now).of_mode(now.core.model, mode, xi, held)
    return [c for c in conflicts if c.defect] or conflicts, np.flatnonzero(free).tolist()


def _tried(error: SearchError) -> History:
    """What was tried, in this order; a mode that alone comes into question has no history."""
    return error.history if isinstance(error, NoConsistentMode) else ()


def _refused(error: SearchError) -> list[Inadmissible | None]:
    """Why each candidate cannot exist, None for those that do."""
    return [error] if isinstance(error, Inadmissible) else [tried.refused for _, tried in error.history]


def _prescribed(now: Standing, reinits: Sequence[tuple[int, float]], kind: str) -> tuple[Location, ...]:
    """Where values are prescribed: components with start values, else the statements with the reinits."""
    if kind == "start":
        places = [place_of(now.flat.root, now.flat.variable(x)) for x, _ in reinits]
        return tuple(dict.fromkeys(p for found in places for p in found))
    wanted = {x for x, _ in reinits}
    branches = now.program.discrete.branches
    return tuple(dict.fromkeys(b.place for b in branches if any(x in wanted for x, _ in b.reinits)))


def demanding(
    now: Standing, history: History, forced: Sequence[int], reinits: Sequence[tuple[int, float]]
) -> tuple[Location, ...]:
    """Where the equations stand that leave no room for prescribed values."""
    conflicts, _ = _conflicts(now, history, forced, now.program.unknowns.targets(reinits)[0])
    # Held values count as constant in time: of what that demands, only the shortest conflict is about the instant.
    found = min((c for c in conflicts if c.of("held")), key=lambda c: len(c.members), default=None)
    members = () if found is None else found.of("element", "given", "law")
    scaled = [m for m in members if m.role != "law" or m.factors]
    return tuple(dict.fromkeys(m.place for m in scaled or members))[:MOST_NAMED]


def constraints_on(now: Standing, history: History, reinits: Sequence[tuple[int, float]]) -> str:
    """What the constraints of the first candidate say about the prescribed variables."""
    mode = next((m for m, t in history if t.refused and t.refused.reason == "reinit"), now.state.mode)
    data, model = now.core.mode(mode), now.core.model
    xi = now.xi
    found: dict[str, None] = {}
    told: set[int] = set()
    for j, _ in now.program.unknowns.targets(reinits)[0]:
        row = data.T[j]
        if not row[: len(data.states)].any():
            found.setdefault(
                f"`{now.program.unknowns.state_name(j)}` = {float(row[len(data.states) :] @ xi):g}"
            )
        for k, row in enumerate(data.constraints):
            if k not in told and abs(row[j]) * model.scale[j] > TAKES_PART * float(
                np.max(np.abs(row[: model.n]) * model.scale)
            ):
                told.add(k)
                found.setdefault(
                    _equation(now, row[: model.n] / row[j], float(row[model.n :] @ xi / row[j]), j)
                )
    return f"the equations in force demand {' and '.join(found)}" if found else ""


def _equation(now: Standing, row: np.ndarray, known: float, j: int) -> str:
    """``x = ...`` from ``row @ z + known = 0`` with ``row[j] = 1``."""
    parts = [
        f"{-c:g}*`{now.program.unknowns.state_name(k)}`".removeprefix("1*")
        for k, c in enumerate(row.tolist())
        if k != j and abs(c) > NO_TERM
    ]
    parts = [f"-{t.removeprefix('-1*')}" if t.startswith("-1*") else t for t in parts]
    parts += [f"{0.0 - known:g}"] * (known != 0.0 or not parts)
    text = " + ".join(parts).replace(" + -", " - ")
    return f"`{now.program.unknowns.state_name(j)}` = {text}"


def requirement_failed(missed: RequirementMissed) -> RequirementError:
    """Return the error for a ``require`` that does not hold."""
    t = missed.t
    when = "" if t is None else f" (at t = {t:.9g})"
    hint = (
        "change the parameters in it" if t is None else "change the model, its parameters or its start values"
    )
    return RequirementError(
        f"{missed.message}{when}", where=(missed.place,), why=f"`{missed.condition}` does not hold", hint=hint
    )


def _history(now: Standing, error: SearchError) -> str:
    lines = []
    for mode, tried in _tried(error)[:12]:
        branches = ", ".join(
            f"{e.path}={e.branches[b].name}" for e, b in zip(now.core.model.elements, mode, strict=True)
        )
        lines.append(f"    {branches[:200]}: {tried}")
    return "\n".join(lines)


def discrete_unsound(now: Standing, failure: DiscreteUnsound) -> NonFiniteError | DiscreteValueError:
    """Return the error for a discrete variable that takes a value which is not of its type."""
    D = failure.D
    k, place, field = next(w for w in now.program.discrete.written if not w[2].holds(float(D[w[0]])))
    what = f"`{now.flat.discrete(k)}`"
    if not math.isfinite(D[k]):
        return NonFiniteError(
            f"{what} becomes {D[k]} at t = {now.state.t:.9g}",
            where=(place,),
            hint="look for a division by zero or a logarithm or root of a negative number in its statement",
        )
    if field.type is int and float(D[k]).is_integer():
        return DiscreteValueError(
            f"{what} becomes {D[k]:.15g} at t = {now.state.t:.9g}; whole numbers beyond 2**53 are not exact",
            where=(place,),
            hint="keep it in a range, as mod(x, 2**31) does, or declare Discrete(float)",
        )
    return DiscreteValueError(
        f"{what} takes the value {D[k]:.15g} at t = {now.state.t:.9g}; it must be {field.kind}",
        where=(place,),
        hint="round it in the model, floor(x + 0.5), or declare Discrete(float)"
        if field.type is int
        else "state a condition such as x > 0.5, or choose between members with if_else",
    )


def read_not_finite(now: Standing, failure: ReadNotFinite) -> NonFiniteError:
    """Return the error for a variable without a value, or derivative, that discrete statements read."""
    ids, slopes, x = failure.ids, failure.slopes, failure.values
    n = int(np.flatnonzero(~np.isfinite(x))[0])
    path = now.flat.variable((*ids, *slopes)[n])
    return NonFiniteError(
        f"`{path if n < len(ids) else f'der({path})'}`, which a discrete statement reads, is {x[n]} at t = {now.state.t:.9g}",
        where=place_of(now.flat.root, path),
        hint="look for a division by zero or a logarithm or root of a negative number in its equation",
    )


def two_reinits(now: Standing, failure: TwoReinits) -> DuplicateWriterError:
    """Return the error for one state that two actions set in one instant."""
    first, second = failure.first, failure.second
    names = dict.fromkeys(f"`{now.flat.variable(x)}`" for x, _ in (first, second))
    what = f"{' and '.join(names)}, which are one state," if len(names) > 1 else next(iter(names))
    return DuplicateWriterError(
        f"{what} is set by two reinits at t = {now.state.t:.9g}",
        where=tuple(dict.fromkeys((first[1], second[1]))),
        hint="let one `when` with elsewhen decide which of them counts",
    )
