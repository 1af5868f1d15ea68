"""Expressions as immutable trees: parameter bindings, equations and conditions alike.

An expression holds no CasADi object, so that components pickle and copy; it is lowered to SX when a class is traced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any, NoReturn

from ..errors import ExpressionError, shortened
from .operations import BOOLEANS, MARKS, UFUNCS, marks

Number = int | float
_MOVING, _HOLDING = marks("v", "time", "der"), marks("<", "floor", "sign", "table", "lookup", "piece", "pre")
LONGEST_INTEGER = 64
"""Bits of an integer; floats hold larger ones only nearly."""


def _equality(self: Expr, other: object) -> NoReturn:
    raise ExpressionError(
        "`==` compares Python objects, it does not state an equation",
        hint="write `yield Eq(a, b)` for an equation, `state.equals(State.A)` for a discrete variable",
    )


def _refused(what: str, hint: str) -> Any:
    """A method for what Python or NumPy would do with a number and an expression cannot."""

    def method(self: Expr, *_: Any) -> NoReturn:
        raise ExpressionError(f"{what} cannot be applied to `{self}` while the model is built", hint=hint)

    return method


_OWN_FUNCTIONS = "use the functions of `acausal` (sin, exp, sqrt, ...) instead of those of math or numpy"


def _ordered(op: str, a: Expr, b: Any) -> Expr:
    """A comparison of two numbers."""
    other = wrap(b)
    if enum_type(a) is not None or enum_type(other) is not None:
        raise ExpressionError(
            f"`{a} {op} {b}` compares members of an enum, which have no order",
            hint=f"write `{a}.equals(...)`, or or_(...) of several of them",
        )
    return Expr(op, (a, other))


class Expr:
    """Node of an expression tree: operation and arguments; ``marks`` are the `MARKS` of what occurs in it."""

    __slots__ = ("args", "data", "marks", "op")
    __hash__ = object.__hash__

    def __init__(self, op: str, args: tuple[Expr, ...] = (), data: Any = None) -> None:
        self.op = op
        self.args = args
        self.data = data
        self.marks = self._marks()

    def __getattr__(self, name: str) -> Any:
        """The marks of a leaf, and of what comes from a file, when they are first asked for."""
        if name != "marks":
            raise AttributeError(f"an expression has no attribute {name!r}")
        for node in walk(self):
            node.marks = node._marks()
        return self.marks

    def _marks(self) -> int:
        found = MARKS.get(self.op, 0)
        for a in self.args:
            found |= a.marks
        return found

    @property
    def is_condition(self) -> bool:
        """True for expressions that are true or false."""
        return self.op in BOOLEANS or (self.op == "pre" and self.args[0].is_condition)

    def __add__(self, other: Any) -> Expr:
        return Expr("+", (self, wrap(other)))

    def __radd__(self, other: Any) -> Expr:
        return Expr("+", (wrap(other), self))

    def __sub__(self, other: Any) -> Expr:
        return Expr("-", (self, wrap(other)))

    def __rsub__(self, other: Any) -> Expr:
        return Expr("-", (wrap(other), self))

    def __mul__(self, other: Any) -> Expr:
        return Expr("*", (self, wrap(other)))

    def __rmul__(self, other: Any) -> Expr:
        return Expr("*", (wrap(other), self))

    def __truediv__(self, other: Any) -> Expr:
        return Expr("/", (self, wrap(other)))

    def __rtruediv__(self, other: Any) -> Expr:
        return Expr("/", (wrap(other), self))

    def __pow__(self, other: Any, modulo: Any = None) -> Expr:
        if modulo is not None:
            raise ExpressionError(
                f"pow({self}, {other}, {modulo}) has no meaning here", hint="write mod(x**y, z)"
            )
        return Expr("**", (self, wrap(other)))

    def __rpow__(self, other: Any) -> Expr:
        return Expr("**", (wrap(other), self))

    def __neg__(self) -> Expr:
        return Expr("neg", (self,))

    def __pos__(self) -> Expr:
        return self

    def __lt__(self, other: Any) -> Expr:
        return _ordered("<", self, other)

    def __le__(self, other: Any) -> Expr:
        return _ordered("<=", self, other)

    def __gt__(self, other: Any) -> Expr:
        return _ordered(">", self, other)

    def __ge__(self, other: Any) -> Expr:
        return _ordered(">=", self, other)

    def __and__(self, other: Any) -> Expr:
        return Expr("and", (condition(self), condition(other)))

    def __rand__(self, other: Any) -> Expr:
        return Expr("and", (condition(other), condition(self)))

    def __or__(self, other: Any) -> Expr:
        return Expr("or", (condition(self), condition(other)))

    def __ror__(self, other: Any) -> Expr:
        return Expr("or", (condition(other), condition(self)))

    def __xor__(self, other: Any) -> Expr:
        return Expr("xor", (condition(self), condition(other)))

    def __invert__(self) -> Expr:
        return Expr("not", (condition(self),))

    def equals(self, value: Any) -> Expr:
        """Return the condition that a discrete variable has this value."""
        own = enum_type(self)
        moves = self.marks & _MOVING and not self.marks & _HOLDING and not self.is_condition
        if own is not enum_type(value) or moves:
            member = f"{own.__name__}.{next(iter(own)).name}" if own else "another value"
            problem, hint = "which is not of its type", f"one of its own values: {self}.equals({member})"
            if moves:
                problem, hint = "as it is continuous", f"less or greater: {self} > {value}"
            raise ExpressionError(
                f"`{self}` never equals `{value}`, {problem}", hint="compare it with " + hint
            )
        return Expr("==", (self, wrap(value)))

    __eq__ = _equality  # type: ignore[assignment]
    __ne__ = _equality  # type: ignore[assignment]

    def __bool__(self) -> bool:
        raise ExpressionError(
            f"`{self}` has no truth value while the model is built",
            hint="use and_, or_, not_, if_else, maximum, minimum, absolute instead of and, or, not, if, max, min, abs"
            " and chained comparisons; a choice that depends on a number at build time needs a `Structural` field",
        )

    def __float__(self) -> float:
        raise ExpressionError(f"`{self}` is not a number while the model is built", hint=_OWN_FUNCTIONS)

    def __index__(self) -> int:
        raise ExpressionError(
            f"`{self}` is not an integer while the model is built",
            hint="a count or an index needs a Structural field: `n: Structural = Structural(int)`",
        )

    __int__ = _refused("int()", "floor(x) rounds down; a count or an index needs a Structural field")
    __trunc__ = _refused("trunc()", "floor(x) rounds down")
    __round__ = _refused("round()", "write floor(x + 0.5)")
    __floor__ = _refused("math.floor()", "use `floor` of acausal")
    __ceil__ = _refused("ceil()", "write -floor(-x)")
    __floordiv__ = __rfloordiv__ = _refused("`//`", "write floor(x / y)")
    __divmod__ = __rdivmod__ = _refused("divmod()", "write floor(x / y) and mod(x, y)")
    __matmul__ = __rmatmul__ = _refused("`@`", "an expression is a scalar: write the sum of products")
    __getitem__ = _refused("`[...]`", "it is a scalar: several values are a list of variables")
    __len__ = _refused("len()", "it is a scalar: several values are a list of variables")
    __contains__ = _refused("`in`", "compare it: `x.equals(value)`, or or_(...) of several of them")
    __complex__ = _refused("complex()", "write one equation for each of the real and imaginary part")
    __lshift__ = __rlshift__ = __rshift__ = __rrshift__ = _refused("a shift of bits", "write x * 2**n")

    def __format__(self, spec: str) -> str:
        if spec:
            raise ExpressionError(
                f"the format {spec!r} cannot be applied to `{self}` while the model is built",
                hint="it is not a number yet; read the values from the result",
            )
        return str(self)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **_: Any) -> Any:
        """Arithmetic of numpy numbers and arrays with expressions; other functions of numpy are refused."""
        operation = UFUNCS.get(ufunc.__name__)
        if method != "__call__" or operation is None:
            self.__array_function__(ufunc)
        assert operation is not None
        array = next((x for x in inputs if getattr(x, "ndim", 0)), None)
        if array is None:
            return operation(*(wrap(x) for x in inputs))
        result = array.astype(object)
        for k, value in enumerate(array.flat):
            result.flat[k] = operation(*(wrap(value if x is array else x) for x in inputs))
        return result

    def __array_function__(self, function: Any, *_: Any) -> NoReturn:
        raise ExpressionError(
            f"numpy.{function.__name__} cannot be applied to `{self}` while the model is built",
            hint=_OWN_FUNCTIONS,
        )

    def __abs__(self) -> Expr:
        return Expr("abs", (self,))

    def __mod__(self, other: Any) -> Expr:
        return Expr("mod", (self, wrap(other)))

    def __rmod__(self, other: Any) -> Expr:
        return Expr("mod", (wrap(other), self))

    def __iter__(self) -> Iterator[Expr]:
        raise ExpressionError(f"`{self}` is a scalar and cannot be iterated or unpacked")

    def __repr__(self) -> str:
        return to_text(self)


for _name in ("sin", "cos", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "exp", "log", "log10", "log2", "sqrt",
              "rint", "floor", "ceil", "trunc", "conjugate"):  # fmt: skip
    # What functions of numpy look for in the elements of an array.
    setattr(Expr, _name, _refused(f"numpy.{_name}", _OWN_FUNCTIONS))


class Symbol(Expr):
    """A leaf: one field of one component object."""

    __slots__ = ("field", "name", "owner")
    op = "symbol"  # type: ignore[misc]

    def __init__(self, owner: Any, name: str, field: Any) -> None:
        self.owner = owner
        self.name = name
        self.field = field
        self.args = ()
        self.data = None

    def _marks(self) -> int:
        return MARKS["v"] if self.field is None else self.field.marks

    @property
    def is_condition(self) -> bool:
        """True for Boolean fields."""
        return getattr(self.field, "type", None) is bool

    def __reduce__(self) -> tuple[Any, ...]:
        return (Symbol, (self.owner, self.name, self.field))

    def __repr__(self) -> str:
        return self.name


class EnumMember(Expr):
    """A constant: the code of a member of an enum."""

    __slots__ = ("member",)
    op = "const"  # type: ignore[misc]

    def __init__(self, value: Enum) -> None:
        self.args, self.data, self.member = (), enum_index(value), value

    def _marks(self) -> int:
        return MARKS["enum"]

    def __reduce__(self) -> tuple[Any, ...]:
        return (EnumMember, (self.member,))


time = Expr("time")
"""Time in seconds."""


def constant(value: float) -> Expr:
    """Return a number as an expression."""
    return Expr("const", (), value)


def wrap(value: Any) -> Expr:
    """Return ``value`` as an expression; numbers, booleans and enum members are constants."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, bool):
        return Expr("true", (), value)
    if isinstance(value, Enum):
        return EnumMember(value)
    if isinstance(value, int) and value.bit_length() > LONGEST_INTEGER:
        raise ExpressionError(
            f"an integer of {value.bit_length()} bits cannot be part of an expression",
            hint=f"integers have at most {LONGEST_INTEGER} bits; write larger numbers as floats, 1e30",
        )
    complex_kind = getattr(getattr(value, "dtype", None), "kind", "") == "c"
    if isinstance(value, Number) or (
        hasattr(value, "__float__") and not complex_kind and getattr(value, "ndim", 0) == 0
    ):
        number = value if isinstance(value, Number) else float(value)
        if number != number:
            raise ExpressionError("`nan` cannot be part of an expression", hint="it is no number")
        return Expr("const", (), number)
    hint = "use numbers, fields of components and the functions of `acausal`"
    if isinstance(value, (tuple, list)):
        hint = "write one equation for each element: `x[0]`, `x[1]`, ..."
    raise ExpressionError(f"`{value!r}` ({type(value).__name__}) cannot be part of an expression", hint=hint)


