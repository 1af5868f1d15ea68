"""Families of random models of the campaign: what a seed means, how it is run, and how it is judged."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tests.oracles.circuits import random_circuit
from tests.oracles.lines import random_mechanism
from tests.systems.campaign_judge import EXACT, Case, Verdict, attempt, judged, line_case, network_case

INTEGRATED = 1e-5
"""Error of laws and continued states allowed to runs with the default ``rtol`` of 1e-6."""
LIMITS = {"exact": EXACT, "auto": EXACT, "explicit": INTEGRATED, "implicit": INTEGRATED}


@dataclass(frozen=True)
class Family:
    """Random models of one kind.

    Attributes
    ----------
    describe : callable
        Seed -> parts as plain tuples, any part of which may be left out to find a smaller model.
    case : callable
        Parts and time of the change -> model and judge.
    change, span : float
        Time of the change and end of the run, in seconds; spans of some milliseconds show decisions, not trajectories.
    methods : tuple of str
        Paths on which every model is run.
    """

    describe: Callable[[int], Sequence[Any]]
    case: Callable[[Sequence[Any], float], Case]
    change: float
    span: float
    methods: tuple[str, ...] = ("auto",)

    @property
    def decides(self) -> bool:
        """Whether single instants are counted, not trajectories."""
        return self.span < 0.1

    def run(
        self, parts: Sequence[Any], method: str, ran: Callable[[], None] = lambda: None
    ) -> tuple[Case, Verdict]:
        """Run a description and judge it; ``ran`` is called in between."""
        case = self.case(parts, self.change)
        answer = attempt(case, self.span, method=method)
        ran()
        return case, judged(case, answer, LIMITS[method])


ALL = ("exact", "auto", "explicit", "implicit")
INSTANT = {"change": 1e-3, "span": 2e-3}

FAMILIES = {
    "networks": Family(lambda seed: random_circuit(seed, grounded=True), network_case, **INSTANT),
    "free networks": Family(lambda seed: random_circuit(seed), network_case, **INSTANT),
    "ideal networks": Family(
        lambda seed: random_circuit(seed, losses=0.0, grounded=True), network_case, **INSTANT
    ),
    "resting": Family(lambda seed: random_mechanism(seed), line_case, **INSTANT),
    "moving": Family(lambda seed: random_mechanism(seed, moving=True), line_case, **INSTANT),
    "copies": Family(lambda seed: random_mechanism(seed, copies=2 + seed % 4, bodies=1 + seed % 3), line_case, **INSTANT),
    "network runs": Family(
        lambda seed: random_circuit(seed, grounded=True, size=5 + seed % 26), network_case, 0.7, 2.0, ALL
    ),
    "mechanism runs": Family(
        lambda seed: random_mechanism(seed, moving=seed % 2 == 0, bodies=1 + seed % 4), line_case, 0.7, 2.0, ALL
    ),
}  # fmt: skip
