"""Per-component balance: as many equations as unknowns, with every port connected."""

from __future__ import annotations

from ..errors import BalanceError, Location
from ..modeling.component import Component
from .template import Template


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
    raise BalanceError(
        f"{label} has {needed} unknown{'s' * (needed != 1)} to determine but yields {own} equation{'s' * (own != 1)}",
        where=(Location(path, code.co_filename, code.co_firstlineno),),
        why=_reason(template, own),
        hint=_hint(type(obj), own < needed, template),
    )


def _reason(template: Template, own: int) -> str:
    """What is unknown and which lines state something."""
    names = ", ".join(f"`{n}`" for n in list(template.variables)[:12]) or "none"
    more = ", ..." if len(template.variables) > 12 else ""
    origins = [*template.row_origins, *(s.origin for s in (*template.residuals, *template.elements))]
    lines = dict.fromkeys(str(template.line(o, "")) for o in origins)
    stated = f"; the equations stand in {', '.join(list(lines)[:10])}" if own else ""
    return f"its unknowns are {names}{more}; connected ports and inputs are determined from outside{stated}"


def _hint(cls: type, too_few: bool, template: Template) -> str:
    overridden = [k.__name__ for k in cls.__mro__[1:] if "equations" in vars(k) and k is not Component]
    if too_few and overridden and "equations" in vars(cls):
        return f"{overridden[0]} also defines equations(); did you forget `yield from super().equations()`?"
    if too_few:
        return "state a further equation, or remove a variable that nothing needs"
    return "remove an equation: one of them follows from the others, or contradicts them"
