"""One micro-step of the discrete part as a single function: sorted equations, whens, state machines.

Reference for the synchronous reading of ``when``: semantics of the language, "Instants".
"""

from __future__ import annotations

import sys
from typing import Any

import casadi as ca
import numpy as np

from ..errors import EventIterationError, Location
from ..flattening.forms import has_time
from ..flattening.template import Assignment, Check, WhenChain
from ..modeling.expressions import Expr, walk
from ..modeling.operations import RELATIONS
from ..modeling.statements import Assign, Reinit, Terminate
from ..modeling.typed_fields import LARGEST_WHOLE, Typed
from ..reduction.core import model_relation
from ..reduction.reduced_model import ReducedModel
from ..values import frozen
from .context import Arguments, Context, read_numbers
from .discrete_check import StatementCheck
from .lowering import Buffered
from .ordering import DiscreteSignals, Ordering
from .output_values import OutputValues


@frozen
class Sample:
    """A sampled condition: period and start are parameter expressions of an instance."""

    batch: int
    instance: int
    node: Expr


@frozen
class WhenBranch:
    """A branch of a when: what fires with it."""

    reinits: tuple[tuple[int, int], ...]
    """(variable, position among the reinit values)."""
    messages: tuple[str, ...]
    place: Location
    compares: frozenset[int]
    """Variables that its actions compare."""


@frozen
class Stop:
    """What the condition that ends a run reads and keeps, by numbers; other runs of the model know nothing of it."""

    memory: np.ndarray
    relations: np.ndarray
    samples: np.ndarray

    @classmethod
    def none(cls) -> Stop:
        """No condition."""
        return cls(*(np.zeros(0, np.int64) for _ in range(3)))


@frozen
class DiscreteProgram:
    """The function of one micro-step and what its arguments and results mean.

    Arguments: parameters, discretes before, relations, variables, samples, memory of conditions,
    (t, tolerance, initial, terminal, accuracy of the run), discrete ``inputs`` now. Results: discretes, memory, relations, times
    of the timed relations, fired branches, reinit values, checks, controls of the elements, enabled guards, whether all
    discretes have values of their types and nothing is missed, by how much discretes ``compared_at_once`` and the timed
    relations miss their statements.
    """

    update: Buffered
    p: np.ndarray
    x: np.ndarray
    slopes: np.ndarray
    """Variables of which the time derivative is read; they follow the values of ``x``."""
    compared: np.ndarray
    """Variables that actions compare; two derivatives and three depths that count as zero follow for each."""
    inputs: np.ndarray
    """Discretes that are given from outside."""
    r: np.ndarray
    timed: np.ndarray
    samples: tuple[Sample, ...]
    branches: tuple[WhenBranch, ...]
    checks: tuple[tuple[int, int, Check], ...]
    """(batch, instance, statement) of requirements on more than parameters, which are met before a run begins."""
    guards: tuple[tuple[int, int, int], ...]
    """(element, branch, guard) of the entries of the enabled guards."""
    written: tuple[tuple[int, Location, Typed], ...]
    """(discrete, place of the statement that determines it, its field)."""
    memory: int
    compared_at_once: np.ndarray
    """Discretes to which actions assign what depends on comparisons within the instant."""
    stop: Stop


