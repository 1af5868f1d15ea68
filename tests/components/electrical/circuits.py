"""The smallest circuits that show one component: a loop, and parts in parallel."""

from typing import Any

import numpy as np

from acausal import Circuit, simulate
from acausal.components.electrical import (
    Ground,
    RampVoltage,
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


def sweep(device: Branch, low: float, high: float, points: int = 401) -> tuple[np.ndarray, np.ndarray]:
    """Voltages from ``low`` to ``high`` that a source forces on a part named ``device``, and its currents."""
    source = RampVoltage(V=high - low, offset=low, duration=1.0)
    t = np.linspace(0.0, 1.0, points)
    return low + (high - low) * t, simulate(loop(source=source, device=device), 1.0)["device.i"].at(t)


def driven(device: Any, **pins: Any) -> Circuit:
    """A part named ``device`` with a source at each of the named pins against ground; ``None`` grounds the pin."""
    circuit = Circuit()
    circuit.add("device", device)
    ground = circuit.add("ground", Ground())
    for name, source in pins.items():
        pin = getattr(device, name)
        if source is None:
            circuit.connect(pin, ground.p)
        else:
            circuit.add(f"at_{name}", source)
            circuit.connect(source.p, pin)
            circuit.connect(source.n, ground.p)
    return circuit
