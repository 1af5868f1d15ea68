"""Linear conditions in order of their ranks: each rank is met as far as those before it leave room."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...values import frozen
from .stated import Rank

MISSED = 1e-9
"""Scaled defect of a condition that does not hold, and part of a unit vector that is not zero."""
RANK = 1e-11
"""Singular values, and influences of coordinates, below count as zero, relative to the largest one and to one."""
SETTLED = 1e-13
"""Scaled step after which a point stays, and defect that is met: rounding."""
DENSE = 2500
"""Entries up to which dense matrices cost less than sparse ones."""


@frozen
class Solution:
    """A step (m,) and how it meets the conditions (k,)."""

    step: np.ndarray
    missed: np.ndarray
    """Mask: not met."""
    room: np.ndarray
    """Mask: something was left open for the condition when its rank had its turn."""


def solve(
    A: np.ndarray, b: np.ndarray, rank: np.ndarray, damping: float = 0.0, weight: np.ndarray | None = None
) -> Solution:
    """Solve ``A step = b`` rank by rank, in the sense of least squares where a rank contradicts itself.

    Parameters
    ----------
    A : (k, m) array
        Conditions and unknowns scaled to entries of order one.
    b : (k,) array
    rank : (k,) array
        Lower ranks come first. Conditions of rank `Rank.GUESS` that others of the rank contradict are left out.
    damping : float, optional
        Shortens the step of every rank along the smaller ones of its slopes, in units of the largest one (Levenberg-Marquardt
        method: J. Nocedal and S. J. Wright, "Numerical Optimization", 2nd edition, Springer 2006, section 10.3).
    weight : (k,) array, optional
        What the defects of wishes that contradict each other count by, at most 1; alike by default.
    """
    k, m = A.shape
    found = Solution(np.zeros(m), np.zeros(k, bool), np.zeros(k, bool))
    # Each part alone: what is rounded in one moves no start of another, and zeros of it stay zeros.
    alone = []
    for rows, columns in independent(A):
        if len(rows) == len(columns) == 1:
            alone.append((rows[0], columns[0]))
        else:
            _solve_block(A, b, rank, rows, columns, damping, weight, found)
    if alone:
        _solve_alone(A, b, np.array(alone).T, damping, found)
    return found


def _solve_alone(A: np.ndarray, b: np.ndarray, places: np.ndarray, damping: float, found: Solution) -> None:
    """The same of conditions that have an unknown each to themselves: of any rank, all at once."""
    rows, columns = places
    a, target = A[rows, columns], b[rows]
    step = np.divide(target, a, out=np.zeros(len(a)), where=np.abs(a) > RANK * np.maximum(np.abs(a), 1.0))
    found.room[rows], found.missed[rows] = np.abs(a) > MISSED, np.abs(a * step - target) > MISSED
    found.step[columns] = step / (1.0 + damping)


def _solve_block(
    A: np.ndarray, b: np.ndarray, rank: np.ndarray, rows: np.ndarray, columns: np.ndarray, damping: float,
    weight: np.ndarray | None, found: Solution,
) -> None:  # fmt: skip
    """Conditions ``rows`` over the unknowns ``columns``; writes into ``found``."""
    part, target, order = A[np.ix_(rows, columns)], b[rows], rank[rows]
    x, free = np.zeros(len(columns)), np.eye(len(columns))
    for level in sorted(set(order.tolist())):
        at = np.flatnonzero(order == level)
        M, rest = part[at] @ free, target[at] - part[at] @ x
        # Of what a condition reads: in units of a tiny start a coordinate is no less open for a large one.
        reads = np.abs(part[at]).max(axis=1, initial=0.0)
        room = np.abs(M).max(axis=1, initial=0.0) > MISSED * np.minimum(reads, 1.0)
        used = np.ones(len(at), bool)
        step, null = least_squares(M, rest)
        missed = np.abs(M @ step - rest) > MISSED
        if weight is not None and level > Rank.STEADY_FIXED and (missed & room).any():
            step = least_squares(M, _compromise(M, rest, weight[rows[at]]))[0]
            # Beside others that contradict each other what is off by more than rounding does so too.
            missed = np.abs(M @ step - rest) > SETTLED
        if level in (Rank.GUESS, Rank.GUESS + 1):
            used = ~missed
        if damping or not used.all():
            step, null = least_squares(M[used], rest[used], damping)
        found.room[rows[at]], found.missed[rows[at]] = room, missed
        x, free = x + free @ step, free @ null
    found.step[columns] = x


def least_squares(M: np.ndarray, b: np.ndarray, damping: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Shortest solution (m,) of ``M step = b`` and an orthonormal basis (m, .) of what the matrix maps to zero.

    Rows come with entries of order one: what is left of them below `RANK` is rounding.
    """
    if not M.size:
        return np.zeros((M.shape[1], *b.shape[1:])), np.eye(M.shape[1])
    U, s, V = np.linalg.svd(M)
    rank = int((s > RANK * max(s[0], 1.0)).sum())
    factors = s[:rank] / (s[:rank] ** 2 + damping * s[0] ** 2)
    return (factors * V[:rank].T) @ (U[:, :rank].T @ b), V[rank:].T


def largest_alike(sizes: np.ndarray, units: list[str]) -> np.ndarray:
    """For every size the largest one of its unit; those without a unit stay what they are."""
    names = list(dict.fromkeys(u for u in units if u))
    number = {unit: n for n, unit in enumerate(names)}
    own = np.array([number.get(unit, -1) for unit in units], np.int64)
    largest = np.zeros(len(names) + 1)
    np.maximum.at(largest, own, sizes)
    return np.where(own >= 0, largest[own], sizes)


def _compromise(M: np.ndarray, b: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """What conditions that contradict each other can be, nearest to ``b`` where each defect counts by its weight.

    Sought among the combinations that vanish, so that conditions which contradict none stay as they are, however small their
    weights.
    """
    U, s, _ = np.linalg.svd(M)
    vanish = U[:, int((s > RANK * max(s[0], 1.0)).sum()) :]
    vanish[np.linalg.norm(vanish, axis=1) <= MISSED] = 0.0
    Q, R = np.linalg.qr(vanish / weight[:, None])
    return b - Q @ np.linalg.solve(R.T, vanish.T @ b) / weight


def independent(A: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Rows and columns of the parts of a system that share no unknown."""
    k, m = A.shape
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    i, j = np.nonzero(A)
    graph = csr_array((np.ones(len(i)), (i, k + j)), shape=(k + m, k + m))
    _, label = connected_components(graph, directed=False)
    order = np.argsort(label, kind="stable")
    for part in np.split(order, np.flatnonzero(np.diff(label[order])) + 1):
        yield part[part < k], part[part >= k] - k


def combination(A: np.ndarray, row: np.ndarray) -> np.ndarray | None:
    """Factors (k,) with ``factors @ A = row``, none of which can be left out; None if there are none.

    Rows written later are left out before earlier ones.
    """

    def factors(rows: np.ndarray) -> np.ndarray | None:
        found, _ = least_squares(A[rows].T, row)
        return found if np.abs(found @ A[rows] - row).max(initial=0.0) <= MISSED else None

    kept = np.arange(len(A))
    if factors(kept) is None:
        return None
    for k in reversed(range(len(A))):
        rest = kept[kept != k]
        if factors(rest) is not None:
            kept = rest
    made = np.zeros(len(A))
    made[kept] = factors(kept)
    return made
