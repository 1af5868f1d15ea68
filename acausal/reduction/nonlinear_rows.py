"""Rows that are not affine, as functions of arguments that are affine: which variables and constants they read.

A nonlinear row is ``rho(a; c) = 0``. Its arguments ``a = Z z + D z' + X xi`` are variables, time derivatives
and known functions of time; its constants ``c`` are parameters, discretes and frozen relations. One row's
arguments stand together, so that derivatives with respect to ``a`` of all rows are one vector.
"""

from __future__ import annotations

from functools import cached_property
from itertools import chain, starmap
from typing import Any

import numpy as np

from ..flattening.flat_model import kind_of
from ..flattening.locating import locate_symbol
from ..modeling.expressions import Expr, Symbol, walk
from ..modeling.operations import RELATIONS
from ..values import frozen
from .core import Exosystem, Values, model_relation
from .reduced_model import NonlinearFormRows, ReducedModel, Sparse


@frozen
class Constants:
    """Local numbers of parameters, discretes and relations that one nonlinear row reads, in the order of its constants."""

    p: tuple[int, ...]
    d: tuple[int, ...]
    r: tuple[int, ...]
    homotopy: bool = False
    """Whether the share of actual parts of homotopies is the last constant."""

    @property
    def count(self) -> int:
        """Number of constants."""
        return len(self.p) + len(self.d) + len(self.r) + self.homotopy


