"""A saved result answers as the first one did, and a file that is not what was written is refused by name."""

from __future__ import annotations

import io
import math
import os
import pickle
import subprocess
import sys
from concurrent.futures import ProcessPoolExecutor
from enum import Enum
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Input,
    Output,
    ParameterError,
    Result,
    UnconnectedInputError,
    UnknownPathError,
    Variable,
    assign,
    compile_model,
    der,
    simulate,
    sin,
    sqrt,
    when,
)
from examples.pendulum import Pendulum
from tests.results.models import Buck, sharing
from tests.systems.test_residual_defect import ball

INTEGRATED = 1e-9
"""Distance of what a file holds of steps from the steps, relative to the range of a variable."""


class Level(Enum):
    """Names of codes."""

    LOW = "low"
    HIGH = "high"


class Tank(Component):
    """Nonlinear, with an output equation, an integral, an enumeration and an open input."""

    u: Input = Input(float)
    h: Variable = Variable(start=1.0, fixed=True)
    flow: Variable = Variable()
    volume: Variable = Variable(start=0.0, fixed=True)
    level: Discrete = Discrete(Level)
    count: Discrete = Discrete(int)
    y: Output = Output(float)

    def equations(self):
        yield Eq(der(self.h), self.u - self.flow)
        yield Eq(self.flow, sqrt(self.h + 1.0) * self.h)
        yield Eq(der(self.volume), self.flow)
        yield Eq(self.y, sin(3.0 * self.h))
        yield when(self.h < 0.7, assign(self.level, Level.HIGH), assign(self.count, 3))


def loaded(result: Result) -> Result:
    file = io.BytesIO()
    result.save(file)
    file.seek(0)
    return Result.load(file)


def tank(**options: Any) -> Result:
    return simulate(Tank(), 2.0, inputs={"u": 0.3}, **options)


CASES: dict[str, Any] = {
    "switched": lambda: simulate(Buck(), 1e-4),
    "jumping charges": lambda: simulate(sharing(), 2e-3),
    "bouncing": lambda: simulate(ball(), 2.0),
    "mechanism": lambda: simulate(Pendulum(), 1.0, initial={"vx": 3.0}),
    "nonlinear": tank,
    "stiff": lambda: tank(method="implicit"),
    "affine, integrated": lambda: simulate(Buck(), 3e-5, method="explicit"),
}


@pytest.fixture(scope="module", params=CASES)
def pair(request: pytest.FixtureRequest) -> tuple[Result, Result]:
    result = CASES[request.param]()
    return result, loaded(result)


def same(a: Any, b: Any, size: float) -> None:
    np.testing.assert_allclose(b, a, rtol=0.0, atol=INTEGRATED * size)


@pytest.mark.sweep(every=4)
def test_signals(pair: tuple[Result, Result]) -> None:
    first, again = pair
    assert again.paths == first.paths
    t = np.random.default_rng(3).uniform(first.t_start, first.t_end, 20)
    for path in [*first.paths, *(f"der({p})" for p in first.states)]:
        a, b = first[path], again[path]
        size = 1.0 + float(np.abs(np.asarray(a.values, float)).max())
        assert (a.unit, a.doc, a.names, a.values.dtype) == (b.unit, b.doc, b.names, b.values.dtype)
        for side in ("left", "right"):
            same(a.at(t, side), b.at(t, side), size)
            same(a.at(first.events.times, side), b.at(first.events.times, side), size)
        same(a.mean(), b.mean(), size)
        same(a.rms(), b.rms(), size)
        same(a.max(), b.max(), size)
        same(a.final, b.final, size)
        np.testing.assert_array_equal(a.undetermined, b.undetermined)
    np.testing.assert_allclose(again.t, first.t, rtol=1e-12)


def test_harmonics(pair: tuple[Result, Result]) -> None:
    first, again = pair
    f = 4.0 / (first.t_end - first.t_start)
    for path in first.states:
        a, b = first[path].harmonics(f, 5), again[path].harmonics(f, 5)
        same(a, b, 1.0 + np.abs(a).max())


