"""Settings shared by all tests: one thread, no window, external cases where they are present."""

import os
import signal
import zlib
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

import pytest

# Before the first import of numpy or matplotlib; worker processes inherit them.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ["MPLBACKEND"] = "Agg"

ROOT = Path(__file__).resolve().parents[1]

LONGEST = 900.0
"""Seconds after which a test counts as hung: the longest of the sweeps takes a third of it where machines are slow."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--sweeps", action="store_true", help="run the rest of wide sweeps too")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what only makes a sweep wider, unless asked for; `benchmarks/sweeps.py` runs it."""
    if not config.getoption("--sweeps"):
        first: dict[str, str] = {}
        for item in items:
            first.setdefault(item.nodeid.split("[")[0], item.nodeid)
        wider = [item for item in items if _only_widens(item, first)]
        config.hook.pytest_deselected(items=wider)
        items[:] = [item for item in items if not _only_widens(item, first)]


def _only_widens(item: pytest.Item, first: dict[str, str]) -> bool:
    """Whether a test is left to the sweeps: of ``sweep(every=k)`` all but the first case and one in ``k``."""
    marks = list(item.iter_markers("sweep"))
    parts = [mark.kwargs["every"] for mark in marks if "every" in mark.kwargs]
    if len(parts) < len(marks) or not parts:
        return bool(marks)
    # By a checksum of the name: a stride would always meet the same value of some parameter.
    kept = zlib.crc32(item.nodeid.encode()) % parts[0] == 0
    return not kept and first[item.nodeid.split("[")[0]] != item.nodeid


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """End a test that hangs, with the place where it was, instead of waiting for it."""
    if not hasattr(signal, "SIGALRM"):
        return (yield)

    def end(number: int, frame: FrameType | None) -> None:
        pytest.fail(f"{item.nodeid} has not ended within {LONGEST:g} s")

    before = signal.signal(signal.SIGALRM, end)
    signal.setitimer(signal.ITIMER_REAL, LONGEST)
    try:
        return (yield)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)


@pytest.fixture(scope="session", autouse=True)
def look_inside_every_segment() -> Iterator[None]:
    """Runs confirm themselves at every visit of a mode, and not at ever fewer of them."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("acausal.simulation.self_check.EVERY_VISIT", True)
        yield


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
