"""The blocks of an exosystem ``xi' = S xi``: constants, polynomials, sinusoids, exponentials."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..reduction.double_double import two_product
from ..values import frozen


@frozen
class Member:
    """Jordan chains of one exponent: ``exp(S h) P = P exp(centre h) exp(N h)`` with strictly upper triangular ``N``.

    Attributes
    ----------
    states : (k,) array
        The states of its block among those of the exosystem.
    P : (k, m) complex
        Basis inside the block. A sinusoid has two members, which are conjugate.
    Q : (m, k) complex
        Dual of the basis.
    centre, centre_low : complex
        Exponent, as an unevaluated sum.
    N : (m, m)
    """

    states: np.ndarray
    P: np.ndarray
    Q: np.ndarray
    centre: complex
    centre_low: complex
    N: np.ndarray

    @property
    def length(self) -> int:
        """Length of the chains."""
        return len(self.N) if self.N.any() else 1


@frozen
class SourceBlock:
    """One diagonal block, or all that are constant: positions of the states, their matrix and its members."""

    states: np.ndarray
    S: np.ndarray
    members: tuple[Member, ...]

    @property
    def rate(self) -> tuple[float, float, float]:
        """Real and imaginary part of the exponent, and the low part of the imaginary one."""
        member = self.members[0]
        return member.centre.real, member.centre.imag, member.centre_low.imag

    @property
    def is_sinusoid(self) -> bool:
        """Whether the block turns instead of growing."""
        return len(self.members) == 2


def blocks(S: Any) -> list[SourceBlock]:
    """Split an exosystem matrix, dense or sparse, into its diagonal blocks; all constants together are the first.

    Raises
    ------
    ValueError
        A block is none of: 1x1, strictly upper triangular, 2x2 with zero diagonal
        and off-diagonal elements of opposite sign.
    """
    i, j = S.nonzero()
    last, moves = np.arange(S.shape[0]), np.zeros(S.shape[0], bool)
    moves[i] = moves[j] = True
    np.maximum.at(last, np.minimum(i, j), np.maximum(i, j))
    last = np.flatnonzero(np.maximum.accumulate(last) == np.arange(len(last)))
    first = np.append(0, last[:-1] + 1)
    still = (first == last) & ~moves[last]
    found, m = [], int(still.sum())
    if m:
        found.append(_chains(first[still], 0j, np.zeros((m, m))))
    for a, b in zip(first[~still].tolist(), (last[~still] + 1).tolist(), strict=True):
        found.append(_block(S[a:b, a:b], np.arange(a, b)))
    return found


def _chains(states: np.ndarray, centre: complex, N: np.ndarray) -> SourceBlock:
    unit = np.eye(len(states), dtype=complex)
    return SourceBlock(
        states, centre.real * np.eye(len(states)) + N, (Member(states, unit, unit, centre, 0j, N),)
    )


def _block(S: Any, states: np.ndarray) -> SourceBlock:
    S = S if isinstance(S, np.ndarray) else S.toarray()
    m = len(S)
    if m == 1:
        return _chains(states, complex(S[0, 0]), np.zeros((1, 1)))
    if not np.tril(S).any():
        return _chains(states, 0j, S)
    if m == 2 and not S.diagonal().any() and S[0, 1] * S[1, 0] < 0:
        return SourceBlock(states, S, _sinusoid(states, S))
    msg = f"exosystem states {states.tolist()} form no constant, polynomial, sinusoid or exponential: {S.tolist()}"
    raise ValueError(msg)


def _sinusoid(states: np.ndarray, S: np.ndarray) -> tuple[Member, ...]:
    b, c = S[0, 1], S[1, 0]
    square, square_low = two_product(np.array(-b), np.array(c))
    omega = np.sqrt(square)
    back, back_low = two_product(omega, omega)
    low = ((square - back) + (square_low - back_low)) / (2 * omega)
    P = np.array([[1.0], [1j * omega / b]])
    Q = np.array([[0.5, -0.5j * b / omega]])
    zero = np.zeros((1, 1))
    return (
        Member(states, P, Q, complex(0.0, omega), complex(0.0, low), zero),
        Member(states, P.conj(), Q.conj(), complex(0.0, -omega), complex(0.0, -low), zero),
    )
