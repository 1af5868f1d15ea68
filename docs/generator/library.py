"""Reference pages of the component library, one per package, from fields and docstrings."""

from __future__ import annotations

import importlib
import inspect
import math
import pkgutil
from collections.abc import Iterator
from enum import Enum
from functools import cache
from types import ModuleType
from typing import Any

import acausal.components
from acausal.modeling import (
    Component,
    Discrete,
    Expr,
    Input,
    Output,
    Parameter,
    Port,
    Statement,
    Structural,
    Variable,
)
from acausal.modeling.fields import MISSING, Field, active
from acausal.modeling.statements import Named

from .docstrings import below_title, cell, enumeration, inline, markdown, signature, summary, title, value

HEADER = ("| name | kind | unit | default | bounds | meaning |", "|---|---|---|---|---|---|")
KINDS = {
    Parameter: "parameter",
    Structural: "structural",
    Input: "input",
    Output: "output",
    Variable: "variable",
    Discrete: "discrete",
}
INTERFACES = "interfaces"
"""Module of ports and partial classes; stands last on its page."""


def packages() -> list[ModuleType]:
    """Return the packages of the library in alphabetical order."""
    root = acausal.components
    found = pkgutil.iter_modules(root.__path__, f"{root.__name__}.")
    return [importlib.import_module(info.name) for info in found if info.ispkg]


def title_of(package: ModuleType) -> str:
    """Return the title of the page of a package."""
    return package.__name__.rpartition(".")[2].replace("_", " ").capitalize()


def exports(package: ModuleType) -> list[Any]:
    """Return the components, ports, enumerations and functions that a package exports."""
    found = vars(package).values()
    return [x for x in found if inspect.isfunction(x) or inspect.isclass(x)]


@cache
def exported() -> frozenset[type]:
    """Return the classes of all packages."""
    return frozenset(c for package in packages() for c in exports(package) if inspect.isclass(c))


def by_module(package: ModuleType) -> list[tuple[ModuleType, list[Any]]]:
    """Return (module, its exports in the order of their definition), alphabetically, interfaces last."""
    found: dict[str, list[Any]] = {}
    for obj in exports(package):
        found.setdefault(obj.__module__, []).append(obj)
    modules = [importlib.import_module(name) for name in found]
    modules.sort(key=lambda m: (m.__name__.endswith(INTERFACES), m.__name__))
    return [(m, [c for name in vars(m) for c in found[m.__name__] if c.__name__ == name]) for m in modules]


def page(package: ModuleType) -> str:
    """Return the page of a package."""
    lines = [f"# {title_of(package)}", "", markdown(package), ""]
    root, _, name = package.__name__.rpartition(".")
    lines += [f"`from {root} import {name}`. How to read the tables: [reference](index.md).", ""]
    groups = by_module(package)
    for module, members in groups:
        links = ", ".join(f"[{c.__name__}](#{c.__name__.lower()})" for c in members)
        lines.append(f"- {title(module)}: {links}")
    for module, members in groups:
        lines += ["", f"## {title(module)}", *(["", rest] if (rest := below_title(module)) else [])]
        for cls in members:
            lines += ["", *entry(cls)]
    return "\n".join(lines) + "\n"


def entry(cls: Any) -> Iterator[str]:
    """Yield the lines of one class or function."""
    yield f"### {cls.__name__}"
    yield ""
    if not inspect.isclass(cls):
        yield from ("```text", signature(cls.__name__, cls), "```", "", markdown(cls))
        return
    yield markdown(cls)
    yield from ("", *enumeration(cls)) if issubclass(cls, Enum) else class_lines(cls)


def class_lines(cls: type) -> Iterator[str]:
    """Yield the base and the table of a component or port."""
    base = next((b for b in cls.__mro__[1:] if b in exported()), None)
    if base is not None:
        yield ""
        yield f"Extends `{base.__name__}`."
    rows = list(
        port_rows(cls) if issubclass(cls, Port) else component_rows(cls) if issubclass(cls, Component) else ()
    )
    if rows:
        yield ""
        yield from HEADER
        for row in rows:
            yield "| " + " | ".join(row) + " |"
    if issubclass(cls, Port):
        yield from ("", f"Power into the component: `{power_of(cls)}`.")


