"""The structure of the equations as they are written: matching, blocks, sorted sequence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..flattening.flat_model import FlatModel, start_values
from ..structure.decomposition import Decomposition
from ..structure.incidence import INT, Incidence
from ..structure.offsets import Offsets, sigma_offsets
from .counting import count
from .equations import Equations
from .sequence import SolutionOrder
from .structure import Constraint, State, Structure
from .system import System, differentiated


def structure_as_written(
    flat: FlatModel, parameters: np.ndarray, branches: Mapping[int, int], mode: Mapping[str, str]
) -> Structure:
    """Return the structure of the equations before any reduction.

    Parameters
    ----------
    flat : FlatModel
    parameters : ndarray
        Values of all parameters.
    branches : mapping of int to int
        Elements -> branch in force; of the others all branches count.
    mode : mapping of str to str
        The same in names.

    Notes
    -----
    The offsets of the Sigma method tell how often every equation is differentiated and which derivative of every
    unknown is solved for; for a model of index 1 these are the equations as they stand, with states known. What
    numbers decide, such as a factor that is zero, is not seen here.
    """
    equations = Equations(flat, branches, parameters=parameters)
    unknown = np.setdiff1d(np.arange(flat.nv), sorted(equations.inputs))
    position = np.full(flat.nv, -1, INT)
    position[unknown] = np.arange(len(unknown))
    at = position[equations.col] >= 0
    row, col, sigma = equations.row[at], position[equations.col[at]], equations.order[at]
    offsets = sigma_offsets(row, col, sigma, (len(equations), len(unknown)))
    singular = offsets.singular
    if singular is None:
        system = _tight(equations, unknown, offsets, row, col, sigma)
        constraints, states = (
            _constraints(equations, offsets),
            _states(equations, unknown, offsets, parameters),
        )
        index = int(offsets.c.max(initial=0) + (offsets.d == 0).any())
    else:
        system, constraints, states, index = _regular(equations, unknown, singular, row, col), (), (), None
    order = SolutionOrder(system)
    return Structure(
        label=flat.label, reduced=False, mode=mode, counts=count(equations, kept=len(unknown)), index=index,
        constraints=constraints, states=states, blocks=order,
        surplus=() if singular is None else tuple(equations.text(k) for k in singular.over.equations.tolist()),
        open=() if singular is None else tuple(equations.variable(int(unknown[k])) for k in singular.under.unknowns.tolist()),
    )  # fmt: skip


def _tight(
    equations: Equations,
    unknown: np.ndarray,
    offsets: Offsets,
    row: np.ndarray,
    col: np.ndarray,
    sigma: np.ndarray,
) -> System:
    """Equations differentiated as often as needed, for the highest derivatives that occur in them."""
    m, tight = len(unknown), offsets.d[col] - offsets.c[row] == sigma
    incidence = Incidence.from_pairs(row[tight], col[tight], (m, m))
    return System(
        equations,
        np.arange(m),
        offsets.c,
        unknown,
        offsets.d,
        incidence,
        equations.rank,
        {},
        np.zeros(m, bool),
    )


def _regular(
    equations: Equations, unknown: np.ndarray, parts: Decomposition, row: np.ndarray, col: np.ndarray
) -> System:
    """The well-determined part alone."""
    rows, cols = parts.well.equations, parts.well.unknowns
    place, where = np.full(len(equations), -1, INT), np.full(len(unknown), -1, INT)
    place[rows], where[cols] = np.arange(len(rows)), np.arange(len(cols))
    inside = (place[row] >= 0) & (where[col] >= 0)
    incidence = Incidence.from_pairs(place[row[inside]], where[col[inside]], (len(rows), len(cols)))
    highest = np.zeros(len(unknown), INT)
    for v, order in zip(equations.col.tolist(), equations.order.tolist(), strict=True):
        k = int(np.searchsorted(unknown, v))
        if k < len(unknown) and unknown[k] == v:
            highest[k] = max(highest[k], order)
    zero = np.zeros(len(rows), INT)
    rank = equations.rank[rows]
    return System(
        equations, rows, zero, unknown[cols], highest[cols], incidence, rank, {}, np.zeros(len(cols), bool)
    )


def _constraints(equations: Equations, offsets: Offsets) -> tuple[Constraint, ...]:
    """Equations without derivatives that are differentiated: what they say, and what their derivatives say."""
    found = []
    slopes = set(equations.row[equations.order > 0].tolist())
    for k in np.flatnonzero(offsets.c).tolist():
        if k in slopes:
            continue
        text, place = equations.text(k), equations.place(k)
        found += [
            Constraint(differentiated(text, order), order, (text,), (place,))
            for order in range(int(offsets.c[k]))
        ]
    return tuple(found)


def _states(
    equations: Equations, unknown: np.ndarray, offsets: Offsets, parameters: np.ndarray
) -> tuple[State, ...]:
    """Differentiated variables where nothing constrains them; a structure alone cannot choose among others."""
    if offsets.c.any():
        return ()
    start, fixed, _, _ = start_values(equations.flat, parameters)
    return tuple(
        State(
            equations.variable(v), equations.unit(v), float(start[v]), bool(fixed[v]), "its derivative occurs"
        )
        for v in unknown[offsets.d > 0].tolist()
    )
