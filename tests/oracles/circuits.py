"""Complementarity systems of networks, and seeded random networks with transformers and losses.

Beside the kinds of `networks`: an ideal transformer ``X`` (``v1 = n v2``, ``i2 = -n i1``) has the ratio as value and the nodes of
side 2 as extra; diodes, thyristors and switches may have ``(Ron, Goff)`` as extra; a cubic
conductor ``N`` has ``i = g (v + v**3)`` with g as value. Unknowns are ``e.<node>``, and ``v.<name>``,
``i.<name>`` of every element (``v2``, ``i2`` for side 2), and ``a.<name>``, ``b.<name>`` of every diode: the voltage below the
conducting line and the current above the blocking one.
"""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tests.oracles.complementarity import ONE, Equation, Pair, System, magnitudes
from tests.oracles.networks import GROUND, LEVELS, REACTANCES, RESISTANCES, Element

RATIOS = tuple(Fraction(n, d) for n, d in ((1, 2), (1, 1), (2, 1), (3, 1), (-1, 1)))
LOSSES = tuple(Fraction(1, 10**k) for k in (3, 4, 5, 6))


@dataclass(frozen=True)
class Sine:
    """``offset + amplitude sin(omega t + phase)``."""

    amplitude: float
    omega: float
    phase: float = 0.0
    offset: float = 0.0


def system(network: Sequence[Element], closed: Mapping[str, bool] | None = None) -> System:
    """Equations of a network; ``closed`` replaces the values of switches and thyristors."""
    equations: list[Equation] = []
    pairs: list[Pair] = []
    nodes = dict.fromkeys(n for e in network for n in _nodes(e))
    for node in nodes:
        if node == GROUND:
            continue
        balance: dict[str, Fraction] = {}
        for e in network:
            for column, p, n in _ports(e):
                sign = (p == node) - (n == node)
                if sign:
                    balance[f"i{column}"] = balance.get(f"i{column}", Fraction(0)) + sign
        equations.append(Equation({c: v for c, v in balance.items() if v}))
    for e in network:
        for column, p, n in _ports(e):
            row: dict[str, Fraction] = {f"v{column}": ONE}
            for node, sign in ((p, -1), (n, 1)):
                if node != GROUND:
                    row[f"e.{node}"] = row.get(f"e.{node}", Fraction(0)) + sign
            equations.append(Equation(row))
        value = (closed or {}).get(e.name, e.value)
        rows, more = _law(e, value)
        equations += rows
        pairs += more
    return System(tuple(equations), tuple(pairs))


def state(e: Element) -> str:
    """Unknown with a memory of a storage element."""
    return f"i.{e.name}" if e.kind == "L" else f"v.{e.name}"


def starts(network: Sequence[Element]) -> dict[str, Any]:
    """Left limits of currents of inductors and voltages of capacitors."""
    return {state(e): e.extra or 0 for e in network if e.kind in "LC"}


def _nodes(e: Element) -> tuple[str, ...]:
    return (e.p, e.n, *e.extra) if e.kind == "X" else (e.p, e.n)


def _ports(e: Element) -> list[tuple[str, str, str]]:
    """Suffix of the unknowns, and the nodes, of every port."""
    return [(f".{e.name}", e.p, e.n), *([(f"2.{e.name}", *e.extra)] if e.kind == "X" else [])]


def _law(e: Element, value: Any) -> tuple[list[Equation], list[Pair]]:
    v, i = f"v.{e.name}", f"i.{e.name}"
    if e.kind == "R":
        return [Equation({v: 1, i: -value})], []
    if e.kind == "L":
        return [Equation({v: 1}, {i: -value})], []
    if e.kind == "C":
        return [Equation({i: 1}, {v: -value})], []
    if e.kind in "VI":
        return [Equation({v if e.kind == "V" else i: 1}, source=taylor(value))], []
    if e.kind == "X":
        return [Equation({v: 1, f"v2.{e.name}": -value}), Equation({f"i2.{e.name}": 1, i: value})], []
    if e.kind == "N":
        # Nonlinear: judged by `defects`.
        return [], []
    Ron, Goff = e.extra or (0, 0)
    if e.kind == "S":
        return [Equation({v: 1, i: -Ron} if value else {i: 1, v: -Goff})], []
    a, b = f"a.{e.name}", f"b.{e.name}"
    rows = [Equation({a: 1, i: -Ron, v: 1}), Equation({b: 1, i: -1, v: Goff})]
    if e.kind == "D" or value:
        return rows, [Pair(e.name, a, b)]
    return [*rows, Equation({b: 1})], []


