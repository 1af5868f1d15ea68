"""The mode in which given values hold, whichever variables they are given for: principal pivoting with them as further rows.

Branches are judged at the point that the completion of a mode leads to. A value that the equations of a mode contradict shows a
row in which all unknowns cancel, as equations of a mode do that contradict each other: the elements in it can give way, and
where none can, no mode has the value. So values that need several elements to move are found as modes are, in as many steps.
"""

from __future__ import annotations

import numpy as np

from ...dynamics.noise import Uncertainty
from ...reduction.affine import Mode, Rows
from ...reduction.index_reduction import Dependencies, dependencies
from ...values import frozen
from ..instants.pivoting import NoMove, Pivoting, Row, blocking_row, cancelling_rows, most_pivots
from ..instants.transition import Instant, Verdict
from .conditions import Conditions
from .initialization import complete
from .left_limits import agreeing
from .priorities import MISSED
from .problem import Refused, StartProblem
from .provisional import as_it_is, beside
from .stated import Rank


@frozen
class CompletedMode:
    """A mode with the start completed in it: which demanded conditions it misses, and what the test of the point says."""

    mode: Mode
    missed: np.ndarray
    """Mask over the conditions."""
    verdict: Verdict | None
    """None where nothing could be completed."""


@frozen
class Admission:
    """What is known of a mode for those conditions that are still demanded."""

    mode: Mode
    violations: tuple[tuple[int, int, int], ...]
    possible: bool

    @property
    def consistent(self) -> bool:
        """Whether the point lies in the mode and nothing demanded is missed."""
        return self.possible and not self.violations


class Admitting:
    """The search for a mode that admits start values.

    Parameters
    ----------
    problem : StartProblem
        What is sought, with start values as left limits.
    """

    def __init__(self, problem: StartProblem) -> None:
        z = agreeing(problem.program, problem.linearisation.base, problem.starts, problem.z, problem.xi)
        self._problem, self._conditions = problem.at(z=z), Conditions(problem)
        conditions, given = self._conditions, problem.state.forced
        own = [problem.starts.branches.get(k, b) for k, b in enumerate(given)]
        self._forced = tuple(b if f < 0 else f for f, b in zip(given, own, strict=True))
        top = Rank.STEADY_FIXED if problem.starts.steady.any() else Rank.GUESS
        self._demanded = conditions.rank <= top
        for k, _ in (*conditions.nonlinear_rows, *conditions.observed):
            self._demanded[k] = False
        self._known: dict[Mode, CompletedMode] = {}
        self._rows: dict[Mode, list[Row]] = {}
        self._impossible: list[int] = []
        """Conditions that no mode has, or that others contradict in all of them."""

    def mode(self, begin: Mode) -> Mode | None:
        """The mode; without values that no mode has, or that contradict others.

        Where all modes miss some, or are left at once, that of those examined which misses the fewest: what is given may be a
        left limit, from which the first instant jumps. None where nothing could be completed.
        """
        begin = tuple(f if f >= 0 else b for f, b in zip(self._forced, begin, strict=True))
        while self._demanded.any():
            self._impossible.clear()
            self._rows.clear()
            model = self._problem.core.model
            pivoting = Pivoting(model, self._forced, self._judgement, self._blocking, most_pivots(model))
            try:
                return pivoting.run(begin)
            except NoMove:
                if not self._impossible:
                    break
            self._demanded[self._impossible] = False
        found = [judged for judged in self._known.values() if judged.verdict is not None]
        return min(found, key=self._defects).mode if found else None

    def _defects(self, judged: CompletedMode) -> tuple[int, int]:
        violations = () if judged.verdict is None else judged.verdict.violations
        return int((judged.missed & self._demanded).sum()), len(violations)

    def _judgement(self, mode: Mode) -> Admission:
        found = self._known.get(mode)
        if found is None:
            found = self._known[mode] = self._judged(mode)
        if found.verdict is None or not found.verdict.possible or (found.missed & self._demanded).any():
            return Admission(mode, (), False)
        return Admission(mode, found.verdict.violations, True)

    def _judged(self, mode: Mode) -> CompletedMode:
        nothing = np.zeros(len(self._conditions), bool)
        problem = self._problem.at(mode=mode, forced=mode)
        entered = as_it_is(problem)
        if entered is None and problem.reduced.nonlinear:
            entered = beside(problem)
        if entered is None:
            return CompletedMode(mode, nothing, None)
        try:
            at, completed = complete(entered)
        except Refused:
            return CompletedMode(mode, nothing, None)
        verdict = at.core.search.test(mode, self._instant(at))
        if completed is None:
            return CompletedMode(mode, nothing, verdict)
        missed = completed.found.missed.copy()
        # Guesses of what Newton's method computes need not hold.
        missed &= ~((completed.conditions.rank == Rank.GUESS) & completed.found.involved)
        return CompletedMode(mode, missed, verdict)

    def _instant(self, at: StartProblem) -> Instant:
        known = Uncertainty.at(at.state.t, at.core.model.S @ at.xi)
        return Instant(known, at.z, at.xi, self._forced, at.state.disabled, ())

    def _blocking(self, mode: Mode) -> list[Row]:
        """The rows of a mode, and of what is demanded in it, in which all unknowns cancel."""
        rows = self._rows.get(mode)
        if rows is None:
            rows = self._rows[mode] = self._cancelling(mode)
        return rows

    def _cancelling(self, mode: Mode) -> list[Row]:
        which, at = np.flatnonzero(self._demanded), self._problem
        *rows, constant = (part[which] for part in self._conditions.stacked)
        model, instant = at.core.model, self._instant(at)
        dense = [part if isinstance(part, np.ndarray) else part.toarray() for part in rows]
        found = dependencies(model, mode, len(model.base), Rows(*dense))
        stated = found.of_stated.any(axis=1)
        own = Dependencies(
            found.weights[~stated], found.sources[~stated], found.free, found.of_stated[~stated]
        )
        blocking = cancelling_rows(model, mode, own, instant)
        owner = [k for k, b in enumerate(mode) for _ in range(len(model.elements[k].branches[b].equations))]
        for k in np.flatnonzero(stated).tolist():
            weights, parts = found.weights[k], (found.sources[k] * instant.xi, found.of_stated[k] * constant)
            missing = float(sum(part.sum() for part in parts))
            if abs(missing) <= MISSED * sum(np.abs(part).sum() for part in parts):
                continue
            # The rate of what an element leaves may be anything where that is not zero.
            sign = 0 if weights[1:].any() else 1 if missing > 0.0 else -1
            reach = abs(missing) if sign else -1.0
            row = blocking_row(model, mode, instant, zip(owner, weights.T, strict=True), sign, reach)
            blocking.append(Row(row.moves, row.elements, True))
            if not row.moves:
                self._impossible.append(int(which[np.flatnonzero(found.of_stated[k])[-1]]))
        return blocking
