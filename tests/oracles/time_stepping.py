"""Trajectories of linear complementarity systems by small steps of the implicit Euler method.

Every step is a complementarity problem for the values at its end (Moreau; Stewart and Trinkle, Int. J. Numer. Methods Eng. 39,
1996): no event is located, no mode is followed, no instant is treated on its own. Values are right to the order of the step,
jumps are smeared over one. All unknowns but those of the pairs are eliminated once, in rational arithmetic.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np

from tests.oracles.complementarity import (
    KNOWN,
    ROUNDING,
    Row,
    System,
    add,
    complementary_basis,
    eliminated,
    left_side,
)
from tests.oracles.lcp import lemke
from tests.oracles.lines import Part
from tests.oracles.rref import rref

TINY = 1e-11
"""Part of the terms of a complementary unknown that counts as zero."""
KEPT = 1e-6
"""Part of the largest complementary unknown up to which others may be rounding."""
RESTING = 1e-9
"""Speed up to which a friction rests at the begin of a phase; speeds are of the order of one."""
BASES = 12
"""Bases that are tried before Lemke's method."""


class NoStepError(Exception):
    """A step has no solution, or its rows do not determine one."""


@dataclass(frozen=True)
class Friction:
    """A dry friction that holds more than it slides with: its pairs (of parts of the speed and reserves), and its two levels."""

    pairs: tuple[int, int]
    equations: tuple[int, int]
    sliding: float
    breakaway: float


