"""The first instant: a provisional mode, starts completed in it, the micro-steps, and what must hold after them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from itertools import chain, combinations, islice, product

import numpy as np

from ...dynamics.directions import generic_direction
from ...errors import AcausalError, InitializationError
from ...reduction.affine import Inadmissible, Kind, Mode
from ...reduction.restart import restart
from ..failures import UNSOLVED, NotSolved, SearchFailed, Started, StartSteep
from ..instants.instant import Process, evaluated
from ..instants.instant import process as process_instant
from ..instants.pivoting import free_branches
from ..instants.search import Choice, NoConsistentMode
from ..run import Run
from .completion import BESIDE, MOST_MOVES
from .homotopy import along_homotopy
from .initialization import (
    Completed,
    check_computed,
    check_conditions,
    check_held,
    complete,
    held_values,
)
from .integrals import rest_integrals
from .left_limits import agreeing
from .report import reporter

Branches = Mapping[int, int]
"""Elements -> branches in which the search for the first mode begins."""
Sides = tuple[int, ...]
"""Relations that begin on the other side than that of the start values."""
MOST_RETURNS = 8
"""Modes in which initial equations are met anew, one after the other, when the first instant leaves them."""
MOST_BEGINNINGS = 512
"""Choices of branches that are tried when fixed values do not hold in the first mode found."""
MOST_SIDES = 64
"""Combinations of relations in which conditions are met anew when they do not hold after the first instant."""


def start(run: Run) -> None:
    """Process the first instant of a run.

    Several modes may be consistent. When a fixed value does not hold in the one that the search finds, the
    branches of the elements that leave a choice are tried one after the other.

    Raises
    ------
    InitializationError
        If fixed values, initial equations or given branches do not hold in any of them.
    """
    held = held_values(run.program, run.starts)
    ticks = run.take_ticks()
    begin = (run.mode, run.D, run.R, run.z, run.q, run.memory)
    given = run.starts.branches
    completed, known = None, _known_relations(run)

    def restore() -> None:
        run.mode, run.D, run.R, run.z, run.q, run.memory = begin
        if run.near is not None:
            run.z = np.where(run.core.model.differentiated, run.z, run.near)
        if run.numerical:
            run.tangents.forget_modes()
        run.restart_record()

    try:
        completed = along_homotopy(run, lambda: _first_instant(run, given, ticks, held), restore)
    except InitializationError as error:
        ways = chain(
            ((branches, (), False) for branches in _settled(run)),
            ((branches, changed, True) for branches, changed in _reached(run, known)),
            ((branches, (), False) for branches in _others(run)),
            (({}, changed, False) for changed in _other_sides(run)),
        )
        for branches, changed, strict in ways:
            restore()
            found = _attempt(run, {**given, **branches}, ticks, held, changed, strict)
            if found:
                completed = found[0]
                break
        else:
            raise run.failed(StartSteep(error)) from None
    except AcausalError as error:
        raise run.failed(StartSteep(error)) from None
    run.notify(run, Started(completed))


def _attempt(
    run: Run,
    branches: Branches,
    ticks: list[bool],
    held: list[tuple[int, float]],
    changed: Sides,
    strict: bool,
) -> tuple[Completed | None] | None:
    """What the completion found when the first instant begins in these branches, None if conditions do not hold then.

    If ``strict``, rates count that nothing but sources determines: a piece of a law in which they cannot vanish is the wrong one.
    """
    try:
        completed = _first_instant(run, branches, ticks, held, changed)
        if strict and completed is not None:
            check_conditions(run, completed)
    except AcausalError:
        return None
    return (completed,)


def _first_instant(
    run: Run,
    branches: Branches,
    ticks: list[bool],
    held: list[tuple[int, float]],
    changed: Sides = (),
) -> Completed | None:
    run.D = run.discrete.with_branches(run.D, branches)
    first, D = run.mode, run.D
    _provisional(run, branches, ticks, held, changed)
    completed = complete(run)
    if completed is not None and not run.reduced.nonlinear:
        # The first micro-step compares variables where the left limits lead in this mode.
        reinits = run.program.unknowns.targets(held + completed.kept)[0]
        try:
            run.y = restart(run.core.model, run.data, run.z, run.y[len(run.data.states) :], reinits).y
        except Inadmissible as error:
            raise run.failed(SearchFailed(error, run.forced, held, "start")) from None
        run.forget_signs()
    check_computed(run, completed)
    provisional = (run.mode, run.R)
    run.record.z, run.record.D = run.z, D
    run.remember(evaluated(run))
    # Prescribed branches are no outcome of the start, and no search changes them.
    begun = tuple(f if f >= 0 else b for f, b in zip(run.forced, first, strict=True))
    run.mode, run.D = run.mode if branches else begun, D
    _micro_steps(run, completed, provisional, ticks, held)
    _check_branches(run)
    rest_integrals(run)
    run.record.reasons = reporter(run.program, run.core, run.starts, run.q, completed)
    return completed


def _micro_steps(
    run: Run,
    completed: Completed | None,
    provisional: tuple[Mode, np.ndarray],
    ticks: list[bool],
    held: list[tuple[int, float]],
) -> None:
    """The first instant from the point that was completed in the provisional mode and relations, and what must hold after it.

    Where starts of a nonlinear model contradict each other and no restart leads from them to its equations, the
    nearest point is taken instead. Given starts that hold in the provisional mode only are no more than left limits.
    """

    def process(kept: list[tuple[int, float]]) -> None:
        process_instant(run, "start", (), ticks, held + kept)
        check_held(run, run.starts)
        if completed is not None:
            check_conditions(run, completed, *provisional)

    begin = (run.mode, run.D, run.R, run.q, run.memory)
    place = run.data, run.y, run.z, run.record.z
    try:
        process([] if completed is None else completed.kept)
    except AcausalError:
        if completed is None or not (completed.kept or (run.reduced.nonlinear and completed.left.any())):
            raise
        run.mode, run.D, run.R, run.q, run.memory = begin
        run.record.steps.clear()
        if run.reduced.nonlinear:
            run.z = run.record.z = completed.z
            run.touch(run.z, completed.found.slopes, run.xi)
        else:
            run.data, run.y, run.z, run.record.z = place
            run.forget_signs()
        process([])


def _settled(run: Run) -> Iterator[Branches]:
    """Branches in which the first instant came to rest, as long as they are new ones.

    Initial equations are met in the provisional mode; where the start leads to another one they are met in that.
    """
    tried = []
    while run.mode not in tried and len(tried) < MOST_RETURNS:
        tried.append(run.mode)
        branches = _branches(run, run.mode)
        # Without any the first instant would be what it was.
        if branches:
            yield branches


def _branches(run: Run, mode: Mode) -> Branches:
    """Branches in a mode of the elements that neither a control nor a given start decides."""
    given = run.starts.branches
    return {k: b for k, b in enumerate(mode) if run.forced and run.forced[k] < 0 and k not in given}


def _reached(run: Run, known: np.ndarray) -> Iterator[tuple[Branches, Sides]]:
    """Branches and relations as they are at the point where the last attempt ended, as long as they are new ones.

    With piecewise linear laws that is Newton's method. An attempt that finds no point ends at the start values. Jumps
    on the way there decide nothing: starts that contradict each other may have caused them.

    Parameters
    ----------
    known
        Relations with which the first attempt began.
    """
    tried: list[tuple[Mode, Sides]] = [(run.mode, ())]
    while len(tried) <= MOST_RETURNS and run.data is not None:
        mode, R = list(run.mode), known.copy()
        R[run.discrete.state_relations] = run.relation_values()
        for k, table, select in run.core.test.prepared(run.data).conditions:
            mode[k] = select(np.array(table.signs(run.y, run.t)[0]))
        reached = tuple(mode), tuple(np.flatnonzero(R != known).tolist())
        if reached in tried:
            return
        tried.append(reached)
        yield _branches(run, reached[0]), reached[1]


def _others(run: Run) -> Iterator[Branches]:
    """Branches of the elements whose branch the equations may leave open, fewest changes first."""
    present, forced, given = run.mode, run.forced, run.starts.branches
    elements = run.core.model.elements
    free = [
        k
        for k, e in enumerate(elements)
        if not (e.monotone or e.kind is Kind.CONTROLLED or forced[k] >= 0 or k in given)
    ]
    choices = [[b for b in free_branches(elements[k]) if elements[k].shown_as(b) == b] for k in free]
    if not math.prod(map(len, choices)) <= MOST_BEGINNINGS:
        return
    found = [dict(zip(free, chosen, strict=True)) for chosen in product(*choices)]
    changes = [sum(present[k] != b for k, b in branches.items()) for branches in found]
    for n in sorted(range(len(found)), key=lambda n: changes[n]):
        if changes[n]:
            yield found[n]


def _other_sides(run: Run) -> Iterator[Sides]:
    """Relations of variables that may be on the other side than where a start begins, fewest changes first.

    Conditions that are met with the law on one side of a comparison may lead to the other side; the point that is
    meant may lie in a third piece of that law, such as the other flank of a backlash.
    """
    rows, place = run.core.relations, np.asarray(run.discrete.state_relations, np.int64)
    open_ = place[rows.E.any(axis=1) | rows.A.any(axis=1)].tolist()
    sides = chain.from_iterable(combinations(open_, n) for n in range(1, len(open_) + 1))
    return islice(sides, MOST_SIDES)


def _known_relations(run: Run) -> np.ndarray:
    """Relations before any mode: those among given quantities alone have their value, the others are false.

    In a nonlinear model variables have the values from which Newton's method begins: a branch chosen against them
    may not be defined there.
    """
    rows = run.core.relations
    known = ~rows.E.any(axis=1)
    values = rows.B @ run.sources.states(run.t, run.D, run.R)
    if run.reduced.nonlinear:
        values = values + rows.A @ run.z
    else:
        known &= ~rows.A.any(axis=1)
    R = run.R.copy()
    for i in np.flatnonzero(known & ~np.isnan(values)).tolist():
        holds = run.discrete.operators[i](int(np.sign(values[i])))
        R[run.discrete.state_relations[i]] = float(holds)
    return R


def _provisional(
    run: Run,
    branches: Branches,
    ticks: list[bool],
    held: list[tuple[int, float]],
    changed: Sides,
) -> None:
    """A consistent point from the start values, at which the first micro-step evaluates relations."""
    D = run.D
    run.mode = tuple(branches.get(k, b) for k, b in enumerate(run.mode))
    run.R = _known_relations(run)
    run.R[list(changed)] = 1.0 - run.R[list(changed)]
    outcome = Process(run).at_start(ticks)
    run.forced, run.R = outcome.forced, outcome.R
    unit = run.sources.unit_at(run.t, outcome.D, outcome.R)
    if unit != run.core.unit:
        run.use(run.numbers(run.feeds, unit))
    xi = run.sources.states(run.t, outcome.D, outcome.R)
    z = run.z = agreeing(run.program, run.base, run.starts, run.z, xi)
    reinits = run.program.unknowns.targets(held)[0]

    def search(forced: tuple[int, ...]) -> Choice:
        trigger = ("provisional",)
        guards = outcome.disabled
        try:
            return run.next_mode(z, xi, run.mode, forced, trigger, disabled_guards=guards, reinits=reinits)
        except (NoConsistentMode, *UNSOLVED):
            if not reinits:
                raise
            # The completion says which fixed values cannot hold; tangents at start values do not say whether they can.
            run.here()
            return run.next_mode(z, xi, run.mode, forced, trigger, disabled_guards=guards)

    if run.reduced.nonlinear and not run.core.model.elements and _enter_as_it_is(run, z, xi):
        run.z, run.D = z, D
        return
    try:
        run.enter(_chosen(outcome.forced, branches, search).restart)
    except (NoConsistentMode, *UNSOLVED) as error:
        if not (run.reduced.nonlinear and _enter_beside(run, z, xi, outcome.forced)):
            if isinstance(error, NoConsistentMode):
                raise run.failed(SearchFailed(error, outcome.forced, held, "start")) from None
            raise run.failed(NotSolved(error, "start")) from None
    run.z, run.D = z, D


def _enter_as_it_is(run: Run, z: np.ndarray, xi: np.ndarray) -> bool:
    """Enter the only mode of a model without elements; whether its equations can be solved near the start values."""
    try:
        run.data = run.core.mode(run.mode)
        run.tangents.mode(run.core, run.mode, run.linearisation.z, run.slopes, xi, run.present)
    except (Inadmissible, *UNSOLVED):
        return False
    if len(run.data.admissible):
        return False
    run.xi, run.y = xi, np.concatenate([z[run.data.states], xi])
    run.forget_signs()
    return True


def _enter_beside(run: Run, z: np.ndarray, xi: np.ndarray, forced: tuple[int, ...]) -> bool:
    """Enter the present mode touching beside start values at which it has no tangents; whether it has some there."""
    run.mode = tuple(f if f >= 0 else b for f, b in zip(forced, run.mode, strict=True))
    for k in range(MOST_MOVES):
        direction = generic_direction(len(z), k)
        run.touch(z + BESIDE * run.core.model.scale * direction, np.zeros(len(z)), xi)
        try:
            run.data = run.core.mode(run.mode)
            run.tangents.mode(run.core, run.mode, run.linearisation.z, run.slopes, xi, run.present)
        except (Inadmissible, *UNSOLVED):
            continue
        if len(run.data.admissible):
            continue  # Equations depend on each other there too.
        run.xi, run.y = xi, np.concatenate([z[run.data.states], xi])
        run.forget_signs()
        return True
    run.touch(z, np.zeros(len(z)), xi)
    return False


def _chosen(
    forced: tuple[int, ...], branches: Branches, search: Callable[[tuple[int, ...]], Choice]
) -> Choice:
    """The outcome of a search that keeps given branches while the others adapt to them, if there is one."""
    kept = tuple(b if b >= 0 else branches.get(k, -1) for k, b in enumerate(forced))
    if kept != forced:
        try:
            return search(kept)
        except (NoConsistentMode, *UNSOLVED):
            return search(forced)
    return search(forced)


def _check_branches(run: Run) -> None:
    """Raise InitializationError unless given branches are in force after the first instant."""
    for k, branch in run.starts.branches.items():
        element = run.core.model.elements[k]
        if element.shown_as(run.mode[k]) != branch:
            place = run.program.unknowns.element_place(k)[1]
            begin, now = element.branches[branch].name, element.branches[run.mode[k]].name
            raise InitializationError(
                f"`{element.path}` cannot begin as {begin}: the model gives {now} at the start",
                where=(place,),
                why="its control decides"
                if run.forced[k] >= 0
                else "that branch does not agree with the start values",
                hint="change what controls it"
                if run.forced[k] >= 0
                else "give start values that agree with it",
            )
