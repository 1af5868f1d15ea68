"""The search for modes of a run, with the numbers in force."""

from __future__ import annotations

from typing import Any

from ..reduction.affine import Mode
from .instants.search import Search, SearchStats
from .numeric import NumericCore


class Searching:
    """What a run has learnt of its modes: hints and counts stay where the numbers change."""

    def __init__(self, core: NumericCore) -> None:
        self._core = core
        self._search = Search(core.model, core.mode, test=core.test, tableaus=core.tableaus)

    @property
    def stats(self) -> SearchStats:
        """Counts of the run."""
        return self._search.stats

    def on(self, core: NumericCore) -> Search:
        """The search with these numbers."""
        if core is not self._core:
            self._search = self._search.on(core.model, core.mode, core.test, core.tableaus)
            self._core = core
        return self._search

    def foreseen(self, present: Mode, forced: tuple[int, ...], triggers: Any) -> Mode | None:
        """The mode after an instant as a hint has it, which needs no numbers; None without any."""
        return self._search.foreseen(present, forced, triggers)
