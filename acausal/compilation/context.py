"""What the symbols of an instance are in terms of the arguments of a generated function."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import casadi as ca

from ..flattening.flat_model import kind_of
from ..flattening.forms import choices, inner
from ..modeling.expressions import Expr, Symbol
from ..modeling.operations import RELATIONS
from ..reduction.core import model_relation
from ..reduction.reduced_model import ReducedModel
from .comparison import compared
from .lowering import lower


class Arguments:
    """Symbols of the arguments, made when first used.

    Parameters ``p``, discretes ``d``, those given from outside ``u``, relations ``r``, variables ``x`` and time derivatives,
    ``slope``.
    """

    def __init__(self, model: ReducedModel) -> None:
        self.model = model
        self.t = ca.SX.sym("t")
        self.tables: dict[str, dict[int, Any]] = {"p": {}, "d": {}, "u": {}, "r": {}, "x": {}, "slope": {}}
        self.jets: dict[int, tuple[Any, Any]] = {}
        """Of variables that are compared within an instant."""
        self.samples: dict[tuple[int, int, int], Any] = {}
        self.sample_nodes: list[tuple[int, int, Expr]] = []
        self.tolerance = ca.SX.sym("tolerance")
        """Resolution of time."""
        self.initial = ca.SX.sym("initial")
        self.terminal = ca.SX.sym("terminal")

    def symbol(self, kind: str, k: int) -> Any:
        """Return the argument for number ``k`` of a kind."""
        table = self.tables[kind]
        if k not in table:
            table[k] = ca.SX.sym(f"{kind}{k}")
        return table[k]

    def numbers(self, kind: str) -> list[int]:
        """Global numbers behind the entries of ``vector(kind)``."""
        return list(self.tables[kind])

    def vector(self, kind: str) -> Any:
        """Return all arguments of a kind as one vector."""
        return ca.vertcat(*self.tables[kind].values()) if self.tables[kind] else ca.SX.zeros(0)

    def jet(self, k: int) -> tuple[Any, Any]:
        """First two time derivatives of variable ``k``, and the depths at which it and they count as zero."""
        if k not in self.jets:
            self.jets[k] = ca.SX.sym(f"rates{k}", 2), ca.SX.sym(f"floors{k}", 3)
        return self.jets[k]

    def motions(self) -> Any:
        """Return all jets as one vector, variable by variable."""
        return (
            ca.vertcat(*(part for jet in self.jets.values() for part in jet)) if self.jets else ca.SX.zeros(0)
        )

    def sample(self, batch: int, instance: int, node: Expr) -> Any:
        """Return the flag of a sampled condition of an instance."""
        key = (batch, instance, id(node))
        if key not in self.samples:
            self.samples[key] = ca.SX.sym(f"s{len(self.samples)}")
            self.sample_nodes.append((batch, instance, node))
        return self.samples[key]


class Context:
    """Lowers expressions of instances; ``d`` may be replaced by new values during an update.

    ``output`` gives variables as expressions of others, None for those that are read as they are.
    """

    def __init__(self, arguments: Arguments, output: Callable[[int], Any] = lambda k: None) -> None:
        self.arguments, self._output = arguments, output
        self.model = arguments.model
        self.new: dict[int, Any] = {}
        """Discretes already determined in this micro-step, from the first those that are given from outside."""
        self.timed: dict[int, Any] = {}
        """Timed relations already determined in this micro-step."""
        self.signals: dict[int, Any] = {}
        self._tables: dict[int, Any] = {}

    def holding(self, new: dict[int, Any], signals: dict[int, Any], timed: dict[int, Any]) -> Context:
        """A context over the same arguments in which this much is determined."""
        made = Context(self.arguments, self._output)
        made.new, made.signals, made.timed = new, signals, timed
        return made

    def discrete(self, k: int) -> Any:
        """Return a discrete: its new value if it is already determined."""
        return self.new[k] if k in self.new else self.arguments.symbol("d", k)

    def lower(self, batch: int, instance: int, expr: Expr, at_once: bool = False) -> Any:
        """Return the SX of an expression of one instance.

        ``at_once``: relations that are not registered take the value that the instant gives them, not that of rounded numbers.
        """
        return lower(
            expr,
            lambda n: self._leaf(batch, instance, n),
            lambda n: self._special(batch, instance, n, at_once),
            self._tables,
        )

    def number(self, batch: int, instance: int, symbol: Symbol) -> tuple[str, int]:
        """Return (kind, global number) of a symbol of an instance."""
        kind = kind_of(symbol)
        return kind, self.model.flat.symbol(batch, instance, kind, symbol)

    def _leaf(self, batch: int, instance: int, node: Expr) -> Any:
        if isinstance(node, Symbol):
            kind, k = self.number(batch, instance, node)
            if kind == "p":
                return self.arguments.symbol("p", k)
            return self.discrete(k) if kind == "d" else self.variable(k)
        if node.op == "time":
            return self.arguments.t
        return self.arguments.initial if node.op == "initial" else self.arguments.terminal

    def variable(self, k: int) -> Any:
        """A continuous variable; one that a discrete alone determines is read like that discrete."""
        if k in self.signals:
            return self.signals[k]
        value = self._output(k)
        return self.arguments.symbol("x", k) if value is None else value

    def _compared(self, batch: int, instance: int, node: Expr) -> Any:
        a, arguments = self.arguments, [ca.SX(self.lower(batch, instance, n, True)) for n in node.args]
        own = {s.name() for n in arguments for s in ca.symvar(n)}
        moving = [(s, *a.jet(k)) for k, s in list(a.tables["x"].items()) if s.name() in own]
        if not moving and a.t.name() not in own:
            return None
        left, right = arguments
        return compared(node.op, left, right, moving, a.t, a.tolerance)

    def relation_number(self, batch: int, instance: int, node: Expr) -> int | None:
        """Return the global number of a registered relation, None for other nodes."""
        local = self.model.forms[batch].relation_at.get(id(node))
        return None if local is None else model_relation(self.model, batch, local) + instance

    def _special(self, batch: int, instance: int, node: Expr, at_once: bool) -> Any:
        number = self.relation_number(batch, instance, node)
        if number is not None:
            return self.timed[number] if number in self.timed else self.arguments.symbol("r", number)
        if node.op == "sample":
            return self.arguments.sample(batch, instance, node)
        if node.op in RELATIONS and at_once:
            return self._compared(batch, instance, node)
        if node.op == "no_event":
            return self.lower(batch, instance, node.args[0])
        if node.op == "table":
            return self.lower(batch, instance, choices(node))
        if node.op == "der":
            return self.arguments.symbol("slope", self.number(batch, instance, inner(node))[1])
        if node.op in ("pre", "edge", "change"):
            kind, k = self.number(batch, instance, inner(node))
            before = self.arguments.symbol("d" if kind == "d" else "x", k)
            if node.op == "pre":
                return before
            now = self.discrete(k)
            return ca.logic_and(now, ca.logic_not(before)) if node.op == "edge" else ca.ne(now, before)
        return None


def read_numbers(context: Context, batch: int, instance: int, expr: Expr) -> Iterator[tuple[str, int]]:
    """Yield (kind, number) of what an expression reads now: not through ``pre``, nor through frozen relations.

    Timed relations count with what they compare, under kind "t".
    """
    forms = context.model.forms[batch]
    stack, seen = [expr], set()
    while stack:
        node = stack.pop()
        if id(node) in seen or node.op in ("pre", "der"):
            continue
        seen.add(id(node))
        if isinstance(node, Symbol):
            yield context.number(batch, instance, node)
            continue
        number = context.relation_number(batch, instance, node)
        if number is not None:
            if not forms.relations[forms.relation_at[id(node)]].timed:
                continue
            yield "t", number
        stack.extend(reversed(node.args))
