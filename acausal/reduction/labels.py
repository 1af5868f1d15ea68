"""Names, units and kinds of the core: what does not depend on numbers, made once per model."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property

import numpy as np

from ..errors import Location, listed
from ..flattening.open_ports import open_flow
from ..modeling.fields import Variable
from .reduced_model import ReducedModel

MOST_CONNECTED = 4
"""Variables in the name of a connection."""
HIGHEST = 3
"""Ranks beyond count as this one: they would ask for pivots that are rounding."""


class CoreNames:
    """Texts, each made when it is first read: all those of a large model take longer than its analysis.

    Parameters
    ----------
    count : int
    make : callable
        Returns the text of a number.
    """

    def __init__(self, count: int, make: Callable[[int], str]) -> None:
        self._count, self._make = count, cache(make)

    def __len__(self) -> int:
        return self._count

    def __getitem__(self, k: int) -> str:
        return self._make(k)


class Labels:
    """Names of unknowns and equations of a core, each made when first asked for."""

    def __init__(self, model: ReducedModel) -> None:
        self._model = model

    @cached_property
    def names(self) -> CoreNames:
        """Paths of the core unknowns."""
        model = self._model
        ids = model.presolved.y[model.core].tolist()
        return CoreNames(len(ids), lambda k: model.flat.variable(ids[k]))

    @cached_property
    def rows(self) -> CoreNames:
        """Text and place of every core equation."""
        model = self._model
        count = sum(map(len, model.base_instances)) + len(model.core_rows)
        return CoreNames(count, lambda k: _row(model, k))

    @cached_property
    def flow(self) -> np.ndarray:
        """Mask over the core unknowns: an alias of it is a flow."""
        W, flat = self._model.W_core, self._model.flat
        flow = np.zeros(W.shape[1], bool)
        for f, at in flat.variable_fields():
            if isinstance(f, Variable) and f.flow:
                single = at[np.diff(W.indptr)[at] == 1]
                flow[W.indices[W.indptr[single]]] = True
        return flow

    @cached_property
    def priority(self) -> np.ndarray | None:
        """Rank of the priority of every core unknown as a state; None if nothing is declared."""
        W, found = self._model.W_core, np.zeros(len(self._model.core))
        for f, at in self._model.flat.variable_fields():
            declared = f.state_priority if isinstance(f, Variable) else 0
            for x in at.tolist() if declared else ():
                j = W.indices[W.indptr[x]] if W.indptr[x + 1] - W.indptr[x] == 1 else -1
                if j >= 0 and abs(declared) > abs(found[j]):
                    found[j] = declared
        if not found.any():
            return None
        values = np.unique([0.0, *found])
        rank = np.searchsorted(values, found) - np.searchsorted(values, 0.0)
        return np.clip(rank, -HIGHEST, HIGHEST).astype(float)

    @cached_property
    def nominals(self) -> np.ndarray:
        """Declared nominal values of all variables, 0 where there is none."""
        found = np.zeros(self._model.flat.nv)
        for f, at in self._model.flat.variable_fields():
            found[at] = abs(getattr(f, "nominal", None) or 0.0)
        return found

    @cached_property
    def units(self) -> np.ndarray:
        """Number of the unit of every core unknown."""
        model = self._model
        labels: dict[str, int] = {}
        of = np.zeros(model.flat.nv, np.int64)
        for f, at in model.flat.variable_fields():
            of[at] = labels.setdefault(f.unit, len(labels))
        return of[model.presolved.y[model.core]]


def flow_like(model: ReducedModel) -> np.ndarray:
    """Mask over all variables: a flow, or an alias of one by an integer row of two terms."""
    flat = model.flat
    flow = np.zeros(flat.nv, bool)
    for f, at in flat.variable_fields():
        if isinstance(f, Variable) and f.flow:
            flow[at] = True
    two = np.flatnonzero(np.diff(flat.ptr) == 2)
    a, b = flat.col[flat.ptr[two]], flat.col[flat.ptr[two] + 1]
    either = flow[a] | flow[b]
    flow[a[either]] = flow[b[either]] = True
    return flow


def _row(model: ReducedModel, k: int) -> str:
    """Text and place of a core equation."""
    for rows, instances, text in zip(model.base, model.base_instances, model.base_texts, strict=True):
        if k < len(instances):
            statement = text.statement
            place = model.flat.location(rows.batch, int(instances[k]), statement.origin)
            return f"{statement.text} at {place}"
        k -= len(instances)
    return integer_row_name(model, int(model.presolved.kept_row_origin[model.core_rows[k]]))


def integer_row_name(model: ReducedModel, row: int) -> str:
    """Text and place of an integer row."""
    flat = model.flat
    if row >= len(flat.row_batch):
        return "an input"
    flow = open_flow(flat, row)
    if flow:
        return f"`{flow}` = 0, for nothing is connected there"
    return f"{flat.row_text(row) or _connection(model, row)} at {flat.row_location(row)}"


def _connection(model: ReducedModel, row: int) -> str:
    flat = model.flat
    columns = flat.col[flat.ptr[row] : flat.ptr[row + 1]].tolist()
    names = [f"`{flat.variable(k)}`" for k in columns[:MOST_CONNECTED]]
    return "the connection of " + listed(names, MOST_CONNECTED, count=len(columns))


def nonlinear_row(model: ReducedModel, row: int) -> tuple[str, Location]:
    """Text and place of a nonlinear row, by its number among the nonlinear rows."""
    statements = {b.first: t.statement for b, t in zip(model.base, model.base_texts, strict=True)}
    for c in model.nonlinear:
        if row < len(c.instances):
            written = statements.get(c.first)
            origin = (
                written.origin if written else model.flat.batches[c.batch].template.origin_of(c.form.expr)
            )
            place = model.flat.location(c.batch, int(c.instances[row]), origin)
            return written.text if written else f"{c.form.expr} = 0", place
        row -= len(c.instances)
    raise IndexError(row)
