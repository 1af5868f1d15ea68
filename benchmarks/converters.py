"""What does an event of a converter cost once it has been seen: an edge, a commutation, a sample of its controller?"""

from __future__ import annotations

import sys
from typing import Any

from circuits import DualActiveBridge, PhaseShiftBridge, PowerFactorCorrector
from common import ROOT, Row, finish, median

from acausal import Component, Program

sys.path.insert(0, str(ROOT))
from examples.buck_control import Regulated  # noqa: E402
from examples.resonant_converter import Resonant, Vin, f0  # noqa: E402


def per_event(name: str, model: Component, short: float, long: float, **options: Any) -> Row:
    """Time of the events between two ends of a warm run."""
    program = Program(model)
    counts, times = [], []
    for t_end in (short, long):
        events = program.simulate(t_end, **options).stats.events
        counts.append(sum(events.values()))
        times.append(median(lambda t_end=t_end: program.simulate(t_end, **options), 7))
    count = counts[1] - counts[0]
    note = f"{count} events; {times[1] * 1e3:.3g} ms for the {counts[1]} of the whole run"
    return Row(f"{name}: per event", 1e6 * (times[1] - times[0]) / count, unit="us", note=note)


def main() -> None:
    """Measure all."""
    valley = {"capacitor.v": 12.0, "inductor.i": 1.3, "outer.integral": 1.3, "inner.integral": 0.5}
    finish(
        [
            per_event("dual active bridge", DualActiveBridge(), 5e-3, 10e-3),
            per_event("resonant converter", Resonant(), 200 / f0, 400 / f0, initial={"filter.v": 0.5 * Vin}),
            per_event(
                "phase-shift bridge",
                PhaseShiftBridge(),
                5e-3,
                10e-3,
                initial={"capacitor.v": 20.0},
                impulses="allow",
            ),
            per_event("power-factor corrector", PowerFactorCorrector(), 0.12, 0.26),
            per_event("buck converter with sampled control", Regulated(), 5e-3, 10e-3, initial=valley),
        ]
    )


if __name__ == "__main__":
    main()
