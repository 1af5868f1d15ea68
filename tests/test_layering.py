"""The layers of the package, read from its source: who may import whom, and which words belong where."""

import ast
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]

ORDER = (
    "errors",
    "values",
    "kernels",
    "modeling",
    "structure",
    "flattening",
    "reduction",
    "compilation",
    "dynamics",
    "results",
    "simulation",
    "diagnosis",
    "api",
    "__init__",
)
"""A module imports from its own layer and from those before it."""

COMPONENT_IMPORTS = {"acausal.modeling", "acausal.components"}
COMPONENT_STDLIB = {"__future__", "collections.abc", "enum", "math", "typing"}
LIGHT = {"casadi", "numpy"}
"""Third-party packages that may be imported when the engine is imported; all others cost too much."""

DOMAIN_WORDS = re.compile(
    r"(?<![a-z])(voltages?|currents?|diodes?|volts?|impedances?|circuits?|junctions?|capacitors?|inductors?|resistors?"
    r"|transistors?|motors?)(?![a-z])",
    re.IGNORECASE,
)
NOT_OF_A_DOMAIN = re.compile(
    r"\bCircuit\b|from \.circuit import|\b[A-Z]\w*\(|Transactions on Circuits|nonlinear resistor networks"
)
"""The public class `Circuit`, classes of the library in examples of use, and titles of cited works."""

LONGEST_MODULE = 450
KERNELS = {
    "acausal/dynamics/closed_form.py",
    "acausal/kernels/crossing.py",
    "acausal/kernels/quiet_instants.py",
    "acausal/reduction/elimination.py",
    "acausal/results/segments.py",
    "acausal/simulation/instants/transition.py",
    "acausal/simulation/loop.py",
}
"""Modules that hold one algorithm on arrays in whole, and may be longer."""
LONGEST_KERNEL = 800
LONGEST_FUNCTION = 60


@dataclass(frozen=True)
class Import:
    """One imported module, written in full, and where it is imported."""

    module: str
    line: int
    deferred: bool
    """Inside a function or under ``TYPE_CHECKING``: not executed on import."""


def source_files(*folders: str) -> list[Path]:
    return [path for folder in folders for path in sorted((ROOT / folder).rglob("*.py"))]


def lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def module_name(path: Path) -> str:
    """Dotted name a file is imported by, ``__init__`` included."""
    parts = path.relative_to(ROOT).with_suffix("").parts
    return ".".join(("acausal", *parts) if parts[0] == "components" else parts)


