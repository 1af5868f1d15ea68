"""Contacts that overlap: bodies are moved apart before their speeds decide anything.

The impulse of a force moves speeds, and the impulse of second order, the rate of one, moves positions in the same proportion.
So the law of an inelastic impact parts what overlaps: with gaps in place of speeds, each contact pushes no further than needed.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...dynamics.noise import Uncertainty
from ...reduction.affine import SLIDING, Inadmissible, Kind, Mode
from ...reduction.complementarity import NoComplementarySolution
from ...reduction.impact_law import collide
from ...reduction.impacts import FREE, Contacts, sums_told_by_states, touching_contacts
from ...reduction.rounding import ROUNDING
from ..numeric import NumericCore
from .transition import VALUE, ModeTables


def overlap(contacts: Sequence[int], tables: ModeTables, y: np.ndarray, known: Uncertainty) -> bool:
    """Whether the gap of an open contact is below zero beyond doubt."""
    data = tables.data
    gaps = [k in contacts and data.mode[k] == FREE for k, _, _ in tables.origin]
    if True not in gaps or not (data.Gy[gaps] @ y < 0.0).any():
        return False
    found = zip(gaps, *tables.guards.signs(y, known), strict=True)
    return any(is_gap and sign < 0 and level == VALUE for is_gap, sign, level in found)


def parted(
    core: NumericCore, which: list[int], opened: Mode, positions: np.ndarray, z: np.ndarray, slopes: np.ndarray,
    xi: np.ndarray,
) -> tuple[np.ndarray, np.ndarray] | None:  # fmt: skip
    """A point with what overlaps moved apart, and by how much each element (K,) did; None where nothing can move.

    A flight too low to be seen ends below zero, and steps see a crossing only beyond what they may have missed. No force has to
    end that at once: gaps that are below zero are zero, and only their speeds say what follows.
    """
    depth = np.zeros(len(core.model.elements))
    try:
        contacts = touching_contacts(core.model, core.mode(opened), which)
        gaps, moved = moved_apart(core, contacts, positions, z, slopes, xi)
    except (Inadmissible, NoComplementarySolution):
        return None
    depth[which] = np.maximum(-gaps, 0.0)
    return moved, depth


def moved_apart(
    core: NumericCore,
    contacts: Contacts,
    positions: np.ndarray,
    z: np.ndarray,
    slopes: np.ndarray,
    xi: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Gaps of contacts that overlap, else zero, and the point after a move that ends all overlaps.

    ``positions`` are the core unknowns that move beside those that gaps follow from, ``contacts`` seen from `all_open`.

    Raises
    ------
    NoComplementarySolution
        Nothing can move them.
    """
    data = contacts.data
    y = data.state(z, slopes, xi)
    gaps, rounding = contacts.gaps(y), ROUNDING * (np.abs(contacts.distances) @ np.abs(y))
    gaps[np.abs(gaps) <= rounding] = 0.0
    if not (gaps < 0.0).any():
        return np.zeros(len(gaps)), z
    sums = sums_told_by_states(core.model, contacts)
    gaps, rounding = sums @ gaps, sums @ rounding
    gaps[np.abs(gaps) <= rounding] = 0.0
    overlaps = np.max((sums > 0.0) * np.maximum(-gaps, 0.0)[:, None], axis=0, initial=0.0)
    if not overlaps.any():
        return -overlaps, z
    law = collide(sums @ contacts.inverse_masses @ sums.T, gaps, np.zeros(len(gaps)), rounding)
    if law.unyielding.any():
        raise NoComplementarySolution
    step = contacts.jump @ sums.T @ law.rounds.sum(axis=0)
    rates = data.T @ (data.Ay[:, : len(step)] @ step)
    moving = np.zeros(len(z), bool)
    moving[data.states] = (contacts.distances[:, : len(step)] != 0.0).any(axis=0)
    moved = z + np.where((positions | moving) & core.model.differentiated, rates, 0.0)
    # What a move takes to zero is known to the rounding of where it was.
    moved[np.abs(moved) <= ROUNDING * np.abs(z)] = 0.0
    return -overlaps, moved


def all_open(core: NumericCore, mode: Mode, forced: Sequence[int]) -> Mode:
    """The mode with all contacts open and all friction sliding: it transmits no impulse of second order."""
    free = {Kind.IMPACT: FREE, Kind.FRICTION: SLIDING[0]}
    return tuple(
        f if f >= 0 else free.get(e.kind, b)
        for e, b, f in zip(core.model.elements, mode, forced, strict=True)
    )
