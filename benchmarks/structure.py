"""Figures of the source: size, import cycles, silencers, and files that three walks through the engine open.

``python benchmarks/structure.py`` prints the table of this tree, with a path a comparison of another tree with it, and with
``--walks`` the files of the walks. Nothing is imported from a tree to be counted.
"""

from __future__ import annotations

import argparse
import ast
import math
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import FrameType
from typing import Any, cast

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
SMALL = 1e-3
"""Constants up to this size are counted: most of them are tolerances."""
RESISTANCE = 2.5887
"""A resistance beside which all numbers of a model are powers of two."""
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class Tree:
    """The modules of a package in the source, parsed."""

    def __init__(self, root: Path, package: str = "acausal") -> None:
        self.root = root
        self.paths = {self._name(p): p for p in sorted((root / package).rglob("*.py"))}
        self.texts = {name: path.read_text(encoding="utf-8") for name, path in self.paths.items()}

    @cached_property
    def parsed(self) -> dict[str, ast.Module]:
        """Syntax trees of the modules."""
        return {name: ast.parse(text) for name, text in self.texts.items()}

    def _name(self, path: Path) -> str:
        return ".".join(path.relative_to(self.root).with_suffix("").parts).removesuffix(".__init__")

    def place(self, module: str) -> str:
        """Path of a module below the root."""
        return self.paths[module].relative_to(self.root).as_posix()

    def imports(self, module: str) -> set[str]:
        """Modules that one imports anywhere, in functions and for type checking too; packages do not count."""
        steps = module.split(".")
        package = steps if self.paths[module].name == "__init__.py" else steps[:-1]
        found: set[str] = set()
        for node in ast.walk(self.parsed[module]):
            if isinstance(node, ast.ImportFrom):
                base = package[: len(package) - node.level + 1] if node.level else []
                stem = ".".join([*base, *([node.module] if node.module else [])])
                names = [f"{stem}.{alias.name}" for alias in node.names]
                found.update(name if name in self.paths else stem for name in names)
            elif isinstance(node, ast.Import):
                found.update(alias.name for alias in node.names)
        return {m for m in found - {module} if m in self.paths and self.paths[m].name != "__init__.py"}


def cycles(edges: dict[str, set[str]]) -> list[list[str]]:
    """Strongly connected components of more than one module, the largest first (Kosaraju's algorithm)."""
    backwards: dict[str, set[str]] = {m: set() for m in edges}
    for m, targets in edges.items():
        for t in targets:
            backwards[t].add(m)
    order = [m for root in _unseen(edges) for m in root]
    found, seen = [], set[str]()
    for m in reversed(order):
        if m not in seen:
            part = _finished(backwards, m, seen)
            if len(part) > 1:
                found.append(sorted(part))
    return sorted(found, key=lambda c: (-len(c), c))


def _unseen(edges: dict[str, set[str]]) -> Iterator[list[str]]:
    seen: set[str] = set()
    for m in sorted(edges):
        if m not in seen:
            yield _finished(edges, m, seen)


def _finished(edges: dict[str, set[str]], root: str, seen: set[str]) -> list[str]:
    """Nodes reachable from a root in the order in which a depth-first search leaves them."""
    order, stack = [], [(root, iter(sorted(edges[root])))]
    seen.add(root)
    while stack:
        node, rest = stack[-1]
        following = next((t for t in rest if t not in seen), None)
        if following is None:
            order.append(node)
            stack.pop()
        else:
            seen.add(following)
            stack.append((following, iter(sorted(edges[following]))))
    return order


def import_cycles(tree: Tree) -> list[list[str]]:
    """Import cycles of a tree, the largest first."""
    return cycles({m: tree.imports(m) for m in tree.paths})


def foreign_stores(tree: ast.Module) -> list[int]:
    """Lines that store an attribute of an object whose class does not declare it in this module; those of the language aside.

    A class of a run may change the record ``self.state``: nothing else does.
    """
    own = {
        item.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        for item in node.body
        if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name)
    }
    stored = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    by_self = [n for n in stored if isinstance(n.value, ast.Name) and n.value.id in ("self", "cls")]
    own |= {n.attr for n in by_self}
    own |= {text for node in ast.walk(tree) for text in _slots(node)}
    found = [n for n in stored if n.attr not in own and not n.attr.startswith("__")]
    state = _names_of_state(tree)
    return sorted(n.lineno for n in found if ast.unparse(n.value) not in state)


