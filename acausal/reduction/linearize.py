"""An affine model that linearises a nonlinear one at a point: what an instant sees of nonlinear rows.

At the point a row ``rho(a) = 0`` becomes ``rho + rho_a (a - a0) + rho_aa[a', a'] tau^2/2 + c tau^3/6`` with
``c = 3 rho_aa[a', a''] + rho_aaa[a', a', a']`` and the time ``tau`` since the point as three more states of the
exosystem. Values and three derivatives along the motion are then those of the nonlinear model, hence also the
constraints that appear by differentiating twice, and the slopes of the forces that keep them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain
from typing import Any

import numpy as np

from ..values import frozen
from .affine import AffineModel, Element, Mode, Rows
from .assemble import condition_rows
from .core import TANGENT_STATES
from .nonlinear_rows import NonlinearRows
from .reduced_model import ReducedModel


@frozen
class Numbering:
    """Form rows behind the rows of an affine model: of its base (-1: an integer row) and per element and branch."""

    base: np.ndarray
    equations: tuple[tuple[np.ndarray, ...], ...]
    guards: tuple[tuple[np.ndarray, ...], ...]
    blocked: tuple[tuple[np.ndarray, ...], ...]
    conditions: tuple[np.ndarray, ...]
    relations: np.ndarray
    nonlinear: np.ndarray
    """Rows of the base that are nonlinear."""
    bent: tuple[bool, ...]
    """Per element, whether any of its rows is nonlinear."""

    @classmethod
    def of(cls, model: ReducedModel) -> Numbering:
        """Number the rows in the order in which `assemble` stacks them."""
        own = [r.first + i for r, i in zip(model.base, model.base_instances, strict=True)]
        base = np.concatenate([*own, np.full(len(model.core_rows), -1)]).astype(np.int64)
        parts: list[list[tuple[np.ndarray, ...]]] = [[], [], []]
        conditions = []
        for rows, i in model.flat.each(model.elements):
            conditions.append(np.array(condition_rows(model, rows, i), np.int64))
            for k, part in enumerate(parts):
                part.append(tuple(np.array(b[k], np.int64) + i for b in rows.branches))
        relations = [
            r.row + model.flat.batches[r.batch].instances for r in model.relations if not r.relation.timed
        ]
        numbers = np.concatenate(relations) if relations else np.zeros(0, np.int64)
        bends = np.zeros(model.n_rows + 1, bool)  # The last entry serves rows without a form.
        for c in model.nonlinear:
            bends[c.first + c.instances] = True
        bent = tuple(
            any(bool(bends[rows].any()) for rows in (*chain(*element), tested))
            for *element, tested in zip(*parts, conditions, strict=True)
        )
        nonlinear = np.flatnonzero(bends[base])
        equations, guards, blocked = (tuple(part) for part in parts)
        return cls(base, equations, guards, blocked, tuple(conditions), numbers, nonlinear, bent)

    def mode(self, mode: Mode) -> np.ndarray:
        """Form rows of the equations in force."""
        return np.concatenate([self.base, *(e[b] for e, b in zip(self.equations, mode, strict=True))])

    def mode_guards(self, mode: Mode) -> np.ndarray:
        """Form rows of the guards in force, then of all state relations."""
        return np.concatenate([*(g[b] for g, b in zip(self.guards, mode, strict=True)), self.relations])

    def mode_decided(self, mode: Mode) -> np.ndarray:
        """Form rows of all that decides how a mode goes on: equations, guards, relations."""
        return np.concatenate([self.mode(mode), self.mode_guards(mode), *self.conditions])

    def mode_blocked(self, mode: Mode) -> np.ndarray:
        """Form rows of what is blocked, which settles what nothing else determines."""
        return np.concatenate(
            [np.zeros(0, np.int64), *(rows[b] for rows, b in zip(self.blocked, mode, strict=True))]
        )


@frozen
class SlopeSums:
    """Rows over unknowns or sources from the slopes of nonlinear rows: ``rho_a M`` for a sparse matrix ``M`` of arguments.

    Sums in the order of the arguments, as a product of sparse matrices has them, at a fraction of its cost.
    """

    at: np.ndarray
    """Flat position in the result of every entry of ``M``."""
    argument: np.ndarray
    factor: np.ndarray
    shape: tuple[int, int]

    @classmethod
    def of(cls, matrix: Any, nonlinear_rows: NonlinearRows) -> SlopeSums:
        """Arrange the entries of a matrix (na, k)."""
        width = matrix.shape[1]
        argument = np.repeat(np.arange(len(nonlinear_rows.owner)), np.diff(matrix.indptr))
        at = nonlinear_rows.owner[argument] * width + matrix.indices
        # Sparse matrices sort their entries in place when it suits them.
        return cls(at, argument, matrix.data.copy(), (len(nonlinear_rows), width))

    def __call__(self, gradient: np.ndarray) -> np.ndarray:
        """The rows (m, k) for slopes (na,)."""
        m, k = self.shape
        return np.bincount(self.at, gradient[self.argument] * self.factor, m * k).reshape(m, k)


def linearised_rows(
    nonlinear_rows: NonlinearRows,
    forms: Rows,
    a0: np.ndarray,
    value: np.ndarray,
    gradient: np.ndarray,
    bend: np.ndarray,
    third: np.ndarray,
    over: tuple[SlopeSums, SlopeSums, SlopeSums],
) -> Rows:
    """All form rows, with the tangents of the nonlinear ones.

    Parameters
    ----------
    forms : Rows
        Affine forms; nonlinear rows are zero there.
    a0 : (na,) array
        Arguments at the point.
    value, bend, third : (m,) arrays
        Residuals, and what is not linear in the highest derivative of the arguments in the second and third ones.
    gradient : (na,) array
    over : tuple of SlopeSums
        Derivatives, unknowns and exosystem in the arguments.
    """
    E, A, B = forms.E.copy(), forms.A.copy(), forms.B.copy()
    E[nonlinear_rows.rows], A[nonlinear_rows.rows], B[nonlinear_rows.rows] = (rows(gradient) for rows in over)
    B[nonlinear_rows.rows, 0] += value - np.bincount(nonlinear_rows.owner, gradient * a0, len(nonlinear_rows))
    B[nonlinear_rows.rows, -TANGENT_STATES] += third
    B[nonlinear_rows.rows, 1 - TANGENT_STATES] += bend
    return Rows(E, A, B)


def linearised_model(model: AffineModel, numbering: Numbering, forms: Rows, S: np.ndarray) -> AffineModel:
    """The affine model with the tangents in place; with the generator ``S`` of the sources time goes on in them."""
    base, at = model.base, numbering.nonlinear
    if len(at):
        number = numbering.base[at]
        base = Rows(*(_placed(getattr(base, x), at, getattr(forms, x)[number]) for x in "EAB"))
    elements = tuple(
        _element(e, k, numbering, forms) if numbering.bent[k] else e for k, e in enumerate(model.elements)
    )
    return replace(model, base=base, elements=elements, S=S, nominals=None)


def _placed(rows: np.ndarray, at: np.ndarray, values: np.ndarray) -> np.ndarray:
    made = rows.copy()
    made[at] = values
    return made


def _element(element: Element, k: int, numbering: Numbering, forms: Rows) -> Element:
    numbers = (numbering.equations[k], numbering.guards[k], numbering.blocked[k])
    equations, guards, blocked = (tuple(forms.take(rows) for rows in part) for part in numbers)
    branches = tuple(
        replace(b, equations=e, guards=g) for b, e, g in zip(element.branches, equations, guards, strict=True)
    )
    relations = element.relations and forms.take(numbering.conditions[k])
    return replace(element, branches=branches, blocked=blocked, relations=relations)
