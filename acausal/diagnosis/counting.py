"""Sizes of a flattened model."""

from __future__ import annotations

import numpy as np

from ..flattening.template import Template
from .equations import Equations
from .facts import Counts


def count(equations: Equations, kept: int, aliases: int = 0) -> Counts:
    """Return the sizes of a model whose blocks hold ``kept`` unknowns."""
    flat = equations.flat
    written = [len(s.template.row_texts) * len(s) for s in flat.batches]
    return Counts(
        components=_parts(flat.root),
        equations=len(equations),
        unknowns=flat.nv - len(equations.inputs),
        connections=equations.integer_rows - sum(written),
        differentiated=len(np.unique(equations.col[equations.order > 0])),
        parameters=flat.npar,
        discretes=flat.nd,
        elements=sum(1 for _ in flat.statements("elements")),
        aliases=aliases,
        kept=kept,
    )


def _parts(template: Template) -> int:
    return sum(len(g.kids) * (1 + _parts(g.template)) for g in template.groups)
