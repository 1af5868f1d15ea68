"""Consistent restart in a mode: from left limits to values that its constraints admit, with conserved quantities kept."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from ...dynamics.noise import CERTAIN, Uncertainty, shifted
from ...reduction.affine import CONTRADICTING, AffineModel, Inadmissible, ModeData, Restart
from ...reduction.impulses import after_jump, moved_by_limits, moves_at_once, next_order
from ...reduction.rounding import ROUNDING

_CONFLICT = 1e-9
_NONE = np.zeros(0)


class LeftLimits:
    """Left limits at which a mode is entered, and the defects of its constraints there.

    Parameters
    ----------
    data : ModeData
        The mode that is entered.
    z_minus : (n,) array
        Left limits of all variables.
    xi : (q,) array
        Sources at their right limit.
    known : Uncertainty
        Of the left limits. Where they may not be late they were given or solved for, and what is uncertain stays.

    Attributes
    ----------
    residual : (k,) array
        Defects of the constraints, zero where they are the rounding of their own terms.
    rounded : (k,) array
        Defects that rounding explains, of each constraint by itself.
    moves : bool
        Whether it leaves any: such a defect comes of how left limits move while the instant may be late, or is a jump.
    """

    __slots__ = ("data", "known", "moves", "residual", "rounded", "xi", "z_minus")

    def __init__(
        self, data: ModeData, z_minus: np.ndarray, xi: np.ndarray, known: Uncertainty = CERTAIN
    ) -> None:
        self.data, self.z_minus, self.xi, self.known = data, z_minus, xi, known
        self.residual, self.rounded, self.moves = _NONE, _NONE, False
        if not len(data.constraints):
            return
        z = np.concatenate((z_minus, xi))
        self.residual = data.constraints.dot(z)
        off = np.abs(self.residual)
        self.residual[off <= ROUNDING * data.constraint_terms.dot(np.abs(z))] = 0.0
        self.rounded = ROUNDING * data.constraint_sizes.dot(rounded_sizes(z, known.error))
        self.moves = True in ((off > self.rounded) & (self.residual != 0.0)).tolist()

    @property
    def explained(self) -> np.ndarray:
        """Defects (k,) up to which what is uncertain explains them.

        What a sign test cannot tell from zero has to close without an impulse. Both count the same of a row, its own terms and
        those that it was made of: the test reads a gap along the chain of parts in between, of which a constraint may have none
        left.
        """
        n, rows = len(self.z_minus), self.data.constraints
        return self.rounded + self.known.moving(rows[:, :n], rows[:, n:])

    @property
    def sudden(self) -> np.ndarray:
        """Defects (k,) that nothing uncertain explains, others zero: these are jumps."""
        return np.where(np.abs(self.residual) > self.explained, self.residual, 0.0)

    def carried(self) -> Carried | None:
        """What a jump carries on of the motion of left limits; None where they do not move."""
        k = len(self.data.states)
        motion = self.known.motion(self.data.Ay[k:, k:] @ self.xi)
        return None if motion is None else Carried(self, motion)


def restart(model: AffineModel, limits: LeftLimits, reinits: Sequence[tuple[int, float]] = ()) -> Restart:
    """Consistent values in the mode that is entered, with the conserved quantities kept.

    Parameters
    ----------
    model : AffineModel
    limits : LeftLimits
    reinits : sequence of (int, float)
        Differentiated variables that take a value by an external impulse on their own conserved
        quantity; everything else is conserved.

    Returns
    -------
    Restart
        ``jumped`` is False and ``J1`` zero if what is uncertain explains all defects of the constraints and nothing was
        reinitialised. Such defects are removed with the conserved quantities kept, too; those of the size of rounding
        leave the selected states bit by bit as they were.

    Raises
    ------
    Inadmissible
        "contradictory sources", "reinit" (a constraint of the mode forbids the value) or "singular".
    """
    data, xi = limits.data, limits.xi
    if len(data.admissible):
        require_admissible(model, data, xi)
    k = len(data.states)
    moved = False
    if reinits:
        limits, moved = _reinitialised(model, limits, reinits)
    y = np.concatenate((limits.z_minus[data.states], xi))
    J1 = removed = defects = None
    if len(data.constraints):
        residual = limits.residual
        sudden = limits.sudden if limits.moves else _NONE
        if any(sudden.tolist()):
            _require_met(model, data, sudden)
            y[:k], J1 = after_jump(data, limits.z_minus, xi, sudden)
            residual = residual - sudden
        if limits.known.rate is not None and any(residual.tolist()):
            y[:k] += data.moved(residual)
            removed, defects = np.abs(data.jump) @ np.abs(residual), residual
    for variable, value in reinits:
        y[:k][data.states == variable] = value
    jumped = moved or J1 is not None
    return Restart(
        data, y, data.unknowns(y), np.zeros(model.n) if J1 is None else J1, jumped, removed, defects
    )


def rounded_sizes(point: np.ndarray, error: np.ndarray | None) -> np.ndarray:
    """Magnitudes of a point whose last digits are off by its rounding; its first entries by ``error`` beside them."""
    size = np.abs(point)
    if error is not None:
        size[: len(error)] += error / ROUNDING
    return size


def _require_met(model: AffineModel, data: ModeData, residual: np.ndarray) -> None:
    terms = data.unmet * residual
    if (np.abs(terms.sum(axis=1)) > _CONFLICT * np.abs(terms).sum(axis=1)).any():
        raise Inadmissible("singular", lambda: (model.names[j] for j in data.dependent.tolist()))


def require_admissible(model: AffineModel, data: ModeData, xi: np.ndarray) -> None:
    """Raise `Inadmissible` where sources contradict each other in a mode."""
    size = np.max(np.abs(data.admissible) * model.xi_scale, axis=1)
    failed = np.abs(data.admissible @ xi) > CONTRADICTING * size
    if failed.any():
        raise Inadmissible("contradictory sources", partial(data.culprits, failed))


def _reinitialised(
    model: AffineModel, limits: LeftLimits, reinits: Sequence[tuple[int, float]]
) -> tuple[LeftLimits, bool]:
    """Left limits shifted so that the restart gives the wanted values, and whether any of them moves.

    An impulse ``rho`` that enters where ``x'`` stands acts as a left limit ``x- + rho``. None does where left limits have these
    values and meet the constraints.
    """
    data, z_minus, xi = limits.data, limits.z_minus, limits.xi
    which = np.array([variable for variable, _ in reinits])
    wanted = np.array([value for _, value in reinits])
    moved = bool(np.any(np.abs(wanted - z_minus[which]) > ROUNDING * np.abs(wanted)))
    if not (moved or limits.residual.any()):
        return limits, False
    k, scale = len(data.states), model.scale[which]
    sensitivity, start = moved_by_limits(data, which), z_minus[data.states]
    if len(data.constraints):
        # What no restart removes as rounding must not move a value that is held either.
        start = after_jump(data, z_minus, xi, limits.residual)[0]
    response = data.T[which, :k] @ sensitivity * (scale / scale[:, None])
    defect = (wanted - data.T[which] @ np.concatenate((start, xi))) / scale
    shift = np.linalg.lstsq(response, defect, rcond=_CONFLICT)[0]
    missed = np.abs(response @ shift - defect) > _CONFLICT * (1.0 + np.abs(wanted) / scale)
    if missed.any():
        raise Inadmissible("reinit", lambda: (model.names[j] for j in which[missed].tolist()))
    shifted = np.array(z_minus, dtype=float)
    shifted[which] += shift * scale
    return LeftLimits(data, shifted, xi, limits.known), moved


def second_impulse(
    model: AffineModel, after: Restart, limits: LeftLimits, reinits: Sequence[tuple[int, float]] = ()
) -> np.ndarray | None:
    """The impulse of second order, the rate of one, behind that of a restart, and what rounding makes of it, (n, 1 + k).

    A force that moves positions at once is one. None where the restart moves no position by more than the rounding of all that
    gaps may be summed from.
    """
    data = after.data
    if not moves_at_once(model, data, after.J1, after.z):
        return None
    if reinits:
        limits, _ = _reinitialised(model, limits, reinits)
    # All defects together: those of a chain may be beyond doubt in one row alone.
    first = data.impulse @ np.column_stack([limits.residual, np.diag(limits.explained)])
    return next_order(model, data, first)


class Carried:
    """What a jump makes of the motion of left limits while the instant may be late.

    All of them move together, and so does what follows from them: what the jump makes of a speed that is known to half of it has
    the sign of that speed.

    Attributes
    ----------
    y : (ny, ...) array
        How far the states and sources move.
    removed : (k,) array
        How far the part of defects that is rounding may have moved the states; the rest moves with left limits.
    """

    def __init__(self, limits: LeftLimits, motion: np.ndarray) -> None:
        data, residual = limits.data, limits.residual
        self._data, self._rounded = data, limits.rounded
        self._moves = (data.constraints @ motion).T
        self.y = data.chosen(motion)
        self.y[: len(data.states)] += data.jump @ np.where(residual != 0.0, self._moves, 0.0).T
        self.removed = np.abs(data.jump) @ np.minimum(np.abs(residual), self._rounded)

    @property
    def point(self) -> np.ndarray:
        """How far core unknowns and sources (n + q, ...) move."""
        return np.concatenate([self._data.T @ self.y, self.y[len(self._data.states) :]])

    def impulse(self, forms: np.ndarray) -> np.ndarray:
        """How far impulses (m,) of forms over the core unknowns (m, n) are uncertain."""
        impulse = self._data.impulse
        return shifted(forms, impulse @ self._moves.T) + np.abs(forms @ (impulse * self._rounded)).sum(axis=1)
