"""Guards and relations of a mode along its motion."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...compilation.correction import dense
from ...compilation.equations import Jet
from ...reduction.affine import Rows
from ...reduction.open_mode import OpenMode
from ...reduction.rounding import ROUNDING, SUMMED
from ...values import frozen
from .motion import Motion
from .newton import NewtonFailure


@frozen
class FormTangent:
    """Forms near a point.

    Attributes
    ----------
    values, terms : (forms,) arrays
        At the point, and sums of the magnitudes of their terms.
    """

    forms: Forms
    values: np.ndarray
    terms: np.ndarray
    gradient: Any
    """Derivatives of the nonlinear ones by ``v``."""

    def __call__(self, changes: np.ndarray) -> np.ndarray:
        """Changes (forms, k) that changes of ``v`` (nv, k) make."""
        found = np.empty((self.forms.count, changes.shape[1]))
        found[self.forms.affine] = self.forms.over_v @ changes
        if len(self.forms.nonlinear):
            found[self.forms.nonlinear] = self.gradient @ changes
        return found


class Forms:
    """Watched forms: affine ones over ``v``, and nonlinear rows.

    Parameters
    ----------
    over_v, parts : (forms, nv) arrays
        Forms over ``v``, dense or sparse, and magnitudes of what was summed in their coefficients; those of nonlinear rows are
        not read.
    nonlinear : (forms,) array
        Number of the nonlinear row, -1 for affine forms.
    orientation : (forms,) array
        Sign that makes each positive where it is in force.
    """

    def __init__(self, over_v: Any, parts: Any, nonlinear: np.ndarray, orientation: np.ndarray) -> None:
        self.affine = np.flatnonzero(nonlinear < 0)
        self.nonlinear = np.flatnonzero(nonlinear >= 0)
        self.rows = nonlinear[self.nonlinear]
        self.weights = over_v
        self.over_v = over_v[self.affine]
        self._parts, self._sizes = parts, parts[self.affine]
        self.orientation = orientation
        self.count = len(nonlinear)

    @classmethod
    def of(
        cls,
        mode: OpenMode,
        rows: Rows,
        nonlinear: np.ndarray,
        orientation: np.ndarray,
        amplitudes: np.ndarray,
    ) -> Forms:
        """Take forms over unknowns and sources to those over ``v``; ``amplitudes`` of the sources by their magnitudes."""
        q = mode.z_of.shape[1] - len(mode.states) - len(mode.open)
        over_v = rows.E @ mode.slope_of + rows.A @ mode.z_of
        parts = abs(rows.E) @ abs(mode.slope_of) + abs(rows.A) @ abs(mode.z_of)
        own = rows.B[:, :q]
        evaluated = abs(own) + SUMMED / ROUNDING * (abs(own) @ amplitudes[:q, :q])
        if isinstance(over_v, np.ndarray):
            over_v[:, over_v.shape[1] - q :] += own
            parts[:, parts.shape[1] - q :] += evaluated
            return cls(over_v, parts, nonlinear, orientation)
        from scipy.sparse import csr_array, hstack

        before = csr_array((len(nonlinear), over_v.shape[1] - q))
        own, evaluated = (hstack([before, csr_array(part)]) for part in (own, evaluated))
        return cls((over_v + own).tocsr(), (parts + evaluated).tocsr(), nonlinear, orientation)

    def along(self, v0: Jet) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Affine forms over [X; H] and over sources, of which ``v`` is ``v0``, and magnitudes of what was summed in both."""
        signed = self.orientation[self.affine, None] * self.over_v
        y, xi = dense(v0.y), dense(v0.xi)
        return signed @ y, signed @ xi, self._sizes @ np.abs(y), self._sizes @ np.abs(xi)

    def tangent(self, motion: Motion, v: np.ndarray) -> FormTangent:
        """The forms next to a point ``v``."""
        values, terms, gradient = np.zeros(self.count), np.zeros(self.count), None
        values[self.affine], terms[self.affine] = self.over_v @ v, self._sizes @ np.abs(v)
        if len(self.rows):
            system = motion.system
            value, slope = system.evaluate(0, [system.arguments @ v], motion.constants)[:2]
            owner = system.nonlinear_rows.owner
            gradient = np.array([(slope * (owner == row)) @ system.arguments for row in self.rows])
            values[self.nonlinear], terms[self.nonlinear] = value[self.rows], np.abs(gradient) @ np.abs(v)
        return FormTangent(self, values, terms, gradient)

    def sizes(self, motion: Motion, v: np.ndarray) -> Any:
        """Magnitudes of the terms of sparse forms for those of ``v``: nonlinear ones, whose own rows are empty, next to ``v``."""
        if not len(self.rows):
            return self._parts
        from scipy.sparse import csr_array

        own = np.ones(len(self.rows)), (self.nonlinear, np.arange(len(self.rows)))
        placed = csr_array(own, shape=(self.count, len(self.rows)))
        return self._parts + placed @ abs(csr_array(self.tangent(motion, v).gradient))

    def levels(self, motion: Motion, jets: list[np.ndarray]) -> list[np.ndarray]:
        """Values of the forms and their first time derivatives from those of ``v``, whatever their orientation."""
        found = [self.weights @ v for v in jets]
        if len(self.rows):
            system = motion.system
            arguments = [system.arguments @ v for v in jets]
            for level, value in enumerate(found):
                rows = system.evaluate(level, arguments[: level + 1], motion.constants)[0]
                value[self.nonlinear] = rows[self.rows]
        return found

    def values(self, motion: Motion, v: np.ndarray) -> np.ndarray:
        """Values (k, forms) where ``v`` (k, nv) is given."""
        found = np.empty((len(v), self.count))
        found[:, self.affine] = (self.over_v @ v.T).T
        if len(self.rows):
            system = motion.system
            for at, u in zip(found, v, strict=True):
                at[self.nonlinear] = system.evaluate(0, [system.arguments @ u], motion.constants)[0][
                    self.rows
                ]
        return found * self.orientation

    def at(self, motion: Motion, v0: np.ndarray, v1: np.ndarray) -> np.ndarray:
        """Values and time derivatives, (k, 2, forms), where ``v`` and its derivative (k, nv) are given.

        Raises
        ------
        NewtonFailure
            A nonlinear form has no value at one of the points.
        """
        found = np.empty((len(v0), 2, self.count))
        found[:, 0, self.affine], found[:, 1, self.affine] = v0 @ self.over_v.T, v1 @ self.over_v.T
        if len(self.rows):
            system = motion.system
            for at, u0, u1 in zip(found, v0, v1, strict=True):
                jets = [system.arguments @ u0, system.arguments @ u1]
                at[0, self.nonlinear] = system.evaluate(0, jets[:1], motion.constants)[0][self.rows]
                at[1, self.nonlinear] = system.evaluate(1, jets, motion.constants)[0][self.rows]
            self._check(found, v0)
        return found * self.orientation

    def _check(self, found: np.ndarray, v0: np.ndarray) -> None:
        lost = ~np.isfinite(found[:, 0, self.nonlinear]).all(axis=0)
        if lost.any():
            raise NewtonFailure("not finite", v0[-1], np.where(lost, np.nan, 0.0), self.rows)
        # The slope of a root at zero is infinite: there the values alone tell.
        np.nan_to_num(found, copy=False, posinf=0.0, neginf=0.0)
