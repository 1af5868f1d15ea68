"""One-dimensional mechanisms as plain tuples, and their complementarity systems.

Kinds of `Part` (a tension f pulls node a towards node b; ``s_rel = s_b - s_a``, ``v_rel = s_rel'``):

==== =============================================================== ================== ==========================
kind part                                                            value              extra
==== =============================================================== ================== ==========================
M    mass at node a                                                  mass               (position, speed) at start
K    spring, ``f = c (s_rel - l)``                                   c                  l
D    damper, ``f = d v_rel``                                         d                  None
F    dry friction, ``f = F sign(v_rel)`` sliding, ``|f| <= Fs`` else F                  Fs
W    clutch: friction while engaged, else ``f = 0``                  capacity           True before the change, after
P    plastic stop, ``s_rel >= l``, only pushes                       l                  None
Q    cubic spring, ``f = c (x + x**3)``, ``x = s_rel - l``            c                  l
A    drag, ``f = d v_rel abs(v_rel)``                                d                  None
G    lever or gear, ``s_a = r s_b``, ``r f_a + f_b = 0``             r                  None
B    force on node a                                                 force before       force after the change
O    node a without mass                                             None               (position,) at start
H    node a moves on whatever it meets                               speed              (position,) at start
L    claw clutch: ``v_rel = 0`` while closed, else ``f = 0``         None               True before the change, after
R    ratchet, ``v_rel >= 0``, only pushes                            None               None
==== =============================================================== ================== ==========================

Unknowns are ``s.<node>``, ``v.<node>`` and ``f.<part>``; of friction also the parts ``p``, ``m`` of the speed and the
reserves ``u``, ``l`` of the force, with ``v_rel = p - m``, ``f = F - u = l - F``; of stops the ``gap``.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np

from tests.oracles.complementarity import (
    BITS,
    ROUNDING,
    SECANT_BITS,
    Equation,
    Instant,
    Pair,
    System,
    in_mode,
    solution,
)

GROUND = "0"
STICK, FORWARD, BACKWARD = (True, True), (False, True), (True, False)
"""Of the two pairs of a friction: whether the reserve, else the part of the speed, may be positive."""


class Part(NamedTuple):
    """One part between two nodes."""

    kind: str
    name: str
    a: str
    b: str
    value: Any = None
    extra: Any = None


def system(
    parts: Sequence[Part],
    levels: Mapping[str, Any] | None = None,
    after: bool = False,
    secants: Mapping[str, Fraction] | None = None,
) -> System:
    """Equations of a mechanism, with sliding levels or other ``levels`` of friction, before or after the change.

    Nonlinear parts are left out, or lines with slopes ``secants``.
    """
    equations: list[Equation] = []
    pairs: list[Pair] = []
    forces: dict[str, dict[str, Fraction]] = {}
    pushes: dict[str, Fraction] = {}

    def pull(node: str, column: str, factor: Any) -> None:
        if node != GROUND:
            row = forces.setdefault(node, {})
            row[column] = row.get(column, Fraction(0)) + factor

    for e in parts:
        f = f"f.{e.name}"
        if e.kind == "B":
            pushes[e.a] = pushes.get(e.a, Fraction(0)) + (e.extra if after else e.value)
        elif e.kind == "G":
            # The lever pulls at a with f, and at b with what balances it.
            pull(e.a, f, 1)
            pull(e.b, f, -e.value)
            equations.append(Equation(difference("s", e.a, e.b, e.value)))
        elif e.kind == "H":
            pull(e.a, f, 1)
            equations.append(Equation({f"v.{e.a}": 1}, source=(e.value,)))
        elif e.kind not in "MO":
            pull(e.a, f, 1)
            pull(e.b, f, -1)
            linear = e
            if e.kind in NONLINEAR:
                if secants is None:
                    continue
                linear = e._replace(kind="K" if e.kind == "Q" else "D", value=secants[e.name])
            rows, more = _law(linear, f, levels or {}, after)
            equations += rows
            pairs += more
    for e in parts:
        if e.kind in BODIES:
            momentum = {c: -v for c, v in forces.get(e.a, {}).items() if v}
            inertia = {f"v.{e.a}": e.value} if e.kind == "M" else {}
            equations.append(Equation(momentum, inertia, (pushes.get(e.a, Fraction(0)),)))
            equations.append(Equation({f"v.{e.a}": 1}, {f"s.{e.a}": -1}))
    return System(tuple(equations), tuple(pairs))


BODIES = "MOH"
"""Kinds that are a node."""
NONLINEAR = "QA"


def characteristic(e: Part) -> Callable[[Any], Any]:
    """Force of a nonlinear part over its deflection or speed."""
    if e.kind == "Q":
        return lambda x: float(e.value) * (x + x**3)
    return lambda x: float(e.value) * x * np.abs(x)


def apart(e: Part, letter: str, values: Mapping[str, Any]) -> Any:
    """Relative position or speed of the nodes of a part."""
    a, b = (values[f"{letter}.{n}"] if n != GROUND else 0 for n in (e.a, e.b))
    return b - a


def stored(parts: Sequence[Part], values: Mapping[str, Any]) -> Any:
    """Energy of masses and springs."""
    total: Any = 0.0
    for e in parts:
        if e.kind == "M":
            total = total + float(e.value) * values[f"v.{e.a}"] ** 2 / 2
        elif e.kind in "KQ":
            x = apart(e, "s", values) - float(e.extra)
            total = total + float(e.value) * (x**2 / 2 + (x**4 / 4 if e.kind == "Q" else 0.0))
    return total


def power(parts: Sequence[Part], values: Mapping[str, Any], after: bool) -> tuple[Any, Any]:
    """Power into all other parts, and the sum of the magnitudes of its terms."""
    total: Any = 0.0
    size: Any = 0.0
    for e in parts:
        if e.kind == "B":
            term = -float(e.extra if after else e.value) * values[f"v.{e.a}"]
        elif e.kind == "G":
            # Its force pulls at a, and at b with what balances it.
            a, b = (values[f"v.{n}"] if n != GROUND else 0.0 for n in (e.a, e.b))
            term = values[f"f.{e.name}"] * (float(e.value) * b - a)
        elif e.kind in "DFWPALRH":
            term = values[f"f.{e.name}"] * apart(e, "v", values)
        else:
            continue
        total, size = total + term, size + np.abs(term)
    return total, size


def work(parts: Sequence[Part], impulses: Mapping[str, float]) -> float:
    """Energy that goes into prescribed motions with impulses."""
    return -sum(float(e.value) * impulses.get(f"f.{e.name}", 0.0) for e in parts if e.kind == "H")


def difference(letter: str, a: str, b: str, ratio: Any = 1) -> dict[str, Any]:
    """Coefficients of ``a - ratio b``, the ground at zero."""
    row = {}
    if a != GROUND:
        row[f"{letter}.{a}"] = 1
    if b != GROUND:
        row[f"{letter}.{b}"] = -ratio
    return row


def _law(e: Part, f: str, levels: Mapping[str, Any], after: bool) -> tuple[list[Equation], list[Pair]]:
    if e.kind == "K":
        along = {c: e.value * v for c, v in difference("s", e.a, e.b).items()}
        return [Equation({f: 1, **along}, source=(-e.value * e.extra,))], []
    if e.kind == "D":
        return [Equation({f: 1, **{c: e.value * v for c, v in difference("v", e.a, e.b).items()}})], []
    if e.kind == "P":
        gap = f"gap.{e.name}"
        rows = [
            Equation({gap: 1, **difference("s", e.a, e.b)}, source=(-e.value,)),
            Equation({f"b.{e.name}": 1, f: 1}),
        ]
        return rows, [Pair(e.name, gap, f"b.{e.name}")]
    if e.kind in "WL" and not e.extra[after]:
        return [Equation({f: 1})], []
    if e.kind == "L":
        return [Equation(difference("v", e.a, e.b))], []
    if e.kind == "R":
        rows = [
            Equation({f"p.{e.name}": 1, **difference("v", e.a, e.b)}),
            Equation({f"b.{e.name}": 1, f: 1}),
        ]
        return rows, [Pair(e.name, f"p.{e.name}", f"b.{e.name}")]
    level = levels.get(e.name, e.value)
    p, m, u, low = (f"{letter}.{e.name}" for letter in "pmul")
    rows = [
        Equation({p: 1, m: -1, **difference("v", e.a, e.b)}),
        Equation({u: 1, f: 1}, source=(level,)),
        Equation({low: 1, f: -1}, source=(level,)),
    ]
    return rows, [Pair(f"{e.name}+", p, u), Pair(f"{e.name}-", m, low)]


def starts(parts: Sequence[Part]) -> dict[str, Any]:
    """Positions and speeds at the start."""
    found = {}
    for e in parts:
        if e.kind == "M":
            found[f"s.{e.a}"], found[f"v.{e.a}"] = e.extra
        elif e.kind in BODIES:
            (found[f"s.{e.a}"],) = e.extra
    return found


def breakaway(parts: Sequence[Part]) -> dict[str, Any]:
    """Level of sticking of every friction."""
    return {e.name: (e.extra if e.kind == "F" else e.value) for e in parts if e.kind in "FW"}


def snapped(parts: Sequence[Part], states: Mapping[str, Fraction], near: Fraction) -> dict[str, Fraction]:
    """States that obey levers exactly, and stops and frictions that touch or rest up to ``near``.

    Rounded one by one, states that a ratio relates no longer agree, and what they leave decides the sign of a gap.
    """
    rows: list[tuple[dict[str, Fraction], Fraction]] = []

    def demand(letter: str, e: Part, factor: Any, constant: Any) -> None:
        row = {f"{letter}.{n}": Fraction(k) for n, k in ((e.b, factor), (e.a, -1)) if n != GROUND}
        if all(c in states for c in row):
            rows.append((row, Fraction(constant)))

    for e in parts:
        if e.kind == "G":
            demand("s", e, e.value, 0)
            demand("v", e, e.value, 0)
    for e in parts:
        touches = e.kind == "P" and abs(apart(e, "s", states) - e.value) <= near
        if touches:
            demand("s", e, 1, e.value)
        if (touches or e.kind in "FWLR") and _still(e, states, near):
            demand("v", e, 1, 0)
    solved: dict[str, tuple[dict[str, Fraction], Fraction]] = {}
    for row, constant in rows:
        for column, (unit, value) in solved.items():
            factor = row.get(column, Fraction(0))
            constant -= factor * value
            row = {c: row.get(c, Fraction(0)) - factor * unit.get(c, Fraction(0)) for c in {**row, **unit}}
        row = {c: v for c, v in row.items() if v}
        if not row:
            continue
        column = next(iter(row))
        unit, value = {c: v / row[column] for c, v in row.items()}, constant / row[column]
        for c, (other, known) in solved.items():
            factor = other.get(column, Fraction(0))
            left = {
                k: other.get(k, Fraction(0)) - factor * unit.get(k, Fraction(0)) for k in {**other, **unit}
            }
            solved[c] = {k: v for k, v in left.items() if v}, known - factor * value
        solved[column] = unit, value
    found = dict(states)
    for column, (unit, value) in solved.items():
        found[column] = value - sum((v * states[c] for c, v in unit.items() if c != column), Fraction(0))
    return found


def _still(e: Part, states: Mapping[str, Any], near: Any = 0) -> bool:
    """Whether a part rests up to a speed; where a node has no mass, its speed is no state and nothing is known."""
    return all(n == GROUND or f"v.{n}" in states for n in (e.a, e.b)) and abs(apart(e, "v", states)) <= near


def consistent(
    parts: Sequence[Part],
    states: Mapping[str, Any],
    after: bool = False,
    secants: Mapping[str, Fraction] | None = None,
) -> Instant | None:
    """A consistent mode: resting frictions have their breakaway level until a solution releases them.

    What moves already slides before what only begins to: an acceleration makes speed before its derivative does.
    Where breakaway and sliding levels differ, None is no proof.
    """
    levels: dict[str, Any] = {}
    rest = breakaway(parts)
    for e in parts:
        if e.kind in "FW":
            levels[e.name] = rest[e.name] if _still(e, states) else e.value
    while True:
        model = system(parts, levels, after, secants)
        found = solution(model, states, SECANT_BITS if secants else BITS)
        if found is None:
            return None
        found = _unique(parts, model, states, found)
        # A friction at its level that others hold at rest is not released.
        moving = {
            name: min(found.orders[c] for c in (f"p.{name}", f"m.{name}") if c in found.orders)
            for name in frictions(model, found.positive)
            if levels[name] != _value(parts, name) and not {f"p.{name}", f"m.{name}"}.isdisjoint(found.orders)
        }
        if not moving:
            return found
        first = min(moving.values())
        levels.update({name: _value(parts, name) for name, order in moving.items() if order == first})


def _unique(parts: Sequence[Part], model: System, states: Mapping[str, Any], found: Instant) -> Instant:
    """A solution without positions that others have elsewhere: of nodes with neither mass nor damper, which jump for nothing."""
    damped = {n for e in parts if e.kind == "D" for n in (e.a, e.b)}
    loose = [f"s.{e.a}" for e in parts if e.kind == "O" and e.a not in damped]
    if not loose:
        return found
    left = set(loose)
    if any(c not in found.values or abs(found.values[c] - float(states[c])) > 1e-9 for c in loose):
        left = {c for c in found.values if c.startswith("s.")}
    values, slopes = ({c: v for c, v in of.items() if c not in left} for of in (found.values, found.slopes))
    return replace(found, values=values, slopes=slopes)


def determined(parts: Sequence[Part], states: Mapping[str, Any], after: bool = False) -> bool:
    """Whether positions and speeds of all nodes follow in some consistent mode; frictions hold what they slide with.

    What one solution of a monotone problem has positive is zero in none: only pairs of zeros may be in one mode or the other.
    """
    model = system(parts, after=after)
    found = solution(model, states)
    if found is None:
        return False
    wanted = [f"{letter}.{e.a}" for e in parts if e.kind in BODIES for letter in "sv"]
    open_ = [
        (False, True) if p.a not in found.orders and p.b not in found.orders else (on,)
        for p, on in zip(model.pairs, found.positive, strict=True)
    ]
    modes = (in_mode(model, states, positive) for positive in itertools.product(*open_))
    return any(mode and all(c in mode.values or c in mode.impulses for c in wanted) for mode in modes)


def _value(parts: Sequence[Part], name: str) -> Any:
    return next(e.value for e in parts if e.name == name)


def frictions(model: System, positive: Sequence[bool]) -> dict[str, tuple[bool, bool]]:
    """Of every friction, the state of its two pairs; a pair at its corner counts as sticking."""
    on = dict(zip((p.name for p in model.pairs), positive, strict=True))
    return {name[:-1]: (on[name], on[f"{name[:-1]}-"]) for name in on if name.endswith("+")}


def judged(
    parts: Sequence[Part], states: Mapping[str, Any], modes: Mapping[str, Any], after: bool = False
) -> Instant | None:
    """Right limits in given modes (of frictions `STICK`, `FORWARD`, `BACKWARD`; of stops whether in contact), if consistent."""
    rest = breakaway(parts)
    levels = {name: rest[name] for name, mode in modes.items() if mode == STICK}
    model = system(parts, levels, after)
    positive = []
    for pair in model.pairs:
        if pair.name.endswith("+"):
            positive.append(modes[pair.name[:-1]][0])
        elif pair.name.endswith("-"):
            positive.append(modes[pair.name[:-1]][1])
        else:
            positive.append(modes[pair.name])
    return in_mode(model, states, positive)


UNITS = {"s": "m", "gap": "m", **dict.fromkeys("vpm", "m/s"), **dict.fromkeys("fulb", "N")}


def defects(parts: Sequence[Part], values: Mapping[str, Any], after: bool, limit: float) -> dict[str, float]:
    """Violated laws of frictions, clutches and stops at many times, each relative to what is allowed.

    ``values`` holds arrays of all unknowns; allowed is ``limit`` times the largest position, speed or force of all times, and
    what is rounding beside the largest number of any unit.
    """
    largest = {
        letter: max((np.abs(x).max() for c, x in values.items() if c[0] == letter), default=1.0)
        for letter in "svf"
    }
    least = ROUNDING * max(largest.values())
    scale = {letter: limit * size + least or limit for letter, size in largest.items()}
    at = {**values, f"s.{GROUND}": 0.0, f"v.{GROUND}": 0.0}
    found = {}
    for e in parts:
        if e.kind not in "FWPQALR":
            continue
        f = values[f"f.{e.name}"]
        if e.kind in NONLINEAR:
            letter = "s" if e.kind == "Q" else "v"
            x = apart(e, letter, at) - (float(e.extra) if e.kind == "Q" else 0.0)
            slope = float(e.value) * (1 + 3 * x**2 if e.kind == "Q" else 2 * np.abs(x))
            allowed = scale["f"] + slope * scale[letter]
            found[e.name] = float(np.max(np.abs(f - characteristic(e)(x)) / allowed))
            continue
        if e.kind == "P":
            gap = (at[f"s.{e.b}"] - at[f"s.{e.a}"] - float(e.value)) / scale["s"]
            push = -f / scale["f"]
            found[e.name] = float(np.max([-gap, -push, np.minimum(np.abs(gap), np.abs(push))]))
        elif e.kind in "WL" and not e.extra[after]:
            found[e.name] = float(np.max(np.abs(f) / scale["f"]))
        elif e.kind == "L":
            found[e.name] = float(np.max(np.abs(apart(e, "v", at)) / scale["v"]))
        elif e.kind == "R":
            v, push = apart(e, "v", at) / scale["v"], -f / scale["f"]
            found[e.name] = float(np.max([-v, -push, np.minimum(np.abs(v), np.abs(push))]))
        else:
            v = (at[f"v.{e.b}"] - at[f"v.{e.a}"]) / scale["v"]
            slide, hold = float(e.value), float(e.extra if e.kind == "F" else e.value)
            ways = (
                np.maximum(np.abs(v), (np.abs(f) - hold) / scale["f"]),
                np.maximum(-v, np.abs(f - slide) / scale["f"]),
                np.maximum(v, np.abs(f + slide) / scale["f"]),
            )
            found[e.name] = float(np.max(np.min(ways, axis=0)))
    return found
