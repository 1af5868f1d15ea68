"""Circuits from the netlists of `tests.oracles.networks`, whose switches change over once."""

from collections.abc import Sequence
from typing import Any

from acausal import Circuit, time
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


def part(e: Element, change: float) -> Any:
    """The component of one element; a switch has the given state up to the time of change."""
    if e.kind in "RLCVI":
        value = float(e.value)
    return {
        "R": lambda: Resistor(R=value),
        "L": lambda: Inductor(L=value, i=float(e.extra or 0)),
        "C": lambda: Capacitor(C=value, v=float(e.extra or 0)),
        "V": lambda: ConstantVoltage(V=value),
        "I": lambda: ConstantCurrent(I=value),
        "S": lambda: IdealClosingSwitch(control=time < change if e.value else time >= change),
        "D": lambda: IdealDiode(),
        "T": lambda: IdealThyristor(fire=bool(e.value)),
    }[e.kind]()


def model(network: Sequence[Element], change: float) -> Circuit:
    """All elements under their names; the ground at node ``0``."""
    return circuit(*((e.name, part(e, change), e.p, e.n) for e in network), ground=GROUND)
