"""Decoupling of a state matrix into groups that evolve on their own.

``decouple`` gives ``A P_g = P_g T_g`` with a well conditioned set of bases.
States stay physical: an orthogonal mixture of states of different speed would
destroy the slow ones before anything is evaluated, so the quality of a basis is
measured by ``abs(P) abs(U)``, with states in units that follow from the matrix.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..reduction.double_double import Complex, dual, residual
from ..reduction.rounding import HALF, ROUNDING, TINY
from ..values import frozen

CONDITION = 1e3
"""Largest condition of a set of bases that is accepted."""
SWEEPS = 5
"""Damped balancing sweeps: the order of magnitude is enough."""
LARGE = 100.0
"""Exponent of growth from which on it is no matter how large it is."""
SPAN = 100.0
"""Ratio of speeds, and of rotation to decay, above which rounding of an eigenvalue shows."""


@frozen
class EigenvalueGroup:
    """One invariant subspace: ``exp(A h) P = P exp(centre h) exp(N h)``.

    Attributes
    ----------
    P, U : (n, m), (m, n) complex
        Basis and its dual, ``U P = I``.
    centre, centre_low : complex
        Common exponent, as an unevaluated sum.
    N : (m, m) complex
        Remainder, nilpotent or with small eigenvalues; zero for a simple mode.
    weight : int
        2 when the conjugate group is represented by this one.
    """

    P: Complex
    U: Complex
    centre: complex
    centre_low: complex
    N: Complex
    weight: int


def spread(N: Complex) -> float:
    """Largest eigenvalue of what is left of a group without its common exponent."""
    triangular = len(N) == 1 or not np.tril(N, -1).any()
    return float(np.abs(N.diagonal() if triangular else np.linalg.eigvals(N)).max())


def speed_order(A: np.ndarray) -> np.ndarray:
    """Permutation that puts fast states first; independent of the scaling of states."""
    speed = np.abs(A.diagonal()) + np.sqrt(np.abs(A * A.T).sum(1))
    return np.argsort(-speed, kind="stable")


def state_scales(A: np.ndarray, T0: float) -> np.ndarray:
    """Relative sizes of states at which couplings in both directions have the same speed.

    Osborne balancing. A coupling in one direction only counts as answered within what both states remember, T0 at most: an
    integrator has the size of what it integrates times that time, and what follows another state has its size. Where couplings
    in both directions are slower than that, each bounds the ratio of sizes from one side, and it is as near to one as they allow.
    """
    B = np.abs(A)
    forgets = np.sqrt(np.maximum(B.diagonal(), 1.0 / T0))
    np.fill_diagonal(B, 0.0)
    slowest = np.outer(forgets, forgets)
    with np.errstate(divide="ignore", invalid="ignore"):
        least, most = B / slowest, slowest / B.T
        ratio = np.where(B.T > 0.0, np.clip(1.0, least, most), least)
        weak = (B * B.T < slowest**2) & (B > 0.0)
        B = np.where(weak, slowest * ratio, B) + np.where(weak & (B.T == 0.0), slowest / ratio, 0.0).T
    if len(A) == 2:
        ratio = np.sqrt(B[0, 1] / B[1, 0]) if B[0, 1] else 1.0
        return np.array([ratio, 1.0])
    one = np.ones(len(A))
    scale = one
    for _ in range(SWEEPS):
        factor = ((B.dot(one) + TINY) / (one.dot(B) + TINY)) ** 0.25
        scale = scale * factor
        B = B * factor / factor[:, None]
    return scale


def equal_sizes(A: np.ndarray, T0: float) -> np.ndarray:
    """All states count as equally large."""
    return np.ones(len(A))


Sizes = Callable[[np.ndarray, float], np.ndarray]
"""Relative sizes of the states of a matrix, for a time unit."""


def growth(P: np.ndarray, U: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """By how much (n, n) rounding of every start value grows in every state at most, with states measured by `scale`."""
    return np.abs(P) @ np.abs(U) * scale / scale[:, None]


def _reaches(V: Complex, U: Complex, lam: Complex, scale: np.ndarray, T0: float) -> bool:
    """Whether every element of the flow, where rounding of its modes may show, comes near the magnitudes of these.

    Sizes of states are a guess: one that is fed by another for an instant is not as large as one that is fed all along. What an
    element reaches within the time of its largest mode tells in any units whether modes only cancel.
    """
    shows = ~(growth(V, U, scale) < CONDITION)
    for j in np.flatnonzero(shows.any(axis=0)).tolist():
        terms = V[shows[:, j]] * U[:, j]
        size = np.abs(terms)
        h = 1.0 / np.maximum(np.abs(lam[size.argmax(axis=1)]), 1.0 / T0)
        turned = np.exp(np.minimum(h[:, None] * lam.real, LARGE) + 1j * h[:, None] * lam.imag)
        if not (size.sum(axis=1) < CONDITION * np.abs((terms * turned).sum(axis=1))).all():
            return False
    return True


def eigenvectors(
    A: np.ndarray, blocks: list[slice], T0: float, sizes: Sizes | None
) -> tuple[Complex, Complex, Complex, Complex, np.ndarray] | None:
    """Eigenvectors, dual vectors and eigenvalues with their rounding errors; None when ill conditioned.

    ``A`` has its states in the order of `driving.driven_first`, with these blocks. The last value is 0 for a real eigenvalue,
    else positive for one of each conjugate pair and negative for the other. Corrections of tiny pairs may change the sign of
    an imaginary part. Whether they are ill conditioned is told by guessed ``sizes`` of states; None where something else tells it
    afterwards.
    """
    known = _of_blocks(A, blocks)
    if known is None:
        return None
    values, V = known
    still, pairs = values.imag == 0, np.flatnonzero(values.imag > 0)
    V.imag[:, still] = 0.0
    lam, low = values, np.zeros(len(A), complex)
    scale = None if sizes is None else sizes(A, T0)
    U = _dual(V)
    if U is None:
        return None
    for _ in range(4):
        if scale is not None and not _reaches(V, U, lam, scale, T0):
            return None
        if not _rounding_shows(lam):
            break
        Z, shift = _newton_step(A, V, U, lam)
        # Close pairs magnify rounding; one half of a pair stands for both, so they must stay conjugate.
        shift.imag[still] = 0.0
        shift[pairs + 1] = shift[pairs].conj()
        change = np.abs(Z).max()
        if change > 1e-2:
            return None
        # Small elements of a vector may be wrong in all digits where the vector as a whole is not.
        V = V + V @ Z
        V.imag[:, still] = 0.0
        V[:, pairs + 1] = V[:, pairs].conj()
        U = dual(V)
        U.imag[still] = 0.0
        moved = lam + shift
        lam, low = moved, (lam - moved) + shift
        if change < HALF:
            break
    return V, U, lam, low, np.sign(values.imag)


def _of_blocks(A: np.ndarray, blocks: list[slice]) -> tuple[Complex, Complex] | None:
    """Eigenvalues and eigenvectors, those of each block first and then what it drives; None where there are too few of them."""
    values, V = np.empty(len(A), complex), np.zeros(A.shape, complex)
    for s in blocks:
        values[s], V[s, s] = _of_block(A[s, s])
    if len(blocks) == 1:
        return values, V
    inverse = [_dual(V[s, s]) for s in blocks]
    for c, s in enumerate(blocks):
        for b in range(c - 1, -1, -1):
            r, own = blocks[b], inverse[b]
            if own is None:
                return None
            with np.errstate(all="ignore"):
                drive = own @ (A[r, r.stop : s.stop] @ V[r.stop : s.stop, s])
                V[r, s] = V[r, r] @ np.where(drive == 0.0, 0.0, drive / (values[s] - values[r, None]))
    with np.errstate(all="ignore"):
        V /= np.linalg.norm(V, axis=0)
    return (values, V) if np.isfinite(V).all() else None


def _of_block(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues and eigenvectors of states that drive each other."""
    if len(A) == 1:
        return A[0], np.ones((1, 1))
    order = speed_order(A)
    values, vectors = np.linalg.eig(A[order[:, None], order])
    found = np.empty_like(vectors)
    found[order] = vectors
    return values, found


def _newton_step(A: np.ndarray, V: Complex, U: Complex, lam: Complex) -> tuple[Complex, Complex]:
    """Corrections ``V + V Z`` and ``lam + shift`` of first order."""
    E = U @ residual(A, V, lam)
    shift = E.diagonal().copy()
    gap = lam - lam[:, None]
    np.fill_diagonal(E, 0.0)
    # Equal eigenvalues: any basis of the eigenspace serves, there is nothing to separate.
    apart = np.abs(gap) > ROUNDING * np.abs(lam)
    return np.where(apart, E / np.where(apart, gap, 1.0), 0.0), shift


def _dual(V: Complex) -> Complex | None:
    try:
        return np.linalg.inv(V)
    except np.linalg.LinAlgError:
        return None


def _rounding_shows(lam: Complex) -> bool:
    speed = np.abs(lam)
    return bool(speed.max() > SPAN * speed.min() or (np.abs(lam.imag) > 0.1 * SPAN * np.abs(lam.real)).any())
