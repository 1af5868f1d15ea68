"""Reference pages of the public names: what ``acausal/__init__.py`` exports and what its calls return."""

from __future__ import annotations

import ast
import importlib
import inspect
from collections.abc import Iterator
from enum import Enum
from functools import cached_property
from typing import Any

import acausal
from acausal.api.stepping import Simulation
from acausal.modeling.statements import Named
from acausal.results.check import Consistency, Defect
from acausal.results.energy import Audit, Part
from acausal.results.events import Event
from acausal.results.modes import ModeVisit
from acausal.results.statistics import Statistics

from .docstrings import enumeration, markdown, signature, summary, title

RETURNED = (Simulation, Event, ModeVisit, Statistics, Audit, Part, Consistency, Defect)
"""Classes of objects that runs give, which nobody creates by hand."""
PAGES = {
    "language": ("The language", "What components are written with: `import acausal as ac`, then `ac.Eq`."),
    "running": ("Running and results", "From a model to its results: `result = ac.simulate(model, 1.0)`."),
    "errors": ("Errors", "One tree of errors. Each says what, where, why, and what to do."),
}
FIRST = ("component", "circuit", "ports", "fields", "statements", "elements", "functions", "expressions")
"""Modules of the language in the order in which they are learnt."""
SHOWN = {
    acausal.Component: ("build", "equations"),
    acausal.Circuit: ("add", "connect", "state"),
    acausal.Port: ("power",),
    acausal.Expr: ("equals",),
    acausal.Symbol: ("equals",),
    acausal.Program: ("simulate", "start"),
}
"""Members that users call, of classes whose other members serve the engine."""
HIDDEN = {"located", "points", "segments"}
BEHIND = (acausal.Statement, acausal.modeling.fields.Field)
"""Of these only the call and the docstring matter; elements show ``mode``."""


def public() -> dict[str, Any]:
    """Return the public objects by name, in the order of the package, then what runs return."""
    found = {
        alias.name: getattr(acausal, alias.name)
        for block in ast.parse(inspect.getsource(acausal)).body
        for node in (block.body if isinstance(block, ast.If) else [block])
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    return {**found, **{cls.__name__: cls for cls in RETURNED}}


def home(name: str, obj: Any) -> str:
    """Return the module in which a public object is defined."""
    return "acausal.modeling.expressions" if name == "time" else obj.__module__


def page_of(module: str) -> str:
    """Return the page on which a module is described."""
    layer = module.split(".")[1]
    return {"modeling": "language", "errors": "errors"}.get(layer, "running")


def by_module(page: str) -> list[tuple[str, list[str]]]:
    """Return (module, its public names) of a page."""
    found: dict[str, list[str]] = {}
    for name, obj in public().items():
        if page_of(home(name, obj)) == page:
            found.setdefault(home(name, obj), []).append(name)
    known = [f"acausal.modeling.{m}" for m in FIRST]
    return sorted(found.items(), key=lambda item: known.index(item[0]) if item[0] in known else len(known))


def page(name: str) -> str:
    """Return one page of the reference of the language, of runs or of errors."""
    heading, text = PAGES[name]
    lines = [f"# {heading}", "", text]
    if name == "errors":
        base = acausal.AcausalError
        lines += ["", "## AcausalError", "", markdown(base), "", *error_rows(base, 0)]
        warning = acausal.StiffnessWarning
        return "\n".join([*lines, "", f"## {warning.__name__}", "", markdown(warning)]).rstrip() + "\n"
    groups = by_module(name)
    lines.append("")
    for module, names in groups:
        lines.append(
            f"- {title(importlib.import_module(module))}: " + ", ".join(f"[{n}](#{n.lower()})" for n in names)
        )
    for module, names in groups:
        lines += ["", f"## {title(importlib.import_module(module))}"]
        for n in names:
            lines += ["", *entry(n, public()[n])]
    return "\n".join(lines) + "\n"


def error_rows(cls: type, depth: int) -> Iterator[str]:
    """Yield the tree of errors below a class as a nested list."""
    for child in cls.__subclasses__():
        if child.__name__ in vars(acausal):
            others = [b.__name__ for b in child.__bases__ if b is not cls and b.__module__ == "builtins"]
            also = f" Also a `{others[0]}`." if others else ""
            yield f"{'  ' * depth}- `{child.__name__}`: {summary(child)}{also}"
            yield from error_rows(child, depth + 1)


def entry(name: str, obj: Any) -> Iterator[str]:
    """Yield the lines of one public name."""
    yield from (f"### {name}", "")
    if inspect.isclass(obj) and issubclass(obj, Enum):
        yield from (markdown(obj), "", *enumeration(obj))
        return
    if not callable(obj):
        yield from (constant_doc(home(name, obj), name), "")
        return
    if not (
        inspect.isclass(obj) and (obj in RETURNED or obj in (acausal.Result, acausal.Signal, acausal.Symbol))
    ):
        yield from ("```text", signature(name, obj), "```", "")
    yield markdown(obj)
    if inspect.isclass(obj):
        yield from members(obj)


def constant_doc(module: str, name: str) -> str:
    """Return the string below the assignment of a name."""
    body = ast.parse(inspect.getsource(importlib.import_module(module))).body
    for node, after in zip(body[:-1], body[1:], strict=True):
        if (
            isinstance(node, ast.Assign)
            and ast.unparse(node.targets[0]) == name
            and isinstance(after, ast.Expr)
        ):
            return str(ast.literal_eval(after.value))
    raise ValueError(f"{name} of {module} has no documentation")


def members(cls: type) -> Iterator[str]:
    """Yield the properties and methods of a class that users call."""
    for name in shown(cls):
        member = inspect.getattr_static(cls, name)
        function = member.__func__ if isinstance(member, staticmethod) else member
        if isinstance(function, property) or not callable(function):
            yield from ("", f"`{cls.__name__}.{name}`: {summary(getattr(cls, name))}")
        else:
            yield from ("", f"#### {cls.__name__}.{name}", "", "```text", signature(name, function), "```")
            yield from ("", markdown(getattr(cls, name)))


def shown(cls: type) -> list[str]:
    """Return the names of the members to show, those of the class itself before those of its bases."""
    if cls in SHOWN:
        return list(SHOWN[cls])
    if issubclass(cls, BEHIND):
        return ["mode"] if issubclass(cls, Named) else []
    names = dict.fromkeys(
        n for base in cls.__mro__ if base.__module__.startswith("acausal") for n in vars(base)
    )
    documented = [n for n in names if not n.startswith("_") and inspect.getdoc(getattr(cls, n, None))]
    described = (callable, lambda m: isinstance(m, (property, cached_property)))
    return [
        n
        for n in documented
        if n not in HIDDEN and any(test(inspect.getattr_static(cls, n)) for test in described)
    ]
