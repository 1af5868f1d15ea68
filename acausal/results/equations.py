"""The equations of a model as written at the values of a result: residuals, guards and requirements, with their terms.

Nothing here serves the runs: signals are read as users read them, and put into the functions of `Residual`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca
import numpy as np

from ..compilation.residual import Residual
from ..compilation.residual_modes import ModeEntry
from ..values import frozen
from .rounding import rounded
from .segments import BEFORE, Affine

TOGETHER = 256
"""Points that are evaluated together: enough that their number no longer counts."""
FLOOR = 1e-6
"""Share of what flows or lies across elsewhere, of the same unit, that counts as a term: below it the values are rounding."""


@frozen
class EvaluatedRows:
    """Rows at some points: residuals (k, m), sizes of their largest terms (k, m), and modes (k, entries).

    Equations come first, then guards, then requirements.
    """

    values: np.ndarray
    terms: np.ndarray
    modes: np.ndarray
    sizes: np.ndarray
    """Largest magnitudes of derivatives, differentiated and other variables."""
    of_unit: np.ndarray
    """The same of all that have the same unit."""


class EquationsAt:
    """The equations of a residual at the values of a result.

    A relation that equations read is constant between events: its value at a time is the one at the middle of the
    stretch between events on the chosen side. Modes, discrete variables and all continuous variables come
    from the signals of the result.

    Parameters
    ----------
    residual : Residual
    result : Result
    read : callable, optional
        Path -> signal; that of the result by default.
    """

    def __init__(self, residual: Residual, result: Any, read: Any = None) -> None:
        r = residual
        self.residual, self.result = residual, result
        self._read = read or result.__getitem__
        self.p = np.array([self._read(n).at(result.t_start) for n in r.p.names], float)
        self._terms, self._rows, self._columns = _functions(r)
        self._units = [*(f"{a}/s" for a in r.x.units), *r.x.units, *r.w.units]
        self._names = [*(f"der({n})" for n in r.x.names), *r.x.names, *r.w.names]
        # Segments end at the kinks of sources too, which count as no events.
        self.edges = np.unique(np.concatenate([result.segments.start, [result.t_end]]))

    def arguments(self, t: np.ndarray, side: str, m: np.ndarray | None = None) -> list[tuple[Any, ...]]:
        """Arguments of the functions of the residual at some times; the mode is that of the result by default."""
        m = self.modes(t, side) if m is None else m
        return list(zip(*self._values(t, side), m, strict=True))

    def _values(self, t: np.ndarray, side: str) -> list[np.ndarray]:
        r = self.residual
        parts = [len(r.x), len(r.x), len(r.w), len(r.u), len(r.d)]
        found = self._signals([*self._names, *r.u.names, *r.d.names], t, side)
        *continuous, discretes = np.split(found, np.cumsum(parts[:-1]), axis=1)
        return [t, *continuous, np.tile(self.p, (len(t), 1)), discretes]

    def _signals(self, names: list[str], t: np.ndarray, side: str) -> np.ndarray:
        """Values (times, names); what is affine in the states of the run is read together."""
        found, sources = np.empty((len(t), len(names))), [self._read(n).source for n in names]
        segments, which, hs = self.result.located(t, side)
        affine: dict[int, Affine] = {}
        for k, source in enumerate(sources):
            row = None if BEFORE in which else source.affine()
            if row is None:
                # What is not a number is told by the check, not by a warning.
                found[:, k] = np.asarray(source.at(t, side), float)
            else:
                affine[k] = row
        if affine:
            found[:, list(affine)] = segments.affine(
                lambda group: np.vstack([a.row(group) for a in affine.values()]), len(affine), which, hs
            )
        return found

    def modes(self, t: np.ndarray, side: str) -> np.ndarray:
        """Mode vectors, shape (times, entries)."""
        r, m = self.residual, self.shown(t, side)
        self._disable(t, side, m)
        if any(entry.kind == "relation" for entry in r.modes) and len(self.edges) > 1:
            at = np.searchsorted(self.edges, t, side="left" if side == "left" else "right")
            at = np.clip(at, 1, len(self.edges) - 1)
            middle = 0.5 * (self.edges[at - 1] + self.edges[at])
            for n, arguments in enumerate(self.arguments(middle, side, m)):
                m[n] = r.relations_at(*arguments)
        return m

    def shown(self, t: np.ndarray, side: str) -> np.ndarray:
        """The same as mode variables tell: zero for relations, and off where an element is disabled."""
        modes = self.residual.modes
        m = np.zeros((len(t), len(modes)))
        for k, entry in enumerate(modes):
            if entry.kind != "relation":
                m[:, k] = branches(entry, np.asarray(self._read(entry.name).at(t, side=side)))
        return m

    def _disable(self, t: np.ndarray, side: str, m: np.ndarray) -> None:
        """Tell elements that are disabled from those that are off: their mode variables have the same value."""
        r = self.residual
        idle = [
            (n, g) for n, g in enumerate(r.guard_table)
            if r.modes[g.entry].true_branch is not None and g.target == len(r.modes[g.entry].branches) - 1 > 1
        ]  # fmt: skip
        if idle:
            for n, arguments in enumerate(self.arguments(t, side, m)):
                numbers = np.array(r.guards(*arguments)).ravel()
                for k, g in idle:
                    if m[n, g.entry] == g.branch and numbers[k] < 0.0:
                        m[n, g.entry] = g.target

    def rows(self, points: list[tuple[np.ndarray, str]]) -> EvaluatedRows:
        """All rows over times with a side each."""
        arguments = [a for t, side in points for a in self.arguments(t, side)]
        z = abs(np.array([np.concatenate(a[1:4]) for a in arguments]))
        sizes = np.nan_to_num(z).max(axis=0, initial=0.0)
        of_unit = self.of_unit(sizes)
        floor = FLOOR * of_unit
        values, terms = [], []
        for k in range(0, len(arguments), TOGETHER):
            value, slopes, known = self._at(arguments[k : k + TOGETHER])
            largest = np.nan_to_num(np.abs(known), nan=0.0, posinf=0.0)
            parts = np.abs(slopes) * np.maximum(z[k : k + TOGETHER], floor)[:, self._columns]
            parts[~np.isfinite(parts)] = 0.0
            np.maximum.at(largest.T, self._rows, parts.T)
            values.append(value)
            terms.append(largest)
        return EvaluatedRows(
            np.concatenate(values),
            np.concatenate(terms),
            np.array([a[-1] for a in arguments]),
            sizes,
            of_unit,
        )

    def _at(self, arguments: list[tuple[Any, ...]]) -> list[np.ndarray]:
        """Rows (k, m), their slopes (k, entries), and what is left of them where all variables are zero."""
        k = len(arguments)
        found = self._terms.map(k)(
            *(np.array(each, float).reshape(k, -1).T for each in zip(*arguments, strict=True))
        )
        return [np.array(part.nonzeros()).reshape(k, part.nnz() // k) for part in found]

    def of_unit(self, sizes: np.ndarray) -> np.ndarray:
        """The largest of the sizes of [x', x, w] with the same unit as each."""
        largest: dict[str, float] = {}
        for unit, size in zip(self._units, sizes, strict=True):
            largest[unit] = max(largest.get(unit, 0.0), float(size))
        return np.array([largest[unit] for unit in self._units])

    def rounded(self, points: list[tuple[np.ndarray, str]], k: int) -> np.ndarray:
        """By how much row ``k`` may be off at some times because the terms cancel by which its variables are read."""
        own, found = np.flatnonzero(self._rows == k), []
        for t, side in points:
            which, h = self.result.segments.locate(t, side)
            slopes = np.array([s[own] for s in self.slopes(t, side)]).reshape(len(t), len(own))
            read = [self._read(self._names[j]).source.affine() for j in self._columns[own]]
            found.append((np.abs(slopes) * rounded(self.result.segments, read, which, h).T).sum(axis=1))
        return np.nan_to_num(np.concatenate(found))

    def slopes(self, t: np.ndarray, side: str) -> Iterator[np.ndarray]:
        """Derivatives of all rows by derivatives, differentiated and other variables at each of some times; see ``places``."""
        return (np.array(self._terms(*a)[1].nonzeros()) for a in self.arguments(t, side))

    @property
    def places(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns of `slopes`."""
        return self._rows, self._columns


def _functions(r: Residual) -> tuple[Any, np.ndarray, np.ndarray]:
    """Function of values, slopes and known parts of all rows, and the places of the slopes.

    A term is a derivative times its variable; what no variable multiplies is left at the origin.
    """
    t, z = ca.SX.sym("t"), [ca.SX.sym(n, len(q)) for n, q in (("xdot", r.x), ("x", r.x), ("w", r.w))]
    rest = [ca.SX.sym(n, len(q)) for n, q in (("u", r.u), ("p", r.p), ("d", r.d), ("m", r.m))]
    columns, origin = ca.vertcat(*z), [ca.SX.zeros(a.numel()) for a in z]

    def all_rows(*arguments: Any) -> Any:
        return ca.densify(ca.vertcat(r.F(*arguments)[0], r.guards(*arguments), r.requirements(*arguments)))

    value = all_rows(t, *z, *rest)
    slopes = ca.jacobian(value, columns)
    found = ca.Function("terms", [t, *z, *rest], [value, slopes, all_rows(t, *origin, *rest)])
    rows, places = slopes.sparsity().get_triplet()
    return found, np.array(rows, np.int64), np.array(places, np.int64)


def branches(entry: ModeEntry, value: np.ndarray) -> np.ndarray:
    """Branches for values of a mode variable; disabled elements obey the equation of those that are off."""
    if entry.true_branch is None:
        return value.astype(int)
    return np.where(value.astype(bool), entry.true_branch, 1 - entry.true_branch)
