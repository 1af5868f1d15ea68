"""What is demanded of the start of a large model: fixed values, initial equations, derivatives that are to be zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...errors import Location
from ...flattening.flat_model import FlatModel
from ...flattening.template import place_of
from ...reduction.reduced_model import NonlinearFormRows
from ..compiled import CompiledModel
from ..numeric import NumericCore
from ..starts.stated import Starts
from .system import LargeSystem

HOLDS = 1e-12
"""Defect, relative to its terms, up to which a condition holds to rounding, so that nothing is to be solved."""
NAMED = 4
"""Conditions in one message."""


@dataclass(frozen=True, eq=False)
class Demand:
    """Conditions on the start: rows over ``v = [X; u; xi]`` and constants, some of them plus a nonlinear row."""

    rows: Any
    constant: np.ndarray
    nonlinear: np.ndarray
    """Nonlinear row of every condition, -1 for affine ones."""
    texts: list[str]
    places: list[tuple[Location, ...]]

    @classmethod
    def affine(
        cls, rows: Any, constant: np.ndarray, texts: list[str], places: list[tuple[Location, ...]]
    ) -> Demand:
        """Conditions without nonlinear rows."""
        return cls(rows, constant, np.full(len(constant), -1), texts, places)

    @classmethod
    def stacked(cls, parts: list[Demand], width: int) -> Demand:
        """All conditions of several; ``width`` is the length of ``v``."""
        from scipy.sparse import csr_array, vstack

        rows: Any = vstack([csr_array((0, width)), *(p.rows for p in parts)], format="csr")
        rows.eliminate_zeros()
        constant = np.concatenate([np.zeros(0), *(p.constant for p in parts)])
        nonlinear = np.concatenate([np.zeros(0, np.int64), *(p.nonlinear for p in parts)])
        texts, places = [t for p in parts for t in p.texts], [at for p in parts for at in p.places]
        return cls(rows, constant, nonlinear, texts, places)

    def of_states(self, nx: int) -> bool:
        """Whether each of them is the value of one state."""
        alone = np.diff(self.rows.indptr) == 1
        return not (self.nonlinear >= 0).any() and bool(alone.all()) and bool((self.rows.indices < nx).all())

    def hold(self, v: np.ndarray) -> bool:
        """Whether all of them are affine and hold at a point to rounding."""
        terms = abs(self.rows) @ np.abs(v) + np.abs(self.constant)
        defect = np.abs(self.rows @ v + self.constant)
        return not (self.nonlinear >= 0).any() and bool((defect <= HOLDS * terms).all())

    def named(self, which: np.ndarray) -> tuple[str, tuple[Location, ...]]:
        """Some conditions in words, and where they stand."""
        some = which[:NAMED].tolist()
        more = f" and {len(which) - NAMED} more" if len(which) > NAMED else ""
        return "; ".join(self.texts[k] for k in some) + more, tuple(p for k in some for p in self.places[k])


def demands(
    program: CompiledModel, core: NumericCore, system: LargeSystem, starts: Starts
) -> tuple[Demand, Demand | None]:
    """Return what must hold at the start, and that with the wishes that are met if they agree with it.

    Wishes are derivatives of fixed variables that are to be zero; None where there are none.
    """
    targets = {x: program.unknowns.settable(x) for x in np.flatnonzero(starts.fixed).tolist()}
    held = {t[1] for t in targets.values() if t and t[0] == "core"}
    parts = [
        _fixed(program.flat, core, system, starts, targets),
        _still(program, system, starts, lambda j: j not in held),
        *(_initially(program, core, system, rows, form) for rows, form in program.reduced.initials),
    ]
    width, wishes = system.nx + system.n + system.q, _still(program, system, starts, held.__contains__)
    stated = Demand.stacked(parts, width)
    return stated, Demand.stacked([*parts, wishes], width) if wishes.texts else None


def _fixed(
    flat: FlatModel, core: NumericCore, system: LargeSystem, starts: Starts, targets: dict[int, Any]
) -> Demand:
    """Values of fixed variables."""
    readout = core.readout
    # That equal values are fixed for several names of one unknown is checked elsewhere.
    kept = {(t[:2] if t else x): x for x, t in reversed(targets.items()) if not readout.observed(x)}
    ids = sorted(x for x in kept.values() if not ((t := targets[x]) and t[0] == "integral"))
    rows = core.reduced.W_core[ids] @ system.mode.z_of + _over_sources(system, readout.VK[ids])
    texts = [f"`{flat.variable(x)}` = {starts.value[x]:.9g}" for x in ids]
    return Demand.affine(rows, -starts.value[ids], texts, _places(flat, ids))


def _still(
    program: CompiledModel, system: LargeSystem, starts: Starts, wanted: Callable[[int], bool]
) -> Demand:
    """Derivatives that are to be zero, of the core unknowns wanted; those that sources alone drive are left out."""
    flat, found = program.flat, dict[int, int]()
    slope_of: Any = system.mode.slope_of
    moves = np.diff(slope_of[:, : system.nx + system.n].indptr) > 0
    for x in np.setdiff1d(np.flatnonzero(starts.steady), flat.computed).tolist():
        target = program.unknowns.settable(x)
        if target is not None and target[0] == "core" and wanted(target[1]) and moves[target[1]]:
            found.setdefault(target[1], x)
    ids = list(found.values())
    texts = [f"der(`{flat.variable(x)}`) = 0" for x in ids]
    return Demand.affine(slope_of[list(found)], np.zeros(len(ids)), texts, _places(flat, ids))


def _initially(
    program: CompiledModel, core: NumericCore, system: LargeSystem, rows: Any, form: Any
) -> Demand:
    """One initial equation of all instances of a class."""
    from scipy.sparse import csr_array

    flat, mode, text = program.flat, system.mode, form.statement.text
    slope_of: Any = mode.slope_of
    count = len(flat.batches[rows.batch])
    over, nonlinear = core.form_rows(rows.first, count), np.full(count, -1)
    if isinstance(rows, NonlinearFormRows):
        nonlinear = np.array([program.nonlinear_rows.position[rows.first + i] for i in range(count)])
    affine = csr_array(over.E) @ slope_of + csr_array(over.A) @ mode.z_of
    places = [(flat.location(rows.batch, i, form.statement.origin),) for i in range(count)]
    return Demand(affine + _over_sources(system, over.B), np.zeros(count), nonlinear, [text] * count, places)


def _places(flat: FlatModel, ids: list[int]) -> list[tuple[Location, ...]]:
    return [place_of(flat.root, flat.variable(x)) for x in ids]


def _over_sources(system: LargeSystem, rows: Any) -> Any:
    """Rows over the sources as rows over ``v``."""
    from scipy.sparse import csr_array, hstack

    own: Any = csr_array(rows[:, : system.q])
    return hstack([csr_array((own.shape[0], system.nx + system.n)), own], format="csr")
