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
from .spectrum import CONDITION, EigenvalueGroup, growth, speed_order, state_scales

SPEED_GAP = 10.0
"""Ratio of neighbouring speeds at which a matrix may be cut into a fast and a slow part."""
LINKS = (1e-12, 1e-7, 1e-5, 1e-3, 1e-2, 0.1, 0.3)
"""Distances, relative to the fastest eigenvalue, within which eigenvalues join one group."""


def group(A: np.ndarray, T0: float) -> list[EigenvalueGroup]:
    """Groups of a real matrix that has no well conditioned eigenvectors.

    The matrix is cut at gaps of speed first, so that a slow part is resolved
    relative to its own size; then close eigenvalues are joined until the bases
    are well conditioned. A last correction of all bases uses residuals in twice
    the precision.
    """
    parts = _split(A.astype(complex), _Frame(np.eye(len(A)), np.eye(len(A)), state_scales(A, T0)), True)
    P = np.hstack([p for p, _ in parts])
    sizes = [p.shape[1] for p, _ in parts]
    starts = np.concatenate([[0], np.cumsum(sizes)])
    slices = [slice(a, b) for a, b in zip(starts[:-1], starts[1:], strict=True)]
    T = np.zeros_like(P)
    for s, (_, block) in zip(slices, parts, strict=True):
        T[s, s] = block
    P, U, T, shift = _correct(A, P, T, slices)
    found = []
    for s in slices:
        block = T[s, s]
        centre = complex(block.diagonal().mean())
        N = (block - centre * np.eye(len(block))) + shift[s, s]
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


def _split(A: np.ndarray, frame: _Frame, physical: bool = False) -> list[tuple[np.ndarray, np.ndarray]]:
    """Bases and their upper triangular blocks, ``A P_g = P_g T_g``."""
    if len(A) == 1:
        return [(np.ones((1, 1), complex), A)]
    T, Q = _triangular(A, physical)
    # Rounded zeros have no gaps between them: what is left of them once they are apart from what is fast tells.
    rounding = frame.rounding(T, Q)
    speed = np.maximum(np.abs(T.diagonal()), rounding)
    ordered = np.sort(speed)[::-1]
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.nan_to_num(ordered[:-1] / ordered[1:], nan=1.0, posinf=np.inf)
    for cut in np.argsort(-ratio, kind="stable"):
        if ratio[cut] < SPEED_GAP:
            break
        blocks, P, slices = _block_diagonalise(T, Q, (speed < ordered[cut]).astype(int))
        if not frame.accepts(P):
            continue
        P, U, blocks, shift = _correct(A, P, blocks, slices)
        parts = []
        for s in slices:
            parts += [
                (P[:, s] @ p, t) for p, t in _split(blocks[s, s] + shift[s, s], frame.inside(P[:, s], U[s]))
            ]
        return parts
    return _cluster(T, Q, frame, rounding)


def _cluster(
    T: np.ndarray, Q: np.ndarray, frame: _Frame, rounding: float
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Join close eigenvalues until the bases are acceptable; in the end all of them.

    Those that only ``rounding`` may hold apart are close.
    """
    lam = T.diagonal()
    fastest = np.abs(lam).max()
    for link in LINKS:
        blocks, P, slices = _block_diagonalise(T, Q, _labels(lam, max(link * fastest, rounding)))
        if frame.accepts(P):
            return [(P[:, s], blocks[s, s]) for s in slices]
    return [(Q, T)]


def _labels(lam: np.ndarray, distance: float) -> np.ndarray:
    """Single linkage: eigenvalues connected by steps of at most `distance` share a label."""
    label = np.arange(len(lam))
    near = np.abs(lam - lam[:, None]) <= distance
    for i in range(len(lam)):
        joined = np.unique(label[near[i]])
        label[np.isin(label, joined)] = joined[0]
    return np.unique(label, return_inverse=True)[1]


def _triangular(A: np.ndarray, physical: bool) -> tuple[np.ndarray, np.ndarray]:
    """Upper triangular ``T`` and ``Q`` with ``A Q = Q T``: a permutation if one does it, else Schur.

    Only a matrix of `physical` states is balanced: tiny entries of a mixture are rounding errors,
    and units chosen to suit them would make ``Q`` singular.
    """
    order = _acyclic_order(A)
    if order is not None:
        return A[order[:, None], order], np.eye(len(A), dtype=complex)[:, order]
    import scipy.linalg

    order = speed_order(A)
    sorted_A = A[order[:, None], order]
    scale = np.ones(len(A))
    if physical:
        scale = scipy.linalg.matrix_balance(sorted_A, permute=False, separate=True)[1][0]
    T, Z = scipy.linalg.schur(sorted_A * scale / scale[:, None], output="complex")[:2]
    Q = np.empty_like(Z)
    Q[order] = scale[:, None] * Z
    return T, Q


def _acyclic_order(A: np.ndarray) -> np.ndarray | None:
    """Order of states in which the matrix is upper triangular; None when states depend on each other in a circle."""
    pattern = A != 0
    np.fill_diagonal(pattern, False)
    left = np.arange(len(A))
    order: list[int] = []
    while len(left):
        free = left[~pattern[np.ix_(left, left)].any(1)]
        if not len(free):
            return None
        order = [*free.tolist(), *order]
        left = np.setdiff1d(left, free)
    return np.array(order)


def _block_diagonalise(
    T: np.ndarray, Q: np.ndarray, label: np.ndarray
) -> tuple[np.ndarray, np.ndarray, list[slice]]:
    """Move equal labels together (ascending) and decouple the groups by Sylvester equations."""
    T, Q, label = T.copy(), Q.copy(), label.copy()
    for end in range(len(T) - 1, 0, -1):
        for k in range(end):
            if label[k] > label[k + 1]:
                _swap(T, Q, k)
                label[[k, k + 1]] = label[[k + 1, k]]
    starts = np.flatnonzero(np.diff(label, prepend=-1))
    slices = [slice(a, b) for a, b in zip(starts, [*starts[1:], len(T)], strict=True)]
    P = Q.copy()
    for s in slices[1:]:
        head = T[: s.start, : s.start]
        P[:, s] += Q[:, : s.start] @ sylvester(head, T[s, s], -T[: s.start, s])
    for s in slices[1:]:
        T[: s.start, s] = 0.0
    return T, P, slices


def _swap(T: np.ndarray, Q: np.ndarray, k: int) -> None:
    """Exchange neighbouring diagonal elements of a triangular matrix by a rotation, in place."""
    c, s = T[k, k + 1], T[k + 1, k + 1] - T[k, k]
    size = np.hypot(abs(c), abs(s))
    if size == 0.0:
        return
    c, s = c / size, s / size
    rotation = np.array([[c, -np.conj(s)], [s, np.conj(c)]])
    pair = slice(k, k + 2)
    T[:, pair] = T[:, pair] @ rotation
    T[pair] = rotation.conj().T @ T[pair]
    T[k + 1, k] = 0.0
    Q[:, pair] = Q[:, pair] @ rotation


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
    A: np.ndarray, P: np.ndarray, T: np.ndarray, slices: list[slice]
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
        for s in slices:
            shift[s, s] = E[s, s]
            rest = np.r_[0 : s.start, s.stop : len(T)]
            if len(rest):
                # The upper triangle of a block is enough for a correction.
                Z[rest, s] = sylvester(T[rest[:, None], rest], np.triu(T[s, s]), -E[rest, s])
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
