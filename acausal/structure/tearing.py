"""Tearing: guesses for a few unknowns make the other unknowns of a loop follow one after the other."""

from __future__ import annotations

import heapq

import numpy as np

from ..values import frozen
from .incidence import INT, Incidence


@frozen
class Torn:
    """A loop in the order in which it is evaluated once its tearing variables are known.

    Attributes
    ----------
    tears : ndarray of int64, shape (k,)
        Unknowns that are guessed, ascending.
    residuals : ndarray of int64, shape (k,)
        Equations that tell whether the guess was right, ascending.
    equations, unknowns : ndarray of int64, shape (n - k,)
        Assignments in order: each equation gives its unknown from tearing variables and earlier ones.
    """

    tears: np.ndarray
    residuals: np.ndarray
    equations: np.ndarray
    unknowns: np.ndarray


class _Loop:
    """What is left of a loop: unknowns not yet known, by equation, and the way back."""

    def __init__(self, incidence: Incidence, solvable: np.ndarray) -> None:
        row, col = incidence.row.tolist(), incidence.col.tolist()
        self.left: list[set[int]] = [set() for _ in range(incidence.m)]
        self.users: list[list[int]] = [[] for _ in range(incidence.n)]
        for i, j in zip(row, col, strict=True):
            self.left[i].add(j)
            self.users[j].append(i)
        self.solvable = {(i, j) for i, j, ok in zip(row, col, solvable.tolist(), strict=True) if ok}
        self.open = set(range(incidence.m))
        self.unknown = set(range(incidence.n))
        self.sequence: list[tuple[int, int]] = []
        self.ready = [i for i in range(incidence.m) if self.can_assign(i)]

    def can_assign(self, i: int) -> bool:
        if i not in self.open or len(self.left[i]) != 1:
            return False
        (j,) = self.left[i]
        return (i, j) in self.solvable

    def know(self, j: int) -> None:
        self.unknown.discard(j)
        for i in self.users[j]:
            self.left[i].discard(j)
            if self.can_assign(i):
                heapq.heappush(self.ready, i)

    def assign(self) -> None:
        """Take all equations that are left with one unknown they can be solved for."""
        heapq.heapify(self.ready)
        while self.ready:
            i = heapq.heappop(self.ready)
            if self.can_assign(i):
                (j,) = self.left[i]
                self.sequence.append((i, j))
                self.open.discard(i)
                self.know(j)

    def most_telling(self, preferred: np.ndarray) -> int:
        """The unknown that, once guessed, lets most equations be solved; of these the one in most equations."""

        def weight(j: int) -> tuple[int, int, int, int]:
            uses = [i for i in self.users[j] if i in self.open]
            return -int(preferred[j]), -sum(self._would_follow(i, j) for i in uses), -len(uses), j

        return min(self.unknown, key=weight)

    def _would_follow(self, i: int, j: int) -> bool:
        others = self.left[i] - {j}
        return len(others) == 1 and (i, *others) in self.solvable


def tear(incidence: Incidence, solvable: np.ndarray, preferred: np.ndarray | None = None) -> Torn:
    """Choose tearing variables of a loop.

    Parameters
    ----------
    incidence : Incidence, shape (n, n)
        Unknowns of every equation of the loop.
    solvable : ndarray of bool, shape (nnz,)
        Entries whose equation may be solved for the unknown whatever the values: the factor of the unknown is a
        constant other than zero. With these alone the choice stays valid while values change.
    preferred : ndarray of bool, shape (n,), optional
        Unknowns that are guessed before others.

    Notes
    -----
    A heuristic, as the smallest number of tearing variables is hard to find: equations with one unknown left are
    solved for it; when there is none, the unknown is guessed that lets most equations be solved next, then the one
    in most equations, a variant of [1]_.

    References
    ----------
    .. [1] F. E. Cellier, E. Kofman, "Continuous System Simulation" (Springer, 2006), section 7.
    """
    loop = _Loop(incidence, solvable)
    if preferred is None:
        preferred = np.zeros(incidence.n, bool)
    tears: list[int] = []
    loop.assign()
    while loop.unknown:
        j = loop.most_telling(preferred)
        tears.append(j)
        loop.know(j)
        loop.assign()
    found = np.array(loop.sequence, INT).reshape(-1, 2)
    return Torn(np.array(sorted(tears), INT), np.array(sorted(loop.open), INT), found[:, 0], found[:, 1])
