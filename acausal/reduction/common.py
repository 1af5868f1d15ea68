"""What the equations outside of all elements demand of the states, whatever the mode."""

from __future__ import annotations

import numpy as np

from .affine import AffineModel
from .index_reduction import Columns, shuffle, weighted
from .scales import balance_of


def common_constraints(model: AffineModel) -> np.ndarray:
    """Constraints (k, n + q) over ``[z; xi]`` on the differentiated variables that hold in every mode.

    Equations that lie in all modes are eliminated and differentiated by themselves; what the branches of elements would
    determine stays open.
    """
    columns = Columns.of(model)
    system = weighted(model, columns, columns.table(model.base), balance_of(model, model.base))
    found = np.concatenate([np.zeros(0, np.int64), *shuffle(model, columns, system, len(model.base))])
    rows = np.zeros((len(found), model.n + model.q))
    rows[:, columns.x] = system.entries(found, columns.state)
    rows[:, model.n :] = system.entries(found, columns.source)
    return rows
