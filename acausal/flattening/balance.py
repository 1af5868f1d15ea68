"""Per-component balance: as many equations as unknowns, with every port connected."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import BalanceError, Location
from ..modeling.component import Component
from .template import Template
from .unbalanced import Unbalanced, Written, unbalanced_parts

MOST_NAMED = 8
"""Unknowns or equations in one sentence."""


def port_flows(kind: type) -> int:
    """Number of equations that a port gets from its connection set."""
    return sum(len(f.names()) for f in kind.fields().values() if f.flow)  # type: ignore[attr-defined]


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
    raise BalanceError(
        f"{label} has {needed} unknown{'s' * (needed != 1)} to determine but yields {own} equation{'s' * (own != 1)}",
        where=(Location(path, code.co_filename, code.co_firstlineno), *stated[:MOST_NAMED]),
        why=_reason(parts),
        hint=_hint(type(obj), own < needed, parts),
    )


def _reason(parts: Unbalanced) -> str:
    """Which equations state too much, and what lacks one."""
    reasons = []
    if parts.surplus:
        about = (
            f"determine {_names(parts.overdetermined)} more than once"
            if parts.overdetermined
            else "hold no unknown"
        )
        reasons.append(f"{_texts(parts.surplus)} {about}")
    if parts.lacking:
        lacking = f"no equation is left for {_names(parts.lacking)}"
        if parts.shared:
            lacking = f"{_names(parts.lacking)} have too few equations: {_texts(parts.shared)}"
        reasons.append(lacking)
    return "; ".join(reasons) + "; connected ports and inputs are determined from outside"


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    return ", ".join(f"`{n}`" for n in names[:MOST_NAMED]) + more


def _texts(equations: Sequence[Written]) -> str:
    more = f" and {len(equations) - MOST_NAMED} more" if len(equations) > MOST_NAMED else ""
    return "; ".join(f"{w.text} at {w.place}" for w in equations[:MOST_NAMED]) + more


def _hint(cls: type, too_few: bool, parts: Unbalanced) -> str:
    overridden = [k.__name__ for k in cls.__mro__[1:] if "equations" in vars(k) and k is not Component]
    if too_few and overridden and "equations" in vars(cls):
        return f"{overridden[0]} also defines equations(); did you forget `yield from super().equations()`?"
    further = f"state a further equation for {_names(parts.lacking)}, or remove a variable that nothing needs"
    surplus = "remove an equation of those named: one of them follows from the others, or contradicts them"
    return further if too_few and not parts.surplus else f"{surplus}; {further}" if parts.lacking else surplus
