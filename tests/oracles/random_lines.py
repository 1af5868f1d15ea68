"""Seeded random mechanisms and chains of the parts of `lines`."""

import random
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from tests.oracles.lines import GROUND, NONLINEAR, Part

MASSES = tuple(Fraction(n, 2) for n in (1, 2, 3, 4, 8))
STIFFNESSES = tuple(Fraction(n) for n in (1, 4, 10, 50))
FORCES = tuple(Fraction(n, 2) for n in range(-12, 13))
LEVELS = tuple(Fraction(n, 4) for n in (1, 2, 4, 6, 12))
SPEEDS = tuple(Fraction(n, 2) for n in (-2, -1, 0, 0, 1, 2))
RATIOS = tuple(Fraction(n, d) for n, d in ((1, 1), (2, 1), (-1, 1), (1, 2), (3, 1)))


def random_mechanism(
    seed: int, moving: bool = False, copies: int = 1, stiction: float = 0.3, bodies: int | None = None
) -> list[Part]:
    """Random mechanism; the same arguments always give the same one.

    Parameters
    ----------
    seed : int
        Seed of the generator.
    moving : bool
        Random speeds at the start, else all is at rest.
    copies : int
        Number of independent equal mechanisms.
    stiction : float
        Share of frictions whose breakaway level is above the sliding one.
    bodies : int, optional
        Number of masses of one copy, 1 to 6 by default.
    """
    rng = random.Random(seed)
    count = rng.randint(1, 6) if bodies is None else bodies
    parts: list[Part] = []
    place: dict[str, Fraction] = {GROUND: Fraction(0)}
    speed: dict[str, Fraction] = {GROUND: Fraction(0)}

    def add(kind: str, a: str, b: str, value: Any, extra: Any = None) -> None:
        parts.append(Part(kind, f"{kind}{sum(e.kind == kind for e in parts) + 1}", a, b, value, extra))

    for k in range(1, count + 1):
        node = f"n{k}"
        place[node] = Fraction(rng.randint(-4, 8), 4)
        speed[node] = rng.choice(SPEEDS) if moving else Fraction(0)
        if k > 1 and rng.random() < 0.2:
            other, ratio = f"n{rng.randint(1, k - 1)}", rng.choice(RATIOS)
            place[node], speed[node] = ratio * place[other], ratio * speed[other]
            add("G", node, other, ratio)
        add("M", node, GROUND, rng.choice(MASSES), (place[node], speed[node]))
        if rng.random() < 0.8:
            add("B", node, GROUND, rng.choice(FORCES), rng.choice(FORCES))
    nodes = [f"n{k}" for k in range(1, count + 1)]
    for _ in range(rng.randint(count, 4 * count)):
        kind = rng.choice("FFFFPPPWKD")
        a = rng.choice(nodes)
        b = rng.choice([n for n in (GROUND, GROUND, *nodes) if n != a])
        if rng.random() < 0.5:
            a, b = b, a
        if kind == "F":
            level = rng.choice(LEVELS)
            add("F", a, b, level, level * 2 if rng.random() < stiction else level)
        elif kind == "W":
            add("W", a, b, rng.choice(LEVELS), (rng.random() < 0.5, rng.random() < 0.5))
        elif kind == "P":
            room = rng.choice((Fraction(0), Fraction(0), Fraction(1, 8), Fraction(1), Fraction(3)))
            add("P", a, b, place[b] - place[a] - room)
        elif kind == "K":
            add("K", a, b, rng.choice(STIFFNESSES), place[b] - place[a] + rng.choice(FORCES) / 8)
        else:
            add("D", a, b, rng.choice(STIFFNESSES))
    return [_copy(e, k) for k in range(copies) for e in parts] if copies > 1 else parts


def random_chain(seed: int) -> list[Part]:
    """Random chain of bodies, some of them without mass or moved from outside, joined by what is rigid: nothing gives way.

    A third of the chains starts at rest, a third with speeds, a third in contact with speeds.
    """
    rng = random.Random(seed)
    parts: list[Part] = []
    place: dict[str, Fraction] = {GROUND: Fraction(0)}
    speed: dict[str, Fraction] = {GROUND: Fraction(0)}
    touching = 1.0 if seed % 3 == 2 else 0.5

    def add(kind: str, a: str, b: str, value: Any = None, extra: Any = None) -> None:
        parts.append(Part(kind, f"{kind}{sum(e.kind == kind for e in parts) + 1}", a, b, value, extra))

    def join(a: str, b: str) -> None:
        if rng.random() < 0.5:
            a, b = b, a
        kind = rng.choice("PPPTWWFLR")
        if kind in "PT":
            room = Fraction(0) if rng.random() < touching else Fraction(1, rng.choice((1, 8)))
            add("P", a, b, place[b] - place[a] - room)
            if kind == "T":
                add("P", b, a, place[a] - place[b] - room)
        elif kind in "WF":
            level = rng.choice(LEVELS)
            add(kind, a, b, level, (rng.random() < 0.5, rng.random() < 0.5) if kind == "W" else level)
        else:
            add(kind, a, b, None, (rng.random() < 0.5, rng.random() < 0.5) if kind == "L" else None)

    nodes = [f"n{k}" for k in range(1, rng.randint(2, 7) + 1)]
    for k, node in enumerate(nodes):
        geared, ratio = k > 0 and rng.random() < 0.2, rng.choice(RATIOS)
        before = nodes[k - 1] if k else GROUND
        place[node] = ratio * place[before] if geared else place[before] + Fraction(rng.randint(-2, 4), 4)
        speed[node] = ratio * speed[before] if geared else rng.choice(SPEEDS) if seed % 3 else Fraction(0)
        kind = rng.choice("MMMMOOOH" if not geared else "MMMO")
        if kind == "M":
            add("M", node, GROUND, rng.choice(MASSES), (place[node], speed[node]))
        elif kind == "O":
            add("O", node, GROUND, None, (place[node],))
            if rng.random() < 0.7:
                add("D", node, GROUND, rng.choice(STIFFNESSES))
        else:
            add("H", node, GROUND, speed[node], (place[node],))
        if kind != "H" and rng.random() < 0.6:
            add("B", node, GROUND, rng.choice(FORCES), rng.choice(FORCES))
        if geared:
            add("G", node, before, ratio)
        if (k or rng.random() < 0.5) and (not geared or rng.random() < 0.3):
            for _ in range(1 + (rng.random() < 0.3)):
                join(before, node)
    for _ in range(rng.choice((0, 0, 1, 2))):
        join(*rng.sample([GROUND, *nodes], 2))
    return parts


def with_nonlinear(parts: Sequence[Part]) -> list[Part]:
    """The mechanism with cubic springs and drag, at least one of which holds the first mass."""
    found = [e._replace(kind={"K": "Q", "D": "A"}.get(e.kind, e.kind)) for e in parts]
    if all(e.kind not in NONLINEAR for e in found):
        node = next(e.a for e in parts if e.kind == "M")
        found.append(Part("A", "A0", node, GROUND, Fraction(1)))
    return found


def _copy(e: Part, k: int) -> Part:
    a, b = (n if n == GROUND else f"{n}_{k}" for n in (e.a, e.b))
    return e._replace(name=f"{e.name}_{k}", a=a, b=b)
