"""What an expression of time can do between the points at which it was looked at: Taylor series in interval arithmetic.

Every operation of the expression maps the series of its arguments, about the middle of each of several intervals, to its own.
Coefficients are balls, as their centres and radii: of radius zero at the middles, and of all points of the intervals for the
last coefficient, which bounds what the others leave out. What jumps or has a kink in an interval is not a number there.

References
----------
Moore, Kearfott, Cloud, "Introduction to Interval Analysis", SIAM 2009, section 9.3 (Taylor series with remainder).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ...reduction.exosystem import PIECE_DEGREE

ORDER = PIECE_DEGREE + 1
"""Of the last coefficient."""
MOST_OPERATIONS = 1000
"""Of an expression that is bounded; longer ones are known by their values alone."""

Ball = tuple[np.ndarray, np.ndarray]
"""Centres and radii."""
Series = tuple[np.ndarray, np.ndarray]
"""The same of coefficients (k, intervals), as many as are not zero."""

_SLOPES: dict[int, tuple[Callable[[np.ndarray], np.ndarray], Callable[[Series], Series]]] = {
    ca.OP_LOG: (np.log, lambda u: _inverse(u)),
    ca.OP_ATAN: (np.arctan, lambda u: _inverse(_plus(_square(u), 1.0))),
    ca.OP_ASIN: (np.arcsin, lambda u: _power(_plus(_negative(_square(u)), 1.0), -0.5)),
    ca.OP_ACOS: (np.arccos, lambda u: _negative(_power(_plus(_negative(_square(u)), 1.0), -0.5))),
}
"""Monotonic functions, and the series of their derivatives."""


class Expansion:
    """The Taylor series of an expression with the arguments ``(p, d, r, t)``; ``known`` if all of its operations have some."""

    def __init__(self, function: ca.Function) -> None:
        steps = range(function.n_instructions()) if function.is_a("SXFunction") else range(0)
        self.known = 0 < len(steps) <= MOST_OPERATIONS
        self._steps = [_step(function, k) for k in steps] if self.known else []
        self.known = self.known and all(op in _KNOWN for op, *_ in self._steps)

    def __call__(self, arguments: Sequence[np.ndarray], middle: np.ndarray, half: np.ndarray) -> Series:
        """Coefficients (k, 2 m) of powers of ``(t - middle) / half``: at the m middles, then at all points of the intervals."""
        time = np.stack([np.tile(middle, 2), np.tile(half, 2)]), np.zeros((2, 2 * len(middle)))
        time[1][0, len(middle) :] = half
        work: dict[int, Series] = {}
        found: Series | None = None
        with np.errstate(all="ignore"):
            for op, inputs, outputs, constant in self._steps:
                if op == ca.OP_OUTPUT:
                    found = work[inputs[0]]
                elif op == ca.OP_CONST:
                    work[outputs[0]] = _constant(constant)
                elif op == ca.OP_INPUT:
                    of, k = inputs
                    work[outputs[0]] = time if of == len(arguments) else _constant(float(arguments[of][k]))
                else:
                    work[outputs[0]] = _applied(op, [work[k] for k in inputs])
        centres, radii = (np.zeros((ORDER + 1, 2 * len(middle))) for _ in range(2))
        if found is not None:
            centres[: len(found[0])], radii[: len(found[0])] = found
        return centres, radii


def _step(function: ca.Function, k: int) -> tuple[int, list[int], list[int], float]:
    op = function.instruction_id(k)
    constant = float(function.instruction_constant(k)) if op == ca.OP_CONST else 0.0
    return op, function.instruction_input(k), function.instruction_output(k), constant


def _applied(op: int, u: list[Series]) -> Series:
    """The series of an operation."""
    if op in _SLOPES:
        monotonic, slope = _SLOPES[op]
        return _grown(_monotonic(monotonic, _first(u[0])), u[0], slope(u[0]))
    return _OPERATIONS[op](*u)


# -- balls ---------------------------------------------------------------------------------------------------------


def _first(u: Series) -> Ball:
    return u[0][0], u[1][0]


def _ends(u: Ball) -> tuple[np.ndarray, np.ndarray]:
    return u[0] - u[1], u[0] + u[1]


def _between(low: np.ndarray, high: np.ndarray) -> Ball:
    return 0.5 * (low + high), 0.5 * (high - low)


def _monotonic(function: Callable[[np.ndarray], np.ndarray], u: Ball) -> Ball:
    a, b = (function(end) for end in _ends(u))
    return _between(np.minimum(a, b), np.maximum(a, b))


def _squared(u: Ball) -> Ball:
    low, high = (end**2 for end in _ends(u))
    inside = np.abs(u[0]) <= u[1]
    return _between(np.where(inside, 0.0, np.minimum(low, high)), np.maximum(low, high))


def _turned(function: Callable[[np.ndarray], np.ndarray], u: Ball) -> Ball:
    """Sine or cosine, which move by no more than their argument, nor beyond one."""
    centre = function(u[0])
    return centre, np.minimum(u[1], 1.0 + np.abs(centre))


# -- series --------------------------------------------------------------------------------------------------------


def _constant(value: float) -> Series:
    return np.full((1, 1), value), np.zeros((1, 1))


def _alone(u: Ball) -> Series:
    return u[0][None], u[1][None]


def _empty(u: Series) -> Series:
    """Place for as many coefficients as its function may have."""
    shape = (ORDER + 1 if len(u[0]) > 1 else 1, u[0].shape[1])
    return np.zeros(shape), np.zeros(shape)


def _coefficient(u: Series, v: Series, k: int) -> Ball:
    """Coefficient ``k`` of a product."""
    a, b = max(0, k - len(v[0]) + 1), min(k, len(u[0]) - 1) + 1
    if a >= b:
        return np.zeros(1), np.zeros(1)
    (um, ur), (vm, vr) = ([part[a:b] for part in u], [part[k - b + 1 : k - a + 1][::-1] for part in v])
    radii = np.abs(um) * vr
    radii += ur * (np.abs(vm) + vr)
    return (um * vm).sum(axis=0), radii.sum(axis=0)


def _put(y: Series, k: int, ball: Ball, factor: Any = 1.0) -> None:
    y[0][k], y[1][k] = ball[0] * factor, ball[1] * abs(factor)


def _plus(u: Series, constant: float) -> Series:
    centres = u[0].copy()
    centres[0] += constant
    return centres, u[1]


def _sum(u: Series, v: Series) -> Series:
    shape = max(len(u[0]), len(v[0])), max(u[0].shape[1], v[0].shape[1])
    found = np.zeros(shape), np.zeros(shape)
    for part in (u, v):
        for whole, summand in zip(found, part, strict=True):
            whole[: len(summand)] += summand
    return found


def _negative(u: Series) -> Series:
    return -u[0], u[1]


def _product(u: Series, v: Series) -> Series:
    count = min(ORDER + 1, len(u[0]) + len(v[0]) - 1)
    # Every power at once: the second factor, turned around, as often as there are powers.
    place = np.arange(count)[:, None] - np.arange(min(len(u[0]), count))
    within = ((place >= 0) & (place < len(v[0])))[:, :, None]
    (um, ur), (vm, vr) = (
        [w[: place.shape[1]] for w in u],
        [np.where(within, w[np.clip(place, 0, len(v[0]) - 1)], 0.0) for w in v],
    )
    radii = np.abs(um) * vr
    radii += ur * (np.abs(vm) + vr)
    # What is not a number stays so in the powers that it takes part in only.
    return np.where(within, um * vm, 0.0).sum(axis=1), np.where(within, radii, 0.0).sum(axis=1)


def _square(u: Series) -> Series:
    y = _product(u, u)
    _put(y, 0, _squared(_first(u)))
    return y


def _inverse(u: Series) -> Series:
    return _power(u, -1.0)


def _power(u: Series, exponent: float) -> Series:
    """A power: of what is positive, or not zero where the exponent is a whole number."""
    if exponent == 2.0:
        return _square(u)
    if exponent in (0.0, 1.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0):
        half = _power(u, exponent // 2) if exponent > 1.0 else _constant(1.0)
        even = _square(half) if exponent > 1.0 else half
        return _product(even, u) if exponent % 2.0 else even
    if len(u[0]) == 1:
        return u[0] ** exponent, u[1]
    low, high = _ends(_first(u))
    apart = (low > 0.0) | ((high < 0.0) if exponent == int(exponent) else False)
    base = np.where(apart, u[0][0], np.nan), u[1][0]
    y, scale = _empty(u), _monotonic(lambda x: 1.0 / x, base)
    _put(y, 0, _monotonic(lambda x: x**exponent, base))
    place = np.arange(len(u[0]))[:, None]
    for k in range(1, len(y[0])):
        factor = exponent * place - (k - place)
        factor[0] = 0.0  # the coefficient that is looked for
        total = _coefficient((u[0] * factor, u[1] * np.abs(factor)), y, k)
        _put(y, k, _coefficient(_alone(total), _alone(scale), 0), 1.0 / k)
    return y


def _slopes(u: Series) -> Series:
    """The coefficients times their powers."""
    place = np.arange(len(u[0]))[:, None]
    return u[0] * place, u[1] * place


def _grown(first: Ball, u: Series, slope: Series) -> Series:
    """A function with this value, and this derivative by ``u``."""
    y, du = _empty(u), _slopes(u)
    _put(y, 0, first)
    for k in range(1, len(y[0])):
        _put(y, k, _coefficient(du, slope, k), 1.0 / k)
    return y


def _exponential(u: Series) -> Series:
    y, du = _empty(u), _slopes(u)
    _put(y, 0, _monotonic(np.exp, _first(u)))
    for k in range(1, len(y[0])):
        _put(y, k, _coefficient(du, y, k), 1.0 / k)
    return y


def _sine_and_cosine(u: Series) -> tuple[Series, Series]:
    sine, cosine, du = _empty(u), _empty(u), _slopes(u)
    _put(sine, 0, _turned(np.sin, _first(u)))
    _put(cosine, 0, _turned(np.cos, _first(u)))
    for k in range(1, len(sine[0])):
        _put(sine, k, _coefficient(du, cosine, k), 1.0 / k)
        _put(cosine, k, _coefficient(du, sine, k), -1.0 / k)
    return sine, cosine


def _hyperbolic_tangent(u: Series) -> Series:
    y, slope, du = _empty(u), _empty(u), _slopes(u)
    _put(y, 0, _monotonic(np.tanh, _first(u)))
    centre, radius = _squared(_first(y))
    _put(slope, 0, (1.0 - centre, radius))
    for k in range(1, len(y[0])):
        _put(y, k, _coefficient(du, slope, k), 1.0 / k)
        _put(slope, k, _coefficient(y, y, k), -1.0)
    return y


def _quotient(u: Series, v: Series) -> Series:
    return _product(u, _inverse(v))


def _tangent(u: Series) -> Series:
    return _quotient(*_sine_and_cosine(u))


def _hyperbolic(sign: float) -> Callable[[Series], Series]:
    def of(u: Series) -> Series:
        rising, falling = _exponential(u), _exponential(_negative(u))
        return _product(_sum(rising, _product(falling, _constant(sign))), _constant(0.5))

    return of


def _general_power(u: Series, v: Series) -> Series:
    if v[0].size == 1 and not v[1].any():
        return _power(u, float(v[0][0, 0]))
    return _exponential(_product(v, _applied(ca.OP_LOG, [u])))


# -- choices, which are no numbers where an interval has both sides --------------------------------------------------


def _chosen(first: np.ndarray, second: np.ndarray, u: Series, v: Series) -> Series:
    """``u`` where ``first`` is true, ``v`` where ``second`` is."""
    count = max(len(u[0]), len(v[0]))
    u, v = (
        (np.pad(w[0], ((0, count - len(w[0])), (0, 0))), np.pad(w[1], ((0, count - len(w[1])), (0, 0))))
        for w in (u, v)
    )
    return np.where(first, u[0], np.where(second, v[0], np.nan)), np.where(
        first, u[1], np.where(second, v[1], 0.0)
    )


def _truth(true: np.ndarray, false: np.ndarray) -> Series:
    return _chosen(true, false, _constant(1.0), _constant(0.0))


def _sides(u: Series, v: Series) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Whether ``u`` is below ``v``, above it, and the same number throughout."""
    (a, b), (c, d) = _ends(_first(u)), _ends(_first(v))
    same = (a == b) & (c == d) & (a == c) & (len(u[0]) == 1) & (len(v[0]) == 1)
    return b < c, a > d, same