def _names_of_state(tree: ast.Module) -> set[str]:
    """What the record ``self.state`` is called in a module."""
    given = [n for n in ast.walk(tree) if isinstance(n, ast.Assign) and ast.unparse(n.value) == "self.state"]
    return {"self.state", *[ast.unparse(t) for n in given for t in n.targets if isinstance(t, ast.Name)]}


def stores_to_state(tree: ast.Module) -> list[int]:
    """Lines that store an attribute of a record ``state``, whoever holds it."""
    stored = [n for n in ast.walk(tree) if isinstance(n, ast.Attribute) and isinstance(n.ctx, ast.Store)]
    names = _names_of_state(tree)
    held = [
        n
        for n in stored
        if isinstance(n.value, ast.Attribute) and n.value.attr == "state" or ast.unparse(n.value) in names
    ]
    return sorted(n.lineno for n in held)


def _slots(node: ast.AST) -> list[str]:
    if not isinstance(node, ast.Assign) or not any(
        isinstance(t, ast.Name) and t.id == "__slots__" for t in node.targets
    ):
        return []
    return [n.value for n in ast.walk(node.value) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


def readers_of_texts(tree: ast.Module) -> list[int]:
    """Lines that decide by the text of an error: a comparison, search or branch on what an exception says."""
    caught = {h.name for h in ast.walk(tree) if isinstance(h, ast.ExceptHandler) and h.name} | {"error"}

    def named(node: ast.expr) -> bool:
        return isinstance(node, ast.Name) and node.id in caught

    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("str", "repr"):
            found += [node.lineno for a in node.args if named(a)]
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and named(node.value):
            found += [node.lineno] * (node.attr in ("what", "why", "args"))
    return sorted(found)


def duplicate_classes(tree: Tree) -> dict[str, int]:
    """Names of classes with more than one meaning, and how many."""
    names = Counter(
        n.name for parsed in tree.parsed.values() for n in ast.walk(parsed) if isinstance(n, ast.ClassDef)
    )
    return {name: count for name, count in sorted(names.items()) if count > 1}


def takers_of_run(tree: ast.Module) -> int:
    """Functions that take the run, or the state of one, which change while it goes on."""
    functions = [n for n in ast.walk(tree) if isinstance(n, FUNCTIONS)]
    return sum(any(_changes(a) for a in _arguments(n)) for n in functions)


LOOP = tuple(f"acausal.simulation.{name}" for name in ("loop", "run", "closed_form", "nonlinear.numerical"))
"""The loop: what moves a run, what it consists of, and its segments in closed form and in steps."""


def indirect_takers(tree: Tree) -> list[str]:
    """Functions below the loop that take what changes during a run though the loop does not call them itself."""
    below, todo = set[str](LOOP), list[str](LOOP)
    while todo:
        new = tree.imports(todo.pop()) - below
        below |= new
        todo.extend(sorted(new))
    calls = [n for m in LOOP for n in ast.walk(tree.parsed[m]) if isinstance(n, ast.Call)]
    called = {ast.unparse(n.args[0] if ast.unparse(n.func) == "partial" else n.func) for n in calls}
    return sorted(
        f"{tree.place(m)}: {n.name}"
        for m in below - set(LOOP)
        for n in ast.walk(tree.parsed[m])
        if isinstance(n, FUNCTIONS) and any(_changes(a) for a in _arguments(n)) and n.name not in called
    )


def _changes(argument: ast.arg) -> bool:
    of = ast.unparse(argument.annotation).strip("'\"") if argument.annotation else ""
    return argument.arg == "run" or of in ("Run", "Loop", "State")


def implementations(text: str) -> dict[str, tuple[int, list[str]]]:
    """Table of the implementations per step in the documentation: how many now, and the modules named for each step."""
    rows = text.partition("## Implementations per step")[2].partition("\n## ")[0].splitlines()
    cells = [[c.strip() for c in row.strip("|").split("|")] for row in rows if row.startswith("| ")]
    return {c[0]: (int(c[2]), re.findall(r"`(\w+(?:/\w+)+)", c[3])) for c in cells if c[2].isdigit()}


def _constants(tree: ast.Module) -> int:
    """Positive numbers up to `SMALL` in the source."""
    numbers = (n.value for n in ast.walk(tree) if isinstance(n, ast.Constant))
    return sum(isinstance(x, float) and 0.0 < x <= SMALL for x in numbers)


def _code(text: str, tree: ast.Module) -> int:
    """Lines of a module without docstrings, comments and blank lines."""
    words = (n for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant))
    docs = {line for s in words for line in range(s.lineno, (s.end_lineno or s.lineno) + 1)}
    lines = enumerate(text.splitlines(), 1)
    return sum(bool(x.strip()) and not x.lstrip().startswith("#") and k not in docs for k, x in lines)


