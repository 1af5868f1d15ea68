"""Bases of defective and nearly defective matrices: groups of eigenvalues with a common exponent.

References
----------
Bavely, Stewart, "An algorithm for computing reducing subspaces by block
diagonalization", SIAM J. Numer. Anal. 16 (1979).
"""

from __future__ import annotations

import numpy as np

from ..reduction.double_double import dual, residual
from ..reduction.rounding import HALF, ROUNDING, SUMMED
from ..values import frozen
from .driving import driven_first
from .spectrum import CONDITION, EigenvalueGroup, growth, speed_order

SPEED_GAP = 10.0
"""Ratio of neighbouring speeds at which a matrix may be cut into a fast and a slow part."""
LINKS = (1e-12, 1e-7, 1e-5, 1e-3, 1e-2, 0.1, 0.3)
"""Distances, relative to the fastest eigenvalue, within which eigenvalues join one group."""


def group(A: np.ndarray, size: np.ndarray, balance: np.ndarray | None) -> list[EigenvalueGroup]:
    """Groups of a real matrix that has no well conditioned eigenvectors, where states have these relative sizes.

    Schur forms are those of states in units of ``balance``, or of their own.

    The matrix is cut at gaps of speed first, so that a slow part is resolved
    relative to its own size; then close eigenvalues are joined until the bases
    are well conditioned. A last correction of all bases uses residuals in twice
    the precision.
    """
    frame = _Frame(np.eye(len(A)), np.eye(len(A)), size)
    P, T, label = _split(A.astype(complex), frame, balance)
    members = _members(label)
    P, U, T, shift = _correct(A, P, T, members)
    found = []
    for s in members:
        block = T[s[:, None], s]
        centre = complex(block.diagonal().mean())
        N = (block - centre * np.eye(len(block))) + shift[s[:, None], s]
        low = 0j
        if len(block) == 1:
            low, N = complex(N[0, 0]), np.zeros((1, 1), complex)
        found.append(EigenvalueGroup(P[:, s], U[s], centre, low, N, 1))
    return found


@frozen
class _Frame:
    """Where a block lives: its basis in physical states, the dual of that, and the size of the states."""

    P: np.ndarray
    U: np.ndarray
    scale: np.ndarray

    def accepts(self, p: np.ndarray) -> bool:
        """Whether the basis `p` of the block is well conditioned in physical states."""
        if not np.isfinite(p).all():
            return False
        try:
            u = np.linalg.inv(p)
        except np.linalg.LinAlgError:
            return False
        return bool((growth(self.P @ p, u @ self.U, self.scale) < CONDITION).all())

    def rounding(self, T: np.ndarray, Q: np.ndarray) -> float:
        """How far off the diagonal of a triangular form, in the basis `Q` of the block, may be: by the largest coupling."""
        size = (np.abs(self.P @ Q) / self.scale[:, None]).max(axis=0)
        return ROUNDING * float((np.abs(T) * size[:, None] / size).max())

    def inside(self, p: np.ndarray, u: np.ndarray) -> _Frame:
        """Frame of a part with basis `p` and dual `u` inside this one."""
        return _Frame(self.P @ p, u @ self.U, self.scale)


