"""The law of impact: what contacts that touch at one instant do to their speeds, a function of arrays.

Newton's law of restitution, in rounds. A round takes the contacts of a group that approach each other, all of
them together: impulses ``p >= 0`` give speeds ``v+ >= -e v-`` with ``p (v+ + e v-) = 0``, a linear complementarity
problem in the effective masses (Glocker, Pfeiffer, "Multiple impacts with friction in rigid multibody systems",
Nonlinear Dynamics 7, 1995; Brogliato, *Nonsmooth Mechanics*, 2016, chapter 5). Contacts that touch without approach
wait for the next round, so an impulse travels from contact to contact; those without restitution, which cannot part
and meet again within an instant, take part at once. No round adds energy: it changes by

    p (v+ + v-) / 2 = sum_k p_k (1 - e_k) v-_k / 2 <= 0,

which is zero for e = 1, whatever the coefficients of the others.
"""

from __future__ import annotations

import numpy as np

from ..values import frozen
from .complementarity import NoComplementarySolution, solve_complementarity

MOST_ROUNDS = 1000
"""Rounds of one group, after which the rest is plastic. A ball between a wall and one 10 000 times heavier, all of them
touching, needs 314 (Galperin, "Playing pool with pi", 2003); fewer rounds would be a wrong result there."""
_ROUNDING = 2.0**-44
"""Part of the terms of a speed that is rounding."""


@frozen
class Impacts:
    """What an instant does to contacts.

    Attributes
    ----------
    rounds : (r, m) array
        Impulse of every contact in every round, in the order of the rounds.
    v : (m,) array
        Speeds of the gaps afterwards.
    plastic : (m,) array of bool
        Contacts of groups that were still moving after `MOST_ROUNDS`.
    unyielding : (m,) array of bool
        Contacts that approach each other though nothing yields to them, however large their impulses. The last round of their
        group holds the proportions of these impulses, and moves nothing.
    energy : float
        Change of the kinetic energy by these impulses, up to rounding not positive where `W` is symmetric.
    response : (m, m) array
        Change of the impulses of all rounds together by the speeds before them, while the same contacts take part.
    """

    rounds: np.ndarray
    v: np.ndarray
    plastic: np.ndarray
    unyielding: np.ndarray
    energy: float
    response: np.ndarray


def sharing_masses(W: np.ndarray) -> list[np.ndarray]:
    """Groups of contacts that share masses, from their inverse effective masses (m, m)."""
    if len(W) == 1:
        return [np.arange(1)]
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components((W != 0.0) | (W != 0.0).T, directed=False)
    return [np.flatnonzero(label == g) for g in range(count)]


def collide(W: np.ndarray, v: np.ndarray, e: np.ndarray, rest: np.ndarray) -> Impacts:
    """Impulses of contacts that touch, and the speeds of their gaps afterwards.

    Parameters
    ----------
    W : (m, m) array
        Inverse effective masses: change of the speed of gap i by a unit impulse in contact j.
    v : (m,) array
        Speeds of the gaps, negative where bodies approach each other.
    e : (m,) array
        Coefficients of restitution, 0 to 1.
    rest : (m,) array
        Speeds up to which an approach is none.

    Returns
    -------
    Impacts

    Raises
    ------
    NoComplementarySolution
        If impulses that stop an approach are lost in rounding.

    Notes
    -----
    Groups of contacts that share masses are independent of each other. The speeds of a group that never comes to
    rest (a ball that fits exactly between two elastic walls) are those of a plastic impact after `MOST_ROUNDS`.
    """
    after, energy = np.array(v, dtype=float), 0.0
    plastic, unyielding = np.zeros((2, len(v)), bool)
    rounds: list[np.ndarray] = []
    response = np.zeros(W.shape)
    for group in sharing_masses(W):
        part = W[np.ix_(group, group)]
        found = _rounds(part, after[group], e[group], rest[group])
        for k, p in enumerate(found[0]):
            if k == len(rounds):
                rounds.append(np.zeros(len(v)))
            rounds[k][group] = p
        after[group], plastic[group] = found[1], len(found[0]) > MOST_ROUNDS
        energy += found[2]
        response[np.ix_(group, group)] = found[3]
        unyielding[group] = found[4]
    return Impacts(np.array(rounds).reshape(-1, len(v)), after, plastic, unyielding, energy, response)


def reflected(W: np.ndarray, response: np.ndarray, part: np.ndarray, e: np.ndarray) -> np.ndarray:
    """A `Impacts.response` with one round more, in which some contacts change their speeds to -e times those before it."""
    found, speeds = response.copy(), np.eye(len(W)) + W @ response
    wanted = (1.0 + e[part, None]) * speeds[part]
    found[part] -= np.linalg.lstsq(W[np.ix_(part, part)], wanted, rcond=None)[0]
    return found


def _rounds(
    W: np.ndarray, v: np.ndarray, e: np.ndarray, rest: np.ndarray
) -> tuple[list[np.ndarray], np.ndarray, float, np.ndarray, np.ndarray]:
    """Of one group the impulses of the rounds, the speeds, the change of energy, the response and what nothing yields to."""
    found: list[np.ndarray] = []
    size, energy, response, none = np.abs(v), 0.0, np.zeros(W.shape), np.zeros(len(v), bool)
    while True:
        still = np.maximum(rest, _ROUNDING * size)
        approach = v < -still
        if not approach.any():
            return found, v, energy, response, none
        if len(found) < MOST_ROUNDS:
            part = np.flatnonzero(approach | ((e == 0.0) & (v <= still)))
        else:
            part, e = np.arange(len(v)), np.zeros(len(v))
        wanted = np.where(approach, -e * v, 0.0)[part]
        p = np.zeros(len(v))
        try:
            p[part] = solve_complementarity(W[np.ix_(part, part)], v[part] - wanted)
        except NoComplementarySolution as failed:
            if failed.ray is None:
                raise
            p[part] = failed.ray
            return [*found, p], v, energy, response, p > 0.0
        moved = v + W @ p
        energy += 0.5 * float(p @ (v + moved))
        size = size + np.abs(W) @ p
        # What a contact was brought to is what was asked for, without the rounding of the sum.
        reached = part[p[part] > 0.0]
        moved[reached] = wanted[p[part] > 0.0]
        response = reflected(W, response, reached, e)
        found.append(p)
        v = moved
        if len(found) > MOST_ROUNDS:
            return found, v, energy, response, none
