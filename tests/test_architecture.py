"""What keeps the engine in one direction: no import cycles, no hands in other modules' objects, no reading of errors' words."""

import ast
import re
from collections import Counter
from dataclasses import fields
from pathlib import Path

import pytest

from acausal import Circuit, Program, simulate
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, Resistor
from acausal.simulation import self_check
from acausal.simulation.continuation import begin
from acausal.simulation.loop import Loop
from acausal.simulation.run import Run
from acausal.simulation.state import State
from benchmarks.circuits import Buck as Converter
from benchmarks.structure import (
    ROOT,
    Tree,
    carrying,
    cycles,
    duplicate_classes,
    foreign_stores,
    implementations,
    import_cycles,
    indirect_takers,
    made_of,
    opened,
    readers_of_texts,
    stores_to_state,
    takers_of_run,
)
from tests.results.models import Buck

ENGINE = Tree(ROOT)

FOREIGN_STORES = {
    "acausal/api/outcome.py": 1,
    "acausal/api/sweep.py": 1,
    "acausal/kernels/backend.py": 2,
    "acausal/kernels/build.py": 3,
    "acausal/results/container.py": 2,
}
"""Stores of attributes to objects of classes of other modules: only to Python's own, an interrupt and an archive, and
to those of tools that build the package."""

TAKERS_OF_RUN = {
    "api": 7,
    "results": 1,
    "simulation": 24,
}
"""Functions per package that take the run or its state, which change while it goes on: upper bounds, which may only fall.
Those of the loop and of what it calls directly stay; what explains a failure reads a value, `Standing`."""

IMPLEMENTATIONS = {
    "index reduction": 1,
    "elimination": 2,
    "Newton's method on equations of a model": 3,
    "location of a zero": 2,
}
"""Of each step in the table of the documentation: upper bounds, which may only fall."""


def test_no_import_cycle() -> None:
    assert import_cycles(ENGINE) == []


def test_objects_of_other_modules_are_not_changed() -> None:
    counts = {ENGINE.place(m): len(foreign_stores(tree)) for m, tree in ENGINE.parsed.items()}
    assert {place: n for place, n in counts.items() if n > FOREIGN_STORES.get(place, 0)} == {}


def test_only_a_class_of_a_run_changes_its_state() -> None:
    names = {f.name for f in fields(State)}
    doubles = names & {*vars(Run), *vars(Loop), *(f.name for f in fields(Run))}
    assert doubles == set()
    writers = [ENGINE.place(m) for m, tree in ENGINE.parsed.items() if stores_to_state(tree)]
    classes = ("loop", "quiet_instants", "run")
    assert sorted(writers) == [f"acausal/simulation/{name}.py" for name in classes]


def test_no_more_functions_take_what_changes_during_a_run() -> None:
    counts: Counter[str] = Counter()
    for m, tree in ENGINE.parsed.items():
        counts[m.split(".")[1] if "." in m else m] += takers_of_run(tree)
    assert {package: n for package, n in counts.items() if n > TAKERS_OF_RUN.get(package, 0)} == {}


def test_nothing_but_the_loop_and_what_it_calls_takes_what_changes_during_a_run() -> None:
    assert indirect_takers(ENGINE) == []


def test_a_function_that_the_loop_does_not_call_itself_is_seen(tmp_path: Path) -> None:
    texts = {
        "loop": "from .checks import confirm\n\n\ndef advance(run):\n    confirm(run)\n",
        "checks": "def confirm(run):\n    _look(run)\n\n\ndef _look(run):\n    pass\n",
        "run": "",
        "closed_form": "",
        "nonlinear/numerical": "",
    }
    for name, text in texts.items():
        path = tmp_path / "acausal/simulation" / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    assert indirect_takers(Tree(tmp_path)) == ["acausal/simulation/checks.py: _look"]


def test_the_documentation_names_the_implementations_of_each_step() -> None:
    found = implementations((ROOT / "docs/developer/structure.md").read_text())
    assert {step: count for step, (count, _) in found.items() if count > IMPLEMENTATIONS[step]} == {}
    assert found.keys() == IMPLEMENTATIONS.keys()
    named = {m.replace(".", "/").removeprefix("acausal/") for m in ENGINE.paths}
    assert [module for _, modules in found.values() for module in modules if module not in named] == []


