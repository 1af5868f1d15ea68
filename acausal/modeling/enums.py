"""Enums in expressions: members are names, which can be chosen, assigned and compared, but not calculated with."""

from __future__ import annotations

from enum import Enum

from ..errors import ExpressionError
from .expressions import EnumMember, Expr, enum_type, fold
from .operations import MARKS

_SAME = frozenset({"pre", "no_event"})
_TAKES = frozenset({"==", "!=", "change"})
"""Operations that take members and give a condition."""


def check_enums(lhs: Expr, rhs: Expr) -> None:
    """Raise ExpressionError where one side of an equation or assignment is a member of an enum and the other is not one of it."""
    left, right = enum_of(lhs), enum_of(rhs)
    if left is right:
        return
    if left is None:
        raise ExpressionError(
            f"`{lhs}` takes a number, and `{shown(rhs)}` is a member of {_name(right)}",
            hint="choose between numbers with if_else(state.equals(...), 1.0, 2.0)",
        )
    raise ExpressionError(
        f"`{lhs}` takes a member of {left.__name__}, and `{shown(rhs)}` is {_what(right)}",
        hint=f"assign one of {', '.join(map(str, left))}, or choose between them with if_else",
    )


def enum_of(expr: Expr) -> type[Enum] | None:
    """Return the enum whose members an expression takes, None for numbers and conditions.

    Raises
    ------
    ExpressionError
        Where it calculates with members, or chooses between a member and what is none.
    """
    return fold(expr, enum_type, _of_operation) if expr.marks & MARKS["enum"] else None


def shown(expr: Expr) -> str:
    """Return an expression as users write it, members by their names."""
    return str(expr.member) if isinstance(expr, EnumMember) else str(expr)


def _of_operation(node: Expr, args: list[type[Enum] | None]) -> type[Enum] | None:
    if node.op in _SAME:
        return args[0]
    if node.op == "if_else":
        if args[1] is not args[2]:
            raise ExpressionError(
                f"`{node}` chooses between `{shown(node.args[1])}`, {_what(args[1])}, and `{shown(node.args[2])}`,"
                f" {_what(args[2])}",
                hint="both have to be numbers, or members of one enum",
            )
        return args[1]
    found = next((k for k, kind in enumerate(args) if kind is not None), None)
    if found is not None and node.op not in _TAKES:
        raise ExpressionError(
            f"`{node}` calculates with `{shown(node.args[found])}`, {_what(args[found])}",
            hint="members of an enum are names: choose a number with if_else(state.equals(...), 1.0, 2.0)",
        )
    return None


def _name(kind: type[Enum] | None) -> str:
    return "" if kind is None else kind.__name__


def _what(kind: type[Enum] | None) -> str:
    return "a number" if kind is None else f"a member of {kind.__name__}"
