"""Networks of bodies, springs and couplings on one coordinate each: which conditions on their motion can hold at once.

All that holds at one instant is linear in positions, speeds, accelerations and coupling forces: couplings and their first
two derivatives, and the balance of every body. Conditions can hold together if appending their values to the matrix of all
these equations does not raise its rank (Rouche-Capelli).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

GROUND = -1


@dataclass(frozen=True)
class Coupling:
    """``q[a] = ratio * q[b] + offset``; `b` may be the ground, which is at zero."""

    a: int
    b: int
    ratio: float
    offset: float


@dataclass(frozen=True)
class Spring:
    """Force ``c * (q[b] - q[a] - rest)`` that pulls `a` and `b` together; either may be the ground."""

    a: int
    b: int
    c: float
    rest: float


Row = dict[tuple[str, int], float]
"""Factors of ("q" | "v" | "a", body)."""


@dataclass(frozen=True)
class Network:
    """Bodies with inertias, couplings without loops, springs."""

    inertia: tuple[float, ...]
    couplings: tuple[Coupling, ...]
    springs: tuple[Spring, ...]

    @property
    def size(self) -> int:
        """Number of unknowns."""
        return 3 * len(self.inertia) + len(self.couplings)

    def row(self, factors: Row) -> np.ndarray:
        """One linear form over all unknowns."""
        n, found = len(self.inertia), np.zeros(self.size)
        for (kind, body), factor in factors.items():
            if body != GROUND:
                found["qva".index(kind) * n + body] += factor
        return found

    def equations(self) -> tuple[np.ndarray, np.ndarray]:
        """Matrix and right side of what holds at any instant."""
        rows, right = [], []
        for k in self.couplings:
            for kind, offset in (("q", k.offset), ("v", 0.0), ("a", 0.0)):
                rows.append(self.row({(kind, k.a): 1.0}) - k.ratio * self.row({(kind, k.b): 1.0}))
                right.append(offset)
        for i, J in enumerate(self.inertia):
            row, known = self.row({("a", i): J}), 0.0
            for s in self.springs:
                for own, other, sign in ((s.a, s.b, 1.0), (s.b, s.a, -1.0)):
                    if own == i:
                        row += s.c * (self.row({("q", own): 1.0}) - self.row({("q", other): 1.0}))
                        known -= sign * s.c * s.rest
            for m, k in enumerate(self.couplings):
                row[3 * len(self.inertia) + m] -= float(k.a == i) - k.ratio * float(k.b == i)
            rows.append(row)
            right.append(known)
        return np.array(rows), np.array(right)

    def possible(self, conditions: list[tuple[Row, float]]) -> bool:
        """Whether conditions ``row = value`` can hold at once."""
        A, b = self._all(conditions)
        return np.linalg.matrix_rank(A, 1e-8) == np.linalg.matrix_rank(np.column_stack([A, b]), 1e-8)

    def determined(self, conditions: list[tuple[Row, float]], form: Row) -> float | None:
        """Value of a form that the conditions determine; None for one that they leave open."""
        A, b = self._all(conditions)
        wanted = self.row(form)
        if np.linalg.matrix_rank(A, 1e-8) < np.linalg.matrix_rank(np.vstack([A, wanted]), 1e-8):
            return None
        return float(wanted @ np.linalg.lstsq(A, b, rcond=1e-10)[0])

    def _all(self, conditions: list[tuple[Row, float]]) -> tuple[np.ndarray, np.ndarray]:
        A, b = self.equations()
        rows = np.array([self.row(r) for r, _ in conditions]).reshape(-1, self.size)
        A, b = np.vstack([A, rows]), np.concatenate([b, [v for _, v in conditions]])
        size = np.abs(A).max(axis=1)
        return A / size[:, None], b / size
