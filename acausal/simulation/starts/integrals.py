"""Start values of integrals that nothing else reads, where they are to be at rest."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..failures import MovesForEver
from ..unknowns import Unknowns
from .priorities import MISSED, least_squares
from .rows import STEP
from .stated import Starts


def rest_integrals(
    unknowns: Unknowns, starts: Starts, q: np.ndarray, T0: float, rates_of: Callable[[np.ndarray], np.ndarray]
) -> np.ndarray | MovesForEver:
    """Integrals whose derivatives are zero where that is wanted, and what moves if one does whatever the others are.

    Those that are fixed, or that nothing demands, keep their starts ``q``; ``rates_of`` are rates at values of all of them.
    """
    steady = np.flatnonzero(starts.steady).tolist()
    targets = {x: unknowns.settable(x) for x in steady}
    asked = {t[1]: x for x, t in targets.items() if t is not None and t[0] == "integral"}
    # What is fixed need not rest.
    free = np.array([n for n, x in asked.items() if not starts.fixed[x]], np.int64)
    if not len(free):
        return q
    scale = np.maximum(1.0, np.abs(q))[free]
    rates, before, kept = rates_of(q)[free], np.inf, q
    while (largest := float(np.abs(rates / scale).max())) < before:
        before, kept = largest, q
        q = q.copy()
        q[free] += scale * _step(rates_of, kept, free, scale, rates)
        rates = rates_of(q)[free]
    if before * T0 <= MISSED:
        return kept
    rates = rates_of(kept)[free]
    moves = np.abs(rates / scale) * T0 > MISSED
    ids = [asked[n] for n in free[moves].tolist()]
    signs = [unknowns.reinit_target(x)[2] for x in ids]
    return MovesForEver(ids, [s * rate for s, rate in zip(signs, rates[moves].tolist(), strict=True)], ids)


def _step(
    rates_of: Callable[[np.ndarray], np.ndarray], q: np.ndarray, free: np.ndarray, scale: np.ndarray, rates: np.ndarray
) -> np.ndarray:  # fmt: skip
    """Scaled step of Newton's method, with difference quotients."""
    J = np.zeros((len(free), len(free)))
    for k, n in enumerate(free.tolist()):
        moved = q.copy()
        moved[n] += STEP * scale[k]
        J[:, k] = (rates_of(moved)[free] - rates) / STEP
    size = np.abs(J).max(axis=1, initial=0.0)
    size[size == 0.0] = 1.0
    return least_squares(J / size[:, None], -rates / size)[0]
