"""What an instant does to elements that transmit impulses: restitution and lost energy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .affine import AffineModel, Element, Inadmissible, Kind, Mode, ModeData, Restart

_REST = 1e-6
_FREE, _CONTACT = 0, 1


@dataclass(frozen=True, eq=False)
class Bounce:
    """Contacts that separate again at once; restart in ``mode`` from the left limits ``z``."""

    mode: Mode
    z: np.ndarray
    J1: np.ndarray
    """Impulse of compression and restitution together."""
    elements: tuple[int, ...]


def restitution(
    model: AffineModel, before: ModeData, after: Restart, z_minus: np.ndarray, xi: np.ndarray
) -> Bounce | None:
    """Newton's law of restitution for the contacts that ``after`` closes.

    Parameters
    ----------
    model : AffineModel
    before : ModeData
        The mode that is left.
    after : Restart
        The inelastic restart with the contacts closed.
    z_minus : (n,) array
        Left limits, at which the contacts approach.
    xi : (q,) array

    Returns
    -------
    Bounce or None
        None if the contacts stay closed: nothing moved, no restitution, or all approach slower
        than their ``rest_speed`` (by default 1e-6 of the magnitude of the gap's rate).

    Raises
    ------
    Inadmissible
        "mixed restitution": contacts with different coefficients close in the same instant.

    Notes
    -----
    ``z+ = z- + (1 + e) (z+_inelastic - z-)`` for all differentiated variables, exact for any mass
    matrix and any further constraints (Moreau, "Unilateral contact and dry friction in finite
    freedom dynamics", 1988).
    """
    closing = tuple(
        k
        for k, element in enumerate(model.elements)
        if after.jumped
        and element.kind is Kind.IMPACT
        and before.mode[k] == _FREE
        and after.data.mode[k] == _CONTACT
        and _approaches(model, element, before, z_minus, xi)
    )
    coefficients = {model.elements[k].restitution: None for k in closing}
    if len(coefficients) > 1:
        raise Inadmissible("mixed restitution", tuple(model.elements[k].path for k in closing))
    e = next(iter(coefficients), 0.0)
    if e == 0.0:
        return None
    x = model.differentiated
    z = np.array(z_minus, dtype=float)
    z[x] += (1.0 + e) * (after.z[x] - z_minus[x])
    mode = tuple(_FREE if k in closing else branch for k, branch in enumerate(after.data.mode))
    return Bounce(mode, z, (1.0 + e) * after.J1, closing)


def lost_energy(
    model: AffineModel,
    before: ModeData,
    after: ModeData,
    z_minus: np.ndarray,
    z_plus: np.ndarray,
    J1: np.ndarray,
    xi: np.ndarray,
    mean: np.ndarray | None = None,
) -> np.ndarray:
    """Energy that every element absorbs in an instant, shape (K,).

    A pair (x, y) absorbs ``mean(x) J(y) + mean(y) J(x)``. During the instant the variables of a linear
    model move along straight lines as seen by the impulses, so the means are those of left and right
    limits. The sum over the elements is the loss of stored energy plus the work of ideal sources.

    Parameters
    ----------
    model : AffineModel
    before, after : ModeData
        Modes on both sides of the instant.
    z_minus, z_plus : (n,) array
        Limits on both sides.
    J1 : (n,) array
        Impulse of the instant, `Bounce.J1` after a bounce.
    xi : (q,) array
    mean : (n,) array, optional
        Means of the variables in a nonlinear model.

    Notes
    -----
    The pair are the blocked variables of the first two branches, without constant parts: their
    product is the power absorbed by a controlled element or friction, and the power delivered by
    a complementarity (both non-negative there). The pair of an impact is a length and a force;
    the power contains the rate of the length.
    """
    energy = np.zeros(len(model.elements))
    limits = 0.5 * (z_minus + z_plus) if mean is None else mean
    for k, element in enumerate(model.elements):
        if element.kind not in _SIGN or len(element.blocked) < 2:
            continue
        first, second = element.blocked[0].A, element.blocked[1].A
        if element.kind is Kind.IMPACT:
            speed = 0.5 * (_rate(element, before, z_minus, xi) + _rate(element, after, z_plus, xi))
            work = speed * (second @ J1)
        else:
            work = (first @ limits) * (second @ J1) + (second @ limits) * (first @ J1)
        energy[k] = _SIGN[element.kind] * float(np.sum(work))
    return energy


_SIGN = {Kind.CONTROLLED: 1.0, Kind.FRICTION: 1.0, Kind.COMPLEMENTARITY: -1.0, Kind.IMPACT: -1.0}


def _rate_row(element: Element, data: ModeData) -> np.ndarray:
    """Time derivative of the gap over y."""
    gap = element.blocked[_FREE]
    over_y = gap.A @ data.T
    over_y[:, len(data.states) :] += gap.B
    return over_y @ data.Ay


def _rate(element: Element, data: ModeData, z: np.ndarray, xi: np.ndarray) -> np.ndarray:
    return _rate_row(element, data) @ np.concatenate((z[data.states], xi))


def _approaches(
    model: AffineModel, element: Element, before: ModeData, z_minus: np.ndarray, xi: np.ndarray
) -> bool:
    row = _rate_row(element, before)[0]
    rest = element.rest_speed
    if rest is None:
        rest = _REST * float(np.abs(row) @ np.concatenate((model.scale[before.states], model.xi_scale)))
    return bool(-(row @ np.concatenate((z_minus[before.states], xi))) > rest)
