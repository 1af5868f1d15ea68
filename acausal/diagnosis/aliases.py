"""Variables that are equal, opposite or zero by an equation alone, and what is declared about them together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from ..flattening.flat_model import FlatModel
from ..flattening.template import Template
from ..simulation.starts.stated import Starts
from ..structure.aliases import AliasClasses, AliasEdges, alias_classes, alias_edges
from ..structure.incidence import INT, IntegerRows
from ..structure.union import Union
from .facts import Alias, AliasMember


def merge_aliases(flat: FlatModel, differentiated: np.ndarray, inputs: Sequence[int]) -> AliasClasses:
    """Return the alias classes of a flat model.

    Two differentiated variables are not merged, nor is one with zero: their equation may hide a constraint. A class is
    represented by its input, else its differentiated variable, else the one with the shortest path.
    """
    n = flat.nv
    apart = differentiated.copy()
    apart[list(inputs)] = True
    rows = _with_remainders(flat)
    classes = AliasClasses(np.arange(n), np.ones(n, INT), np.arange(n))
    priority = _priority(flat, differentiated, inputs)
    for _ in range(len(rows.ptr)):
        here = _representatives(rows, classes)
        edges = alias_edges(here)
        edges = edges.take((edges.a < n) & ((edges.b < n) | (edges.b == here.n)))
        edges = AliasEdges(edges.a, np.minimum(edges.b, n), edges.sign, edges.row, n)
        merged = _merge(edges, apart, priority)
        if (merged.representative == np.arange(n)).all() and (merged.sign != 0).all():
            break
        root = classes.representative
        classes = AliasClasses(
            merged.representative[root], merged.sign[root] * classes.sign, merged.label[root]
        )
    return classes


def _with_remainders(flat: FlatModel) -> IntegerRows:
    """Integer rows with one column more for every known part."""
    rows = IntegerRows(flat.ptr, flat.col, flat.val, flat.nv)
    known = np.array(
        [
            int(local) in flat.batches[int(batch)].template.remainders
            for batch, local in zip(flat.row_batch.tolist(), flat.row_local.tolist(), strict=True)
        ],
        bool,
    )
    at = np.flatnonzero(known)
    return IntegerRows.from_triplets(
        np.concatenate([rows.row, at]),
        np.concatenate([rows.col, flat.nv + np.arange(len(at))]),
        np.concatenate([rows.val, np.ones(len(at), INT)]),
        (rows.m, flat.nv + len(at)),
    )


def _representatives(rows: IntegerRows, classes: AliasClasses) -> IntegerRows:
    n = len(classes.sign)
    inside = rows.col < n
    col, val = rows.col.copy(), rows.val.copy()
    val[inside] *= classes.sign[col[inside]]
    col[inside] = classes.representative[col[inside]]
    return IntegerRows(rows.ptr, col, val, rows.n).compress()


def _priority(flat: FlatModel, differentiated: np.ndarray, inputs: Sequence[int]) -> np.ndarray:
    depth = np.zeros(flat.nv, INT)

    def descend(template: Template, base: np.ndarray, level: int) -> None:
        for j, name in enumerate(template.variables):
            depth[base + j] = level + name.count(".")
        for g in template.groups:
            descend(g.template, (base[:, None] + g.voff).ravel(), level + 1)

    descend(flat.root, np.zeros(1, INT), 2)
    depth[differentiated] = 1
    depth[list(inputs)] = 0
    return depth


def _merge(edges: AliasEdges, apart: np.ndarray, priority: np.ndarray) -> AliasClasses:
    """Classes of relations, some left out so that no class holds two of the variables that stay apart, or one and zero."""
    classes = alias_classes(edges, priority)
    count = np.bincount(classes.label[apart], minlength=2 * len(apart) + 2)
    zero = np.zeros(len(count), bool)
    zero[classes.label[classes.sign == 0]] = True
    crowded = (count > 1) | ((count > 0) & zero)
    if not crowded.any():
        return classes
    at = crowded[classes.label[edges.a]]
    keep = ~at
    keep[at] = _spanning(edges.take(at), apart)
    return alias_classes(edges.take(keep), priority)


def _spanning(edges: AliasEdges, apart: np.ndarray) -> np.ndarray:
    """Mask of the relations that may be used, one after the other, those with variables that stay apart last."""
    sets, held = Union(edges.n + 1), np.append(apart, True)
    found = np.zeros(len(edges.row), bool)
    late = held[edges.a] | held[edges.b]
    for k in np.lexsort((edges.row, late)).tolist():
        a, b = sets.find(int(edges.a[k])), sets.find(int(edges.b[k]))
        if a != b and not (held[a] and held[b]):
            held[sets.join(a, b)] = held[a] or held[b]
            found[k] = True
    return found


class Aliases(Sequence[Alias]):
    """The alias classes of a model with more than one member; each is made when asked for.

    Parameters
    ----------
    flat : FlatModel
    classes : AliasClasses
    starts : Starts
    """

    def __init__(self, flat: FlatModel, classes: AliasClasses, starts: Starts) -> None:
        self.flat, self.classes = flat, classes
        self.start, self.fixed, self.given = starts.value, starts.fixed, starts.given
        zero = classes.sign == 0
        key = np.where(zero, flat.nv, classes.representative)
        order = np.argsort(key, kind="stable")
        first = np.flatnonzero(np.concatenate(([True], np.diff(key[order]) != 0)))
        groups = np.split(order, first[1:])
        self.groups = [g for g in groups if len(g) > 1 or zero[g].any()]

    def __len__(self) -> int:
        return len(self.groups)

    @overload
    def __getitem__(self, index: int) -> Alias: ...
    @overload
    def __getitem__(self, index: slice) -> list[Alias]: ...
    def __getitem__(self, index: int | slice) -> Alias | list[Alias]:
        if isinstance(index, slice):
            return [self._make(g) for g in self.groups[index]]
        return self._make(self.groups[index])

    def __repr__(self) -> str:
        return f"<{len(self)} classes of aliases>"

    @cached_property
    def bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """Declared bounds of all variables."""
        low, high = np.full(self.flat.nv, -math.inf), np.full(self.flat.nv, math.inf)
        for f, at in self.flat.variable_fields():
            low[at], high[at] = getattr(f, "min", -math.inf), getattr(f, "max", math.inf)
        return low, high

    @cached_property
    def conflicts(self) -> tuple[str, ...]:
        """Start values and bounds of all classes that contradict each other."""
        low, high = self.bounds
        telling = self.given | self.fixed | (self.start != 0.0) | np.isfinite(low) | np.isfinite(high)
        key = np.where(self.classes.sign == 0, -1, self.classes.representative)
        several = np.bincount(key[telling] + 1, minlength=len(key) + 1) > 1
        some = (g for g in self.groups if key[g[0]] < 0 or several[key[g[0]] + 1])
        return tuple(text for g in some for text in self._make(g).conflicts)

    def start_of(self, v: int) -> float:
        """Return the start value of a representative, as some member declares it."""
        members = np.flatnonzero(self.classes.representative == v)
        found = _start(self, members)
        return 0.0 if found is None else found

    def _make(self, group: np.ndarray) -> Alias:
        sign = self.classes.sign[group]
        zero = bool((sign == 0).any())
        root = -1 if zero else int(self.classes.representative[group[0]])
        members = tuple(
            AliasMember(self.flat.variable(v), s)
            for v, s in zip(group.tolist(), sign.tolist(), strict=True)
            if v != root
        )
        low, high = (b[group] for b in self.bounds)
        least = float(np.where(sign > 0, low, -high).max()) if not zero else 0.0
        most = float(np.where(sign > 0, high, -low).min()) if not zero else 0.0
        name = "0" if zero else self.flat.variable(root)
        return Alias(
            name, members, _start(self, group), least, most, tuple(self._conflicts(group, least, most))
        )

    def _conflicts(self, group: np.ndarray, least: float, most: float) -> list[str]:
        found = []
        declared = (self.start != 0.0) & ~self.given & ~self.fixed
        weaker = ~(self.given | self.fixed)[group].any()
        for mask, word in (
            (self.fixed, "fixed starts"),
            (self.given & ~self.fixed, "starts"),
            (declared & weaker, "declared starts"),
        ):
            stated = _Stated.of(self, group[mask[group]])
            if stated.differ:
                found.append(f"{word} of aliases differ: {stated.text}")
        if least > most:
            found.append(
                f"no value of `{self.flat.variable(int(group[0]))}` lies within the bounds of its aliases"
            )
        low, high = self.bounds
        for v in group.tolist():
            sign = int(self.classes.sign[v])
            if sign == 0 and not low[v] <= 0.0 <= high[v]:
                found.append(
                    f"`{self.flat.variable(v)}` is zero, outside its bounds {low[v]:g} and {high[v]:g}"
                )
        start = _start(self, group)
        if start is not None and least <= most and not least <= start <= most:
            found.append(f"the start {start:g} lies outside the bounds {least:g} and {most:g} of an alias")
        return found


@dataclass(frozen=True)
class _Stated:
    """Values that members state, in terms of the representative."""

    text: str
    differ: bool

    @classmethod
    def of(cls, aliases: Aliases, members: np.ndarray) -> _Stated:
        sign, start = aliases.classes.sign[members], aliases.start[members]
        values = np.where(sign == 0, start, sign * start)
        texts = (f"`{aliases.flat.variable(v)}` = {aliases.start[v]:g}" for v in members[:4].tolist())
        target = 0.0 if (sign == 0).any() else float(values[0]) if len(values) else 0.0
        return cls(", ".join(texts), any(not math.isclose(x, target) for x in values.tolist()))


def _start(aliases: Aliases, members: np.ndarray) -> float | None:
    """Start value of the representative: fixed before given before declared other than zero."""
    declared = aliases.start != 0.0
    for mask in (aliases.fixed, aliases.given, declared):
        stated = members[mask[members]]
        if len(stated):
            v = int(stated[0])
            return float(aliases.classes.sign[v] * aliases.start[v])
    return None
