"""Nonlinear rows of a run and points at which they failed: names, places, values."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from ..errors import AcausalError, Location, shortened
from ..flattening.flat_model import kind_of
from ..modeling.expressions import Symbol, walk
from ..reduction.labels import nonlinear_row
from ..simulation.nonlinear.motion import Motion
from ..simulation.nonlinear.newton import NewtonFailure
from ..simulation.nonlinear.singular_points import TAKES_PART, Surroundings, crossing
from ..simulation.nonlinear.state_selection import BESIDE
from ..simulation.nonlinear.steps import unknowns_of
from ..simulation.standing import Standing

MOST_ROWS = 4
MOST_VALUES = 8
"""Nonlinear rows in one sentence."""
LONGEST = 80
"""Characters of an equation in it."""


@dataclass(frozen=True)
class StatedRows:
    """Some nonlinear rows as a list in words, where they stand, and the core unknowns in them with their names."""

    text: str
    places: tuple[Location, ...]
    unknowns: dict[int, str]

    def values(self, z: np.ndarray) -> str:
        """Values ``z`` of their variables."""
        shown = (f"`{name}` = {z[j]:.6g}" for j, name in list(self.unknowns.items())[:MOST_VALUES])
        return ", ".join(shown) + (", ..." if len(self.unknowns) > MOST_VALUES else "")

    def error(self, kind: type[AcausalError], what: str, why: str, hint: str) -> AcausalError:
        """Return an error about them."""
        return kind(what, where=self.places, about=self.unknowns.values(), why=why, hint=hint)


def stated(now: Standing, rows: Iterable[int]) -> StatedRows:
    """Return nonlinear rows in words."""
    rows = [int(r) for r in rows]
    found = [nonlinear_row(now.reduced, r) for r in rows]
    others = dict.fromkeys(f"`{place.path or now.flat.label}`" for _, place in found[MOST_ROWS:])
    more = f" and {len(found) - MOST_ROWS} more of {', '.join(list(others)[:MOST_ROWS])}" if others else ""
    text = "; ".join(
        f"`{shortened(name, LONGEST)}` of `{place.path or now.flat.label}`"
        for name, place in found[:MOST_ROWS]
    )
    owner, Z = now.program.nonlinear_rows.owner, now.tangents.Z + now.tangents.D
    arguments = [k for r in rows for k in np.flatnonzero(owner == r).tolist()]
    read = dict.fromkeys(j for k in arguments for j in Z.indices[Z.indptr[k] : Z.indptr[k + 1]].tolist())
    places = tuple(dict.fromkeys(place for _, place in found[:MOST_ROWS]))
    return StatedRows(text + more, places, {j: now.program.unknowns.state_name(j) for j in read})


Point = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Coordinates, open unknowns and sources of a motion."""


def tried(now: Standing, failure: Exception) -> Point | None:
    """Where a solution failed, the last iterate in it; None before any motion."""
    motion = now.linearisation.last
    if motion is None:
        return None
    system, place = motion.system, motion.last
    X, H = place.X.copy(), place.H
    if isinstance(failure, NewtonFailure) and failure.rows is system.mode.nonlinear:
        H = failure.x
    elif isinstance(failure, NewtonFailure) and failure.rows is system.constraint_rows:
        X[motion.selection.dependent] = failure.x
    return X, H, place.xi


def accepted(now: Standing) -> Point | None:
    """The end of the last accepted step; None before any motion."""
    motion, steps = now.linearisation.last, now.steps
    if motion is None:
        return None
    place = motion.last if steps is None else steps.end
    return place.X, place.H, place.xi


def core_at(now: Standing, point: Point | None) -> np.ndarray:
    """Core unknowns at a point."""
    motion = now.linearisation.last
    return now.linearisation.z if motion is None or point is None else _core_unknowns(motion, *point)


def surroundings(now: Standing, point: Point | None) -> Surroundings | None:
    """Slopes of the nonlinear rows at a point."""
    motion = now.linearisation.last
    return None if motion is None or point is None else motion.surroundings(*point)


