"""Run all benchmarks, each in its own process, and print one table; the exit code is 1 when a goal is missed.

Usage: run_all.py [SCRIPT ...], without arguments all of them.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from common import HEADER, MARK, Row

SCRIPTS = ("buck", "rectifiers", "cold_process", "analysis", "flattening", "beside_peers")


def rows_of(script: str) -> list[Row]:
    """Rows that a script prints."""
    here = Path(__file__).parent
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, str(here / f"{script}.py"), "--rows"],
        env={**os.environ, **threads},
        stdout=subprocess.PIPE,
        text=True,
    )
    lines = run.stdout.splitlines()
    found = [Row(**json.loads(line.removeprefix(MARK))) for line in lines if line.startswith(MARK)]
    for line in lines:
        if not line.startswith(MARK):
            print(line)
    if not found and run.returncode:
        found = [Row(f"{script}.py", float("nan"), 0.0, note="failed")]
    return found


def main() -> None:
    """Run the scripts one after the other."""
    names = [Path(name).stem for name in sys.argv[1:]] or SCRIPTS
    print(HEADER, flush=True)
    passed = True
    for name in names:
        for row in rows_of(name):
            print(row.line(), flush=True)
            passed &= row.passed
    sys.exit(not passed)


if __name__ == "__main__":
    main()
