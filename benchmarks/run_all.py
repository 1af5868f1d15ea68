"""Run all benchmarks, each in its own process, and print one table; the exit code is 1 when a goal is missed.

Usage: run_all.py [--save] [SCRIPT ...], without names all of them. ``--save`` writes the rows, the machine and the
date to figures.json, from where ``python -m docs.generator`` takes them.
"""

from __future__ import annotations

import json
import math
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from datetime import date
from importlib.metadata import version
from pathlib import Path
from typing import Any

from common import HEADER, MARK, Row

FIGURES = Path(__file__).with_name("figures.json")
SCRIPTS = (
    "buck",
    "rectifiers",
    "motor_drive",
    "cold_process",
    "analysis",
    "flattening",
    "general_path",
    "large_models",
    "multilevel",
    "converters",
    "modulator",
    "mechanisms",
    "many_runs",
    "beside_peers",
)


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


def processor() -> str:
    """Name of the processor."""
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def machine(load: float) -> dict[str, Any]:
    """Where the figures come from; ``load`` is the load average before the first run."""
    packages = {"CasADi": version("casadi"), "NumPy": version("numpy"), "SciPy": version("scipy")}
    return {
        "processor": processor(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "system": platform.system(),
        "versions": {"Python": platform.python_version(), **packages},
        "load": round(load, 1),
    }


def save(rows: dict[str, list[Row]], load: float) -> None:
    """Write the figures."""
    found = [{"script": script, **asdict(row)} for script in rows for row in rows[script]]
    for row in found:
        row.update({k: None for k, v in row.items() if isinstance(v, float) and math.isnan(v)})
    figures = {"date": date.today().isoformat(), "machine": machine(load), "rows": found}
    FIGURES.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def main() -> None:
    """Run the scripts one after the other."""
    arguments = [a for a in sys.argv[1:] if a != "--save"]
    names = [Path(name).stem for name in arguments] or SCRIPTS
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else math.nan
    print(HEADER, flush=True)
    rows = {}
    for name in names:
        rows[name] = rows_of(name)
        for row in rows[name]:
            print(row.line(), flush=True)
    if "--save" in sys.argv:
        save(rows, load)
    sys.exit(not all(row.passed for found in rows.values() for row in found))


if __name__ == "__main__":
    main()
