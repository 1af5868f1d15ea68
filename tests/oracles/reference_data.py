"""Access to the external reference cases: one folder per case with a `case.md` and csv files.

The folder is named by the environment variable ``ACAUSAL_REFERENCE``, by default ``../shared/reference`` next to the
repository. The cases are not part of the repository; tests that need them are skipped where they are absent.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Trajectory:
    """Columns of a reference trajectory.

    Two rows with the same time are the left and the right limit of an event, in this order; rows between them, where
    there are more, are both. `time` has shape ``(n,)``,
    `values` shape ``(n, len(names))``; `is_left` and `is_right` mark the rows of events.
    """

    names: tuple[str, ...]
    time: np.ndarray
    values: np.ndarray
    is_left: np.ndarray
    is_right: np.ndarray

    def __getitem__(self, name: str) -> np.ndarray:
        return self.values[:, self.names.index(name)]

    @property
    def event_times(self) -> np.ndarray:
        """Times with a left and a right limit."""
        return np.unique(self.time[self.is_left])

    @property
    def away_from_events(self) -> np.ndarray:
        """Mask of the rows at which all signals are single-valued."""
        return ~(self.is_left | self.is_right)


def reference_root() -> Path:
    """Folder of the reference cases, whether it exists or not."""
    return Path(os.environ.get("ACAUSAL_REFERENCE", ROOT / ".." / "shared" / "reference")).resolve()


def has_case(name: str) -> bool:
    """Whether the case can be read here."""
    return (reference_root() / name / "case.md").is_file()


def requires_case(name: str) -> Any:
    """Pytest mark that skips a test where the case is absent."""
    return pytest.mark.skipif(not has_case(name), reason=f"reference case {name} is not available")


def load_case(name: str, file: str = "data.csv") -> Trajectory:
    """Read a csv file of a case; skips the running test where it is absent."""
    path = reference_root() / name / file
    if not path.is_file():
        pytest.skip(f"reference file {name}/{file} is not available")
    return read_trajectory(path)


def read_trajectory(path: Path) -> Trajectory:
    """Read a csv file whose first line names the columns and whose first column is the time, never decreasing."""
    with path.open() as stream:
        names = tuple(word.strip() for word in stream.readline().split(","))
        table = np.loadtxt(stream, delimiter=",", ndmin=2)
    time = table[:, 0]
    if np.any(np.diff(time) < 0):
        msg = f"the times in {path.name} decrease"
        raise ValueError(msg)
    same = np.diff(time) == 0
    is_left = np.concatenate([same, [False]])
    is_right = np.concatenate([[False], same])
    return Trajectory(names[1:], time, table[:, 1:], is_left, is_right)
