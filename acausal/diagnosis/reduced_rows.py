"""The equations of one mode without aliases: which rows are left, and which variables occur in them with these numbers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property

import numpy as np

from ..reduction.core import form_matrices
from ..reduction.reduced_model import ReducedModel
from ..structure.aliases import AliasClasses
from ..structure.elimination import echelon
from ..structure.incidence import INT, IntegerRows
from .aliases import merge_aliases
from .equations import Equations
from .findings import Findings, Key
from .numbering import branches_in_force, equation_of_form


class ReducedRows:
    """Equations of one mode over the representatives of the alias classes.

    Parameters
    ----------
    reduced : ReducedModel
    found : Findings
    numeric : bool
        Leave out what is zero by the values of the parameters in rows that are not affine as well.

    Attributes
    ----------
    classes : AliasClasses
    equations : Equations
        Of the representatives.
    row, col, order : ndarray of int64, shape (nnz,)
        Equation, variable and order of its derivative of all factors that are not zero for these numbers.
    differentiated : ndarray of bool, shape (nv,)
        Variables whose derivatives occur.
    """

    def __init__(self, reduced: ReducedModel, found: Findings, numeric: bool = True) -> None:
        self.reduced, self.found = reduced, found
        flat = reduced.flat
        branches = branches_in_force(reduced, found.mode)
        plain = Equations(flat, branches)
        row, col, order, nonlinear = _numeric_incidence(reduced, found, plain)
        differentiated_ = np.zeros(flat.nv, bool)
        differentiated_[col[order > 0]] = True
        self.classes: AliasClasses = merge_aliases(flat, differentiated_, sorted(plain.inputs))
        representative, sign = self.classes.representative, self.classes.sign
        self.equations = Equations(flat, branches, (representative, sign), found.values.P, numeric)
        # Integer rows over the representatives as the view has them; of the others those with a factor other than zero.
        e = self.equations
        integer, own = e.row < e.integer_rows, (row >= e.integer_rows) & (sign[col] != 0)
        own &= ~_idle(e, row, representative[col], order, nonlinear) if numeric else True
        self.row = np.concatenate([e.row[integer], row[own]])
        self.col = np.concatenate([e.col[integer], representative[col[own]]])
        self.order = np.concatenate([e.order[integer], order[own]])
        self.differentiated = np.zeros(flat.nv, bool)
        self.differentiated[self.col[self.order > 0]] = True

    def key(self, key: Key) -> Key:
        """A variable in terms of its representative."""
        return int(self.classes.representative[key[0]]), key[1]

    def kept(self) -> np.ndarray:
        """Equations that say more than that variables are aliases, without those that follow from others."""
        e = self.equations
        used = np.zeros(len(e), bool)
        used[self.row] = True
        used[e.integer_rows :] = True
        left = len(self.reduced.presolved.dependent) - (int((~used).sum()) - self.merged)
        if left > 0:
            integer = np.flatnonzero(used[: e.integer_rows])
            used[integer[echelon(self.integer.take(integer)).redundant]] = False
        return np.flatnonzero(used)

    @property
    def roots(self) -> np.ndarray:
        """Representatives that are not zero, ascending."""
        return np.unique(self.classes.representative[self.classes.sign != 0])

    @property
    def merged(self) -> int:
        """Variables that are replaced by others or by zero."""
        return self.reduced.flat.nv - len(self.roots)

    @cached_property
    def integer(self) -> IntegerRows:
        """Integer rows over the representatives."""
        flat = self.reduced.flat
        rows = IntegerRows(flat.ptr, flat.col, flat.val * self.classes.sign[flat.col], flat.nv)
        return rows.over(flat.nv, self.classes.representative).compress()

    def entries(self) -> Iterator[tuple[int, int, int]]:
        """Yield (equation, variable, order) of all factors that are not zero."""
        yield from zip(self.row.tolist(), self.col.tolist(), self.order.tolist(), strict=True)

    def vanished(self) -> dict[int, list[Key]]:
        """Return, by equation, the variables whose factors are zero for these numbers."""
        e = self.equations
        present = set(self.entries())
        found: dict[int, list[Key]] = {}
        for k, v, o in zip(e.row.tolist(), e.col.tolist(), e.order.tolist(), strict=True):
            if (k, v, o) not in present:
                found.setdefault(k, []).append((v, o))
        return found


def _numeric_incidence(
    reduced: ReducedModel, found: Findings, equations: Equations
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (equation, variable, order) of all factors in force that are not zero for these numbers, and of all nonlinear rows.

    Integer rows are included. The last array is the mask of the nonlinear equations.
    """
    number = equation_of_form(reduced, found.mode, equations)
    E, A = form_matrices(reduced, found.values)
    parts = []
    for matrix, order in ((E, 1), (A, 0)):
        entries = matrix.tocoo()
        row = number[entries.row]
        at = (row >= 0) & (entries.data != 0.0)
        parts.append((row[at], entries.col[at], np.full(int(at.sum()), order)))
    affine = np.zeros(len(number), bool)
    for r in reduced.rows:
        affine[r.first + reduced.flat.batches[r.batch].instances] = True
    nonlinear = np.zeros(len(equations), bool)
    nonlinear[number[~affine & (number >= 0)]] = True
    keep = nonlinear[equations.row] | (equations.row < equations.integer_rows)
    parts.append((equations.row[keep], equations.col[keep], equations.order[keep]))
    row, col, order = (np.concatenate([p[k] for p in parts]).astype(INT) for k in range(3))
    return row, col, order, nonlinear


def _idle(
    equations: Equations, row: np.ndarray, col: np.ndarray, order: np.ndarray, nonlinear: np.ndarray
) -> np.ndarray:
    """Mask of the entries of nonlinear equations that the numbers of the model take out of their formulas."""
    idle = np.zeros(len(row), bool)
    for k in np.flatnonzero(nonlinear).tolist():
        at = np.flatnonzero(row == k)
        present = {key for _, expr in equations.expressions(k) for key in equations.keys(expr)}
        idle[at] = [(v, o) not in present for v, o in zip(col[at].tolist(), order[at].tolist(), strict=True)]
    return idle