def condition(value: Any) -> Expr:
    """Return ``value`` as a condition, or raise."""
    expr = wrap(value)
    if not expr.is_condition:
        raise ExpressionError(f"`{expr}` is a number where a condition is needed", hint="compare it: `x > 0`")
    return expr


def enum_type(value: Any) -> type[Enum] | None:
    """Return the enum one of whose members a value is or an expression takes; None for others."""
    while isinstance(value, Expr) and value.op in ("pre", "no_event", "if_else"):
        value = value.args[value.op == "if_else"]
    member = value.member if isinstance(value, EnumMember) else value
    kind = getattr(value.field, "type", None) if isinstance(value, Symbol) else type(member)
    return kind if isinstance(kind, type) and issubclass(kind, Enum) else None


def enum_index(value: Enum) -> int:
    """Return the code of an enum member: its integer value, else its position."""
    return int(value.value) if isinstance(value.value, int) else list(type(value)).index(value)


def walk(expr: Expr) -> Iterator[Expr]:
    """Yield all nodes once, arguments before the operations that use them."""
    seen: set[int] = set()
    stack: list[Any] = [expr]  # None: the arguments of the node below it are through
    while stack:
        node = stack.pop()
        if node is None:
            yield stack.pop()
        elif id(node) not in seen:
            seen.add(id(node))
            if node.args:
                stack += (node, None, *node.args[::-1])
            else:
                yield node


