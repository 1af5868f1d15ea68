"""One search for a mode, with the time that it takes beside analyses of modes."""

import time
from functools import cache

import numpy as np

from acausal.dynamics.noise import CERTAIN
from acausal.reduction.affine import Mode, ModeData
from acausal.reduction.index_reduction import reduce_mode
from acausal.simulation.instants.search import Search
from acausal.simulation.instants.transition import CandidateTest, Instant, SearchStats
from tests.simulation.random_families import Case


def searched(case: Case) -> tuple[Mode, int, float]:
    """The mode that is found, the number of candidates, and seconds beside analyses; the source is one."""
    model, z, mode, forced = case
    spent = 0.0

    def analysed(mode: Mode) -> ModeData:
        nonlocal spent
        begun = time.process_time()
        try:
            return reduce_mode(model, mode)
        finally:
            spent += time.process_time() - begun

    search, stats = Search(model, CandidateTest(model, cache(analysed))), SearchStats()
    begun = time.process_time()
    instant = Instant(CERTAIN, z, np.ones(1), forced)
    found = search.search(instant, search.begin(mode, forced), stats)
    return found.restart.data.mode, stats.candidates, time.process_time() - begun - spent
