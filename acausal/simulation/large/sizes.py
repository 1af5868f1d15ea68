"""Which models are large. The rest of the package is imported when one is."""

from __future__ import annotations

from ...reduction.reduced_model import ReducedModel
from ..starts.stated import Starts

LARGE = 300
"""Core unknowns above which rows stay sparse where integration is numerical."""
MAX_UNKNOWNS = 3000
"""Largest core with dense matrices of a mode; a pencil of this size takes some 100 MB."""


def may_be_large(reduced: ReducedModel, starts: Starts) -> bool:
    """Whether a model has so many unknowns, and nothing that needs the analysis of modes or of its start.

    Conditions of the start are met without that analysis where matrices would be too large for it: it accepts those that
    follow from others, and explains contradictions better.
    """
    count, simple = len(reduced.core), not reduced.initials and starts.plain(reduced.differentiated)
    return not reduced.elements and (count > MAX_UNKNOWNS or (count > LARGE and simple))
