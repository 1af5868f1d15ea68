"""Whether an impulse is legal: elements that open must not cut a flow, nor sources leap with inertia, unless that is allowed."""

from __future__ import annotations

import numpy as np

from ...dynamics.readout import Moment
from ...reduction.affine import AffineModel, Element, Kind, ModeData, Restart
from ...reduction.core import TANGENT_STATES
from ...reduction.impulses import moves_at_once, next_order
from ...reduction.rounding import ROUNDING
from ...results.power import generator_of, read_impulses
from ...results.record import Jump
from ..failures import FlowInterrupted, SourceLeaps
from ..numeric import NumericCore
from ..unknowns import Unknowns
from .transition import Instant

_NEGLIGIBLE = 1e-6
_DISABLED = 2


def interruption(
    model: AffineModel, restart: Restart, z_minus: np.ndarray, policy: str
) -> FlowInterrupted | None:
    """Return the flow that a forced open branch cuts where it takes up an impulse of its blocked variable, None without any.

    Below 1e-6 of the scale of the conserved quantity the interruption is rounding. ``policy`` is "error" or "allow", for
    elements that say nothing of their own.
    """
    if not model.elements:
        return None
    flux = _flux_scale(model, restart, z_minus)
    for k, element in enumerate(model.elements):
        branch = restart.data.mode[k]
        forced = element.kind is Kind.CONTROLLED or (
            element.kind is Kind.COMPLEMENTARITY and branch == _DISABLED
        )
        if not forced or _allowed(element, policy):
            continue
        blocked = element.blocked[branch].A @ restart.J1
        for cut, amount in zip(element.branches[branch].cuts_flow, np.abs(blocked), strict=True):
            if cut and amount > _NEGLIGIBLE * flux:
                return FlowInterrupted(k, float(amount), restart, z_minus)
    return None


def _allowed(element: Element, policy: str) -> bool:
    return policy == "allow" if element.impulse_allowed is None else element.impulse_allowed


def _flux_scale(model: AffineModel, restart: Restart, z_minus: np.ndarray) -> float:
    """Largest conserved quantity of the variables that jump, at their scales."""
    rows = model.rows(restart.data.mode)
    moved = model.differentiated & (restart.z != z_minus)
    return float(np.max(np.abs(rows.E[:, moved]) * model.scale[moved], initial=0.0))


def source_leaps(
    core: NumericCore,
    unknowns: Unknowns,
    moment: Moment,
    before: np.ndarray,
    restart: Restart,
    instant: Instant,
) -> SourceLeaps | None:
    """Return what sources that step, from their states ``before``, move at once though a flow carries that, None without any.

    Positions follow with an infinite speed. Where a flow has to make that, it is an impulse of second order, the rate of one, and
    there is no impulse that would be as large. What has no inertia follows without a flow.
    """
    data, xi, z_minus = restart.data, instant.xi, instant.z_minus
    if not isinstance(data, ModeData) or not len(data.constraints) or len(before) != len(xi):
        return None
    model, n, step = core.model, len(z_minus), xi - before
    if core.reduced.nonlinear:
        step[-TANGENT_STATES:] = 0.0  # The time since an instant begins anew.
    over = data.constraints[:, n:]
    stepped = np.abs(over @ step) > ROUNDING * (np.abs(over) @ (np.abs(xi) + np.abs(before)))
    J1 = data.impulse @ np.where(stepped, instant.limits(data).sudden, 0.0)
    if not moves_at_once(model, data, J1, restart.z):
        return None
    J2 = next_order(model, data, J1[:, None])[:, 0]
    J2[np.abs(J2) <= _NEGLIGIBLE * model.scale * np.max(np.abs(J2) / model.scale)] = 0.0
    flows, left = unknowns.flows, np.concatenate([z_minus, data.T @ (data.Ay @ restart.y), xi])
    right = left + np.concatenate([J1, np.zeros(len(left) - n)])
    carried = read_impulses(Jump(left, right, J2), core.readout, generator_of(data), moment, flows, ())[2]
    if not carried.any():
        return None
    largest = int(np.argmax(np.abs(carried)))
    leap = np.where(unknowns.positions, np.abs(restart.z - z_minus), 0.0)
    return SourceLeaps(int(np.argmax(leap)), flows[largest], float(carried[largest]), restart, z_minus)