def _names(parsed: Iterable[ast.Module], name: str) -> int:
    return sum(isinstance(n, ast.Name) and n.id == name for tree in parsed for n in ast.walk(tree))


def figures(tree: Tree) -> dict[str, str]:
    """What is counted in a tree, by name."""
    parsed, texts = list(tree.parsed.values()), list(tree.texts.values())
    running = [text for m, text in tree.texts.items() if m.startswith("acausal.simulation")]
    found = import_cycles(tree)
    functions = [n for t in parsed for n in ast.walk(t) if isinstance(n, FUNCTIONS)]
    lengths = sorted(((n.end_lineno or n.lineno) - n.lineno + 1 for n in functions), reverse=True)
    reading = sum(len(readers_of_texts(t)) for t in parsed)
    table = {
        "lines": sum(text.count("\n") for text in texts),
        "of these code, without docstrings, comments and blank lines": sum(map(_code, texts, parsed)),
        "files": len(texts),
        "lines of `simulation/`": sum(text.count("\n") for text in running),
        "modules in the largest import cycle": len(found[0]) if found else 0,
        "import cycles": len(found),
        "functions that take the run or its state": sum(takers_of_run(t) for t in parsed),
        "of these below the loop, and not called by it directly": len(indirect_takers(tree)),
        "stores to objects of other modules": sum(len(foreign_stores(t)) for t in parsed),
        "places that read an error's text": reading,
        "class names with several meanings": len(duplicate_classes(tree)),
        "`type: ignore`": sum(text.count("type: ignore") for text in texts),
        "`cast(`": _names(parsed, "cast"),
        "`Any`": _names(parsed, "Any"),
        "functions with more than eight arguments": sum(_crowded(f) for f in functions),
        "constants at most 1e-3": sum(_constants(t) for t in parsed),
        "lines of the five longest functions": ", ".join(map(str, lengths[:5])),
    }
    return {name: str(value) for name, value in table.items()}


