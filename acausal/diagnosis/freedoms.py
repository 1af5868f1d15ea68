"""What no equation determines and nothing depends on: it gets a value all the same, and a warning says which."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import listed
from ..flattening.open_ports import forgotten_ports, not_connected
from ..reduction.labels import flow_like
from ..reduction.reduced_model import ReducedModel
from ..structure.elimination import echelon
from ..structure.incidence import IntegerRows
from .conflict import Conflict
from .conflicts import Conflicts
from .wording import MOST_NAMED, dependence, quoted


def islands(model: ReducedModel, conflicts: Conflicts) -> list[str]:
    """Say for every variable that presolve pins what moves with it, and why nothing determines it."""
    presolved, flat = model.presolved, model.flat
    if not len(presolved.pinned):
        return []
    flow, port = flow_like(model), _in_ports(model)
    messages = []
    for pinned, island in zip(presolved.pinned.tolist(), presolved.islands, strict=False):
        names = [flat.variable(int(k)) for k in island[:MOST_NAMED]]
        members = f"{{{listed(names, MOST_NAMED, count=len(island))}}}"
        zero = f"`{flat.variable(pinned)}` is pinned to zero"
        if flow[pinned]:
            messages.append(
                f"undetermined circulating flow in the island {members}: {zero}; the flows are relative to it"
            )
        elif port[island].any():
            forgotten = forgotten_ports(flat, island.tolist())
            messages.append(
                f"no reference in the island {members}: {zero}; potentials of the island are relative to it"
                + (f"; {not_connected(forgotten)}" if forgotten else "")
            )
        else:
            reason = dependence(_among(model, conflicts, island))
            messages.append(f"nothing determines {members}, for {reason}; {zero}")
    return messages


def undetermined(conflicts: Sequence[Conflict], unknowns: Sequence[str]) -> str:
    """Say which unknowns of a mode have the smallest values that fit, and why."""
    harmless = dependence([c for c in conflicts if not c.defect]) or "there are fewer equations than unknowns"
    return f"nothing determines {quoted(unknowns)}, for {harmless}; the smallest values that fit are taken"


def _in_ports(model: ReducedModel) -> np.ndarray:
    """Mask over all variables: one of a port."""
    found = np.zeros(model.flat.nv, bool)
    for s in model.flat.batches:
        for kind, first in s.template.port_kinds:
            for k in range(len(kind.fields())):
                found[s.vb + first + k] = True
    return found


def _among(model: ReducedModel, conflicts: Conflicts, island: np.ndarray) -> list[Conflict]:
    """Dependent integer rows in which variables of an island occur."""
    flat = model.flat
    combinations = echelon(IntegerRows(flat.ptr, flat.col, flat.val, flat.nv).compress()).combinations
    found = []
    for k in range(combinations.m):
        part = slice(combinations.ptr[k], combinations.ptr[k + 1])
        rows, weights = combinations.col[part].tolist(), combinations.val[part].tolist()
        if any(np.isin(flat.col[flat.ptr[r] : flat.ptr[r + 1]], island).any() for r in rows):
            found.append(conflicts.of_integer_rows(dict(zip(rows, weights, strict=True)), 0.0))
    return found
