"""What does a run cost with parameters that are new, beside a repeat, and how long do many take in two processes?"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from itertools import count
from typing import Any

import numpy as np
from circuits import Buck
from common import Row, finish, median

from acausal import Component, Program, Result, sweep
from acausal.api.sweep import random_sets
from acausal.components.electrical import Capacitor, Ground, Inductor, Resistor, StepVoltage
from acausal.modeling import Circuit

RUNS = 1000


def series() -> Circuit:
    """A step on R, L and C."""
    made = Circuit()
    parts = {
        "source": StepVoltage(V=10.0, startTime=1e-4), "R": Resistor(R=2.0), "L": Inductor(L=1e-3), "C": Capacitor(C=1e-4),
        "ground": Ground(),
    }  # fmt: skip
    for name, part in parts.items():
        made.add(name, part)
    p = parts
    made.connect(p["source"].p, p["R"].p)
    made.connect(p["R"].n, p["L"].p)
    made.connect(p["L"].n, p["C"].p)
    made.connect(p["C"].n, p["source"].n, p["ground"].p)
    return made


def over_a_repeat(name: str, model: Component, t_end: float, path: str) -> Row:
    """Time of a run with a value that no run had before, less that of the same run again."""
    program, values = Program(model), count(1)

    def new() -> Any:
        return program.simulate(t_end, parameters={path: 4.0 + 1e-3 * next(values)})

    new()
    first = median(new, 15)
    again = median(lambda: program.simulate(t_end, parameters={path: 4.0}), 15)
    return Row(f"{name}: new parameters over a repeat", first - again, note=f"repeat {again * 1e3:.2g} ms")


def output(result: Result) -> float:
    """Mean voltage of the last periods."""
    return float(result["load.v"].mean(9e-4, 1e-3))


def monte_carlo() -> Row:
    """Random inductors, capacitors and loads."""
    spread = {
        "inductor.L": lambda rng: 47e-6 * rng.normal(1.0, 0.05),
        "capacitor.C": lambda rng: 100e-6 * rng.normal(1.0, 0.1),
        "load.R": lambda rng: 5.0 * rng.normal(1.0, 0.02),
    }
    sets = random_sets(spread, RUNS, seed=1)
    with ProcessPoolExecutor(2) as pool:
        figure = median(lambda: sweep(Buck(), sets, 1e-3, measure=output, executor=pool), 1)
        values = np.array([run.value for run in sweep(Buck(), sets[:2], 1e-3, measure=output, executor=pool)])
    assert np.isfinite(values).all()
    return Row(f"{RUNS} Monte Carlo runs of a buck converter, 100 periods, 2 processes", figure)


def main() -> None:
    """Measure all."""
    finish(
        [
            over_a_repeat("R, L and C", series(), 1e-2, "R.R"),
            over_a_repeat("buck converter, 100 periods", Buck(), 1e-3, "load.R"),
            monte_carlo(),
        ]
    )


if __name__ == "__main__":
    main()
