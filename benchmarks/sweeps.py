"""Do the wide sweeps hold, of which the test suite runs a part?

Tests marked `sweep` are further seeds of random families, and further sizes of models, whose first ones the suite has. Of those
marked `sweep(every=4)` the suite has one case in four.

    python benchmarks/sweeps.py                                      all of them
    python benchmarks/sweeps.py tests/systems/test_random_networks.py   those of one file
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
ROOT = Path(__file__).resolve().parents[1]


def main(arguments: list[str]) -> int:
    """Run the tests with the mark; the exit code of pytest."""
    command = [sys.executable, "-m", "pytest", "-q", "--sweeps", "-m", "sweep", *arguments]
    return subprocess.run(command, cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
