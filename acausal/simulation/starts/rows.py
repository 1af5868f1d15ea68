"""Conditions of a start as scaled linear rows over the coordinates of one mode, at a point."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np

from ...values import frozen
from ..checks import beyond_doubles
from .conditions import Conditions
from .frames import Aim, Frame, Linearised, StartPoint
from .priorities import MISSED, largest_alike, least_squares
from .stated import Rank

SPEED = 1
"""By which wishes for speeds come after those for positions of the same rank."""
CANCELLED = 1e-13
"""Coefficient, relative to the terms that it is the sum of, that counts as zero: some hundred roundings."""
SLIGHT = 1e-3
"""Least unit of conditions that Newton's method solves for, of their magnitudes: a rate may be of second order at rest, and
with its vanishing slope as unit it would contradict others next to the point at which all of them are zero."""
STEP = 1e-6
"""Of difference quotients, in units of the scale: truncation and rounding of central ones are both near 1e-11 there."""


@frozen
class System:
    """Scaled linear conditions at a point: ``A step = b``, hard rows of the mode first."""

    A: np.ndarray
    b: np.ndarray
    rank: np.ndarray
    which: np.ndarray
    """Condition of every row, -1 for a hard one."""
    divisor: np.ndarray
    """What rows and defects are divided by."""
    common: np.ndarray
    """The same for all conditions of one unit: distances count as distances."""
    here: Linearised
    """The point."""

    @property
    def top(self) -> np.ndarray:
        """Rows that must be met."""
        return self.rank <= Rank.STEADY

    @property
    def distance(self) -> float:
        """Length of what these miss."""
        return float(np.linalg.norm(self.b[self.top]))

    def over(self, divisor: np.ndarray, kept: bool) -> System:
        """The rows over other divisors; what must hold is of one rank then, behind the rows of the mode if these are ``kept``."""
        factor, rank = self.divisor / divisor, np.where(self.top, Rank.FIXED, self.rank)
        if kept:
            rank[self.which < 0] -= 1
        return replace(
            self, A=self.A * factor[:, None], b=self.b * factor, rank=rank, divisor=divisor, common=divisor
        )


class ConditionRows:
    """Conditions over the coordinates of a frame: values, slopes and magnitudes."""

    def __init__(self, conditions: Conditions, frame: Frame) -> None:
        self.problem, self.conditions, self.frame = conditions.problem, conditions, frame
        self.D, self.Z, self.X, self.constant = conditions.stacked
        self._sizes_D, self._sizes_Z = abs(self.D), abs(self.Z)
        self._rate_of = conditions.rate_of
        self._fixes = np.array([c.rank is Rank.FIXED and c.unknown >= 0 for c in conditions.items], bool)
        self.involved = self._involved()
        """Conditions that depend on unknowns which Newton's method has to solve for."""

    def _involved(self) -> np.ndarray:
        """Mask over the conditions."""
        z_open, slopes_open = self.frame.over_open
        reads = np.asarray(self._sizes_Z @ np.abs(z_open) + self._sizes_D @ np.abs(slopes_open))
        found = reads.max(axis=1, initial=0.0) > 0.0
        if z_open.shape[1]:
            tangents = self.problem.tangents
            for k, _, at, _ in self.conditions.nonlinear(
                np.zeros(len(self.problem.program.nonlinear_rows.owner)), self.problem.values
            ):
                reads = abs(tangents.Z[at]) @ np.abs(z_open) + abs(tangents.D[at]) @ np.abs(slopes_open)
                found[k] = bool(np.any(reads))
            for k, _ in self.conditions.observed:
                found[k] = True
        return found

    def driven(self) -> np.ndarray:
        """Mask of the derivatives that cannot be zero: sources alone determine their variables."""
        here = self.frame.linearised(self.frame.begin, Aim(~self.involved))
        return self.conditions.driven(here.z_x * self.frame.scale, self.problem.core.model.scale)

    def reads_motion(self, at: StartPoint) -> np.ndarray:
        """Mask of the conditions that depend on rates of constrained coordinates."""
        rows = self._values(self.frame.linearised(at, Aim(~self.involved)))[1]
        return np.abs(rows[:, self.frame.moving]).max(axis=1, initial=0.0) > 0.0

    def system(self, at: StartPoint, aim: Aim) -> System:
        """Hard rows and active conditions at a point, scaled."""
        point = self.frame.linearised(at, aim)
        value, rows, size, flat = self._values(point)
        rows, which = rows * self.frame.scale, np.flatnonzero(aim.active)
        largest = np.abs(rows).max(axis=1, initial=0.0)
        # Values are given with a relative precision: rows count by their largest term, be it known or not.
        terms = self._terms(value, rows, at.x / self.frame.scale)
        divisor = np.where(flat, self._known(point, terms, size), np.maximum.reduce((largest, terms, size)))
        divisor = divisor[which]
        hard = point.hard * self.frame.scale
        hard_size = np.abs(hard).max(axis=1, initial=0.0)
        hard_size[hard_size == 0.0] = 1.0
        A = np.vstack([hard / hard_size[:, None], rows[which] / divisor[:, None]])
        divisor = np.concatenate([hard_size, divisor])
        b = -np.concatenate([point.defect, value[which]]) / divisor
        if not (np.isfinite(A).all() and np.isfinite(b).all()):
            problem = self.problem
            raise beyond_doubles(
                problem.flat, problem.values.P, problem.moment.t, "the equations of the start"
            )
        none = np.full(len(hard), -1)
        own = self.conditions.rank[which].copy()
        # Of wishes of one rank those for positions come first: no speed moves a position to please another one.
        moving = np.abs(rows[which][:, self.frame.moving]).max(axis=1, initial=0.0) > 0.0
        own[moving & (own >= Rank.GIVEN)] += SPEED
        rank = np.concatenate([np.zeros(len(hard), np.int64), own])
        self._release(point, A, rank, which)
        if aim.demanded > Rank.STEADY:
            rank[(rank <= aim.demanded) | (rank == Rank.RESTING_GIVEN)] = Rank.FIXED
        common = largest_alike(divisor, [""] * len(hard) + [self._units[k] for k in which.tolist()])
        return System(A, b, rank, np.concatenate([none, which]), divisor, common, point)

    @cached_property
    def _units(self) -> list[str]:
        """Units of the values that conditions prescribe, "" for those that prescribe none."""
        unit = self.problem.program.unknowns.unit
        return [unit(c.variable) if c.variable >= 0 else "" for c in self.conditions.items]

    @cached_property
    def _core_units(self) -> list[str]:
        unit = self.problem.program.unknowns.unit_of_core
        return [unit(j) for j in range(len(self.problem.core.model.scale))]

    def _terms(self, value: np.ndarray, rows: np.ndarray, x: np.ndarray) -> np.ndarray:
        """Largest terms of the conditions: what the scaled coordinates contribute, the rest, and what is prescribed."""
        known = value - rows @ x - self.constant
        parts = (np.abs(rows * x).max(axis=1, initial=0.0), np.abs(known), np.abs(self.constant))
        return np.maximum.reduce(parts)

    def _known(self, point: Linearised, terms: np.ndarray, size: np.ndarray) -> np.ndarray:
        """Sizes of conditions that no coordinate moves: the largest value of their unit at the point, at most ``size``.

        A scale says how large a variable could become, and nothing of how exactly it is known: in units of one that exceeds all
        values by decades a start that the mode contradicts would count as met.
        """
        values = largest_alike(np.concatenate([terms, np.abs(point.z)]), self._units + self._core_units)
        values, rates = values[: len(terms)], np.asarray(self._sizes_D.sum(axis=1)).ravel() > 0.0
        known = (values > 0.0) & (np.array(self._units) != "") & ~rates
        return np.where(known, np.minimum(values, size), size)

    def _release(self, point: Linearised, A: np.ndarray, rank: np.ndarray, which: np.ndarray) -> None:
        """Let variables move that follow from fixed ones, as these may: lower the ranks of their rates."""
        rates, fixed = self._rate_of[which] >= 0, self._fixes[which]
        if not (rates.any() and fixed.any()):
            return
        hard = np.ones(len(A) - len(which), bool)
        _, free = least_squares(A[np.concatenate([hard, fixed])], np.zeros(len(hard) + int(fixed.sum())))
        over = point.z_x[self._rate_of[which[rates]]] * self.frame.scale
        size = np.linalg.norm(over, axis=1)
        follows = (size > 0.0) & (np.linalg.norm(over @ free, axis=1) <= MISSED * size)
        at = len(hard) + np.flatnonzero(rates)[follows]
        rank[at] = np.maximum(rank[at], Rank.STEADY_FIXED)

    def defects(self, at: StartPoint, aim: Aim) -> np.ndarray:
        """What is missing in the rows of a system at another point, not scaled."""
        conditions, xi = self.conditions, self.conditions.xi
        point = self.frame.linearised(at, replace(aim, solved=False))
        value = self._affine_values(point)
        if conditions.nonlinear_rows:
            for k, found, _, _ in conditions.nonlinear(
                self.problem.tangents.arguments(point.z, point.slopes, xi), self.problem.values
            ):
                value[k] = found
        if conditions.observed:
            value[[k for k, _ in conditions.observed]] += conditions.read(point.z, point.slopes, xi)
        return -np.concatenate([point.defect, value[aim.active]])

    def _affine_values(self, point: Linearised) -> np.ndarray:
        return self.Z @ point.z + self.D @ point.slopes + self.X @ self.conditions.xi + self.constant

    def _values(self, point: Linearised) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Values (k,) and derivatives by the coordinates (k, nx) of all conditions, least units (k,), and which do not vary."""
        value, size, xi = self._affine_values(point), self.conditions.magnitudes.copy(), self.conditions.xi
        rows = np.asarray(self.Z @ point.z_x + self.D @ point.slopes_x)
        if self.conditions.nonlinear_rows:
            tangents = self.problem.tangents
            arguments = tangents.arguments(point.z, point.slopes, xi)
            for k, found, at, gradient in self.conditions.nonlinear(arguments, self.problem.values):
                value[k] = found
                rows[k] = gradient @ (tangents.Z[at] @ point.z_x + tangents.D[at] @ point.slopes_x)
                size[k] = float(np.max(np.abs(gradient) * tangents.scale[at], initial=0.0))
        self._observe(point, value, rows, size, xi)
        reach = np.asarray(self._sizes_Z @ np.abs(point.z_x) + self._sizes_D @ np.abs(point.slopes_x))
        rows[np.abs(rows) <= CANCELLED * reach] = 0.0
        flat, size = np.abs(rows).max(axis=1, initial=0.0) == 0.0, np.where(size > 0.0, size, 1.0)
        return value, rows, np.where(flat, size, SLIGHT * size * self.involved), flat

    def _observe(
        self, point: Linearised, value: np.ndarray, rows: np.ndarray, size: np.ndarray, xi: np.ndarray
    ) -> None:
        """Variables outside the core, differentiated by difference quotients along each coordinate."""
        observed = self.conditions.observed
        if not observed:
            return
        at, scale = [k for k, _ in observed], self.frame.scale
        read = self.conditions.read
        here = read(point.z, point.slopes, xi)
        value[at] += here
        size[at] = np.maximum(np.abs(here), np.abs(self.constant[at]))
        for j in range(len(scale)):
            h = STEP * scale[j]
            dz, ds = h * point.z_x[:, j], h * point.slopes_x[:, j]
            rows[at, j] = (
                read(point.z + dz, point.slopes + ds, xi) - read(point.z - dz, point.slopes - ds, xi)
            ) / (2.0 * h)
        # Rounding of the quotient is no slope.
        noise = CANCELLED / STEP * size[at]
        small = np.abs(rows[at]) * scale <= noise[:, None]
        rows[at] = np.where(small, 0.0, rows[at])
