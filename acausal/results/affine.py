"""Signals that are affine in the state, and integrals of products of two."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..dynamics.gram import Bilinear
from .segments import SegmentGroup, Segments

PRODUCT = Bilinear(np.array([0]), np.array([1]), np.ones(1), np.zeros(1, np.int64))
SQUARE = Bilinear(np.array([0]), np.array([0]), np.ones(1), np.zeros(1, np.int64))


@dataclass(frozen=True, eq=False)
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
        """Form over ``y`` of a group, (1, ny)."""
        row = np.zeros((1, len(group.trajectories[0].y0)))
        for (k, slope), factor in self.terms.items():
            form = group.form(k, slope)
            row += factor * (form if isinstance(form, np.ndarray) else form.toarray())
        row[0, len(group.data.states)] += self.constant
        return row

    def plus(self, other: Affine, factor: float) -> Affine:
        """Return the sum with a multiple of another one."""
        terms = dict(self.terms)
        for key, value in other.terms.items():
            terms[key] = terms.get(key, 0.0) + factor * value
        return Affine(terms, self.constant + factor * other.constant)


ONE = Affine({}, 1.0)


def affine_integral(segments: Segments, left: Affine, right: Affine, a: float, b: float) -> float:
    """Integral over [a, b] of the product of two signals."""
    if left is right:
        return float(segments.integral_of_forms(left.row, SQUARE, a, b)[0])

    def rows(group: SegmentGroup) -> np.ndarray:
        return np.vstack([left.row(group), right.row(group)])

    return float(segments.integral_of_forms(rows, PRODUCT, a, b)[0])
