"""Consistent restart after an instant."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import chain

import numpy as np

from .affine import AffineModel, Inadmissible, ModeData, Restart

ROUNDING = 1e-14
"""Part of the terms of a sum below which it is zero, some fifty roundings, for constraints as for guards: both speak of the same
left limits."""
CONTRADICTING = 1e-8
"""What sources leave of a condition on them, relative to its largest terms, from which they contradict each other; less is what
rounding in parameters and in the elimination leaves."""
_CONFLICT = 1e-9

Doubt = Callable[[np.ndarray, np.ndarray], np.ndarray]


def restart(
    model: AffineModel,
    data: ModeData,
    z_minus: np.ndarray,
    xi: np.ndarray,
    reinits: Sequence[tuple[int, float]] = (),
    doubt: Doubt | None = None,
) -> Restart:
    """Consistent values in the candidate mode ``data``, with the conserved quantities kept.

    Parameters
    ----------
    model : AffineModel
    data : ModeData
        The mode that is entered.
    z_minus : (n,) array
        Left limits of all variables.
    xi : (q,) array
        Sources at their right limit.
    reinits : sequence of (int, float)
        Differentiated variables that take a value by an external impulse on their own conserved
        quantity; everything else is conserved.
    doubt : callable, optional
        Rows (k, n) over the left limits and (k, q) over the sources -> how uncertain they are, besides their last digits.

    Returns
    -------
    Restart
        ``jumped`` is False, ``J1`` zero and the selected states are taken over bit by bit if all
        constraints hold to rounding and nothing was reinitialised.

    Raises
    ------
    Inadmissible
        "contradictory sources", "reinit" (a constraint of the mode forbids the value) or "singular".
    """
    if len(data.admissible):
        _require_admissible(model, data, xi)
    k = len(data.states)
    moved = False
    if reinits:
        z_minus, moved = _reinitialised(model, data, z_minus, xi, reinits, doubt)
    y = np.concatenate((z_minus[data.states], xi))
    J1 = None
    if len(data.constraints):
        residual = _residuals(data, z_minus, xi, doubt)
        if residual is not None:
            _require_met(model, data, residual)
            y[:k] += data.jump @ residual
            J1 = data.impulse @ residual
    for variable, value in reinits:
        y[:k][data.states == variable] = value
    jumped = moved or J1 is not None
    return Restart(data, y, data.T @ y, np.zeros(model.n) if J1 is None else J1, jumped)


def _residuals(data: ModeData, z_minus: np.ndarray, xi: np.ndarray, doubt: Doubt | None) -> np.ndarray | None:
    """Defects of the constraints; what the doubt about the left limits explains counts as zero, None if that is all."""
    z = np.concatenate((z_minus, xi))
    residual = data.constraints @ z
    noise = ROUNDING * (np.abs(data.constraints) @ np.abs(z))
    if doubt is not None:
        noise += doubt(data.constraints[:, : len(z_minus)], data.constraints[:, len(z_minus) :])
    small = np.abs(residual) <= noise
    residual[small] = 0.0
    return None if small.all() else residual


def _require_met(model: AffineModel, data: ModeData, residual: np.ndarray) -> None:
    terms = data.unmet * residual
    if (np.abs(terms.sum(axis=1)) > _CONFLICT * np.abs(terms).sum(axis=1)).any():
        raise Inadmissible("singular", tuple(model.names[j] for j in data.dependent.tolist()))


def _require_admissible(model: AffineModel, data: ModeData, xi: np.ndarray) -> None:
    size = np.max(np.abs(data.admissible) * model.xi_scale, axis=1)
    failed = np.abs(data.admissible @ xi) > CONTRADICTING * size
    if failed.any():
        names = [name for name, wrong in zip(data.admissible_names, failed, strict=True) if wrong]
        raise Inadmissible("contradictory sources", chain(*names))


def _reinitialised(
    model: AffineModel,
    data: ModeData,
    z_minus: np.ndarray,
    xi: np.ndarray,
    reinits: Sequence[tuple[int, float]],
    doubt: Doubt | None,
) -> tuple[np.ndarray, bool]:
    """Left limits shifted so that the restart gives the wanted values, and whether any of them moves.

    An impulse ``rho`` that enters where ``x'`` stands acts as a left limit ``x- + rho``.
    """
    which = np.array([variable for variable, _ in reinits])
    wanted = np.array([value for _, value in reinits])
    k, scale = len(data.states), model.scale[which]
    sensitivity = np.zeros((k, len(which)))
    sensitivity[data.states[:, None] == which] = 1.0
    start = z_minus[data.states]
    if len(data.constraints):
        sensitivity += data.jump @ data.constraints[:, which]
        # What no restart removes as rounding must not move a value that is held either.
        residual = _residuals(data, z_minus, xi, doubt)
        start = start if residual is None else start + data.jump @ residual
    response = data.T[which, :k] @ sensitivity * (scale / scale[:, None])
    defect = (wanted - data.T[which] @ np.concatenate((start, xi))) / scale
    shift = np.linalg.lstsq(response, defect, rcond=_CONFLICT)[0]
    missed = np.abs(response @ shift - defect) > _CONFLICT * (1.0 + np.abs(wanted) / scale)
    if missed.any():
        raise Inadmissible("reinit", tuple(model.names[j] for j in which[missed].tolist()))
    shifted = np.array(z_minus, dtype=float)
    shifted[which] += shift * scale
    return shifted, bool(np.any(np.abs(wanted - z_minus[which]) > ROUNDING * np.abs(wanted)))
