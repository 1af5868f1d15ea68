"""Independent oracle: the matrix exponential in multiple precision, and small builders of generators."""

from __future__ import annotations

import mpmath as mp
import numpy as np


def exact_state(Ay: np.ndarray, h: float, y0: np.ndarray) -> np.ndarray:
    """``exp(Ay h) y0`` by scaling, Taylor series and squaring with enough digits, rounded at the end."""
    n = len(Ay)
    norm = float(np.abs(Ay).sum(1).max()) * h
    halvings = max(0, int(np.ceil(np.log2(norm + 1e-30))) + 3)
    with mp.workdps(50 + int(0.61 * halvings)):
        step = mp.matrix(Ay.tolist()) * mp.mpf(float(h)) / mp.mpf(2) ** halvings
        total, power = mp.eye(n), mp.eye(n)
        for k in range(1, 40):
            power = power * step / k
            total += power
        for _ in range(halvings):
            total = total * total
        y = total * mp.matrix([mp.mpf(float(v)) for v in y0])
        return np.array([float(v) for v in y])


def generator(A: object, B: object, S: object) -> np.ndarray:
    """Joint generator of ``x' = A x + B xi``, ``xi' = S xi``."""
    A, B, S = (np.atleast_2d(np.asarray(M, float)) for M in (A, B, S))
    n = len(A) if A.size else 0
    Ay = np.zeros((n + len(S), n + len(S)))
    if n:
        Ay[:n, :n], Ay[:n, n:] = A, B
    Ay[n:, n:] = S
    return Ay


def chain(m: int) -> np.ndarray:
    """Polynomial of degree ``m - 1``: value and derivatives."""
    return np.diag(np.ones(m - 1), 1)


def sinusoid(omega: float) -> np.ndarray:
    """Value and derivative of a sinusoid."""
    return np.array([[0.0, 1.0], [-omega * omega, 0.0]])


def blocks(*parts: np.ndarray) -> np.ndarray:
    """Block diagonal matrix."""
    size = sum(len(p) for p in parts)
    S, k = np.zeros((size, size)), 0
    for p in parts:
        S[k : k + len(p), k : k + len(p)] = p
        k += len(p)
    return S


def ladder(C: np.ndarray, R: np.ndarray) -> np.ndarray:
    """State matrix of an RC ladder with the last node grounded through the last resistor."""
    n = len(C)
    A = np.zeros((n, n))
    for i in range(n):
        A[i, i] -= 1 / R[i] / C[i]
        if i + 1 < n:
            A[i, i + 1] += 1 / R[i] / C[i]
            A[i + 1, i + 1] -= 1 / R[i] / C[i + 1]
            A[i + 1, i] += 1 / R[i] / C[i + 1]
    return A
