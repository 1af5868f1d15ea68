"""What rounding in doubles leaves of a circuit in which small losses join storages, from the numbers of its parts alone."""

from collections.abc import Sequence

import numpy as np

UNIT = 2.0**-53
"""Largest relative error of a rounded coefficient."""


def rounded_share(stores: Sequence[float], loss: float, span: float) -> float:
    """Largest part of what storages hold together that rounding of their matrix moves within ``span`` seconds.

    Capacitors in a row that resistances ``loss`` join, or coils that leakages join, exchange what they hold at rates
    ``1 / (loss * store)`` and keep their sum: the matrix has the eigenvalue zero, to the left the storages, to the right ones.
    Coefficients that are off by a unit of rounding each make ``w' |A| v / w' v`` units of it (Golub and Van Loan, Matrix
    Computations, section 7.2), which lasts as long as the sum does.
    """
    C = np.asarray(stores, float)
    if len(C) < 2:
        return 0.0
    joined = np.diff(np.eye(len(C)), axis=0)
    A = -(joined.T @ joined) / (loss * C[:, None])
    return float(UNIT * span * (C @ np.abs(A)).sum() / C.sum())
