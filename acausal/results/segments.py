"""The segments of a run, and affine expressions in its variables along them: their values, and integrals of products of two.

Segments that share a mode share matrix products.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..dynamics.closed_form import (
    CHUNK,
    INTEGRAL,
    AffineFlow,
    Basis,
    Trajectory,
    integrate_forms,
    many_periods,
    present,
)
from ..dynamics.gram import gram
from ..dynamics.point_frame import PointFrame
from ..dynamics.quadrature import Course, integrate, rough, turns_often
from ..dynamics.readout import ReadMode, Readout
from ..errors import ParameterError
from ..reduction.rounding import SUMMED, UNIT
from ..values import frozen
from .record import Prefix, Segment, SegmentColumns

BEFORE = -1
"""Segment number of the left limit at the start."""


class Alike(NamedTuple):
    """Segments of one motion: mode, flow where they have closed forms, which they are, and states (k, ny) at their starts."""

    data: ReadMode
    flow: AffineFlow | None
    readout: Readout
    at: np.ndarray
    y0: np.ndarray


class ClosedSegments:
    """Segments along closed forms, as they were recorded in columns."""

    def __init__(self, columns: SegmentColumns) -> None:
        self._columns, self.start, self.end = columns, columns.start, columns.end

    def alike(self) -> Iterator[Alike]:
        """Segments of one motion each, in the order in which they come first."""
        numbers, first = np.unique(self._columns.motion, return_index=True)
        for m in numbers[np.argsort(first)].tolist():
            at, (data, flow) = np.flatnonzero(self._columns.motion == m), self._columns.motions[m]
            yield Alike(data, flow, self._columns.readout, at, self._columns.y[at, : flow.ny])

    def discretes(self, d: int) -> np.ndarray:
        """Values of a discrete variable."""
        return self._columns.D[self._columns.held, d]


class SegmentItems:
    """The same of single segments."""

    def __init__(self, items: Sequence[Segment]) -> None:
        self._items = items
        self.start, self.end = (np.array([getattr(s, of) for s in items], float) for of in ("start", "end"))

    def alike(self) -> Iterator[Alike]:
        """Segments of one motion each, in the order in which they come first."""
        found: dict[tuple[ReadMode, AffineFlow | None], list[int]] = {}
        for k, s in enumerate(self._items):
            flow = s.trajectory.flow if isinstance(s.trajectory, Trajectory) else None
            found.setdefault((s.data, flow), []).append(k)
        for (data, flow), at in found.items():
            y0 = np.stack([self._items[k].trajectory.y0 for k in at])
            yield Alike(data, flow, self._items[at[0]].readout, np.array(at), y0)

    def discretes(self, d: int) -> np.ndarray:
        """Values of a discrete variable."""
        return np.array([s.moment.D[d] for s in self._items])


class SegmentGroup:
    """Segments in one analysed mode with one set of numbers, and with one flow where they have closed forms.

    Attributes
    ----------
    members : (k,) array of int
    y0 : (k, ny) array
        States of all members at their starts.
    beyond : (k,) array of bool
        Members whose combination of functions is not exact over their whole length.
    """

    def __init__(self, parts: list[Alike], segments: Segments) -> None:
        self.data, self.flow, self.readout, *_ = parts[0]
        self._all = segments.all
        self.members = np.concatenate([part.at for part in parts])
        self.y0 = np.concatenate([part.y0 for part in parts])
        reach: Any = [t.reach for t in self.trajectories] if self.closed is None else self.closed.reach
        self.beyond = np.asarray(reach) < segments.length[self.members]

    @property
    def closed(self) -> AffineFlow | None:
        """The flow of all of them where it reaches as far for each."""
        return None if self.flow is None or self.flow.limited else self.flow

    @cached_property
    def trajectories(self) -> list[Course]:
        """Those of all members."""
        return [self._all[k].trajectory for k in self.members.tolist()]

    @property
    def integrated(self) -> list[Course]:
        """Those without closed forms: all of them or none."""
        return [] if self.flow else self.trajectories

    @property
    def basis(self) -> Basis:
        """Functions of which closed forms are combinations."""
        assert self.flow is not None
        return self.flow.basis

    @cached_property
    def C(self) -> np.ndarray:
        """Coefficients of all members, (k, ny, functions)."""
        if self.closed is not None and self.closed.plain:
            return self.closed.coefficients_of(self.y0)
        return np.stack([t.C for t in self.trajectories if isinstance(t, Trajectory)])

    def magnitude(self, place: np.ndarray, h1: np.ndarray) -> np.ndarray:
        """Magnitudes (ny,) by which the states of some members are rounded until the times ``h1``."""
        beyond = self.beyond[place]
        each = [self.trajectories[p].magnitude(h) for p, h in zip(place[beyond], h1[beyond], strict=True)]
        if len(each) < len(place):
            begin = np.abs(self.y0[place[~beyond]]).max(axis=0)
            assert self.flow is not None
            each.append(self.flow.magnitude(begin, float(h1[~beyond].max())))
        return np.max(each, axis=0)


Rows = Callable[[SegmentGroup], np.ndarray]
"""Affine expressions over ``y`` of a group, (m, ny)."""
Rates = Callable[[Segment, np.ndarray, np.ndarray], np.ndarray]
"""Function (k, m) of a segment, states and times."""
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Segments (k,), in order, and the times since their starts between which parts of them lie."""


