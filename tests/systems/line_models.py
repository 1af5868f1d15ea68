"""Models of the mechanisms of `tests.oracles.lines`; what changes, changes once."""

from collections.abc import Iterator, Sequence
from typing import Any

from acausal import (
    Circuit,
    Complementarity,
    DryFriction,
    Eq,
    If,
    Input,
    Parameter,
    Statement,
    Variable,
    absolute,
    der,
    if_else,
    time,
)
from acausal.components.translational import (
    CoulombFriction,
    CubicSpring,
    Damper,
    Fixed,
    Friction,
    ImpactStop,
    Mass,
    Spring,
)
from acausal.components.translational.interfaces import (
    PartialCompliantWithRelativeStates,
    PartialOneFlange,
    PartialTwoFlanges,
)
from tests.oracles.lines import GROUND, Part


class Push(PartialOneFlange):
    """A force that changes once."""

    before: Parameter = Parameter(unit="N")
    after: Parameter = Parameter(unit="N")
    change: Parameter = Parameter(unit="s")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.f, -if_else(time < self.change, self.before, self.after))


class Point(PartialOneFlange):
    """A place without mass."""

    s: Variable = Variable(unit="m")
    v: Variable = Variable(unit="m/s")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.s, self.s)
        yield Eq(self.v, der(self.s))
        yield Eq(self.flange.f, 0)


class Guide(PartialOneFlange):
    """A motion with a constant speed, whatever force that takes."""

    speed: Parameter = Parameter(unit="m/s")
    s: Variable = Variable(unit="m")
    v: Variable = Variable(unit="m/s")
    f: Variable = Variable(unit="N")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange.s, self.s)
        yield Eq(self.v, der(self.s))
        yield Eq(self.v, self.speed)
        yield Eq(self.flange.f, -self.f)


class Claw(PartialCompliantWithRelativeStates):
    """Clutch that is rigid while it is closed."""

    closed: Input = Input(bool)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield If(self.closed, [Eq(self.v_rel, 0)], [Eq(self.f, 0)])


class Ratchet(PartialCompliantWithRelativeStates):
    """``v_rel >= 0``, only pushes."""

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Complementarity(self.v_rel, -self.f)


class Lever(PartialTwoFlanges):
    """``s_a = ratio s_b`` without loss."""

    ratio: Parameter = Parameter()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.flange_a.s, self.ratio * self.flange_b.s)
        yield Eq(self.ratio * self.flange_a.f + self.flange_b.f, 0)


class Grip(PartialCompliantWithRelativeStates):
    """Clutch that is engaged or open."""

    capacity: Parameter = Parameter(unit="N")
    engaged: Input = Input(bool)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield DryFriction(
            self.v_rel, self.f, sliding=self.capacity, breakaway=self.capacity, engaged=self.engaged
        )


class Drag(PartialCompliantWithRelativeStates):
    """``f = d v_rel abs(v_rel)``."""

    d: Parameter = Parameter(unit="N.s2/m2")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, self.d * self.v_rel * absolute(self.v_rel))


def part(e: Part, change: float) -> Any:
    """The component of one part."""
    value = float(e.value or 0)
    return {
        "M": lambda: Mass(m=value, s=float(e.extra[0]), v=float(e.extra[1])),
        "O": lambda: Point(s=float(e.extra[0])),
        "H": lambda: Guide(speed=value, s=float(e.extra[0])),
        "L": lambda: Claw(closed=window(*e.extra, change)),
        "R": lambda: Ratchet(),
        "K": lambda: Spring(c=value, s_rel0=float(e.extra)),
        "D": lambda: Damper(d=value),
        "Q": lambda: CubicSpring(c=value, c3=value, s_rel0=float(e.extra)),
        "A": lambda: Drag(d=value),
        "F": lambda: (
            CoulombFriction(f_coulomb=value)
            if e.extra == e.value
            else Friction(f_coulomb=value, f_breakaway=float(e.extra))
        ),
        "W": lambda: Grip(capacity=value, engaged=window(*e.extra, change)),
        "P": lambda: ImpactStop(s_rel0=value),
        "G": lambda: Lever(ratio=value),
        "B": lambda: Push(before=value, after=float(e.extra), change=change),
    }[e.kind]()


def window(before: bool, after: bool, change: float) -> Any:
    """Condition with two values."""
    if before == after:
        return before
    return time < change if before else time >= change


def model(parts: Sequence[Part], change: float) -> Circuit:
    """All parts under their names, the ground fixed at zero."""
    made = Circuit()
    nodes: dict[str, list[Any]] = {}
    for e in parts:
        component = made.add(e.name, part(e, change))
        if e.kind in "MBOH":
            nodes.setdefault(e.a, []).append(component.flange_a if e.kind == "M" else component.flange)
        else:
            nodes.setdefault(e.a, []).append(component.flange_a)
            nodes.setdefault(e.b, []).append(component.flange_b)
    if GROUND in nodes:
        nodes[GROUND].append(made.add("ground", Fixed()).flange)
    for flanges in nodes.values():
        if len(flanges) > 1:
            made.connect(*flanges)
    return made