def _crowded(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return sum(a.arg not in ("self", "cls") for a in _arguments(function)) > 8


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


@dataclass
class Walk:
    """What a call opens: files of the engine and of the library in order, functions in them, and calls of these."""

    files: dict[str, None] = field(default_factory=dict)
    functions: set[object] = field(default_factory=set)
    calls: int = 0


def _followed(name: Path) -> bool:
    """Say whether a file is one of the engine or the library; ``values`` makes records, as what `dataclasses` compiles does."""
    if not name.is_relative_to(ROOT):
        return False
    place = name.relative_to(ROOT)
    return place.parts[0] in ("acausal", "components") and place != Path("acausal/values.py")


def opened(walk: Callable[[], object]) -> Walk:
    """Follow one call through the engine and the library."""
    found = Walk()

    def trace(frame: FrameType, event: str, _: object) -> None:
        name = Path(frame.f_code.co_filename)
        if event == "call" and _followed(name):
            found.files.setdefault(name.relative_to(ROOT).as_posix())
            found.functions.add(frame.f_code)
            found.calls += 1

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        walk()
    finally:
        sys.settrace(before)
    return found


def made_of(value: float) -> Callable[[object], bool]:
    """Recognise numbers made of one alone, as its negative, its inverse and multiples of powers of two, by their mantissa."""
    mantissas = (_mantissa(value), _mantissa(1.0 / value))

    def holds(x: object) -> bool:
        if isinstance(x, float):
            return _mantissa(x) in mantissas
        if isinstance(x, np.ndarray):
            return x.dtype.kind == "f" and bool(np.isin(np.frexp(np.abs(x))[0].round(14), mantissas).any())
        return type(x).__module__.startswith("scipy.sparse") and holds(getattr(x, "data", None))

    return holds


def mentions(name: str) -> Callable[[object], bool]:
    """Recognise expressions with a symbol of some name."""
    from acausal.modeling.expressions import Expr, Symbol, walk

    return lambda x: isinstance(x, Expr) and any(isinstance(n, Symbol) and n.name == name for n in walk(x))


def carrying(walk: Callable[[], object], wanted: Callable[[object], bool]) -> Walk:
    """Follow something through one call until a mode is analysed, in functions that make something of it.

    A function that only passes an argument on, or looks at one, does not count.
    """
    found, done = Walk(), False

    def holds(x: object, depth: int = 2) -> bool:
        if type(x) in (list, tuple, dict):
            parts = cast(dict[object, object], x).values() if type(x) is dict else cast(Iterable[object], x)
            return depth > 0 and any(holds(part, depth - 1) for part in parts)
        return wanted(x)

    def trace(frame: FrameType, event: str, result: object) -> Any:
        nonlocal done
        name = Path(frame.f_code.co_filename)
        if event == "call":
            inside = _followed(name)
            return trace if inside and not done else None
        if event == "return" and not done:
            code = frame.f_code
            given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
            made = [result, *(x for n, x in frame.f_locals.items() if n not in given)]
            sys.settrace(None)
            if any(map(holds, made)):
                found.files.setdefault(name.relative_to(ROOT).as_posix())
                found.functions.add(code)
                found.calls += 1
            sys.settrace(trace)
            done = code.co_name == "_analysed"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        walk()
    finally:
        sys.settrace(before)
    return found


def _mantissa(x: float) -> float:
    return round(math.frexp(abs(x))[0], 14)


def walks() -> dict[str, Walk]:
    """Files that three walks through the engine open.

    The first follows the value of a resistance from its declaration to the tables of a mode, and what runs from there to
    the end of a run, the second is one event of a converter whose modes are known, the third reads a mean from a finished run.
    """
    from circuits import Buck

    from acausal import Component, Program, connect
    from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, Resistor
    from acausal.simulation.continuation import begin

    class Charging(Component):
        """A capacitor that is charged through a resistor."""

        def build(self) -> None:
            self.source, self.ground = ConstantVoltage(V=1.0), Ground()
            self.resistor, self.load = Resistor(R=RESISTANCE), Capacitor(C=2.0**-10)

        def equations(self) -> Iterator[Any]:
            yield connect(self.source.p, self.resistor.p)
            yield connect(self.resistor.n, self.load.p)
            yield connect(self.load.n, self.source.n, self.ground.p)

    program = Program(Buck())
    warm = program.prepare(0.01)
    begin(warm)
    warm.advance(3.001e-3)
    result = program.simulate(1e-3)
    return {
        "the value of a resistance, to the tables of a mode": carrying(
            lambda: Program(Charging()).simulate(1e-3), made_of(RESISTANCE)
        ),
        "its symbol, in equations": carrying(lambda: Program(Charging()).simulate(1e-3), mentions("R")),
        "everything that a run with it opens": opened(lambda: Program(Charging()).simulate(1e-3)),
        "one warm event of a converter": opened(lambda: warm.advance(3.005e-3)),
        '`result["capacitor.v"].mean()`': opened(lambda: result["capacitor.v"].mean()),
    }


def comparison(before: dict[str, str] | None, now: dict[str, str]) -> Iterator[str]:
    """Lines of a table in Markdown."""
    yield "| figure |" + (" before | now |" if before else " now |")
    yield "|---|" + ("---|---|" if before else "---|")
    for name, value in now.items():
        yield f"| {name} |" + (f" {before[name]} |" if before else "") + f" {value} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", nargs="?", type=Path, help="root of another tree")
    parser.add_argument("--walks", action="store_true", help="the files that the walks open")
    given = parser.parse_args()
    before = figures(Tree(given.before)) if given.before else None
    print("\n".join(comparison(before, figures(Tree(ROOT)))))
    for title, walk in (walks() if given.walks else {}).items():
        print(f"\n{title}: {len(walk.files)} files, {len(walk.functions)} functions, {walk.calls} calls\n")
        print(", ".join(f"`{name.removeprefix('acausal/').removesuffix('.py')}`" for name in walk.files))


if __name__ == "__main__":
    main()