def branches_at(now: Standing, point: Point | None) -> str:
    """Return the motions that cross at a point in words, by the ratios of their rates; nothing where there are not two."""
    motion = now.linearisation.last
    if motion is None or point is None or not motion.batched:
        return ""
    X, H, xi = point
    system = motion.system
    level, scale = np.flatnonzero(system.constraint_levels == 0), system.scale

    def slopes(x: np.ndarray) -> np.ndarray:
        return system.linear(np.concatenate([x, H]), xi, motion.constants).C_y[level, : system.nx] * scale

    J, step = slopes(X), BESIDE * np.diag(scale)
    moved = np.array([slopes(X + d) - slopes(X - d) for d in step]) / (2.0 * BESIDE)
    if not (np.isfinite(J).all() and np.isfinite(moved).all()):
        return ""
    found, _ = crossing(J, moved, np.flatnonzero(J.any(axis=0) | moved.any(axis=(0, 1))))
    size = np.abs(found)
    part = np.flatnonzero((size > TAKES_PART * size.max(axis=1, keepdims=True, initial=0.0)).any(axis=0))
    if not len(part):
        return ""
    names = ", ".join(f"`{now.program.unknowns.state_name(int(j))}`" for j in unknowns_of(system)[part])
    first, second = sorted(_ratios(row) for row in (found * scale)[:, part])
    return f"; two motions cross there, on which {names} change as {first} and as {second}"


def _ratios(changes: np.ndarray) -> str:
    """Changes in units of the largest, the first one of those that are as large."""
    size = np.abs(changes)
    largest = changes[np.argmax(size > (1.0 - TAKES_PART) * size.max())]
    return " : ".join(f"{x:g}" for x in np.round(changes / largest, 3) + 0.0)


def _core_unknowns(motion: Motion, X: np.ndarray, H: np.ndarray, xi: np.ndarray) -> np.ndarray:
    return motion.system.mode.z_of @ motion.system.v0(np.concatenate([X, H]), xi)


def worst_rows(now: Standing, failure: NewtonFailure) -> list[int]:
    """Nonlinear rows of a failed iteration, those with the largest defects first; those without value alone if any."""
    r = failure.residual
    rows = failure.rows if failure.rows is not None else np.arange(len(now.program.nonlinear_rows))[: len(r)]
    lost = np.flatnonzero(~np.isfinite(r))
    order = lost if len(lost) else np.argsort(-np.abs(r), kind="stable")
    return list(dict.fromkeys(int(rows[k]) for k in order.tolist() if k < len(rows)))[:MOST_ROWS]


def rows_without_slope(now: Standing) -> list[int]:
    """Nonlinear rows all of whose derivatives vanish where the model was linearised."""
    arguments = now.tangents.arguments(now.linearisation.z, now.state.slopes, now.xi)
    _, gradient = now.tangents.functions(0, [arguments], now.tangents.constants(now.present))
    steep = np.bincount(
        now.program.nonlinear_rows.owner, np.abs(np.array(gradient)), len(now.program.nonlinear_rows)
    )
    return np.flatnonzero(steep == 0.0).tolist()


def zero_parameters(now: Standing, rows: Iterable[int]) -> list[str]:
    """Paths of the parameters in some nonlinear rows that are zero."""
    wanted, flat, first = set(rows), now.flat, 0
    found: dict[str, None] = {}
    for c in now.reduced.nonlinear:
        for k, i in enumerate(c.instances.tolist()):
            for node in walk(c.form.expr) if first + k in wanted else ():
                if isinstance(node, Symbol) and kind_of(node) == "p":
                    at = flat.symbol(c.batch, i, "p", node)
                    if now.present.P[at] == 0.0:
                        found[flat.parameter(at)] = None
        first += len(c.instances)
    return list(found)


def rows_of_largest(now: Standing, z: np.ndarray) -> list[int]:
    """Nonlinear rows with the variable that is largest by its scale among those in nonlinear rows."""
    Z, owner = abs(now.tangents.Z) + abs(now.tangents.D), now.program.nonlinear_rows.owner
    read = np.unique(Z.indices)
    if not len(read):
        return []
    largest = read[np.argmax(np.abs(z[read]) / now.core.model.scale[read])]
    return np.unique(owner[np.flatnonzero(Z[:, [int(largest)]].toarray().ravel())]).tolist()
