"""Where the parts of a component lie in its template."""

from __future__ import annotations

from typing import Any

from ..errors import StatementError
from ..modeling.expressions import Symbol
from .template import Template


def offsets(template: Template, owner: Any) -> tuple[int, int, int]:
    """Return (voff, poff, doff) of a component object known to the trace, grandchildren included.

    Raises
    ------
    StatementError
        If the object is not a part of the traced component.
    """
    found = template.resolve.get(id(owner))
    if found is not None:
        return found
    steps: list[str] = []
    above = owner
    while above is not None and id(above) not in template.resolve:
        above, step = above.__dict__.get("_within", (None, ""))
        steps.insert(0, step)
    if above is not None and above is not template.keep[0]:
        return _register(template, above, template.layouts[id(above)], ".".join(steps), owner)
    raise StatementError(
        f"a {type(owner).__name__} that is no part of {template.cls.__name__} is used in its statements",
        hint="create parts in build() and use them through self",
    )


def _register(
    template: Template, child: Any, layout: Template, path: str, owner: Any
) -> tuple[int, int, int]:
    v, p, d = template.resolve[id(child)]
    for step in path.split("."):
        found = layout.child(step)
        if found is None:
            raise StatementError(
                f"`{path}` of {type(child).__name__} depends on its parameters and cannot be reached from outside"
            )
        group, row = found
        v, p, d = v + int(group.voff[row]), p + int(group.poff[row]), d + int(group.doff[row])
        layout = group.template
    template.resolve[id(owner)] = (v, p, d)
    template.layouts[id(owner)] = layout
    template.keep.append(owner)
    return v, p, d


def locate_symbol(template: Template, kind: str, symbol: Symbol) -> int:
    """Return the local index of a symbol ("v", "p" or "d") in a template."""
    base = offsets(template, symbol.owner)["vpd".index(kind)]
    index = template.layouts[id(symbol.owner)].index(kind, symbol.name)
    if index is None:
        raise StatementError(f"`{symbol.name}` of {type(symbol.owner).__name__} is not declared")
    return base + index