def test_the_files_to_touch_exist() -> None:
    text = (ROOT / "docs/developer/extending.md").read_text()
    named = [n for n in re.findall(r"`((?:acausal|tests|docs)/[^`]*)`", text) if "NAME" not in n]
    assert len(named) > 30
    assert [n for n in named if not (ROOT / n).exists()] == []


def test_no_decision_reads_the_words_of_an_error() -> None:
    found = {ENGINE.place(m): readers_of_texts(tree) for m, tree in ENGINE.parsed.items()}
    assert {place: lines for place, lines in found.items() if lines} == {}


def test_no_class_name_has_two_meanings() -> None:
    assert duplicate_classes(ENGINE) == {}


@pytest.mark.parametrize("path", ["capacitor.v", "der(inductor.i)", "load.p.i"])
def test_a_mean_is_read_within_five_files(path: str) -> None:
    result = simulate(Buck(), 1e-3)
    walk = opened(lambda: result[path].mean())
    assert len(walk.files) <= 5, list(walk.files)


def test_a_warm_event_opens_six_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The switch opens and the diode takes over, in modes that are known; the numbers of the run change nowhere else."""
    monkeypatch.setattr(self_check, "EVERY_VISIT", False)
    run = Program(Converter()).prepare(0.01)
    begin(run)
    run.advance(3.001e-3)
    walk = opened(lambda: run.advance(3.005e-3))
    assert run.record.steps[-1].t == 3.005e-3
    assert len(walk.files) <= 6, list(walk.files)


def test_a_resistance_is_followed_through_twelve_files() -> None:
    circuit = Circuit()
    source, resistor = circuit.add("source", ConstantVoltage(V=1.0)), circuit.add("r", Resistor(R=2.5887))
    load, ground = circuit.add("load", Capacitor(C=2.0**-10)), circuit.add("ground", Ground())
    circuit.connect(source.p, resistor.p)
    circuit.connect(resistor.n, load.p)
    circuit.connect(load.n, source.n, ground.p)
    walk = carrying(lambda: simulate(circuit, 1e-3), made_of(2.5887))
    assert "acausal/reduction/elimination.py" in walk.files
    assert len(walk.files) <= 12, list(walk.files)


def test_a_cycle_is_found_whatever_its_place() -> None:
    edges = {
        "a": {"b"},
        "b": {"c"},
        "c": {"b", "d"},
        "d": set(),
        "e": {"f"},
        "f": {"g"},
        "g": {"e"},
        "h": {"a", "e"},
    }
    assert cycles(edges) == [["e", "f", "g"], ["b", "c"]]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("class A:\n    def f(self):\n        self.x = 1\ndef g(a):\n    a.x = 2", []),
        ("def g(run):\n    run.x = 2", [2]),
        ("def g(run):\n    run.n += 1\n    run.a, run.b = 1, 2", [2, 3, 3]),
        ("class A:\n    x: int\ndef g(a):\n    a.x = 2", []),
        (
            "class A:\n    def f(self):\n        s = self.state\n        s.x = self.state.y = 1\n        self.b.x = 1",
            [5],
        ),
        ("def g(run):\n    run.state.x = 2", [2]),
    ],
)
def test_a_store_to_a_foreign_object_is_recognised(text: str, lines: list[int]) -> None:
    assert foreign_stores(ast.parse(text)) == lines


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("def f(run): pass\ndef g(x, *, run: Run): pass", 2),
        ("def f(self, state: State, n): pass", 1),
        ("def f(self, state, problem: Problem): pass", 0),
    ],
)
def test_what_takes_a_run_is_recognised(text: str, count: int) -> None:
    assert takers_of_run(ast.parse(text)) == count


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("try:\n    f()\nexcept E as e:\n    if 'x' in str(e):\n        pass", [4]),
        ("try:\n    f()\nexcept E as e:\n    if e.args[0]:\n        pass", [4]),
        ("def g(error):\n    return f'{error.what}'", [2]),
        ("def g(node):\n    return node.args", []),
        ("try:\n    f()\nexcept E as e:\n    raise G(e.reason)", []),
    ],
)
def test_a_reader_of_the_words_of_an_error_is_recognised(text: str, lines: list[int]) -> None:
    assert readers_of_texts(ast.parse(text)) == lines
