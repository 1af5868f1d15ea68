"""The first instant: attempts from a provisional mode with the start values completed in it, and what must hold after them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import reduce
from itertools import chain, combinations, islice

import numpy as np

from ...errors import AcausalError, InitializationError
from ...reduction.affine import Mode
from ..confirmation import require
from ..failures import DiscreteUnsound, MovesForEver, NotSolved, Started, StartSteep
from ..instants.discrete import Outcome
from ..instants.pivoting import PIVOTS, most_pivots
from ..loop import Loop
from ..state import NOT_REDUNDANT, State
from .admitting import Admitting
from .homotopy import along_homotopy
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
from .left_limits import AGREES, disagreement, left_limits
from .priorities import MISSED, SETTLED
from .problem import Refused, StartProblem, StartTables
from .provisional import Beginning, entered, known_relations, leaves_out
from .report import reporter


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
        self.before, self.tried, self.left, self.stands = run.snapshot(), False, False, False
        self.best: Beginning | None = None
        """That of the best start which was found; None before one was."""
        self.moved = (1, 1, 1, 1)
        """How many start values it moves."""

    def _problem(self, xi: np.ndarray, near: np.ndarray | None = None) -> StartProblem:
        """What the run is before an attempt."""
        run = self.run
        return StartProblem(
            run.program, run.linearisation, self.tables, run.snapshot(), xi, run.homotopy, near
        )

    def completed(self) -> Completed | None:
        """What the start values were completed with, the first instant being complete.

        The first mode is sought at start values, before equations move what is not given. An element may close there that is
        open where constraints lead, or values given for what follows from states; and a piece of a table, or a branch, in which
        no algebraic variable follows from a state fixes this one, though it is left at once. So a start is begun otherwise while
        it fails, or moves start values: given ones count before defaults.

        Raises
        ------
        AcausalError
        """
        run, plain, begun_at = self.run, Beginning(), None

        def attempt(share: float, near: np.ndarray | None) -> tuple[Completed | None, np.ndarray]:
            nonlocal begun_at
            begun_at = near
            found = self._told(plain) if near is None else self._attempt(plain, share, near)
            return found, run.state.z.copy()

        found, failure, last = None, None, plain
        try:
            found = along_homotopy(attempt, self.before.z, run.program.nonlinear_rows.has_homotopy)
        except AcausalError as error:
            failure = error
        if run.core.system is not None:
            if failure is not None:
                raise failure
            return found  # Nothing but branches and pieces of laws, which are told apart in analysed modes, begins otherwise.
        if failure is None:
            self.best, self.moved = plain, self._moved(found)
        for last in self._some(self._others(failure)):
            try:
                other = self._attempt(last)
            except (AcausalError, Refused):
                continue
            moved = self._moved(other)
            if self.best is None or moved < self.moved:
                self.best, self.moved, found = last, moved, other
            if not any(self.moved):
                break
        if self.best is None:
            assert failure is not None
            raise failure
        if self.best is last and self.stands:
            return found
        return self._attempt(self.best, 1.0, begun_at if self.best is plain else None)

    def _others(self, failure: AcausalError | None) -> Iterator[Beginning]:
        """Beginnings that may lead to a start, or to one that moves fewer start values, likely ones first."""
        if failure is not None and not isinstance(failure, InitializationError):
            if len(self.run.program.names.pieces):
                yield from self._sided()
            return
        if any(self.moved):
            yield from self._sided()
        given, others, lost, _ = self.moved
        if others or lost or (given and self.run.program.reduced.nonlinear):
            yield from self._admitted(self.best or Beginning())
        yield from self._other_sides()

    def _sided(self) -> Iterator[Beginning]:
        """Beginnings in other pieces, and on other sides of relations: where start values lead, then where a start has led.

        Conditions are met in the pieces of the beginning; where the start leads to others they are met in these, and so on.
        """
        if not self._open_relations():
            return
        yield from self._nearer(Beginning(), self.run.starts.value)
        tried = [Beginning()]
        while self.run.data is not None and (self.best is None or self.left):
            reached, x = self._reached()
            if reached in tried:
                return
            tried.append(reached)
            yield from self._nearer(reached, x)

    def _admitted(self, begun: Beginning) -> Iterator[Beginning]:
        """A beginning in the mode that admits the given values which hold together, if one is found."""
        run, mode = self.run, self.run.state.mode
        run.begin_anew(self.before)
        self.stands = False
        problem = self._provisional(begun, None)
        found, forced, given = Admitting(problem).mode(mode), problem.state.forced, run.starts.branches
        branches = {k: b for k, b in enumerate(found or ()) if forced and forced[k] < 0 and k not in given}
        if branches:
            yield replace(begun, branches=branches)

    def _nearer(self, beginning: Beginning, x: np.ndarray) -> Iterator[Beginning]:
        """Beginnings in whose pieces and on whose sides of relations equations contradict as few start values as possible.

        A relation that lowers their number is put on its other side; or one of those that do no longer lower it then, as both
        ends of a piece do. ``x`` are values of all variables in the pieces of the first one.
        """
        missed = self._contradicted(beginning)
        open_ = self._open_relations() if missed else []
        lower = [i for i in open_ if self._contradicted(self._beside(beginning, i, x)) < missed]
        if not lower and beginning != Beginning():
            yield beginning
        if lower:
            first = self._beside(beginning, lower[0], x)
            missed = self._contradicted(first)
            done = [i for i in lower[1:] if self._contradicted(self._beside(first, i, x)) >= missed]
            for i in (lower[0], *done):
                yield from self._nearer(self._beside(beginning, i, x), x)

    def _contradicted(self, beginning: Beginning) -> int:
        """Constraints of all modes that the start values contradict."""
        run, begun = self.run, self._begun(self.before, beginning)
        core, xi = (
            run.numbers(begun.D, begun.R, run.open_inputs),
            run.sources.states(begun.t, begun.D, begun.R),
        )
        _, _, defect, size = disagreement(core, begun.z, xi)
        return int((np.abs(defect) > AGREES * size).sum())

    def _moved(self, completed: Completed | None) -> tuple[int, ...]:
        """Numbers of start values that do not hold after the first instant, those that count most first.

        They are given ones of states, given ones of others, given ones of states that not even the left limits hold, and
        defaults of states. Guesses of what Newton's method computes need not hold.
        """
        run, starts = self.run, self.run.starts
        rank, at = left_limits(run.program, starts)[1], run.core.model.differentiated
        z, wanted, scale = run.state.z, self.before.z, run.core.model.network_scale
        far = np.abs(z - wanted) > np.maximum(MISSED * np.maximum(np.abs(z), np.abs(wanted)), SETTLED * scale)
        others, lost = starts.given & ~run.program.reduced.differentiated, 0
        others[run.flat.computed] = False
        if completed is not None:
            others[list(completed.guessed())] = False
            lost = completed.lost()
        if starts.steady.any():
            others[:] = False  # All of them are guesses beside it.
        missed = unmet(run.core, starts, others, run.data, run.y, run.read)
        return int((at & far & (rank > 0)).sum()), len(missed), lost, int((at & far & (rank == 0)).sum())

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
            if not leaves_out(refused):
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
        self.stands = True
        return completed

    def _provisional(self, beginning: Beginning, near: np.ndarray | None) -> StartProblem:
        """What an attempt is made of: relations, branches and sources as far as start values alone tell."""
        run, discrete, before = self.run, self.run.discrete, self._begun(self.run.state, beginning)
        # Conditions that hold already fire nothing.
        memory = self._first(before, run.starts.value).memory
        now = before.t, run.tolerance, True, False
        outcome = discrete.at_start(
            run.starts.value, before.D, before.R, self.ticks, memory, now, before.mode
        )
        if not outcome.sound:
            raise run.failed(DiscreteUnsound(outcome.D))
        pieces = run.program.names.pieces
        outcome.D[pieces] = before.D[pieces]
        problem = self._problem(run.suit(outcome.D, outcome.R), near)
        forced, disabled = outcome.forced, outcome.disabled
        return problem.at(mode=before.mode, D=before.D, R=outcome.R, forced=forced, disabled=disabled)

    def _first(self, state: State, x: np.ndarray) -> Outcome:
        """The discrete part before the first instant, as far as values ``x`` of all variables tell."""
        now = state.t, self.run.tolerance, False, False
        return self.run.discrete.at_start(x, state.D, state.R, (), state.memory, now, state.mode)

    def _begun(self, state: State, beginning: Beginning) -> State:
        """A state with the branches, relations and pieces of a beginning, and else those of the start values.

        Before the start there is no piece: where a table begins says nothing about its argument.
        """
        run, pieces = self.run, self.run.program.names.pieces
        branches = {**run.starts.branches, **beginning.branches}
        mode = tuple(branches.get(k, b) for k, b in enumerate(state.mode))
        begun = replace(state, mode=mode, D=run.discrete.with_branches(state.D, branches))
        if beginning.pieces is not None:
            begun.D[pieces] = beginning.pieces
        elif len(pieces):
            known = replace(begun, R=self._relations(begun))
            begun.D[pieces] = self._first(known, run.starts.value).D[pieces]
        return replace(begun, R=self._relations(begun, beginning.sides))

    def _beside(self, beginning: Beginning, i: int, x: np.ndarray) -> Beginning:
        """A beginning with a relation on the other side: in the next piece, if the relation is an end of one.

        ``x`` are values of all variables in the piece.
        """
        begun, ids = self._begun(self.before, beginning), self.run.program.names.pieces
        present = self._first(begun, x).D[ids]
        begun.R[i] = 1.0 - begun.R[i]
        pieces = self._first(begun, x).D[ids]
        # Other tables stay in the pieces that were chosen for them, whatever the values say.
        moved = pieces != present
        if moved.any():
            return replace(beginning, pieces=tuple(np.where(moved, pieces, begun.D[ids]).tolist()))
        return replace(beginning, sides=tuple(sorted({*beginning.sides} ^ {i})))

    def _relations(self, state: State, sides: tuple[int, ...] = ()) -> np.ndarray:
        """Relations as far as start values tell, some of them on the other side."""
        problem = self._problem(self.run.sources.states(state.t, state.D, state.R))
        R = known_relations(replace(problem, state=state))
        R[list(sides)] = 1.0 - R[list(sides)]
        return R

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
        run.stand(self._before_all(problem))
        signs = run.signs()
        run.remember(run.evaluate())
        run.stand(problem.at(mode=first, memory=run.state.memory, timed_next=run.state.timed_next))
        run.forget_signs(signs)
        run.process("start", (), self.ticks, self.tables.held + kept)
        check_held(run.flat, run.core, starts, run.state.D, run.data, run.y, run.read)
        found = problem.state
        same = (
            run.state.mode == problem.mode
            and np.array_equal(run.state.R, found.R)
            and np.array_equal(run.state.D, found.D)
        )
        self.left = not same or any(step.jumps for step in run.record.steps)
        if run.core.system is not None or (completed is not None and self.left):
            check_conditions(completed, self.now())

    def _before_all(self, problem: StartProblem) -> StartProblem:
        """The same point with sources as discretes make them before anything fires: relations compare with these until then."""
        state = problem.state
        xi = self.run.sources.states(state.t, state.D, state.R)
        if self.run.core.system is not None:
            return replace(problem, xi=xi)
        return replace(problem, xi=xi, y=np.concatenate([problem.y[: len(problem.y) - len(xi)], xi]))

    def now(self) -> StartProblem:
        """Where the run is."""
        run = self.run
        slopes = run.state.slopes if run.numerical else run.data.T @ (run.data.Ay @ run.y)
        at = replace(self._problem(run.y[len(run.data.states) :]), entered=run.data, y=run.y)
        return at.at(slopes=slopes)

    # -- other beginnings ----------------------------------------------------------------------------------------

    def _reached(self) -> tuple[Beginning, np.ndarray]:
        """Relations and pieces of tables as they are where the last attempt ended, and the values of all variables there.

        Jumps on the way there decide nothing: starts that contradict each other may have caused them.
        """
        run, ids, D = self.run, self.run.program.names.pieces, self.before.D.copy()
        D[ids] = run.state.D[ids]
        known = self._relations(replace(self.before, D=D))
        R, x = known.copy(), run.starts.value.copy()
        R[run.discrete.state_relations] = run.relation_values()
        x[list(run.discrete.x_ids)] = run.read(run.discrete.x_ids)
        sides, pieces = tuple(np.flatnonzero(R != known).tolist()), tuple(D[ids].tolist())
        return Beginning(sides=sides, pieces=pieces), x

    def _other_sides(self) -> Iterator[Beginning]:
        """Relations of variables that may be on the other side than where a start begins, fewest changes first.

        Conditions that are met with the law on one side of a comparison may lead to the other side; the point that is
        meant may lie in a third piece of that law, such as the other flank of a backlash.
        """
        open_, x = self._open_relations(), self.run.starts.value
        for sides in chain.from_iterable(combinations(open_, n) for n in range(1, len(open_) + 1)):
            if self.best is not None:
                return
            yield reduce(lambda beginning, i: self._beside(beginning, i, x), sides, Beginning())

    def _some(self, beginnings: Iterator[Beginning]) -> Iterator[Beginning]:
        """As many of the beginnings as pivoting examines modes: relations count as elements do."""
        return islice(beginnings, most_pivots(self.run.core.model) + PIVOTS * len(self._open_relations()))

    def _open_relations(self) -> list[int]:
        """Relations of variables."""
        rows, place = self.run.core.relations, np.asarray(self.run.discrete.state_relations, np.int64)
        return place[rows.E.any(axis=1) | rows.A.any(axis=1)].tolist()
