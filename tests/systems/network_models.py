"""Circuits from the netlists of `tests.oracles.networks` and `tests.oracles.circuits`, whose switches change over once."""

from collections.abc import Iterator, Sequence
from typing import Any

from acausal import Circuit, Eq, Parameter, Statement, Variable, atan, der, time
from acausal.components.electrical import (
    Capacitor,
    ConstantCurrent,
    ConstantVoltage,
    Diode,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    IdealThyristor,
    IdealTransformer,
    Inductor,
    Resistor,
)
from acausal.components.electrical.interfaces import OnePort
from tests.oracles.circuits import JUNCTION
from tests.oracles.networks import GROUND, Element


class Choke(OnePort):
    """``v = der(Psi)``, ``Psi = L (i + 3 i0 atan(i / i0)) / 4``: saturates to a quarter of its inductance."""

    L: Parameter = Parameter(unit="H", min=0)
    i0: Parameter = Parameter(default=1.0, unit="A")
    Psi: Variable = Variable(unit="Wb")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.Psi, self.L * (self.i + 3 * self.i0 * atan(self.i / self.i0)) / 4)
        yield Eq(self.v, der(self.Psi))


class CubicConductor(OnePort):
    """``i = g v (1 + (v / v0)**2)``."""

    g: Parameter = Parameter(unit="S", min=0)
    v0: Parameter = Parameter(default=1.0, unit="V")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.g * self.v * (1 + (self.v / self.v0) ** 2))


def part(e: Element, change: float) -> Any:
    """The component of one element; a switch has the given state up to the time of change."""
    if e.kind in "RLCVIXNY":
        value = float(e.value)
    Ron, Goff = (float(x) for x in (e.extra or (0, 0))) if e.kind in "SDT" else (0.0, 0.0)
    return {
        "R": lambda: Resistor(R=value),
        "L": lambda: Inductor(L=value, i=float(e.extra or 0)),
        "C": lambda: Capacitor(C=value, v=float(e.extra or 0)),
        "V": lambda: ConstantVoltage(V=value),
        "I": lambda: ConstantCurrent(I=value),
        "S": lambda: IdealClosingSwitch(
            Ron=Ron, Goff=Goff, control=time < change if e.value else time >= change
        ),
        "D": lambda: IdealDiode(Ron=Ron, Goff=Goff),
        "T": lambda: IdealThyristor(Ron=Ron, Goff=Goff, fire=bool(e.value)),
        "N": lambda: CubicConductor(g=value),
        "J": lambda: Diode(**JUNCTION),
        "Y": lambda: Choke(L=value, Psi=float(e.extra or 0)),
        "X": lambda: IdealTransformer(n=value),
    }[e.kind]()


def model(network: Sequence[Element], change: float) -> Circuit:
    """All elements under their names; the ground at node ``0``."""
    made = Circuit()
    nodes: dict[str, list[Any]] = {GROUND: [made.add("ground", Ground()).p]}
    for e in network:
        component = made.add(e.name, part(e, change))
        ports = (
            ((component.p1, e.p), (component.n1, e.n), (component.p2, e.extra[0]), (component.n2, e.extra[1]))
            if e.kind == "X"
            else ((component.p, e.p), (component.n, e.n))
        )
        for pin, node in ports:
            nodes.setdefault(node, []).append(pin)
    for pins in nodes.values():
        if len(pins) > 1:
            made.connect(*pins)
    return made
