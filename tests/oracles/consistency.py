"""Exhaustive, exact definition of a consistent conduction state of a switched linear network with ideal diodes.

**Equations.** With the initial inductor currents and capacitor voltages, the network is solved in the Laplace domain:
Kirchhoff's laws and, per element,

    R: v = R i     L: v = s L i - L i0     C: i = s C v - C v0     V: v = V/s     I: i = I/s
    closed switch, conducting diode: v = 0          open switch, blocking diode: i = 0

(sources with derivatives: ``V/s + V'/s^2 + ...``). For each of the 2^K assignments the solution is a vector of rational
functions of s. The assignment is consistent when, for all sufficiently large s, every conducting diode has ``i(s) >= 0``
and every blocking one ``-v(s) >= 0``: the leading coefficient of the Laurent series at infinity decides (impulse, value,
first derivative, ...). This is the rational complementarity problem of Heemels, Schumacher and Weiland (SIAM J. Appl.
Math. 60, 2000). Thyristors that are neither fired nor latched are open.

**Singular assignments.** A row 0 = r(s) with r not identically zero is inadmissible. Quantities the network leaves
undetermined (floating nodes, circulating currents) count as satisfied when *some* choice of them satisfies all
conditions together; the linear program over the ordered field of rational functions is solved exactly.

**Exactness.** All polynomials have integer coefficients after scaling of rows, bounded by H = product of the rows' sums
of magnitudes (entries and right-hand side). A polynomial with such coefficients has, at any integer ``S > 2 H + 2``, the
sign of its leading term, and is zero there only if it is zero identically. So one evaluation at ``S = 2^b`` in exact
integer arithmetic (Bareiss, Math. Comp. 22, 1968) replaces arithmetic with rational functions. The default b follows
from H, with an upper limit of `MAX_BITS` (then sufficient for all but adversarial parameter values).

The resistive part is eliminated once; assignments are visited depth first, sharing the elimination of common prefixes.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import lcm
from typing import Any

from tests.oracles.network_ports import Ports, condense
from tests.oracles.networks import Element

MAX_BITS = 2048


@dataclass(frozen=True)
class ConsistentMode:
    """One consistent assignment.

    Attributes
    ----------
    on : dict of str to bool
        Whether each diode or thyristor conducts.
    impulse_order : int
        0: no impulses; 1: Dirac impulses in the voltage of an inductor or the current of a capacitor; 2: derivatives.
    states : dict of str to Fraction or None
        Right limits of inductor currents and capacitor voltages, None where the network does not determine one.
    impulses : dict of str to Fraction
        Nonzero impulses: flux for inductors (V s), charge for capacitors (A s).
    undetermined : tuple of str
        Diodes, thyristors and open switches whose blocked voltage or current is undetermined.
    interrupted : tuple of str
        Open switches and blocked thyristors with a (determined) voltage impulse: they interrupt a current.
    """

    on: dict[str, bool]
    impulse_order: int
    states: dict[str, Fraction | None]
    impulses: dict[str, Fraction]
    undetermined: tuple[str, ...]
    interrupted: tuple[str, ...]


def consistent_modes(
    network: Sequence[Element], states: Mapping[str, Any] | None = None, bits: int | None = None
) -> list[ConsistentMode]:
    """All consistent assignments, in the order of counting in binary with the first diode as most significant digit.

    Parameters
    ----------
    network : sequence of Element
        See `networks`; values are ints or Fractions.
    states : mapping, optional
        Initial inductor currents and capacitor voltages by name, replacing the elements' own.
    bits : int, optional
        Binary logarithm of the point of evaluation.
    """
    system = _System(condense(network), states or {}, bits)
    return [system.describe(leaf) for leaf in system.leaves() if system.satisfied(leaf)]


Rows = list[list[int]]


@dataclass(frozen=True)
class _Pivot:
    column: int
    row: list[int]
    value: int


@dataclass(frozen=True)
class _Leaf:
    """A fully eliminated assignment: columns chosen per diode, pivots in order of elimination, free columns."""

    on: tuple[bool, ...]
    columns: tuple[int, ...]
    pivots: tuple[_Pivot, ...]
    free: tuple[int, ...]


def eliminate(rows: Rows, column: int, previous: int) -> tuple[_Pivot | None, Rows]:
    """One fraction-free step; returns no pivot when the column is empty."""
    best = min(
        (k for k, row in enumerate(rows) if row[column]), key=lambda k: abs(rows[k][column]), default=None
    )
    if best is None:
        return None, rows
    pivot_row = rows[best]
    value = pivot_row[column]
    rest = []
    for k, row in enumerate(rows):
        if k == best:
            continue
        factor = row[column]
        if factor:
            row = [(value * a - factor * b) // previous for a, b in zip(row, pivot_row, strict=True)]
        elif value != previous:
            row = [value * a // previous for a in row]
        if any(row):
            rest.append(row)
    return _Pivot(column, pivot_row, value), rest


class _System:
    """Columns: one unknown per storage element, voltage and current of every diode, right-hand side.

    The unknown is the voltage of a capacitor and the current of an inductor. All unknowns are multiplied by
    ``s^(m+1)``, m the highest derivative of a source, so that every entry is a polynomial.
    """

    def __init__(self, ports: Ports, states: Mapping[str, Any], bits: int | None) -> None:
        self.ports = ports
        self.n, self.K = len(ports.storage), len(ports.diodes)
        self.initial = [Fraction(states.get(e.name, e.extra or 0)) for e in ports.storage]
        self.sources = max((len(row.sources) for row in ports.rows), default=1)
        polynomials = [self._polynomials(row) for row in ports.rows]
        bound = 1
        for row in polynomials:
            bound *= max(1, sum(abs(c) for entry in row for c in entry))
        self.bits = min(2 * bound.bit_length() + 8, MAX_BITS) if bits is None else bits
        rows = [
            [sum(c << (k * self.bits) for k, c in enumerate(entry)) for entry in row] for row in polynomials
        ]
        self.pivots: list[_Pivot] = []
        self.free: list[int] = []
        previous = 1
        for column in range(self.n):
            pivot, rows = eliminate(rows, column, previous)
            if pivot is None:
                self.free.append(column)
            else:
                self.pivots.append(pivot)
                previous = pivot.value
        self.rows = rows

    def _polynomials(self, row: Any) -> list[list[int]]:
        """Integer polynomials (lowest power first) of one port equation ``sum(a v + b i) = sources``."""
        m = self.sources - 1
        entries, initial = [], Fraction(0)
        for e, x0, (a, b) in zip(self.ports.storage, self.initial, row.storage, strict=True):
            entries.append([a, b * e.value] if e.kind == "C" else [b, a * e.value])
            initial += (b if e.kind == "C" else a) * e.value * x0
        for a, b in row.diodes:
            entries += [[a], [b]]
        known = [*row.sources, *[Fraction(0)] * (m + 1 - len(row.sources))]
        entries.append([*reversed(known), initial])
        scale = lcm(*(c.denominator for entry in entries for c in entry))
        return [[int(c * scale) for c in entry] for entry in entries]

    def leaves(self) -> Iterator[_Leaf]:
        """Admissible assignments."""
        start = self.pivots[-1].value if self.pivots else 1
        yield from self._descend((), (), tuple(self.pivots), tuple(self.free), self.rows, start)

    def _descend(
        self,
        on: tuple[bool, ...],
        columns: tuple[int, ...],
        pivots: tuple[_Pivot, ...],
        free: tuple[int, ...],
        rows: Rows,
        previous: int,
    ) -> Iterator[_Leaf]:
        depth = len(on)
        if depth == self.K:
            if not any(row[-1] for row in rows):
                yield _Leaf(on, columns, pivots, free)
            return
        for conducts in (False, True) if self.ports.enabled[depth] else (False,):
            column = self.n + 2 * depth + conducts
            other = self.n + 2 * depth + (not conducts)
            kept = [[0 if k == other else a for k, a in enumerate(row)] for row in rows]
            pivot, rest = eliminate(kept, column, previous)
            if any(row[-1] and not any(row[:-1]) for row in rest):
                continue
            state = (*on, conducts), (*columns, column)
            if pivot is None:
                yield from self._descend(*state, pivots, (*free, column), rest, previous)
            else:
                yield from self._descend(*state, (*pivots, pivot), free, rest, pivot.value)

    def satisfied(self, leaf: _Leaf) -> bool:
        """Whether the sign conditions hold, for some choice of what is undetermined."""
        conditions = [(c, 1 if conducts else -1) for c, conducts in zip(leaf.columns, leaf.on, strict=True)]
        checked = [condition for k, condition in enumerate(conditions) if self.ports.enabled[k]]
        if not checked:
            return True
        last = leaf.pivots[-1].value if leaf.pivots else 1
        sign = 1 if last > 0 else -1
        free = [column for column in leaf.free if column >= self.n]
        if not free:
            limits = {column: sign * s for column, s in checked}
            return _back_substitute(leaf, -1, limits) is not None
        constants = _back_substitute(leaf, -1) or {}
        directions = [_back_substitute(leaf, f) or {} for f in free]
        rows = [[s * sign * d.get(column, 0) for d in directions] for column, s in checked]
        for k, f in enumerate(free):
            for row, (column, s) in zip(rows, checked, strict=True):
                if column == f:
                    row[k] = s * sign * last
        return feasible([s * sign * constants.get(column, 0) for column, s in checked], rows)

    def describe(self, leaf: _Leaf) -> ConsistentMode:
        """Right limits and impulses of a consistent leaf."""
        last = leaf.pivots[-1].value if leaf.pivots else 1
        numerators = _back_substitute(leaf, -1) or {}
        directions = [_back_substitute(leaf, f) or {} for f in leaf.free]
        loose = {column for d in directions for column, value in d.items() if value} | set(leaf.free)
        unit = last << (self.bits * (self.sources - 1))
        values = {c: Fraction(n, unit) for c, n in numerators.items() if c not in loose}
        states, impulses, order = self._storage(values)
        ports = list(zip(self.ports.diodes, leaf.columns, leaf.on, strict=True))
        interrupted = [
            d.name
            for (d, column, _), enabled in zip(ports, self.ports.enabled, strict=True)
            if not enabled and self._power(values.get(column, Fraction(0))) >= 1
        ]
        return ConsistentMode(
            {d.name: conducts for d, _, conducts in ports if d.kind in "DT"},
            order,
            states,
            impulses,
            tuple(d.name for d, column, _ in ports if column in loose),
            tuple(interrupted),
        )

    def _storage(
        self, values: Mapping[int, Fraction]
    ) -> tuple[dict[str, Fraction | None], dict[str, Fraction], int]:
        """Right limits of the states, impulses of flux and charge, and the highest order of an impulse."""
        order = 0
        states: dict[str, Fraction | None] = {}
        impulses: dict[str, Fraction] = {}
        for k, (e, x0) in enumerate(zip(self.ports.storage, self.initial, strict=True)):
            states[e.name] = None
            if k not in values:
                continue
            power = self._power(values[k] - x0)
            order = max(order, power + 1)
            if power <= 0:
                states[e.name] = self._limit(values[k])
            if power == 0:
                impulses[e.name] = e.value * self._limit(values[k] - x0)
        return states, impulses, order

    def _power(self, value: Fraction) -> int:
        """Exponent p of the leading term ``c S^p``; far below zero for zero."""
        if not value:
            return -(10**6)
        return round((abs(value.numerator).bit_length() - value.denominator.bit_length()) / self.bits)

    def _limit(self, value: Fraction) -> Fraction:
        """Constant term of a value of order ``S^0``: the simple fraction within ``2^(-b/2)``, if there is one."""
        simple = value.limit_denominator(1 << (self.bits // 4))
        return simple if abs(simple - value) * (1 << (self.bits // 2)) < max(1, abs(value)) else value


def _back_substitute(leaf: _Leaf, rhs: int, limits: Mapping[int, int] | None = None) -> dict[int, int] | None:
    """Numerators of all pivot unknowns over the last pivot (Cramer's rule), the free unknowns being zero.

    `rhs` is -1 for the right-hand side, or a free column whose unknown is one. With `limits` (signs per column), None
    as soon as one numerator has the wrong sign.
    """
    last = leaf.pivots[-1].value if leaf.pivots else 1
    numerators: dict[int, int] = {}
    for pivot in reversed(leaf.pivots):
        total = (pivot.row[-1] if rhs < 0 else -pivot.row[rhs]) * last
        for column, numerator in numerators.items():
            if numerator and pivot.row[column]:
                total -= pivot.row[column] * numerator
        numerators[pivot.column] = total // pivot.value
        if limits and numerators[pivot.column] * limits.get(pivot.column, 0) < 0:
            return None
    return numerators


def feasible(constants: Sequence[int], rows: Sequence[Sequence[int]]) -> bool:
    """Whether ``constants + rows @ y >= 0`` for some y of either sign.

    Exact dual simplex with the least-index rule of Bland: each step exchanges a violated row with an unknown. At first
    every unknown is exchanged for a row it occurs in; solved for, it is basic with no condition of its own (index -1).
    """
    table = [[Fraction(c), *map(Fraction, row)] for c, row in zip(constants, rows, strict=True)]
    basic: list[int] = list(range(len(table)))
    nonbasic = [-1] * len(rows[0])
    for k in range(len(nonbasic)):
        own = next((i for i, row in enumerate(table) if basic[i] >= 0 and row[k + 1]), None)
        if own is not None:
            _exchange(table, basic, nonbasic, own, k)
    while True:
        candidates = [i for i, row in enumerate(table) if basic[i] >= 0 and row[0] < 0]
        if not candidates:
            return True
        violated = min(candidates, key=basic.__getitem__)
        helps = [k for k in range(len(nonbasic)) if table[violated][k + 1] > 0]
        if not helps:
            return False
        _exchange(table, basic, nonbasic, violated, min(helps, key=nonbasic.__getitem__))


def _exchange(table: list[list[Fraction]], basic: list[int], nonbasic: list[int], i: int, k: int) -> None:
    """Solve row i for unknown k and insert it into the other rows."""
    pivot = table[i]
    solved = [-a / pivot[k + 1] for a in pivot]
    solved[k + 1] = 1 / pivot[k + 1]
    for j, row in enumerate(table):
        if j != i and row[k + 1]:
            factor = row[k + 1]
            table[j] = [a + factor * b for a, b in zip(row, solved, strict=True)]
            table[j][k + 1] = factor * solved[k + 1]
    table[i] = solved
    basic[i], nonbasic[k] = nonbasic[k], basic[i]
