"""Start values: left limits of the states, completed through the constraints by priority.

Fixed values and initial equations come first, then given starts, then defaults
(a default is the start declared by the class of a differentiated variable).
Given starts, or defaults, that contradict each other stay left limits: the
restart moves them with the conserved quantities kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import field, replace

import numpy as np

from ...errors import InitializationError
from ...flattening.flat_model import FlatModel
from ...flattening.locating import locate_symbol
from ...flattening.template import place_of
from ...modeling.expressions import walk
from ...reduction.affine import Inadmissible, ModeData
from ...reduction.parts import couplings
from ...values import frozen
from ..compiled import CompiledModel
from ..failures import UNSOLVED, NotSolved, RateUnknown, SearchFailed, StartNotMet
from ..instants.restart import LeftLimits, restart
from ..large.demands import binding
from ..large.starting import begun
from ..numeric import NumericCore
from .completion import Completion, Unreachable, completion
from .conditions import Conditions
from .frames import Frame, placed
from .left_limits import AGREES, agreeing
from .overlaps import parted
from .priorities import MISSED, SETTLED, independent
from .problem import Refused, StartProblem
from .stated import Rank, Starts


def held_values(program: CompiledModel, starts: Starts) -> list[tuple[int, float]]:
    """Fixed values of states as (variable, value).

    Raises
    ------
    InitializationError
        If two fixed values of one state differ.
    """
    held: dict[tuple[object, ...], tuple[int, float]] = {}
    for x in np.flatnonzero(starts.fixed).tolist():
        target = program.unknowns.settable(x)
        if target is None:
            continue
        value = float(starts.value[x])
        earlier = held.get(target[:2])
        if earlier is not None and not math.isclose(
            earlier[1] * _sign(program, earlier[0]), value * _sign(program, x)
        ):
            flat = program.flat
            names = f"`{flat.variable(earlier[0])}` = {earlier[1]:g} and `{flat.variable(x)}` = {value:g}"
            both = (*place_of(flat.root, flat.variable(earlier[0])), *place_of(flat.root, flat.variable(x)))
            raise InitializationError(
                f"{names} cannot both hold at the start", where=both, hint="drop one of the fixed values"
            )
        held[target[:2]] = (x, value)
    return list(held.values())


def _sign(program: CompiledModel, x: int) -> int:
    alias = program.unknowns.single(x)
    return 1 if alias is None else alias[1]


@frozen
class Completed:
    """What the completion of a start found: the point, and the core unknowns that are left at their starts instead."""

    conditions: Conditions
    found: Completion
    z: np.ndarray
    left: np.ndarray
    kept: list[tuple[int, float]] = field(default_factory=list)
    """Variables whose given starts hold, with their values, where the restart moves defaults beside them."""

    def guessed(self) -> set[int]:
        """Variables whose given starts are guesses of what Newton's method computes."""
        guess = (self.conditions.rank == Rank.GUESS) & self.found.involved
        return {self.conditions.items[k].variable for k in np.flatnonzero(guess).tolist()}

    def lost(self) -> int:
        """The number of given starts of states that do not hold at the point, and are no left limits either."""
        conditions = self.conditions
        missed = (conditions.rank == Rank.GIVEN) & self.found.missed & (conditions.unknown >= 0)
        return int((~self.left[conditions.unknown[missed]]).sum())


def check_conditions(completed: Completed | None, now: StartProblem) -> None:
    """Raise InitializationError unless conditions that were met hold at another point."""
    if completed is None:
        conditions = Conditions(now, Rank.STEADY_FIXED)
        _check(conditions, set(np.flatnonzero(~binding(conditions, now.core.system)).tolist()), now)
        return
    conditions, system = completed.conditions, completed.found.system
    # Rates of what follows from fixed values, or of what sources alone determine in the mode that there is now, need not be zero.
    free = set(system.which[~system.top].tolist())
    states, model = now.data.states, now.core.model
    own_rates = conditions.driven(now.data.T[:, : len(states)] * model.scale[states], model.scale)
    free.update(np.flatnonzero(own_rates).tolist())
    _check(conditions, free, now)


