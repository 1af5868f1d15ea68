"""The affine model of a core too large for dense matrices: its rows stay sparse, and it has no elements."""

from __future__ import annotations

import numpy as np

from ..affine import AffineModel
from ..assemble import core_magnitudes
from ..core import CoreMatrices
from ..labels import Labels
from ..reduced_model import ReducedModel
from ..scales import propagate_scales


def sparse_model(
    model: ReducedModel,
    core: CoreMatrices,
    magnitudes: np.ndarray,
    xi_scale: np.ndarray,
    T0: float,
    labels: Labels,
    differentiated: np.ndarray,
) -> AffineModel:
    """Return the affine model with sparse rows; parameters as those of `assemble`.

    ``differentiated`` are the core unknowns whose derivatives occur in rows that are not affine.
    """
    known = core_magnitudes(model, magnitudes)
    scale = propagate_scales(core.base, known, xi_scale, T0, labels.units)
    E = core.base.E.tocoo()  # type: ignore[attr-defined]
    mask = differentiated.copy()
    mask[E.col[E.data != 0.0]] = True
    return AffineModel(
        labels.names, mask, core.base, (), core.exosystem.S, scale, xi_scale, T0, labels.rows, labels.units
    )