class NonlinearRows:
    """All nonlinear rows of a model, numbered.

    Attributes
    ----------
    rows : (m,) array
        Form row of every nonlinear row.
    owner : (na,) array
        Nonlinear row of every argument, ascending.
    constants : tuple of Constants
        Per entry of ``model.nonlinear``.
    """

    def __init__(self, model: ReducedModel) -> None:
        self.model = model
        self.rows = _joined([c.first + c.instances for c in model.nonlinear])
        self.constants = tuple(_constants(model, c) for c in model.nonlinear)
        widths = [np.full(len(c.instances), len(c.form.keys) + len(c.knowns)) for c in model.nonlinear]
        self.owner = np.repeat(np.arange(len(self.rows)), _joined(widths))
        self.position = {int(row): k for k, row in enumerate(self.rows.tolist())}

    @cached_property
    def eventless(self) -> tuple[tuple[int, int, Expr], ...]:
        """Batch and instance of every comparison within `no_event`, and the comparison."""
        found: dict[tuple[int, int, int], tuple[int, int, Expr]] = {}
        for rows in self.model.nonlinear:
            within = (n for top in walk(rows.form.expr) if top.op == "no_event" for n in walk(top))
            for node in (n for n in within if n.op in RELATIONS):
                for i in rows.instances.tolist():
                    found[rows.batch, i, id(node)] = rows.batch, i, node
        return tuple(found.values())

    @cached_property
    def constant_owner(self) -> np.ndarray:
        """Nonlinear row of every constant, ascending."""
        widths = [
            np.full(len(c.instances), k.count)
            for c, k in zip(self.model.nonlinear, self.constants, strict=True)
        ]
        return np.repeat(np.arange(len(self.rows)), _joined(widths))

    @cached_property
    def steady(self) -> np.ndarray:
        """Mask (m,) of the rows whose constants are parameters alone."""
        alone = [not (k.d or k.r or k.homotopy) for k in self.constants]
        return np.repeat(np.array(alone, bool), [len(c.instances) for c in self.model.nonlinear])

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def variables(self) -> tuple[Sparse, Sparse, Sparse]:
        """``Z`` (na, n) and ``D`` (na, n) over the core unknowns, and what multiplies known expressions (na, nk)."""
        from scipy.sparse import csr_array

        model, entries = self.model, list(starmap(_entries, ((self.model, c) for c in self.model.nonlinear)))
        kind, number = (_joined([e[k] for e in entries]) for k in (0, 1))
        na, at = len(kind), np.arange(len(kind))

        def pick(mask: np.ndarray, width: int) -> Sparse:
            return csr_array((np.ones(int(mask.sum())), (at[mask], number[mask])), shape=(na, width))

        nv = model.flat.nv
        values, slopes = pick(kind == 0, nv), pick(kind == 1, nv)
        known = (values @ model.V_known).tocsr() + pick(kind == 2, model.nk)
        return (values @ model.W_core).tocsr(), (slopes @ model.W_core).tocsr(), known

    def sources(self, exosystem: Exosystem) -> Sparse:
        """``X`` (na, q) over the exosystem states."""
        return (self.variables[2] @ exosystem.K).tocsr()

    def constant_values(self, values: Values) -> np.ndarray:
        """Constants of all rows, row by row."""
        P, D, R = values.P, values.D, values.R
        parts = [[P[p], D[d], R[r]] for p, d, r in self._gather]
        for part, k in zip(parts, self.constants, strict=True):
            if k.homotopy:
                part.append(np.full((len(part[0]), 1), values.homotopy))
        return _joined([np.hstack(part) for part in parts])

    def read(self, values: Values) -> tuple[bytes, bytes, bytes, float]:
        """What the constants are made of: they are the same where this is."""
        p, d, r = self.places_read
        return values.P[p].tobytes(), values.D[d].tobytes(), values.R[r].tobytes(), values.homotopy

    def constants_of_discretes(self, count: int) -> np.ndarray:
        """Number, of so many discretes, of the one that each constant is; -1 for others."""
        none = np.full(int(self.places_read[0].max(initial=-1)) + 1, -1.0)
        rows = np.full(self.model.nr, -1.0)
        found = self.constant_values(Values(none, np.arange(float(count)), rows, -1.0))
        return found.astype(np.int64)

    @property
    def has_homotopy(self) -> bool:
        """Whether some row has simplified parts."""
        return any(k.homotopy for k in self.constants)

    @cached_property
    def places_read(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Parameters, discretes and relations that constants read."""
        p, d, r = (_joined([places[k] for places in self._gather]) for k in range(3))
        return p, d, r

    @cached_property
    def _gather(self) -> list[tuple[np.ndarray, np.ndarray, np.ndarray]]:
        found = []
        for c, k in zip(self.model.nonlinear, self.constants, strict=True):
            s = self.model.flat.batches[c.batch]
            first = [model_relation(self.model, c.batch, r) for r in k.r]
            at = c.instances[:, None]
            found.append(
                (
                    s.pb[at] + _ints(k.p),
                    s.db[at] + _ints(k.d),
                    _ints(first) + np.broadcast_to(at, (len(at), 1)),
                )
            )
        return found


def _ints(values: Any) -> np.ndarray:
    return np.array(values, np.int64).reshape(1, -1)


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.ravel(p) for p in parts]) if parts else np.zeros(0, np.int64)


def _constants(model: ReducedModel, rows: NonlinearFormRows) -> Constants:
    """Parameters, discretes and relations in an expression, outside what is known as a function of time."""
    forms, template = model.forms[rows.batch], model.flat.batches[rows.batch].template
    known = {id(k) for k in rows.form.knowns}
    found: dict[str, dict[int, None]] = {"p": {}, "d": {}, "r": {}}
    nodes = _outside(rows.form.expr, known, forms.relation_at)
    simplified = [n.data[0] for n in nodes if n.op == "homotopy"]
    for node in (*nodes, *chain.from_iterable(map(walk, simplified))):
        if id(node) in forms.relation_at:
            found["r"].setdefault(forms.relation_at[id(node)])
        elif isinstance(node, Symbol) and kind_of(node) != "v":
            kind = kind_of(node)
            found[kind].setdefault(locate_symbol(template, kind, node))
    return Constants(tuple(found["p"]), tuple(found["d"]), tuple(found["r"]), bool(simplified))


def _outside(expr: Expr, known: set[int], relations: dict[int, int]) -> list[Expr]:
    """Nodes of an expression; known parts are left out, registered relations are not entered."""
    if not known and not any(id(n) in relations for n in walk(expr)):
        return list(walk(expr))
    found, seen, stack = [], set(), [expr]
    while stack:
        node = stack.pop()
        if id(node) in seen or id(node) in known:
            continue
        seen.add(id(node))
        found.append(node)
        if id(node) not in relations:
            stack.extend(reversed(node.args))
    return found


def _entries(model: ReducedModel, rows: NonlinearFormRows) -> tuple[np.ndarray, np.ndarray]:
    """Kind (0 value, 1 derivative, 2 known) and global number of every argument, instance by instance."""
    vb, at = model.flat.batches[rows.batch].vb[rows.instances], rows.instances
    kinds = [int(derivative) for _, derivative in rows.form.keys] + [2] * len(rows.knowns)
    columns = [vb + k for k, _ in rows.form.keys] + [first + at for first in rows.knowns]
    number = np.column_stack(columns) if columns else np.zeros((len(at), 0), np.int64)
    return np.tile(kinds, len(at)), number.ravel()
