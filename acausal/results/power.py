"""Power into the ports of components: sums of products of variables and time derivatives, numbered for many parts at once."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from math import prod
from typing import Any

import numpy as np

from ..dynamics.point_frame import PointFrame
from ..dynamics.readout import Moment, ReadMode, Readout
from ..errors import DeclarationError
from ..flattening.flat_model import Batch, kind_of
from ..flattening.locating import locate_symbol
from ..flattening.template import Template
from ..modeling.expressions import Expr, Symbol, fold
from ..values import frozen
from .record import Jump, Segment
from .rounding import rounded
from .segments import Affine, Products, SegmentGroup, Segments

Factor = tuple[bool, int]
"""(whether its time derivative, number of a variable)."""
Polynomial = dict[tuple[Factor, ...], Any]
"""Products of variables of a template -> factor, a number or one per instance."""
Instances = Sequence[tuple[int, np.ndarray]]
"""(batch, instances)."""
Term = tuple[list[tuple[bool, np.ndarray]], np.ndarray, np.ndarray]
"""Factors (k,), coefficients and owners of like products of instances."""


@frozen
class Powers:
    """Powers of parts as sums of products.

    The expressions are values (first) and time derivatives (then) of variables, and the number one (last). The owner of a
    product is the number of the part whose power it is.

    Attributes
    ----------
    ids, slopes : tuple of int
    products : Products
    exact : bool
        All expressions are affine and no product has more than two: integrals along closed forms have one too.
    """

    ids: tuple[int, ...]
    slopes: tuple[int, ...]
    products: Products
    exact: bool

    @property
    def owners(self) -> np.ndarray:
        """Parts that have a product, in the order of the sums."""
        return np.unique(self.products.owner)

    def along(self, segment: Segment, ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Powers (k, owners) at the states ``ys`` (k, ny) and times ``hs`` (k,) of a segment."""
        return self.products.values(self._expressions(segment, ys, hs))

    def bounds(self, segment: Segment, ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Sums of the magnitudes of the terms of the powers."""
        return self.products.bounds(np.abs(self._expressions(segment, ys, hs)))

    def _expressions(self, s: Segment, ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
        found = s.readout.columns(self.ids, self.slopes, s.data, s.trajectory, s.moment, hs, ys)
        return np.hstack([*found, np.ones((len(hs), 1))])

    def within(self, segments: Segments, hs: np.ndarray) -> np.ndarray:
        """Powers (k, owners) at one time since its start in each of all segments."""
        every = np.arange(len(segments))
        if self.exact:
            m = len(self.ids) + len(self.slopes) + 1
            return self.products.values(segments.affine(self._rows, m, every, hs))
        each = zip(segments.all, hs.tolist(), strict=True)
        return np.vstack([self.along(s, s.trajectory.sample(np.array([h])), np.array([h])) for s, h in each])

    def rounding(self, segments: Segments, hs: np.ndarray) -> float:
        """By how much the sum of all energies may be off because the terms cancel by which factors are read.

        What is read by one row is off alike, which largely cancels in the sum: a flow takes from one part what it gives to
        the next. Factors count with their values at one time since its start in each segment.
        """
        if not self.exact:
            return 0.0
        every = np.arange(len(segments))
        read = [
            Affine({(k, slope): 1.0}, 0.0)
            for slope, ids in ((False, self.ids), (True, self.slopes))
            for k in ids
        ]
        off = np.vstack([rounded(segments, read, every, hs), np.zeros(len(segments))])
        values = segments.affine(self._rows, len(off), every, hs)
        moved = self.products.bounds(off.T).sum(axis=1)
        for group in segments.groups:
            at, (sign, first, alike) = group.members, _alike(self._rows(group))
            each = np.zeros((len(first), len(at)))
            np.add.at(each, alike, (self._slopes(values[at]) * sign).T)
            moved[at] += (np.abs(each) * off[first][:, at]).sum(axis=0)
        return float(segments.length @ moved)

    def _slopes(self, X: np.ndarray) -> np.ndarray:
        """Derivatives (k, m) of the sum of all powers by the expressions (k, m), in products of two."""
        (left, right), found = self.products.factors, np.zeros(X.shape[::-1])
        np.add.at(found, left, (self.products.coefficient * X[:, right]).T)
        np.add.at(found, right, (self.products.coefficient * X[:, left]).T)
        return found.T

    def integral(self, segments: Segments, a: float, b: float) -> np.ndarray:
        """Energies (owners,) over [a, b] without those of impulses."""
        if self.exact:
            return segments.integral_of_products(self._rows, self.products, a, b)
        return segments.integral(self.along, segments.overlap(a, b), self.bounds, "energy")

    def _rows(self, group: SegmentGroup) -> np.ndarray:
        """Affine expressions over ``y`` of a group, (expressions, ny)."""
        readout, data = group.readout, group.data
        values, rates = readout.rows(data, self.ids), readout.slope_rows(data, self.slopes)
        one = np.zeros((1, values.shape[1]))
        one[0, len(data.states)] = 1.0
        parts = (values, rates, one)
        return np.vstack([part if isinstance(part, np.ndarray) else part.toarray() for part in parts])

    def at_jump(self, jump: Jump, readout: Readout, generator: np.ndarray, moment: Moment) -> np.ndarray:
        """Energies (owners,) that the impulses of a micro-step carry, with the generator of the sources."""
        values, slopes, impulses, movements = read_impulses(
            jump, readout, generator, moment, self.ids, self.slopes
        )
        # Older files have no impulses of parts.
        if jump.apart is not None and len(jump.apart) > 2:
            impulses = jump.apart[2, list(self.ids)]
        return self.products.change(
            np.concatenate([values, slopes, [1.0]]), np.concatenate([impulses, movements, [0.0]])
        )


def _alike(rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Signs of rows (m, ny), the first of those that are equal or negatives of each other, and which of these each is."""
    sign = np.sign(rows[np.arange(len(rows)), (rows != 0.0).argmax(axis=1)])
    _, first, alike = np.unique(rows * sign[:, None], axis=0, return_index=True, return_inverse=True)
    return sign, first, alike.ravel()


def powers_of(readout: Readout, instances: Instances) -> list[Powers]:
    """Return the powers of parts, which are numbered in the order given: first what is exact, then the others.

    Raises
    ------
    DeclarationError
        If the power of a port is no sum of products.
    """
    terms: dict[bool, list[Term]] = {True: [], False: []}
    number = 0
    for k, at in instances:
        batch = readout.model.flat.batches[k]
        numbers = np.arange(number, number + len(at))
        number += len(at)
        for factors, coefficient in _polynomial(batch, at, readout.P).items():
            variables = [(slope, batch.vb[at] + local) for slope, local in factors]
            affine = np.full(len(at), len(factors) <= 2)
            for _, ids in variables:
                affine &= ~readout.outside[ids]
            each = np.broadcast_to(coefficient, at.shape)
            for exact in (True, False):
                some = affine == exact
                if some.any():
                    sides = [(slope, ids[some]) for slope, ids in variables]
                    terms[exact].append((sides, each[some], numbers[some]))
    return [_numbered(found, exact) for exact, found in terms.items() if found]


def _numbered(terms: list[Term], exact: bool) -> Powers:
    """Powers with the number of every expression in the place of its variable."""
    found: tuple[dict[int, int], dict[int, int]] = {}, {}
    for sides, _, _ in terms:
        for slope, ids in sides:
            found[slope].update(dict.fromkeys(ids.tolist(), 0))
    values, slopes = (tuple(f) for f in found)
    for f, first in zip(found, (0, len(values)), strict=True):
        f.update(zip(f, range(first, first + len(f)), strict=True))
    one = len(values) + len(slopes)
    factors = np.full(
        (max(2, *(len(sides) for sides, _, _ in terms)), sum(len(owners) for _, _, owners in terms)), one
    )
    first = 0
    for sides, _, owners in terms:
        part = slice(first, first := first + len(owners))
        for k, (slope, ids) in enumerate(sides):
            factors[k, part] = [found[slope][x] for x in ids.tolist()]
    coefficient, owner = np.concatenate([c for _, c, _ in terms]), np.concatenate([o for _, _, o in terms])
    order = np.argsort(owner, kind="stable")
    return Powers(values, slopes, Products(factors[:, order], coefficient[order], owner[order]), exact)


def _polynomial(batch: Batch, at: np.ndarray, P: np.ndarray) -> Polynomial:
    """Power of all ports of some instances as a polynomial."""
    template = batch.template

    def leaf(node: Expr) -> Polynomial:
        if isinstance(node, Symbol):
            kind = kind_of(node)
            if kind == "p":
                return {(): P[batch.pb[at] + locate_symbol(template, "p", node)]}
            if kind == "v":
                return {((False, locate_symbol(template, "v", node)),): 1.0}
        elif node.op == "const":
            return {(): float(node.data)}
        raise _no_product(str(node))

    def apply(node: Expr, args: list[Polynomial]) -> Polynomial:
        if node.op == "der" and isinstance(node.args[0], Symbol):
            return {((True, locate_symbol(template, "v", node.args[0])),): 1.0}
        return _combine(node.op, args)

    total: Polynomial = {}
    for expr in template.powers:
        total = _combine("+", [total, fold(expr, leaf, apply)])
    shorter = _with_rows_of_part(template, total)
    return shorter if len(shorter) < len(total) else total


def _with_rows_of_part(template: Template, total: Polynomial) -> Polynomial:
    """A polynomial with the integer rows of the part put in: potentials of its ports that cancel by them are left out.

    What goes through a part of little loss is a small difference of what enters and leaves it, whose digits are lost in these.
    """
    slopes = {k for m in total for slope, k in m if slope}
    ports = dict.fromkeys(k for m in total for slope, k in m if k not in slopes)
    put_in: dict[int, dict[int, int]] = {}
    for row in range(len(template.ptr) - 1):
        part = slice(*template.ptr[row : row + 2].tolist())
        terms = dict(zip(template.col[part].tolist(), template.val[part].tolist(), strict=True))
        if row in template.remainders or ports.keys().isdisjoint(terms):
            continue
        terms = _put(terms, put_in)
        pivot = next((k for k in ports if abs(terms.get(k, 0)) == 1), None)
        if pivot is not None:
            sign = -terms.pop(pivot)
            put_in = {k: _put(v, {pivot: {j: sign * c for j, c in terms.items()}}) for k, v in put_in.items()}
            put_in[pivot] = {j: sign * c for j, c in terms.items()}
    found: Polynomial = {}
    for m, c in total.items():
        sides = [_sum_of(put_in, factor) for factor in m]
        for some in product(*(side.items() for side in sides)):
            key = tuple(sorted(factor for factor, _ in some))
            found[key] = found.get(key, 0.0) + c * prod(number for _, number in some)
    return {m: c for m, c in found.items() if np.any(c)}


def _sum_of(put_in: dict[int, dict[int, int]], factor: Factor) -> dict[Factor, int]:
    slope, k = factor
    return {factor: 1} if slope or k not in put_in else {(False, j): c for j, c in put_in[k].items()}


def _put(terms: dict[int, int], put_in: dict[int, dict[int, int]]) -> dict[int, int]:
    """An integer row with sums in the place of variables."""
    found: dict[int, int] = {}
    for k, c in terms.items():
        for j, d in put_in.get(k, {k: 1}).items():
            found[j] = found.get(j, 0) + c * d
    return {k: c for k, c in found.items() if c}


def _combine(op: str, args: list[Polynomial]) -> Polynomial:
    """One operation on polynomials."""
    a, b = args[0], args[-1]
    match op:
        case "+" | "-":
            sign = 1.0 if op == "+" else -1.0
            return {m: a.get(m, 0.0) + sign * b.get(m, 0.0) for m in (*a, *(m for m in b if m not in a))}
        case "neg":
            return {m: -c for m, c in a.items()}
        case "*":
            found: Polynomial = {}
            for (m, c), (n, d) in product(a.items(), b.items()):
                key = tuple(sorted((*m, *n)))
                found[key] = found.get(key, 0.0) + c * d
            return found
        case "/" if set(b) == {()}:
            return {m: c / b[()] for m, c in a.items()}
    raise _no_product(op)


def _no_product(text: str) -> DeclarationError:
    return DeclarationError(
        f"the power of a port is a sum of products of its variables and their derivatives, not `{text}`"
    )


def generator_of(data: ReadMode) -> np.ndarray:
    """Generator (q, q) of the sources in a mode, whose state they end."""
    if isinstance(data, PointFrame):
        return data.S
    own = data.Ay[len(data.states) :, len(data.states) :]
    return own if isinstance(own, np.ndarray) else own.toarray()


def read_impulses(
    jump: Jump,
    readout: Readout,
    generator: np.ndarray,
    moment: Moment,
    ids: tuple[int, ...],
    slopes: tuple[int, ...],
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Means of variables and slopes at an instant, and their time integrals over it.

    With the generator of the sources: what they prescribe moves in the instant too, and takes work there.
    """
    frame, n, left, right = readout.frame(generator), len(jump.J1), jump.left, jump.right
    direction = np.zeros(len(left))
    moved = readout.dynamic
    direction[:n] = jump.J1
    direction[n : 2 * n][moved] = (right - left)[:n][moved]
    mean = 0.5 * (left + right)
    if jump.mean is not None:
        mean[: len(jump.mean)] = jump.mean  # Slopes are not in files of format 4 from before they were kept.
    X, S = _at(readout, frame, mean, moment, ids, slopes)
    dX, dS = readout.rows(frame, ids) @ direction, readout.slope_rows(frame, slopes) @ direction
    if readout.outside[[*ids, *slopes]].any():
        # Output equations are affine in what carries impulses: a step of the size of the mean loses no digits.
        size, base = float(np.abs(jump.J1).max(initial=0.0)), float(np.abs(mean).max(initial=1.0))
        unit = base / size if size > 0.0 else 1.0
        X1, S1 = _at(readout, frame, mean + unit * direction, moment, ids, slopes)
        dX = np.where(readout.outside[list(ids)], (X1 - X) / unit, dX)
        dS = np.where(readout.outside[list(slopes)], (S1 - S) / unit, dS)
    if jump.apart is not None:
        begin, slope, *_ = jump.apart
        at, ends = list(slopes), _at(readout, frame, right, moment, (*ids, *slopes), slopes)
        X, S = 0.5 * (begin[list(ids)] + ends[0][: len(ids)]), 0.5 * (slope[at] + ends[1])
        dS = ends[0][len(ids) :] - begin[at]
    return X, S, dX, dS


def _at(
    readout: Readout,
    frame: PointFrame,
    y: np.ndarray,
    moment: Moment,
    ids: tuple[int, ...],
    slopes: tuple[int, ...],
) -> tuple[np.ndarray, np.ndarray]:
    """Values of variables and of time derivatives at a state ``[z, z', xi]``."""
    values, rates = readout.columns(ids, slopes, frame, None, moment, np.zeros(1), y[None])
    return values[0], rates[0]
