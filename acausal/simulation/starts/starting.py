"""The first instant: attempts from a provisional mode with the start values completed in it, and what must hold after them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import chain, combinations, islice, product
from typing import TypeVar

import numpy as np

from ...errors import AcausalError, InitializationError
from ...reduction.affine import AffineModel, Kind, Mode
from ...reduction.open_mode import StructurallySingular
from ..confirmation import require
from ..failures import DiscreteUnsound, MovesForEver, NotSolved, Started, StartSteep
from ..instants.pivoting import free_branches
from ..loop import Loop
from ..nonlinear.newton import NewtonFailure, continued
from ..nonlinear.state_selection import DependentConstraints
from ..state import NOT_REDUNDANT
from .initialization import (
    Completed,
    check_branches,
    check_computed,
    check_conditions,
    check_held,
    complete,
    held_values,
    unmet,
)
from .integrals import rest_integrals
from .kept import moved_for_nothing
from .problem import Refused, StartProblem, StartTables
from .provisional import Branches, entered, known_relations, linearise_beside
from .report import reporter

Found = TypeVar("Found")
Attempt = Callable[[float, np.ndarray | None], tuple[Found, np.ndarray]]
"""Solves a start with a share of the actual parts of homotopies, next to a point if one is given: the outcome, its point."""
MOST_ATTEMPTS = 512
"""Beginnings that are tried when conditions do not hold after the first one, and choices of branches among which they are."""


@dataclass(frozen=True)
class Beginning:
    """How an attempt begins.

    Attributes
    ----------
    branches : mapping
        Elements -> branches in which the search for the first mode begins.
    sides : tuple of int
        Relations that begin on the other side than that of the start values.
    """

    branches: Branches = field(default_factory=dict)
    sides: tuple[int, ...] = ()
    held: dict[int, float] = field(default_factory=dict)
    """Pieces of tables, and integer parts, in which the first mode is sought."""


def _leaves_out(refused: Refused) -> bool:
    """Whether constraints that follow from others were found, and are left out from now on.

    At start values that are not consistent more may depend on each other than elsewhere, so that this is seen beside them.
    """
    failure, problem = refused.failure, refused.problem
    cause, lin = failure.cause if isinstance(failure, NotSolved) else None, problem.linearisation
    before = lin.core, lin.z, lin.last
    if isinstance(cause, StructurallySingular):
        linearise_beside(problem)
    elif not isinstance(cause, DependentConstraints):
        return False
    found = problem.tangents.leave_out(problem.core.model, problem.mode)
    if not found:
        lin.go_back(*before)
    return found


def start(run: Loop) -> None:
    """Process the first instant of a run.

    Several modes may be consistent. When a fixed value does not hold in the one that the search finds, the
    branches of the elements that leave a choice are tried one after the other.

    Raises
    ------
    InitializationError
        If fixed values, initial equations or given branches do not hold in any of them.
    """
    starting = Starting(run)
    try:
        completed = starting.completed()
    except AcausalError as error:
        raise run.failed(StartSteep(error)) from None
    require(run, moved_for_nothing(starting.now(), run.record.D), run.state.t)
    run.notify(Started(completed))


class Starting:
    """Attempts at the first instant of a run: each is sought as a value, then put into the run, whose micro-steps follow."""

    def __init__(self, run: Loop) -> None:
        self.run, held = run, held_values(run.program, run.starts)
        self.tables = StartTables(
            run.starts, run.discrete, run.hints, held, run.values.P, run.bounds, run.numerical, run.work
        )  # fmt: skip
        self.ticks = run.take_ticks()
        self.before, self.tried = run.snapshot(), False
        self.known = known_relations(self._problem(run.sources.states(run.state.t, run.state.D, run.state.R)))

    def _problem(self, xi: np.ndarray, near: np.ndarray | None = None) -> StartProblem:
        """What the run is before an attempt."""
        run = self.run
        return StartProblem(
            run.program, run.linearisation, self.tables, run.snapshot(), xi, run.homotopy, near
        )

    def completed(self) -> Completed | None:
        """What the start values were completed with, the first instant being complete.

        Raises
        ------
        AcausalError
        """
        run, plain = self.run, Beginning()

        def attempt(share: float, near: np.ndarray | None) -> tuple[Completed | None, np.ndarray]:
            found = self._told(plain) if near is None else self._attempt(plain, share, near)
            return found, run.state.z.copy()

        try:
            found = along_homotopy(attempt, self.before.z, run.program.nonlinear_rows.has_homotopy)
            return self._unless_given_starts_stay(found)
        except InitializationError:
            if run.core.system is not None:
                raise  # Nothing but branches and pieces of laws, which are told apart in analysed modes, begins otherwise.
            ways = chain(self._reached(), self._others(), self._other_sides())
            for beginning in islice(ways, MOST_ATTEMPTS):
                try:
                    return self._attempt(beginning)
                except (AcausalError, Refused):
                    continue
            raise

    def _unless_given_starts_stay(self, found: Completed | None) -> Completed | None:
        """The start that was found, or one in which all given starts hold, begun where no element holds anything.

        The first mode of a nonlinear model is sought at start values, before constraints move the defaults among them: an element
        may close there that is open where the constraints lead, and move what was given.
        """
        run = self.run
        given = run.starts.given & run.program.reduced.differentiated
        if not run.program.reduced.nonlinear or run.core.system is not None or self._meets(given):
            return found
        open_ = {k: _open_branch(run.core.model, k) for k in self._branches(run.state.mode)}
        beginning = Beginning({k: b for k, b in open_.items() if b is not None})
        try:
            other = self._attempt(beginning)
            if self._meets(given):
                return other
        except (AcausalError, Refused):
            pass
        return self._attempt(Beginning())

    def _meets(self, which: np.ndarray) -> bool:
        """Whether variables have their start values after the first instant."""
        run = self.run
        return not unmet(run.core, run.starts, which, run.data, run.y, run.read)

    def _told(self, beginning: Beginning) -> Completed | None:
        """An attempt whose failure is told in words."""
        try:
            return self._attempt(beginning)
        except Refused as refused:
            raise self.run.failed(refused.failure) from None

    def _attempt(
        self, beginning: Beginning, share: float = 1.0, near: np.ndarray | None = None
    ) -> Completed | None:
        """The first instant, begun in some way; constraints that follow from others everywhere are left out.

        Raises
        ------
        AcausalError, Refused
        """
        lin = self.run.linearisation
        try:
            return self._once(beginning, share, near)
        except Refused as refused:
            first, last = refused, lin.last
            if not _leaves_out(refused):
                raise
        try:
            return self._attempt(beginning, share, near)
        except Refused as refused:
            if not isinstance(refused.failure, NotSolved):
                raise
        # They follow from others at one point only, contradict these, or leave open what has no smallest values.
        first.problem.tangents.leave(NOT_REDUNDANT)
        lin.go_back(lin.core, lin.z, last)
        self.run.stand(first.problem)
        raise first

    def _once(self, beginning: Beginning, share: float, near: np.ndarray | None) -> Completed | None:
        run = self.run
        if self.tried:
            at = self.before.z
            if near is not None:
                # Start values of what is differentiated, and the other unknowns of the point.
                at = np.where(run.core.model.differentiated, at, near)
            run.begin_anew(replace(self.before, z=at), share)
        self.tried = True
        begun = self._provisional(beginning, near)
        branches = {**run.starts.branches, **beginning.branches}
        try:
            problem, completed = complete(entered(begun, branches))
        except Refused as refused:
            run.stand(refused.problem)
            raise
        check_computed(run.flat, run.starts, completed)
        # Prescribed branches are no outcome of the start, and no search changes them.
        forced = tuple(f if f >= 0 else b for f, b in zip(begun.state.forced, begun.mode, strict=True))
        first = problem.mode if branches else forced
        self._micro_steps(problem, completed, first)
        check_branches(self.now())
        q = rest_integrals(
            run.program.unknowns, run.starts, run.state.q, run.T0,
            lambda q: run.core.readout.rates(run.data, run.y, replace(run.moment(), q=q)),
        )  # fmt: skip
        if isinstance(q, MovesForEver):
            raise run.failed(q)
        run.begun(q, reporter(problem, q, completed))
        return completed

    def _provisional(self, beginning: Beginning, near: np.ndarray | None) -> StartProblem:
        """What an attempt is made of: relations, branches and sources as far as start values alone tell."""
        run, discrete = self.run, self.run.discrete
        branches = {**run.starts.branches, **beginning.branches}
        mode = tuple(branches.get(k, b) for k, b in enumerate(run.state.mode))
        R = known_relations(self._problem(run.sources.states(run.state.t, run.state.D, run.state.R)))
        R[list(beginning.sides)] = 1.0 - R[list(beginning.sides)]
        D, now = discrete.with_branches(run.state.D, branches), (run.state.t, run.tolerance, True, False)
        D[list(beginning.held)] = list(beginning.held.values())
        # Conditions that hold already fire nothing.
        at = run.starts.value, D, R
        memory = discrete.at_start(*at, (), run.state.memory, (*now[:2], False, False), mode).memory
        outcome = discrete.at_start(*at, self.ticks, memory, now, mode)
        if not outcome.sound:
            raise run.failed(DiscreteUnsound(outcome.D))
        problem = self._problem(run.suit(outcome.D, outcome.R), near)
        return problem.at(mode=mode, D=D, R=outcome.R, forced=outcome.forced, disabled=outcome.disabled)

    def _micro_steps(self, problem: StartProblem, completed: Completed | None, first: Mode) -> None:
        """The first instant from the point that was completed, and what must hold after it.

        Where starts of a nonlinear model contradict each other and no restart leads from them to its equations, the
        nearest point is taken instead. Given starts that hold in the provisional mode only are no more than left limits.
        """
        kept = [] if completed is None else completed.kept
        try:
            self._process(problem, completed, first, kept)
        except AcausalError:
            nonlinear = problem.reduced.nonlinear
            if completed is None or not (kept or (nonlinear and completed.left.any())):
                raise
            if nonlinear:
                problem.linearisation.linearise(
                    completed.z, completed.found.slopes, problem.xi, problem.values
                )
                problem = problem.at(z=completed.z)
            self._process(problem, completed, first, [])

    def _process(
        self, problem: StartProblem, completed: Completed | None, first: Mode, kept: list[tuple[int, float]]
    ) -> None:
        """The micro-steps from a point, begun in the mode ``first``."""
        run, starts = self.run, self.run.starts
        run.stand(problem)
        run.remember(run.evaluate())
        run.stand(problem.at(mode=first, memory=run.state.memory, timed_next=run.state.timed_next))
        run.process("start", (), self.ticks, self.tables.held + kept)
        check_held(run.flat, run.core, starts, run.state.D, run.data, run.y, run.read)
        found = problem.state
        same = (
            run.state.mode == problem.mode
            and np.array_equal(run.state.R, found.R)
            and np.array_equal(run.state.D, found.D)
        )
        if run.core.system is not None or (
            completed is not None and not (same and not any(step.jumps for step in run.record.steps))
        ):
            check_conditions(completed, self.now())

    def now(self) -> StartProblem:
        """Where the run is."""
        run = self.run
        slopes = run.state.slopes if run.numerical else run.data.T @ (run.data.Ay @ run.y)
        at = replace(self._problem(run.y[len(run.data.states) :]), entered=run.data, y=run.y)
        return at.at(slopes=slopes)

    # -- other beginnings ----------------------------------------------------------------------------------------

    def _branches(self, mode: Mode) -> Branches:
        """Branches in a mode of the elements that neither a control nor a given start decides."""
        given, forced = self.run.starts.branches, self.run.state.forced
        return {k: b for k, b in enumerate(mode) if forced and forced[k] < 0 and k not in given}

    def _reached(self) -> Iterator[Beginning]:
        """Branches, relations and pieces of tables as they are where the last attempt ended, as long as they are new ones.

        Initial equations are met in the provisional mode; where the start leads to another one they are met in that. With
        piecewise linear laws that is Newton's method. An attempt that finds no point ends at the start values. Jumps on the
        way there decide nothing: starts that contradict each other may have caused them.
        """
        run, known, tried = self.run, self.known, [Beginning()]
        while run.data is not None:
            mode, R = list(run.state.mode), known.copy()
            R[run.discrete.state_relations] = run.relation_values()
            for k, table, select in run.tables.conditions:
                mode[k] = select(np.array(table.signs(run.y, run.known)[0]))
            held = {d: float(run.state.D[d]) for d in run.program.names.held}
            reached = Beginning(self._branches(tuple(mode)), tuple(np.flatnonzero(R != known).tolist()), held)
            if reached in tried:
                return
            tried.append(reached)
            yield reached

    def _others(self) -> Iterator[Beginning]:
        """Branches of the elements whose branch the equations may leave open, fewest changes first."""
        present, forced, given = self.run.state.mode, self.run.state.forced, self.run.starts.branches
        elements = self.run.core.model.elements
        free = [
            k
            for k, e in enumerate(elements)
            if not (e.monotone or e.kind is Kind.CONTROLLED or forced[k] >= 0 or k in given)
        ]
        choices = [[b for b in free_branches(elements[k]) if elements[k].shown_as(b) == b] for k in free]
        if not math.prod(map(len, choices)) <= MOST_ATTEMPTS:
            return
        found = [dict(zip(free, chosen, strict=True)) for chosen in product(*choices)]
        changes = [sum(present[k] != b for k, b in branches.items()) for branches in found]
        for n in sorted(range(len(found)), key=lambda n: changes[n]):
            if changes[n]:
                yield Beginning(found[n])

    def _other_sides(self) -> Iterator[Beginning]:
        """Relations of variables that may be on the other side than where a start begins, fewest changes first.

        Conditions that are met with the law on one side of a comparison may lead to the other side; the point that is
        meant may lie in a third piece of that law, such as the other flank of a backlash.
        """
        rows, place = self.run.core.relations, np.asarray(self.run.discrete.state_relations, np.int64)
        open_ = place[rows.E.any(axis=1) | rows.A.any(axis=1)].tolist()
        sides = chain.from_iterable(combinations(open_, n) for n in range(1, len(open_) + 1))
        return (Beginning(sides=changed) for changed in sides)


def _open_branch(model: AffineModel, k: int) -> int | None:
    """The first branch of an element in which its equations hold no state; None if they do in none or in all."""
    holds = []
    for branch in model.elements[k].branches:
        rows = branch.equations
        holds.append(not (rows.E.any(axis=1) | rows.A[:, ~model.differentiated].any(axis=1)).all())
    return holds.index(False) if True in holds and False in holds else None


def along_homotopy(attempt: Attempt[Found], z: np.ndarray, able: bool) -> Found:
    """Solve a start, and where that fails follow the solution of the simplified equations to that of the actual ones.

    Parameters
    ----------
    attempt : callable
    z : (n,) array
        Start values.
    able : bool
        Whether the model has simplified equations.

    Raises
    ------
    AcausalError
        That of the first attempt, where the way does not lead to the end either.

    Notes
    -----
    In every step the first instant is processed anew from the start values; the solution of the step before is no more
    than the point at which Newton's method begins.
    """
    found: list[Found] = []

    def solve(share: float, near: np.ndarray) -> np.ndarray:
        try:
            result, point = attempt(share, near)
        except (AcausalError, Refused):
            raise NewtonFailure("no convergence", near, np.zeros(0)) from None
        found[:] = [result]
        return point

    try:
        return attempt(1.0, None)[0]
    except AcausalError:
        if not able:
            raise
        try:
            continued(solve, z)
        except NewtonFailure:
            found.clear()
        if not found:
            raise
    return found[0]
