"""Core unknowns and elements as users know them: names, units, aliases, places."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import Location
from ..flattening.flat_model import kind_of
from ..flattening.locating import locate_symbol
from ..modeling.expressions import Symbol, walk
from ..reduction.reduced_model import ReducedModel


class Unknowns:
    """Names of one compiled model, made when first asked for."""

    def __init__(self, reduced: ReducedModel) -> None:
        self.reduced, self.flat = reduced, reduced.flat

    @cached_property
    def core_index(self) -> np.ndarray:
        """Position in the core of every kept unknown, -1 for output equations."""
        found = np.full(len(self.reduced.presolved.y), -1, np.int64)
        found[self.reduced.core] = np.arange(len(self.reduced.core))
        return found

    @cached_property
    def relation_operators(self) -> list[str]:
        """Operator of every state relation."""
        return [r.relation.node.op for r, _ in self.flat.each(self.reduced.relations) if not r.relation.timed]

    @cached_property
    def _elements(self) -> list[tuple[str, Location]]:
        found = []
        for rows, i in self.flat.each(self.reduced.elements):
            path = self.flat.path(rows.batch, i) or self.flat.label
            found.append((path, self.flat.location(rows.batch, i, rows.forms.statement.origin)))
        return found

    @cached_property
    def first_mode(self) -> tuple[int, ...]:
        """Branches of the elements before any instant."""
        return tuple(r.forms.statement.table.start for r, _ in self.flat.each(self.reduced.elements))

    def element_place(self, k: int) -> tuple[str, Location]:
        """Return component path and place of element ``k``."""
        return self._elements[k]

    @cached_property
    def listed(self) -> dict[int, int]:
        """Core unknown -> differentiated variable under whose name results list it."""
        W, found = self.reduced.W, {}
        for x in np.flatnonzero(self.reduced.differentiated).tolist():
            if W.indptr[x + 1] - W.indptr[x] == 1 and self.core_index[W.indices[W.indptr[x]]] >= 0:
                found.setdefault(int(self.core_index[W.indices[W.indptr[x]]]), x)
        return found

    @cached_property
    def variables(self) -> np.ndarray:
        """Variable that stands for every core unknown: a differentiated one if there is one."""
        found = self.reduced.presolved.y[self.reduced.core].copy()
        found[list(self.listed)] = list(self.listed.values())
        return found

    def among_core(self, of: np.ndarray) -> np.ndarray:
        """Mask of the core unknowns that some of the variables are."""
        found = np.zeros(len(self.reduced.core), bool)
        for x in np.flatnonzero(of).tolist():
            target = self.settable(x)
            if target is not None and target[0] == "core":
                found[target[1]] = True
        return found

    def state_name(self, j: int) -> str:
        """Return the name of core unknown ``j``, that of a differentiated variable if there is one."""
        return self.flat.variable(int(self.variables[j]))

    @cached_property
    def _fields(self) -> dict[int, Any]:
        return self.flat.field_of("v")

    def unit(self, x: int) -> str:
        """Return the unit of variable ``x``."""
        return str(self._fields[x].unit)

    def unit_of_core(self, j: int) -> str:
        """Return the unit of core unknown ``j``."""
        return self.unit(int(self.reduced.presolved.y[self.reduced.core[j]]))

    def single(self, x: int) -> tuple[int, int] | None:
        """Return (kept unknown, sign) when variable ``x`` is a signed alias without a known offset, else None."""
        kept, sign = self.aliases
        return (int(kept[x]), int(sign[x])) if sign[x] else None

    @cached_property
    def aliases(self) -> tuple[np.ndarray, np.ndarray]:
        """Kept unknown and sign of every variable, sign zero where it is no signed alias without a known offset."""
        W, V = self.reduced.W, self.reduced.V_known
        alone = np.flatnonzero((np.diff(W.indptr) == 1) & (np.diff(V.indptr) == 0))
        at = W.indptr[alone]
        alone, at = alone[abs(W.data[at]) == 1], at[abs(W.data[at]) == 1]
        kept, sign = np.zeros((2, len(W.indptr) - 1), int)
        kept[alone], sign[alone] = W.indices[at], W.data[at]
        return kept, sign

    def settable(self, x: int) -> tuple[Any, ...] | None:
        """Return ("core", unknown, sign) or ("integral", position, sign) of a differentiated variable, else None."""
        alias = self.single(x)
        if alias is None:
            return None
        j, sign = alias
        at = int(self.core_index[j])
        if at >= 0:
            return ("core", at, sign) if self._differentiated[at] else None
        for n, k in enumerate(self._integrals):
            o = self.reduced.output_equations[k]
            if o.unknown == j:
                return "integral", n, sign * o.sign
        return None

    @cached_property
    def _differentiated(self) -> np.ndarray:
        """Mask over the core unknowns: an alias is differentiated somewhere."""
        found = np.zeros(len(self.reduced.core), bool)
        kept, sign = self.aliases
        at = self.core_index[kept[self.reduced.differentiated & (sign != 0)]]
        found[at[at >= 0]] = True
        return found

    @cached_property
    def positions(self) -> np.ndarray:
        """Mask over the core unknowns of positions: powers of ports contain their rates, and nothing conserved moves them.

        So is what is differentiated and follows from these alone: of two names of a place ports may read the other one.
        """
        ids: list[int] = []
        for s in self.flat.batches:
            for node in (node for power in s.template.powers for node in walk(power) if node.op == "der"):
                of = node.args[0]
                if isinstance(of, Symbol) and kind_of(of) == "v":
                    ids += (s.vb + locate_symbol(s.template, "v", of)).tolist()
        found = np.zeros(len(self.reduced.core), bool)
        found[self.reduced.W_core[ids].indices] = True
        rows = (self.reduced.K_core[0] != 0).astype(int)
        follows, more = found, True
        while more:
            one_left = (rows @ follows > 0) & (rows @ ~follows == 1)
            told = follows | (rows[np.flatnonzero(one_left)].sum(axis=0) > 0)
            follows, more = told, bool((told != follows).any())
        return found | (follows & self._differentiated)

    @cached_property
    def flows(self) -> tuple[int, ...]:
        """All variables that are flows."""
        fields = self.flat.variable_fields()
        return tuple(
            np.concatenate(
                [np.zeros(0, int), *(at for f, at in fields if getattr(f, "flow", False))]
            ).tolist()
        )

    def reinit_target(self, x: int) -> tuple[Any, ...]:
        """Return what `settable` returns, for a variable that is known to be differentiated."""
        target = self.settable(x)
        assert target is not None
        return target

    def targets(
        self, requested: Iterable[tuple[int, float]]
    ) -> tuple[list[tuple[int, float]], list[tuple[int, float]]]:
        """Values of core unknowns and of integrals that are requested for variables, by position."""
        found: dict[str, list[tuple[int, float]]] = {"core": [], "integral": []}
        for x, value in requested:
            kind, position, sign = self.reinit_target(x)
            found[kind].append((position, value * sign))
        return found["core"], found["integral"]

    @cached_property
    def _integrals(self) -> list[int]:
        return [k for k, o in enumerate(self.reduced.output_equations) if o.integral]