def imports(tree: ast.Module, module: str) -> Iterator[Import]:
    """Every import statement of a source, with relative names resolved against ``module``."""
    package = module.split(".")[:-1]

    def visit(node: ast.AST, deferred: bool) -> Iterator[Import]:
        if isinstance(node, ast.Import):
            yield from (Import(alias.name, node.lineno, deferred) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            stem = ".".join([*base, *([node.module] if node.module else [])])
            # `from package import name`: the name may be a module, and is then what is imported.
            names = [f"{stem}.{alias.name}" for alias in node.names]
            yield from (Import(name, node.lineno, deferred) for name in names)
        inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        checking = isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
                yield from visit(child, deferred or inside or checking)

    yield from visit(tree, False)


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@cache
def file_imports(path: Path) -> list[Import]:
    return list(imports(tree_of(path), module_name(path)))


def imports_where(paths: list[Path], rule: Callable[[Import], bool]) -> list[str]:
    """Where the given files import what ``rule`` names, one line each."""
    found = [(path, entry) for path in paths for entry in file_imports(path) if rule(entry)]
    return [f"{path.relative_to(ROOT)}:{entry.line} imports {entry.module}" for path, entry in found]


def none(found: list[str]) -> bool:
    """True if nothing was found; else the failure lists all of it."""
    assert not found, "\n".join(["", *found])
    return True


def within(module: str, packages: set[str]) -> bool:
    return any(module == package or module.startswith(f"{package}.") for package in packages)


def layer(module: str) -> str:
    """Layer of an engine module; a public name taken from the root belongs to ``__init__``."""
    name = [*module.split("."), "__init__"][1]
    return name if name in ORDER or (ROOT / "acausal" / name).is_dir() or name == "components" else "__init__"


def upward(module: str, found: list[Import]) -> list[str]:
    """Imports of an engine module that the order of the layers forbids."""
    own = ORDER.index(layer(module))
    targets = [(entry, layer(entry.module)) for entry in found if within(entry.module, {"acausal"})]
    allowed = set(ORDER[: own + 1])
    return [f"{module}:{entry.line} imports {entry.module}" for entry, to in targets if to not in allowed]


BUILDING = {ROOT / "acausal/kernels" / name for name in ("backend.py", "build.py", "compiled_records.py")}
"""Modules that build the package and are no part of it."""
ENGINE = [path for path in source_files("acausal") if path not in BUILDING]
COMPONENTS = source_files("components")
EVERYTHING = source_files("acausal", "components", "examples", "benchmarks", "tests")


def test_the_sources_are_found() -> None:
    assert len(ENGINE) >= len(ORDER)
    assert COMPONENTS


def test_every_engine_module_has_a_place_in_the_order() -> None:
    names = {path.relative_to(ROOT / "acausal").parts[0].removesuffix(".py") for path in ENGINE}
    assert none(sorted(names - set(ORDER)))


def test_no_upward_import() -> None:
    assert none([text for path in ENGINE for text in upward(module_name(path), file_imports(path))])


def test_structure_does_not_import_casadi() -> None:
    structure = source_files("acausal/structure")
    assert none(imports_where(structure, lambda entry: within(entry.module, {"casadi"})))


def test_only_casadi_and_numpy_are_imported_with_the_engine() -> None:
    light = LIGHT | {"acausal"} | sys.stdlib_module_names
    assert none(imports_where(ENGINE, lambda entry: not entry.deferred and not within(entry.module, light)))


def test_components_use_the_modeling_language_only() -> None:
    allowed = COMPONENT_IMPORTS | COMPONENT_STDLIB
    assert none(imports_where(COMPONENTS, lambda entry: not within(entry.module, allowed)))


def test_oracles_are_independent_of_the_engine() -> None:
    oracles = source_files("tests/oracles")
    assert none(imports_where(oracles, lambda entry: within(entry.module, {"acausal"})))


def test_components_are_imported_under_their_installed_name() -> None:
    assert none(imports_where(EVERYTHING, lambda entry: within(entry.module, {"components"})))


def of_a_domain(line: str) -> bool:
    """True for a line of the engine that holds a word of one domain."""
    return bool(DOMAIN_WORDS.search(NOT_OF_A_DOMAIN.sub("", line)))


def test_the_engine_speaks_of_potentials_and_flows() -> None:
    lines = [(path, k, line) for path in ENGINE for k, line in enumerate(lines_of(path), 1)]
    hits = [(path, k, line) for path, k, line in lines if of_a_domain(line)]
    assert none([f"{path.relative_to(ROOT)}:{k} {line.strip()}" for path, k, line in hits])


def test_modules_are_short() -> None:
    sizes = {path.relative_to(ROOT).as_posix(): len(lines_of(path)) for path in EVERYTHING}
    long = {
        path: n for path, n in sizes.items() if n > (LONGEST_KERNEL if path in KERNELS else LONGEST_MODULE)
    }
    assert none([f"{path} has {n} lines" for path, n in long.items()])


def test_functions_are_short() -> None:
    long = []
    for path in source_files("acausal", "components", "examples", "benchmarks"):
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > LONGEST_FUNCTION:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {lines} lines")
    assert none(long)


@pytest.mark.parametrize(
    ("text", "module"),
    [
        ("from ..simulation import driver", "acausal.simulation.driver"),
        ("from .. import api", "acausal.api"),
        ("from .matching import maximum_matching", "acausal.structure.matching.maximum_matching"),
        ("import acausal.reduction.affine as affine", "acausal.reduction.affine"),
    ],
)
def test_relative_imports_are_resolved(text: str, module: str) -> None:
    assert [entry.module for entry in imports(ast.parse(text), "acausal.structure.blt")] == [module]


@pytest.mark.parametrize(
    "text",
    [
        "from ..reduction import affine",
        "from .. import api",
        "from acausal import Component",
        "import acausal",
        "from acausal.components.electrical import Resistor",
        "from .. import components",
        "if TYPE_CHECKING:\n    from ..results import Result",
        "def f():\n    from ..dynamics import scan",
    ],
)
def test_an_upward_import_is_recognised(text: str) -> None:
    assert len(upward("acausal.structure.blt", list(imports(ast.parse(text), "acausal.structure.blt")))) == 1


@pytest.mark.parametrize(
    "text", ["from .incidence import Incidence", "from .. import errors", "import numpy"]
)
def test_a_downward_import_is_accepted(text: str) -> None:
    assert upward("acausal.structure.blt", list(imports(ast.parse(text), "acausal.structure.blt"))) == []


@pytest.mark.parametrize(
    ("text", "deferred"),
    [("import scipy", False), ("def f():\n    import scipy", True), ("class A:\n    import scipy", False)],
)
def test_an_import_inside_a_function_is_deferred(text: str, deferred: bool) -> None:
    assert [entry.deferred for entry in imports(ast.parse(text), "acausal.dynamics.scan")] == [deferred]


@pytest.mark.parametrize(
    "text",
    [
        "The Voltage drops.",
        "diode_mode = 1",
        "# currents",
        "10 volts",
        "an impedance",
        "open circuits",
        "a Motor",
    ],
)
def test_a_domain_word_is_recognised(text: str) -> None:
    assert of_a_domain(text)


@pytest.mark.parametrize(
    "text", ["concurrently", "recurrent", "revolt", "flow and potential", "In a `Circuit`, ``Resistor(R=1)``"]
)
def test_a_word_that_only_contains_one_or_names_a_class_is_accepted(text: str) -> None:
    assert not of_a_domain(text)
