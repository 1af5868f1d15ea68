"""How long do diode bridges take (one phase 1 s, three phases 0.5 s), without snubbers, and how exact are they?"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from circuits import SinglePhaseBridge, ThreePhaseBridge
from common import IDEAL, LOSSY, ROOT, Row, deviation, external_error, finish, median

from acausal import Program

sys.path.insert(0, str(ROOT))
from tests.oracles.bridges import SinglePhase, ThreePhase, single_phase, three_phase  # noqa: E402
from tests.oracles.lossy_bridge import lossy_three_phase  # noqa: E402

LOSSES = {"Ron": 1e-3, "Goff": 1e-6}


def measure(program: Program, name: str, output: str, stop: float, exact: Callable[[Any], np.ndarray]) -> Row:
    """Row of the ideal bridge; ``exact`` gives the output at some times."""
    times = np.arange(1, 1001) * (stop / 1000)
    error = deviation(program.simulate(stop)[output].at(times), exact(times))
    return Row(f"{name}, warm, {IDEAL}", median(lambda: program.simulate(stop), 5), 0.5, error, 1e-9)


def measure_lossy(program: Program, name: str, case: str, output: str, stop: float) -> Row:
    """Row of the bridge with losses, against the stored reference of the case."""
    error = external_error(case, program.simulate(stop, parameters=LOSSES)[output])
    figure = median(lambda: program.simulate(stop, parameters=LOSSES), 5)
    question = f"{name}, warm, {LOSSY}"
    if case == "B3":
        # The stored reference decides by differences of potentials whose rounding delays its commutations.
        times = np.arange(1, 81) * 5e-4
        exact = lossy_three_phase(ThreePhase(), **LOSSES, times=times)
        note = "" if error is None else f"stored reference: {error:.1e}; judged by 40 digits"
        error = deviation(program.simulate(40e-3, parameters=LOSSES)[output].at(times), exact)
        return Row(question, figure, 0.5, error, 1e-6, note=note)
    if error is None:
        return Row(question, figure, 0.5, note="no external reference")
    return Row(question, figure, 0.5, error, 1e-6)


def main() -> None:
    """Measure both bridges."""

    def voltage(times: np.ndarray) -> np.ndarray:
        return single_phase(SinglePhase(), times).states[:, 1]

    def current(times: np.ndarray) -> np.ndarray:
        return three_phase(ThreePhase(), times).states[:, 0]

    one, three = Program(SinglePhaseBridge()), Program(ThreePhaseBridge())
    names = "single-phase bridge 1 s", "three-phase bridge 0.5 s"
    finish([
        measure_lossy(one, names[0], "B2", "capacitor.v", 1.0),
        measure(one, names[0], "capacitor.v", 1.0, voltage),
        measure_lossy(three, names[1], "B3", "choke.i", 0.5),
        measure(three, names[1], "choke.i", 0.5, current),
    ])  # fmt: skip


if __name__ == "__main__":
    main()
