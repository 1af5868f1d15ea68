"""Which equation of the model a row of its analysis is, and which statement an element."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..reduction.reduced_model import ElementRows, ReducedModel
from ..structure.incidence import INT
from .equation_rows import EquationGroup
from .equations import Equations


def statement_of_element(reduced: ReducedModel) -> list[int]:
    """Return the number, among the statements with branches, of every element of the core.

    -1 for an element that stands for equations whose comparisons lie in their own loop.
    """
    found: list[int] = []
    number = 0
    for rows, _ in reduced.flat.each(reduced.elements):
        found.append(-1 if rows.forms.replaced else number)
        number += not rows.forms.replaced
    return found


def branches_in_force(reduced: ReducedModel, mode: tuple[int, ...]) -> dict[int, int]:
    """Return statement with branches -> branch in force."""
    return {k: b for k, b in zip(statement_of_element(reduced), mode, strict=True) if k >= 0}


def _groups(rows: ElementRows, equations: Equations) -> Iterator[EquationGroup]:
    """The equations of an element statement, one after the other."""
    if rows.forms.replaced:
        yield from (equations.group_of[id(s), 0] for s in rows.forms.replaced)
    else:
        statement = rows.forms.statement
        yield from (equations.group_of[id(statement), j] for j in range(len(rows.branches[0][0])))


def equation_of_form(reduced: ReducedModel, mode: tuple[int, ...], equations: Equations) -> np.ndarray:
    """Return the equation of every form row that is one in this mode, -1 for others."""
    number = np.full(reduced.n_rows + 1, -1, INT)
    for base, text in zip(reduced.base, reduced.base_texts, strict=True):
        g = equations.group_of[id(text.statement), 0]
        instances = reduced.flat.batches[base.batch].instances
        number[base.first + instances] = g.first + g.step * instances
    element = 0
    for rows in reduced.elements:
        instances = len(reduced.flat.batches[rows.batch])
        branch = np.array(mode[element : element + instances], INT)
        for j, g in enumerate(_groups(rows, equations)):
            for b, (forms, _, _) in enumerate(rows.branches):
                at = np.flatnonzero(branch == b)
                number[forms[j] + at] = g.first + g.step * at
        element += instances
    return number


def equations_in_force(reduced: ReducedModel, mode: tuple[int, ...], equations: Equations) -> np.ndarray:
    """Return the equation behind every row of a mode of the core; -1 - k for the k-th integer row if that is an input."""
    number = equation_of_form(reduced, mode, equations)
    own = [r.first + i for r, i in zip(reduced.base, reduced.base_instances, strict=True)]
    kept = reduced.presolved.kept_row_origin[reduced.core_rows]
    found = [*(number[k] for k in own), np.where(kept < equations.integer_rows, kept, -1 - kept)]
    for (rows, i), branch in zip(reduced.flat.each(reduced.elements), mode, strict=True):
        found.append(number[np.array(rows.branches[branch][0], INT) + i])
    return np.concatenate(found).astype(INT)
