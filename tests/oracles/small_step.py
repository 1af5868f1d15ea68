"""Consistency of a mode by one backward-Euler step of vanishing length in 200 digits.

For ``h -> 0`` the sign of every guard after the step is that of its leading Laurent coefficient.
Undetermined values are the limit of equal leakage of all elements. Nothing is shared with the
engine but the numbers of the model.
"""

from decimal import Decimal, localcontext

STEP = Decimal("1e-30")
LEAKAGE = Decimal("1e-120")
NOISE = Decimal("1e-67")


def solve(matrix, right):
    """Gaussian elimination with partial pivoting."""
    n = len(matrix)
    rows = [[*row, value] for row, value in zip(matrix, right, strict=True)]
    for k in range(n):
        p = max(range(k, n), key=lambda i: abs(rows[i][k]))
        rows[k], rows[p] = rows[p], rows[k]
        if rows[k][k] == 0:
            return None
        for i in range(k + 1, n):
            factor = rows[i][k] / rows[k][k]
            if factor:
                rows[i] = [a - factor * b if b else a for a, b in zip(rows[i], rows[k], strict=True)]
    x = [Decimal(0)] * n
    for k in reversed(range(n)):
        x[k] = (rows[k][n] - sum(rows[k][j] * x[j] for j in range(k + 1, n))) / rows[k][k]
    return x


def is_consistent(E, A, B, S, leak, guards, z_minus, xi, T0, size):
    """Whether all guards are not negative after the step.

    ``E, A, B`` are the rows in force, ``leak`` the same number of rows of the complementary
    variables with the sign that dissipates (zero for base rows), ``guards`` rows over [z; xi]
    with the magnitudes ``size``.
    """
    with localcontext() as context:
        context.prec = 200
        h = STEP * Decimal(float(T0))
        implicit = [[(i == j) - h * Decimal(float(c)) for j, c in enumerate(row)] for i, row in enumerate(S)]
        xi = solve(implicit, [Decimal(float(v)) for v in xi])
        matrix, right = [], []
        for e, a, b, w in zip(E.tolist(), A.tolist(), B.tolist(), leak.tolist(), strict=True):
            matrix.append(
                [Decimal(c) / h + Decimal(d) + LEAKAGE * Decimal(g) for c, d, g in zip(e, a, w, strict=True)]
            )
            right.append(
                sum(Decimal(c) / h * Decimal(v) for c, v in zip(e, z_minus.tolist(), strict=True) if c)
                - sum(Decimal(c) * v for c, v in zip(b, xi, strict=True) if c)
            )
        z = solve(matrix, right)
        if z is None:
            return False
        values = [
            sum(Decimal(c) * v for c, v in zip(row, [*z, *xi], strict=True) if c) for row in guards.tolist()
        ]
        return all(value >= -NOISE * Decimal(float(scale)) for value, scale in zip(values, size, strict=True))
