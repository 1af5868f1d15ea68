"""The smallest circuits that show one component: a loop, and parts in parallel."""

from acausal import Circuit
from acausal.components.electrical import (
    Ground,
    SignalCurrent,
    SignalVoltage,
    TwoPin,
    TwoPort,
)

Branch = TwoPin | SignalVoltage | SignalCurrent


def loop(**parts: Branch) -> Circuit:
    """A closed loop: ``n`` of each part to ``p`` of the next, but the first part is turned to feed the others.

    The first part has its ``n`` at ground and its ``p`` at the ``p`` of the second, so that a source drives
    the current of the other parts from ``p`` to ``n``.
    """
    circuit = Circuit()
    first, *rest = (circuit.add(name, part) for name, part in parts.items())
    ground = circuit.add("ground", Ground())
    node = first.p
    for part in rest:
        circuit.connect(node, part.p)
        node = part.n
    circuit.connect(node, first.n, ground.p)
    return circuit


def parallel(**parts: Branch) -> Circuit:
    """All ``p`` joined, all ``n`` joined and grounded."""
    circuit = Circuit()
    for name, part in parts.items():
        circuit.add(name, part)
    ground = circuit.add("ground", Ground())
    circuit.connect(*(part.p for part in parts.values()))
    circuit.connect(ground.p, *(part.n for part in parts.values()))
    return circuit


def coupled(left: Branch, port: TwoPort, right: Branch) -> Circuit:
    """A two-port with one part across each side, all ``n`` grounded: names ``left``, ``port``, ``right``."""
    circuit = Circuit()
    circuit.add("left", left)
    circuit.add("port", port)
    circuit.add("right", right)
    ground = circuit.add("ground", Ground())
    circuit.connect(left.p, port.p1)
    circuit.connect(right.p, port.p2)
    circuit.connect(ground.p, left.n, right.n, port.n1, port.n2)
    return circuit
