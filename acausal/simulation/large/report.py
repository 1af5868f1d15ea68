"""What the values at the start of a large model follow from."""

from __future__ import annotations

from functools import partial

import numpy as np

from ...flattening.flat_model import FlatModel
from ...results.record import Reasons
from ..compiled import CompiledModel
from ..numeric import NumericCore
from ..starts.priorities import MISSED
from ..starts.report import FOLLOWS, kind_of_integral
from ..starts.stated import Starts
from .system import LargeSystem


def reporter(
    program: CompiledModel, core: NumericCore, system: LargeSystem, starts: Starts, q: np.ndarray,
    z: np.ndarray, xi: np.ndarray,
) -> Reasons:  # fmt: skip
    """Return the function that tells what the values at the start follow from, by path.

    ``q`` are the integrals after it, ``z`` and ``xi`` core unknowns and sources before anything happened at it.
    """
    ids = np.flatnonzero(core.reduced.differentiated)
    W = core.reduced.W_core[ids]
    values = W @ z + core.readout.VK[ids] @ xi
    size = np.maximum(abs(W) @ core.model.scale, np.abs(values))
    states = np.zeros(len(z), bool)
    states[system.mode.states] = True
    own = (np.diff(W.indptr) == 1) & (abs(W) @ states > 0.0)
    kept = own & (np.abs(values - starts.value[ids]) <= MISSED * size)
    integrals = {}
    for x in ids[np.diff(W.indptr) == 0].tolist():
        target = program.unknowns.settable(x)
        if target is not None and target[0] == "integral":
            integrals[x] = kind_of_integral(target, starts, q, x)
    return partial(
        _reasons, program.flat, starts, dict(zip(ids.tolist(), kept.tolist(), strict=True)), integrals
    )


def _reasons(
    flat: FlatModel, starts: Starts, kept: dict[int, bool], integrals: dict[int, str]
) -> dict[str, tuple[str, str]]:
    """By path; ``kept`` are the differentiated variables and whether they are states that have their start."""
    found = {}
    for x, own in kept.items():
        if x in integrals:
            reason = integrals[x]
        elif starts.fixed[x]:
            reason = starts.kind(x)
        elif starts.steady[x : x + 1].any():
            reason = "steady state"
        else:
            reason = starts.kind(x) if own else FOLLOWS
        found[flat.variable(x)] = "", reason
    return found
