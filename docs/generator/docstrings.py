"""Numpydoc docstrings and Python signatures as Markdown."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterator
from enum import Enum
from types import ModuleType
from typing import Any

TITLE = re.compile(r"[.:](?=\s|$)")
SECTION = re.compile(r"^-{3,}\s*$")
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*)(?: : (.+))?$")


def text_of(obj: Any) -> str:
    """Return the own docstring of an object, or that of the method it overrides, without indentation."""
    return inspect.cleandoc(inspect.getdoc(obj) or "")


def summary(obj: Any) -> str:
    """Return the first paragraph of a docstring in one line."""
    return inline(" ".join(text_of(obj).split("\n\n")[0].split()))


def title(module: ModuleType) -> str:
    """Return the title of a module: its docstring up to the first colon or full stop."""
    return TITLE.split(markdown(module), maxsplit=1)[0]


def below_title(module: ModuleType) -> str:
    """Return what the docstring of a module says after its title."""
    rest = TITLE.split(markdown(module), maxsplit=1)[1].strip()
    return rest[:1].upper() + rest[1:]


def inline(text: str) -> str:
    """Turn double backquotes, the literals of reStructuredText, into single ones."""
    return text.replace("``", "`")


def cell(text: str) -> str:
    """Return text that may stand in a cell of a table."""
    return " ".join(text.split()).replace("|", "\\|")


def markdown(obj: Any) -> str:
    """Return a docstring as Markdown; its sections become bold headings."""
    parts = []
    for title, lines in sections(text_of(obj).splitlines()):
        body = "\n".join(paragraphs(lines)) if title in ("", "Notes") else "\n".join(entries(lines))
        parts.append(f"**{title}**\n\n{body}" if title else body)
    return inline("\n\n".join(p.strip("\n") for p in parts if p.strip()))


def sections(lines: list[str]) -> Iterator[tuple[str, list[str]]]:
    """Yield (title, lines) of the sections of a docstring; the first has no title."""
    title, start = "", 0
    for k, line in enumerate(lines):
        if SECTION.match(line) and k and lines[k - 1].strip():
            yield title, lines[start : k - 1]
            title, start = lines[k - 1].strip(), k + 1
    yield title, lines[start:]


def paragraphs(lines: list[str]) -> Iterator[str]:
    """Yield prose as it stands and lists of names with indented descriptions as Markdown lists."""
    at = 0
    while at < len(lines):
        indented = at + 1 < len(lines) and lines[at + 1].startswith("    ")
        if ENTRY.match(lines[at]) and " : " in lines[at] and indented:
            end = next((k for k in range(at, len(lines)) if not lines[k].strip()), len(lines))
            yield from entries(lines[at:end])
            at = end
        else:
            yield lines[at]
            at += 1


def entries(lines: list[str]) -> Iterator[str]:
    """Yield the items of a list of names, types and descriptions; text without names stays as it is."""
    item = ""
    for line in lines:
        if line.startswith("    "):
            joint = "" if not item else ": " if item.endswith(("`", ")")) and ": " not in item else " "
            item += joint + line.strip()
            continue
        if item:
            yield item
        found = ENTRY.match(line)
        item = "" if found is None else _item(found[1], found[2])
        if found is None:
            yield line
    if item:
        yield item


def _item(names: str, kind: str | None) -> str:
    marked = ", ".join(f"`{name}`" for name in names.split(", "))
    return f"- {marked} ({kind})" if kind else f"- {marked}"


def signature(name: str, obj: Any) -> str:
    """Return the call of a function or class with annotations as they are written."""
    called = inspect.signature(obj)
    given = list(called.parameters.values())
    if given and given[0].name == "self":
        given = given[1:]
    text, starred = [], False
    for p in given:
        if p.kind is p.VAR_POSITIONAL:
            starred = True
        elif p.kind is p.KEYWORD_ONLY and not starred:
            text.append("*")
            starred = True
        text.append(_parameter(p))
    back = called.return_annotation
    gives = "" if back is called.empty or inspect.isclass(obj) else f" -> {_annotation(back)}"
    line = f"{name}({', '.join(text)}){gives}"
    if len(line) <= 100:
        return line
    return "\n".join([f"{name}(", *(f"    {part}," for part in text), f"){gives}"])


def _parameter(p: inspect.Parameter) -> str:
    star = {p.VAR_POSITIONAL: "*", p.VAR_KEYWORD: "**"}.get(p.kind, "")
    kind = "" if p.annotation is p.empty or p.annotation == "Any" else f": {_annotation(p.annotation)}"
    if p.default is p.empty:
        return f"{star}{p.name}{kind}"
    return f"{p.name}{kind}{' = ' if kind else '='}{value(p.default)}"


def _annotation(annotation: Any) -> str:
    return annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)


def value(v: Any) -> str:
    """Return a value as it is written in Python."""
    if isinstance(v, Enum):
        return f"{type(v).__name__}.{v.name}"
    if isinstance(v, float) and float(f"{v:g}") == v:
        return f"{v:g}"
    if isinstance(v, str):
        return f'"{v}"'
    return v.__name__ if inspect.isclass(v) else repr(v)


def enumeration(cls: type[Enum]) -> Iterator[str]:
    """Yield the members of an enumeration, each with the string below it in the source."""
    body = ast.parse(textwrap.dedent(inspect.getsource(cls))).body[0].body  # type: ignore[attr-defined]
    below = {
        node.targets[0].id: ast.literal_eval(after.value)
        for node, after in zip(body[:-1], body[1:], strict=True)
        if isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and isinstance(after, ast.Expr)
    }
    for member in cls:
        text = below.get(member.name, "")
        yield f"- `{cls.__name__}.{member.name}`" + (f": {inline(text)}" if text else "")
