"""Conditions that end a run, written with handles of the compiled model."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from ..errors import ParameterError, StatementError
from ..flattening.template import Template, WhenChain
from ..modeling.component import resolve
from ..modeling.dimensions import dimension
from ..modeling.expressions import Expr, Symbol, fold, walk
from ..modeling.statements import Terminate
from ..results.names import Names


class Until:
    """A condition on paths.

    Parameters
    ----------
    condition : Expr
        Made from handles such as ``model.load.v > 5``.
    names : Names
        Of the program the handles belong to.

    Raises
    ------
    ParameterError
        If it is no condition.
    UnitError
        If it compares different units.
    UnknownPathError
        For a handle of another model.
    """

    def __init__(self, condition: Any, names: Names) -> None:
        if not (isinstance(condition, Expr) and condition.is_condition):
            raise ParameterError(
                f"until takes a condition on variables of the model, got {condition!r}",
                hint="compare handles: until=model.load.v > 5",
            )
        dimension(condition)
        self.owners: dict[str, str] = {}
        """Full path -> path of the component."""

        def named(node: Expr) -> Expr:
            if not isinstance(node, Symbol):
                return node
            owner = names.component(node.owner)
            path = f"{owner}.{node.name}" if owner else node.name
            self.owners[path] = owner
            return Symbol(None, path, node.field)

        self.condition = _rewritten(condition, named)

    def __str__(self) -> str:
        return str(self.condition)

    @property
    def key(self) -> Hashable:
        """Equal for conditions that say the same; the text is not, for it is cut and has no data of tables."""
        number: dict[int, int] = {}
        rows = []
        for node in walk(self.condition):
            name = node.name if isinstance(node, Symbol) else ""
            rows.append((node.op, name, node.data, tuple(number[id(a)] for a in node.args)))
            number[id(node)] = len(number)
        return tuple(rows)

    def add_to(self, root: Template) -> WhenChain:
        """State ``when(condition, terminate(...))`` in a freshly traced model, and return it."""
        traced: Any = root.keep[0]

        def local(node: Expr) -> Expr:
            if not isinstance(node, Symbol):
                return node
            owner = self.owners[node.name]
            part = resolve(traced, owner) if owner else traced
            return Symbol(part, node.name[len(owner) + 1 :] if owner else node.name, node.field)

        try:
            condition = _rewritten(self.condition, local)
        except AttributeError as error:
            raise StatementError(f"until={self} cannot be stated in the model: {error}") from error
        origin = (type(traced).equations.__code__, 0)
        stop = WhenChain((((condition,), (Terminate(f"until {self}"),)),), origin)
        root.whens.append(stop)
        return stop


def _rewritten(expr: Expr, leaf: Any) -> Expr:
    def apply(node: Expr, args: list[Expr]) -> Expr:
        return Expr(node.op, tuple(args), node.data)

    return fold(expr, leaf, apply)
