"""Per-component balance: as many equations as unknowns, with every port connected."""

from __future__ import annotations

import inspect

from ..errors import BalanceError, Location, counted
from ..modeling.component import Component
from .template import Template
from .unbalanced import MOST_UNMATCHED, Unbalanced, unbalanced_parts


def port_flows(kind: type) -> int:
    """Number of equations that a port gets from its connection set."""
    return sum(len(f.names()) for f in kind.fields().values() if f.flow)


def outside(template: Template) -> int:
    """Number of equations that a component gets from outside: one per flow and per continuous input."""
    inputs = sum(1 for n in template.inputs if n in template.variables)
    return inputs + sum(port_flows(kind) for kind, _ in template.ports.values())


def check_balance(template: Template, obj: Component, path: str) -> None:
    """Raise BalanceError unless the component, first met at ``path``, determines its unknowns."""
    own = len(template.row_origins) + len(template.residuals)
    own += sum(len(e.table.branches[0].residuals) for e in template.elements)
    children = sum(len(g.kids) * outside(g.template) for g in template.groups)
    needed = len(template.variables) + children - outside(template)
    if own == needed:
        return
    label = type(obj).__name__
    code = type(obj).equations.__code__
    parts = unbalanced_parts(template, path)
    stated = [w.place for w in (*parts.surplus, *parts.shared)]
    silent = type(obj).equations is Component.equations
    what = f"{label} has {counted(needed, 'unknown')} to determine but yields {counted(own, 'equation')}"
    first = _of_class(type(obj)) if silent else (code.co_filename, code.co_firstlineno)
    raise BalanceError(
        what + ": it has no method equations()" * silent,
        where=(Location(path, *first), *stated[:MOST_UNMATCHED]),
        why=f"{parts.reason}; connected ports and inputs are determined from outside",
        hint=_hint(type(obj), own < needed, parts),
    )


def _of_class(cls: type) -> tuple[str, int]:
    """File and line of a class; ("", 0) where its source is not at hand."""
    try:
        return inspect.getsourcefile(cls) or "", inspect.getsourcelines(cls)[1]
    except (OSError, TypeError):
        return "", 0


def _hint(cls: type, too_few: bool, parts: Unbalanced) -> str:
    overridden = [k.__name__ for k in cls.__mro__[1:] if "equations" in vars(k) and k is not Component]
    if too_few and overridden and "equations" in vars(cls):
        return f"{overridden[0]} also defines equations(); did you forget `yield from super().equations()`?"
    silent = cls.equations is Component.equations
    return (
        f"write `def equations(self):` with a `yield` before every statement: {parts.remedy}"
        if silent
        else parts.remedy
    )
