"""Where compiled kernels are: their name tells the source and the machine that they are made of."""

from __future__ import annotations

import hashlib
import platform
import sys
from pathlib import Path

SOURCES = (
    "constraints", "crossing", "dialect", "discrete_part", "elimination", "entries", "events", "functions",
    "instants", "linear_systems", "location", "motion", "newton", "programs", "quiet_instants", "rounding", "segments", "signs",
    "situations", "stages", "step_doubts", "step_forms",
    "step_points", "step_records", "steps",
)  # fmt: skip
"""Modules that compiled kernels are made of."""
KINDS = (".so", ".o")
"""Shared libraries load at once; objects need llvmlite."""
DIGEST = ".sha256"
"""Kind of the file with the checksum of what was compiled: a loader does not survive a file that was cut."""


def compiled() -> Path:
    """Path, but for its kind, of the kernels compiled from this source for this machine."""
    here = Path(__file__).parent
    texts = [(here / f"{name}.py").read_bytes() for name in SOURCES]
    kind = f"{sys.platform}-{platform.machine()}".encode()
    digest = hashlib.sha256(b"\0".join([kind, *texts])).hexdigest()[:16]
    return here / f"compiled-{digest}"


def checksum(file: Path) -> str:
    """That of the bytes of a file."""
    return hashlib.sha256(file.read_bytes()).hexdigest()