def test_energies(pair: tuple[Result, Result]) -> None:
    first, again = pair
    size = 1.0 + max((abs(p.energy) for p in first.audit()), default=0.0)
    for a, b in zip(first.audit(), again.audit(), strict=True):
        assert a.path == b.path
        same(a.energy, b.energy, size)
        same(a.impulsive, b.impulsive, size)
    assert again.audit().lost == first.audit().lost


def test_events_and_modes(pair: tuple[Result, Result]) -> None:
    first, again = pair
    assert list(again.events) == list(first.events)
    assert repr(again.events) == repr(first.events)
    assert list(again.modes) == list(first.modes)
    assert (again.status, again.stats, again.t_end) == (first.status, first.stats, first.t_end)
    assert sum(first.stats.events.values()) == len(first.events)
    assert (first.stats.steps > 0) == ("general" in first.stats.paths)
    assert str(again.initial) == str(first.initial)
    assert again.initial == first.initial
    assert again.parameters == first.parameters


def test_what_was_loaded_can_be_saved(pair: tuple[Result, Result]) -> None:
    again, third = pair[1], loaded(pair[1])
    for path in again.paths:
        np.testing.assert_array_equal(third[path].values, again[path].values)


# -- continuing ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [Buck, Pendulum])
def test_a_loaded_result_is_continued_to_the_same_bits(make: Any) -> None:
    model, end = make(), 1e-4 if make is Buck else 1.0
    first = simulate(model, end, initial={"vx": 3.0} if make is Pendulum else {})
    direct = simulate(model, 2.0 * end, start=first)
    again = compile_model(make()).simulate(2.0 * end, start=loaded(first))
    for path in direct.states:
        np.testing.assert_array_equal(again[path].values, direct[path].values)


def test_only_an_equal_model_continues() -> None:
    with pytest.raises(ParameterError, match="equal model"):
        simulate(Buck(), 1.0, start=loaded(tank()))


def test_a_function_is_no_part_of_a_file() -> None:
    model = Tank()
    first = loaded(simulate(model, 1.0, inputs={"u": lambda t: 0.1 * t}))
    with pytest.raises(UnconnectedInputError, match="holds no functions"):
        simulate(model, 2.0, start=first)
    assert simulate(model, 2.0, start=first, inputs={"u": 0.1}).t_end == 2.0


def _run(stop: float) -> Result:
    return simulate(Buck(), stop)


def test_results_cross_processes() -> None:
    with ProcessPoolExecutor(1) as pool:
        found = pool.submit(_run, 5e-5).result()
    here = simulate(model := Buck(), 5e-5)
    np.testing.assert_array_equal(found["load.v"].values, here["load.v"].values)
    a, b = simulate(model, 1e-4, start=found), simulate(model, 1e-4, start=here)
    np.testing.assert_array_equal(a["load.v"].values, b["load.v"].values)
    assert pickle.loads(pickle.dumps(here))["load.v"].rms() == here["load.v"].rms()


# -- files -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data() -> bytes:
    file = io.BytesIO()
    tank().save(file)
    return file.getvalue()


def refused(data: bytes) -> str:
    with pytest.raises(ParameterError, match="no saved result") as found:
        Result.load(io.BytesIO(data))
    return str(found.value)


def test_every_corruption_is_found(data: bytes) -> None:
    """Flipped bits, cut tails, swapped, repeated and zeroed blocks."""
    rng = np.random.default_rng(7)
    for k in range(240):
        bad = bytearray(data)
        a, b = sorted(rng.integers(0, len(data), 2).tolist())
        match k % 6:
            case 0:
                bad[a] ^= 1 << int(rng.integers(8))
            case 1:
                del bad[b:]
            case 2:
                bad[a : a + 16] = bytes(rng.bytes(16))
            case 3:
                del bad[a : a + 1 + int(rng.integers(64))]
            case 4:
                bad[b:b] = bad[a : a + 32] or b"x"
            case 5:
                bad[a : a + 512] = bytes(len(bad[a : a + 512]))
        if bytes(bad) != data:
            refused(bytes(bad))


