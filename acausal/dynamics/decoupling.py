"""The flow of a state matrix as a sum: simple modes where these are well conditioned, else groups of them."""

from __future__ import annotations

import numpy as np

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
    Eigenvalues come from the matrix ordered by speed (the QR algorithm keeps
    small eigenvalues of a matrix graded downwards) and are corrected by Newton
    steps with residuals in twice the precision. Defective or nearly defective
    matrices go to `groups.group`.
    """
    if len(A) == 1:
        one = np.ones((1, 1), complex)
        return [EigenvalueGroup(one, one, complex(A[0, 0]), 0j, np.zeros((1, 1), complex), 1)]
    found = eigenvectors(A, T0)
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
