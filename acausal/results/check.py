"""Does a result satisfy the model as it is written? Equations, branches, requirements, motion and energy, at any points."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from ..compilation.residual import Residual
from ..dynamics.noise import LOCATED
from ..dynamics.quadrature import Course
from ..errors import ConsistencyError, Location, ParameterError
from ..modeling.statements import Reinit
from ..reduction.rounding import ROUNDING, TINY
from .energy import balances, jumps_within, unknown_at_start
from .equations import FLOOR, EquationsAt, EvaluatedRows
from .names import Names
from .power import generator_of, read_impulses
from .rounding import rounded
from .segments import Segments

EXACT = 1e-9
"""Allowed defect relative to the largest term in the run: rounding, with the digits that differences lose."""
STEPS = 10.0
"""Allowed defect of what is integrated, in units of the relative tolerance of the run."""
ABSOLUTE = 1e-2
"""Share of the largest variable of its unit below which a variable is integrated with an absolute tolerance."""
GIVEN = ("fixed=True", "initial=", "given start")
"""What values that hold from outside follow from."""
SHOWN = 12
"""Lines of a report."""
MOST_HALVINGS = 26
"""Of both parts of an interval over which a derivative is integrated: what is left is a float of its length."""
_LEGENDRE = np.polynomial.Legendre.basis(8)
NODES = np.concatenate([[-1.0], np.sort(_LEGENDRE.deriv().roots().real), [1.0]])
"""Of Gauss and Lobatto: a motion that is over before the first node within an interval shows in the slope at its begin."""
WEIGHTS = 2.0 / (9 * 8 * _LEGENDRE(NODES) ** 2)
EVEN = [np.linspace(0.0, 1.0, parts + 1) for parts in (1, 2, 4, 8)]
"""Edges of equal parts of an interval."""
GRADED = np.concatenate([[0.0], 0.25 ** np.arange(MOST_HALVINGS, -1.0, -1.0)])
"""Edges of parts that grow: what dies within any time after the begin shows in one of them."""
GOLDEN = 0.6180339887498949
"""Spreads points so that no pulse pattern is in step with them."""


@dataclass(frozen=True)
class Defect:
    """How far one statement is from being satisfied, where it is worst.

    Attributes
    ----------
    kind : str
        "equation"; "branch" (a statement with branches whose guard says that it has to leave the one in force, or
        that left one although nothing tells the next one from it);
        "relation" (a comparison that equations read with another value than it has); "requirement"; "motion" (a
        differentiated variable moves otherwise than its derivative says); "conservation" (an equation integrated over an
        instant: what moves is not what the impulses carry); "energy" (of all parts in an instant, or of the run).
    name : str
        What the statement says, with its component.
    where : Location
        Path, file and line.
    t : float
        Time in seconds.
    side : str
        "left" or "right" limit.
    value : float
        The defect in the unit of the statement.
    relative : float
        The same over the largest term that the statement has in the run.
    allowed : float
        Largest relative defect that counts as rounding, or as the tolerance of integration.
    """

    kind: str
    name: str
    where: Location
    t: float
    side: str
    value: float
    relative: float
    allowed: float

    @property
    def ok(self) -> bool:
        """Whether the statement is satisfied."""
        return self.relative <= self.allowed

    def __str__(self) -> str:
        return f"{self.relative:9.2g} {self.allowed:8.1g}  {self.kind:<11} t = {self.t:<13.9g} {self.name} ({self.where})"


class Consistency(tuple[Defect, ...]):
    """Defects of a result, the worst first: one per statement of the model. Printed, a table with a verdict.

    Attributes
    ----------
    unchecked : tuple of str
        What could not be looked at, and why.
    """

    unchecked: tuple[str, ...]

    def __new__(cls, defects: Iterable[Defect] = (), unchecked: Iterable[str] = ()) -> Consistency:
        """Return the report of some defects."""
        made = super().__new__(cls, defects)
        made.unchecked = tuple(unchecked)
        return made

    def __getnewargs__(self) -> tuple[tuple[Defect, ...], tuple[str, ...]]:
        return tuple(self), self.unchecked

    @property
    def ok(self) -> bool:
        """Whether all statements are satisfied."""
        return all(d.ok for d in self)

    def require(self) -> None:
        """Raise ConsistencyError for the worst defect unless all statements are satisfied."""
        if not self.ok:
            d = self[0]
            raise ConsistencyError(
                f"the result does not satisfy the model: {d.kind} `{d.name}` at t = {d.t:.9g} s ({d.side} limit)",
                where=(d.where,),
                why=f"its defect {d.value:.6g} is {d.relative:.3g} of its largest term, allowed are {d.allowed:.1g}",
                t=d.t, value=d.value, relative=d.relative, allowed=d.allowed,
            )  # fmt: skip

    def __repr__(self) -> str:
        wrong = sum(not d.ok for d in self)
        verdict = f"{wrong} are not satisfied" if wrong else "all are satisfied"
        lines = [f"{len(self)} statements, {verdict}", f"{'defect':>9} {'allowed':>8}"]
        lines += [str(d) for d in self[: max(SHOWN, min(wrong, 4 * SHOWN))]]
        lines += [f"not checked: {text}" for text in self.unchecked]
        return "\n".join(lines)


@np.errstate(all="ignore")  # defects that are not finite are reported
def check(result: Any, residual: Residual, read: Any, points: Any) -> Consistency:
    """Compare the values of a result with its model as written; `Result.check`."""
    segments = result.segments
    times = _times(points, result.t_start, result.t_end)
    looked = _points(segments, times, points if np.ndim(points) == 0 else None)
    tolerance = max((_tolerance(t) for g in segments.groups for t in g.integrated), default=0.0)
    integrated = max(EXACT, STEPS * tolerance)
    at = EquationsAt(residual, result, read)
    rows = at.rows(looked)
    found = [*_rows(at, rows, looked, integrated), *_instants(at, rows.sizes, integrated)]
    found += _left_for_nothing(at, rows, integrated)
    found += _motion(residual, read, segments, times, rows, integrated)
    found += _energy(result, times, integrated)
    order = sorted(found, key=lambda d: -(d.relative / d.allowed if np.isfinite(d.relative) else np.inf))
    unknown = [
        f"the energy into `{path}` at the start, where contradicting start values leave its limits open"
        for path in unknown_at_start(result)
    ]
    return Consistency(order, unknown)


def _times(points: Any, a: float, b: float) -> np.ndarray:
    if np.ndim(points) == 0:
        if isinstance(points, bool) or not isinstance(points, (int, np.integer)) or points < 1:
            raise ParameterError(f"points is a positive number, or times, got {points!r}")
        return a + (b - a) * np.sort(np.modf((np.arange(int(points)) + 0.5) * GOLDEN)[0])
    t = np.unique(np.asarray(points, float))
    if not len(t) or not ((t >= a) & (t <= b)).all():
        raise ParameterError(f"the points of a check are times within the run, {a:g} to {b:g} s")
    return t


def _points(segments: Segments, times: np.ndarray, most: int | None) -> list[tuple[np.ndarray, str]]:
    """Times with a side each: those given, next to events, and the middle of the first visit of every mode.

    In an instant itself a strict condition that begins to hold is not told from one that does not.
    """
    # An event is located to adjacent floats of time, before which nothing has happened yet. What is no longer than that has no
    # point of which it is known whether it lies before an event or behind it.
    lasting = segments.length > 2.0 * LOCATED * np.spacing(segments.end)
    if not lasting.any():
        return [(segments.start[:1], "right")]
    edges = np.unique(np.concatenate([segments.start, segments.end]))
    length, located = np.diff(edges), LOCATED * np.spacing(edges[1:])
    some, inside = np.flatnonzero(length > 2.0 * located), np.maximum(EXACT * length, located)
    halfway = 0.5 * (segments.start + segments.end)
    middles = [halfway[g.members[lasting[g.members]][:1]] for g in segments.groups]
    if most is not None and len(edges) > most:
        some = some[np.unique(np.linspace(0, len(some) - 1, most).astype(np.int64))]
    begins, ends = (edges[:-1] + inside)[some], (edges[1:] - inside)[some]
    # No stretch follows the end, so that relations after an event there are not known.
    after = np.concatenate([times[times < segments.end[lasting][-1]], begins, *middles])
    return [(np.unique(after), "right"), (ends, "left")]


def _rows(
    at: EquationsAt, rows: EvaluatedRows, points: list[tuple[np.ndarray, str]], integrated: float
) -> Iterable[Defect]:
    """Equations, guards and requirements, each where it is worst."""
    r = at.residual
    t = np.concatenate([p for p, _ in points])
    sides = [side for p, side in points for _ in range(len(p))]
    n, g = len(r.equations), len(r.guard_table)
    values = rows.values.copy()
    values[:, :n] = np.abs(values[:, :n])
    # A guard counts in its branch alone, where it must not be negative.
    values[:, n:] = np.where(np.isnan(values[:, n:]), values[:, n:], np.maximum(0.0, -values[:, n:]))
    for k, guard in enumerate(r.guard_table, n):
        values[rows.modes[:, guard.entry] != guard.branch, k] = 0.0
    largest = rows.terms.max(axis=0, initial=0.0)
    values = np.where(np.isnan(values), np.inf, values)
    for k in np.flatnonzero((values > EXACT * largest).any(axis=0)).tolist():
        values[:, k] = np.maximum(0.0, values[:, k] - at.rounded(points, k))
    for k, worst in enumerate(values.argmax(axis=0).tolist() if len(values) else []):
        value = float(values[worst, k])
        relative = value / largest[k] if largest[k] > 0.0 else np.inf * value if value else 0.0
        if k < n:
            kind, name, where, allowed = "equation", r.equations[k].name, r.equations[k].place, EXACT
        elif k < n + g:
            guard = r.guard_table[k - n]
            entry = r.modes[guard.entry]
            kind, where = "relation" if entry.kind == "relation" else "branch", entry.place
            name, allowed = f"{entry.name}: {entry.branches[guard.branch]} while {guard.text}", integrated
        else:
            required = r.requirement_table[k - n - g]
            kind, name, where, allowed = "requirement", required.name, required.place, integrated
        yield Defect(kind, name, where, float(t[worst]), sides[worst], value, float(relative), allowed)


def _left_for_nothing(at: EquationsAt, rows: EvaluatedRows, integrated: float) -> Iterable[Defect]:
    """Branches that were left in an instant after which nothing tells the next one from them, whose own guards hold again.

    Friction that breaks away moves: one that slides at no speed would hold less than it does at rest.
    """
    r, (begin, end) = at.residual, (at.edges[1:-1], at.edges[2:])
    before, after = at.shown(begin, "left"), at.shown(begin, "right")
    n, largest = len(r.equations), rows.terms.max(axis=0, initial=0.0)
    ways: dict[tuple[int, int, int], list[int]] = {}
    for k, guard in enumerate(r.guard_table, n):
        ways.setdefault((guard.entry, guard.branch, guard.target), []).append(k)
    left = []
    for (entry, branch, target), own in ways.items():
        back = ways.get((entry, target, branch), [])
        which = np.flatnonzero((before[:, entry] == branch) & (after[:, entry] == target))
        if back and len(which):
            inside = begin[which, None] + (end - begin)[which, None] * np.array([1.0 - GOLDEN, GOLDEN])
            left.append((entry, branch, target, own, back, which, inside))
    if not left:
        return
    # All at once: reading every variable costs most.
    times = np.unique(np.concatenate([inside.ravel() for *_, inside in left]))
    there = at.rows([(times, "right")])
    for entry, branch, target, own, back, which, inside in left:
        k = np.searchsorted(times, inside)[..., None]
        small = EXACT * np.maximum(there.terms[k, back], FLOOR * largest[back])
        untold = (np.abs(there.values[k, back]) <= small).all(axis=(1, 2))
        relative = (there.values[k, own] / np.maximum(largest[own], TINY)).min(axis=(1, 2))
        held = np.where(untold, relative, 0.0)
        worst = int(np.argmax(held))
        if held[worst] > 0.0:
            mode, guard = r.modes[entry], r.guard_table[own[0] - n]
            text = f"{mode.name}: {mode.branches[branch]} left for {mode.branches[target]} while {guard.text}"
            defect, size, t = float(held[worst]), float(largest[own[0]]), float(begin[which[worst]])
            yield Defect("branch", text, mode.place, t, "right", defect * size, defect, integrated)


def _motion(
    residual: Residual,
    read: Any,
    segments: Segments,
    times: np.ndarray,
    rows: EvaluatedRows,
    integrated: float,
) -> Iterable[Defect]:
    """Differentiated variables against the integrals of their derivatives over parts of segments."""
    end = segments.end[-1] if len(segments) else 0.0
    which, h0 = segments.locate(times[times < end], "right")
    which, h0 = which[segments.length[which] > h0], h0[segments.length[which] > h0]
    if not len(which):
        return
    h1 = np.array([_stretch(segments, int(k), float(h)) for k, h in zip(which, h0, strict=True)])
    tolerances = np.array([_tolerance(segments.all[k].trajectory) for k in which])
    exact = tolerances == 0.0
    allowed = np.where(exact, EXACT, integrated)
    nx = len(residual.x)
    share = FLOOR if exact.all() else ABSOLUTE
    sizes = np.maximum(rows.sizes, share * rows.of_unit)[nx : 2 * nx]
    kept = [(name, size) for name, size in zip(residual.x.names, sizes.tolist(), strict=True) if size]
    x, slopes = [read(n).source for n, _ in kept], [read(f"der({n})").source for n, _ in kept]
    rates = rounded(segments, [s.affine() for s in slopes], which, h1)
    small = EXACT * np.array([size for _, size in kept])
    # What is integrated is as exact as asked for, and so are the terms of slopes: those of fast changes cancel in them.
    missed = rates * (tolerances / ROUNDING)
    for (name, size), off in zip(kept, _moved(x, slopes, (rates, missed), which, h0, h1, small), strict=True):
        defect = off / size
        k = int(np.argmax(np.where(np.isnan(defect), np.inf, defect / allowed)))
        relative = float(defect[k]) if np.isfinite(defect[k]) else np.inf
        t = float(segments.start[which[k]] + h0[k])
        yield Defect(
            "motion", f"der({name})", Location(name.rpartition(".")[0]), t, "right", relative * size, relative,
            float(allowed[k]),
        )  # fmt: skip


def _tolerance(motion: Course) -> float:
    """Relative tolerance with which a motion was integrated, zero for a closed form."""
    return 100.0 * motion.precision if motion.reach < 0.0 else 0.0


def _stretch(segments: Segments, k: int, h: float) -> float:
    """End of the part of a segment over which a derivative is integrated: that of a panel of steps, or of the segment."""
    trajectory, length = segments.all[k].trajectory, float(segments.length[k])
    if trajectory.reach >= 0.0:
        return length
    edges = trajectory.edges(h, length)
    return float(edges[1]) if len(edges) > 2 else length


def _moved(
    x: list[Any], slopes: list[Any], off: tuple[np.ndarray, np.ndarray], which: np.ndarray, h0: np.ndarray,
    h1: np.ndarray, small: np.ndarray,
) -> np.ndarray:  # fmt: skip
    """Differences (variables, k) of movements and integrals of slopes that rounding and steps may put ``off`` by so much.

    Intervals are made shorter until two quadratures agree and rounding of the slopes is small. What swings many times within
    one, or dies before their first nodes, lets two agree by chance: where they differ from the movement parts of parts have to
    agree too, and parts that grow from the begin. All variables are read at the same times one after the other: an integrated
    motion is solved once there.
    """
    rates, missed = off
    defect, rough, end = np.zeros(rates.shape), np.ones(rates.shape, bool), h1.copy()
    for halvings in range(MOST_HALVINGS + 1):
        open_, left = np.flatnonzero(rough.any(axis=1)), np.flatnonzero(rough.any(axis=0))
        if not len(left):
            break
        at, k, a, b = np.ix_(open_, left), which[left], h0[left], end[left]
        some = [slopes[i] for i in open_]
        each = [_integrals(some, k, a, b, parts) for parts in EVEN[:2]]
        noise, halves = np.maximum(_unlike(each), rates[at] * (b - a)), each[1].sum(axis=1)
        both, edges = np.tile(k, 2), np.concatenate([a, b])
        moved = np.array([np.diff(x[i].evaluate(both, edges).reshape(2, -1), axis=0)[0] for i in open_])
        differs = np.abs(moved - halves) - missed[at] * (b - a)
        doubted = np.flatnonzero((rough[at] & ~(differs - noise <= small[open_, None])).any(axis=0))
        if len(doubted):
            *again, graded = [
                _integrals(some, k[doubted], a[doubted], b[doubted], parts) for parts in (*EVEN[1:], GRADED)
            ]
            missed_by = np.abs(graded.sum(axis=1) - halves[:, doubted])
            noise[:, doubted] = np.maximum(noise[:, doubted], np.maximum(_unlike(again), missed_by))
        more = (noise > small[open_, None]) & (halvings < MOST_HALVINGS)
        ready = rough[at] & ~more
        defect[at] = np.where(ready, np.maximum(0.0, differs - noise), defect[at])
        rough[at] &= more
        end[left] = a + 0.25 * (b - a)
    return defect


def _integrals(
    slopes: list[Any], which: np.ndarray, a: np.ndarray, b: np.ndarray, parts: np.ndarray
) -> np.ndarray:
    """Integrals (variables, parts, k) over parts of [a, b] of segments ``which`` (k,), with edges between 0 and 1."""
    edges = a + (b - a) * parts[:, None]
    hs = 0.5 * ((edges[:-1] + edges[1:])[..., None] + np.diff(edges, axis=0)[..., None] * NODES)
    each, times = np.tile(np.repeat(which, len(NODES)), len(parts) - 1), hs.ravel()
    values = np.array([s.evaluate(each, times).reshape(hs.shape) @ WEIGHTS for s in slopes])
    return 0.5 * np.diff(edges, axis=0) * values


def _unlike(each: list[np.ndarray]) -> np.ndarray:
    """By how much parts of integrals (variables, parts, k) differ from their halves, which are the next ones, at most in all."""
    found = [np.abs(a - b[:, ::2] - b[:, 1::2]).sum(axis=1) for a, b in pairwise(each)]
    return np.max(found, axis=0)


def _instants(at: EquationsAt, sizes: np.ndarray, integrated: float) -> Iterable[Defect]:
    """Equations integrated over instants in which something jumps: movements against the time integrals of impulses.

    Those of elements do not hold while a branch changes, nor those with the derivative of a variable that is set from outside:
    by an action, or at the start by the value that is given for it.
    """
    r, result = at.residual, at.result
    jumps = jumps_within(result, -np.inf, result.t_end)
    if not jumps:
        return
    names, flat = result.names, result.names.flat
    x, w = (tuple(names.find(n).index for n in q.names) for q in (r.x, r.w))
    rows, columns = at.places
    base = len(flat.ptr) - 1 + sum(1 for _ in flat.statements("residuals"))
    usable = np.ones(base, bool)
    actions = _set_by_actions(names)
    usable[rows[_with_slope(rows, columns, base, x, actions)]] = False
    given = rows[_with_slope(rows, columns, base, x, {names.find(path).index for path in _given(result)})]
    totals, largest = np.zeros((len(jumps), base)), np.zeros(base)
    times = np.array([t for t, _, _ in jumps])
    slopes = zip(at.slopes(times, "left"), at.slopes(times, "right"), strict=True)
    for n, ((t, jump, segment), (before, after)) in enumerate(zip(jumps, slopes, strict=True)):
        _, _, impulses, movements = read_impulses(
            jump, segment.readout, generator_of(segment.data), segment.moment, (*x, *w), x)  # fmt: skip
        terms = after * np.concatenate([movements, impulses])[columns]
        changed = rows[~np.isclose(before, after, rtol=EXACT, atol=0.0)]
        inside = (rows < base) & ~np.isin(rows, [*changed, *given] if t == result.t_start else changed)
        np.add.at(totals[n], rows[inside], terms[inside])
        # A movement is known as well as the values between which it lies, an impulse as well as others of its unit.
        own = np.abs(np.concatenate([movements, impulses]))
        known = np.maximum(own, FLOOR * at.of_unit(own))
        known[: len(x)] = np.maximum(known[: len(x)], sizes[len(x) : 2 * len(x)])
        np.maximum.at(largest, rows[inside], np.abs(after * known[columns])[inside])
    for k in np.flatnonzero(usable & (largest > 0.0)).tolist():
        n = int(np.argmax(np.abs(totals[:, k])))
        value, equation = abs(float(totals[n, k])), r.equations[k]
        yield Defect(
            "conservation", equation.name, equation.place, jumps[n][0], "right", value, value / float(largest[k]),
            integrated,
        )  # fmt: skip


def _with_slope(
    rows: np.ndarray, columns: np.ndarray, base: int, x: tuple[int, ...], which: set[int]
) -> np.ndarray:
    """Mask of the entries in equations that hold the derivative of one of some variables."""
    return (rows < base) & np.isin(columns, [k for k, i in enumerate(x) if i in which])


def _given(result: Any) -> list[str]:
    """Differentiated variables whose values at the start are given, and hold: others follow with the impulse that this takes."""
    states = set(result.names.states)
    return [
        e.path for e in result.initial.entries if e.path in states and e.before is None and e.reason in GIVEN
    ]


def _set_by_actions(names: Names) -> set[int]:
    """Variables of ``reinit``."""
    flat = names.flat
    chains = (
        (k, i, action)
        for k, i, chain in flat.statements("whens")
        for _, actions in chain.branches
        for action in actions
    )
    return {flat.symbol(k, i, "v", action.target) for k, i, action in chains if isinstance(action, Reinit)}


def _energy(result: Any, times: np.ndarray, integrated: float) -> Iterable[Defect]:
    """Energies into all parts: they sum to zero within every instant, and over the run."""
    for text, t, total, size in balances(result, times):
        if size > 0.0:
            yield Defect(
                "energy", text, Location(result.label), t, "right", abs(total), abs(total) / size, integrated
            )