def _check(conditions: Conditions, free: set[int], now: StartProblem) -> None:
    """Raise InitializationError unless conditions hold, but those that are ``free`` not to."""
    for k in conditions.violated(now.z, now.slopes, now.xi, now.values):
        if k in free:
            continue
        condition = conditions.items[k]
        raise InitializationError(
            f"{condition.text} does not hold after the start at t = {now.state.t:.9g}",
            where=condition.where,
            why="it was met in other branches, or on the other side of a comparison, than those in which the run begins,"
            " or a jump at the start undoes it",
            hint="give starts near the point that you mean, or the branch in which the run is to begin, initial={...},"
            " or drop the condition",
        )


def complete(problem: StartProblem) -> tuple[StartProblem, Completed | None]:
    """The left limits completed in the provisional mode, and how; nothing is if the model has no start values.

    Raises
    ------
    Refused
        If conditions that must hold contradict each other or the equations, or no point is found.
    """
    if problem.core.system is not None:
        try:
            return begun(problem), None
        except UNSOLVED as failure:
            raise Refused(NotSolved(failure, "start"), problem) from None
    conditions = Conditions(problem)
    if not len(conditions):
        return problem, None
    try:
        found = _point(problem, conditions)
        here, z = problem, found.z
        if problem.reduced.nonlinear:
            here = placed(problem, found.z, found.slopes)
            z = here.z
        z = _exact(problem, conditions, found, z)
        left = _left_limits(conditions, found)
        if left.any():
            left |= _moved_apart(conditions, found)
        kept = _kept(conditions, found, left)
        begin = np.where(left, problem.z, z)
        if left.any():
            # What follows them in every mode goes back with them.
            begin = agreeing(problem.program, problem.linearisation.base, problem.starts, begin, problem.xi)
        here = parted(here.at(z=begin))
        if not problem.reduced.nonlinear:
            # The first micro-step compares variables where the left limits lead in this mode.
            reinits = problem.program.unknowns.targets(problem.tables.held + kept)[0]
            here = replace(
                here, y=restart(here.core.model, LeftLimits(here.data, here.z, here.xi), reinits).y
            )
    except Unreachable as failure:
        raise Refused(StartNotMet(conditions, failure), problem) from None
    except Inadmissible as error:
        raise Refused(SearchFailed(error, problem.mode, (), "start"), problem) from None
    except UNSOLVED as failure:
        raise Refused(NotSolved(failure, "start"), problem) from None
    return here, Completed(conditions, found, z, left, kept)


def _point(problem: StartProblem, conditions: Conditions) -> Completion:
    frame = Frame(problem)
    if problem.reduced.nonlinear:
        unknown = _rate_unknown(problem, conditions, frame)
        if unknown is not None:
            raise Refused(unknown, problem)
    return completion(conditions, frame)


def _rate_unknown(problem: StartProblem, conditions: Conditions, frame: Frame) -> RateUnknown | None:
    """An initial equation that reads a rate that nothing gives, which would count as zero; None without any."""
    found = conditions.rates()
    if not found:
        return None
    missing, E = frame.without_rates, problem.core.model.rows(problem.mode).E
    return next(
        (RateUnknown(conditions.items[k], j) for k, j in found if missing[j] and not E[:, j].any()), None
    )


def _left_limits(conditions: Conditions, found: Completion) -> np.ndarray:
    """Mask of the core unknowns that keep their start values, from which the restart has to move them.

    These are given starts, and defaults, that contradict each other in what is left open for them, or the equations alone.
    """
    positions, rank = conditions.problem.program.unknowns.positions, conditions.rank
    left = np.zeros(len(found.z), bool)
    # What fixed values and initial equations determine has no left limit of its own: it begins with their value.
    open_ = (conditions.unknown >= 0) & found.missed & (found.room | found.determined)
    defaults = open_ & np.isin(rank, (Rank.PREFERRED, Rank.DEFAULT))
    if defaults.any():
        # Of positions defaults only say where to look, and nothing that is conserved moves them: they meet halfway.
        # Beside nonlinear constraints others follow a curve, and what is carried would be known in part only.
        stays = positions | _beside_curves(conditions.problem, found)
        defaults &= ~stays[conditions.unknown] & (found.determined | ~_bound(conditions, found))
    left[conditions.unknown[defaults | (open_ & (rank == Rank.GIVEN))]] = True
    return left


