"""Models of the campaign from descriptions of networks and mechanisms, with what an oracle says of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from acausal import Component
from tests.oracles import circuits, lines
from tests.oracles.complementarity import (
    BITS,
    SECANT_BITS,
    Instant,
    System,
    secant,
    solution,
)
from tests.oracles.networks import GROUND, Element
from tests.oracles.time_stepping import Friction, holding
from tests.systems import line_models, network_models

Read = Callable[[str], float]
"""Unknown -> its right limit in the run."""


@dataclass(frozen=True)
class Case:
    """A model and how it is judged.

    Attributes
    ----------
    text : str
        The description, to print.
    units : dict of str to str
        Letters before the point of an unknown -> unit.
    build : callable
        Makes the model.
    paths : dict of str to str
        Unknown of the oracle -> path of a result.
    equations : callable
        Whether after the change -> rows that hold.
    instant : callable
        Left limits, whether after the change, right limits that a run has found or None -> consistent right limits, None if there
        are none.
    defects : callable
        Values, whether after the change, limit -> violated laws.
    states : tuple of str
        Differentiated unknowns.
    starts : dict
        Exact left limits at the start.
    change : float
        Time of the change in seconds.
    elements : int
        How many elements have modes.
    parts : int
        Size.
    stored : callable
        Values -> stored energy.
    power : callable
        Values, whether after the change -> power into all that stores nothing, and the size of its terms.
    work : callable
        Impulses -> energy that goes into sources with them.
    snapped : callable
        Rounded left limits, distance -> left limits that obey exactly what they obey up to that distance.
    determined : callable
        Left limits, whether after the change -> whether a consistent mode leaves no state open.
    holding : callable or None
        Equations -> frictions that hold more than they slide with; None where equations leave nonlinear parts out.
    rounded : callable
        Values -> by how much rounding of others moves those of a unit, beside the largest of it.
    graded : int
        Parts, each an eighth of the next, in which small steps resolve what decays. A rounding of positions by 1e-16 m is a force
        of 4e-9 N on 1 kg in the shortest steps of mechanisms, 1.6e-4 s.
    """

    text: str
    units: Mapping[str, str]
    build: Callable[[], Component]
    paths: Mapping[str, str]
    equations: Callable[[bool], System]
    instant: Callable[[Mapping[str, Any], bool, Read | None], Instant | None]
    defects: Callable[[Mapping[str, Any], bool, float], Mapping[str, float]]
    states: tuple[str, ...]
    starts: Mapping[str, Any]
    change: float
    elements: int
    parts: int
    stored: Callable[[Mapping[str, Any]], Any]
    power: Callable[[Mapping[str, Any], bool], tuple[Any, Any]]
    work: Callable[[Mapping[str, float]], float] = lambda impulses: 0.0
    snapped: Callable[[Mapping[str, Fraction], Fraction], dict[str, Fraction]] = lambda states, near: dict(
        states
    )
    determined: Callable[[Mapping[str, Any], bool], bool] = lambda states, after: True
    holding: Callable[[System], tuple[Friction, ...]] | None = None
    rounded: Callable[[Mapping[str, Any]], Mapping[str, Any]] = lambda values: {}
    graded: int = 9


def network_case(network: Sequence[Element], change: float) -> Case:
    """A network whose switches all change over once."""
    closed = {e.name: e.value for e in network if e.kind == "S"}
    states = {after: {n: v != after for n, v in closed.items()} for after in (False, True)}
    system = {after: circuits.system(network, states[after]) for after in (False, True)}
    paths: dict[str, str] = {}
    for e in network:
        first, second = ("v1", "i1") if e.kind == "X" else ("v", "i")
        paths[f"v.{e.name}"], paths[f"i.{e.name}"] = f"{e.name}.{first}", f"{e.name}.{second}"
        if e.kind == "Y":
            paths[f"psi.{e.name}"] = f"{e.name}.Psi"
        ports = (
            [("p1", e.p), ("n1", e.n), ("p2", e.extra[0]), ("n2", e.extra[1])]
            if e.kind == "X"
            else [("p", e.p), ("n", e.n)]
        )
        if e.kind == "X":
            paths[f"v2.{e.name}"], paths[f"i2.{e.name}"] = f"{e.name}.v2", f"{e.name}.i2"
        for pin, node in ports:
            if node != GROUND:
                paths.setdefault(f"e.{node}", f"{e.name}.{pin}.v")
    return Case(
        text="\n".join(f"{e.kind} {e.name} {e.p} {e.n} {e.value} {e.extra}" for e in network),
        units=circuits.UNITS,
        build=lambda: network_models.model(network, change),
        paths=paths,
        equations=lambda after: system[after],
        instant=lambda left, after, right: _solved(network, states[after], left, right),
        defects=lambda values, after, limit: circuits.defects(network, values, limit),
        states=tuple(circuits.state(e) for e in network if e.kind in circuits.STORES),
        starts=circuits.starts(network),
        change=change,
        elements=sum(e.kind in "DTS" for e in network),
        parts=len(network),
        stored=lambda values: circuits.stored(network, values),
        power=lambda values, after: circuits.power(network, values),
        work=lambda impulses: circuits.work(network, impulses),
        holding=None if any(e.kind in circuits.NONLINEAR for e in network) else lambda model: (),
        rounded=lambda values: circuits.rounded(network, values),
    )  # fmt: skip


def _solved(
    network: Sequence[Element], closed: Mapping[str, bool], left: Mapping[str, Any], right: Read | None
) -> Instant | None:
    secants = {}
    for e in network:
        if e.kind in circuits.NONLINEAR:
            x, _, function = circuits.characteristic(e)
            secants[e.name] = secant(function, right(x) if right else 0.0)
    model = circuits.system(network, closed, secants)
    return solution(model, left, SECANT_BITS if secants else BITS)


def line_case(parts: Sequence[lines.Part], change: float) -> Case:
    """A mechanism whose pushes and clutches change once."""
    paths: dict[str, str] = {}
    for e in parts:
        if e.kind in lines.BODIES:
            paths[f"s.{e.a}"], paths[f"v.{e.a}"] = f"{e.name}.s", f"{e.name}.v"
        if e.kind in "MO":
            continue
        if e.kind == "G":
            # The lever pulls at a with -flange_a.f.
            paths[f"f.{e.name}"] = f"-{e.name}.flange_a.f"
        elif e.kind != "B":
            paths[f"f.{e.name}"] = f"{e.name}.f"
    return Case(
        text="\n".join(f"{e.kind} {e.name} {e.a} {e.b} {e.value} {e.extra}" for e in parts),
        units=lines.UNITS,
        build=lambda: line_models.model(parts, change),
        paths=paths,
        equations=lambda after: lines.system(parts, after=after),
        instant=lambda left, after, right: lines.consistent(parts, left, after, _secants(parts, left, right)),
        defects=lambda values, after, limit: lines.defects(parts, values, after, limit),
        states=tuple(lines.starts(parts)),
        starts=lines.starts(parts),
        change=change,
        elements=sum(e.kind in "FWPLR" for e in parts),
        parts=len(parts),
        stored=lambda values: lines.stored(parts, values),
        power=lambda values, after: lines.power(parts, values, after),
        work=lambda impulses: lines.work(parts, impulses),
        determined=lambda left, after: lines.determined(parts, left, after),
        snapped=lambda states, near: lines.snapped(parts, states, near),
        holding=None
        if any(e.kind in lines.NONLINEAR for e in parts)
        else lambda model: holding(parts, model),
        graded=3,
    )


def _secants(parts: Sequence[lines.Part], left: Mapping[str, Any], right: Read | None) -> dict[str, Fraction]:
    found = {}
    for e in parts:
        if e.kind == "Q":
            found[e.name] = secant(lines.characteristic(e), float(lines.apart(e, "s", left) - e.extra))
        elif e.kind == "A":
            speeds = {c: right(c) if right else float(v) for c, v in left.items() if c.startswith("v.")}
            found[e.name] = secant(lines.characteristic(e), lines.apart(e, "v", speeds))
    return found
