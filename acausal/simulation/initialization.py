"""Start values: left limits of the states, completed through the constraints by priority.

Fixed values and initial equations come first, then given starts, then defaults
(a default is the start declared by the class of a differentiated variable).
Given starts, or defaults, that contradict each other stay left limits: the
restart moves them with the conserved quantities kept.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ..errors import InitializationError
from ..flattening.template import place_of
from .lexicographic import forms_over_state
from .numerical import place_near

if TYPE_CHECKING:
    from .program import Program
    from .run import Run

_CONFLICT = 1e-9
MOST_ROUNDS = 40
SETTLED = 1e-13
"""Scaled change of the left limits between two rounds after which they stay."""


@dataclass(frozen=True, eq=False)
class Starts:
    """Start values of all variables (nv,), which of them must hold after the start, which were given."""

    value: np.ndarray
    fixed: np.ndarray
    given: np.ndarray
    branches: dict[int, int] = field(default_factory=dict)
    """Elements -> branches that were given for the start."""


@dataclass(frozen=True, eq=False)
class _Condition:
    """``row @ x = value`` over the selected states, with the name, size and core unknown (or -1) of what it prescribes."""

    row: np.ndarray
    value: float
    size: float
    name: str
    unknown: int = -1


def left_limits(program: Program, starts: Starts) -> tuple[np.ndarray, np.ndarray]:
    """Left limits of the core unknowns and of the integrals: fixed before given before default starts."""
    model = program.reduced
    z, rank = np.zeros(len(model.core)), np.full(len(model.core), -1)
    integrals = [o for o in model.observers if o.integral]
    q, q_rank = np.zeros(len(integrals)), np.full(len(integrals), -1)
    at = {o.unknown: n for n, o in enumerate(integrals)}
    for x in np.flatnonzero(model.differentiated | starts.fixed | starts.given).tolist():
        alias = program.unknowns.single(x)
        if alias is None:
            continue
        j, sign = alias
        k, priority = int(program.unknowns.core_index[j]), 2 * int(starts.fixed[x]) + int(starts.given[x])
        if k >= 0 and priority > rank[k]:
            z[k], rank[k] = sign * starts.value[x], priority
        elif j in at and priority > q_rank[at[j]]:
            q[at[j]], q_rank[at[j]] = integrals[at[j]].sign * sign * starts.value[x], priority
    return z, q


def guesses(program: Program, starts: Starts, z: np.ndarray) -> np.ndarray:
    """Left limits with the start values of all other variables as guesses for their core unknowns."""
    W, V = program.reduced.W_core, program.reduced.V_known
    alone = (np.diff(W.indptr) == 1) & (np.diff(V.indptr) == 0) & (starts.value != 0.0)
    found = z.copy()
    for x in np.flatnonzero(alone & ~program.reduced.differentiated).tolist():
        j, factor = int(W.indices[W.indptr[x]]), float(W.data[W.indptr[x]])
        if found[j] == 0.0:
            found[j] = starts.value[x] / factor
    return found


def held_values(program: Program, starts: Starts) -> list[tuple[int, float]]:
    """Fixed values of states as (variable, value).

    Raises
    ------
    InitializationError
        If two fixed values of one state differ.
    """
    held: dict[tuple[object, ...], tuple[int, float]] = {}
    for x in np.flatnonzero(starts.fixed).tolist():
        target = program.unknowns.settable(x)
        if target is None:
            continue
        value = float(starts.value[x])
        earlier = held.get(target[:2])
        if earlier is not None and not math.isclose(
            earlier[1] * _sign(program, earlier[0]), value * _sign(program, x)
        ):
            flat = program.flat
            names = f"`{flat.variable(earlier[0])}` = {earlier[1]:g} and `{flat.variable(x)}` = {value:g}"
            both = (*place_of(flat.root, flat.variable(earlier[0])), *place_of(flat.root, flat.variable(x)))
            raise InitializationError(
                f"{names} cannot both hold at the start", where=both, hint="drop one of the fixed values"
            )
        held[target[:2]] = (x, value)
    return list(held.values())


def _sign(program: Program, x: int) -> int:
    alias = program.unknowns.single(x)
    return 1 if alias is None else alias[1]


def complete(run: Run, starts: Starts) -> None:
    """Complete the left limits of the run through the constraints of its provisional mode.

    Raises
    ------
    InitializationError
        If fixed values and initial equations contradict the constraints.
    """
    model, data = run.core.model, run.data
    n = len(data.states)
    default = ~_chosen(run, starts) & model.differentiated
    if not n or not (default.any() or run.reduced.initials):
        return
    x, free = np.zeros(n), np.eye(n)
    scale = model.scale[data.states]
    levels = (list(_fixed(run, starts)), list(_given(run, starts)), list(_defaults(run, starts)))
    for level, conditions in enumerate(levels):
        if not conditions:
            continue
        A = np.array([c.row / c.size for c in conditions])
        b = np.array([c.value / c.size for c in conditions]) - A @ x
        M = (A * scale) @ free
        if level == 2:
            default[_clashing(conditions, A * scale, M)] = False
        step, *_ = np.linalg.lstsq(M, b, rcond=1e-12)
        miss = np.abs(M @ step - b)
        if level < 2 and (miss > _CONFLICT).any():
            names = ", ".join(c.name for c, m in zip(conditions, miss, strict=True) if m > _CONFLICT)
            if level == 1 and levels[0]:
                break  # the fixed values stay completed; given starts are left limits
            if level == 1:
                return
            raise InitializationError(
                f"the fixed values and initial equations {names} contradict the model",
                hint="drop one of them",
            )
        x = x + scale * (free @ step)
        free = free @ _null(M)
        if not free.shape[1]:
            break
    limits = data.T @ np.concatenate([x, run.y[n:]])
    run.z = np.where(default, limits, run.z)


def complete_curved(run: Run, starts: Starts) -> None:
    """Complete the left limits of a curved model: on touching models, until the point stays.

    Raises
    ------
    InitializationError
        If the starts contradict the constraints, or no point is found.
    """
    for _ in range(MOST_ROUNDS):
        before = run.z
        complete(run, starts)
        scale = run.core.model.scale + np.abs(run.z)
        if np.all(np.abs(run.z - before) <= SETTLED * scale):
            return
        place_near(run, run.z)
    raise InitializationError(
        "the start values and initial equations lead to no point of the nonlinear equations",
        hint="give starts near the solution, or fix other variables",
    )


def _clashing(conditions: list[_Condition], rows: np.ndarray, free: np.ndarray) -> list[int]:
    """Unknowns whose defaults contradict each other, nothing else being given for them: they stay left limits."""
    b = np.array([c.value / c.size for c in conditions])
    alone, *_ = np.linalg.lstsq(rows, b, rcond=1e-12)
    clash = np.abs(rows @ alone - b) > _CONFLICT
    undetermined = np.abs(free).max(axis=1, initial=0.0) > _CONFLICT
    return [
        c.unknown for c, wrong, open_ in zip(conditions, clash, undetermined, strict=True) if wrong and open_
    ]


def _null(M: np.ndarray) -> np.ndarray:
    _, s, V = np.linalg.svd(M)
    rank = int((s > 1e-12 * max(s[0], 1e-300)).sum()) if len(s) else 0
    return V[rank:].T


def _chosen(run: Run, starts: Starts) -> np.ndarray:
    """Mask over the core unknowns: an alias has a fixed or given start."""
    chosen = np.zeros(run.core.model.n, bool)
    for x in np.flatnonzero(starts.fixed | starts.given).tolist():
        target = run.program.unknowns.settable(x)
        if target is not None and target[0] == "core":
            chosen[target[1]] = True
    return chosen


def _variables(run: Run, ids: np.ndarray, values: np.ndarray) -> Iterator[_Condition]:
    data, n = run.data, len(run.data.states)
    scale = run.core.model.scale[data.states]
    for x in ids.tolist():
        if run.core.readout.observed(x):
            continue
        row = run.core.readout.rows(data, (x,))[0]
        size = float(np.max(np.abs(row[:n]) * scale, initial=0.0))
        if size > 0.0:
            name = f"`{run.flat.variable(x)}` = {values[x]:g}"
            target = run.program.unknowns.settable(x)
            unknown = target[1] if target is not None and target[0] == "core" else -1
            yield _Condition(row[:n], float(values[x] - row[n:] @ run.y[n:]), size, name, unknown)


def _fixed(run: Run, starts: Starts) -> Iterator[_Condition]:
    yield from _variables(run, np.flatnonzero(starts.fixed), starts.value)
    data, n = run.data, len(run.data.states)
    scale = run.core.model.scale[data.states]
    for rows, form in run.reduced.initials:
        count = len(run.flat.stamps[rows.stamp].vb)
        over_y = forms_over_state(run.core.form_rows(rows.first, count), data)
        for i, row in enumerate(over_y):
            size = float(np.max(np.abs(row[:n]) * scale, initial=0.0))
            if size > 0.0:
                place = run.flat.location(rows.stamp, i, form.statement.origin)
                yield _Condition(
                    row[:n], -float(row[n:] @ run.y[n:]), size, f"{form.statement.text} at {place}"
                )


def _given(run: Run, starts: Starts) -> Iterator[_Condition]:
    yield from _variables(run, np.flatnonzero(starts.given & ~starts.fixed), starts.value)


def _defaults(run: Run, starts: Starts) -> Iterator[_Condition]:
    rest = run.reduced.differentiated & ~starts.given & ~starts.fixed
    targets = ((x, run.program.unknowns.settable(x)) for x in np.flatnonzero(rest).tolist())
    ids = [x for x, t in targets if t is not None and t[0] == "core" and run.core.model.differentiated[t[1]]]
    yield from _variables(run, np.array(ids, np.int64), starts.value)


def warn_of_moved(run: Run, starts: Starts) -> None:
    """Warn of given starts that do not hold after the first instant: they counted as left limits only."""
    ids = np.flatnonzero(starts.given & ~starts.fixed).tolist()
    moved = []
    for x, value in zip(ids, run.read(tuple(ids)).tolist() if ids else (), strict=True):
        wanted = float(starts.value[x])
        if abs(value - wanted) > _CONFLICT * max(abs(value), abs(wanted)):
            moved.append(f"`{run.flat.variable(x)}` from {wanted:g} to {value:g}")
    if moved:
        warnings.warn(
            f"given starts contradict the model, which moves {', '.join(moved)} at the start;"
            " Start(value, fixed=True) makes that an error",
            stacklevel=2,
        )


def check_held(run: Run, starts: Starts) -> None:
    """Raise InitializationError unless fixed values hold after the first instant."""
    ids = tuple(np.flatnonzero(starts.fixed).tolist())
    if not ids:
        return
    values = run.read(ids)
    for x, value in zip(ids, values.tolist(), strict=True):
        wanted = float(starts.value[x])
        if abs(value - wanted) > _CONFLICT * max(abs(value), abs(wanted)):
            raise InitializationError(
                f"`{run.flat.variable(x)}` is fixed at {wanted:g} but the model gives {value:.9g} at the start",
                where=place_of(run.flat.root, run.flat.variable(x)),
                hint="other fixed values or the elements in force determine it; drop `fixed` or change them",
            )
