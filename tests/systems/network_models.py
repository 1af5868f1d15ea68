"""Circuits from the netlists of `tests.oracles.networks`."""

from collections.abc import Sequence
from typing import Any

from acausal import Circuit
from acausal.components.electrical import (
    Capacitor,
    ConstantCurrent,
    ConstantVoltage,
    IdealClosingSwitch,
    IdealDiode,
    IdealThyristor,
    Inductor,
    Resistor,
)
from tests.oracles.networks import GROUND, Element
from tests.systems.circuits import circuit


def part(e: Element) -> Any:
    """The component of one element."""
    if e.kind in "RLCVI":
        value = float(e.value)
    return {
        "R": lambda: Resistor(R=value),
        "L": lambda: Inductor(L=value, i=float(e.extra or 0)),
        "C": lambda: Capacitor(C=value, v=float(e.extra or 0)),
        "V": lambda: ConstantVoltage(V=value),
        "I": lambda: ConstantCurrent(I=value),
        "S": lambda: IdealClosingSwitch(control=bool(e.value)),
        "D": lambda: IdealDiode(),
        "T": lambda: IdealThyristor(fire=bool(e.value)),
    }[e.kind]()


def model(network: Sequence[Element]) -> Circuit:
    """All elements under their names; the ground at node ``0``."""
    return circuit(*((e.name, part(e), e.p, e.n) for e in network), ground=GROUND)
