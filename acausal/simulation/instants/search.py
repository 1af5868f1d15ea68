"""Choice of the next consistent mode: hint, flip, path following with polish, enumeration.

Discrete variables, controls and enabling conditions are constants of one search; candidates
that fail leave no trace but the history.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np

from ...reduction.affine import AffineModel, Inadmissible, Kind, Mode, ModeData, Restart
from .element_curves import PathLost, free_branches, has_curves, is_free
from .lexicographic import CandidateTest, Instant, Verdict
from .path_following import follow_path

History = tuple[tuple[Mode, str], ...]

_PROBE_LENGTHS = (1e-2, 1e-4, 1.0, 1e2)
_SLOW_PROBE_LENGTHS = (1e-3, 1e-5)
_SLOW = 1e-8
_POLISH = 10
_LEAVE_DISABLED = {Kind.COMPLEMENTARITY: (2, 0), Kind.FRICTION: (3, 0)}


@dataclass(slots=True, eq=False)
class Choice:
    """The consistent mode as a restart in it, and the candidates tried on the way."""

    restart: Restart
    history: History
    signs: list[int] | None = None
    """Signs of the guards in force, None where an impulse decided."""


@dataclass
class SearchStats:
    """How often each stage of the cascade was entered (`hints`: how often one was taken)."""

    searches: int = 0
    hints: int = 0
    flips: int = 0
    path_followings: int = 0
    enumerations: int = 0


@dataclass(frozen=True)
class SearchOptions:
    """Limits of a search: modes enumerated at most, and hints kept at most."""

    hints: bool = True
    max_enumerated: int = 4096
    max_hints: int = 65536


class NoConsistentMode(Exception):
    """No candidate is consistent; ``history`` lists (mode, verdict) in the order of trial."""

    def __init__(self, history: History, complete: bool) -> None:
        what = "no mode is consistent" if complete else "no consistent mode was found"
        super().__init__(f"{what} ({len(history)} candidates)")
        self.history = history
        self.complete = complete
        """Every mode was tested, so none exists."""


class Search:
    """Chooses consistent modes during one run; keeps the hints and counters of that run.

    Parameters
    ----------
    model : AffineModel
    modes : callable
        Cached reduction ``modes(mode) -> ModeData``; raises `Inadmissible`.
    options : SearchOptions, optional
    test : CandidateTest, optional
        One that other runs with the same numbers have used.
    """

    def __init__(
        self,
        model: AffineModel,
        modes: Callable[[Mode], ModeData],
        options: SearchOptions | None = None,
        test: CandidateTest | None = None,
    ) -> None:
        self._model, self._modes = model, modes
        self._test = test or CandidateTest(model, modes)
        self._options = options or SearchOptions()
        self._hints: dict[Hashable, Mode] = {}
        self._monotone = [element.monotone for element in model.elements]
        self.stats = SearchStats()

    def on(self, model: AffineModel, modes: Callable[[Mode], ModeData], test: CandidateTest) -> Search:
        """The search of the same run with other numbers; hints and counters go on."""
        other = Search(model, modes, self._options, test)
        other._hints, other.stats = self._hints, self.stats
        return other

    def next_mode(
        self,
        z_minus: np.ndarray,
        xi: np.ndarray,
        present: Mode,
        forced: Sequence[int],
        triggers: tuple[Hashable, ...] = (),
        *,
        t: float = 0.0,
        disabled_guards: frozenset[tuple[int, int, int]] | tuple[tuple[int, int, int], ...] = (),
        reinits: Sequence[tuple[int, float]] = (),
        key: tuple[Hashable, ...] = (),
        error: np.ndarray | None = None,
    ) -> Choice:
        """The consistent mode after an instant.

        Parameters
        ----------
        z_minus : (n,) array
            Left limits.
        xi : (q,) array
            Sources at their right limit.
        present : Mode
            Mode before the instant; it is kept when it is still consistent.
        forced : sequence of int
            Per element the branch prescribed by discrete variables, or -1.
        triggers : tuple of hashable
            What caused the instant; part of the key of the hint.
        t : float
            Time, for the noise of a crossing located to the last bit.
        disabled_guards : collection of (element, branch, guard)
            Guards of `Modes` elements whose ``leave`` is not enabled.
        reinits : sequence of (int, float)
            Differentiated variables that take a value by an external impulse, in every candidate.
        key : tuple
            Other discrete values the answer depends on; part of the key of the hint.

        error : (n,) array, optional
            Rounding of the left limits.

        Raises
        ------
        NoConsistentMode
        """
        self.stats.searches += 1
        forced = tuple(forced)
        instant = Instant(t, z_minus, xi, forced, disabled_guards, reinits, error)
        name = (present, triggers, forced, key)
        start = self._start(present, forced)
        hint = self._hint(name, start)
        if hint is not None:
            verdict = self._test(hint, instant)
            if verdict.restart is not None and not verdict.violations:
                self.stats.hints += 1
                return Choice(verdict.restart, (), verdict.signs)
        choice = _Trial(self._model, self._modes, self._test, instant, start, self._options, self.stats).run()
        if self._options.hints:
            self._remember(name, choice.restart.data.mode)
        return choice

    def foreseen(
        self, present: Mode, forced: Sequence[int], triggers: tuple[Hashable, ...] = ()
    ) -> Mode | None:
        """The mode that is tested first because it was found before; None without any."""
        forced = tuple(forced)
        return self._hint((present, triggers, forced, ()), self._start(present, forced))

    def _hint(self, name: Hashable, start: Mode) -> Mode | None:
        hint = self._hints.get(name)
        return hint if hint is not None and self._moves_are_unique(hint, start) else None

    def _start(self, present: Mode, forced: tuple[int, ...]) -> Mode:
        """The present mode with the forced branches; elements no longer forced to be disabled begin blocked."""
        start = []
        for element, branch, prescribed in zip(self._model.elements, present, forced, strict=True):
            disabled, first = _LEAVE_DISABLED.get(element.kind, (-1, 0))
            start.append(prescribed if prescribed >= 0 else first if branch == disabled else branch)
        return tuple(start)

    def _moves_are_unique(self, hint: Mode, start: Mode) -> bool:
        """Only monotone elements move from the start to the hint: where it is consistent, it is what a search finds."""
        return all(a == b or monotone for a, b, monotone in zip(hint, start, self._monotone, strict=True))

    def _remember(self, name: Hashable, mode: Mode) -> None:
        self._hints[name] = mode
        if len(self._hints) > self._options.max_hints:
            del self._hints[next(iter(self._hints))]


class _Trial:
    """One run of the cascade: flip, path following with polish, enumeration."""

    def __init__(
        self,
        model: AffineModel,
        modes: Callable[[Mode], ModeData],
        test: CandidateTest,
        instant: Instant,
        start: Mode,
        options: SearchOptions,
        stats: SearchStats,
    ) -> None:
        self._model, self._modes, self._test, self._instant, self._start = model, modes, test, instant, start
        self._options, self._stats = options, stats
        self._seen: dict[Mode, Verdict] = {}

    def run(self) -> Choice:
        """First consistent candidate of the cascade."""
        restart = self._flip(self._start) or self._follow_paths() or self._enumerate()
        return Choice(restart, self._history(), self._seen[restart.data.mode].signs)

    def _examine(self, mode: Mode) -> Verdict:
        if mode not in self._seen:
            self._seen[mode] = self._test(mode, self._instant)
        return self._seen[mode]

    def _flip(self, mode: Mode, limit: int | None = None) -> Restart | None:
        """Put the elements violated at the most singular level into their targets until nothing is violated."""
        steps = 0
        while mode not in self._seen and (limit is None or steps < limit):
            verdict = self._examine(mode)
            if verdict.restart is None or not verdict.violations:
                return verdict.restart
            mode = verdict.next_mode()
            steps += 1
            self._stats.flips += 1
        return None

    def _follow_paths(self) -> Restart | None:
        z = self._instant.z_minus
        if len(self._instant.reinits):
            z = z.copy()
            for variable, value in self._instant.reinits:
                z[variable] = value
        if not has_curves(self._model, self._instant.forced):
            return None
        for h in self._probe_lengths():
            self._stats.path_followings += 1
            try:
                path = follow_path(self._model, z, self._instant.xi, self._start, self._instant.forced, h)
            except PathLost:
                continue
            restart = self._flip(path.mode, _POLISH)
            if restart is not None:
                return restart
        return None

    def _probe_lengths(self) -> list[float]:
        T0 = self._model.T0
        try:
            tau = self._modes(self._start).tau
        except Inadmissible:
            tau = T0
        slow = [factor * T0 for factor in _SLOW_PROBE_LENGTHS] if tau < _SLOW * T0 else []
        return [factor * tau for factor in _PROBE_LENGTHS] + slow

    def _enumerate(self) -> Restart:
        """First consistent mode of all, those with the fewest changes from the start first."""
        choices = self._choices()
        if math.prod(len(branches) for branches in choices) > self._options.max_enumerated:
            raise NoConsistentMode(self._history(), complete=False)
        self._stats.enumerations += 1
        for mode in sorted(product(*choices), key=self._distance):
            verdict = self._examine(mode)
            if verdict.restart is not None and not verdict.violations:
                return verdict.restart
        raise NoConsistentMode(self._history(), complete=True)

    def _distance(self, mode: Mode) -> int:
        return sum(a != b for a, b in zip(mode, self._start, strict=True))

    def _choices(self) -> list[Sequence[int]]:
        choices: list[Sequence[int]] = []
        for element, branch, prescribed in zip(
            self._model.elements, self._start, self._instant.forced, strict=True
        ):
            fixed = not is_free(element, prescribed)
            choices.append((branch,) if fixed else free_branches(element))
        return choices

    def _history(self) -> History:
        return tuple((mode, verdict.describe(self._model.elements)) for mode, verdict in self._seen.items())
