"""The flow of a state matrix as a sum: simple modes where these are well conditioned, else groups of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..reduction.rounding import TINY
from .closed_form import DECAYED
from .driving import driven_first, independent_parts
from .exponential import confirmed
from .groups import group
from .spectrum import EigenvalueGroup, Sizes, eigenvectors, spread, state_scales

PIECES = 64.0
"""Spread of the exponents of a group, times T0 or until it has died away, above which pieces of it are many."""


def decouple(A: np.ndarray, T0: float, sizes: Sizes = state_scales) -> list[EigenvalueGroup]:
    """Split a real matrix into simple modes, or into the smallest groups that are well conditioned.

    Parameters
    ----------
    A : (n, n)
        Real state matrix in physical units.
    T0 : float
        Time unit in seconds.
    sizes : callable
        Guesses how large states are compared with each other.

    Returns
    -------
    list of Group
        The real parts of their sum, each counted ``weight`` times, is the flow.

    Notes
    -----
    Parts of the matrix that have nothing to do with each other are split one by one, and what a state does not drive has exact
    zeros in all that is found, see `driving`.

    Eigenvalues come from the matrix ordered by speed (the QR algorithm keeps
    small eigenvalues of a matrix graded downwards) and are corrected by Newton
    steps with residuals in twice the precision. Defective or nearly defective
    matrices go to `groups.group`.
    """
    found = []
    for part in independent_parts(A):
        if len(part) == 1:
            found.append(_over_all(_single(A[part, part]), part, len(A)))
            continue
        order, blocks = driven_first(A[part[:, None], part])
        states = part[order]
        found += [_over_all(g, states, len(A)) for g in _split(A[states[:, None], states], blocks, T0, sizes)]
    return found


def undivided(A: np.ndarray) -> list[EigenvalueGroup]:
    """One group for each part of a matrix that has nothing to do with the others, with its states as they are."""
    found = []
    for part in independent_parts(A):
        one, own = np.eye(len(part), dtype=complex), A[part[:, None], part].astype(complex)
        # Without a common exponent what stays where it is stays exactly.
        whole = _single(A[part, part]) if len(part) == 1 else EigenvalueGroup(one, one, 0j, 0j, own, 1)
        found.append(_over_all(whole, part, len(A)))
    return found


def _single(rate: np.ndarray) -> EigenvalueGroup:
    """The simple mode of one state."""
    one = np.ones((1, 1), complex)
    return EigenvalueGroup(one, one, complex(rate[0]), 0j, np.zeros((1, 1), complex), 1)


def _split(A: np.ndarray, blocks: list[slice], T0: float, sizes: Sizes) -> list[EigenvalueGroup]:
    """The same for a matrix in the order of `driving.driven_first`."""
    modes = _modes(A, blocks, T0, sizes)
    if modes:
        return modes
    guess = sizes(A, T0)
    groups = group(A, guess, None if sizes is state_scales else guess)
    if max(spread(g.N) * min(T0, DECAYED / max(-g.centre.real, TINY)) for g in groups) > PIECES:
        # Sizes are a guess, and long sums of short pieces a high price for a wrong one.
        modes = _modes(A, blocks, T0, None)
        if modes and confirmed(modes, A, T0):
            return modes
    return groups


def _modes(A: np.ndarray, blocks: list[slice], T0: float, sizes: Sizes | None) -> list[EigenvalueGroup]:
    """Simple modes; empty where they are ill conditioned."""
    found = eigenvectors(A, blocks, T0, sizes)
    if found is None:
        return []
    V, U, lam, low, turning = found
    zero = np.zeros((1, 1), complex)
    return [
        EigenvalueGroup(
            V[:, i : i + 1], U[i : i + 1], complex(lam[i]), complex(low[i]), zero, 2 if turning[i] > 0 else 1
        )
        for i in range(len(A))
        if turning[i] >= 0
    ]


def _over_all(part: EigenvalueGroup, states: np.ndarray, n: int) -> EigenvalueGroup:
    """The same group with bases over all ``n`` states."""
    if len(states) == n and (states[:-1] < states[1:]).all():
        return part
    P, U = np.zeros((n, part.P.shape[1]), complex), np.zeros((len(part.U), n), complex)
    P[states], U[:, states] = part.P, part.U
    return replace(part, P=P, U=U)
