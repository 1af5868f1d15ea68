"""Power into the ports of components as products of affine forms: one matrix product for all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from ..dynamics.readout import Readout
from ..flattening.flat_model import Batch, FlatModel, kind_of
from ..flattening.locating import locate_symbol
from ..modeling.expressions import Expr, Symbol, fold
from ..reduction.affine import ModeData
from .power import means_and_impulses
from .record import Jump, KnownJump
from .segments import Bilinear

Factor = tuple[bool, int]
"""(time derivative, local number of a variable)."""
Polynomial = dict[tuple[Factor, ...], Any]
"""Products of variables -> factor, a number or one per instance."""
Instances = Sequence[tuple[int, np.ndarray]]
"""(batch, instances)."""


@dataclass(frozen=True, eq=False)
class Products:
    """Powers as sums of products of forms.

    Forms are values (first) and time derivatives (then) of variables, and the number one (last). The owner of a
    product is the number of the part whose power it is.
    """

    ids: tuple[int, ...]
    slopes: tuple[int, ...]
    powers: Bilinear

    @property
    def size(self) -> int:
        """Number of forms."""
        return len(self.ids) + len(self.slopes) + 1

    @property
    def owners(self) -> np.ndarray:
        """Parts that have a product, in the order of the sums in `powers`."""
        return np.unique(self.powers.owner)

    def forms(self, readout: Readout, data: ModeData) -> np.ndarray:
        """Forms over y of a mode, (size, ny)."""
        values = readout.rows(data, self.ids)
        one = np.zeros((1, values.shape[1]))
        one[0, len(data.states)] = 1.0
        rates = readout.slope_rows(data, self.slopes)
        return np.vstack(
            [part if isinstance(part, np.ndarray) else part.toarray() for part in (values, rates, one)]
        )

    def at_jump(self, jump: Jump | KnownJump, readout: Readout) -> np.ndarray:
        """Energies (owners,) that the impulses of a micro-step carry."""
        mean, direction = means_and_impulses(jump, readout)
        forms = self.forms(readout, readout.frame)
        X, dX = forms @ mean, forms @ direction
        p = self.powers
        return p.sums(p.coefficient * (dX[p.left] * X[p.right] + X[p.left] * dX[p.right]))


def split_powers(
    flat: FlatModel, readout: Readout, instances: Instances
) -> tuple[Products | None, list[tuple[int, np.ndarray, np.ndarray]]]:
    """Return the powers that are products of affine forms, and (batch, instances, their numbers) of the others.

    Instances are numbered in the order given. A product with a variable that only output equations determine is no
    product of affine forms.
    """
    terms: list[tuple[np.ndarray, ...]] = []
    others: list[tuple[int, np.ndarray, np.ndarray]] = []
    columns: dict[Factor, int] = {}
    number = 0
    for k, at in instances:
        numbers = np.arange(number, number + len(at))
        number += len(at)
        found = _polynomial(flat.batches[k], at, readout.P)
        plain = (
            np.zeros(len(at), bool) if found is None else _affine(flat.batches[k], at, readout.outside, found)
        )
        if found and plain.any():
            terms += _terms(flat.batches[k], at, found, plain, numbers, columns)
        if not plain.all():
            others.append((k, at[~plain], numbers[~plain]))
    return (_products(terms, columns) if terms else None), others


def _polynomial(batch: Batch, at: np.ndarray, P: np.ndarray) -> Polynomial | None:
    """Power of all ports of some instances as a polynomial of degree two at most; None if it is none."""
    template = batch.template

    def leaf(node: Expr) -> Polynomial | None:
        if not isinstance(node, Symbol):
            return {(): float(node.data)} if node.op == "const" else None
        kind = kind_of(node)
        if kind == "p":
            return {(): P[batch.pb[at] + locate_symbol(template, "p", node)]}
        return {((False, locate_symbol(template, "v", node)),): 1.0} if kind == "v" else None

    def apply(node: Expr, args: list[Polynomial | None]) -> Polynomial | None:
        if node.op == "der" and isinstance(node.args[0], Symbol):
            return {((True, locate_symbol(template, "v", node.args[0])),): 1.0}
        return _combine(node.op, [a for a in args if a is not None]) if None not in args else None

    total: Polynomial = {}
    for expr in template.powers:
        found = fold(expr, leaf, apply)
        if found is None:
            return None
        total = _combine("+", [total, found]) or {}
    return total


def _combine(op: str, args: list[Polynomial]) -> Polynomial | None:
    """One operation on polynomials; None when the outcome is none of degree two."""
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
            return found if all(len(m) <= 2 for m in found) else None
        case "/" if set(b) == {()}:
            return {m: c / b[()] for m, c in a.items()}
    return None


def _affine(batch: Batch, at: np.ndarray, outside: np.ndarray, found: Polynomial) -> np.ndarray:
    """Mask over instances: no factor of the polynomial depends on an output equation."""
    used = list(dict.fromkeys(local for m in found for _, local in m))
    return np.asarray(~outside[batch.vb[at][:, None] + np.array(used, np.int64)].any(axis=1))


def _terms(
    batch: Batch,
    at: np.ndarray,
    found: Polynomial,
    plain: np.ndarray,
    numbers: np.ndarray,
    columns: dict[Factor, int],
) -> list[tuple[np.ndarray, ...]]:
    """(left, right, coefficient, owner) of the products; the number one is column -1."""
    bases = batch.vb[at][plain]
    made = []
    for monomial, coefficient in found.items():
        sides = [
            np.array([columns.setdefault((slope, x), len(columns)) for x in (bases + local).tolist()])
            for slope, local in monomial
        ]
        sides += [np.full(len(bases), -1)] * (2 - len(sides))
        made.append((*sides, np.broadcast_to(coefficient, at.shape)[plain], numbers[plain]))
    return made


def _products(terms: list[tuple[np.ndarray, ...]], columns: dict[Factor, int]) -> Products:
    """Products with the forms in their final order: values, time derivatives, one."""
    left, right, coefficient, owner = (np.concatenate(parts) for parts in zip(*terms, strict=True))
    ids = [x for slope, x in columns if not slope]
    slopes = [x for slope, x in columns if slope]
    place = {(False, x): k for k, x in enumerate(ids)} | {
        (True, x): len(ids) + k for k, x in enumerate(slopes)
    }
    moved = np.array([*(place[f] for f in columns), len(columns)])
    order = np.argsort(owner, kind="stable")
    powers = Bilinear(moved[left[order]], moved[right[order]], coefficient[order], owner[order])
    return Products(tuple(ids), tuple(slopes), powers)
