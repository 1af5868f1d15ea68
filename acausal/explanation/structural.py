"""What no numbers can mend: equations that determine too much, and unknowns that are left without."""

from __future__ import annotations

import numpy as np

from ..errors import SingularModelError
from ..flattening.flat_model import FlatModel
from ..flattening.unbalanced import MOST_UNMATCHED, Unbalanced, Written
from ..structure.decomposition import decompose
from ..structure.incidence import Incidence
from .equations import Equations


def structural_parts(flat: FlatModel, parameters: np.ndarray) -> Unbalanced:
    """Decompose the equations of a model as they are written; a variable and its derivative count as one unknown."""
    equations = Equations(flat, parameters=parameters)
    unknown = np.setdiff1d(np.arange(flat.nv), sorted(equations.inputs))
    whole = Incidence.from_pairs(equations.row, equations.col, (len(equations), flat.nv))
    parts = decompose(whole.restricted(np.arange(len(equations)), unknown))

    def stated(rows: np.ndarray) -> tuple[Written, ...]:
        ordered = sorted(rows.tolist(), key=lambda k: (equations.is_connection(k), k))
        return tuple(Written(equations.written(k), equations.place(k)) for k in ordered)

    def names(columns: np.ndarray) -> tuple[str, ...]:
        return tuple(flat.variable(v) for v in unknown[columns].tolist())

    return Unbalanced(
        stated(parts.over.equations),
        names(parts.over.unknowns),
        names(parts.under.unknowns),
        stated(parts.under.equations),
    )


def structurally_singular(flat: FlatModel, parameters: np.ndarray, at: str) -> SingularModelError | None:
    """Return the error for a model whose equations cannot be matched with its unknowns; None if they can.

    Parameters
    ----------
    flat : FlatModel
    parameters : ndarray
        Values of all parameters.
    at : str
        Activity and time, as the begin of the sentence.
    """
    parts = structural_parts(flat, parameters)
    if not (parts.surplus or parts.lacking):
        return None
    lacking = ", ".join(f"`{name}`" for name in parts.lacking[:MOST_UNMATCHED])
    return SingularModelError(
        f"{at}no unique solution: {f'nothing is left to determine {lacking}' if lacking else 'too many equations'}",
        where=[w.place for w in (*parts.surplus, *parts.shared)][:MOST_UNMATCHED],
        why=parts.reason,
        hint=parts.remedy,
    )