def _less(u: Series, v: Series) -> Series:
    below, above, same = _sides(u, v)
    return _truth(below, above | same)


def _less_or_same(u: Series, v: Series) -> Series:
    below, above, same = _sides(u, v)
    return _truth(below | same, above)


def _same(u: Series, v: Series) -> Series:
    below, above, same = _sides(u, v)
    return _truth(same, below | above)


def _not(u: Series) -> Series:
    return _same(u, _constant(0.0))


def _minimum(u: Series, v: Series) -> Series:
    below, above, same = _sides(u, v)
    return _chosen(below | same, above, u, v)


def _maximum(u: Series, v: Series) -> Series:
    below, above, same = _sides(u, v)
    return _chosen(above | same, below, u, v)


def _magnitude(u: Series) -> Series:
    return _maximum(u, _negative(u))


def _sign(u: Series) -> Series:
    below, above, same = _sides(u, _constant(0.0))
    return _chosen(
        same, below | above, _constant(0.0), _chosen(above, below, _constant(1.0), _constant(-1.0))
    )


def _stair(function: Callable[[np.ndarray], np.ndarray]) -> Callable[[Series], Series]:
    def of(u: Series) -> Series:
        low, high = (function(end) for end in _ends(_first(u)))
        return np.where(low == high, low, np.nan)[None], np.zeros((1, len(low)))

    return of


