"""How long do 10 ms (2000 edges) of a buck converter take, and how exact are they?"""

from __future__ import annotations

import sys

import numpy as np
from circuits import Buck
from common import IDEAL, LOSSY, ROOT, Row, deviation, external_error, finish, median

from acausal import Program, Result

STOP = 10e-3


def ideal_error(result: Result) -> float:
    """Deviation from the piecewise-exact solution at all its switching instants."""
    sys.path.insert(0, str(ROOT))
    from tests.oracles.dc_dc import Converter, simulate

    reference = simulate(
        Converter("buck", Vin=24.0, duty=0.5, L=47e-6, C=100e-6, R=5.0, f=100e3, periods=1000)
    )
    times = np.array([float(s.start) for s in reference.segments])
    values = np.array([float(s.x[1]) for s in reference.segments])
    return deviation(result["capacitor.v"].at(times), values)


def main() -> None:
    """Measure both variants."""
    program = Program(Buck())
    lossy = {"Ron": 1e-3, "Goff": 1e-6}
    result = program.simulate(STOP, parameters=lossy)
    error = external_error("B1", result["capacitor.v"])
    allowed = None if error is None else 1e-6
    note = "" if error is not None else "no external reference"
    figure = median(lambda: program.simulate(STOP, parameters=lossy))
    rows = [Row(f"buck converter 10 ms, 2000 edges, warm, {LOSSY}", figure, 0.2, error, allowed, note=note)]
    error = ideal_error(program.simulate(STOP))
    rows.append(
        Row(
            f"buck converter 10 ms, 2000 edges, warm, {IDEAL}",
            median(lambda: program.simulate(STOP)),
            0.2,
            error,
            1e-9,
        )
    )
    finish(rows)


if __name__ == "__main__":
    main()
