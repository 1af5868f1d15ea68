"""Whether an impulse is legal: opening elements must not cut a flow unless that is allowed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...reduction.affine import Element, Kind, Restart
from ..failures import FlowInterrupted

if TYPE_CHECKING:
    from ..run import Run

_NEGLIGIBLE = 1e-6
_DISABLED = 2


def check_interruption(run: Run, restart: Restart, z_minus: np.ndarray, kind: str) -> None:
    """Raise FlowInterruptedError when a forced open branch takes up an impulse of its blocked variable.

    Below 1e-6 of the scale of the conserved quantity the interruption is rounding; at the start
    left limits may contradict the model and jumps are only logged.
    """
    model = run.core.model
    if kind == "start" or not model.elements:
        return
    flux = _flux_scale(run, restart, z_minus)
    for k, element in enumerate(model.elements):
        branch = restart.data.mode[k]
        forced = element.kind is Kind.CONTROLLED or (
            element.kind is Kind.COMPLEMENTARITY and branch == _DISABLED
        )
        if not forced or _allowed(run, element):
            continue
        blocked = element.blocked[branch].A @ restart.J1
        for cut, amount in zip(element.branches[branch].cuts_flow, np.abs(blocked), strict=True):
            if cut and amount > _NEGLIGIBLE * flux:
                raise run.failed(FlowInterrupted(k, float(amount), restart, z_minus))


def _allowed(run: Run, element: Element) -> bool:
    return run.options.impulses == "allow" if element.impulse_allowed is None else element.impulse_allowed


def _flux_scale(run: Run, restart: Restart, z_minus: np.ndarray) -> float:
    """Largest conserved quantity of the variables that jump, at their scales."""
    model = run.core.model
    rows = model.rows(restart.data.mode)
    moved = model.differentiated & (np.abs(restart.z - z_minus) > 1e-15 * model.scale)
    return float(np.max(np.abs(rows.E[:, moved]) * model.scale[moved], initial=0.0))
