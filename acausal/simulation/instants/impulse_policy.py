"""Whether an impulse is legal: opening elements must not cut a flow unless that is allowed."""

from __future__ import annotations

import numpy as np

from ...reduction.affine import AffineModel, Element, Kind, Restart
from ..failures import FlowInterrupted

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
