"""How well a result satisfies the equations as written: the residual over the largest term of every equation."""

import numpy as np

from acausal import Residual, Result
from acausal.results.equations import EquationsAt


def defect(residual: Residual, result: Result, times: np.ndarray, events: int | None = None) -> float:
    """Largest residual over the run, each equation scaled by its largest term in the run.

    Looked at are both limits of every event, or of some that are chosen by chance, and the given times. An equation
    all of whose terms vanish must vanish too.
    """
    d, n = EquationsAt(residual, result), len(residual.equations)
    if not n:
        return 0.0
    edges = d.edges
    if events is not None and len(edges) > events:
        edges = np.sort(np.random.default_rng(1).choice(edges, events, replace=False))
    # No stretch follows the end, so that relations after an event there are not known.
    after = np.unique(np.concatenate([times, edges]))
    before = edges[edges > result.t_start]
    rows = d.rows([(after[after < result.t_end], "right"), (before, "left")])
    value, largest = np.abs(rows.values[:, :n]).max(axis=0), rows.terms[:, :n].max(axis=0)
    assert (value[largest == 0.0] == 0.0).all()
    return float(np.max(value / np.where(largest == 0.0, 1.0, largest)))
