"""How long does a fresh Python process take to import, build and run 10 ms of a buck converter?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from common import Row, finish, median

SCRIPT = "from circuits import Buck; from acausal import simulate; simulate(Buck(), 10e-3)"
IMPORT = "import acausal, acausal.components.electrical, acausal.components.blocks"


def process(script: str) -> float:
    """Median wall time of a process that runs a script."""
    here = Path(__file__).parent
    return median(lambda: subprocess.run([sys.executable, "-c", script], cwd=here, check=True), 5)


def main() -> None:
    """Measure the whole process and the part of it that is import."""
    finish(
        [
            Row("cold process: import, build, run 10 ms", process(SCRIPT), 1.0),
            Row("cold process: import alone", process(IMPORT)),
        ]
    )


if __name__ == "__main__":
    main()