def test_the_last_bytes_count(data: bytes) -> None:
    for k in range(1, 120):
        bad = bytearray(data)
        bad[-k] ^= 1
        refused(bytes(bad))
        refused(data[:-k])


def test_what_is_wrong_is_told(data: bytes) -> None:
    assert "it is empty" in refused(b"")
    assert "does not begin" in refused(b"time,value\n0,1\n")
    assert "cut off" in refused(data[: len(data) // 2])
    file = io.BytesIO()
    np.savez(file, t=np.zeros(3))
    assert "written or edited by something else" in refused(file.getvalue())
    bad = bytearray(data)
    bad[len(data) // 2] ^= 1
    assert "is damaged" in refused(bytes(bad))


def test_another_format_is_refused(data: bytes) -> None:
    from acausal.results import container

    about, arrays, written = container.unpack(data, (2, 3, 4, 5, 6, 7))
    assert written == 7
    assert "its format is 8, this version reads format 2 and 3 and 4 and 5 and 6 and 7" in refused(
        container.pack(about, arrays, 8)
    )
    about["classes"][0][1].append("other")
    assert "what this version writes" in refused(container.pack(about, arrays, 7))
    about["nodes"][0] = ["object", 10**6]
    assert "what this version writes" in refused(container.pack(about, arrays, 7))


@pytest.mark.parametrize(
    "file", ["format_2.npz", "format_3.npz", "format_4.npz", "format_5.npz", "format_6.npz"]
)
def test_a_file_of_an_older_format_is_read(file: str) -> None:
    """A ball that falls from 1 m and leaves the ground with half its speed, as versions before wrote it."""
    result = Result.load(Path(__file__).with_name(file))
    g, impact = 9.81, math.sqrt(2.0 / 9.81)
    after = 0.8 - impact
    assert result["x"].at(0.3) == pytest.approx(1.0 - 0.5 * g * 0.09, rel=1e-12)
    assert result["x"].final == pytest.approx(0.5 * g * impact * after - 0.5 * g * after**2, rel=1e-9)
    assert result["count"].final == 1
    assert result.events[1].t == pytest.approx(impact, rel=1e-12)
    assert result.events[1].jumps[0][0] == "v"
    assert result.stats.events == {"start": 1, "state": 1}
    if file == "format_2.npz":
        assert (result.stats.newton_iterations, sum(result.stats.seconds.values())) == (0, 0.0)
    assert result.check(20).ok


def test_an_older_file_survives(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "run.npz"
    first = tank()
    first.save(file)
    before = file.read_bytes()

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        simulate(Buck(), 1e-5).save(file)
    assert file.read_bytes() == before
    assert list(tmp_path.iterdir()) == [file]


def test_a_killed_writer_leaves_the_older_file(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    tank().save(file)
    before = file.read_bytes()
    code = (
        "import os, signal, sys\n"
        "from acausal import simulate\n"
        "from tests.results.models import Buck\n"
        "os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "simulate(Buck(), 1e-5).save(sys.argv[1])\n"
    )
    done = subprocess.run([sys.executable, "-c", code, str(file)], cwd=Path(__file__).parents[2], check=False)
    assert done.returncode == -9
    assert file.read_bytes() == before


def test_loading_imports_and_runs_nothing_of_the_model(tmp_path: Path) -> None:
    file = tmp_path / "run.npz"
    tank().save(file)
    code = (
        "import sys\n"
        "from acausal import Result\n"
        "r = Result.load(sys.argv[1])\n"
        "assert r['h'].min() < 0.7 and r['level'].names == {0: 'LOW', 1: 'HIGH'}\n"
        "assert not [m for m in sys.modules if m.startswith('tests')]\n"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], cwd=tmp_path, check=True)


def test_handles_are_refused() -> None:
    model = Buck()
    again = loaded(simulate(model, 1e-5))
    with pytest.raises(UnknownPathError, match="not handles"):
        again[model.load.v]
    with pytest.raises(UnknownPathError, match=r"load\.v"):
        again["load.w"]