def fold(
    expr: Expr,
    leaf: Callable[[Expr], Any],
    apply: Callable[[Expr, list[Any]], Any],
    whole: Callable[[Expr], Any] | None = None,
    value: dict[int, Any] | None = None,
    instead: Callable[[Expr], Expr | None] | None = None,
) -> Any:
    """Evaluate a tree bottom up, each shared node once, without recursion.

    Parameters
    ----------
    leaf : callable
        Value of a node without arguments.
    apply : callable
        Value of an operation from the node and the values of its arguments.
    whole : callable
        Value of an operation that does not follow from its arguments, which are then left alone; None for others.
    value : dict, optional
        Values of nodes by identity, which are taken from here and added; the caller keeps the nodes alive.
    instead : callable, optional
        The argument that alone gives an operation its value, such as the side of a decided choice; None for others.
    """
    value = {} if value is None else value
    stack: list[Any] = [expr]  # None: the arguments of the node below it are through
    while stack:
        node = stack.pop()
        if node is None:
            node = stack.pop()
            value[id(node)] = apply(node, [value[id(a)] for a in node.args])
            continue
        key = id(node)
        if key in value:
            continue
        if not node.args:
            value[key] = leaf(node)
        elif whole is not None and (made := whole(node)) is not None:
            value[key] = made
        elif instead is not None and (same := instead(node)) is not None:
            if id(same) in value:
                value[key] = value[id(same)]
            else:
                stack += (node, same)
        else:
            stack += (node, None, *node.args[::-1])
    return value[id(expr)]