def _moved_apart(conditions: Conditions, found: Completion) -> np.ndarray:
    """Mask of the positions with given starts that have been moved as they let contacts overlap.

    Where others keep what that has left of their starts, these go no way back alone.
    """
    problem, moved = conditions.problem, np.zeros(len(found.z), bool)
    at = conditions.unknown[(conditions.unknown >= 0) & ~found.missed & (conditions.rank == Rank.GIVEN)]
    size = problem.core.model.scale[at] + np.abs(found.z[at])
    moved[at] = np.abs(problem.z[at] - found.z[at]) > AGREES * size
    return moved & problem.program.unknowns.positions


def _beside_curves(problem: StartProblem, found: Completion) -> np.ndarray:
    """Mask of the core unknowns that are coupled to nonlinear constraints, directly or by others."""
    if not (found.system.which < 0).any():
        return np.zeros(len(found.z), bool)
    tangents, at = problem.linearisation.tangents, (found.z, problem.slopes, problem.xi)
    numbering, model = tangents.numbering, tangents.at(*at, problem.values).model
    unknowns, rows, elements = couplings(model)
    return np.isin(unknowns, [*rows[numbering.nonlinear], *elements[np.array(numbering.bent, bool)]])


def _exact(problem: StartProblem, conditions: Conditions, found: Completion, z: np.ndarray) -> np.ndarray:
    """The point, with prescribed values that hold to rounding bit by bit.

    What is rounding at the scale of an unknown may be all that another condition asks for, as that scale may be far beyond it.
    """
    met = (conditions.unknown >= 0) & ~found.missed
    at = np.unique(conditions.unknown[met])
    begin, scale = problem.z[at], problem.core.model.scale[at]
    near = np.abs(begin - z[at]) <= AGREES * (scale + np.abs(z[at]))
    exact = z.copy()
    exact[at[near]] = begin[near]
    _, Z, X, constant = conditions.stacked
    size = MISSED * (abs(Z) @ np.abs(z) + abs(X) @ np.abs(problem.xi) + np.abs(constant))
    held, holds = (np.abs(Z @ point + X @ problem.xi + constant) <= size for point in (z, exact))
    spoiled = held & ~holds & (conditions.rank < Rank.GIVEN)
    back = np.asarray(abs(Z[spoiled]).sum(axis=0)).ravel() > 0.0
    exact[back] = z[back]
    return exact


def _bound(conditions: Conditions, found: Completion) -> np.ndarray:
    """Mask of the conditions that share unknowns with equations or starts of other variables, which a restart would undo."""
    system, bound = found.system, np.zeros(len(conditions), bool)
    stated = (conditions.rank[system.which] <= Rank.GUESS) & (conditions.unknown[system.which] < 0)
    stated &= found.solution.room & ~found.solution.missed
    for rows, _ in independent(system.A):
        bound[system.which[rows]] = stated[rows].any()
    return bound


def _kept(conditions: Conditions, found: Completion, left: np.ndarray) -> list[tuple[int, float]]:
    """Given starts of states that hold beside defaults which do not, as (variable, value)."""
    defaults = np.isin(conditions.rank, (Rank.PREFERRED, Rank.DEFAULT)) & (conditions.unknown >= 0)
    if not left[conditions.unknown[defaults]].any():
        return []
    holds = found.room & ~found.missed
    at = holds & (conditions.rank == Rank.GIVEN) & (conditions.unknown >= 0) & ~left[conditions.unknown]
    return [(conditions.items[k].variable, conditions.items[k].value) for k in np.flatnonzero(at).tolist()]


