"""What every benchmark needs: repeated timing, external references, and rows of the final table."""

from __future__ import annotations

import json
import os
import statistics
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
MARK = "ROW "
LOSSY = "with Ron and Roff"
IDEAL = "ideal"


@dataclass(frozen=True)
class Row:
    """One measured figure; a goal or allowed error that is None is not judged.

    Attributes
    ----------
    question : str
    figure : float
        Median, in seconds unless ``unit`` says otherwise.
    goal : float, optional
        Largest figure that passes.
    error, allowed : float, optional
        Largest deviation from the reference, relative to its largest magnitude, and what passes.
    """

    question: str
    figure: float
    goal: float | None = None
    error: float | None = None
    allowed: float | None = None
    unit: str = "s"
    note: str = ""

    @property
    def passed(self) -> bool:
        """Whether figure and error are within their limits; what is not a number is not."""
        fast = self.goal is None or self.figure <= self.goal
        return fast and (self.allowed is None or (self.error is not None and self.error <= self.allowed))

    def line(self) -> str:
        """One line of the table."""
        goal = "" if self.goal is None else f"<= {self.goal:g}"
        error = "" if self.error is None else f"{self.error:.1e}"
        allowed = "" if self.allowed is None else f"<= {self.allowed:.0e}"
        verdict = "-" if self.goal is None and self.allowed is None else "pass" if self.passed else "FAIL"
        figure = f"{self.figure:.3g} {self.unit}"
        return f"{self.question:<58} {figure:>10} {goal:>8} {error:>9} {allowed:>8}  {verdict:<5}{self.note}".rstrip()


HEADER = f"{'question':<58} {'figure':>10} {'goal':>8} {'error':>9} {'allowed':>8}  result"


def finish(rows: list[Row]) -> None:
    """Print the rows and leave; the exit code is 1 when a goal is missed."""
    if "--rows" in sys.argv:
        for row in rows:
            print(MARK + json.dumps(asdict(row)))
    else:
        print("\n".join([HEADER, *(row.line() for row in rows)]))
    sys.exit(not all(row.passed for row in rows))


def median(f: Callable[[], Any], repeat: int = 7) -> float:
    """Median wall time of several calls, in seconds."""
    times = []
    for _ in range(repeat):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def peers() -> Path | None:
    """Folder with the scripts of the peers, None if it is absent."""
    folder = Path(os.environ.get("ACAUSAL_PEERS", ROOT.parent / "shared" / "bench" / "peers"))
    return folder if (folder / "common" / "spec.py").is_file() else None


def specification() -> ModuleType | None:
    """Parameters and sample grids that all peers share, None if they are absent."""
    folder = peers()
    if folder is None:
        return None
    sys.path.insert(0, str(folder / "common"))
    import spec  # pyright: ignore[reportMissingImports]

    return spec


def deviation(values: np.ndarray, reference: np.ndarray) -> float:
    """Largest deviation relative to the largest magnitude of the reference."""
    return float(np.max(np.abs(values - reference)) / np.max(np.abs(reference)))


def external_error(case: str, *signals: Any) -> float | None:
    """Deviation of signals, one behind the other, from the stored reference of a case, None if that is absent."""
    spec = specification()
    if spec is None or not Path(spec.REF).is_file():
        return None
    found = np.concatenate([signal.at(spec.grid(case)) for signal in signals])
    return deviation(found, np.load(spec.REF)[case])
