"""What the tests of components read off signals."""

import numpy as np

from acausal import Circuit, Component, Result, Signal, simulate
from acausal.modeling.component import resolve


def changes(signal: Signal) -> np.ndarray:
    """Times between start and end at which a signal jumps; both limits of a jump must be there."""
    t, values = np.asarray(signal.t), np.asarray(signal.values, float)
    k = np.flatnonzero((values[1:] != values[:-1]) & (t[1:] == t[:-1]) & (t[1:] > t[0]) & (t[1:] < t[-1]))
    return t[k]


def pulses(signal: Signal) -> np.ndarray:
    """Intervals in which a Boolean signal is true, as rows (begin, end); the last may end with the run."""
    edges = [float(t) for t in changes(signal)]
    first = float(signal.t[0])
    on = bool(signal.at(first, side="right"))
    marks = [first, *edges] if on else edges
    if len(marks) % 2:
        marks.append(float(signal.t[-1]))
    return np.array(marks).reshape(-1, 2)


def assembled(*connections: tuple[str, ...], **parts: Component) -> Circuit:
    """Named parts, and the signals or ports that are connected, as ``("source.y", "block.u")``."""
    circuit = Circuit()
    for name, part in parts.items():
        circuit.add(name, part)
    for ends in connections:
        circuit.connect(*(resolve(circuit, end) for end in ends))
    return circuit


def run(t_end: float, *connections: tuple[str, ...], **parts: Component) -> Result:
    """Simulate `assembled` parts."""
    return simulate(assembled(*connections, **parts), t_end)