def taylor(value: Any) -> tuple[Any, ...]:
    """Taylor coefficients of a source at zero: a number, or (value, slope, ...)."""
    return value if isinstance(value, tuple) else (value,)


UNITS = {"e": "V", "v": "V", "v2": "V", "a": "V", "i": "A", "i2": "A", "b": "A"}


def defects(network: Sequence[Element], values: Mapping[str, Any], limit: float) -> dict[str, float]:
    """Violated laws of diodes and thyristors at many times, each relative to what is allowed (see `residuals`)."""
    size = magnitudes(values, UNITS)
    found = {}
    for e in network:
        if e.kind == "N":
            v, i = values[f"v.{e.name}"], values[f"i.{e.name}"]
            slope = 1 + 3 * v**2
            allowed = limit * (size["A"] + float(e.value) * slope * size["V"])
            found[e.name] = float(np.max(np.abs(i - float(e.value) * (v + v**3)) / allowed))
        if e.kind not in "DT":
            continue
        Ron, Goff = (float(x) for x in e.extra or (0, 0))
        v, i = values[f"v.{e.name}"], values[f"i.{e.name}"]
        a, b = Ron * i - v, i - Goff * v
        of_a, of_b = (
            limit * (x + 1e-300) for x in (size["V"] + Ron * size["A"], size["A"] + Goff * size["V"])
        )
        if e.kind == "D" or e.value:
            both = np.minimum(np.abs(a) / of_a, np.abs(b) / of_b)
            found[e.name] = float(np.max([-a / of_a, -b / of_b, both]))
        else:
            found[e.name] = float(np.max(np.abs(b) / of_b))
    return found


def with_cubic(network: Sequence[Element]) -> list[Element]:
    """The network with every third resistor nonlinear."""
    found, count = [], 0
    for e in network:
        count += e.kind == "R"
        nonlinear = e.kind == "R" and count % 3 == 1
        found.append(e._replace(kind="N", value=1 / e.value) if nonlinear else e)
    return found


# -- random networks -------------------------------------------------------------------------------------------------


def random_circuit(
    seed: int, losses: float = 0.3, size: int | None = None, grounded: bool = False
) -> list[Element]:
    """Random network of 5 to 40 elements; the same arguments always give the same one.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    losses : float
        Share of diodes, thyristors and switches with resistance and leakage.
    size : int, optional
        Number of elements.
    grounded : bool
        Every source behind an impedance and no floating part, so that a mode always exists.
    """
    rng = random.Random(seed)
    size = rng.randint(5, 40) if size is None else size
    count = rng.randint(3, max(3, (size * 2) // 5))
    nodes = [GROUND, *(f"n{k}" for k in range(1, count))]
    made: list[Element] = []

    def add(kind: str, p: str, n: str, value: Any = None, extra: Any = None) -> None:
        name = f"{kind}{sum(e.kind == kind for e in made) + 1}"
        made.append(Element(kind, name, p, n, value, extra))

    def branch(kind: str, p: str, n: str) -> None:
        if kind == "R":
            add("R", p, n, rng.choice(RESISTANCES))
        elif kind in "LC":
            add(kind, p, n, rng.choice(REACTANCES), rng.choice(LEVELS) if rng.random() < 0.7 else Fraction(0))
        elif kind in "VI":
            add(kind, p, n, rng.choice(LEVELS))
        else:
            loss = (rng.choice(LOSSES), rng.choice(LOSSES)) if rng.random() < losses else None
            add(kind, p, n, None if kind == "D" else rng.random() < 0.5, loss)

    if grounded:
        for k, node in enumerate(nodes[1:]):
            other = rng.choice(nodes[: k + 1])
            kind = rng.choice("RRLCVI")
            if kind == "V":
                branch("V", f"{node}s", other)
                branch("R", node, f"{node}s")
            elif kind == "I":
                branch("I", node, other)
                branch("R", node, other)
            else:
                branch(kind, node, other)
    weights = "RRRLLCCDDDDTX" if grounded else "RRRLLCCVISSDDDDTX"
    while len(made) < size:
        kind = rng.choice(weights)
        p, n = rng.sample(nodes, 2)
        if kind == "X":
            add("X", p, n, rng.choice(RATIOS), tuple(rng.sample(nodes, 2)))
        else:
            branch(kind, p, n)
    return made
