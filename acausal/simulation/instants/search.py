"""Search for the next consistent mode: principal pivoting in every part that has to move.

Discrete variables, controls and enabling conditions are constants of one search; candidates
that fail leave no trace but the history. Whatever was found, the exact sign test of the whole mode confirms it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Sequence
from functools import cache, cached_property
from typing import Any

from ...reduction.affine import SLIDING, STICK, AffineModel, Kind, Mode, ModeData
from ...reduction.index_reduction import reduce_mode
from ...reduction.parts import IndependentPart, independent_parts
from ..analysed_modes import MODE_BYTES, Recent
from .pivoting import NoMove, Pivoting, Row, cancelling_rows, is_free, most_modes
from .tableau import BranchTableau, held_back, propose
from .transition import CandidateTest, Choice, Crossed, Instant, SearchStats, Tried, Verdict, only_these_move
from .uniqueness import exclude_each_other, is_alone

TABLEAU_BYTES = MODE_BYTES // 10
"""Bytes of tableaus that are kept with one set of numbers."""

MOST_PAIRS = 65536
"""Pairs of modes of which is kept whether they exclude each other."""
History = tuple[tuple[Mode, Tried], ...]

_ONE_CURVE = (Kind.FRICTION, Kind.IMPACT)
"""Elements that are one monotone curve at the levels in force, though not over a whole instant."""
_LEAVE_DISABLED = {Kind.COMPLEMENTARITY: (2, 0), Kind.FRICTION: (3, 0)}


class NoConsistentMode(Exception):
    """No candidate is consistent; ``history`` lists (mode, what became of it) in the order of trial."""

    def __init__(self, history: History, complete: bool, elements: tuple[int, ...] = ()) -> None:
        what = "no mode is consistent" if complete else "no consistent mode was found"
        super().__init__(f"{what} ({len(history)} candidates)")
        self.history = history
        self.complete = complete
        """No mode exists: equations that no branch of these elements can satisfy, or every mode was tested."""
        self.elements = elements
        """Elements that contradict each other, or that never settle."""


class Search:
    """Finds consistent modes with one set of numbers.

    Parameters
    ----------
    model : AffineModel
    test : CandidateTest
        Of its modes.
    tangent : bool
        Whether the model stands for a nonlinear one, which has other numbers at every point.
    """

    def __init__(self, model: AffineModel, test: CandidateTest, tangent: bool = False) -> None:
        self._model, self.test, self._tangent = model, test, tangent
        self.monotone = [element.monotone for element in model.elements]
        self._contacts = any(element.kind is Kind.IMPACT for element in model.elements)
        self._curves = [element.monotone or element.kind in _ONE_CURVE for element in model.elements]
        self._tableaus = Recent[int, BranchTableau](TABLEAU_BYTES)
        """By the order of their rate."""
        self._named: set[tuple[Mode, Mode]] = set()
        """Transitions of which other modes were told."""
        self._excluding: dict[tuple[Mode, Mode], bool] = {}
        self._unique: dict[tuple[Mode, tuple[int, ...]], bool] = {}

    @cached_property
    def _parts(self) -> tuple[tuple[IndependentPart, CandidateTest], ...]:
        """The independent parts, each with its own test."""
        parts = independent_parts(self._model)
        return tuple((part, CandidateTest(part.model, _cached(part.model))) for part in parts)

    def begin(self, present: Mode, forced: Sequence[int]) -> Mode:
        """The present mode with the forced branches; elements no longer forced to be disabled begin blocked."""
        start = []
        for element, branch, prescribed in zip(self._model.elements, present, forced, strict=True):
            disabled, first = _LEAVE_DISABLED.get(element.kind, (-1, 0))
            start.append(prescribed if prescribed >= 0 else first if branch == disabled else branch)
        return tuple(start)

    def rivals(self, begin: Mode, mode: Mode) -> tuple[Mode, ...] | None:
        """The modes that a search from one mode takes before another one to which it has led; None where it may take any.

        Where monotone elements move there are none if no point suits both modes, else that from which it begins. One friction
        that takes more to break away than to slide stays as it is where it can, and rests where it cannot. Beside contacts, which
        may touch on the way of a search, it may take any.
        """
        changed = [k for k, (a, b) in enumerate(zip(begin, mode, strict=True)) if a != b]
        uneven = [k for k in changed if not self.monotone[k]]
        if not uneven:
            return () if not changed or self._exclude_each_other(mode, begin) else (begin,)
        (k, *others), known = changed, (STICK, *SLIDING)
        if others or self._contacts or not self._uneven(k) or begin[k] not in known or mode[k] not in known:
            return None
        resting = (*mode[:k], STICK, *mode[k + 1 :])
        return tuple(m for m in dict.fromkeys((begin, resting)) if m != mode)

    def _exclude_each_other(self, mode: Mode, begin: Mode) -> bool:
        """Whether no point suits two modes, but on boundaries; false where that is not known, or depends on the point."""
        if self._tangent:
            return False
        found = self._excluding.get((mode, begin))
        if found is None:
            tableau = self._tableau_of(mode, begin)
            found = tableau is not None and exclude_each_other(tableau, mode, begin)
            self._keep(self._excluding, (mode, begin), found)
        return found

    def _tableau_of(self, mode: Mode, *others: Mode) -> BranchTableau | None:
        """The tableau at a rate above the motions of a mode, and of others that are known; None where it is not known itself."""
        tables = self.test.known
        if mode not in tables:
            return None
        known = [tables[m].data for m in (mode, *others) if m in tables]
        return self._tableau_above(min(known, key=lambda data: data.tau))

    def is_unique(self, mode: Mode, forced: Sequence[int]) -> bool:
        """Whether no other mode suits a point that suits this one, but on boundaries; false where that is not known."""
        key = mode, tuple(forced)
        found = self._unique.get(key)
        if found is None:
            tableau = None if self._tangent else self._tableau_of(mode)
            if tableau is None:
                return False
            elements = self._model.elements
            free = [k for k, (e, b) in enumerate(zip(elements, forced, strict=True)) if is_free(e, b)]
            found = all(elements[k].kind is Kind.COMPLEMENTARITY and mode[k] < 2 for k in free)
            found = found and is_alone(tableau, mode, free)
            self._keep(self._unique, key, found)
        return found

    @staticmethod
    def _keep(known: dict[Any, bool], key: Any, found: bool) -> None:
        if len(known) >= MOST_PAIRS:
            known.clear()
        known[key] = found

    def stays_out(self, verdict: Verdict, begin: Mode) -> bool:
        """Whether what has moved since another mode may not be as it was there: what leads back is above zero, or nothing."""
        if verdict.restart is None or verdict.signs is None:
            return False
        data = verdict.restart.data
        guards = zip(verdict.signs, self.test.tables(data).origin, data.Gy, strict=True)
        return all(
            sign > 0 or not row.any()
            for sign, (k, target, _), row in guards
            if verdict.mode[k] != begin[k] and target == begin[k]
        )

    def moves(self, chosen: Verdict) -> bool:
        """Whether all frictions that slide have or get a speed: others may be held again."""
        return all(self._moves(chosen, k) for k in self.sliding(chosen.mode))

    def sliding(self, mode: Mode) -> list[int]:
        """Frictions that slide in a mode."""
        elements = self._model.elements
        return [k for k, b in enumerate(mode) if b in SLIDING and elements[k].kind is Kind.FRICTION]

    def _uneven(self, k: int) -> bool:
        """Whether an element is a friction that takes more to break away than to slide."""
        return self._model.elements[k].kind is Kind.FRICTION and not self.monotone[k]

    def search(self, instant: Instant, start: Mode, stats: SearchStats, limit: int | None = None) -> Choice:
        """What the tableau proposes, where monotone elements alone move to it, else what pivoting leads to.

        Raises
        ------
        NoConsistentMode
        """
        begin, trial = start, _Trial(self._model, self.test, instant, limit or most_modes(self._model), stats)
        verdict = trial.examine(start)
        if not verdict.consistent and self._some_curve_is_free(instant.forced):
            tableau = self._tableau(verdict)

            def proposals(mode: Mode, released: Collection[int]) -> tuple[Mode, ...]:
                found = propose(tableau, instant, mode, released)
                return tuple(m for m in found if only_these_move(self._curves, mode, m))

            start = trial.leapt(start, proposals, all(self.monotone))
            verdict = trial.examine(start)
        if not verdict.consistent:
            mode = trial.by_parts(start, verdict, self._parts) if len(self._parts) > 1 else start
            verdict = trial.settled(mode)
        verdict = self._held_again(trial, self._left_alone(trial, begin, verdict), instant.forced)
        assert verdict.restart is not None
        history, others = trial.history, ()
        if (begin, verdict.mode) not in self._named:
            others = tuple(self._others(trial, instant, begin, verdict))
            if others:
                self._named.add((begin, verdict.mode))
        return Choice(verdict.restart, history, verdict.signs, others)

    def _left_alone(self, trial: _Trial, begin: Mode, chosen: Verdict) -> Verdict:
        """The mode in which what has changed its branch and can carry nothing keeps the one before, if that is consistent."""
        assert chosen.restart is not None
        changed = {
            k
            for k, (element, before) in enumerate(zip(self._model.elements, begin, strict=True))
            if element.kind is Kind.COMPLEMENTARITY and before != chosen.mode[k]
        }
        if not changed:
            return chosen
        tables = self.test.tables(chosen.restart.data)
        idle = changed - {k for (k, *_), form in zip(tables.origin, tables.forms, strict=False) if form.any()}
        if not idle:
            return chosen
        kept = trial.examine(tuple(begin[k] if k in idle else b for k, b in enumerate(chosen.mode)))
        return kept if kept.consistent else chosen

    def _held_again(self, trial: _Trial, chosen: Verdict, forced: Sequence[int]) -> Verdict:
        """The mode in which frictions that slide and do not move are at rest.

        The solution at the levels before may have released them, and what drags them dropped to just the level with which they
        slide; or others that came to rest beside them hold them; or they came to rest in this instant, and are dragged with just
        that level. Nothing else changes where they rest, but that no rounding moves them any more. Forced ones stay. Where they
        cannot rest all together, as those cannot whose shares would be beyond their levels, as many rest as can one by one.
        """
        still = [
            k
            for k, element in enumerate(self._model.elements)
            if element.kind is Kind.FRICTION and chosen.mode[k] in SLIDING and forced[k] < 0
            and not self._moves(chosen, k)
        ]  # fmt: skip
        # Where shares are open, those of what holds more need not hold with all others: at rest these have one force.
        uneven = [k for k in still if not self._model.elements[k].monotone]
        for some in filter(None, (still, uneven)):
            held = self._at_rest(trial, chosen, some)
            if not any(held.mode[k] in SLIDING for k in some):
                return held
        # Nor need all of them be free to take less than they can: one that rests keeps the others where they are.
        for k in still:
            held = trial.examine(tuple(STICK if j == k else b for j, b in enumerate(chosen.mode)))
            chosen = held if held.consistent else chosen
        return chosen

    def _at_rest(self, trial: _Trial, chosen: Verdict, which: Collection[int]) -> Verdict:
        """The mode in which some frictions rest, or where this leads; the chosen one where there is none."""
        mode = tuple(STICK if k in which else b for k, b in enumerate(chosen.mode))
        held = trial.examine(mode)
        if not held.consistent:
            # Those that rest beside them may hold with all that they can.
            try:
                held = trial.settled(mode)
            except NoConsistentMode:
                return chosen
        return held

    def _moves(self, chosen: Verdict, k: int) -> bool:
        """Whether a friction that slides has or gets a speed."""
        assert chosen.restart is not None and chosen.signs is not None
        tables = self.test.tables(chosen.restart.data)
        return any(
            sign > 0 and guard[0] == k for sign, (*_, guard) in zip(chosen.signs, tables.origin, strict=True)
        )

    def _others(self, trial: _Trial, instant: Instant, begin: Mode, chosen: Verdict) -> Iterator[Mode]:
        """Consistent modes with fewer frictions that break away, of those that the tableau finds.

        At their breakaway levels all of them move; at the lower ones of sliding, those that others drag may rest again.
        """
        mode = chosen.mode
        released = [
            k
            for k in self.sliding(mode)
            if self._uneven(k) and begin[k] not in SLIDING and self._moves(chosen, k)
        ]
        if len(released) < 2:
            return
        found, position = [], self._tableau(chosen).at(instant)
        for k in released:
            other = held_back(position, instant, mode, k)
            if other is not None and other not in found and trial.examine(other).consistent:
                found.append(other)
                yield other

    def _some_curve_is_free(self, forced: Sequence[int]) -> bool:
        """Whether the tableau can propose anything: only elements that are one curve are moved by what it finds."""
        return any(
            curve and is_free(element, branch)
            for element, curve, branch in zip(self._model.elements, self._curves, forced, strict=True)
        )

    def _tableau(self, verdict: Verdict) -> BranchTableau:
        """The tableau at a rate above the motions of a mode."""
        return self._tableau_above(None if verdict.restart is None else verdict.restart.data)

    def _tableau_above(self, data: ModeData | None) -> BranchTableau:
        tau = self._model.T0 if data is None else min(self._model.T0, data.tau)
        order = math.floor(math.log2(tau))
        found = self._tableaus.get(order)
        if found is None:
            found = BranchTableau(self._model, 2.0**order)
            self._tableaus.put(order, found, found.bytes)
        return found


def _cached(model: AffineModel) -> Callable[[Mode], ModeData]:
    return cache(lambda mode: reduce_mode(model, mode))


class _Trial:
    """The candidates of one search."""

    def __init__(
        self, model: AffineModel, test: CandidateTest, instant: Instant, limit: int, stats: SearchStats
    ) -> None:
        self._model, self._test, self._instant = model, test, instant
        self._limit, self._stats = limit, stats
        self._history: dict[Mode, Tried] = {}
        self._verdicts: dict[Mode, Verdict] = {}

    @property
    def history(self) -> History:
        """Modes and verdicts in the order of trial."""
        return tuple(self._history.items())

    def examine(self, mode: Mode) -> Verdict:
        """Verdict on a mode of the whole."""
        found = self._verdicts.get(mode)
        if found is None:
            found = self._verdicts[mode] = self._test(mode, self._instant)
            self._note(mode, found)
        return found

    def leapt(
        self, start: Mode, proposals: Callable[[Mode, Collection[int]], tuple[Mode, ...]], monotone: bool
    ) -> Mode:
        """The consistent mode to which proposals lead, each confirmed at its levels; else the mode to pivot from."""
        begin = start
        pivoting = self._pivoting(self._model, self._test, self._instant, self.examine)

        def settle(mode: Mode, released: Collection[int]) -> Mode | None:
            nonlocal begin
            for proposed in proposals(mode, released):
                if pivoting.is_settled(self.examine(proposed)):
                    return proposed
                if monotone:
                    begin = proposed
            return None

        return pivoting.pivot(start, settle=settle) or begin

    def settled(self, mode: Mode) -> Verdict:
        """Verdict of the mode that pivoting in the whole leads to."""
        return self.examine(self._pivot(self._model, self._test, self._instant, self.examine, mode))

    def by_parts(
        self, start: Mode, verdict: Verdict, parts: Sequence[tuple[IndependentPart, CandidateTest]]
    ) -> Mode:
        """The mode in which every part is consistent by itself; parts that have nothing to move for stay."""
        mode = start
        violated = {k for _, k, _ in verdict.violations}
        for part, test in parts:
            if verdict.restart is None or not violated.isdisjoint(part.elements):
                mode = self._moved(mode, part, test)
        return mode

    def _moved(self, mode: Mode, part: IndependentPart, test: CandidateTest) -> Mode:
        instant = _instant_of(part, self._instant)

        def whole(branches: Mode) -> Mode:
            own = dict(zip(part.elements, branches, strict=True))
            return tuple(own.get(k, branch) for k, branch in enumerate(mode))

        def examine(branches: Mode) -> Verdict:
            found = test(branches, instant)
            self._note(whole(branches), found, part.model)
            return found

        start = tuple(mode[k] for k in part.elements)
        return whole(self._pivot(part.model, test, instant, examine, start, part.elements))

    def _pivot(
        self,
        model: AffineModel,
        test: CandidateTest,
        instant: Instant,
        examine: Callable[[Mode], Verdict],
        start: Mode,
        names: Sequence[int] | None = None,
    ) -> Mode:
        try:
            return self._pivoting(model, test, instant, examine).run(start)
        except NoMove as failure:
            elements = failure.elements if names is None else tuple(names[k] for k in failure.elements)
            raise NoConsistentMode(self.history, failure.certain, elements) from None

    def _pivoting(
        self, model: AffineModel, test: CandidateTest, instant: Instant, examine: Callable[[Mode], Verdict]
    ) -> Pivoting:
        def blocking(mode: Mode) -> list[Row]:
            return cancelling_rows(model, mode, test.dependencies(mode), instant)

        return Pivoting(model, instant.forced, examine, blocking, self._limit)

    def _note(self, mode: Mode, verdict: Verdict, model: AffineModel | None = None) -> None:
        self._stats.examined()
        self._history.setdefault(mode, verdict.tried((model or self._model).elements))


def _instant_of(part: IndependentPart, instant: Instant) -> Instant:
    """What a part sees of an instant."""
    element = {k: i for i, k in enumerate(part.elements)}
    column = {j: i for i, j in enumerate(part.columns.tolist())}

    def crossed() -> Crossed | None:
        found = None if instant.crossed is None else instant.crossed()
        if found is None or found[1][0] not in element:
            return None
        mode, (k, b, g) = found
        return tuple(mode[i] for i in part.elements), (element[k], b, g)

    return Instant(
        instant.known.part(part.columns, part.sources, len(instant.z_minus)),
        instant.z_minus[part.columns],
        instant.xi[part.sources],
        tuple(instant.forced[k] for k in part.elements),
        frozenset((element[k], b, g) for k, b, g in instant.disabled_guards if k in element),
        tuple((column[j], value) for j, value in instant.reinits if j in column),
        crossed,
    )
