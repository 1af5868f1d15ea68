"""Complementarity systems of networks, and seeded random networks with transformers and losses.

Beside the kinds of `networks`: an ideal transformer ``X`` (``v1 = n v2``, ``i2 = -n i1``) has the ratio as value and the nodes of
side 2 as extra; diodes, thyristors and switches may have ``(Ron, Goff)`` as extra. Nonlinear parts are a cubic conductor ``N``,
``i = g (v + v**3)`` with g as value; a Shockley diode ``J`` beside a resistor, see `JUNCTION`; and a saturating inductor ``Y``,
``psi = L (i + 3 atan(i)) / 4`` with L as value and the flux at the start as extra. Unknowns are ``e.<node>``, and ``v.<name>``,
``i.<name>`` of every element (``v2``, ``i2`` for side 2), ``psi.<name>`` of saturating inductors, and ``a.<name>``,
``b.<name>`` of every diode: the voltage below the conducting line and the current above the blocking one.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tests.oracles.complementarity import ONE, Equation, Pair, System, magnitudes, relative
from tests.oracles.networks import GROUND, LEVELS, REACTANCES, RESISTANCES, Element

RATIOS = tuple(Fraction(n, d) for n, d in ((1, 2), (1, 1), (2, 1), (3, 1), (-1, 1)))
LOSSES = tuple(Fraction(1, 10**k) for k in (3, 4, 5, 6))
JUNCTION = {"Ids": 0.01, "Vt": 0.5, "Maxexp": 15.0, "R": 10.0}
"""``i = Ids (exp(v / Vt) - 1) + v / R``; above ``v = Maxexp Vt`` the tangent of the exponential goes on."""


@dataclass(frozen=True)
class Sine:
    """``offset + amplitude sin(omega t + phase)``."""

    amplitude: float
    omega: float
    phase: float = 0.0
    offset: float = 0.0


def system(
    network: Sequence[Element],
    closed: Mapping[str, bool] | None = None,
    secants: Mapping[str, Fraction] | None = None,
) -> System:
    """Equations of a network; ``closed`` replaces the values of switches and thyristors, and straight lines with the slopes
    ``secants`` the characteristics of nonlinear parts, which are left out without."""
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
        if e.kind in NONLINEAR and secants is not None:
            x, y, _ = characteristic(e)
            equations.append(Equation({y: 1, x: -secants[e.name]}))
    return System(tuple(equations), tuple(pairs))


NONLINEAR = "NJY"


def characteristic(e: Element) -> tuple[str, str, Callable[[Any], Any]]:
    """Of a nonlinear part the unknowns x and y, and the function with ``y = f(x)``, ``f(0) = 0``, which grows."""
    v, i = f"v.{e.name}", f"i.{e.name}"
    if e.kind == "N":
        return v, i, lambda x: float(e.value) * (x + x**3)
    if e.kind == "Y":
        return i, f"psi.{e.name}", lambda x: float(e.value) * (x + 3 * np.arctan(x)) / 4

    def junction(x: Any) -> Any:
        Ids, Vt, top, R = JUNCTION.values()
        u = np.asarray(x) / Vt
        return Ids * (np.exp(np.minimum(u, top)) * (1 + np.maximum(u - top, 0.0)) - 1) + np.asarray(x) / R

    return v, i, junction


def state(e: Element) -> str:
    """Unknown with a memory of a storage element."""
    letter = {"L": "i", "Y": "psi"}.get(e.kind, "v")
    return f"{letter}.{e.name}"


STORES = "LCY"


def starts(network: Sequence[Element]) -> dict[str, Any]:
    """Left limits of currents of inductors, voltages of capacitors and fluxes."""
    return {state(e): e.extra or 0 for e in network if e.kind in STORES}


def stored(network: Sequence[Element], values: Mapping[str, Any]) -> Any:
    """Energy in all storage elements."""
    total: Any = 0.0
    for e in network:
        if e.kind in "LC":
            total = total + float(e.value) * values[state(e)] ** 2 / 2
        elif e.kind == "Y":
            # The integral of i over psi; the current of a left limit is not known by itself.
            i = _magnetizing(4.0 * values[state(e)] / float(e.value))
            total = total + float(e.value) * (i**2 / 2 + 1.5 * np.log1p(i**2)) / 4
    return total


def _magnetizing(flux: Any) -> Any:
    """The current ``x`` of ``x + 3 atan(x) = flux``: Newton's method from outside, where the law bends towards the axis."""
    x = flux
    for _ in range(60):
        x = x - (x + 3.0 * np.arctan(x) - flux) / (1.0 + 3.0 / (1.0 + x**2))
    return x