Split = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Bases, in the order of the states; upper triangular blocks, ``A P = P T``; and the group of each column."""


def _split(A: np.ndarray, frame: _Frame, balance: np.ndarray | None) -> Split:
    """Split a matrix into groups."""
    if len(A) == 1:
        return np.ones((1, 1), complex), A, np.zeros(1, int)
    order, blocks = driven_first(A)
    inside = _Frame(frame.P[:, order], frame.U[order], frame.scale)
    balance = None if balance is None else balance[order]
    ordered, T, label = _split_ordered(A[order[:, None], order], blocks, inside, balance)
    P = np.empty_like(ordered)
    P[order] = ordered
    return P, T, label


def _split_ordered(A: np.ndarray, blocks: list[slice], frame: _Frame, balance: np.ndarray | None) -> Split:
    """The same for a matrix whose driven states come first, with the blocks of those that drive each other."""
    T, Q = _triangular(A, blocks, balance)
    # Rounded zeros have no gaps between them: what is left of them once they are apart from what is fast tells.
    rounding = frame.rounding(T, Q)
    speed = np.maximum(np.abs(T.diagonal()), rounding)
    ordered = np.sort(speed)[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(ordered[:-1] / ordered[1:], nan=1.0, posinf=np.inf)
    for cut in np.argsort(-ratio, kind="stable"):
        if ratio[cut] < SPEED_GAP:
            break
        slow = (speed < ordered[cut]).astype(int)
        T_cut, P = _block_diagonalise(T, Q, slow)
        if not frame.accepts(P):
            continue
        P, U, T_cut, shift = _correct(A, P, T_cut, _members(slow))
        label, count = np.empty(len(A), int), 0
        for s in _members(slow):
            within = (T_cut + shift)[s[:, None], s]
            p, t, own = _split(within, frame.inside(P[:, s], U[s]), np.ones(len(s)))
            label[s] = count + own
            count += own.max() + 1
            P[:, s], T_cut[s[:, None], s] = P[:, s] @ p, t
        return P, T_cut, label
    return _cluster(T, Q, frame, rounding)


def _members(label: np.ndarray) -> list[np.ndarray]:
    """Columns of each group."""
    return [np.flatnonzero(label == k) for k in np.unique(label)]


def _cluster(T: np.ndarray, Q: np.ndarray, frame: _Frame, rounding: float) -> Split:
    """Join close eigenvalues until the bases are acceptable; in the end all of them.

    Those that only ``rounding`` may hold apart are close.
    """
    lam = T.diagonal()
    fastest = np.abs(lam).max()
    for link in LINKS:
        label = _labels(lam, max(link * fastest, rounding))
        blocks, P = _block_diagonalise(T, Q, label)
        if frame.accepts(P):
            return P, blocks, label
    return Q, T, np.zeros(len(T), int)


def _labels(lam: np.ndarray, distance: float) -> np.ndarray:
    """Single linkage: eigenvalues connected by steps of at most `distance` share a label."""
    label = np.arange(len(lam))
    near = np.abs(lam - lam[:, None]) <= distance
    for i in range(len(lam)):
        joined = np.unique(label[near[i]])
        label[np.isin(label, joined)] = joined[0]
    return np.unique(label, return_inverse=True)[1]


def _triangular(
    A: np.ndarray, blocks: list[slice], balance: np.ndarray | None
) -> tuple[np.ndarray, np.ndarray]:
    """Upper triangular ``T`` and ``Q`` with ``A Q = Q T``, each block of states by its Schur form.

    Only physical states have units of their own: tiny entries of a mixture are rounding errors,
    and units chosen to suit them would make ``Q`` singular.
    """
    T, Q, inverse = A.copy(), np.eye(len(A), dtype=complex), np.eye(len(A), dtype=complex)
    coupled = [s for s in blocks if s.stop - s.start > 1]
    for s in coupled:
        T[s, s], Q[s, s], inverse[s, s] = _schur(A[s, s], None if balance is None else balance[s])
    for s in coupled:
        T[s, s.stop :] = inverse[s, s] @ T[s, s.stop :]
        T[: s.start, s] = T[: s.start, s] @ Q[s, s]
    return T, Q


def _schur(A: np.ndarray, balance: np.ndarray | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The same with the inverse of ``Q``, for states that drive each other."""
    import scipy.linalg

    order = speed_order(A)
    sorted_A = A[order[:, None], order]
    if balance is None:
        scale = scipy.linalg.matrix_balance(sorted_A, permute=False, separate=True)[1][0]
    else:
        scale = balance[order]
    T, Z = scipy.linalg.schur(sorted_A * scale / scale[:, None], output="complex")[:2]
    Q, inverse = np.empty_like(Z), np.empty_like(Z)
    Q[order], inverse[:, order] = scale[:, None] * Z, Z.conj().T / scale
    return T, Q, inverse


def _block_diagonalise(T: np.ndarray, Q: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Blocks ``B`` and bases ``Q X`` of the groups of a triangular form, ``T X = X B``.

    ``X`` is unit triangular, with nothing else within groups, and ``B`` has nothing between them.
    """
    X, B = np.eye(len(T), dtype=complex), np.diag(T.diagonal())
    with np.errstate(all="ignore"):
        for j in range(len(T)):
            for i in range(j - 1, -1, -1):
                between = slice(i + 1, j)
                left = T[i, j] + T[i, between] @ X[between, j] - X[i, between] @ B[between, j]
                if label[i] == label[j]:
                    B[i, j] = left
                elif left != 0.0:
                    X[i, j] = left / (T[j, j] - T[i, i])
        return B, Q @ X


def sylvester(A: np.ndarray, B: np.ndarray, C: np.ndarray) -> np.ndarray:
    """Solution of ``A X - X B = C`` with upper triangular ``B``, column by column; inf where they share an eigenvalue."""
    X = np.empty_like(C)
    for k in range(len(B)):
        try:
            X[:, k] = np.linalg.solve(A - B[k, k] * np.eye(len(A)), C[:, k] + X[:, :k] @ B[:k, k])
        except np.linalg.LinAlgError:
            X[:, k:] = np.inf
            break
    return X


def _correct(
    A: np.ndarray, P: np.ndarray, T: np.ndarray, members: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Newton steps for all bases; returns bases, duals, blocks and what rounding still separates the blocks from exact.

    Elements of blocks of which only rounding is left are zero: what stays where it is does not begin to move.
    """
    U = dual(P)
    for _ in range(4):
        R = residual(A, P, T)
        E = U @ R
        Z = np.zeros_like(T)
        shift = np.zeros_like(T)
        for s in members:
            own = s[:, None], s
            shift[own] = E[own]
            rest = np.setdiff1d(np.arange(len(T)), s)
            if len(rest):
                # The upper triangle of a block is enough for a correction.
                across = rest[:, None], s
                Z[across] = sylvester(T[rest[:, None], rest], np.triu(T[own]), -E[across])
        change = np.abs(Z).max()
        if not change < 1e-2:
            break
        if change < HALF:
            # Sums of products round by these, and bases that are off by Z give blocks that are off by its square.
            rounding = SUMMED * (np.abs(U) @ np.abs(R)) + np.abs(E - shift) @ np.abs(Z)
            known = np.abs(T + shift) > rounding
            P = P + P @ Z
            return P, dual(P), T * known, shift * known
        P = P + P @ Z
        U = dual(P)
        T = T + shift
    return P, U, T, np.zeros_like(T)