def check_computed(flat: FlatModel, starts: Starts, completed: Completed | None) -> None:
    """Raise InitializationError unless something determines every parameter that is computed at the start."""
    wanted = [x for x in flat.computed.tolist() if not starts.fixed[x]]
    if not wanted:
        return
    determined: set[int] = set()
    if completed is not None:
        settled = np.flatnonzero(~completed.found.room).tolist()
        determined = {completed.conditions.items[k].variable for k in settled}
    names = [flat.variable(x) for x in wanted if x not in determined]
    if names:
        raise InitializationError(
            f"nothing determines {', '.join(f'`{n}`' for n in names)} at the start",
            where=tuple(dict.fromkeys(p for n in names for p in place_of(flat.root, n))),
            why="a parameter that is computed needs a condition of the start that depends on it, beside those for the states",
            hint="state one with initially(Eq(...)), fix a variable that follows from it, or give its value:"
            f' initial={{"{names[0]}": ...}}',
        )


def check_held(
    flat: FlatModel, core: NumericCore, starts: Starts, D: np.ndarray, data: ModeData, y: np.ndarray,
    read: Callable[[tuple[int, ...]], np.ndarray],
) -> None:  # fmt: skip
    """Raise InitializationError unless fixed values hold after the first instant, as far as what was sought settles.

    ``read`` tells values, ``data`` and ``y`` what they follow from, and ``D`` discretes.
    """
    if starts.discretes:
        _check_discretes(flat, starts, D)
    for x, value in unmet(core, starts, starts.fixed, data, y, read):
        raise InitializationError(
            f"`{flat.variable(x)}` is fixed at {starts.value[x]:g} but the model gives {value:.9g} at the start",
            where=place_of(flat.root, flat.variable(x)),
            hint="other fixed values or the elements in force determine it; drop `fixed` or change them",
        )


def unmet(
    core: NumericCore, starts: Starts, which: np.ndarray, data: ModeData, y: np.ndarray,
    read: Callable[[tuple[int, ...]], np.ndarray],
) -> list[tuple[int, float]]:  # fmt: skip
    """Those of the variables of a mask that do not have their start values, with those that they have, as far as this is settled.

    ``read`` tells values, ``data`` and ``y`` what they follow from.
    """
    ids = tuple(np.flatnonzero(which).tolist())
    if not ids:
        return []
    found = []
    sizes = abs(core.reduced.W_core[list(ids)]) @ core.model.network_scale
    for x, value, size in zip(ids, read(ids).tolist(), sizes.tolist(), strict=True):
        wanted = float(starts.value[x])
        far = abs(value - wanted)
        if far <= max(MISSED * max(abs(value), abs(wanted)), SETTLED * size):
            continue
        # Scales are those of before the start, which may have led states far beyond them.
        if far > SETTLED * float((abs(core.readout.rows(data, (x,))) @ np.abs(y))[0]):
            found.append((x, value))
    return found


def _check_discretes(flat: FlatModel, starts: Starts, D: np.ndarray) -> None:
    """Raise InitializationError unless discretes that equations give without memory have the values given for the start."""
    for s in flat.batches:
        for a in s.template.assignments:
            if any(node.op in ("pre", "edge") for node in walk(a.value)):
                continue  # The value given is that before the start.
            for d in (s.db + locate_symbol(s.template, "d", a.target)).tolist():
                wanted = starts.discretes.get(d)
                if wanted is not None and D[d] != float(wanted):
                    found, name = type(wanted)(D[d]), flat.discrete(d)
                    raise InitializationError(
                        f"`{name}` cannot be {wanted} at the start: the model gives {found}",
                        where=place_of(flat.root, name),
                        why=f"the equation `{a.target} = {a.value}` determines it",
                        hint="give starts of the variables that it follows from instead",
                    )


def check_branches(now: StartProblem) -> None:
    """Raise InitializationError unless given branches are in force after the first instant."""
    for k, branch in now.starts.branches.items():
        element = now.core.model.elements[k]
        if element.shown_as(now.mode[k]) != branch:
            place = now.program.unknowns.element_place(k)[1]
            begin, found = element.branches[branch].name, element.branches[now.mode[k]].name
            controlled = now.state.forced[k] >= 0
            raise InitializationError(
                f"`{element.path}` cannot begin as {begin}: the model gives {found} at the start",
                where=(place,),
                why="its control decides"
                if controlled
                else "that branch does not agree with the start values",
                hint="change what controls it" if controlled else "give start values that agree with it",
            )