class _Update:
    def __init__(self, model: ReducedModel) -> None:
        self.model = model
        self.flat = model.flat
        self.arguments = Arguments(model)
        self.context = Context(self.arguments, OutputValues(self.arguments))
        self.signals = DiscreteSignals(self.context)
        self.order = Ordering(self.context, self.signals)
        for k in range(model.flat.nd):
            self.arguments.symbol("d", k)
        for k in range(model.nr):
            self.arguments.symbol("r", k)
        root = model.flat.root
        for k in [root.index("d", name) for name in root.inputs]:
            if k is not None:
                self.context.new[k] = self.arguments.symbol("u", k)
        self.memory: list[tuple[Any, Any]] = []
        """Symbols of what conditions were after the micro-step before, all true before the start, and what they are now."""
        self.resting: Any = None
        """Symbol that is true before the start alone, where state machines do not move."""
        self.fired: list[Any] = []
        self.branches: list[WhenBranch] = []
        self.reinits: list[Any] = []
        self.times: dict[int, Any] = {}
        self.ways: dict[int, tuple[int, int, list[tuple[Any, Expr]]]] = {}
        """Batch and instance of the `when` that determines a discrete, with its expressions and when they count."""

    def lower(self, batch: int, instance: int, expr: Expr, at_once: bool = False) -> Any:
        for kind, k in list(read_numbers(self.context, batch, instance, expr)):
            if kind == "v":
                knowns = self.signals.knowns(k)
                if knowns is not None:
                    self.context.signals[k] = ca.SX(
                        sum(f * self.context.lower(s, i, e) for f, s, i, e in knowns)
                    )
            elif kind == "t" and k not in self.context.timed:
                self._timed_relation(k)
        return self.context.lower(batch, instance, expr, at_once)

    def _timed_relation(self, number: int) -> None:
        """Value after time t of a relation that is affine in time, and the time at which it changes."""
        rows, instance = self.model.relation_at(number)
        a = self.arguments
        g, inner = self._with_held(rows.batch, instance, rows.relation.difference)
        slope = ca.jacobian(g, a.t)
        at = -ca.substitute(g, a.t, ca.SX(0)) / slope
        moving = ca.ne(slope, 0)
        reached = a.t + a.tolerance >= at
        positive = ca.if_else(moving, ca.if_else(reached, slope > 0, slope < 0), g > 0)
        negative = ca.if_else(moving, ca.if_else(reached, slope < 0, slope > 0), g < 0)
        values = {
            "<": negative, "<=": ca.logic_not(positive), ">": positive, ">=": ca.logic_not(negative),
            "==": ca.logic_and(ca.logic_not(positive), ca.logic_not(negative)), "!=": ca.logic_or(positive, negative),
        }  # fmt: skip
        found = [ca.SX(values[rows.relation.node.op]), ca.if_else(moving, at, np.inf)]
        found = ca.substitute(found, [s for s, _ in inner], [value for _, value in inner])
        self.context.timed[number], self.times[number] = found

    def _with_held(self, batch: int, instance: int, expr: Expr) -> tuple[Any, list[tuple[Any, Any]]]:
        """An expression with symbols for all that this micro-step determines, which does not move with time; their values.

        Discretes that take an expression of time keep its value after the instant, timed relations theirs.
        """
        self.lower(batch, instance, expr)
        context = self.context
        tables = {"d": context.new, "v": context.signals, "t": context.timed}
        held: dict[str, dict[int, Any]] = {"d": {}, "v": {}, "t": {}}
        for kind, k in read_numbers(context, batch, instance, expr):
            if k in tables.get(kind, ()):
                held[kind][k] = ca.SX.sym(f"held_{kind}{k}")
        made = context.holding(held["d"], held["v"], held["t"]).lower(batch, instance, expr)
        return made, [(s, tables[kind][k]) for kind, part in held.items() for k, s in part.items()]

    # -- the function --------------------------------------------------------------------------------------------

    def item(self, batch: int, instance: int, item: Any) -> None:
        if isinstance(item, Assignment):
            target = self.context.number(batch, instance, item.target)[1]
            self.context.new[target] = self.lower(batch, instance, item.value)
            return
        targets = self.order.targets(batch, instance, item)
        result = {d: self.arguments.symbol("d", d) for d in targets}
        free = ca.SX(1)
        for conditions, actions in item.branches:
            fires = self._fires(batch, instance, conditions, item.edge)
            now = ca.logic_and(free, fires)
            free = ca.logic_and(free, ca.logic_not(fires))
            self._actions(batch, instance, item, actions, now, result)
        self.context.new.update(result)

    def stop(self, items: list[tuple[int, int, Any]]) -> Stop:
        """Add what ends the run after all other statements; nothing reads it."""
        memory, samples = len(self.memory), len(self.arguments.sample_nodes)
        relations: set[int] = set()
        for batch, instance, item in items:
            self.item(batch, instance, item)
            forms = self.model.forms[batch]
            left = [c for conditions, _ in item.branches for c in conditions]
            while left:
                local = [forms.relation_at.get(id(n)) for n in walk(left.pop())]
                found = [k for k in local if k is not None]
                left += [forms.relations[k].difference for k in found]
                relations.update(model_relation(self.model, batch, k) + instance for k in found)
        return Stop(
            np.arange(memory, len(self.memory)), np.array(sorted(relations), np.int64),
            np.arange(samples, len(self.arguments.sample_nodes)),
        )  # fmt: skip

    def _fires(self, batch: int, instance: int, conditions: tuple[Expr, ...], edge: bool) -> Any:
        any_ = ca.SX(0)
        for c in conditions:
            value = self.lower(batch, instance, c)
            any_ = ca.logic_or(any_, ca.logic_and(value, ca.logic_not(self._before(value, edge))))
        return any_

    def _before(self, value: Any, edge: bool) -> Any:
        """Symbol of what keeps a condition from firing: that it was true before, of a state machine that nothing was before."""
        if not edge and self.resting is not None:
            return self.resting
        before = ca.SX.sym(f"w{len(self.memory)}")
        self.memory.append((before, value if edge else ca.SX(0)))
        if not edge:
            self.resting = before
        return before

    def _actions(
        self, batch: int, instance: int, item: WhenChain, actions: Any, now: Any, result: dict[int, Any]
    ) -> None:
        reinits, messages = [], [a.message for a in actions if isinstance(a, Terminate)]
        place = self.flat.location(batch, instance, item.origin)
        fresh: dict[int, Any] = {}
        compares: set[int] = set()
        for action in self._action_order(batch, instance, actions, place):
            self.context.new.update(fresh)
            value = self.lower(batch, instance, action.value, True)
            compares |= self._reads_motions(value)
            _, k = self.context.number(batch, instance, action.target)
            if isinstance(action, Reinit):
                reinits.append((k, len(self.reinits)))
                self.reinits.append(value)
            else:
                fresh[k] = value
                result[k] = ca.if_else(now, value, result[k])
                self.ways.setdefault(k, (batch, instance, []))[2].append((now, action.value))
        for k in fresh:
            self.context.new.pop(k, None)
        self.branches.append(WhenBranch(tuple(reinits), tuple(messages), place, frozenset(compares)))
        self.fired.append(now)

    def _action_order(self, batch: int, instance: int, actions: Any, place: Location) -> list[Any]:
        """Assignments of one branch after those whose new values they read, reinits last."""
        rest = [a for a in actions if isinstance(a, Assign)]
        targets = {
            id(a): self.context.number(batch, instance, a.target)[1]
            for a in rest
            if not isinstance(a, Reinit)
        }
        order: list[Any] = []
        while rest:
            open_ = {targets[id(a)] for a in rest if id(a) in targets}
            ready = [a for a in rest if not open_ & set(self.signals.now(batch, instance, a.value))]
            if not ready:
                names = [self.flat.discrete(d) for d in sorted(open_)]
                raise EventIterationError(
                    f"the assignments of `{'`, `'.join(names)}` read their own new values",
                    where=(place,),
                    hint="read the value before the assignment with pre(...)",
                )
            order += [a for a in ready if id(a) in targets] or ready
            rest = [a for a in rest if a not in order]
        return order

    def defects(self) -> tuple[Any, Any]:
        """By how much discretes that comparisons decide at once, and relations of time, are not what they should be.

        Last the accuracy of the run.
        """
        a, c = self.arguments, self.context
        self.ways = {k: way for k, way in self.ways.items() if self._compares(*way)}
        check = StatementCheck(a, self.signals)
        found = [check.statement((k, *self.ways[k])) for k in sorted(self.ways)]
        found += check.relations_of_time(self._read_before()) if self.times else []
        symbols = ca.vertcat(*check.new.values(), *check.held)
        values = ca.vertcat(
            *(c.discrete(k) for k in check.new), *(self.relation(k) for k in range(self.model.nr))
        )
        return ca.substitute(ca.vertcat(*found), symbols, values) if found else ca.SX.zeros(0), check.accuracy

    def _read_before(self) -> dict[int, list[int]]:
        """The relations of time, with the discretes of each `when` that reads them: it determines these by what they were."""
        found: dict[int, list[int]] = {number: [] for number in sorted(self.times)}
        for batch, instance, item in self.order.items():
            if isinstance(item, WhenChain):
                targets = self.order.targets(batch, instance, item)
                for expr in self.order.expressions(item):
                    for kind, number in read_numbers(self.context, batch, instance, expr):
                        if kind == "t":
                            found[number] += targets
        return found

    def _compares(self, batch: int, instance: int, ways: list[tuple[Any, Expr]]) -> bool:
        nodes = (n for _, expr in ways for n in walk(expr) if n.op in RELATIONS)
        return any(self.context.relation_number(batch, instance, n) is None for n in nodes)

    def _reads_motions(self, value: Any) -> set[int]:
        """Variables whose motions a value depends on."""
        read = {s.name() for s in ca.symvar(ca.SX(value))}
        jets = self.arguments.jets.items()
        return {k for k, jet in jets if not read.isdisjoint(s.name() for s in ca.symvar(ca.vertcat(*jet)))}

    def relation(self, number: int) -> Any:
        """A relation in this micro-step."""
        timed = self.context.timed
        return timed[number] if number in timed else self.arguments.symbol("r", number)

    def controls(self) -> tuple[list[Any], list[tuple[int, int, int]], list[Any]]:
        """Per element the value of its control or enabling condition; enabled flags of guards."""
        values, guards, flags = [], [], []
        for number, (rows, i) in enumerate(self.flat.each(self.model.elements)):
            table = rows.forms.statement.table
            values.append(self._control(rows, table, i))
            for b, branch in enumerate(table.branches):
                for g, leave in enumerate(branch.guards):
                    if leave.enabled is not None:
                        guards.append((number, b, g))
                        flags.append(self.lower(rows.batch, i, leave.enabled))
        return values, guards, flags

    def _control(self, rows: Any, table: Any, i: int) -> Any:
        if table.control is not None:
            return ca.SX(1) if rows.forms.continuous else self.lower(rows.batch, i, table.control)
        value = ca.SX(1) if table.enabled is None else self.lower(rows.batch, i, table.enabled)
        if table.breakaway is not None and not self.model.forms[rows.batch].reads(table.breakaway, "v"):
            capacity = self.lower(rows.batch, i, table.breakaway)
            value = ca.logic_and(value, ca.ne(capacity, 0))
        elif table.breakaway is not None and has_time(table.breakaway):
            capacity = self.lower(rows.batch, i, table.breakaway)
            moving = ca.logic_or(ca.ne(capacity, 0), ca.ne(ca.jacobian(capacity, self.arguments.t), 0))
            value = ca.logic_and(value, moving)
        return value