def port_rows(cls: type[Port]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a port: potentials and flows."""
    for name, field in cls.fields().items():
        yield field_row(name, field, "flow" if field.flow else "potential")


def power_of(cls: type[Port]) -> str:
    """Return the expression of the power of a port in its own variables."""
    owner = type("Owner", (Component,), {"port": cls()})()
    power: Expr | None = owner.port.power()
    return "none" if power is None else str(power).replace("port.", "").replace("*", " * ")


def component_rows(cls: type[Component]) -> Iterator[tuple[str, ...]]:
    """Yield the rows of a component: what is given, where it connects, what it computes, modes and parts."""
    for given in (Parameter, Structural, Input, Output):
        yield from (field_row(n, f, KINDS[given]) for n, f in cls._fields.items() if type(f) is given)
    for name, port in cls._ports.items():
        yield f"`{name}`", "port", "", "", "", f"`{type(port).__name__}`"
    for computed in (Variable, Discrete):
        yield from (field_row(n, f, KINDS[computed]) for n, f in cls._fields.items() if type(f) is computed)
    modes, parts = traced(cls)
    for name, branches in modes.items():
        yield f"`{name}`", "mode", "", "", "", f"Branch in force: {branches}"
    for name, part in parts.items():
        yield f"`{name}`", "part", "", "", "", f"`{part}`"


def field_row(name: str, field: Field, kind: str) -> tuple[str, ...]:
    """Return the row of a field."""
    extents = "".join(f"[{n}]" for n in field.shape)
    logical = getattr(field, "type", float) is not float
    what = f"{kind}, {field.type.__name__}" if logical else kind  # type: ignore[attr-defined]
    return (
        f"`{name}{extents}`",
        what,
        field.unit,
        default_of(field),
        bounds_of(field),
        cell(inline(field.doc)),
    )


def default_of(field: Field) -> str:
    """Return the default of a parameter; of a variable its start value, if that is fixed or not zero."""
    if isinstance(field, (Parameter, Structural)):
        return "required" if field.default is MISSING else f"`{value(field.default)}`"
    if isinstance(field, (Variable, Discrete)):
        fixed = getattr(field, "fixed", False)
        if fixed or field.start:
            return f"start `{value(field.start)}`{', fixed' if fixed else ''}"
    return ""


def bounds_of(field: Field) -> str:
    """Return the bounds of a field, "" for none."""
    low, high = getattr(field, "min", -math.inf), getattr(field, "max", math.inf)
    if low > -math.inf and high < math.inf:
        return f"{value(float(low))} to {value(float(high))}"
    if low > -math.inf:
        return f"&ge; {value(float(low))}"
    return f"&le; {value(float(high))}" if high < math.inf else ""


def traced(cls: type[Component]) -> tuple[dict[str, str], dict[str, str]]:
    """Return the modes (name: branches) and the parts (name: class) of a component.

    They are known from its statements only. A class with a structural parameter that has no
    default cannot state them without a value, and shows none.
    """
    if any(isinstance(f, Structural) and f.default is MISSING for f in cls._fields.values()):
        return {}, {}
    obj = cls.__new__(cls)
    obj.ensure_built()
    modes = {s.name: _branches(s) for s in _statements(obj) if isinstance(s, Named)}
    parts = {n: _part(obj.__dict__[n]) for n in obj.__dict__["_parts"]}
    return modes, {n: part for n, part in parts.items() if part}


def _statements(obj: Component) -> list[Statement]:
    """Return the statements of an object; of a partial class those before the first that it leaves open."""
    found: list[Statement] = []
    active.stack.append(obj)
    try:
        found.extend(obj.equations())
    except NotImplementedError:
        pass
    finally:
        active.stack.pop()
    return found


def _part(found: Any) -> str:
    if isinstance(found, (list, tuple)):
        inner = _part(found[0]) if found else ""
        return f"{inner}[{len(found)}]" if inner else ""
    return type(found).__name__ if isinstance(found, Component) else ""


def _branches(statement: Named) -> str:
    kind = statement.mode_field().type
    names = [m.name.lower() for m in kind] if issubclass(kind, Enum) else ["true", "false"]
    return ", ".join(f"`{name}`" for name in names)


def index_rows() -> Iterator[str]:
    """Yield a line for each page of the library."""
    for package in packages():
        name = package.__name__.rpartition(".")[2]
        yield f"- [{title_of(package)}]({name}.md): {summary(package)}"
