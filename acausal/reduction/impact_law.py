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

from collections.abc import Callable

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
    refused : bool
        Whether the last round is one that something else does not transmit: what follows it is no part of any motion.
    """

    rounds: np.ndarray
    v: np.ndarray
    plastic: np.ndarray
    unyielding: np.ndarray
    energy: float
    response: np.ndarray
    refused: bool


def sharing_masses(W: np.ndarray) -> list[np.ndarray]:
    """Groups of contacts that share masses, from their inverse effective masses (m, m)."""
    if len(W) == 1:
        return [np.arange(1)]
    from scipy.sparse.csgraph import connected_components

    count, label = connected_components((W != 0.0) | (W != 0.0).T, directed=False)
    return [np.flatnonzero(label == g) for g in range(count)]


def collide(
    W: np.ndarray,
    v: np.ndarray,
    e: np.ndarray,
    rest: np.ndarray,
    refuses: Callable[[np.ndarray], bool] = lambda _: False,
) -> Impacts:
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
    refuses : callable
        Whether something else does not transmit the impulses (m,) of the round that follows those before; no round follows such.

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
    groups = [
        (which, _Colliding(W[np.ix_(which, which)], v[which], e[which], rest[which]))
        for which in sharing_masses(W)
    ]
    rounds: list[np.ndarray] = []
    refused = False
    while not refused:
        p = np.zeros(len(v))
        moved = [group.collides(p, which) for which, group in groups]
        if not any(moved):
            break
        rounds.append(p)
        refused = refuses(p)
    after, response = np.array(v, dtype=float), np.zeros(W.shape)
    plastic, unyielding = np.zeros((2, len(v)), bool)
    for which, group in groups:
        after[which], plastic[which], unyielding[which] = group.v, group.plastic, group.unyielding
        response[np.ix_(which, which)] = group.response
    energy = sum(group.energy for _, group in groups)
    impulses = np.array(rounds).reshape(-1, len(v))
    return Impacts(impulses, after, plastic, unyielding, energy, response, refused)


def reflected(W: np.ndarray, response: np.ndarray, part: np.ndarray, e: np.ndarray) -> np.ndarray:
    """A `Impacts.response` with one round more, in which some contacts change their speeds to -e times those before it."""
    found, speeds = response.copy(), np.eye(len(W)) + W @ response
    wanted = (1.0 + e[part, None]) * speeds[part]
    found[part] -= np.linalg.lstsq(W[np.ix_(part, part)], wanted, rcond=None)[0]
    return found


class _Colliding:
    """Contacts that share masses, between their rounds."""

    def __init__(self, W: np.ndarray, v: np.ndarray, e: np.ndarray, rest: np.ndarray) -> None:
        self._W, self._e, self._rest = W, e, rest
        self._size, self._made = np.abs(v), 0
        self.v, self.energy, self.response = np.array(v, dtype=float), 0.0, np.zeros(W.shape)
        self.unyielding = np.zeros(len(v), bool)

    @property
    def plastic(self) -> bool:
        """Whether the rounds did not end."""
        return self._made > MOST_ROUNDS

    def collides(self, impulses: np.ndarray, which: np.ndarray) -> bool:
        """Make the next round, and put its impulses where the contacts stand; False where there is none."""
        W, v, e = self._W, self.v, self._e
        still = np.maximum(self._rest, _ROUNDING * self._size)
        approach = v < -still
        if not approach.any() or self.plastic or self.unyielding.any():
            return False
        if self._made < MOST_ROUNDS:
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
            self.unyielding = p > 0.0
            impulses[which] = p
            return True
        moved = v + W @ p
        self.energy += 0.5 * float(p @ (v + moved))
        self._size = self._size + np.abs(W) @ p
        # What a contact was brought to is what was asked for, without the rounding of the sum.
        reached = part[p[part] > 0.0]
        moved[reached] = wanted[p[part] > 0.0]
        self.response = reflected(W, self.response, reached, e)
        self._made += 1
        self.v = moved
        impulses[which] = p
        return True
