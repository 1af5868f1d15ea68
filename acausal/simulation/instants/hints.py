"""What a run has learnt of its modes: hints, which are tested before a search begins."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from typing import NamedTuple

from ...reduction.affine import Mode
from .transition import Choice, Chooser, Instant, SearchStats, Verdict

MOST_CAUSES = 65536
"""Causes that a run remembers."""
MOST_OUTCOMES = 8
"""Modes to which one of them has led."""


class Cause(NamedTuple):
    """What leads to a mode: the one before, what triggers, and what controls and relations say."""

    mode: Mode
    triggers: tuple[Hashable, ...]
    forced: tuple[int, ...]
    disabled: Collection[tuple[int, int, int]]
    relations: tuple[float, ...]


class Hints:
    """What a run has learnt of its modes: which ones followed which cause.

    Parameters
    ----------
    modes_after : dict, optional
        Where causes have led in any run of the same program, whatever its numbers; this one adds to it.

    Notes
    -----
    Hints are the first candidates, in order of discovery, and like every other they are tested, behind those that a search takes
    before them.
    """

    def __init__(self, modes_after: dict[Cause, Mode] | None = None) -> None:
        self._modes_after = {} if modes_after is None else modes_after
        self._known: dict[Cause, dict[Mode, None]] = {}
        """Modes to which causes have led in order of discovery."""
        self._last: dict[Cause, Mode] = {}
        self.stats = SearchStats()

    def next_mode(
        self,
        chooser: Chooser,
        present: Mode,
        instant: Instant,
        triggers: tuple[Hashable, ...] = (),
        relations: tuple[float, ...] = (),
        ended: tuple[Mode, Mode] | None = None,
    ) -> Choice:
        """The consistent mode after an instant.

        Parameters
        ----------
        chooser : Chooser
            With the numbers in force.
        present : Mode
            Mode before the instant; it is kept when it is still consistent.
        instant : Instant
        triggers : tuple of hashable
            What caused the instant: hints depend on it.
        relations : tuple of float
            Truth of the relations of states, as the discrete part has it now.
        ended : pair of Mode, optional
            A mode that is known to end, by just what moves in another one to which this cause has led.

        Raises
        ------
        NoConsistentMode
        """
        cause = Cause(present, triggers, instant.forced, instant.disabled_guards, relations)
        start = chooser.begin(present, instant.forced)
        for mode in self.known(cause):
            rivals = chooser.rivals(start, mode)
            if rivals is None:
                continue
            verdict = _confirmed(chooser, instant, mode, () if ended == (start, mode) else rivals)
            if verdict is not None and not rivals and not chooser.stays_out(verdict, start):
                verdict = _confirmed(chooser, instant, mode, (start,))
            if verdict is not None and verdict.restart is not None:
                self.stats.hinted(1)
                self._last[cause] = mode
                return Choice(verdict.restart, (), verdict.signs)
        mode = self._modes_after.get(cause)
        if mode is not None:
            verdict = chooser.test(mode, instant)
            if (
                verdict.restart is not None
                and verdict.consistent
                and self._is_alone(chooser, verdict, instant)
            ):
                self.stats.hinted(1)
                self.remember(cause, start, mode, chooser)
                return Choice(verdict.restart, (), verdict.signs)
        self.stats.began()
        choice = chooser.search(instant, start, self.stats)
        self.remember(cause, start, choice.restart.data.mode, chooser)
        return choice

    @staticmethod
    def _is_alone(chooser: Chooser, verdict: Verdict, instant: Instant) -> bool:
        """Whether a search would find the same: no other mode suits, and nothing is at its boundary."""
        signs = verdict.signs
        return (
            signs is not None
            and min(signs, default=1) > 0
            and chooser.is_unique(verdict.mode, instant.forced)
        )

    def foreseen(self, cause: Cause) -> Mode | None:
        """The mode to which a cause has led the last time; None without any."""
        return self._last.get(cause)

    def known(self, cause: Cause) -> Collection[Mode]:
        """The modes that are tested first, in order."""
        return self._known.get(cause, {}).keys()

    def remember(self, cause: Cause, start: Mode, mode: Mode, chooser: Chooser) -> None:
        """Learn where a cause has led from the mode with which the search began."""
        if chooser.rivals(start, mode) is None:
            self._known.pop(cause, None)
            self._last.pop(cause, None)
            return
        known = self._known.setdefault(cause, {})
        if len(known) >= MOST_OUTCOMES:
            known.clear()
        known[mode], self._last[cause] = None, mode
        if len(self._modes_after) >= MOST_CAUSES:
            self._modes_after.clear()
        self._modes_after[cause] = mode
        if len(self._known) > MOST_CAUSES:
            oldest = next(iter(self._known))
            del self._known[oldest], self._last[oldest]


def _confirmed(chooser: Chooser, instant: Instant, mode: Mode, rivals: tuple[Mode, ...]) -> Verdict | None:
    """The verdict on a mode that a search would find again; None where it might find another one.

    Where others may suit, what moves must be all that cannot stay, and alone: what takes more to break away than to slide has
    forces on others between those of the mode in which it rests and of that in which it slides, as is its own force at the
    breakaway level, and no other one is violated in either.
    """
    for rival in rivals:
        moved = {k for k, (a, b) in enumerate(zip(rival, mode, strict=True)) if a != b}
        if {k for _, k, _ in chooser.test(rival, instant).violations} != moved:
            return None
    verdict = chooser.test(mode, instant)
    return verdict if verdict.consistent and (not rivals or chooser.moves(verdict)) else None
