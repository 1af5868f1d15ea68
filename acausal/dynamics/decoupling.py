"""The flow of a state matrix as a sum: simple modes where these are well conditioned, else groups of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from .driving import driven_first, independent_parts
from .groups import group
from .spectrum import EigenvalueGroup, eigenvectors


def decouple(A: np.ndarray, T0: float) -> list[EigenvalueGroup]:
    """Split a real matrix into simple modes, or into the smallest groups that are well conditioned.

    Parameters
    ----------
    A : (n, n)
        Real state matrix in physical units.
    T0 : float
        Time unit in seconds.

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
        order, blocks = driven_first(A[part[:, None], part])
        states = part[order]
        found += [_over_all(g, states, len(A)) for g in _split(A[states[:, None], states], blocks, T0)]
    return found


def _split(A: np.ndarray, blocks: list[slice], T0: float) -> list[EigenvalueGroup]:
    """The same for a matrix in the order of `driving.driven_first`."""
    found = eigenvectors(A, blocks, T0)
    if found is None:
        return group(A, T0)
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
