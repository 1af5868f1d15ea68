"""Records that are streamed to a file: the same results in bounded memory, and what happens where the file cannot be written."""

from __future__ import annotations

import pickle
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acausal import ParameterError, Program, SimulationError, UnknownPathError
from acausal.kernels import loading
from acausal.results import streaming
from acausal.results.streaming import Stream
from tests.results.models import Buck

pytestmark = pytest.mark.skipif(
    loading.compiled_function("follow_events") is None, reason="kernels are interpreted"
)
TIMES = np.linspace(0.0, 0.02, 501)


@pytest.fixture(autouse=True)
def kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels follow events, and chunks are small."""
    from acausal.simulation import self_check

    monkeypatch.setattr(self_check, "EVERY_VISIT", False)
    monkeypatch.setattr(streaming, "CHUNK", 2**18)


@pytest.fixture(scope="module")
def program() -> Program:
    return Program(Buck())


@pytest.mark.parametrize("place", ["own", "named"])
def test_a_streamed_run_has_the_same_result(program: Program, place: str, tmp_path: Path) -> None:
    stream: Any = True if place == "own" else tmp_path / "record"
    expected, found = program.simulate(0.02), program.simulate(0.02, stream=stream)
    for name in ("load.v", "inductor.i"):
        assert np.array_equal(found[name].at(TIMES), expected[name].at(TIMES))
    assert found["load.v"].mean(0.01, 0.02) == expected["load.v"].mean(0.01, 0.02)
    assert str(found.events) == str(expected.events)
    assert found.stats.events == expected.stats.events
    assert found.check() and found.events[-1].t == expected.events[-1].t
    if place == "named":
        assert (tmp_path / "record").stat().st_size > 2**19


def test_results_of_a_stream_are_saved_and_cross_processes(program: Program, tmp_path: Path) -> None:
    found = program.simulate(0.02, stream=True)
    found.save(tmp_path / "run.npz")
    for other in (type(found).load(tmp_path / "run.npz"), pickle.loads(pickle.dumps(found))):
        assert np.array_equal(other["load.v"].at(TIMES), found["load.v"].at(TIMES))


def test_memory_does_not_grow_with_events(program: Program) -> None:
    program.simulate(0.02)
    held, ends = [], set()
    for stream in (None, True):
        tracemalloc.start()
        result = program.simulate(0.4, stream=stream)
        held.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        ends.add(float(result["load.v"].final))
    assert len(ends) == 1
    assert held[1] < 0.3 * held[0]


def test_a_file_that_exists_or_cannot_be_made_is_refused(program: Program, tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"what another result reads")
    for place in (tmp_path / "there", tmp_path / "nowhere" / "record"):
        with pytest.raises(ParameterError, match="cannot be streamed") as caught:
            program.simulate(1e-3, stream=place)
        assert str(place) in str(caught.value) and "does not exist" in str(caught.value)
    assert (tmp_path / "there").read_bytes() == b"what another result reads"


def test_what_is_no_path_is_refused(program: Program) -> None:
    with pytest.raises(ParameterError, match="1 is no path"):
        program.simulate(1e-3, stream=1)


def test_a_run_that_does_not_begin_leaves_no_file(program: Program, tmp_path: Path) -> None:
    place = tmp_path / "record"
    with pytest.raises(UnknownPathError):
        program.simulate(0.02, stream=place, parameters={"nothing.R": 1.0})
    assert not place.exists()
    program.simulate(0.02, stream=place)
    assert place.exists()


def test_nothing_is_lost_where_the_disk_is_full(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    expected, chunks = program.simulate(0.02), [0]
    write, make = Stream._mapped, Stream._open

    class Full:
        """A file on a disk that is full behind its first chunk."""

        def __init__(self, file: Any) -> None:
            self.file = file

        def __getattr__(self, name: str) -> Any:
            return getattr(self.file, name)

        def write(self, data: Any) -> int:
            if chunks[0] >= 1:
                raise OSError(28, "No space left on device")
            return self.file.write(data)

    def counted(self: Stream, *arguments: Any) -> Any:
        found = write(self, *arguments)
        chunks[0] += 1
        return found

    monkeypatch.setattr(Stream, "_open", lambda self: Full(make(self)))
    monkeypatch.setattr(Stream, "_mapped", counted)
    with pytest.raises(SimulationError, match="cannot be written") as caught:
        program.simulate(0.02, stream=True)
    assert "No space left" in str(caught.value)
    result = caught.value.result  # type: ignore[attr-defined]
    assert result.t_end > 2e-3
    times = np.linspace(0.0, result.t_end, 200)
    assert np.array_equal(result["load.v"].at(times), expected["load.v"].at(times))
    assert len(result.events) == sum(e.t <= result.t_end for e in expected.events)
