"""How do the switching cases compare with other simulators on this machine, measured in the same run?

A peer takes part where it is installed under ``PEERS_HOME``; its time is its own report, of a warm run where it
has one. A peer that reports its whole process is compared with our whole process.
"""

from __future__ import annotations

import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from common import ROOT, Row, finish, peers, specification

CASES = ("B1", "B2", "B3", "B8")
LOSSES = "dict(Ron=1e-3, Goff=1e-6)"
OWN = {
    "B1": ("circuits", "Buck", 10e-3, LOSSES),
    "B2": ("circuits", "SinglePhaseBridge", 1.0, LOSSES),
    "B3": ("circuits", "ThreePhaseBridge", 0.5, LOSSES),
    "B8": ("tests.systems.motor_drives", "MotorBridge", 0.2, "None"),
}
REPEAT = 3
TIMEOUT = 60.0
PEERS = (
    ("ngspice", "core", "ngspice/run.py", ("B1", "B2", "B3", "B8"), ()),
    ("pulsim", "pulsim", "pulsim/run.py", ("B1",), ()),
    ("rumoca", "rumoca", "rumoca/run.py", ("B1", "B2", "B3", "B8"), ("auto", "1e-6")),
    ("scikit-sundae", "core", "sundae/run.py", ("B1", "B8"), ()),
    ("scipy", "core", "scipy/run.py", ("B1", "B2", "B8"), ()),
    ("pathsim", "pathsim", "pathsim/run.py", ("B1", "B8"), ()),
    ("lowerbound", "core", "lowerbound/run.py", ("B1",), ()),
)
SCRIPT = """
import time; from {module} import {name}; from acausal import Program
p = Program({name}()); arguments = dict(parameters={losses}); p.simulate({stop}, **arguments)
start = time.perf_counter(); p.simulate({stop}, **arguments); print(time.perf_counter() - start)
"""


def own(case: str) -> tuple[float, float]:
    """Our warm time, and the time of a process with one run."""
    module, name, stop, losses = OWN[case]
    place: dict[str, Any] = {
        "cwd": Path(__file__).parent,
        "env": {**os.environ, "PYTHONPATH": str(ROOT)},
        "check": True,
    }
    warm = SCRIPT.format(module=module, name=name, stop=stop, losses=losses)
    out = subprocess.run([sys.executable, "-c", warm], capture_output=True, **place)
    imports = f"from {module} import {name}; from acausal import simulate"
    once = f"{imports}; simulate({name}(), {stop}, parameters={losses})"
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", once], **place)
    return float(out.stdout), time.perf_counter() - start


def peer(
    folder: Path, python: Path, script: str, case: str, arguments: tuple[str, ...]
) -> dict[str, Any] | None:
    """What a peer reports of one run, None if it fails or takes too long."""
    command = [str(python), str(folder / script), case, *arguments]
    try:
        out = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False).stdout
    except subprocess.TimeoutExpired:
        return None
    found = [json.loads(line[7:]) for line in out.splitlines() if line.startswith("RESULT ")]
    return found[0] if found else None


def compare(folder: Path, home: Path, case: str) -> list[Row]:
    """Rows of all installed peers of one case; runs of peers and ours alternate."""
    rows = []
    for name, environment, script, cases, arguments in PEERS:
        python = home / environment / "bin" / "python"
        if (
            case not in cases
            or not python.exists()
            or (name == "ngspice" and shutil.which("ngspice") is None)
        ):
            continue
        ratios, times, error = [], [], None
        for _ in range(REPEAT):
            ours = own(case)
            report = peer(folder, python, script, case, arguments)
            if report is None:
                break
            whole = name == "ngspice"
            spent = report["run_s"] if whole else report.get("warm_s") or report["run_s"]
            ratios.append(spent / ours[whole])
            times.append(spent)
            error = report.get("err")
        if not times:
            rows.append(Row(f"{case} {name}", float("nan"), note="did not finish"))
            continue
        note = f"{statistics.median(ratios):.2f} times ours{' (whole process)' if name == 'ngspice' else ''}"
        rows.append(Row(f"{case} {name}", statistics.median(times), error=error, note=note))
    return rows


def main() -> None:
    """Compare with all peers that are there."""
    folder, spec = peers(), specification()
    if folder is None or spec is None:
        print("no peers: ACAUSAL_PEERS names no folder with common/spec.py")
        finish([])
    home = Path(os.environ.get("PEERS_HOME", Path.home() / ".cache" / "peers"))
    finish([row for case in CASES for row in compare(folder, home, case)])


if __name__ == "__main__":
    main()