@frozen
class Affine:
    """Sum of variables and time derivatives with factors, and a constant.

    Attributes
    ----------
    terms : mapping
        (variable, whether its time derivative) -> factor.
    constant : float
    """

    terms: Mapping[tuple[int, bool], float]
    constant: float

    def row(self, group: SegmentGroup) -> np.ndarray:
        """Row over ``y`` of a group, (1, ny)."""
        data, row = group.data, self._over(group, group.data.T, group.data.Ay, np.positive)
        if isinstance(data, PointFrame) or (UNIT * self.parts(group) <= SUMMED * np.abs(row)).all():
            return row
        return group.readout.combined(data, self.terms, self.constant)

    def parts(self, group: SegmentGroup) -> np.ndarray:
        """Magnitudes (1, ny) of what cancels in that row, where equations were solved for it too."""
        return self._over(group, *group.data.sizes, np.abs)

    def _over(self, group: SegmentGroup, T: np.ndarray, Ay: np.ndarray, part_of: np.ufunc) -> np.ndarray:
        W, V = group.readout.model.W_core, group.readout.VK
        states, row = len(group.data.states), np.zeros(group.y0.shape[1])
        row[states] = part_of(self.constant)
        for slope in dict.fromkeys(slope for _, slope in self.terms):
            part = np.zeros_like(row)
            for k, factor in [(k, part_of(f)) for (k, s), f in self.terms.items() if s == slope]:
                core, known = slice(*W.indptr[k : k + 2]), slice(*V.indptr[k : k + 2])
                part += (factor * part_of(W.data[core])) @ T[W.indices[core]]
                part[states + V.indices[known]] += factor * part_of(V.data[known])
            row += part @ Ay if slope else part
        return row[None]

    def plus(self, other: Affine, factor: float) -> Affine:
        """Return the sum with a multiple of another one."""
        terms = dict(self.terms)
        for key, value in other.terms.items():
            terms[key] = terms.get(key, 0.0) + factor * value
        return Affine(terms, self.constant + factor * other.constant)


ONE = Affine({}, 1.0)
Term = tuple[float, Affine, Affine]
"""Product of two affine expressions with a factor."""


@frozen
class Products:
    """Sums ``coefficient * X[factors[0]] * X[factors[1]] * ...`` of products of expressions X.

    Attributes
    ----------
    factors : (d, k) array of int
        Numbers of the expressions, two for each product at least.
    coefficient : (k,) array
    owner : (k,) array of int
        Ascending; products of one owner add up.
    """

    factors: np.ndarray
    coefficient: np.ndarray
    owner: np.ndarray

    def values(self, X: np.ndarray) -> np.ndarray:
        """Sums (..., owners) from the values (..., m) of the expressions."""
        return self._sums(self.coefficient, [X] * len(self.factors))

    def bounds(self, X: np.ndarray) -> np.ndarray:
        """Bounds of the magnitudes of the sums from those of the expressions."""
        return self._sums(np.abs(self.coefficient), [X] * len(self.factors))

    def change(self, X: np.ndarray, dX: np.ndarray) -> np.ndarray:
        """Changes (owners,) of the sums to first order, for changes ``dX`` (m,); zeros count beside unknown ``X`` too."""
        total = np.zeros(len(self.coefficient))
        for k, at in enumerate(self.factors):
            others = [X[f] for i, f in enumerate(self.factors) if i != k]
            total += np.where(dX[at] == 0.0, 0.0, self.coefficient * dX[at] * np.prod(others, axis=0))
        return self._added(total)

    def integral(self, basis: Basis, C: np.ndarray, h0: float, h1: float) -> np.ndarray:
        """Integrals (owners,) over ``[h0, h1]`` of products of two expressions ``C phi(h)``, C of shape (m, basis.size)."""
        left, right = self.factors
        return self._added(self.coefficient * ((C @ gram(basis, h0, h1))[left] * C[right]).sum(axis=1))

    def _sums(self, coefficient: np.ndarray, factors: list[np.ndarray]) -> np.ndarray:
        """Sums for values (..., m) of the expressions in the place of each factor."""
        found = coefficient * factors[0][..., self.factors[0]]
        for X, at in zip(factors[1:], self.factors[1:], strict=True):
            found *= X[..., at]
        return self._added(found)

    def _added(self, products: np.ndarray) -> np.ndarray:
        """Add products (..., k) of one owner."""
        first = np.flatnonzero(np.diff(self.owner, prepend=-1))
        return np.add.reduceat(products, first, axis=-1)