@dataclass
class Stepper:
    """Steps of one length of one system: ``z >= 0``, ``w = M z + Q k >= 0``, ``w'z = 0``, and ``x = X z + K k``.

    ``k`` are the right-hand sides of equations with a source, then the states before the step.
    """

    exact: list[list[Fraction]]
    Q: np.ndarray
    X: np.ndarray
    K: np.ndarray
    unknowns: tuple[str, ...]
    states: tuple[int, ...]
    sources: tuple[int, ...]
    kept: tuple[bool, ...]
    """Of every pair, whether a is one of ``z``."""
    M: np.ndarray = field(init=False)
    bases: list[tuple[np.ndarray, np.ndarray]] = field(default_factory=list)
    pivoted: int = 0

    def __post_init__(self) -> None:
        self.M = np.array(self.exact, float).reshape(len(self.Q), len(self.Q))

    def step(self, known: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Complementary unknowns ``z`` after a step, and the size of the terms of each."""
        q, size = self.Q @ known, np.abs(self.Q) @ np.abs(known)
        for n, (basis, inverse) in enumerate(self.bases):
            z, off = np.zeros(len(q)), np.zeros(len(q))
            z[basis], off[basis] = inverse @ q[basis], np.abs(inverse) @ size[basis]
            w, of_w = self.M @ z + q, np.abs(self.M) @ off + size
            # Of a basis that is nearly singular rounding may be all that there is.
            told = TINY * off.max(initial=0.0) <= KEPT * np.abs(z).max(initial=0.0)
            if told and (z >= -TINY * off).all() and (w >= -TINY * of_w).all():
                if n:
                    self.bases.insert(0, self.bases.pop(n))
                return np.maximum(z, 0.0), off
        self.pivoted += 1
        found = lemke(self.exact, [Fraction(x) for x in q.tolist()])
        if found.z is None:
            raise NoStepError
        basis = np.flatnonzero(found.basic)
        inverse = negative_inverse([[self.exact[i][j] for j in basis] for i in basis])
        self.bases.insert(0, (basis, inverse))
        del self.bases[BASES:]
        off = np.zeros(len(q))
        off[basis] = np.abs(inverse) @ size[basis]
        return np.array(found.z, float), off


def negative_inverse(block: list[list[Fraction]]) -> np.ndarray:
    """``-inv(block)``, with exact zeros."""
    n = len(block)
    if not n:
        return np.zeros((0, 0))
    rows = rref([[*row, *(Fraction(-(i == j)) for j in range(n))] for i, row in enumerate(block)])[0]
    return np.array([row[n:] for row in rows], float)


def stepper(system: System, states: Sequence[str], h: Fraction) -> Stepper:
    """Eliminate all unknowns that are in no pair, and keep what has no limits of freedom.

    Raises
    ------
    NoStepError
        Equations contradict each other whatever the states, or the pairs do not fit them.
    """
    rows, known = [], []
    sources = tuple(k for k, e in enumerate(system.equations) if e.source)
    s = 1 / h
    for k, equation in enumerate(system.equations):
        row = left_side(equation, s)
        if equation.source:
            add(row, f"{KNOWN}{k}", Fraction(1))
        for c, v in equation.rate.items():
            add(row, KNOWN + c, Fraction(v) * s)
        rows.append(row)
    known = [*(f"{KNOWN}{k}" for k in sources), *(KNOWN + c for c in states)]
    found = eliminated(system.pairs, rows, s)
    basis = complementary_basis(system.pairs, found.rows) if found else None
    if found is None or basis is None:
        raise NoStepError
    chosen, solved = basis
    names = [p.b if b else p.a for p, b in zip(system.pairs, chosen, strict=True)]
    others = [p.a if b else p.b for p, b in zip(system.pairs, chosen, strict=True)]
    values: dict[str, Row | None] = {z: {z: Fraction(1)} for z in others} | dict.fromkeys(found.free)
    for w in names:
        values[w] = {c: v if c.startswith(KNOWN) else -v for c, v in solved[w].items() if c != w}
    for column, unit in reversed(found.solved):
        total: Row | None = {c: v for c, v in unit.items() if c.startswith(KNOWN)}
        for c, v in unit.items():
            if c != column and not c.startswith(KNOWN):
                part = values[c]
                if part is None or total is None:
                    total = None
                    break
                for other, factor in part.items():
                    add(total, other, -v * factor)
        values[column] = total
    determined = tuple(c for c, row in values.items() if row is not None)

    def over(rows: Sequence[str], columns: Sequence[str]) -> list[list[Fraction]]:
        return [[(values[c] or {}).get(k, Fraction(0)) for k in columns] for c in rows]

    def array(rows: Sequence[str], columns: Sequence[str]) -> np.ndarray:
        return np.array(over(rows, columns), float).reshape(len(rows), len(columns))

    if any(c not in determined for c in states):
        raise NoStepError
    return Stepper(
        over(names, others),
        array(names, known),
        array(determined, others),
        array(determined, known),
        determined,
        tuple(determined.index(c) for c in states),
        sources,
        tuple(chosen),
    )


@dataclass(frozen=True)
class Trajectory:
    """Values of every unknown at the ends of steps."""

    t: np.ndarray
    values: dict[str, np.ndarray]


def follow(
    system: System,
    frictions: Sequence[Friction],
    starts: Mapping[str, float],
    span: Fraction,
    steps: int,
) -> Trajectory:
    """Values after every step.

    Raises
    ------
    NoStepError
    """
    states = tuple(starts)
    model = stepper(system, states, span / steps)
    source = np.array([float(system.equations[k].source[0]) for k in model.sources])
    at = {k: i for i, k in enumerate(model.sources)}
    x = np.array([float(starts[c]) for c in states])
    kept = np.array(model.kept)
    values = np.empty((steps, len(model.unknowns)))
    way = np.array([_direction(system, f, starts) for f in frictions])
    resting = way == 0.0
    for n in range(steps):
        turned = np.zeros(len(frictions), bool)
        while True:
            for friction, rests in zip(frictions, resting, strict=True):
                for k in friction.equations:
                    source[at[k]] = friction.breakaway if rests else friction.sliding
            known = np.concatenate([source, x])
            z, terms = model.step(known)
            ways = _directions(model, known, z, terms, kept, frictions)
            # A speed passes zero at rest: what turns within a step has to break away first, from whatever holds it then.
            turns = ~turned & (way * ways < 0.0)
            released = resting & (ways != 0.0) & ~turns.any()
            turned |= turns
            resting = resting & ~released | turns
            if not (turns | released).any():
                break
        way, resting = ways, ways == 0.0
        values[n] = model.X @ z + model.K @ known
        x = values[n, list(model.states)]
        x[np.abs(x) <= ROUNDING * np.abs(x).max(initial=0.0)] = 0.0
    t = float(span) * np.arange(1, steps + 1) / steps
    return Trajectory(t, {c: values[:, k] for k, c in enumerate(model.unknowns)})


def _directions(
    model: Stepper,
    known: np.ndarray,
    z: np.ndarray,
    terms: np.ndarray,
    kept: np.ndarray,
    frictions: Sequence[Friction],
) -> np.ndarray:
    """Which way frictions slide: a part of their speed is more than rounding, which short steps between positions enlarge."""
    if not frictions:
        return np.zeros(0)
    w = model.M @ z + model.Q @ known
    # What is left of terms that cancel in z is as wrong as they are rounded, however small it is.
    size = np.abs(model.M) @ terms + np.abs(model.Q) @ np.abs(known)
    speed = np.where(kept, z > TINY * terms, w > TINY * size)
    return np.array([float(speed[f.pairs[0]]) - float(speed[f.pairs[1]]) for f in frictions])


def holding(parts: Sequence[Part], model: System) -> tuple[Friction, ...]:
    """Frictions of a system that hold more than they slide with."""
    pairs = {pair.name: k for k, pair in enumerate(model.pairs)}

    def row(column: str) -> int:
        return next(k for k, e in enumerate(model.equations) if column in e.value and e.source)

    return tuple(
        Friction(
            (pairs[f"{e.name}+"], pairs[f"{e.name}-"]),
            (row(f"u.{e.name}"), row(f"l.{e.name}")),
            float(e.value),
            float(e.extra),
        )
        for e in parts
        if e.kind == "F" and e.extra != e.value
    )


Phase = tuple[System, tuple[Friction, ...], Fraction]
"""Equations, frictions and length of a part of a run without outer changes."""


def trajectory(phases: Sequence[Phase], starts: Mapping[str, Fraction], steps: int) -> Trajectory:
    """Values over all phases, each of as many steps.

    Raises
    ------
    NoStepError
    """
    begin, at = {c: float(v) for c, v in starts.items()}, 0.0
    found: list[Trajectory] = []
    for system, frictions, span in phases:
        part = follow(system, frictions, begin, span, steps)
        begin = {c: float(part.values[c][-1]) for c in begin}
        found.append(Trajectory(part.t + at, part.values))
        at += float(span)
    shared = [c for c in found[0].values if all(c in part.values for part in found)]
    return Trajectory(
        np.concatenate([part.t for part in found]),
        {c: np.concatenate([part.values[c] for part in found]) for c in shared},
    )


def graded(phases: Sequence[Phase], levels: int, ratio: int = 8) -> list[Phase]:
    """The phases with ever shorter parts towards their begins, where what they excite decays."""
    found = []
    for system, frictions, span in phases:
        ends = [span / ratio**k for k in reversed(range(levels))]
        found += [(system, frictions, b - a) for a, b in zip([Fraction(0), *ends], ends, strict=False)]
    return found


def _direction(system: System, friction: Friction, begin: Mapping[str, float]) -> float:
    """Which way a friction slides with these states: its parts of the speed are the difference of two speeds."""
    first, second = (system.pairs[k].a for k in friction.pairs)
    row = next(e.value for e in system.equations if {first, second} <= set(e.value))
    speed = sum(float(v) * begin[c] for c, v in row.items() if c not in (first, second)) / -float(row[first])
    return float(np.sign(speed)) if abs(speed) > RESTING else 0.0


def mean_difference(first: Trajectory, second: Trajectory, unknown: str) -> float:
    """Mean over time of the magnitude of the difference between two trajectories."""
    other = np.interp(first.t, second.t, second.values[unknown])
    weights = np.diff(first.t, prepend=0.0)
    return float(weights @ np.abs(first.values[unknown] - other) / first.t[-1])