def discrete_program(model: ReducedModel, stop: WhenChain | None = None) -> DiscreteProgram:
    """Build the function of one micro-step; ``stop`` is the statement that ends a run, apart from the model's own.

    Raises
    ------
    DuplicateWriterError
        If two statements determine one discrete variable.
    EventIterationError
        If discrete variables determine each other without ``pre``.
    """
    u = _Update(model)
    items = u.order.items()
    order = u.order.sorted(items)
    for n in order:
        if items[n][2] is not stop:
            u.item(*items[n])
    apart = u.stop([items[n] for n in order if items[n][2] is stop])
    for rows, i in model.flat.each(r for r in model.relations if r.relation.timed):
        if rows.first + i not in u.context.timed:
            u._timed_relation(rows.first + i)
    controls, guards, flags = u.controls()
    checks = tuple(
        (k, i, c) for k, i, c in model.flat.statements("checks") if not model.forms[k].is_static(c.condition)
    )
    a, c = u.arguments, u.context
    timed = sorted(u.times)
    fields = model.flat.field_of("d") if items else {}
    written = tuple(
        (d, model.flat.location(s, i, item.origin), fields[d])
        for s, i, item in items
        for d in u.order.targets(s, i, item)
    )
    defects, accuracy = u.defects()
    outputs = [
        [c.discrete(k) for k in range(model.flat.nd)],
        [value for _, value in u.memory],
        [u.relation(k) for k in range(model.nr)],
        [u.times[k] for k in timed],
        u.fired,
        u.reinits,
        [u.lower(k, i, check.condition) for k, i, check in checks],
        controls,
        flags,
        [_all_sound([(c.discrete(d), f) for d, _, f in written]), ca.logic_not(ca.sum1(ca.ne(defects, 0)))],
    ]
    results = [*(ca.vertcat(*o) if o else ca.SX.zeros(0) for o in outputs), ca.densify(defects)]
    samples = ca.vertcat(*a.samples.values()) if a.samples else ca.SX.zeros(0)
    memory = ca.vertcat(*(m for m, _ in u.memory)) if u.memory else ca.SX.zeros(0)
    clock = ca.vertcat(a.t, a.tolerance, a.initial, a.terminal, accuracy)
    read = ca.vertcat(a.vector("x"), a.vector("slope"), a.motions())
    arguments = [a.vector("p"), a.vector("d"), a.vector("r"), read, samples, memory, clock, a.vector("u")]
    update = ca.Function("update", arguments, results)
    p, x, slope, inputs = (np.array(a.numbers(kind), np.int64) for kind in ("p", "x", "slope", "u"))
    return DiscreteProgram(
        Buffered(update), p, x, slope, np.array(list(a.jets), np.int64), inputs,
        np.array([k for k in range(model.nr) if k not in u.times], np.int64), np.array(timed, np.int64),
        tuple(Sample(*s) for s in a.sample_nodes), tuple(u.branches), checks, tuple(guards), written, len(u.memory),
        np.array(sorted(u.ways), np.int64), apart,
    )  # fmt: skip


def _all_sound(values: list[tuple[Any, Typed]]) -> Any:
    """Condition that every value is one of its type: one of the codes, a whole number, or finite."""
    sound = ca.SX(1)
    for value, f in values:
        finite = ca.fabs(value) <= sys.float_info.max
        if f.codes is not None:
            holds = ca.SX(0)
            for code in f.codes:
                holds = ca.logic_or(holds, ca.eq(value, code))
        else:
            whole = ca.logic_and(ca.fabs(value) <= LARGEST_WHOLE, ca.eq(ca.floor(value), value))
            holds = finite if f.type is float else whole
        sound = ca.logic_and(sound, holds)
    return sound