def _if(condition: Series, u: Series) -> Series:
    below, above, same = _sides(condition, _constant(0.0))
    return _chosen(below | above, same, u, _constant(0.0))


_OPERATIONS: dict[int, Callable[..., Series]] = {
    ca.OP_ASSIGN: lambda u: u,
    ca.OP_ADD: _sum,
    ca.OP_SUB: lambda u, v: _sum(u, _negative(v)),
    ca.OP_TWICE: lambda u: _sum(u, u),
    ca.OP_MUL: _product,
    ca.OP_DIV: _quotient,
    ca.OP_NEG: _negative,
    ca.OP_INV: _inverse,
    ca.OP_SQ: _square,
    ca.OP_SQRT: lambda u: _power(u, 0.5),
    ca.OP_POW: _general_power,
    ca.OP_CONSTPOW: _general_power,
    ca.OP_EXP: _exponential,
    ca.OP_SIN: lambda u: _sine_and_cosine(u)[0],
    ca.OP_COS: lambda u: _sine_and_cosine(u)[1],
    ca.OP_TAN: _tangent,
    ca.OP_SINH: _hyperbolic(-1.0),
    ca.OP_COSH: _hyperbolic(1.0),
    ca.OP_TANH: _hyperbolic_tangent,
    ca.OP_FABS: _magnitude,
    ca.OP_SIGN: _sign,
    ca.OP_FLOOR: _stair(np.floor),
    ca.OP_CEIL: _stair(np.ceil),
    ca.OP_FMIN: _minimum,
    ca.OP_FMAX: _maximum,
    ca.OP_LT: _less,
    ca.OP_LE: _less_or_same,
    ca.OP_EQ: _same,
    ca.OP_NE: lambda u, v: _not(_same(u, v)),
    ca.OP_NOT: _not,
    ca.OP_AND: lambda u, v: _product(_not(_not(u)), _not(_not(v))),
    ca.OP_OR: lambda u, v: _not(_product(_not(u), _not(v))),
    ca.OP_IF_ELSE_ZERO: _if,
}
_KNOWN = {ca.OP_CONST, ca.OP_INPUT, ca.OP_OUTPUT, *_SLOPES, *_OPERATIONS}
