"""Numbers of a large model: the affine core with sparse rows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...compilation.nonlinear_rows import NonlinearFunctions
from ...dynamics.readout import Readout
from ...reduction.affine import Inadmissible
from ...reduction.core import Values, build_exosystem, sparse_matrices
from ...reduction.labels import Labels
from ...reduction.large.model import sparse_model
from ...reduction.nonlinear_rows import NonlinearRows
from ...reduction.reduced_model import ReducedModel
from ..numeric import NumericCore, nonlinear_slopes, source_scale
from ..sources.source_states import Feed
from ..starts.conditions import Starts
from .system import LargeSystem


class LargeCore(NumericCore):
    """A core with sparse rows, and the equations that are solved along its motions."""

    system: LargeSystem


def build_large_core(
    reduced: ReducedModel,
    values: Values,
    feeds: Sequence[Feed],
    starts: Starts,
    nominals: np.ndarray,
    T0: float,
    span: float,
    labels: Labels,
    unit: float,
    nonlinear_rows: NonlinearRows,
    functions: NonlinearFunctions,
) -> LargeCore | None:
    """Evaluate the numbers of a run; None if some unknown has no equation of its own even without constraints."""
    exosystem = build_exosystem(reduced, values, tuple(f.degree for f in feeds), unit)
    matrices = sparse_matrices(reduced, values, exosystem)
    xi_scale = source_scale(reduced, values, exosystem, feeds, T0, span)
    known = np.maximum(np.abs(starts.value * reduced.differentiated), nominals)
    model = sparse_model(reduced, matrices, known, xi_scale, T0, labels, nonlinear_slopes(reduced))
    readout = Readout.of(reduced, exosystem, values.P)
    numbers = matrices.forms, model
    core = LargeCore(reduced, values, exosystem, lambda: numbers, unit, readout)
    try:
        core.system = LargeSystem(core, nonlinear_rows, functions, _kept_back(reduced, starts, labels))
    except Inadmissible:
        return None
    return core


def _kept_back(reduced: ReducedModel, starts: Starts, labels: Labels) -> np.ndarray:
    """Mask over the core unknowns: a start is given, or a priority as a state is declared."""
    found = np.zeros(len(reduced.core), bool)
    W = reduced.W_core[np.flatnonzero(starts.fixed | starts.given)]
    alone = np.flatnonzero(np.diff(W.indptr) == 1)
    found[W.indices[W.indptr[alone]]] = True
    return found if labels.priority is None else found | (labels.priority > 0.0)
