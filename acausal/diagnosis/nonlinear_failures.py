"""Why nonlinear equations could not be solved or integrated, in the words of the model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..dynamics.directions import generic_direction
from ..dynamics.problem import StepSizeError
from ..errors import (
    AcausalError,
    ConvergenceError,
    InitializationError,
    NonFiniteError,
    SingularModelError,
)
from ..flattening.open_ports import with_open_ports
from ..reduction.affine import Inadmissible
from ..reduction.labels import nonlinear_row
from ..reduction.open_mode import StructurallySingular
from ..simulation.failures import ChangePointPassed, HeldByStability, NoConsistentPoint, NotSolved
from ..simulation.nonlinear.newton import NewtonFailure
from ..simulation.nonlinear.singular_points import NEARLY_SINGULAR, Surroundings
from ..simulation.nonlinear.state_selection import DependentConstraints
from ..simulation.standing import Standing
from .nonlinear_points import (
    MOST_ROWS,
    Point,
    accepted,
    branches_at,
    core_at,
    rows_of_largest,
    rows_without_slope,
    stated,
    surroundings,
    tried,
    worst_rows,
    zero_parameters,
)
from .structural import structurally_singular

FLAT = 1e-12
"""Slope, relative to one a scale away, that has vanished: of a cube, within a millionth of the scale."""
GROWN = 100.0
"""Factor by which a state has grown by decades."""


def nonlinear_failed(now: Standing, failure: NotSolved) -> AcausalError:
    """Return the error for a failed solution."""
    return _with_open_ports(now, _nonlinear_failed(now, failure.cause, failure.activity))


def _with_open_ports(now: Standing, error: AcausalError) -> AcausalError:
    """What is singular at once, or cannot start, may lack a connection; what has run until now does not."""
    lacking = isinstance(error, SingularModelError | InitializationError)
    return with_open_ports(error, now.flat) if lacking else error


def _nonlinear_failed(now: Standing, failure: Exception, where: str) -> AcausalError:
    if isinstance(failure, StepSizeError):
        return _step_size(now, failure)
    steps = now.steps if where == "integration" else None
    at = f"{where} at t = {now.state.t + (0.0 if steps is None else steps.end.h):.9g}"
    point = tried(now, failure) if steps is None else accepted(now)
    if isinstance(failure, StructurallySingular):
        return _singular(now, failure, at)
    if isinstance(failure, DependentConstraints):
        return _dependent(now, at, point)
    if isinstance(failure, NoConsistentPoint):
        return _unsettled(now, failure, at)
    assert isinstance(failure, NewtonFailure)
    return _not_solved(now, failure, at, point)


def tangents_contradict(
    now: Standing, refused: Sequence[Inadmissible | None], kind: str
) -> AcausalError | None:
    """Return the error for nonlinear equations among the culprits of modes of a linearised model; None without any."""
    names = [nonlinear_row(now.reduced, r) for r in range(len(now.program.nonlinear_rows))]
    where = {name for r in refused if r is not None for name in r.where} if names else ()
    rows = [r for r, (text, place) in enumerate(names) if f"{text} at {place}" in where]
    if not rows:
        return None
    found = stated(now, rows)
    unbalanced = structurally_singular(now.flat, now.present.P, f"{kind} at t = {now.state.t:.9g}: ")
    if unbalanced is not None:
        return _with_open_ports(now, unbalanced)
    error = found.error(
        SingularModelError,
        f"{kind} at t = {now.state.t:.9g}: the nonlinear equations {found.text} contradict each other or leave unknowns open;"
        f" last values {found.values(now.linearisation.z)}",
        why="their slopes vanish or are proportional at this point, or one of them follows from others",
        hint="give start values away from such a point, or look for an equation that is stated twice",
    )
    return _with_open_ports(now, error)


def _singular(now: Standing, failure: StructurallySingular, at: str) -> AcausalError:
    unbalanced = structurally_singular(now.flat, now.present.P, f"{at}: ")
    if failure.reason != "index" and unbalanced is not None:
        return unbalanced
    flat = rows_without_slope(now)
    if failure.reason != "index" and flat:
        return _without_slope(now, flat, at, now.linearisation.z)
    found = stated(now, failure.rows.tolist())
    open_ones = [now.program.unknowns.state_name(j) for j in failure.unknowns.tolist()[:6]]
    unknowns = ", ".join(f"`{name}`" for name in open_ones)
    if failure.reason == "index":
        return SingularModelError(
            f"{at}: the nonlinear equations {found.text} would have to be differentiated more than twice",
            where=found.places,
            hint="state the constraint on a lower derivative, or give the parts between some compliance",
        )
    return SingularModelError(
        f"{at}: nonlinear equations do not determine {unknowns or 'their unknowns'}: {found.text or 'none is left for them'}",
        where=found.places,
        about=open_ones,
        why="in this mode other equations determine all variables of some of them, and none is left for the unknowns",
        hint="look for a quantity that is prescribed twice, and for one that nothing prescribes",
    )


def _without_slope(
    now: Standing, rows: list[int], at: str, z: np.ndarray, nearly: bool = False
) -> AcausalError:
    """The error for nonlinear rows whose slopes vanish at a point; ``nearly``: measured by those around it."""
    found = stated(now, rows)
    what = f"{at}: the nonlinear equations {found.text} have no slope at this point: {found.values(z)}"
    if nearly:
        kind = InitializationError if at.startswith("start") else ConvergenceError
        return found.error(
            kind,
            what,
            why="next to it a change of their unknowns changes nothing in them, so that rates are without bound or open",
            hint="begin away from such a point, or put a linear term beside a law that is flat there, as a high power is",
        )
    zero = ", ".join(f"`{name}`" for name in zero_parameters(now, rows)[:MOST_ROWS])
    away = "give start values away from such a point"
    return found.error(
        SingularModelError,
        what,
        why="all their derivatives vanish there, so that they determine nothing",
        hint=f"{zero} in them is zero: give another value, or {away}" if zero else away,
    )


def _dependent(now: Standing, at: str, point: Point | None) -> AcausalError:
    near, motion = surroundings(now, point), now.linearisation.last
    assert near is not None
    assert motion is not None
    if len(near.flat):
        return _without_slope(now, near.flat.tolist(), at, core_at(now, point))
    # What depends on them, as rates do that have no bound there, is not to be named instead.
    found = stated(now, near.constraints(motion.system.constraints).dependent()[1])
    return found.error(
        SingularModelError,
        f"{at}: the constraints {found.text} depend on each other at this point: {found.values(core_at(now, point))}"
        + branches_at(now, point),
        why="the motion is at a singular configuration, or one constraint is redundant, stated twice",
        hint="remove the redundant constraint or part, or start from another configuration",
    )


def change_point_passed(now: Standing, notice: ChangePointPassed) -> str:
    """Return the warning of a change point on the way of a motion."""
    near, motion = surroundings(now, notice.point), now.linearisation.last
    assert near is not None
    assert motion is not None
    found = stated(now, near.constraints(motion.system.constraints).dependent()[1])
    begin, end = notice.between
    return (
        f"integration at t = {notice.t:.9g}: the motion passes a change point, where the constraints {found.text} depend on each"
        f" other: {found.values(core_at(now, notice.point))}{branches_at(now, notice.point)}; it goes on as before. What rounding"
        f" hides there, as forces, is interpolated from t = {begin:.9g} to {end:.9g}; later points are not told"
    )


def held_by_stability(now: Standing, notice: HeldByStability) -> str:
    """Return the warning of steps that stability alone holds."""
    fastest = notice.fastest
    return (
        f"integration at t = {notice.t:.9g}: stability alone has held {notice.count} steps of the explicit method, now of"
        f" {fastest.h:.3g} s: the model is stiff, since a motion{_component(now, fastest.component)} with a time constant of"
        f" {fastest.time_constant:.3g} s has died away, and steps have to follow it all the same; leave the choice to"
        f' method="auto", or take method="implicit"'
    )


def _component(now: Standing, component: int | None) -> str:
    """The state that is a component of the motion, as "of" it."""
    motion = now.linearisation.last
    if motion is None or component is None:
        return ""
    X, states = motion.selection.states[component], motion.system.mode.states
    return f" of `{now.program.unknowns.state_name(int(states[X]))}`" if X < len(states) else ""


def _unsettled(now: Standing, failure: NoConsistentPoint, at: str) -> AcausalError:
    names = [e.path for e in now.core.model.elements]
    moving = [n for k, n in enumerate(names) if len({m[k] for m in failure.modes[-4:]}) > 1]
    what = (
        f"the elements {', '.join(f'`{n}`' for n in moving[:6])} do not settle"
        if moving
        else "values do not settle"
    )
    return ConvergenceError(
        f"{at}: {what} in {len(failure.modes)} rounds of linearisation",
        where=tuple(now.program.unknowns.element_place(k)[1] for k, n in enumerate(names) if n in moving[:4]),
        hint="give start values near the solution, or a curve without steep bends",
    )


def _step_size(now: Standing, failure: StepSizeError) -> AcausalError:
    motion = now.linearisation.last
    at, point = f"integration at t = {now.state.t + failure.t:.9g}", accepted(now)
    inner = motion.failure if motion is not None else None
    if inner is not None:
        return _not_solved(now, inner, at, point)
    near = surroundings(now, point)
    singular = None if near is None else _singular_nearby(now, near, at, point)
    if singular is not None:
        return singular
    name = _component(now, failure.component)
    z = core_at(now, point)
    found = stated(now, rows_of_largest(now, z))
    return found.error(
        ConvergenceError,
        f"{at}: no step of {failure.h:.3g} s or more keeps the error{name} within the tolerance"
        + (f"; largest near {found.text}, last values {found.values(z)}" if found.text else ""),
        why="the solution has a singularity there, or bends faster than doubles resolve",
        hint=_growth(now)
        + "look for a division by zero or a root of zero; state jumps of the equations as elements or relations; set losses"
        " too small to matter to zero, which is exact",
    )


def _growth(now: Standing) -> str:
    """The state that has grown most since the segment began, where that is by decades.

    A motion that nothing damps takes up the errors of its steps; one whose speed sets its own pace, as that of a free
    linkage, then grows without bound in finite time.
    """
    steps = now.steps
    if steps is None:
        return ""
    system, count = steps.motion.system, len(steps.motion.system.mode.states)
    begin, most = np.abs(steps.begin.X[:count]), steps.size[:count]
    ratio = most / np.maximum(begin, system.scale[:count])
    if not (ratio > GROWN).any():
        return ""
    k = int(ratio.argmax())
    name = now.program.unknowns.state_name(int(system.mode.states[k]))
    return (
        f"`{name}` has grown from {begin[k]:.3g} to {most[k]:.3g}: if less so with a smaller `rtol`, then by the errors of"
        " the steps; else "
    )


def _not_solved(now: Standing, failure: NewtonFailure, at: str, point: Point | None) -> AcausalError:
    rows = worst_rows(now, failure)
    z = core_at(now, point)
    if failure.reason == "not finite":
        found = stated(now, rows)
        return found.error(
            NonFiniteError,
            f"{at}: {found.text} cannot be evaluated; last values {found.values(z)}",
            why="an argument lies outside the domain of a function (root, logarithm, division)",
            hint="limit the argument, put `no_event` around the choice that guards it, or give start values inside",
        )
    near = surroundings(now, point)
    started = at.startswith("start")
    if near is not None and rows:
        singular = _singular_nearby(now, near, at, point, failure.reason == "singular")
        if singular is not None:
            return singular
        together = near.coupled(rows[0]).tolist()
        rows = [r for r in rows if r in together]
    flat = _flat(now, rows, z)
    if flat:
        return _without_slope(now, flat, at, z, nearly=True)
    found = stated(now, rows)
    kind = InitializationError if started else ConvergenceError
    return found.error(
        kind,
        f"{at}: the nonlinear equations {found.text} were not solved; last values {found.values(z)}",
        why="Newton's method with damping, and continuation from zero sources, found no solution",
        hint="give start values near the solution, check signs and units, look for equations without solution,"
        " as of a loop whose lengths do not let it close; a law that is flat at zero, as a high power is, needs a"
        " linear term beside it",
    )


def _singular_nearby(
    now: Standing, near: Surroundings, at: str, point: Point | None, certain: bool = False
) -> AcausalError | None:
    """The error for a singular point of what is solved for, next to another one; None where that is regular."""
    started, (ratio, dependent) = at.startswith("start"), near.dependent()
    if not certain and (started or ratio >= NEARLY_SINGULAR):
        return None
    if near.branching and not started:
        return _dependent(now, at, point)
    return _singular_point(now, dependent.tolist(), at, core_at(now, point))


def _flat(now: Standing, rows: list[int], z: np.ndarray) -> list[int]:
    """Those of some nonlinear rows whose slopes by unknowns all but vanish at a point, measured by those around it."""
    tangents, owner = now.tangents, now.program.nonlinear_rows.owner
    reads = np.asarray((abs(tangents.Z) + abs(tangents.D)).sum(axis=1)).ravel() > 0.0

    def steepness(arguments: np.ndarray) -> np.ndarray:
        _, gradient = tangents.functions(0, [arguments], tangents.constants(now.present))
        return np.bincount(
            owner,
            np.where(reads, np.abs(np.array(gradient)) * tangents.scale, 0.0),
            len(now.program.nonlinear_rows),
        )

    here = tangents.arguments(z, now.state.slopes, now.xi)
    there = here + tangents.scale * generic_direction(len(here))
    flat = steepness(here) <= FLAT * steepness(there)
    return [r for r in rows if flat[r]]


def _singular_point(now: Standing, rows: list[int], at: str, z: np.ndarray) -> AcausalError:
    """The error for nonlinear rows whose slopes depend on each other where they were to be solved."""
    found = stated(now, rows)
    what = f"{at}: the nonlinear equations {found.text} are singular; last values {found.values(z)}"
    if at.startswith("start"):
        return found.error(
            InitializationError,
            what,
            why="their slopes vanish or depend on each other, so that some of their unknowns may take any value",
            hint="give start values away from such a point, leave out a redundant equation or part, and look for"
            " equations without solution",
        )
    return found.error(
        ConvergenceError,
        what,
        why="the motion comes to a singular configuration, where their solution ends or branches",
        hint="check the lengths and ranges in them, look for equations without solution beyond this point, or end the"
        " run before it with `until`",
    )
