"""Circuits from lists of parts and nodes, and what the tests read off a run."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from acausal import Circuit, Result
from acausal.components.electrical import Ground, IdealDiode

Branch = tuple[str, Any, str, str]


def circuit(*branches: Branch, ground: str = "0", **more: Any) -> Circuit:
    """Parts with the nodes of ``p`` and ``n``: ``circuit(("r", Resistor(R=1), "a", "0"), ...)``."""
    made = Circuit()
    nodes: dict[str, list[Any]] = {}
    for name, part in more.items():
        made.add(name, part)
    for name, part, p, n in branches:
        made.add(name, part)
        nodes.setdefault(p, []).append(part.p)
        nodes.setdefault(n, []).append(part.n)
    nodes.setdefault(ground, []).append(made.add("ground", Ground()).p)
    for pins in nodes.values():
        if len(pins) > 1:
            made.connect(*pins)
    return made


def diode_bridge(phases: Iterable[str], plus: str, minus: str, kind: Any = IdealDiode) -> list[Branch]:
    """Upper valves ``t0, t1, ...`` from the phases to ``plus``, lower ones ``b0, b1, ...`` from ``minus``."""
    legs = list(enumerate(phases))
    return [*((f"t{k}", kind(), a, plus) for k, a in legs), *((f"b{k}", kind(), minus, a) for k, a in legs)]


def commutations(result: Result) -> np.ndarray:
    """Instants between start and end at which a mode changed."""
    return np.array([e.t for e in result.events if e.modes and result.t_start < e.t < result.t_end])


def rises(result: Result, path: str) -> np.ndarray:
    """Instants after the start at which the Boolean became true."""
    t = commutations(result)
    return t[np.asarray(result[path].at(t)) > np.asarray(result[path].at(t, side="left"))]


def falls(result: Result, path: str) -> np.ndarray:
    """Instants after the start at which the Boolean became false."""
    t = commutations(result)
    return t[np.asarray(result[path].at(t)) < np.asarray(result[path].at(t, side="left"))]


def search_stats(result: Result) -> Any:
    """Counters of the search for modes over the whole run."""
    return result.stats