class Segments:
    """The segments of a run in order of time; the last one has no length and holds the state at the end."""

    def __init__(self, segments: Sequence[Segment]) -> None:
        self.all, self._blocks = segments, _blocks_of(segments)
        self.start = np.concatenate([np.zeros(0), *(block.start for block in self._blocks)])
        self.end = np.concatenate([np.zeros(0), *(block.end for block in self._blocks)])
        self.length = self.end - self.start
        alike: dict[tuple[ReadMode, object], list[Alike]] = {}
        begin = 0
        for block in self._blocks:
            for part in block.alike():
                alike.setdefault(part[:2], []).append(part._replace(at=begin + part.at))
            begin += len(block.start)
        self.groups = [SegmentGroup(parts, self) for parts in alike.values()]
        self.group_of, self.place = np.empty((2, len(self.start)), np.int64)
        for g, group in enumerate(self.groups):
            self.group_of[group.members] = g
            self.place[group.members] = np.arange(len(group.members))

    def __len__(self) -> int:
        return len(self.start)

    # -- affine expressions --------------------------------------------------------------------------------------

    def affine(self, rows: Rows, m: int, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values (k, m) of affine expressions at the times ``hs`` (k,) of the segments ``which`` (k,)."""
        out, of = np.empty((len(which), m)), self.group_of[which]
        for g in np.unique(of).tolist():
            group, at = self.groups[g], np.flatnonzero(of == g)
            place, expressions = self.place[which[at]], rows(group)
            beyond = group.beyond[place]
            inside = at[~beyond]
            step = max(1, CHUNK // max(1, m * group.basis.size)) if len(inside) else 1
            for k in range(0, len(inside), step):
                part = inside[k : k + step]
                out[part] = _combine(group, expressions, self.place[which[part]], hs[part])
            for p in np.unique(place[beyond]).tolist():
                some = at[place == p]
                out[some] = group.trajectories[p].sample(hs[some]) @ expressions.T
        return out

    def magnitude(self, rows: Rows, which: np.ndarray, h1: np.ndarray) -> np.ndarray:
        """Magnitudes (m,) of the terms by which affine expressions are rounded in segments until the times ``h1``."""
        found = np.zeros(1)
        for g, group in enumerate(self.groups):
            at = np.flatnonzero(self.group_of[which] == g)
            if len(at):
                terms = np.abs(rows(group)) @ group.magnitude(self.place[which[at]], h1[at])
                found = np.maximum(found, terms)
        return found

    def discretes(self, d: int) -> np.ndarray:
        """Values of a discrete variable in all segments."""
        return np.concatenate([np.zeros(0), *(block.discretes(d) for block in self._blocks)])

    # -- any variable --------------------------------------------------------------------------------------------

    def variable(self, k: int, slope: bool, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values of variable ``k``, or of its time derivative, at the times ``hs`` of the segments ``which``."""
        if not self.groups:
            return np.zeros(0)
        if self.groups[0].readout.outside[k]:
            return self._observed(k, slope, which, hs)
        return self.affine(Affine({(k, slope): 1.0}, 0.0).row, 1, which, hs)[:, 0]

    def _observed(self, k: int, slope: bool, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        out = np.empty(len(which))
        order = np.argsort(which, kind="stable")
        edges = np.flatnonzero(np.diff(which[order], prepend=-1, append=-1))
        for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            at = order[a:b]
            s = self.all[int(which[at[0]])]
            read = s.readout.slopes if slope else s.readout.values
            out[at] = read(k, s.data, s.trajectory, s.moment, hs[at])
        return out

    # -- integrals -----------------------------------------------------------------------------------------------

    def integral(
        self, f: Rates, parts: Parts, bound: Rates | None = None, name: str = INTEGRAL
    ) -> np.ndarray:
        """Integral (m,) over parts of segments of ``f(segment, ys, hs)``, of shape (k, m).

        ``bound`` gives the sum of the magnitudes of its terms, which may cancel; ``name`` is for warnings.
        """
        (which, h0, h1), total = parts, np.zeros(0)
        first = np.flatnonzero(np.diff(which, prepend=-1)).tolist()
        for i, j in pairwise([*first, len(which)]):
            s, ends = self.all[int(which[i])], np.append(h0[i:j], h1[j - 1])
            begin, end = float(ends[0]), float(ends[-1])
            noise = 0.0 if bound is None else rough(s.trajectory, partial(bound, s), begin, end)
            part = integrate(s.trajectory, partial(f, s), begin, end, noise, name, corners=ends[1:-1])
            total = total + part if len(total) else part
        return total

    def integral_of_products(self, rows: Rows, products: Products, a: float, b: float) -> np.ndarray:
        """Integral (owners,) over [a, b] of sums of products of affine expressions."""
        which, h0, h1 = self.overlap(a, b)
        total: np.ndarray | float = 0.0
        for g, group in enumerate(self.groups):
            at = np.flatnonzero(self.group_of[which] == g)
            if len(at):
                place = self.place[which[at]]
                total = total + _group_integral(group, rows(group), products, place, h0[at], h1[at])
        return np.asarray(total)

    def integral_of_sum(self, terms: Sequence[Term], a: float, b: float) -> float:
        """Integral over [a, b] of a sum of products of two affine expressions."""
        place: dict[Affine, int] = {}
        for term in terms:
            for x in term[1:]:
                place.setdefault(x, len(place))
        factors = np.array([[place[left], place[right]] for _, left, right in terms]).T
        products = Products(factors, np.array([c for c, _, _ in terms]), np.zeros(len(terms), np.int64))
        return float(
            self.integral_of_products(lambda g: np.vstack([x.row(g) for x in place]), products, a, b)[0]
        )

    def overlap(self, a: float, b: float) -> Parts:
        """Segments with a part of [a, b], and the times since their starts between which it lies."""
        h0, h1 = np.maximum(a, self.start) - self.start, np.minimum(b, self.end) - self.start
        which = np.flatnonzero(h1 > h0)
        return which, h0[which], h1[which]

    @cached_property
    def edges(self) -> tuple[np.ndarray, np.ndarray]:
        """Segments and times since their starts at which panels end: graded where functions decay, at steps of a solver."""
        of, hs, slow = [np.zeros(0, np.int64)], [np.zeros(0)], self.length <= 0.0
        for group in self.groups:
            if group.flow:
                slow[group.members] |= group.basis.slow(self.length[group.members])
        for k in np.flatnonzero(~slow).tolist():
            hs.append(self.all[k].trajectory.edges(0.0, float(self.length[k]))[1:-1])
            of.append(np.full(len(hs[-1]), k))
        return np.concatenate(of), np.concatenate(hs)

    # -- where a time lies ---------------------------------------------------------------------------------------

    def locate(self, t: np.ndarray, side: str) -> tuple[np.ndarray, np.ndarray]:
        """Segments and times since their starts for times within the run; -1 for the left limit at the start."""
        which = np.searchsorted(self.start, t, side="right" if side == "right" else "left") - 1
        inside = np.clip(which, 0, len(self) - 1)
        return which, np.clip(t - self.start[inside], 0.0, self.length[inside])


def _blocks_of(segments: Sequence[Segment]) -> list[ClosedSegments | SegmentItems]:
    """What a record, or a list, consists of, as columns."""
    parts: list[Any] = [segments]
    if isinstance(segments, Prefix):
        items: Any = segments.items
        # Lists may have grown since; columns do not.
        parts = [
            part[: segments.taken - begin] if isinstance(part, list) else part
            for part, begin in zip(items.parts, items.begins, strict=True)
            if begin < segments.taken
        ]
        parts.append(segments.last)
    closed = [isinstance(part, SegmentColumns) for part in parts]
    return [
        ClosedSegments(part) if as_columns else SegmentItems(part)
        for part, as_columns in zip(parts, closed, strict=True)
        if as_columns or part
    ]


def _combine(group: SegmentGroup, rows: np.ndarray, place: np.ndarray, hs: np.ndarray) -> np.ndarray:
    """Expressions (m, ny) at one time each of some members."""
    phi = group.basis.sample(hs)
    used, at = np.unique(place, return_inverse=True)
    coefficients = rows @ group.C[used]
    found = np.einsum("kf,kmf->km", phi, coefficients[at])
    # At a start the states themselves are known: what begins at zero shows no rounding of coefficients.
    begin = hs == 0.0
    if begin.any():
        found[begin] = group.y0[place[begin]] @ rows.T
    return found


def _group_integral(
    group: SegmentGroup,
    rows: np.ndarray,
    products: Products,
    place: np.ndarray,
    h0: np.ndarray,
    h1: np.ndarray,
) -> np.ndarray:
    """Integral of sums of products of expressions (m, ny) over parts of some members."""
    total: np.ndarray | float = 0.0
    inside = np.flatnonzero(~group.beyond[place])
    step = max(1, CHUNK // (len(rows) * group.basis.size)) if len(inside) else 1
    for k in range(0, len(inside), step):
        part = inside[k : k + step]
        noise = SUMMED * products.bounds(_form_bounds(group, rows, place[part], h0[part], h1[part]))
        C = present(rows, group.C[place[part]])
        many = many_periods(group.basis, C, h1[part] - h0[part])
        for i in np.flatnonzero(many).tolist():
            total = total + products.integral(group.basis, C[i], float(h0[part[i]]), float(h1[part[i]]))
        part, C = part[~many], C[~many]
        if len(part):
            total = total + integrate_forms(group.basis, C, products.values, h0[part], h1[part], noise[~many])
    for i in np.flatnonzero(group.beyond[place]).tolist():
        trajectory = group.trajectories[int(place[i])]
        begin, end = float(h0[i]), float(h1[i])
        if isinstance(trajectory, Trajectory) and turns_often(trajectory, begin, end):
            for start, piece in trajectory.pieces(end):
                at = max(begin - start, 0.0), min(end - start, piece.reach)
                if at[1] > at[0]:
                    total = total + products.integral(piece.flow.basis, present(rows, piece.C), *at)
            continue
        noise = rough(trajectory, lambda ys, _: products.bounds(np.abs(ys) @ np.abs(rows).T), begin, end)
        total = total + integrate(
            trajectory, lambda ys, _: products.values(present(ys, rows.T)), begin, end, noise=noise
        )
    return np.asarray(total)


def _form_bounds(
    group: SegmentGroup, rows: np.ndarray, place: np.ndarray, h0: np.ndarray, h1: np.ndarray
) -> np.ndarray:
    """Sums of the magnitudes of all terms of the expressions on parts of some members, (k, m)."""
    envelope = group.basis.envelope(h0[:, None], h1[:, None])
    return np.einsum("kyf,kf->ky", np.abs(group.C[place]), envelope) @ np.abs(rows).T


def few(segments: Sequence[Segment], t: np.ndarray, side: str) -> tuple[Segments, np.ndarray, np.ndarray]:
    """Segments in which few times lie, which of them each does, and the times since their starts."""
    find = bisect_right if side == "right" else bisect_left
    numbers = [find(segments, x, key=lambda s: s.start) - 1 for x in t.tolist()]
    some = sorted({max(k, 0) for k in numbers})
    parts = Segments([segments[k] for k in some])
    which = np.array([BEFORE if k < 0 else some.index(k) for k in numbers], np.int64)
    inside = np.maximum(which, 0)
    return parts, which, np.clip(t - parts.start[inside], 0.0, parts.length[inside])


def window(t0: float | None, t1: float | None, t_start: float, t_end: float) -> tuple[float, float]:
    """Return the window [t0, t1] of a run, by default all of it.

    Raises
    ------
    ParameterError
        If it is empty or not inside the run.
    """
    try:
        a, b = (x if t is None else t + 0.0 for t, x in ((t0, t_start), (t1, t_end)))
        a, b = float(a), float(b)
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(f"a window is two times in seconds, got {t0!r} and {t1!r}") from error
    # Ends that are multiples of a period carry its rounding.
    slack = 4.0 * float(np.spacing(max(abs(t_start), abs(t_end))))
    a, b = a if a < t_start - slack else max(a, t_start), b if b > t_end + slack else min(b, t_end)
    if not t_start <= a < b <= t_end:
        raise ParameterError(
            f"the window {a:g} .. {b:g} s must lie within the run, {t_start:g} .. {t_end:g} s, and not be empty"
        )
    return a, b
