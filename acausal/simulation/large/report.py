"""What the values at the start of a large model follow from."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..starts.report import FOLLOWS, NEW, kind_of_integral

if TYPE_CHECKING:
    from ...results.record import Reasons
    from .run import LargeRun


def reporter(run: LargeRun, z: np.ndarray, xi: np.ndarray) -> Reasons:
    """Return the function that tells what the values at the start follow from, by path.

    ``z`` and ``xi`` are core unknowns and sources before anything happened at the first instant.
    """
    starts, ids = run.starts, np.flatnonzero(run.reduced.differentiated)
    W = run.reduced.W_core[ids]
    values = W @ z + run.core.readout.VK[ids] @ xi
    size = np.maximum(abs(W) @ run.core.model.scale, np.abs(values))
    states = np.zeros(len(z), bool)
    states[run.system.mode.states] = True
    own = (np.diff(W.indptr) == 1) & (abs(W) @ states > 0.0)
    kept = own & (np.abs(values - starts.value[ids]) <= NEW * size)
    integrals = {
        x: kind_of_integral(run, x) for x in ids[np.diff(W.indptr) == 0].tolist() if _integral(run, x)
    }
    return partial(_reasons, run, dict(zip(ids.tolist(), kept.tolist(), strict=True)), integrals)


def _integral(run: LargeRun, x: int) -> bool:
    target = run.program.unknowns.settable(x)
    return target is not None and target[0] == "integral"


def _reasons(run: LargeRun, kept: dict[int, bool], integrals: dict[int, str]) -> dict[str, tuple[str, str]]:
    """By path; ``kept`` are the differentiated variables and whether they are states that have their start."""
    starts, found = run.starts, {}
    for x, own in kept.items():
        if x in integrals:
            reason = integrals[x]
        elif starts.fixed[x]:
            reason = starts.kind(x)
        elif starts.steady[x : x + 1].any():
            reason = "steady state"
        else:
            reason = starts.kind(x) if own else FOLLOWS
        found[run.flat.variable(x)] = "", reason
    return found
