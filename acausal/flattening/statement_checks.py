"""What may be wrong with a statement by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..errors import DuplicateWriterError, StatementError
from ..modeling.component import Component
from ..modeling.dimensions import check_equation, dimension
from ..modeling.elements import ElementTable
from ..modeling.expressions import Expr, Symbol, walk, wrap
from ..modeling.operations import marks
from ..modeling.statements import Action, Assign, Eq, Transitions, When
from .flat_model import kind_of
from .forms import Classify, depends, has_time


def check_holding(eq: Eq) -> None:
    """Raise UnitError where the sides of an equation disagree, StatementError for what has a meaning at instants only."""
    check_equation(eq.lhs, eq.rhs)
    check_continuous(eq.residual)


def check_actions(statement: When | Transitions, name: Callable[[Symbol], str]) -> None:
    """Raise UnitError where conditions compare, or values and their variables have, different units.

    Raise DuplicateWriterError where the actions of one branch set one variable twice.
    """
    if isinstance(statement, When):
        branches = statement.branches
        written = [actions for _, actions in branches]
    else:
        moves = [move for ways in statement.table.values() for move in ways]
        branches = tuple(((move.condition,), move.actions) for move in moves)
        written = [(Assign(statement.state, wrap(0)), *move.actions) for move in moves]
    _check_writers(written, name)
    for conditions, actions in branches:
        for condition in conditions:
            dimension(condition)
        for action in (a for a in actions if isinstance(a, Assign)):
            check_equation(action.target, action.value)


def _check_writers(branches: list[tuple[Action, ...]], name: Callable[[Symbol], str]) -> None:
    for actions in branches:
        names = [name(a.target) for a in actions if isinstance(a, Assign)]
        twice = next((n for k, n in enumerate(names) if n in names[:k]), None)
        if twice is not None:
            raise DuplicateWriterError(
                f"`{twice}` is set twice by the actions of one branch",
                hint="all actions of a branch happen at once: keep one of them, or choose the value with if_else",
            )


_AT_INSTANTS = marks("sample", "initial", "terminal", "edge", "change", "pre")


def check_continuous(expr: Expr) -> None:
    """Raise StatementError for what has a meaning at instants only, in an equation that holds between them too."""
    for node in walk(expr) if expr.marks & _AT_INSTANTS else ():
        if node.op in ("sample", "initial", "terminal", "edge", "change"):
            raise StatementError(
                f"`{node}` is true at an instant only, and stands in an equation that holds at every time",
                hint="let a `when` assign a Discrete, and use that one in the equation",
            )
        before = node.args[0] if node.op == "pre" else None
        if isinstance(before, Symbol) and kind_of(before) == "v":
            raise StatementError(
                f"`{node}` is the value before an instant, and stands in an equation that holds at every time",
                hint=f"let a `when` keep it, assign(self.kept, pre({before})), and use the Discrete `kept`",
            )


def check_element(table: ElementTable, name: str, classify: Classify) -> None:
    """Raise UnitError where units disagree, StatementError for what stands at the wrong place.

    That is what has a meaning at instants only, and a number of an impact that moves between them.
    """
    rows = [expr for b in table.branches for expr in (*b.residuals, *(g.g for g in b.guards))]
    for expr in (*rows, *table.beside):
        dimension(expr)
    numbers = {"restitution": table.restitution, "rest_speed": table.rest_speed}
    for expr in (*rows, table.control, *numbers.values()):
        if expr is not None:
            check_continuous(expr)
    for what, expr in numbers.items():
        if expr is not None and (has_time(expr) or depends(expr, classify)):
            raise StatementError(
                f"`{what}` of the Impact `{name}` is `{expr}`, which moves between events",
                hint="use parameters, discrete variables, and comparisons in if_else",
            )


def shown(statement: Any) -> str:
    """Return what was yielded as it stands in a message."""
    text = f"`{statement}`" if isinstance(statement, (Expr, bool)) else ""
    return f"{text} ({type(statement).__name__})" if text else f"a {type(statement).__name__}"


def yield_hint(statement: Any) -> str:
    """Return what to yield instead."""
    if isinstance(statement, (bool, Expr)):
        return "an equation is `yield Eq(lhs, rhs)`, a condition to be checked `yield require(condition, message)`"
    if isinstance(statement, (list, tuple, Iterator)):
        return "yield the statements one by one: `yield from ...`"
    if isinstance(statement, Component):
        return "create parts in build(), as attributes: self.part = ..."
    return "yield Eq(lhs, rhs), connect(...), when(...) or another statement"
