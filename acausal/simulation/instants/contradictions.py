"""The jump of a start at which parts contradict each other: what each takes, and what their connections lose."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from ...dynamics.readout import Moment
from ...reduction.affine import Kind, Mode
from ...reduction.apart import left_apart, own_impulses
from ...reduction.core import form_matrices
from ...reduction.impacts import MEETS, absorbing
from ...reduction.rounding import ROUNDING
from ...results.energy import leaves
from ...results.power import powers_of, read_impulses
from ...results.record import STARTS, Jump
from ..numeric import NumericCore


def jump_apart(
    core: NumericCore, jump: Jump, moment: Moment, held: list[int], mode: Mode
) -> tuple[Jump, tuple[tuple[str, float], ...]]:
    """The jump with left limits of every part by itself, and what elements and connections lose; NaN where that is open.

    Core unknowns that are ``held`` have their left limits after it, whatever impulses say. It leads to a mode.
    """
    readout, reduced, model = core.readout, core.reduced, core.model
    flat, W = reduced.flat, abs(reduced.W_core)
    every, xi = tuple(range(flat.nv)), jump.left[2 * model.n :]
    begin = np.concatenate(
        [rows(core.frame, every) @ jump.left for rows in (readout.rows, readout.slope_rows)]
    )
    impulses = reduced.W_core @ jump.J1
    # What is rounding beside other impulses of the unit is none.
    impulses[np.abs(impulses) <= ROUNDING * (W @ model.largest_of_unit(np.abs(jump.J1)))] = 0.0
    scale = W @ model.network_scale + np.abs(begin[: flat.nv])
    scale[scale == 0.0] = 1.0
    owners = leaves(flat)
    ranges = [
        slice(first, first + flat.batches[k].template.nv)
        for k, at in owners
        for first in flat.batches[k].vb[at].tolist()
    ]
    part_of = np.full(flat.nv, -1)
    for k, at in enumerate(ranges):
        part_of[at] = k
    moved = np.array([impulses[at].any() for at in ranges], bool)
    found = left_apart(
        reduced, core.values, (core.exosystem, xi), begin, np.concatenate([scale, scale / model.T0]), part_of,
        np.append(~moved, False)[part_of], _open(core, mode),
    )  # fmt: skip
    of_held = np.unique(part_of[np.flatnonzero(reduced.differentiated & (W[:, held].sum(axis=1) > 0.0))])
    ends = np.stack([begin[: flat.nv], readout.rows(core.frame, every) @ jump.right])
    own, unsure = own_impulses(
        reduced, core.values, ends, impulses, part_of, [k for k in of_held.tolist() if k >= 0]
    )
    limits = np.vstack([found.values.reshape(2, -1), own])
    made = replace(jump, apart=limits)
    curved = {
        k
        for c in reduced.nonlinear
        for k in part_of[flat.batches[c.batch].vb[c.instances]].tolist()
        if k >= 0
    }
    unknown = [ranges[k] for k in {*found.wrong, *unsure, *(k for k in curved if moved[k])}]
    unknown += _undetermined(core, made, found.open, impulses, scale, moment)
    for at in unknown:
        limits[:, at] = np.nan
    into = sum(float(p.at_jump(made, readout, model.S, moment).sum()) for p in powers_of(readout, owners))
    return made, (*_absorbed(core, made, impulses, moment), (STARTS, -into))


def _open(core: NumericCore, mode: Mode) -> list[int]:
    """Rows of elements that cut a flow after the instant, and so before it: until parts are joined all of them are apart."""
    each = zip(core.reduced.flat.each(core.reduced.elements), core.model.elements, mode, strict=True)
    return [
        first + i
        for (rows, i), element, b in each
        for first, cuts in zip(rows.branches[b][0], element.branches[b].cuts_flow, strict=True)
        if cuts
    ]


def _undetermined(
    core: NumericCore,
    jump: Jump,
    directions: np.ndarray,
    impulses: np.ndarray,
    scale: np.ndarray,
    moment: Moment,
) -> Iterable[slice]:
    """Variables of components into which energy is carried that depends on what is open of the left limits."""
    flat = core.reduced.flat
    owners = [(k, s.instances) for k, s in enumerate(flat.batches) if s.template.powers]
    places = [
        slice(first, first + len(flat.batches[k].template.variables))
        for k, at in owners
        for first in flat.batches[k].vb[at].tolist()
    ]
    found = set()
    for p in powers_of(core.readout, owners):
        at = list(p.slopes)
        X, _, _, movements = read_impulses(jump, core.readout, core.model.S, moment, p.slopes, p.slopes)
        movements[np.abs(movements) <= ROUNDING * (np.abs(X) + scale[at])] = 0.0
        carried = np.concatenate([impulses[list(p.ids)], movements, [0.0]])
        for n in directions:
            ways = np.concatenate([n[list(p.ids)], n[len(impulses) + np.array(at, int)], [0.0]])
            terms = p.products.change(np.abs(ways), np.abs(carried))
            found.update(p.owners[np.abs(p.products.change(ways, carried)) > MEETS * terms].tolist())
    return [places[k] for k in found]


def _absorbed(
    core: NumericCore, jump: Jump, impulses: np.ndarray, moment: Moment
) -> Iterable[tuple[str, float]]:
    """Energy that elements absorb, as `reduction.impacts.lost_energy` has it, from left limits of every part by itself."""
    reduced = core.reduced
    every = tuple(range(reduced.flat.nv))
    _, A = form_matrices(reduced, core.values)
    known = reduced.known_of_form @ (core.exosystem.K @ (core.exosystem.S @ jump.left[2 * core.model.n :]))
    X, S, _, _ = read_impulses(jump, core.readout, core.model.S, moment, every, every)

    def times(row: int, means: np.ndarray, other: int) -> float:
        carried = float((A[[other]] @ impulses)[0])
        return float((A[[row]] @ means)[0]) * carried if carried else 0.0

    for element, (rows, i) in zip(core.model.elements, reduced.flat.each(reduced.elements), strict=True):
        sign, *pair = absorbing(element)
        if not sign:
            continue
        work = 0.0
        for a, b in zip(*(rows.branches[k][2] for k in pair), strict=True):
            if element.kind is Kind.IMPACT:
                work += times(a + i, S, b + i) + float(known[a + i]) * float((A[[b + i]] @ impulses)[0])
            else:
                work += times(a + i, X, b + i) + times(b + i, X, a + i)
        if work:
            yield element.path, sign * work
