"""Compiled kernels against the same source interpreted, bit for bit, and what happens where there are none."""

from __future__ import annotations

import ast
import math
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acausal import Component, connect, simulate
from acausal.components import electrical
from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.scan import Floor, first_crossing
from acausal.kernels import build, identity, loading
from acausal.kernels.backend import _compiler
from acausal.kernels.entries import ENTRIES
from acausal.kernels.location import SMALLEST, spacing
from acausal.reduction.elimination import Elimination
from tests.results.models import Buck

HERE = Path(identity.__file__).parent
IN_DIALECT = (
    "constraints", "crossing", "discrete_part", "elimination", "events", "functions", "instants", "linear_systems",
    "location", "motion", "newton", "programs", "quiet_instants", "segments", "signs", "situations", "stages",
    "step_doubts", "step_forms", "step_points", "step_records", "steps",
)  # fmt: skip


@pytest.fixture
def interpreted(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a function with kernels that are interpreted."""

    def run(function: Any) -> Any:
        from acausal.dynamics import scan

        with monkeypatch.context() as m:
            m.setattr(loading, "_loaded", dict.fromkeys(ENTRIES))
            m.setattr(scan, "_idle", {})
            return function()

    return run


def test_what_one_process_compiles_are_kernels() -> None:
    assert set(build.STEP_KERNELS) < set(ENTRIES)


@pytest.mark.skipif(not _compiler(), reason="no compiler for this machine")
def test_the_kernels_are_compiled_where_that_is_possible() -> None:
    assert all(loading.compiled_function(name) is not None for name in ENTRIES)


class HalfWave(Component):
    """A sine of 1 kHz behind a diode at a capacitor and a resistor."""

    def build(self) -> None:
        self.s, self.d, self.g = (
            electrical.SineVoltage(V=10.0, f=1e3),
            electrical.IdealDiode(),
            electrical.Ground(),
        )
        self.l, self.c = electrical.Inductor(L=1e-4), electrical.Capacitor(C=1e-5)
        self.r = electrical.Resistor(R=50.0)

    def equations(self) -> Any:
        yield connect(self.s.p, self.l.p)
        yield connect(self.l.n, self.d.p)
        yield connect(self.d.n, self.c.p, self.r.p)
        yield connect(self.s.n, self.c.n, self.r.n, self.g.p)


def random_search(seed: int) -> Any:
    """Guards over decaying, turning, growing and polynomial functions, some of which come near zero."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 7))
    Ay = rng.normal(size=(n + 3, n + 3)) * 10.0 ** rng.uniform(-1.0, 3.0)
    Ay[n:] = 0.0
    if rng.random() < 0.5:
        Ay[n, n + 1] = 1.0
    else:
        Ay[n, n + 1], Ay[n + 1, n] = 1.0, -(10.0 ** rng.uniform(0.0, 4.0))
    flow = affine_flow(Ay, n, 1.0)
    trajectory = flow.start(rng.normal(size=n + 3), 1e-9 * rng.normal(size=n + 3) if seed % 3 == 0 else None)
    G = rng.normal(size=(int(rng.integers(1, 6)), n + 3))
    G[:, -1] += rng.choice([0.0, 1.0, 5.0])
    armed, length = rng.random(len(G)) < 0.7, 10.0 ** rng.uniform(-5.0, 0.5)
    floor = Floor(np.full(len(G), 10.0 ** rng.uniform(-15.0, -8.0)), 1e-15)
    return lambda: first_crossing(trajectory, G, armed, lambda: floor, length, float(seed % 2))


@pytest.mark.parametrize("seed", range(40))
def test_a_search_has_the_same_bits(seed: int, interpreted: Any) -> None:
    search = random_search(seed)
    assert search() == interpreted(search)


@pytest.mark.parametrize("model", [Buck, HalfWave])
def test_runs_have_the_same_bits(model: Any, interpreted: Any) -> None:
    def run() -> Any:
        result = simulate(model(), 2e-3)
        return [e.t for e in result.events], result.final

    assert run() == interpreted(run)


def test_units_in_the_last_place_are_those_of_the_library() -> None:
    rng = np.random.default_rng(1)
    numbers = [0.0, 1.0, 0.5, SMALLEST, 2.0**-1022, 2.0**900, *10.0 ** rng.uniform(-320.0, 280.0, 5000)]
    numbers += [math.nextafter(2.0**k, side) for k in range(-1000, 900, 37) for side in (0.0, math.inf)]
    assert [x for x in numbers if spacing(float(x)) != math.ulp(float(x))] == []


# -- where there is nothing to load ---------------------------------------------------------------------------------------


def test_what_is_missing_or_broken_is_told_and_runs_interpreted(tmp_path: Path) -> None:
    with pytest.warns(UserWarning, match="not compiled when the package was installed"):
        assert set(loading.load(tmp_path / "compiled-0").values()) == {None}
    for kind, content in ((".so", b"no library"), (".so", b""), (".o", b"no object")):
        file = tmp_path / f"compiled-1{kind}"
        file.write_bytes(content)
        with pytest.warns(UserWarning, match=f"{file.name} is not what was compiled"):
            assert set(loading.load(tmp_path / "compiled-1").values()) == {None}
        file.unlink()
    complete = sorted(HERE.glob("compiled-*.so"))
    for file in complete:
        cut = tmp_path / file.name
        cut.write_bytes(file.read_bytes()[:-100])
        shutil.copy(file.with_suffix(identity.DIGEST), tmp_path)
        with pytest.warns(UserWarning, match=f"{file.name} is not what was compiled"):
            assert set(loading.load(cut.with_suffix("")).values()) == {None}


def test_a_library_without_the_kernels_is_foreign(tmp_path: Path) -> None:
    import ctypes.util

    name = ctypes.util.find_library("m")
    if name is None or not Path(f"/lib/x86_64-linux-gnu/{name}").exists():
        pytest.skip("no other library at hand")
    file = tmp_path / "compiled-2.so"
    shutil.copy(f"/lib/x86_64-linux-gnu/{name}", file)
    file.with_suffix(identity.DIGEST).write_text(identity.checksum(file), encoding="ascii")
    with pytest.warns(UserWarning, match="cannot be loaded"):
        assert set(loading.load(tmp_path / "compiled-2").values()) == {None}


def test_another_source_has_another_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in identity.SOURCES:
        shutil.copy(HERE / f"{name}.py", tmp_path)
    monkeypatch.setattr(identity, "__file__", str(tmp_path / "identity.py"))
    same = identity.compiled().name
    assert same == loading.compiled().name == HERE.joinpath(same).name
    (tmp_path / "crossing.py").write_text("# other\n")
    assert identity.compiled().name != same


def test_an_object_is_loaded_where_there_is_no_linker(tmp_path: Path) -> None:
    """The library itself is no object; what is loaded as one has to be made by the compiler."""
    llvm = pytest.importorskip("llvmlite.binding")
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    text = "\n".join(f"define i64 @acausal_{name}(i64* %0) {{ ret i64 7 }}" for name in ENTRIES)
    target = llvm.Target.from_default_triple()
    module = llvm.parse_assembly(text.replace("i64*", "ptr"))
    file = tmp_path / "compiled-3.o"
    file.write_bytes(target.create_target_machine(reloc="pic").emit_object(module))
    file.with_suffix(identity.DIGEST).write_text(identity.checksum(file), encoding="ascii")
    found = loading.load(tmp_path / "compiled-3")
    assert [function(0) for function in found.values()] == [7] * len(ENTRIES)


def test_records_are_checked_before_their_addresses_are_taken() -> None:
    from acausal.dynamics.scan import CrossingSearch

    guards = CrossingSearch(2, 4, 3, 0, 0).guards
    for wrong in (np.zeros((2, 3), np.float32), np.zeros(6), np.zeros((3, 2)).T[:, ::1]):
        with pytest.raises(TypeError, match=r"Guards\.values"):
            loading.Packed(guards._replace(values=wrong))


# -- eliminations ------------------------------------------------------------------------------------------------------------


def eliminated(seed: int) -> Any:
    """Sparse rows of many magnitudes, some of which depend on others, solved in two rounds."""
    rng = np.random.default_rng(seed)
    m, n = int(rng.integers(2, 12)), int(rng.integers(8, 20))
    rows = np.where(rng.random((m, n)) < 0.4, rng.choice([-1.0, 1.0, 0.3, 7.7], (m, n)), 0.0)
    rows *= np.exp2(rng.integers(-40, 40, (m, 1))) * 10.0 ** rng.uniform(-12.0, 3.0, n)
    rows[-1] = rows[0] / 3.0 - rows[m // 2] * 0.7
    system = Elimination(rows, 10.0 ** rng.uniform(-3.0, 3.0, n))
    solved = [
        system.reduce(np.arange(n // 2), waits=bool(seed % 2)),
        system.reduce(np.arange(n - 3), ordered=True),
    ]
    return np.concatenate([*solved, system.pivot]).tolist(), *(
        part.tobytes() for part in (system.value, system.variance, system.least)
    )


@pytest.mark.parametrize("first", range(0, 60, 20))
def test_rows_are_eliminated_with_the_same_bits(first: int, interpreted: Any) -> None:
    seeds = range(first, first + 20)
    assert [eliminated(seed) for seed in seeds] == interpreted(lambda: [eliminated(seed) for seed in seeds])


# -- the dialect ------------------------------------------------------------------------------------------------------------

FORBIDDEN = (
    ast.Try, ast.Raise, ast.With, ast.Lambda, ast.ListComp, ast.DictComp, ast.SetComp, ast.GeneratorExp, ast.Dict, ast.Set,
    ast.Yield, ast.YieldFrom, ast.Global, ast.Nonlocal, ast.Delete, ast.Assert, ast.JoinedStr, ast.Starred,
)  # fmt: skip
CALLS = {"abs", "float", "int", "max", "min", "range"}
MATHEMATICS = {
    "exp", "cos", "sin", "tan", "acos", "asin", "atan", "atan2", "cosh", "sinh", "tanh", "ceil", "copysign", "inf", "log", "pow",
    "sqrt",
}  # fmt: skip


@pytest.mark.parametrize("name", IN_DIALECT)
def test_kernels_keep_to_their_dialect(name: str) -> None:
    tree = ast.parse((HERE / f"{name}.py").read_text(encoding="utf-8"))
    kernels = [f for f in tree.body if isinstance(f, ast.FunctionDef)]
    own = {alias.name for n in tree.body if isinstance(n, ast.ImportFrom) for alias in n.names}
    own |= {f.name for f in kernels}
    assert all([ast.unparse(d) for d in f.decorator_list] == ["kernel"] for f in kernels)
    for f in kernels:
        for node in ast.walk(f):
            assert not isinstance(node, FORBIDDEN), ast.unparse(node)
            if isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                assert called in CALLS | own or called.removeprefix("math.") in MATHEMATICS, called
            if isinstance(node, ast.BinOp):
                assert not isinstance(node.op, ast.Pow | ast.MatMult), ast.unparse(node)


def test_what_is_compiled_is_what_is_loaded() -> None:
    assert sorted(p.stem for p in HERE.glob("*.py")) == sorted(
        {*identity.SOURCES, "__init__", "backend", "build", "compiled_records", "identity", "loading"}
    )


@pytest.mark.slow
def test_nothing_is_compiled_twice() -> None:
    script = HERE / "build.py"
    run = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "None"
