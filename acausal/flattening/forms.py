"""Affine forms of expressions: which variables occur, with which factors, and what is known."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ..modeling.expressions import Expr, Symbol, constant, fold, walk
from ..modeling.operations import MARKS, RELATIONS, marks
from ..values import frozen

Key = tuple[int, bool]
"""Local variable index, and whether its derivative is meant."""


@frozen
class Form:
    """``sum factors[key] * variable + known``; factors and ``known`` hold no continuous variable."""

    factors: dict[Key, Expr]
    known: Expr | None


ZERO = constant(0.0)
ONE = constant(1.0)
Classify = Callable[[Symbol], int | None]
"""Local index of a continuous variable, None for everything that is known (parameters, discretes)."""


def depends(expr: Expr, classify: Classify) -> bool:
    """True when a continuous variable occurs outside ``pre`` and outside relations."""
    return bool(incidence(expr, classify))


_VARIABLE, _TIME = MARKS["v"], MARKS["time"]
_MOVING = _VARIABLE | MARKS["homotopy"]
_HELD = marks("<", "pre", "no_event", "homotopy")
"""Within these not everything that moves counts, or what stands beside the arguments counts too."""


def _active_nodes(expr: Expr) -> list[Expr]:
    """Nodes in which a variable carries a value, in order of appearance; a derivative is one of them, not its variable.

    Conditions are frozen between instants, but in ``no_event``, and so is ``pre``.
    """
    found: dict[int, Expr] = {}
    seen: set[tuple[int, bool]] = set()
    stack = [(expr, False)]
    while stack:
        node, eventless = stack.pop()
        if not node.marks & _MOVING or (id(node), eventless) in seen:
            continue
        seen.add((id(node), eventless))
        found.setdefault(id(node), node)
        if node.op in ("pre", "der") or (node.op in RELATIONS and not eventless):
            continue
        eventless = eventless or node.op == "no_event"
        stack.extend((a, eventless) for a in node.args)
        if node.op == "homotopy":
            # What only the simplified part reads has to be known at the start too.
            stack.append((node.data[0], True))
    return list(found.values())


def inner(node: Expr) -> Symbol:
    """Return the symbol that a derivative, or another operation on variables alone, is applied to."""
    found = node.args[0]
    assert isinstance(found, Symbol)
    return found


def relations(expr: Expr) -> Iterator[Expr]:
    """Yield the comparisons in an expression that make events: those outside ``no_event``."""
    if not expr.marks & MARKS["<"]:
        return
    skip = {id(n) for e in walk(expr) if e.op == "no_event" for n in walk(e)}
    yield from (node for node in walk(expr) if node.op in RELATIONS and id(node) not in skip)


def has_time(expr: Expr) -> bool:
    """True when time occurs outside relations."""
    return Activity(expr).has_time(expr)


class Activity:
    """Which nodes of an expression carry time or a variable, each looked at once where its marks leave it open."""

    def __init__(self, expr: Expr, classify: Classify = lambda symbol: None) -> None:
        self._expr = expr
        """Nodes are known by identity as long as the whole is held."""
        self._classify = classify
        self._flags: dict[int, tuple[int, int]] = {}

    def has_time(self, node: Expr) -> bool:
        """True when time occurs in this part outside relations."""
        return bool(self._flags_of(node)[0] & _TIME)

    def has_variable(self, node: Expr) -> bool:
        """True when a variable or derivative occurs in this part outside relations."""
        return bool(self._flags_of(node)[0] & _VARIABLE)

    def _flags_of(self, node: Expr) -> tuple[int, int]:
        found = self._whole(node) or self._flags.get(id(node))
        return found or fold(node, self._leaf, self._apply, self._whole, self._flags)

    def _whole(self, node: Expr) -> tuple[int, int] | None:
        """Flags of what holds neither variables nor anything in which time does not count."""
        time = node.marks & _TIME
        return None if node.marks & (_VARIABLE | _HELD) else (time, time)

    def _leaf(self, node: Expr) -> tuple[int, int]:
        moved = isinstance(node, Symbol) and self._classify(node) is not None
        flag = _VARIABLE if moved else _TIME if node.op == "time" else 0
        return flag, flag

    def _apply(self, node: Expr, args: list[tuple[int, int]]) -> tuple[int, int]:
        """Flags as it stands, and within ``no_event``."""
        if node.op == "pre":
            return 0, 0
        if node.op == "der":
            return args[0]
        now = eventless = 0
        for a, b in args:
            now, eventless = now | a, eventless | b
        if node.op in RELATIONS:
            return 0, eventless
        if node.op == "homotopy":
            simplified = self._flags_of(node.data[0])[1]
            now, eventless = now | simplified, eventless | simplified
        return (eventless, eventless) if node.op == "no_event" else (now, eventless)


def incidence(expr: Expr, classify: Classify) -> list[Key]:
    """Return the derivatives, then the variables, that carry a value, each in order of appearance."""
    nodes = _active_nodes(expr)
    slopes = [(classify(inner(n)), True) for n in nodes if n.op == "der"]
    values = [(classify(n), False) for n in nodes if isinstance(n, Symbol)]
    return [(k, derivative) for k, derivative in dict.fromkeys((*slopes, *values)) if k is not None]


def affine_form(expr: Expr, classify: Classify) -> Form | None:
    """Return the affine form of an expression, None if it has none with constant factors.

    Relations count as frozen; ``minimum``, ``maximum``, ``absolute`` and
    ``sign`` must have been rewritten as choices before.
    """
    active = Activity(expr, classify)

    def whole(node: Expr) -> Form | None:
        return None if active.has_variable(node) or node.op == "homotopy" else Form({}, node)

    try:
        return fold(expr, lambda n: _leaf(n, classify), lambda n, a: _apply(n, a, classify, active), whole)
    except _NotAffine:
        return None


class _NotAffine(Exception):
    pass


def _leaf(node: Expr, classify: Classify) -> Form:
    if isinstance(node, Symbol):
        k = classify(node)
        if k is not None:
            return Form({(k, False): ONE}, None)
    return Form({}, None if node.op == "const" and node.data == 0 else node)


def _apply(node: Expr, args: list[Form], classify: Classify, active: Activity) -> Form:
    """The form of an operation in which a variable occurs, or of a homotopy."""
    op = node.op
    if op == "der":
        k = classify(inner(node))
        assert k is not None
        return Form({(k, True): ONE}, None)
    if op == "no_event":
        raise _NotAffine
    if op == "homotopy":
        return args[0]
    if not any(a.factors for a in args):
        return Form({}, node)
    if op in ("+", "-"):
        return _sum(args[0], args[1], op)
    if op == "neg":
        return _map(args[0], lambda f: -f)
    if op == "*":
        factor, form = (0, 1) if not args[0].factors else (1, 0)
        if args[factor].factors or active.has_time(node.args[factor]):
            raise _NotAffine
        by = node.args[factor]
        return _map(args[form], lambda f: by if f is ONE else by * f)
    if op == "/":
        if args[1].factors or active.has_time(node.args[1]):
            raise _NotAffine
        by = node.args[1]
        return _map(args[0], lambda f: f / by)
    if op == "if_else":
        cond = node.args[0]
        keys = dict.fromkeys((*args[1].factors, *args[2].factors))
        factors = {
            k: Expr("if_else", (cond, args[1].factors.get(k, ZERO), args[2].factors.get(k, ZERO)))
            for k in keys
        }
        known = None
        if args[1].known is not None or args[2].known is not None:
            known = Expr("if_else", (cond, *(ZERO if a.known is None else a.known for a in args[1:])))
        return Form(factors, known)
    raise _NotAffine


def _map(form: Form, f: Callable[[Expr], Expr]) -> Form:
    return Form({k: f(v) for k, v in form.factors.items()}, None if form.known is None else f(form.known))


def _sum(a: Form, b: Form, op: str) -> Form:
    factors = dict(a.factors)
    for k, v in b.factors.items():
        if k in factors:
            factors[k] = Expr(op, (factors[k], v))
        else:
            factors[k] = v if op == "+" else -v
    if b.known is None:
        known = a.known
    elif a.known is None:
        known = b.known if op == "+" else -b.known
    else:
        known = Expr(op, (a.known, b.known))
    return Form(factors, known)


def integer_factors(form: Form) -> dict[int, int] | None:
    """Return the factors as small integers, None if one is not a literal integer or a derivative occurs."""
    row: dict[int, int] = {}
    for (k, derivative), factor in form.factors.items():
        value = literal(factor)
        if derivative or value is None or abs(value) >= 64 or value != int(value):
            return None
        if value:
            row[k] = int(value)
    return row


def literal(expr: Expr) -> float | None:
    """Return the value of an expression of literals only."""
    values = {"+": lambda a, b: a + b, "-": lambda a, b: a - b, "*": lambda a, b: a * b, "neg": lambda a: -a}

    def apply(node: Expr, args: list[float | None]) -> float | None:
        if node.op not in values or any(a is None for a in args):
            return None
        return values[node.op](*args)

    return fold(expr, lambda n: float(n.data) if n.op == "const" else None, apply)


_CHOOSING = marks("min", "max", "abs", "sign", "table")


def choices(expr: Expr) -> Expr:
    """Rewrite minimum, maximum, absolute value, sign and tables as choices by relations."""

    def apply(node: Expr, args: list[Expr]) -> Expr:
        op = node.op
        if op == "min":
            return Expr("if_else", (args[0] < args[1], args[0], args[1]))
        if op == "max":
            # The same comparison as for the minimum: at a tie one of the two still has its slope.
            return Expr("if_else", (args[0] < args[1], args[1], args[0]))
        if op == "abs":
            return Expr("if_else", (args[0] < 0, -args[0], args[0]))
        if op == "sign":
            return Expr("if_else", (args[0] > 0, ONE, Expr("if_else", (args[0] < 0, -ONE, ZERO))))
        if op == "table":
            return _table(args[0], *node.data)
        same = all(a is b for a, b in zip(args, node.args, strict=True))
        return node if same else Expr(op, tuple(args), node.data)

    return fold(expr, lambda n: n, apply, lambda n: None if n.marks & _CHOOSING else n)


def _table(x: Expr, xs: tuple[float, ...], ys: tuple[float, ...]) -> Expr:
    """Binary tree of choices over the breakpoints; constant outside."""
    n = len(xs)

    def piece(k: int) -> Expr:
        if k == 0 or k == n or ys[k] == ys[k - 1] or xs[k] == xs[k - 1]:
            return constant(ys[min(k, n - 1)])
        return constant(ys[k - 1]) + constant((ys[k] - ys[k - 1]) / (xs[k] - xs[k - 1])) * (x - xs[k - 1])

    def tree(low: int, high: int) -> Expr:
        if low == high:
            return piece(low)
        middle = (low + high) // 2
        return Expr("if_else", (x < xs[middle], tree(low, middle), tree(middle + 1, high)))

    return tree(0, n)


def number_of(expr: Expr, table: dict[Any, int]) -> int:
    """Return the number of an expression in ``table``, which gets those that are new: equal expressions have equal numbers."""

    def number(key: Any) -> int:
        return table.setdefault(key, len(table))

    def leaf(node: Expr) -> int:
        key = (id(node.owner), node.name) if isinstance(node, Symbol) else (node.op, repr(node.data))
        return number(key)

    # A symbol of data, such as the points of a table, stands for them by identity.
    return fold(expr, leaf, lambda node, args: number((node.op, *args, node.data and id(node.data))))
