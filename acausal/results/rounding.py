"""By how much values of results may be off because the terms cancel by which they are read."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..reduction.rounding import ROUNDING
from .segments import Affine, Segments


def rounded(
    segments: Segments, read: Sequence[Affine | None], which: np.ndarray, h1: np.ndarray
) -> np.ndarray:
    """The same (expressions, k) in segments ``which`` (k,) until ``h1`` (k,), zero for what is not affine."""
    found = np.zeros((len(read), len(which)))
    known, each = [k for k, a in enumerate(read) if a is not None], [a for a in read if a is not None]
    if known:
        groups = {g: segments.groups[g] for g in np.unique(segments.group_of[which]).tolist()}
        rows = {g: np.vstack([a.parts(group) for a in each]) for g, group in groups.items()}
        for i, (k, h) in enumerate(zip(which.tolist(), h1.tolist(), strict=True)):
            found[known, i] = rows[segments.group_of[k]] @ segments.all[k].trajectory.magnitude(h)
    return ROUNDING * found
