"""Settings shared by all tests: one thread, no window, external cases where they are present."""

import os
from pathlib import Path

import pytest

# Before the first import of numpy or matplotlib; worker processes inherit them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["MPLBACKEND"] = "Agg"

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def root() -> Path:
    """Root of the repository."""
    return ROOT


def _external(variable: str, default: Path) -> Path:
    folder = Path(os.environ.get(variable, default))
    if not folder.is_dir():
        pytest.skip(f"no external data: {variable} names no folder")
    return folder


@pytest.fixture(scope="session")
def reference() -> Path:
    """Folder of published and external cases, one sub-folder each; skips where it is absent."""
    return _external("ACAUSAL_REFERENCE", ROOT.parent / "shared" / "reference")


@pytest.fixture(scope="session")
def peers() -> Path:
    """Folder of the peers' scripts for the benchmark cases; skips where it is absent."""
    return _external("ACAUSAL_PEERS", ROOT.parent / "shared" / "bench" / "peers")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    skipped = len(terminalreporter.stats.get("skipped", []))
    terminalreporter.write_line(f"skipped cases: {skipped}")
