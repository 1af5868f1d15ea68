"""The identities of a mode: its equations, constraints and guards applied to the map of states that the elimination found.

The elimination judges what it computes by its own estimates of errors. This check shares nothing with them: plain matrix
products, and a fixed part of the largest term of each row. A row that is not met by that much is an error of the
elimination, and what follows from it must not become a result.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..errors import ConsistencyError
from .affine import AffineModel, Balance, ModeData, Rows, stack_rows
from .elimination import compact

ALLOWED = 2.0**-26
"""Largest defect of a row relative to its largest term: half the digits of a double."""
ROUNDING = 2.0**-46
"""Rounding of variables, in units of their magnitudes: what is left of terms that cancel may be no more than that."""


class MapCheck:
    """Applies rows ``E z' + A z + B xi`` to ``z = T v`` and ``v' = motion v``, where the sources are the last of ``v``.

    Parameters
    ----------
    balance : Balance
    T, motion : ndarray, shape (n, nv), (nv, nv)
    scale : ndarray, shape (nv,)
        Magnitudes of ``v``: they make the terms of a row comparable.
    admissible : ndarray, shape (k, q)
        Rows over the sources that must vanish. The defects of rows that contradict each other are combinations of them.
    """

    def __init__(
        self, balance: Balance, T: np.ndarray, motion: np.ndarray, scale: np.ndarray, admissible: np.ndarray
    ) -> None:
        self.balance = balance
        self.T, self.slopes = T, T @ motion
        self.size, self.slope_size = np.abs(T), np.abs(T) @ np.abs(motion)
        self.scale = np.where(scale > 0.0, scale, 1.0)
        self.source = T.shape[1] - admissible.shape[1] + np.arange(admissible.shape[1])
        _, strength, rows = np.linalg.svd(admissible * self.scale[self.source], full_matrices=False)
        self.forbidden = rows[strength > ALLOWED * strength.max(initial=0.0)]

    def require(self, rows: Rows, name: Callable[[int], str], expected: np.ndarray | None = None) -> None:
        """Compare the rows with zero, or with those ``expected`` over ``v``; ``name`` tells what a row is.

        Raises
        ------
        ConsistencyError
            Names the row with the largest relative defect.
        """
        if not len(rows):
            return
        E, A = compact(rows.E), compact(rows.A)
        value = E @ self.slopes + A @ self.T
        size = abs(E) @ self.slope_size + abs(A) @ self.size
        value[:, self.source] += rows.B
        size[:, self.source] += np.abs(rows.B)
        if expected is not None:
            value -= expected
        value *= self.scale
        value[:, self.source] -= value[:, self.source] @ self.forbidden.T @ self.forbidden
        defect = np.abs(value).max(axis=1, initial=0.0)
        largest = (size * self.scale).max(axis=1, initial=0.0)
        z = self.balance.z
        magnitude = abs(E) @ (z / self.balance.T0) + abs(A) @ z
        excess = np.maximum(defect - ROUNDING * magnitude, 0.0)
        relative = np.divide(excess, largest, out=excess.copy(), where=largest > 0.0)
        worst = int(np.argmax(relative))
        if relative[worst] <= ALLOWED:
            return
        raise ConsistencyError(
            f"the analysis of a mode does not satisfy {name(worst)}",
            why=f"the defect {defect[worst]:.6g} is {relative[worst]:.3g} of the largest term, allowed are {ALLOWED:.1g}",
            hint="numbers too small to matter beside others can be set to zero, which is exact",
            value=float(defect[worst]), relative=float(relative[worst]), allowed=ALLOWED,
        )  # fmt: skip


def check_mode(model: AffineModel, data: ModeData) -> None:
    """Apply the equations in force, the constraints and the guards of an analysed mode to its map of states.

    Raises
    ------
    ConsistencyError
    """
    scale = np.concatenate([data.balance.z[data.states], data.balance.xi])
    check = MapCheck(data.balance, data.T, data.Ay, scale, data.admissible)
    check.require(model.rows(data.mode), partial(model.name_of_row, data.mode))
    n, none = model.n, np.zeros((len(data.constraints), model.n))
    constraints = Rows(none, data.constraints[:, :n], data.constraints[:, n:])
    check.require(constraints, lambda k: f"the constraint on {model.names[data.dependent[k]]}")
    branches = [element.branches[k] for element, k in zip(model.elements, data.mode, strict=True)]
    guards = stack_rows([b.guards for b in branches], model)
    check.require(guards, lambda k: f"a guard of {model.elements[data.guard_element[k]].path}", data.Gy)
