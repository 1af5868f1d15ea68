"""How long does a leg of a modular multilevel converter take, full bridges of four switches with a mode for each gating?"""

from __future__ import annotations

import resource
from time import perf_counter

from circuits import Leg
from common import Row, finish

from acausal import Result, compile_model

CELLS, STOP = 40, 4e-3
"""Two arms of twenty cells; a commutation of two switches every 0.1 ms."""


def run(n: int, Ron: float, stop: float) -> tuple[Result, float, float]:
    """A run, its seconds, and the peak of resident memory in MB."""
    program = compile_model(Leg(n=n))
    start = {f"cells[{k}].capacitor.v": 1000.0 for k in range(n)}
    begin = perf_counter()
    result = program.simulate(stop, parameters={"Ron": Ron}, initial=start)
    return result, perf_counter() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> None:
    """Measure the first run: each commutation leads to a mode that is new."""
    result, seconds, peak = run(CELLS, 0.0, STOP)
    note = f"{len(result.modes)} modes, {len(result.events)} events, peak {peak:.0f} MB"
    finish([Row(f"leg of a multilevel converter, {4 * CELLS} switches, 4 ms, ideal", seconds, note=note)])


if __name__ == "__main__":
    main()
