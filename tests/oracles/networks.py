"""Netlists as plain tuples with rational values, and seeded random networks of two families.

Kinds of `Element` (positive pole first, the current flows from it through the element):

==== ====================== ======================================== ==============================
kind element                value                                    extra
==== ====================== ======================================== ==============================
R    resistor               resistance                               None
L    inductor               inductance                               initial current
C    capacitor              capacitance                              initial voltage
V    voltage source         voltage, or (value, derivative, ...)     None
I    current source         current, or (value, derivative, ...)     None
S    switch                 True closed, False open                  None
D    diode (anode first)    None                                     None
T    thyristor              True fired or latched, False blocked     None
==== ====================== ======================================== ==============================
"""

import random
from fractions import Fraction
from typing import Any, NamedTuple

GROUND = "0"
RESISTANCES = tuple(Fraction(n, d) for n, d in ((1, 2), (1, 1), (2, 1), (4, 1), (5, 1), (10, 1)))
REACTANCES = tuple(Fraction(n, d) for n, d in ((1, 4), (1, 2), (1, 1), (2, 1), (3, 1)))
LEVELS = tuple(Fraction(n, 2) for n in range(-12, 13) if n)


class Element(NamedTuple):
    """One two-terminal element."""

    kind: str
    name: str
    p: str
    n: str
    value: Any = None
    extra: Any = None


class _Builder:
    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.elements: list[Element] = []

    def add(self, kind: str, p: str, n: str) -> None:
        number = sum(e.kind == kind for e in self.elements) + 1
        value, extra = self._values(kind)
        self.elements.append(Element(kind, f"{kind}{number}", p, n, value, extra))

    def _values(self, kind: str) -> tuple[Any, Any]:
        rng = self.rng
        if kind == "R":
            return rng.choice(RESISTANCES), None
        if kind in "LC":
            initial = rng.choice(LEVELS) if rng.random() < 0.75 else Fraction(0)
            return rng.choice(REACTANCES), initial
        if kind in "VI":
            return rng.choice(LEVELS), None
        return (rng.random() < 0.5 if kind in "ST" else None), None

    def pair(self, nodes: list[str]) -> tuple[str, str]:
        p, n = self.rng.sample(nodes, 2)
        return p, n


def random_network(
    seed: int, family: str = "i", size: int | None = None, diodes: int | None = None
) -> list[Element]:
    """Random network; the same arguments always give the same network.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    family : {"i", "ii"}
        "i": every ideal source behind an impedance (voltage sources with a resistor in series, current sources with one
        in parallel), and, such a pair counting as one branch, no cut set or loop of switches and sources alone; "ii":
        unrestricted (loops and cut sets of sources, switches and storage, floating parts).
    size : int, optional
        Number of elements, 4 to 32, random by default.
    diodes : int, optional
        Number of diodes and thyristors together, random up to a third of the elements by default.
    """
    builder = _Builder(seed)
    size = builder.rng.randint(4, 32) if size is None else size
    if not 4 <= size <= 32:
        msg = f"size must be between 4 and 32, got {size}"
        raise ValueError(msg)
    diodes = builder.rng.randint(1, max(1, min(10, size // 3))) if diodes is None else diodes
    if not 0 <= diodes <= size - 3:
        msg = f"diodes must be between 0 and size - 3 = {size - 3}, got {diodes}"
        raise ValueError(msg)
    {"i": _impedance_family, "ii": _unrestricted_family}[family](builder, size - diodes, diodes)
    return builder.elements


def _impedance_family(builder: _Builder, others: int, diodes: int) -> None:
    """Spanning tree of passive branches (sources with their impedance), a forest of switches, passive meshes, diodes."""
    rng = builder.rng
    nodes = [GROUND]
    tree = rng.randint(2, max(2, others // 2))
    while len(nodes) <= tree and len(builder.elements) + 2 <= others:
        p, n = f"n{len(nodes)}", rng.choice(nodes)
        nodes.append(p)
        _passive_branch(builder, p, n)
    island = {node: node for node in nodes}
    while len(builder.elements) < others:
        p, n = builder.pair(nodes)
        if rng.random() < 0.4 and _root(island, p) != _root(island, n):
            island[_root(island, p)] = _root(island, n)
            builder.add("S", p, n)
        else:
            builder.add(rng.choice("RRLC"), p, n)
    _add_diodes(builder, nodes, diodes)


def _passive_branch(builder: _Builder, p: str, n: str) -> None:
    kind = builder.rng.choice("RRLLCCVI")
    if kind == "V":
        inner = p + "s"
        builder.add("V", inner, n)
        builder.add("R", p, inner)
    elif kind == "I":
        builder.add("I", p, n)
        builder.add("R", p, n)
    else:
        builder.add(kind, p, n)


def _root(island: dict[str, str], node: str) -> str:
    while island[node] != node:
        node = island[node]
    return node


def _unrestricted_family(builder: _Builder, others: int, diodes: int) -> None:
    rng = builder.rng
    total = others + diodes
    nodes = [GROUND, *(f"n{k}" for k in range(1, rng.randint(2, max(2, (total + 1) // 2)) + 1))]
    for _ in range(others):
        builder.add(rng.choice("RRRLLCCVISS"), *builder.pair(nodes))
    _add_diodes(builder, nodes, diodes)


def _add_diodes(builder: _Builder, nodes: list[str], count: int) -> None:
    for _ in range(count):
        builder.add("T" if builder.rng.random() < 0.2 else "D", *builder.pair(nodes))
