"""Which equations of an unbalanced component are too many, and for which unknowns there are too few."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..errors import Location, listed
from ..modeling.expressions import Expr
from ..structure.decomposition import decompose
from ..structure.incidence import Incidence
from .flat_model import locate_variable
from .forms import incidence
from .template import Template, name_of

MOST_UNMATCHED = 8
"""Unknowns or equations in one sentence."""


@dataclass(frozen=True)
class Written:
    """An equation of the component itself."""

    text: str
    place: Location


@dataclass(frozen=True)
class Unbalanced:
    """The parts of the Dulmage-Mendelsohn decomposition of a component.

    Attributes
    ----------
    surplus : tuple of Written
        Equations of which any one could be left out.
    overdetermined : tuple of str
        Unknowns in them.
    lacking : tuple of str
        Unknowns of which any one could be left without equation.
    shared : tuple of Written
        The equations that these have.
    """

    surplus: tuple[Written, ...]
    overdetermined: tuple[str, ...]
    lacking: tuple[str, ...]
    shared: tuple[Written, ...]

    @property
    def reason(self) -> str:
        """What there is too much of, and what lacks an equation."""
        reasons = []
        if self.surplus:
            more = f"determine {_names(self.overdetermined)} more than once"
            reasons.append(f"{_texts(self.surplus)} {more if self.overdetermined else 'hold no unknown'}")
        if self.shared:
            reasons.append(f"{_names(self.lacking)} have too few equations: {_texts(self.shared)}")
        elif self.lacking:
            reasons.append(f"no equation is left for {_names(self.lacking)}")
        return "; ".join(reasons)

    @property
    def remedy(self) -> str:
        """What to do about it."""
        surplus = "remove an equation that prescribes what others prescribe already"
        further = (
            f"state a further equation for {_names(self.lacking)}, or remove a variable that nothing needs"
        )
        return "; ".join([surplus] * bool(self.surplus) + [further] * bool(self.lacking))


def _names(names: Sequence[str]) -> str:
    return listed([f"`{n}`" for n in names], MOST_UNMATCHED)


def _texts(equations: Sequence[Written]) -> str:
    return listed([f"{w.text} at {w.place}" for w in equations], MOST_UNMATCHED, "; ")


def unbalanced_parts(template: Template, path: str) -> Unbalanced:
    """Decompose the equations of a component, first met at ``path``, with those of its parts.

    What comes from outside counts as one equation per flow, in which any variable of its port may occur, and as one
    per continuous input.
    """
    rows = list(_rows(template, path))
    origin = [written for written, _ in rows]
    row = np.repeat(np.arange(len(rows)), [len(columns) for _, columns in rows])
    col = np.array([c for _, columns in rows for c in columns], np.int64)
    parts = decompose(Incidence.from_pairs(row, col, (len(rows), template.nv)))

    def stated(equations: np.ndarray) -> tuple[Written, ...]:
        return tuple(w for k in equations.tolist() if (w := origin[k]) is not None)

    def names(unknowns: np.ndarray) -> tuple[str, ...]:
        return tuple(name_of(template, "v", k) for k in unknowns.tolist())

    return Unbalanced(
        stated(parts.over.equations),
        names(parts.over.unknowns),
        names(parts.under.unknowns),
        stated(parts.under.equations),
    )


def _rows(template: Template, path: str) -> Iterator[tuple[Written | None, list[int]]]:
    """Own equations with their unknowns; None stands for what parts and connections from outside state."""
    for local, origin in enumerate(template.row_origins):
        columns = template.col[template.ptr[local] : template.ptr[local + 1]].tolist()
        text = template.row_texts.get(local) or _connection(template, columns)
        yield Written(text, template.line(origin, path)), columns
    for r in template.residuals:
        yield Written(r.text, template.line(r.origin, path)), _unknowns(template, [r.expr])
    for e in template.elements:
        for residuals in zip(*(b.residuals for b in e.table.branches), strict=True):
            yield Written(f"`{e.name}`", template.line(e.origin, path)), _unknowns(template, residuals)
    for kind, first in template.port_kinds:
        count = len(kind.fields())
        for _ in range(sum(f.flow for f in kind.fields().values())):
            yield None, list(range(first, first + count))
    for name in template.inputs:
        k = template.index("v", name)
        if k is not None:
            yield None, [k]
    for columns in _inside(template):
        yield None, columns


def _inside(template: Template) -> Iterator[list[int]]:
    """Unknowns of the equations that the parts of a component state."""
    for group in template.groups:
        inner = [columns for written, columns in _rows(group.template, "") if written is not None]
        inner += list(_inside(group.template))
        for offset in group.voff.tolist():
            yield from ([offset + c for c in columns] for columns in inner)


def _unknowns(template: Template, residuals: Iterable[Expr]) -> list[int]:
    classify = partial(locate_variable, template)
    return list(dict.fromkeys(k for e in residuals for k, _ in incidence(e, classify)))


def _connection(template: Template, columns: list[int]) -> str:
    return "the connection of " + ", ".join(f"`{name_of(template, 'v', k)}`" for k in columns[:4])
