"""Which statements determine which discretes, and the order in which they are evaluated."""

from __future__ import annotations

from typing import Any

from ..errors import DuplicateWriterError, EventIterationError
from ..flattening.forms import has_time
from ..flattening.template import Assignment, WhenChain
from ..modeling.expressions import Expr, walk
from ..modeling.statements import Reinit
from .context import Context, read_numbers


class DiscreteSignals:
    """Continuous variables that discretes alone determine: they are read like those discretes."""

    def __init__(self, context: Context) -> None:
        self.context, self.model = context, context.model

    def knowns(self, x: int) -> list[tuple[float, int, int, Expr]] | None:
        """(factor, batch, instance, expression) that add up to a variable without unknowns, time and relations."""
        W, V = self.model.W, self.model.V_known
        if W.indptr[x + 1] != W.indptr[x]:
            return None
        found = []
        for e in range(V.indptr[x], V.indptr[x + 1]):
            number = int(V.indices[e])
            known = self.model.known_at(number)
            if known is None or has_time(known.expr) or self._reads_relations(known.batch, known.expr):
                return None
            found.append((float(V.data[e]), known.batch, number - known.first, known.expr))
        return found

    def _reads_relations(self, batch: int, expr: Expr) -> bool:
        return any(id(n) in self.model.forms[batch].relation_at for n in walk(expr))

    def _reads(self, x: int) -> list[tuple[str, int]]:
        knowns = self.knowns(x)
        reads = [r for _, s, i, e in knowns or [] for r in read_numbers(self.context, s, i, e)]
        return [(kind, k) for kind, k in reads if kind == "d"]

    def discretes(self, kind: str, k: int) -> list[int]:
        """Return the discretes behind what an expression reads."""
        if kind == "d":
            return [k]
        return [d for _, d in self._reads(k)] if kind == "v" else []

    def now(self, batch: int, instance: int, expr: Expr) -> list[int]:
        """Return the discretes whose new values an expression reads."""
        return [
            d
            for kind, k in read_numbers(self.context, batch, instance, expr)
            for d in self.discretes(kind, k)
        ]


class Ordering:
    """Sorts the discrete statements of a model."""

    def __init__(self, context: Context, signals: DiscreteSignals) -> None:
        self.context, self.signals, self.flat = context, signals, context.model.flat

    def items(self) -> list[tuple[int, int, Any]]:
        """Return (batch, instance, statement) of all discrete statements."""
        templates = [s.template for s in self.flat.batches]
        instances = self.flat.instances()
        return [(k, i, s) for k, i in instances for s in (*templates[k].assignments, *templates[k].whens)]

    def targets(self, batch: int, instance: int, item: Any) -> list[int]:
        """Return the discretes that a statement determines."""
        if isinstance(item, Assignment):
            return [self.context.number(batch, instance, item.target)[1]]
        found = [
            a.target
            for _, actions in item.branches
            for a in actions
            if hasattr(a, "target") and not isinstance(a, Reinit)
        ]
        return list(dict.fromkeys(self.context.number(batch, instance, t)[1] for t in found))

    def expressions(self, item: Any) -> list[Expr]:
        """Return everything a statement reads."""
        if isinstance(item, Assignment):
            return [item.value]
        return [
            e
            for conditions, actions in item.branches
            for e in (*conditions, *(a.value for a in actions if hasattr(a, "value")))
        ]

    def writers(self, items: list[tuple[int, int, Any]]) -> dict[int, int]:
        """Item that determines each discrete; two are an error."""
        batches, location = self.flat.batches, self.flat.location
        modes = {
            int(batches[k].db[i]) + (batches[k].template.index("d", e.name) or 0): (k, i, e)
            for k, i, e in self.flat.statements("elements")
        }
        writer: dict[int, int] = {}
        for n, (batch, instance, item) in enumerate(items):
            for d in self.targets(batch, instance, item):
                if d in self.context.new:
                    raise DuplicateWriterError(
                        f"`{self.flat.discrete(d)}` is an input of the model, and determined by a statement",
                        where=(location(batch, instance, item.origin),),
                        hint="declare it as Discrete, or state the equation of another variable",
                    )
                if d in writer or d in modes:
                    both = modes[d] if d in modes else items[writer[d]], (batch, instance, item)
                    raise DuplicateWriterError(
                        f"`{self.flat.discrete(d)}` is determined by two statements",
                        where=tuple(location(k, i, s.origin) for k, i, s in both),
                        hint="one Eq, one when chain (with elsewhen), one transitions or one mode statement per discrete",
                    )
                writer[d] = n
        return writer

    def sorted(self, items: list[tuple[int, int, Any]]) -> list[int]:
        """Order of evaluation: an item after those that determine what it reads now."""
        writer = self.writers(items)
        needs: list[list[int]] = []
        for n, (batch, instance, item) in enumerate(items):
            reads: dict[int, None] = {}
            for e in self.expressions(item):
                for kind, k in read_numbers(self.context, batch, instance, e):
                    for d in self.signals.discretes(kind, k):
                        if d in writer:
                            reads.setdefault(writer[d])
            if isinstance(item, WhenChain):
                reads.pop(n, None)
            needs.append(list(reads))
        return self._kahn(items, needs)

    def _kahn(self, items: list[tuple[int, int, Any]], needs: list[list[int]]) -> list[int]:
        missing = [len(n) for n in needs]
        users: list[list[int]] = [[] for _ in items]
        for n, needed in enumerate(needs):
            for m in needed:
                users[m].append(n)
        order = [n for n, count in enumerate(missing) if not count]
        for n in order:
            for user in users[n]:
                missing[user] -= 1
                if not missing[user]:
                    order.append(user)
        if len(order) < len(items):
            raise self._circular(items, [n for n, count in enumerate(missing) if count])
        return order

    def _circular(self, items: list[tuple[int, int, Any]], waiting: list[int]) -> EventIterationError:
        places = tuple(self.flat.location(items[n][0], items[n][1], items[n][2].origin) for n in waiting[:6])
        names = [self.flat.discrete(d) for n in waiting[:6] for d in self.targets(*items[n])]
        return EventIterationError(
            f"the discrete variables `{'`, `'.join(names)}` determine each other",
            where=places,
            hint="read one of them with pre(...)",
        )
