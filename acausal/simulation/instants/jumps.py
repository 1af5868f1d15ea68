"""What an instant does where something jumps: impacts after the inelastic restart, the way to it, and its record."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

from ...dynamics.noise import Uncertainty
from ...reduction.affine import AffineModel, Element, Inadmissible, Kind, Mode, ModeData, Restart
from ...reduction.core import Values
from ...reduction.impacts import CONTACT, FREE, MEETS, lost_energy
from ...reduction.rounding import ROUNDING
from ...results.record import STARTS, TOGETHER, Jump
from ..failures import UNSOLVED, ImpactsUnending
from ..nonlinear.linearisation import Linearisation
from ..numeric import NumericCore
from ..run import Run
from .choice import bend_along, restarted
from .collisions import collisions
from .contradictions import jump_apart
from .impact_rounds import ImpactFailed, Stage, limits_of
from .standstill import turned
from .transition import Choice, Instant

Enter = Callable[[Iterable[Mode]], Iterator[Restart]]
"""Restarts from the left limits in those of some modes that can exist."""


def collide(
    run: Run,
    restart: Restart,
    instant: Instant,
    left: Callable[[Restart], tuple[Stage, ...]],
    next_mode: Callable[[Mode, Instant, tuple[str, ...]], Choice],
) -> tuple[Restart, tuple[Stage, ...], Instant]:
    """What the law of impact makes of an inelastic restart in which contacts with restitution take an impulse, and the way.

    Third what remains of the instant after the rounds.
    """
    left_limits = replace(instant, crossed=None)

    def solve(now: Instant, mode: Mode, forced: tuple[int, ...], first: bool) -> Restart:
        # What collides jumps because it exceeds the doubt about the left limits: they are known no worse when asked again.
        again = instant if first else now
        return next_mode(mode, replace(again, forced=forced), ("collision",)).restart

    found = collisions(restart, left, left_limits, lambda: run.core, solve)
    for stage in found.stages:
        turning = turned(run.core.model, stage)
        if turning:
            raise ImpactFailed("turned", turning)
    if found.plastic:
        run.notify(ImpactsUnending(found.plastic))
    return found.restart, found.stages, found.last


def way(
    run: Run, first: bool, z_minus: np.ndarray, known: Uncertainty, restart: Restart
) -> tuple[Stage, ...]:
    """The way from the left limits to a restart.

    Before the first instant nothing is in force; contacts were open where the start values agree with that. Later sources, inputs
    and factors of equations step first, in the mode before or one with contacts and flows open, where that moves nothing that is
    conserved: what flows then flows between their new values and those of the storages. Where they carry storages along, that is
    a stage of its own.
    """
    before, y, model = run.data, run.y, run.core.model
    xi = y[len(before.states) :] if first else restart.y[len(restart.data.states) :]
    kinds = (Kind.IMPACT,) if first else (Kind.IMPACT, Kind.COMPLEMENTARITY)
    opened = tuple(
        FREE if e.kind in kinds and b == CONTACT else b
        for e, b in zip(model.elements, before.mode, strict=True)
    )
    if first:
        modes = (opened,) if opened != before.mode else ()
    else:
        # A point of a large model has no mode that could be entered.
        modes = (before.mode, opened) if isinstance(before, ModeData) else ()

    def enter(modes: Iterable[Mode]) -> Iterator[Restart]:
        for mode in modes:
            with suppress(Inadmissible, *UNSOLVED):
                yield restarted(run.linearisation, mode, (z_minus, run.state.slopes), xi, run.present, known)

    stages, J1, removing = (), restart.J1, restart.removing
    found = next((found for found in enter(modes) if not found.jumped), None)
    if found is not None:
        before, y = found.data, found.y
        z_minus = np.where(model.differentiated | first, z_minus, found.z)
    elif modes and not first and (found := _carried_along(run.core, restart, modes, enter)) is not None:
        stages = (Stage(before, y, z_minus, found.data, found.y, found.z, found.J1, found.removing),)
        before, y, z_minus = found.data, found.y, found.z
        J1, removing = J1 - found.J1, removing - found.removing
    return *stages, Stage(before, y, z_minus, restart.data, restart.y, restart.z, J1, removing)


def _carried_along(
    core: NumericCore, restart: Restart, modes: Iterable[Mode], enter: Enter
) -> Restart | None:
    """To where sources carry storages along before anything else jumps; None where that is the whole way.

    Every independent part is in one of the modes for it if nothing of it moves there, else in the last of those that can exist,
    else in the mode of the restart.
    """
    mode, found = restart.data.mode, None
    for part in core.parts:
        branches = [
            tuple(other[k] if k in part.elements else b for k, b in enumerate(mode)) for other in modes
        ]
        reached = [r for other in branches for r in _without_impulses(core.model, other, restart, enter)]
        still = [r for r in reached if not r.J1[part.columns].any()]
        if reached:
            found = (still or reached[::-1])[0]
            mode = found.data.mode
    return found if mode != restart.data.mode else None


def _without_impulses(model: AffineModel, mode: Mode, after: Restart, enter: Enter) -> Iterator[Restart]:
    """The restart in a mode in which no element that changes its branch after that transmits an impulse.

    One that would is in its later branch from the begin: a switch that opens is open before storages behind it are carried along.
    """
    for found in enter((mode,)):
        size = ROUNDING * model.largest_of_unit(np.abs(found.J1))
        later = tuple(
            other if b != other and _transmits(e, found.J1, size) else b
            for e, b, other in zip(model.elements, mode, after.data.mode, strict=True)
        )
        if later == mode:
            yield found
        else:
            yield from _without_impulses(model, later, after, enter)


def _transmits(element: Element, J1: np.ndarray, size: np.ndarray) -> bool:
    """Whether an element takes part in impulses above some size of each unknown."""
    return any((np.abs(rows.A @ J1) > np.abs(rows.A) @ size).any() for rows in element.blocked)


def jump_record(
    run: Run,
    restart: Restart,
    z_minus: np.ndarray,
    xi: np.ndarray,
    parts: tuple[Stage, ...],
    contradicting: bool,
    held: list[int],
) -> dict[str, Any]:
    """What the record of a micro-step says of a jump, which may join parts whose starts are ``contradicting`` each other.

    Core unknowns that are ``held`` have their left limits after it, whatever impulses say.
    """
    model, J1 = run.core.model, np.sum([s.impulse for s in parts], axis=0)
    size = np.abs(J1)
    some = np.flatnonzero(size > 1e-12 * size.max(initial=0.0)).tolist()
    unit = run.program.unknowns.unit_of_core
    impulses = tuple((model.names[j], unit(j), float(J1[j])) for j in some)
    largest = model.largest_of_unit(np.maximum(np.abs(restart.z), np.abs(z_minus)))
    moved = np.flatnonzero(model.differentiated & (np.abs(restart.z - z_minus) > ROUNDING * largest))
    jumps = tuple((model.names[j], float(z_minus[j]), float(restart.z[j])) for j in moved.tolist())
    ways = tuple(_part(run.linearisation, s, xi, run.present) for s in parts)
    apart: tuple[tuple[str, float], ...] = ()
    if contradicting:
        first, apart = jump_apart(run.core, ways[0], run.moment(), held, parts[0].after.mode)
        ways = first, *ways[1:]
    lost = np.zeros(len(model.elements))
    for p, s in zip(ways, parts, strict=True):
        if p.apart is None:
            lost += lost_energy(model, s.before, s.after, s.z_before, s.z_after, s.impulse, xi, p.mean)
    losses = tuple((model.elements[e].path, float(v)) for e, v in enumerate(lost) if v != 0.0)
    return {"impulses": impulses, "jumps": jumps, "lost": _together(run.core, apart + losses), "parts": ways}


def _together(core: NumericCore, lost: tuple[tuple[str, float], ...]) -> tuple[tuple[str, float], ...]:
    """Energies that elements absorb, in one sum for those that share impulses where straight lines make some of them negative.

    Which of them absorbs what is decided by the order, within no time, in which their values change. No order lets one give
    energy that stores none: where straight lines do, there is no such order, and what is known is the sum.
    """
    largest = max((abs(energy) for _, energy in lost if energy == energy), default=0.0)
    if not any(energy < -MEETS * largest for path, energy in lost if path != STARTS):
        return lost
    part = {core.model.elements[k].path: n for n, p in enumerate(core.parts) for k in p.elements}
    sharing: dict[int, list[tuple[str, float]]] = {}
    for path, energy in lost:
        if path in part:
            sharing.setdefault(part[path], []).append((path, energy))
    made = [entry for entry in lost if entry[0] not in part]
    for entries in sharing.values():
        if any(energy < -MEETS * largest for _, energy in entries):
            paths = TOGETHER.join(dict.fromkeys(path for path, _ in entries))
            entries = [(paths, sum(energy for _, energy in entries))]
        made += entries
    return tuple(made)


def _part(lin: Linearisation, s: Stage, xi: np.ndarray, values: Values) -> Jump:
    left, right = limits_of(s)
    jump, mean = Jump(left, right, s.impulse), 0.5 * (left + right)[: 2 * len(s.z_before)]
    if s.left is not None or s.right is not None:
        jump = replace(jump, mean=mean)
    if not lin.core.reduced.nonlinear or not jump.J1.any():
        return jump
    bend = bend_along(lin, s.before.mode, s.z_before, s.z_after, xi, values)
    return jump if bend is None else replace(jump, mean=mean[: len(bend)] + bend)
