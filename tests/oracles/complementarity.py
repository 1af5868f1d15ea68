"""Linear complementarity systems with rational coefficients, and their exact behaviour at one instant.

A `System` holds rows ``sum(value x) + sum(rate x') = source`` over named unknowns and pairs ``0 <= a, 0 <= b, a b = 0`` of
unknowns. At an instant with left limits ``x-`` the Laplace transforms obey ``(A + s E) X = E x- + sources(s)``, and a mode is
consistent when, for all sufficiently large s, both unknowns of every pair are not negative: the rational complementarity
problem of Heemels, Schumacher and Weiland (SIAM J. Appl. Math. 60, 2000). As in `consistency`, one evaluation at a large
``s = 2^bits`` in rational arithmetic has the signs of the leading coefficients. With ``s = 1/h`` the same rows are a step of
the implicit Euler method.

Two questions are answered: whether any consistent mode exists (Lemke's method; for passive systems a ray proves that none
does), and whether one given mode is consistent.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from tests.oracles.consistency import feasible
from tests.oracles.lcp import lemke

BITS = 256
"""Default logarithm of the point of evaluation: coefficients of the campaign have at most some ten bits."""
SECANT_BITS = 1024
"""The same for systems with secants of characteristics, which have 40 bits."""
ONE = Fraction(1)
ROUNDING = 2.0**-46
"""Part of the largest number of a run up to which others are rounding."""
KNOWN = "-"
"""First letter of columns of right-hand sides: left limits and sources, where these are kept apart from each other."""
CONSTANT = KNOWN
"""The right-hand side where all is numbers."""

Row = dict[str, Fraction]


@dataclass(frozen=True)
class Equation:
    """``sum(value x) + sum(rate x') = source``; the source is given by its Taylor coefficients at the instant."""

    value: Mapping[str, Any]
    rate: Mapping[str, Any] = field(default_factory=dict)
    source: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Pair:
    """``0 <= a, 0 <= b, a b = 0``."""

    name: str
    a: str
    b: str


@dataclass(frozen=True)
class System:
    """Equations and pairs; unknowns are whatever occurs in them."""

    equations: tuple[Equation, ...]
    pairs: tuple[Pair, ...]


@dataclass(frozen=True)
class Instant:
    """A consistent mode and its right limits.

    Attributes
    ----------
    positive : tuple of bool
        Per pair: whether b may be positive (a is zero).
    values : dict of str to float
        Right limits of what the system determines and what stays finite.
    impulses : dict of str to float
        Impulses (times a time) of what does not stay finite.
    slopes : dict of str to float
        Derivatives after the instant of what is differentiated, where right limits are fractions of few digits.
    orders : dict of str to int
        Leading powers of time, negative for impulses; what is and stays zero is left out.
    """

    positive: tuple[bool, ...]
    values: dict[str, float]
    impulses: dict[str, float]
    slopes: dict[str, float] = field(default_factory=dict)
    orders: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Reduced:
    """Rows that hold between the unknowns of the pairs alone, and those from which the others follow."""

    rows: list[Row]
    solved: list[tuple[str, Row]]
    free: tuple[str, ...]
    s: Fraction


def reduced(system: System, states: Mapping[str, Any], bits: int = BITS) -> Reduced | None:
    """Elimination of all unknowns that are in no pair; None where equations without pairs contradict each other."""
    s = Fraction(1 << bits)
    return eliminated(system.pairs, [_at(equation, states, s) for equation in system.equations], s)


def eliminated(pairs: Sequence[Pair], rows: Sequence[Row], s: Fraction) -> Reduced | None:
    """The same from rows at a point ``s``."""
    inner = {name for pair in pairs for name in (pair.a, pair.b)}
    pending = [r for r in rows if r]
    every = dict.fromkeys(c for r in pending for c in r if not c.startswith(KNOWN) and c not in inner)
    done: list[Row] = []
    solved: list[tuple[str, Row]] = []
    while pending:
        k = min(range(len(pending)), key=lambda i: len(pending[i]))
        row = pending.pop(k)
        candidates = [c for c in row if not c.startswith(KNOWN) and c not in inner]
        if not candidates:
            if all(c.startswith(KNOWN) for c in row):
                return None
            done.append(row)
            continue
        pivot = min(candidates, key=lambda c: (abs(row[c]) != 1, sum(c in other for other in pending), c))
        unit = {c: v / row[pivot] for c, v in row.items()}
        pending = [r for r in (without(other, pivot, unit) for other in pending) if r]
        solved.append((pivot, unit))
    pivots = {c for c, _ in solved}
    return Reduced(done, solved, tuple(c for c in every if c not in pivots), s)


def _at(equation: Equation, states: Mapping[str, Any], s: Fraction) -> Row:
    row = left_side(equation, s)
    known = sum((Fraction(c) / s ** (k + 1) for k, c in enumerate(equation.source)), Fraction(0))
    for column, value in equation.rate.items():
        known += Fraction(value) * Fraction(states.get(column, 0))
    add(row, CONSTANT, known)
    return row


def left_side(equation: Equation, s: Fraction) -> Row:
    """Coefficients of the unknowns at a point ``s``."""
    row: Row = {}
    for column, value in equation.value.items():
        add(row, column, Fraction(value))
    for column, value in equation.rate.items():
        add(row, column, Fraction(value) * s)
    return row


def add(row: Row, column: str, value: Fraction) -> None:
    """Add to an entry; zeros are left out."""
    total = row.get(column, 0) + value
    if total:
        row[column] = total
    else:
        row.pop(column, None)


def without(row: Row, column: str, unit: Row) -> Row:
    """The row without a column that another row is solved for."""
    factor = row.get(column)
    if not factor:
        return row
    out = dict(row)
    for c, v in unit.items():
        add(out, c, -factor * v)
    return out


def solution(system: System, states: Mapping[str, Any], bits: int = BITS) -> Instant | None:
    """A consistent mode, None if there is none; right for monotone systems, for others None is no proof.

    Independent parts are solved one by one.

    Raises
    ------
    NotSquareError
        If the rows between the pairs leave no complementary set to solve for.
    """
    positive: dict[str, bool] = {}
    values: dict[str, float] = {}
    impulses: dict[str, float] = {}
    slopes: dict[str, float] = {}
    orders: dict[str, int] = {}
    for part in parts(system):
        found = _solution(part, states, bits)
        if found is None:
            return None
        positive.update(zip((pair.name for pair in part.pairs), found.positive, strict=True))
        values.update(found.values)
        impulses.update(found.impulses)
        slopes.update(found.slopes)
        orders.update(found.orders)
    return Instant(tuple(positive[pair.name] for pair in system.pairs), values, impulses, slopes, orders)


def parts(system: System) -> list[System]:
    """Systems without a common unknown, in the order of their first equations."""
    root: dict[str, str] = {}

    def find(c: str) -> str:
        while root.setdefault(c, c) != c:
            c = root[c]
        return c

    rows = [[*e.value, *e.rate] for e in system.equations]
    for columns in (*rows, *((p.a, p.b) for p in system.pairs)):
        for c in columns[1:]:
            root[find(c)] = find(columns[0])
    groups: dict[str, tuple[list[Equation], list[Pair]]] = {}
    for equation, columns in zip(system.equations, rows, strict=True):
        groups.setdefault(find(columns[0]) if columns else "", ([], []))[0].append(equation)
    for pair in system.pairs:
        groups[find(pair.a)][1].append(pair)
    return [System(tuple(equations), tuple(pairs)) for equations, pairs in groups.values()]


def _solution(system: System, states: Mapping[str, Any], bits: int) -> Instant | None:
    found = reduced(system, states, bits)
    if found is None:
        return None
    basis = complementary_basis(system.pairs, found.rows)
    if basis is None:
        return None
    chosen, rows = basis
    names = [pair.b if b else pair.a for pair, b in zip(system.pairs, chosen, strict=True)]
    others = [pair.a if b else pair.b for pair, b in zip(system.pairs, chosen, strict=True)]
    M = [[-rows[w].get(z, Fraction(0)) for z in others] for w in names]
    q = [rows[w].get(CONSTANT, Fraction(0)) for w in names]
    answer = lemke(M, q) if names else None
    if answer is not None and answer.z is None:
        return None
    z = answer.z if answer is not None else []
    values = dict(zip(others, z, strict=True))
    for w, m, c in zip(names, M, q, strict=True):
        values[w] = c + sum((a * b for a, b in zip(m, z, strict=True) if b), Fraction(0))
    on = tuple(values[p.b] > 0 for p in system.pairs)
    return _described(system, found, values, on)


def secant(function: Callable[[Any], Any], x: float) -> Fraction:
    """Slope of the line from zero to a point of a characteristic, to 40 bits.

    A solution of the nonlinear problem is one of that with the lines to its own points.
    """
    x = x if abs(x) > 1e-6 else 1e-6
    mantissa, exponent = np.frexp(float(function(x)) / x)
    return Fraction(round(float(mantissa) * 2**40)) * Fraction(2) ** (int(exponent) - 40)


class NotSquareError(Exception):
    """Neither unknown of a pair can be solved for: the pairs have more or fewer equations than a monotone system."""


def complementary_basis(
    pairs: Sequence[Pair], rows: Sequence[Row]
) -> tuple[list[bool], dict[str, Row]] | None:
    """One unknown of each pair, and the rows solved for them; None for a contradiction.

    The rows of a maximal monotone relation leave as many freedoms as there are pairs. Solving for b where possible, else
    for a, may leave a pair without a row although another choice would not; then earlier ones are exchanged.
    """
    rest = list(rows)
    solved: dict[str, Row] = {}
    owner: dict[str, int] = {c: k for k, p in enumerate(pairs) for c in (p.a, p.b)}
    for pair in pairs:
        for column in (pair.b, pair.a):
            at = next((i for i, r in enumerate(rest) if column in r), None)
            if at is None:
                continue
            row = rest.pop(at)
            unit = {c: v / row[column] for c, v in row.items()}
            rest = [r for r in (without(r, column, unit) for r in rest) if r]
            solved = {c: without(r, column, unit) for c, r in solved.items()}
            solved[column] = unit
            break
        else:
            if not rest:
                raise NotSquareError(pair.name)
    for row in rest:
        if all(c.startswith(KNOWN) for c in row):
            return None
    if rest or len(solved) != len(pairs):
        raise NotSquareError([owner[c] for r in rest for c in r if c in owner])
    return [pair.b in solved for pair in pairs], solved


def in_mode(
    system: System, states: Mapping[str, Any], positive: Sequence[bool], bits: int = BITS
) -> Instant | None:
    """Right limits in a given mode (per pair whether a, else b, is zero); None if it is not consistent.

    What the mode leaves undetermined counts as consistent when some choice of it satisfies all conditions.
    """
    found = reduced(system, states, bits)
    if found is None:
        return None
    zero = {pair.a if on else pair.b for pair, on in zip(system.pairs, positive, strict=True)}
    kept = [pair.b if on else pair.a for pair, on in zip(system.pairs, positive, strict=True)]
    rest = [{c: v for c, v in r.items() if c not in zero} for r in found.rows]
    solved: list[tuple[str, Row]] = []
    for column in kept:
        at = next((i for i, r in enumerate(rest) if column in r), None)
        if at is None:
            continue
        row = rest.pop(at)
        unit = {c: v / row[column] for c, v in row.items()}
        rest = [r for r in (without(r, column, unit) for r in rest) if r]
        solved = [(c, without(r, column, unit)) for c, r in solved]
        solved.append((column, unit))
    if any(set(r) == {CONSTANT} for r in rest):
        return None
    pivots = {c for c, _ in solved}
    free = [c for c in kept if c not in pivots]
    constants = [unit.get(CONSTANT, Fraction(0)) for _, unit in solved]
    if free:
        directions = [[-unit.get(f, Fraction(0)) for f in free] for _, unit in solved]
        identity = [[ONE * (f == g) for g in free] for f in free]
        if not feasible([*constants, *([Fraction(0)] * len(free))], [*directions, *identity]):  # type: ignore[list-item]
            return None
    elif any(c < 0 for c in constants):
        return None
    values: dict[str, Any] = dict.fromkeys(zero, Fraction(0))
    for column, unit in solved:
        loose = any(f in unit for f in free)
        values[column] = None if loose else unit.get(CONSTANT, Fraction(0))
    values.update(dict.fromkeys(free))
    return _described(system, found, values, tuple(positive))


def _described(
    system: System, found: Reduced, pairs: Mapping[str, Any], positive: tuple[bool, ...]
) -> Instant:
    """Right limits and impulses of everything; what depends on an undetermined value (None) is left out."""
    values: dict[str, Any] = {**dict.fromkeys(found.free), **pairs}
    # As rows over undetermined values, which may cancel in a sum.
    rows: dict[str, Row] = {c: {c: ONE} if v is None else {CONSTANT: v} for c, v in values.items()}
    for column, unit in reversed(found.solved):
        row = {CONSTANT: unit.get(CONSTANT, Fraction(0))}
        for c, v in unit.items():
            for known, w in rows[c].items() if c not in (CONSTANT, column) else ():
                row[known] = row.get(known, Fraction(0)) - v * w
        rows[column] = row
        loose = any(v for c, v in row.items() if c != CONSTANT)
        values[column] = None if loose else row[CONSTANT]
    limits, impulses, slopes = {}, {}, {}
    half = found.s.numerator.bit_length() // 2
    huge = 1 << half
    differentiated = {c for equation in system.equations for c in equation.rate}
    for column, value in values.items():
        if value is None:
            continue
        limit = value * found.s
        if abs(limit) >= huge:
            if abs(value) < huge:
                impulses[column] = float(value)
            continue
        limits[column] = float(limit)
        if column in differentiated:
            # Some fraction of half the digits comes within ``1 / huge`` of any number; only the right one comes this close.
            simple = limit.limit_denominator(1 << (half // 2))
            if abs(limit - simple) * (huge << (half // 2)) < 1:
                slopes[column] = float((limit - simple) * found.s)
    bits = found.s.numerator.bit_length() - 1
    orders = {column: -round(_log2(value * found.s) / bits) for column, value in values.items() if value}
    return Instant(positive, limits, impulses, slopes, orders)


def _log2(value: Fraction) -> int:
    return value.numerator.bit_length() - value.denominator.bit_length()


def residuals(
    system: System,
    values: Mapping[str, Any],
    rates: Mapping[str, Any],
    units: Mapping[str, str],
    limit: float,
    rounded: Mapping[str, Any] | None = None,
) -> dict[int, float]:
    """Defect of every equation at many times, relative to what is allowed.

    Allowed is ``limit`` times the sum of what its terms would be at the `magnitudes` of their units; ``units`` tells the unit of
    an unknown by the letters before its point. Terms with a value may be ``rounded`` by so much of its unit besides.
    Equations with unknowns that are neither in ``values`` nor, differentiated, in ``rates`` are left out.
    """
    of_values = magnitudes(values, units, limit, rounded)
    of_rates = magnitudes(rates, units, limit)
    found = {}
    for k, equation in enumerate(system.equations):
        if any(c not in values for c in equation.value) or any(c not in rates for c in equation.rate):
            continue
        source = float(equation.source[0]) if equation.source else 0.0
        total, allowed = -source, abs(source)
        for part, known, sizes in ((equation.value, values, of_values), (equation.rate, rates, of_rates)):
            for c, v in part.items():
                total = total + float(v) * known[c]
                allowed = allowed + abs(float(v)) * sizes[unit(c, units)]
        if not equation.value and not equation.rate:
            continue
        found[k] = relative(total, limit * allowed)
    return found


def unit(unknown: str, units: Mapping[str, str]) -> str:
    """Unit of an unknown."""
    return units[unknown.split(".", 1)[0]]


def magnitudes(
    values: Mapping[str, Any],
    units: Mapping[str, str],
    limit: float,
    rounded: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """Per unit the largest magnitude at each time, and a thousandth of that of all times.

    The coefficients of the models are of the order of one, so what is rounding beside the largest number of any unit is
    rounding: ``limit`` times a magnitude is no less than that. It is larger by what is ``rounded`` of a unit where coefficients
    that are not of that order make a value from others.
    """
    found: dict[str, Any] = {}
    for c, x in values.items():
        name = unit(c, units)
        found[name] = np.maximum(found.get(name, 0.0), np.abs(x))
    least = ROUNDING / limit * max((np.max(x, initial=0.0) for x in found.values()), default=0.0)
    more = rounded or {}
    return {name: x + 1e-3 * x.max() + least + more.get(name, 0.0) / limit for name, x in found.items()}


def relative(defect: Any, allowed: Any) -> float:
    """Largest ratio of a defect to what is allowed; 0 where both are zero."""
    defect, allowed = np.broadcast_arrays(np.abs(defect), allowed)
    return float(np.max(np.divide(defect, allowed, out=np.where(defect > 0, np.inf, 0.0), where=allowed > 0)))