def power(network: Sequence[Element], values: Mapping[str, Any]) -> tuple[Any, Any]:
    """Power into all other elements, and the sum of the magnitudes of its terms."""
    total: Any = 0.0
    size: Any = 0.0
    for e in network:
        if e.kind not in STORES:
            for column, _, _ in _ports(e):
                term = values[f"v{column}"] * values[f"i{column}"]
                total, size = total + term, size + np.abs(term)
    return total, size


def work(network: Sequence[Element], impulses: Mapping[str, float]) -> float:
    """Energy into sources by impulses."""
    return sum(
        float(taylor(e.value)[0]) * impulses.get(f"{'i' if e.kind == 'V' else 'v'}.{e.name}", 0.0)
        for e in network
        if e.kind in "VI"
    )


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
    if e.kind == "Y":
        return [Equation({v: 1}, {f"psi.{e.name}": -1})], []
    if e.kind in NONLINEAR:
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


UNIT = 2.0**-50
"""Part of a voltage that rounding of the few terms leaves which it is a sum of."""
UNITS = {"psi": "Wb", "e": "V", "v": "V", "v2": "V", "a": "V", "i": "A", "i2": "A", "b": "A"}


def rounded(network: Sequence[Element], values: Mapping[str, Any]) -> dict[str, Any]:
    """By how much rounding of voltages that capacitors and sources hold may move currents at many times.

    Through a small resistance that conducts flows the difference of them over it, and it goes on through what is in series.
    """
    held = [np.abs(values[f"v.{e.name}"]) for e in network if e.kind in "CV"]
    least: Any = np.inf
    for e in network:
        if e.kind in "SDT" and e.extra and e.extra[0]:
            conducts = np.abs(values[f"i.{e.name}"]) >= np.abs(values[f"v.{e.name}"])
            least = np.minimum(least, np.where(conducts, float(e.extra[0]), np.inf))
    largest: Any = np.max(held, axis=0) if held else np.zeros(1)
    return {"A": UNIT * (largest + 1e-3 * np.max(largest)) / least}


def defects(network: Sequence[Element], values: Mapping[str, Any], limit: float) -> dict[str, float]:
    """Violated laws of diodes, thyristors and nonlinear parts at many times, relative to what is allowed (see `residuals`)."""
    size = magnitudes(values, UNITS, limit, rounded(network, values))
    found = {}
    for e in network:
        if e.kind in NONLINEAR:
            x, y, function = characteristic(e)
            h = 1e-6 * (1.0 + np.abs(values[x]))
            slope = (function(values[x] + h) - function(values[x] - h)) / (2 * h)
            allowed = limit * (size[UNITS[y.split(".")[0]]] + slope * size[UNITS[x.split(".")[0]]])
            found[e.name] = relative(values[y] - function(values[x]), allowed)
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


def with_nonlinear(network: Sequence[Element]) -> list[Element]:
    """The network with every third resistor cubic, every third one a junction, and every second inductor saturating."""
    found, count = [], dict.fromkeys("RL", 0)
    for e in network:
        kind = e.kind
        if e.kind in count:
            count[e.kind] += 1
            kind = {("R", 1): "N", ("R", 2): "J", ("L", 1): "Y"}.get(
                (e.kind, count[e.kind] % (3 if e.kind == "R" else 2)), kind
            )
        value = 1 / e.value if kind == "N" else e.value
        found.append(e._replace(kind=kind, name=e.name if kind == e.kind else f"{kind}{e.name}", value=value))
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
