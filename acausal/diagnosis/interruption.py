"""Which flow an opening element cuts, and what would have to jump; what a source that steps would move at once."""

from __future__ import annotations

import numpy as np

from ..errors import FlowInterruptedError, InfiniteImpulseError
from ..flattening.template import place_of
from ..reduction.affine import Restart
from ..simulation.failures import FlowInterrupted, SourceLeaps
from ..simulation.standing import Standing


def flow_interrupted(now: Standing, failure: FlowInterrupted) -> FlowInterruptedError:
    """Return the error for an opening element that cuts a flow."""
    unit_of = now.program.unknowns.unit_of_core
    k, amount, restart, z_minus = failure.element, failure.amount, failure.restart, failure.z_minus
    model = now.core.model
    element = model.elements[k]
    blocked = element.blocked[restart.data.mode[k]].A
    unit = unit_of(int(np.argmax(np.abs(blocked).max(axis=0) * (np.abs(restart.J1) > 0))))
    name, place = now.program.unknowns.element_place(k)
    flow, stored = _cut(now, k, restart, z_minus), _most_moved(now, restart, z_minus)
    why = f"the flux {amount:.6g} {unit}.s has nowhere to go"
    if stored not in (*flow, -1):
        before, after = (_value(now, stored, z) for z in (z_minus, restart.z))
        why += f"; `{now.program.unknowns.state_name(stored)}` would jump {before:.6g} -> {after:.6g} {unit_of(stored)}"
    names = " + ".join(
        f"{'-' * (c < 0)}{now.program.unknowns.state_name(j)}" for j, c in flow.items()
    ).replace("+ -", "- ")
    total = sum(c * _value(now, j, z_minus) for j, c in flow.items())
    return FlowInterruptedError(
        f"opening `{name}` at t = {now.state.t:.9g} interrupts `{names}` = {total:.6g} {unit_of(next(iter(flow)))}:"
        f" no parallel path; impulse {amount:.6g} {unit}.s at `{name}`",
        where=(place,),
        why=why,
        hint='give the flow another path (a freewheeling element), or allow it: impulses="allow" or interrupt=Impulse.ALLOW',
    )


def source_leaps(now: Standing, failure: SourceLeaps) -> InfiniteImpulseError:
    """Return the error for a source that steps and moves at once what no finite impulse moves."""
    unknowns, moved, flow = now.program.unknowns, failure.moved, now.flat.variable(failure.flow)
    name, unit = unknowns.state_name(moved), unknowns.unit_of_core(moved)
    before, after = (_value(now, moved, z) for z in (failure.z_minus, failure.restart.z))
    amount = f"{failure.amount:.6g} {unknowns.unit(failure.flow)}.s2"
    return InfiniteImpulseError(
        f"a source steps at t = {now.state.t:.9g} and moves `{name}` at once, {before:.6g} -> {after:.6g} {unit}",
        where=place_of(now.flat.root, name),
        why=f"no finite impulse does that: `{flow}` takes one of second order, {amount}",
        hint="give the source a ramp in place of the step, put something that yields in between,"
        ' or allow it: impulses="allow"',
    )


def _cut(now: Standing, k: int, restart: Restart, z_minus: np.ndarray) -> dict[int, float]:
    """Core unknowns of the largest flow that the branch in force of element ``k`` prescribes, and their factors."""
    branch = now.core.model.elements[k].branches[restart.data.mode[k]]
    rows = branch.equations.A[np.array(branch.cuts_flow)]
    row = rows[np.argmax(np.abs(rows @ z_minus))]
    found = {j: float(row[j]) * _sign(now, j) for j in np.flatnonzero(row).tolist()}
    first = next(iter(found.values()))
    return {j: c / first for j, c in found.items()}


def _sign(now: Standing, j: int) -> int:
    """Sign of core unknown ``j`` in the variable that names it."""
    alias = now.program.unknowns.single(now.flat.find("v", now.program.unknowns.state_name(j))[0])
    return 1 if alias is None else alias[1]


def _value(now: Standing, j: int, z: np.ndarray) -> float:
    """Value of the variable that names core unknown ``j``."""
    return _sign(now, j) * float(z[j])


def _most_moved(now: Standing, restart: Restart, z_minus: np.ndarray) -> int:
    """The differentiated variable that jumps most against its scale; -1 if none does."""
    model = now.core.model
    change = np.where(model.differentiated, np.abs(restart.z - z_minus) / model.scale, 0.0)
    return int(np.argmax(change)) if change.any() else -1
