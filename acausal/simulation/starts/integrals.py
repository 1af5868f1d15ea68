"""Start values of integrals that nothing else reads, where they are to be at rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..failures import MovesForEver
from ..run import Run
from .priorities import least_squares

RESTS = 1e-9
"""Rate, in units of the value per unit of time, that counts as zero."""
STEP = 1e-6
"""Of difference quotients, in units of the value."""


def rest_integrals(run: Run) -> None:
    """Choose integrals whose derivatives are to be zero; those that are fixed, or that nothing demands, keep their starts.

    Raises
    ------
    InitializationError
        If an integral moves whatever the others are.
    """
    steady = np.flatnonzero(run.starts.steady).tolist()
    targets = {x: run.program.unknowns.settable(x) for x in steady}
    asked = {t[1]: x for x, t in targets.items() if t is not None and t[0] == "integral"}
    free = np.array([n for n, x in asked.items() if not run.starts.fixed[x]], np.int64)
    if not len(free):
        return
    rows = free  # What is fixed need not rest.
    scale = np.maximum(1.0, np.abs(run.q))
    rates, before, kept = _rates(run, run.q)[rows], np.inf, run.q
    while (largest := float(np.abs(rates / scale[rows]).max())) < before:
        before, kept = largest, run.q
        run.q = run.q.copy()
        run.q[free] += scale[free] * _step(run, rows, free, scale, rates)
        rates = _rates(run, run.q)[rows]
    run.q = kept
    if before * run.T0 <= RESTS:
        return
    rates = _rates(run, run.q)[rows]
    moves = np.abs(rates / scale[rows]) * run.T0 > RESTS
    ids = [asked[n] for n in rows[moves].tolist()]
    signs = [run.program.unknowns.reinit_target(x)[2] for x in ids]
    raise run.failed(
        MovesForEver(ids, [s * rate for s, rate in zip(signs, rates[moves].tolist(), strict=True)], ids)
    )


def _step(run: Run, rows: np.ndarray, free: np.ndarray, scale: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Scaled step of Newton's method, with difference quotients."""
    J = np.zeros((len(rows), len(free)))
    for k, n in enumerate(free.tolist()):
        moved = run.q.copy()
        moved[n] += STEP * scale[n]
        J[:, k] = (_rates(run, moved)[rows] - rates) / STEP
    size = np.abs(J).max(axis=1, initial=0.0)
    size[size == 0.0] = 1.0
    return least_squares(J / size[:, None], -rates / size)[0]


def _rates(run: Run, q: np.ndarray) -> np.ndarray:
    return run.core.readout.rates(run.data, run.y, replace(run.moment(), q=q))