_INFIX = {"+": 1, "-": 1, "*": 2, "/": 2, "**": 4, "<": 0, "<=": 0, ">": 0, ">=": 0, "==": 0, "!=": 0}
_WORDS = {"and": "&", "or": "|", "xor": "^"}
LONGEST_TEXT = 300
"""Characters of an expression in a message; of longer ones both ends are shown."""


def to_text(expr: Expr, name: Callable[[Symbol], str] = lambda symbol: symbol.name) -> str:
    """Return the expression as the user would write it, cut in the middle where it is long; ``name`` is that of a symbol.

    The parts are cut as well, which changes nothing in the outcome: shared parts can make a text of exponential length.
    """

    def leaf(node: Expr) -> tuple[str, int]:
        if node.op == "const":
            return repr(float(node.data)).removesuffix(".0"), 9 if node.data >= 0 else 3
        return (
            str(node.data) if node.op == "true" else name(node) if isinstance(node, Symbol) else node.op
        ), 9

    def apply(node: Expr, args: list[tuple[str, int]]) -> tuple[str, int]:
        text, rank = joined(node, args)
        return shortened(text, LONGEST_TEXT), rank

    def joined(node: Expr, args: list[tuple[str, int]]) -> tuple[str, int]:
        op = _WORDS.get(node.op, node.op)
        if len(args) == 2 and (op in _INFIX or node.op in _WORDS):
            rank = _INFIX.get(op, -1)
            left = args[0][0] if args[0][1] >= rank else f"({args[0][0]})"
            right = args[1][0] if args[1][1] > rank else f"({args[1][0]})"
            return f"{left}{op}{right}" if rank > 1 else f"{left} {op} {right}", rank
        if op == "neg":
            return (f"-{args[0][0]}" if args[0][1] > 1 else f"-({args[0][0]})"), 1
        inner = [a[0] for a in args] + ([to_text(node.data[0], name)] if op == "homotopy" else [])
        return f"{op}({', '.join(inner)})", 9

    return fold(expr, leaf, apply)[0]
