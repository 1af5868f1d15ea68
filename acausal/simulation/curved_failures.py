"""Why nonlinear equations could not be solved or integrated, in the words of the model."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..errors import (
    AcausalError,
    ConvergenceError,
    InitializationError,
    Location,
    NonFiniteError,
    NotAffineError,
    SingularModelError,
)
from ..explanation.structural import structurally_singular
from ..modes.labels import curved_row
from ..modes.open_mode import StructurallySingular
from ..modes.reduced_model import ReducedModel
from ..solvers import StepSizeError
from .choice import NoConsistentPoint
from .motion import DependentConstraints, Motion
from .newton import NewtonFailure

if TYPE_CHECKING:
    from .run import Run

MOST_NAMED = 4
FAILURES = (NewtonFailure, DependentConstraints, StepSizeError, StructurallySingular, NoConsistentPoint)


def curved_failed(run: Run, failure: Exception, where: str) -> AcausalError:
    """Return the error to raise for a failed solution; ``where`` says in which activity."""
    if isinstance(failure, StepSizeError):
        return _step_size(run, failure)
    steps = run.motions.steps if where == "integration" else None
    at = f"{where} at t = {run.t + (0.0 if steps is None else steps.end.h):.9g}"
    z = _tried(run, failure) if steps is None else _accepted(run)
    if isinstance(failure, StructurallySingular):
        return _singular(run, failure, at)
    if isinstance(failure, DependentConstraints):
        return _dependent(run, failure, at, z)
    if isinstance(failure, NoConsistentPoint):
        return _unsettled(run, failure, at)
    assert isinstance(failure, NewtonFailure)
    return _not_solved(run, failure, at, z)


def tangents_contradict(run: Run, where: Sequence[str], kind: str) -> AcausalError | None:
    """Return the error for nonlinear equations among the culprits ``where`` of a touching model; None without any."""
    names = [curved_row(run.reduced, r) for r in range(len(run.program.curves))]
    rows = [r for r, (text, place) in enumerate(names) if f"{text} at {place}" in where]
    if not rows:
        return None
    text, places = _named(run, rows)
    unbalanced = structurally_singular(run.flat, run.values.P, f"{kind} at t = {run.t:.9g}: ")
    if unbalanced is not None:
        return unbalanced
    return SingularModelError(
        f"{kind} at t = {run.t:.9g}: the nonlinear equations {text} contradict each other or leave unknowns open;"
        f" last values {_values(run, rows, run.z_touch)}",
        where=places,
        why="their slopes vanish or are proportional at this point, or one of them follows from others",
        hint="give start values away from such a point, or look for an equation that is stated twice",
    )


def _named(run: Run, rows: Iterable[int]) -> tuple[str, tuple[Location, ...]]:
    found = [curved_row(run.reduced, int(r)) for r in rows]
    more = f" and {len(found) - MOST_NAMED} more" if len(found) > MOST_NAMED else ""
    text = "; ".join(f"`{name}` of `{place.path or run.flat.label}`" for name, place in found[:MOST_NAMED])
    return text + more, tuple(dict.fromkeys(place for _, place in found[:MOST_NAMED]))


def _values(run: Run, rows: Iterable[int], z: np.ndarray) -> str:
    """Values ``z`` of the variables in some curved rows."""
    owner, found = run.program.curves.owner, {}
    Z = run.tangents.Z + run.tangents.D
    for r in rows:
        for k in np.flatnonzero(owner == r).tolist():
            for j in Z.indices[Z.indptr[k] : Z.indptr[k + 1]].tolist():
                found[j] = f"`{run.state_name(j)}` = {z[j]:.6g}"
    names = list(found.values())
    return ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")


def _tried(run: Run, failure: Exception) -> np.ndarray:
    """Core unknowns where a solution failed, the last iterate in them."""
    motion = run.motions.last
    if motion is None:
        return run.z_touch
    system, place = motion.system, motion.last
    X, H = place.X.copy(), place.H
    if isinstance(failure, NewtonFailure) and failure.rows is system.mode.curved:
        H = failure.x
    elif isinstance(failure, NewtonFailure) and failure.rows is system.constraint_rows:
        X[motion.selection.dependent] = failure.x
    return _core_unknowns(motion, X, H, place.xi)


def _accepted(run: Run) -> np.ndarray:
    """Core unknowns at the end of the last accepted step."""
    motion, steps = run.motions.last, run.motions.steps
    if motion is None:
        return run.z_touch
    place = motion.last if steps is None else steps.end
    return _core_unknowns(motion, place.X, place.H, place.xi)


def _core_unknowns(motion: Motion, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> np.ndarray:
    return motion.system.mode.z_of @ motion.system.v0(np.concatenate([X, H]), xi)


def _singular(run: Run, failure: StructurallySingular, at: str) -> AcausalError:
    unbalanced = structurally_singular(run.flat, run.values.P, f"{at}: ")
    if failure.reason != "index" and unbalanced is not None:
        return unbalanced
    text, places = _named(run, failure.rows.tolist())
    unknowns = ", ".join(f"`{run.state_name(j)}`" for j in failure.unknowns.tolist()[:6])
    if failure.reason == "index":
        return SingularModelError(
            f"{at}: the nonlinear equations {text} would have to be differentiated more than twice",
            where=places,
            hint="state the constraint on a lower derivative, or give the parts between some compliance",
        )
    return SingularModelError(
        f"{at}: nonlinear equations do not determine {unknowns or 'their unknowns'}: {text or 'none is left for them'}",
        where=places,
        why="in this mode other equations determine all variables of some of them, and none is left for the unknowns",
        hint="look for a quantity that is prescribed twice, and for one that nothing prescribes",
    )


def _dependent(run: Run, failure: DependentConstraints, at: str, z: np.ndarray) -> AcausalError:
    text, places = _named(run, failure.rows.tolist())
    values = _values(run, failure.rows.tolist(), z)
    return SingularModelError(
        f"{at}: the constraints {text} depend on each other at this point: {values}",
        where=places,
        why="the mechanism is in a singular configuration, or one constraint is stated twice",
        hint="remove the redundant constraint, or start from another configuration",
    )


def _unsettled(run: Run, failure: NoConsistentPoint, at: str) -> AcausalError:
    names = [e.path for e in run.core.model.elements]
    moving = [n for k, n in enumerate(names) if len({m[k] for m in failure.modes[-4:]}) > 1]
    what = (
        f"the elements {', '.join(f'`{n}`' for n in moving[:6])} do not settle"
        if moving
        else "values do not settle"
    )
    return ConvergenceError(
        f"{at}: {what} in {len(failure.modes)} rounds of linearisation",
        where=tuple(run.element_place(k)[1] for k, n in enumerate(names) if n in moving[:4]),
        hint="give start values near the solution, or a curve without steep bends",
    )


def _step_size(run: Run, failure: StepSizeError) -> AcausalError:
    motion = run.motions.last
    t = run.t + failure.t
    inner = motion.failure if motion is not None else None
    if inner is not None:
        return _not_solved(run, inner, f"integration at t = {t:.9g}", _accepted(run))
    component = failure.component
    name = ""
    if motion is not None and component is not None:
        X = motion.selection.states[component]
        states = motion.system.mode.states
        name = f" of `{run.state_name(int(states[X]))}`" if X < len(states) else ""
    return ConvergenceError(
        f"integration at t = {t:.9g}: no step of {failure.h:.3g} s or more keeps the error{name} within the tolerance",
        why="the solution has a singularity there, or bends faster than doubles resolve",
        hint="look for a division by zero or a root of zero; state jumps of the equations as elements or relations",
    )


def _not_solved(run: Run, failure: NewtonFailure, at: str, z: np.ndarray) -> AcausalError:
    rows = _worst_rows(run, failure)
    text, places = _named(run, rows)
    values = _values(run, rows, z)
    if failure.reason == "not finite":
        return NonFiniteError(
            f"{at}: {text} cannot be evaluated; last values {values}",
            where=places,
            why="an argument lies outside the domain of a function (root, logarithm, division)",
            hint="limit the argument, put `no_event` around the choice that guards it, or give start values inside",
        )
    kind = InitializationError if at.startswith("start") else ConvergenceError
    what = "are singular" if failure.reason == "singular" else "were not solved"
    return kind(
        f"{at}: the nonlinear equations {text} {what}; last values {values}",
        where=places,
        why="Newton's method with damping, and continuation from zero sources, found no solution",
        hint="give start values near the solution, check signs and units, look for equations without solution;"
        " a law that is flat at zero, as a high power is, needs a linear term beside it",
    )


def _worst_rows(run: Run, failure: NewtonFailure) -> list[int]:
    """Curved rows of a failed iteration, those with the largest defects first; those without value alone if any."""
    r = failure.residual
    rows = failure.rows if failure.rows is not None else np.arange(len(run.program.curves))[: len(r)]
    lost = np.flatnonzero(~np.isfinite(r))
    order = lost if len(lost) else np.argsort(-np.abs(r), kind="stable")
    return list(dict.fromkeys(int(rows[k]) for k in order.tolist() if k < len(rows)))[:MOST_NAMED]


def require_affine(model: ReducedModel) -> None:
    """Raise NotAffineError for a model with curved rows: the exact path cannot take it."""
    if model.curves:
        text, place = curved_row(model, 0)
        raise NotAffineError(
            f"`{text}` is not affine in the unknowns and part of the dynamic core",
            where=(place,),
            hint='the exact path takes affine equations; method="auto" integrates others numerically',
        )
