"""The blocks of an exosystem ``xi' = S xi``: constants, polynomials, sinusoids, exponentials."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .double_double import two_product


@dataclass(frozen=True, eq=False)
class Member:
    """One Jordan chain: ``exp(S h) P = P exp(centre h) exp(N h)`` with strictly upper triangular ``N``.

    Attributes
    ----------
    P : (q, m) complex
        Basis inside the exosystem. A sinusoid has two members, which are conjugate.
    Q : (m, ny) complex
        Dual of the basis, acting on the whole state ``y = [x; xi]``.
    centre, centre_low : complex
        Exponent, as an unevaluated sum.
    N : (m, m)
    """

    P: np.ndarray
    Q: np.ndarray
    centre: complex
    centre_low: complex
    N: np.ndarray


@dataclass(frozen=True, eq=False)
class SourceBlock:
    """One diagonal block: positions of its states, its matrix and its members."""

    states: np.ndarray
    S: np.ndarray
    members: tuple[Member, ...]

    @property
    def is_sinusoid(self) -> bool:
        """Whether the block turns instead of growing."""
        return len(self.members) == 2


def blocks(S: np.ndarray, nx: int) -> list[SourceBlock]:
    """Split an exosystem matrix, which stands behind `nx` physical states, into its diagonal blocks.

    Raises
    ------
    ValueError
        A block is none of: 1x1, strictly upper triangular, 2x2 with zero diagonal
        and off-diagonal elements of opposite sign.
    """
    found = []
    q = len(S)
    start = 0
    while start < q:
        stop = start + 1
        while stop < q and (S[start:stop, stop:].any() or S[stop:, start:stop].any()):
            stop += 1
        found.append(_block(np.arange(start, stop), S[start:stop, start:stop], (q, nx)))
        start = stop
    return found


def _block(states: np.ndarray, S: np.ndarray, sizes: tuple[int, int]) -> SourceBlock:
    m = len(S)
    if m == 1:
        return SourceBlock(
            states, S, (_member(states, sizes, np.eye(1), np.eye(1), complex(S[0, 0]), 0j, np.zeros((1, 1))),)
        )
    if not np.tril(S).any():
        return SourceBlock(states, S, (_member(states, sizes, np.eye(m), np.eye(m), 0j, 0j, S),))
    if m == 2 and not S.diagonal().any() and S[0, 1] * S[1, 0] < 0:
        return SourceBlock(states, S, _sinusoid(states, S, sizes))
    msg = f"exosystem states {states.tolist()} form no constant, polynomial, sinusoid or exponential: {S.tolist()}"
    raise ValueError(msg)


def _sinusoid(states: np.ndarray, S: np.ndarray, sizes: tuple[int, int]) -> tuple[Member, ...]:
    b, c = S[0, 1], S[1, 0]
    square, square_low = two_product(np.array(-b), np.array(c))
    omega = np.sqrt(square)
    back, back_low = two_product(omega, omega)
    low = ((square - back) + (square_low - back_low)) / (2 * omega)
    P = np.array([[1.0], [1j * omega / b]])
    Q = np.array([[0.5, -0.5j * b / omega]])
    zero = np.zeros((1, 1))
    return (
        _member(states, sizes, P, Q, complex(0.0, omega), complex(0.0, low), zero),
        _member(states, sizes, P.conj(), Q.conj(), complex(0.0, -omega), complex(0.0, -low), zero),
    )


def _member(
    states: np.ndarray,
    sizes: tuple[int, int],
    P: np.ndarray,
    Q: np.ndarray,
    centre: complex,
    low: complex,
    N: np.ndarray,
) -> Member:
    q, nx = sizes
    wide = np.zeros((q, P.shape[1]), complex)
    wide[states] = P
    tall = np.zeros((P.shape[1], nx + q), complex)
    tall[:, nx + states] = Q
    return Member(wide, tall, centre, low, N)
