"""Statements that ``equations()`` yields: inert records of what holds and what happens."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any, Self

from ..errors import StatementError
from .expressions import Expr, Symbol, condition, to_text, wrap
from .ports import Port, PortRef
from .typed_fields import Discrete, Input, Output


class Statement:
    """Base of everything that may be yielded by ``equations()``."""

    __slots__ = ()


class Eq(Statement):
    """``lhs`` equals ``rhs`` at every time; a discrete equation if ``lhs`` is a discrete variable.

    Parameters
    ----------
    lhs, rhs : expression or number
        Neither side is computed from the other, unless ``lhs`` is a `Discrete`: that takes the
        value of ``rhs`` in every micro-step. Their units must agree.
    """

    __slots__ = ("lhs", "rhs")

    def __init__(self, lhs: Any, rhs: Any) -> None:
        self.lhs, self.rhs = wrap(lhs), wrap(rhs)

    @property
    def residual(self) -> Expr:
        """Left side minus right side."""
        return self.rhs if _is_zero(self.lhs) else self.lhs if _is_zero(self.rhs) else self.lhs - self.rhs

    def text(self, name: Callable[[Symbol], str]) -> str:
        """Return the equation as it was written, with symbols as ``name`` gives them."""
        return f"Eq({to_text(self.lhs, name)}, {to_text(self.rhs, name)})"

    def __repr__(self) -> str:
        return f"Eq({self.lhs}, {self.rhs})"


def _is_zero(expr: Expr) -> bool:
    return expr.op == "const" and expr.data == 0


class Connect(Statement):
    """Ports joined in one connection set, or signals made equal."""

    __slots__ = ("ends",)

    def __init__(self, ends: tuple[Any, ...]) -> None:
        self.ends = ends


def connect(*ends: Any) -> Connect:
    """Connect two or more ports of one type, or one output with inputs.

    Potentials become equal and flows sum to zero.

    Raises
    ------
    StatementError
        If an argument is neither a port nor a signal, or there are fewer than two.
    """
    if len(ends) < 2:
        raise StatementError(
            f"connect() needs at least two ports or signals, got {len(ends)}",
            hint="connect(a.p, b.n); a port left out is open",
        )
    named: set[tuple[int, str]] = set()
    for end in ends:
        port = isinstance(end, PortRef)
        if not port and not _is_signal(end) and not isinstance(end, Port):
            hint = "connect the ports of a component: connect(a.p, b.n)"
            raise StatementError(
                f"connect() takes ports and signals, got {end!r} ({type(end).__name__})", hint=hint
            )
        if port or isinstance(end, Symbol):
            key = id(end.owner), end.name
            if key in named:
                raise StatementError(
                    f"connect() names `{end.name}` of one component twice",
                    hint="name every port once; a port left out is open",
                )
            named.add(key)
    return Connect(ends)


def _is_signal(end: Any) -> bool:
    return isinstance(end, Symbol) and isinstance(end.field, (Input, Output))


class Action:
    """What a ``when`` does."""

    __slots__ = ()


class Assign(Action):
    """A discrete variable takes a value."""

    __slots__ = ("target", "value")

    def __init__(self, target: Symbol, value: Expr) -> None:
        self.target, self.value = target, value


class Reinit(Assign):
    """A differentiated variable takes a value."""

    __slots__ = ()


class Terminate(Action):
    """The run ends."""

    __slots__ = ("message",)

    def __init__(self, message: str) -> None:
        self.message = message


def assign(d: Any, value: Any) -> Assign:
    """Give a discrete variable a new value: an action of `when` and `to`.

    Parameters
    ----------
    d : Discrete of this component
    value : expression
        Discrete variables in it are the new ones; ``pre(d)`` is the value before.

    Raises
    ------
    StatementError
        If ``d`` is not discrete.
    """
    if not (isinstance(d, Symbol) and isinstance(d.field, Discrete)):
        raise StatementError(
            f"assign() takes a Discrete variable, got `{d!r}`",
            hint="use reinit(x, value) for a differentiated variable",
        )
    return Assign(d, wrap(value))


def reinit(x: Any, value: Any) -> Reinit:
    """Give a differentiated variable a new value by an external impulse: an action of `when` and `to`.

    What is rigidly coupled to the variable moves along; everything else obeys conservation.

    Parameters
    ----------
    x : Variable that is differentiated somewhere
    value : expression
        ``pre(x)`` in it is the value before.

    Raises
    ------
    StatementError
        If ``x`` is not a continuous variable.
    """
    if not isinstance(x, Symbol) or isinstance(x.field, Discrete):
        raise StatementError(
            f"reinit() takes a continuous variable, got `{x!r}`", hint="use assign(d, value) for a Discrete"
        )
    return Reinit(x, wrap(value))


def terminate(message: str = "") -> Terminate:
    """End the run normally; ``message`` becomes part of ``result.status``."""
    return Terminate(message)


class When(Statement):
    """Actions at the instant a condition becomes true."""

    __slots__ = ("branches",)

    def __init__(self, branches: tuple[tuple[tuple[Expr, ...], tuple[Action, ...]], ...]) -> None:
        self.branches = branches

    def elsewhen(self, cond: Any, *actions: Action) -> When:
        """Return the chain with a further branch, considered when no earlier one fires."""
        return When((*self.branches, _when_branch(cond, actions)))


def only(kind: type, values: Any, what: str, hint: str) -> None:
    """Refuse what is no list of instances of ``kind``."""
    listed = isinstance(values, (list, tuple))
    wrong = [v for v in values if not isinstance(v, kind)] if listed else [values]
    if wrong:
        raise StatementError(f"{what}, got {wrong[0]!r}", hint=hint)


_ACTIONS = "actions are assign(d, value), reinit(x, value) and terminate(message)"


def _when_branch(cond: Any, actions: tuple[Action, ...]) -> tuple[tuple[Expr, ...], tuple[Action, ...]]:
    conditions = tuple(condition(c) for c in cond) if isinstance(cond, (list, tuple)) else (condition(cond),)
    if not actions:
        raise StatementError("when() needs at least one action", hint=_ACTIONS)
    only(Action, actions, "when() takes actions", _ACTIONS)
    return conditions, actions


def when(cond: Any, *actions: Action) -> When:
    """State what happens at the instants at which ``cond``, or one of a list of conditions, becomes true.

    Parameters
    ----------
    cond : condition or list of conditions
        It fires when it is true and was false in the micro-step before, not while it stays true.
    *actions : assign, reinit or terminate

    Raises
    ------
    StatementError
        If there is no action, or something else than an action.

    Notes
    -----
    ``.elsewhen(cond, *actions)`` adds a branch that is considered when no earlier one fires. What several conditions decide of
    one discrete variable is one such chain.
    """
    return When((_when_branch(cond, actions),))


class To:
    """One transition of a state machine."""

    __slots__ = ("actions", "condition", "target")

    def __init__(self, target: Enum, cond: Any, actions: tuple[Action, ...]) -> None:
        self.target, self.condition, self.actions = target, condition(cond), actions


def to(target: Enum, cond: Any, *actions: Action) -> To:
    """Go to state ``target`` when ``cond`` holds: a way out of a state, in the lists of `transitions`.

    Parameters
    ----------
    target : member of the enum
    cond : condition
    *actions : assign, reinit or terminate
        What else happens in that instant.

    Raises
    ------
    StatementError
        For something else than an action.
    """
    only(Action, actions, "to() takes actions after its condition", _ACTIONS)
    return To(target, cond, actions)


class Transitions(Statement):
    """A state machine over one enum Discrete; written order is priority."""

    __slots__ = ("state", "table")

    def __init__(self, state: Symbol, table: Mapping[Enum, Sequence[To]]) -> None:
        self.state, self.table = state, {k: tuple(v) for k, v in table.items()}


def transitions(state: Any, table: Mapping[Enum, Sequence[To]]) -> Transitions:
    """State the transitions out of every state of an enum Discrete.

    Parameters
    ----------
    state : Discrete of an enum
    table : mapping of member to list of `to`
        If several conditions hold, the one written first counts. A state without entry is final.

    Raises
    ------
    StatementError
        If ``state`` is not discrete, a state is not one of its enum, or something else than lists of `to` is given.
    """
    if not (isinstance(state, Symbol) and isinstance(state.field, Discrete)):
        raise StatementError(f"transitions() takes a Discrete variable, got `{state!r}`")
    kind, hint = state.field.type, "transitions(state, {A: [to(B, condition)], B: []})"
    only(Mapping, [table], "transitions() takes a mapping of states to lists of to()", hint)
    for moves in table.values():
        only(To, moves, "transitions() takes lists of to()", hint)
    if issubclass(kind, Enum):
        for value in (*table, *(move.target for moves in table.values() for move in moves)):
            if not isinstance(value, kind):
                raise StatementError(
                    f"transitions() of `{state}`: {value} is no state of {kind.__name__}",
                    hint=f"its states are {', '.join(str(m) for m in kind)}",
                )
    return Transitions(state, table)


class Initially(Statement):
    """An equation that holds at the start only."""

    __slots__ = ("equation",)

    def __init__(self, equation: Eq) -> None:
        self.equation = equation


def initially(equation: Eq) -> Initially:
    """State an equation that holds after the first instant, such as ``Eq(der(x), 0)``.

    It ranks with fixed start values, above given ones and defaults.

    Raises
    ------
    StatementError
        If the argument is not an `Eq`.
    """
    if not isinstance(equation, Eq):
        raise StatementError("initially() takes an equation: initially(Eq(a, b))")
    return Initially(equation)


class Require(Statement):
    """A condition that must hold at start and during the run."""

    __slots__ = ("condition", "message")

    def __init__(self, cond: Expr, message: str) -> None:
        self.condition, self.message = cond, message


def require(cond: Any, message: str) -> Require:
    """Check a condition on parameters, discretes or variables; the run ends with an error when it fails.

    Parameters
    ----------
    cond : condition
        On parameters alone it is checked before the run, else at the start and during the run.
    message : str
        Part of the `RequirementError`.
    """
    return Require(condition(cond), message)


class Named(Statement):
    """A statement whose branch is a discrete variable of the component, under ``name``."""

    __slots__ = ("name", "owner")

    def __init__(self, name: str) -> None:
        from .fields import active

        self.name = name
        self.owner = active.stack[-1] if active.stack else None

    def mode_field(self) -> Discrete:
        """Return the field that describes the mode variable."""
        field = Discrete(bool)
        field.name = self.name
        return field

    @property
    def mode(self) -> Symbol:
        """The branch in force, readable in expressions."""
        return Symbol(self.owner, self.name, self.mode_field())

    def named(self, name: str) -> Self:
        """Give the statement another name and return it."""
        self.name = name
        return self
