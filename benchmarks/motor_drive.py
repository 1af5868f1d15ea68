"""How long do 200 ms (8000 edges) of a DC motor behind an H-bridge take, and how exact are they?"""

from __future__ import annotations

import sys

import numpy as np
from common import IDEAL, ROOT, Row, deviation, external_error, finish, median

from acausal import Program

sys.path.insert(0, str(ROOT))
from tests.oracles.motor_drive import MotorDrive  # noqa: E402
from tests.systems.motor_drives import MotorBridge  # noqa: E402

STOP = 0.2


def main() -> None:
    """Measure the drive, alone and with a part of its inertia behind a gear."""
    times = np.arange(1, 1001) * (STOP / 1000)
    exact = MotorDrive().states(times)[:, 0]
    rows = []
    for geared, name in ((False, "H-bridge with motor"), (True, "H-bridge with motor, gear and load")):
        program = Program(MotorBridge(geared=geared))
        result = program.simulate(STOP)
        error = deviation(result["inductor.i"].at(times), exact)
        external = external_error("B8", result["rotor.w"])
        note = "" if external is None else f"stored reference: {external:.1e}"
        figure = median(lambda program=program: program.simulate(STOP), 3)
        rows.append(
            Row(f"{name} 200 ms, 8000 edges, warm, {IDEAL}", figure, error=error, allowed=1e-9, note=note)
        )
    finish(rows)


if __name__ == "__main__":
    main()
