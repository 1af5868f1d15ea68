"""The statements of one component, sorted into its template: integer rows, residuals, elements and discrete statements."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from typing import Any, cast

import numpy as np

from ..errors import (
    AcausalError,
    DuplicateNameError,
    DuplicateWriterError,
    Location,
    StatementError,
    UnconnectedInputError,
)
from ..modeling.component import Component, endless, line_of, locate
from ..modeling.dimensions import check_equation, dimension
from ..modeling.expressions import Expr, Symbol, walk, wrap
from ..modeling.fields import Variable
from ..modeling.operations import MARKS, RELATIONS
from ..modeling.ports import PortRef
from ..modeling.statements import Connect, Eq, Initially, Named, Require, Statement, Transitions, When
from ..modeling.typed_fields import Input
from .connections import Ends, check_ends, connection_rows, is_port_connection, signal_sets
from .flat_model import kind_of, locate_variable
from .forms import affine_form, choices, integer_factors
from .grouping import rest_of_computed
from .integer_parts import IntegerParts
from .locating import locate_symbol, offsets
from .statement_checks import check_actions, check_element, check_holding, shown, yield_hint
from .template import (
    Assignment,
    Check,
    ElementStatement,
    Index,
    Origin,
    ResidualStatement,
    Template,
    WhenChain,
    state_machine,
)

MOST_STATEMENTS = 1_000_000
"""Statements of one component; a loop that yields more does not end."""


class StatementSorter:
    """Sorts the statements of one traced object into its template."""

    def __init__(self, template: Template, obj: Component, path: str) -> None:
        self.t, self.obj, self.path = template, obj, path
        self.label = type(obj).__name__
        self.root = path == self.label
        self.fed: dict[tuple[int, str], Location] = {}
        self.ends = Ends()
        self.signals: list[tuple[Connect, Origin, Location]] = []
        self.named: dict[str, Origin] = {}
        self.integers = IntegerParts(template, obj, self.classify)
        self.lengths: list[int] = []
        self.col: list[int] = []
        self.val: list[int] = []

    # -- running equations() -------------------------------------------------------------------------------------

    def collect(self) -> None:
        """Read all of them."""
        try:
            generator = self.obj.equations()
            if not isinstance(generator, Iterable):
                code = self.obj.equations.__code__
                raise StatementError(
                    f"equations() of {self.label} returned {generator!r}",
                    where=(Location(self.path, code.co_filename, code.co_firstlineno),),
                    hint="make it a generator: write `yield` before every statement",
                )
            for statement, origin in self._statements(generator):
                self._at(origin, self._take, statement, origin)
        except RecursionError:
            raise endless("equations", self.obj) from None
        except Exception as error:
            locate(error, self.path)
            raise
        self.t.residuals.extend(rest_of_computed(self.t, self.obj))
        self._signals()
        self._child_inputs()
        self.t.number_discretes()
        self._ports()
        self._powers()
        self._bounds()

    def _at(self, origin: Origin, action: Callable[..., None], *args: Any) -> None:
        """Call ``action``; an error without a place gets that of the statement."""
        try:
            action(*args)
        except AcausalError as error:
            error.locate(self._place(origin))
            raise

    def _statements(self, generator: Iterator[Statement]) -> Iterator[tuple[Any, Origin]]:
        recorded = iter(self.obj.__dict__.get("_statements", ()))
        scripted = "_statements" in self.obj.__dict__
        for n, statement in enumerate(generator):
            if n >= MOST_STATEMENTS:
                raise StatementError(
                    f"equations() of {self.label} does not end: it has yielded {n} statements",
                    where=(self._place((self.obj.equations.__code__, 0)),),
                    hint="look for a loop without end; a part for each of many places is a list of components",
                )
            if scripted:
                yield next(recorded)
                continue
            inner: Any = generator
            while getattr(inner, "gi_yieldfrom", None) is not None and hasattr(
                inner.gi_yieldfrom, "gi_frame"
            ):
                inner = inner.gi_yieldfrom
            frame = getattr(inner, "gi_frame", None)
            code = self.obj.equations.__code__
            yield statement, ((frame.f_code, frame.f_lasti) if frame is not None else (code, 0))

    def _take(self, statement: Any, origin: Origin) -> None:
        kind = type(statement)
        if kind is Connect:
            self._connect(statement, origin)
        elif kind is Eq:
            self._equation(statement, origin)
        elif isinstance(statement, Named):
            self._element(statement, origin)
        elif isinstance(statement, When):
            check_actions(statement, self._name)
            self.t.whens.append(self.integers.held_in_chain(WhenChain(statement.branches, origin)))
        elif isinstance(statement, Transitions):
            check_actions(statement, self._name)
            self.t.whens.append(self.integers.held_in_chain(state_machine(statement, origin)))
        elif isinstance(statement, Initially):
            eq = statement.equation
            check_holding(eq)
            self.t.initials.append(ResidualStatement(choices(eq.residual), origin, eq.text(self._name)))
        elif isinstance(statement, Require):
            dimension(statement.condition)
            held = self.integers.held(statement.condition, origin)
            self.t.checks.append(Check(held, statement.message, origin))
        else:
            raise StatementError(
                f"equations() of {self.label} yielded {shown(statement)}, which is not a statement",
                where=(self._place(origin),),
                hint=yield_hint(statement),
            )

    def _place(self, origin: Origin) -> Location:
        return self.t.line(origin, self.path)

    # -- equations -----------------------------------------------------------------------------------------------

    def classify(self, symbol: Symbol) -> int | None:
        """Local index of a continuous variable, None for parameters and discretes."""
        return locate_variable(self.t, symbol)

    def locate(self, kind: str, symbol: Symbol) -> int:
        """Local index of a symbol; raises when it belongs to no part of this component."""
        return locate_symbol(self.t, kind, symbol)

    def _is_discrete(self, expr: Expr) -> bool:
        return isinstance(expr, Symbol) and kind_of(expr) == "d"

    def _equation(self, eq: Eq, origin: Origin) -> None:
        if isinstance(eq.lhs, Symbol) and isinstance(eq.lhs.field, Input) and eq.lhs.owner is not self.obj:
            self._feed(eq.lhs, eq.rhs, origin)
        else:
            self._relate(eq, origin)

    def _relate(self, eq: Eq, origin: Origin) -> None:
        if self._is_discrete(eq.lhs):
            check_equation(eq.lhs, eq.rhs)
            self._assignment(eq.lhs, eq.rhs, origin)
            return
        if eq.lhs.is_condition or eq.rhs.is_condition:
            raise StatementError(
                f"{eq} equates a condition with a number",
                hint="a condition may stand right of a Discrete(bool), Eq(self.on, x > 0); if_else(x > 0, a, b) is a number",
            )
        check_holding(eq)
        residual = choices(self.integers.held(eq.residual, origin))
        form = affine_form(residual, self.classify)
        row = integer_factors(form) if form is not None else None
        if row is None or form is None or self._compares(form.known):
            self.t.residuals.append(ResidualStatement(residual, origin, eq.text(self._name)))
            return
        self.t.row_texts[len(self.lengths)] = eq.text(self._name)
        if form.known is not None:
            self.t.remainders[len(self.lengths)] = form.known
        self._row(list(row), list(row.values()), origin)

    def _name(self, symbol: Symbol) -> str:
        """Path of a symbol from the traced component."""
        owner, steps = symbol.owner, [symbol.name]
        while owner is not None and owner is not self.obj:
            direct = self.t.direct.get(id(owner))
            owner, step = (None, direct) if direct else owner.__dict__.get("_within", (None, ""))
            steps.insert(0, step)
        return ".".join(filter(None, steps))

    def _compares(self, known: Expr | None) -> bool:
        """A comparison of variables decides the known part: what is decided may act on the comparison in turn."""
        if known is None or not known.marks & MARKS["<"]:
            return False
        relations = (n for n in walk(known) if n.op in RELATIONS)
        symbols = (s for n in relations for s in walk(n) if isinstance(s, Symbol))
        return any(self.classify(s) is not None for s in symbols)

    def _row(self, col: list[int], val: list[int], origin: Origin) -> None:
        self.lengths.append(len(col))
        self.col.extend(col)
        self.val.extend(val)
        self.t.row_origins.append(origin)

    def _assignment(self, target: Expr, value: Expr, origin: Origin) -> None:
        assert isinstance(target, Symbol)
        self.t.assignments.append(Assignment(target, self.integers.held(value, origin), origin))

    def _element(self, statement: Any, origin: Origin) -> None:
        name = statement.name
        if name in self.named or name in self.t.discretes or name in self.t.variables:
            first = self.named.get(name)
            raise DuplicateNameError(
                f"two statements or fields of {self.label} are named `{name}`",
                where=tuple(self._place(o) for o in ((first, origin) if first else (origin,))),
                hint='give one of them another name: name="..."',
            )
        self.named[name] = origin
        self.t.discretes[name] = statement.mode_field()
        table = statement.table()
        check_element(table, name, self.classify)
        self.t.elements.append(ElementStatement(name, self.integers.held_in_table(table, origin), origin))

    # -- connections and inputs ----------------------------------------------------------------------------------

    def _connect(self, statement: Connect, origin: Origin) -> None:
        ends = statement.ends
        for end in ends:
            self._check_owner(end)
        if type(ends[0]) is not PortRef or any(
            type(e) is not PortRef or type(e.port) is not type(ends[0].port) for e in ends
        ):
            check_ends(statement, self._place(origin), self._named)
        if is_port_connection(statement):
            # Located at once: of a large model there would be as many references to keep and to visit again.
            for end in ends:
                base = self.t.resolve[id(end.owner)][0]
                self.ends.first.append(base + self.t.layouts[id(end.owner)].port_first(end.name))
                self.ends.own.append(end.owner is self.obj)
                self.ends.kind.append(type(end.port))
            self.ends.sizes.append(len(ends))
            self.ends.origins.append(origin)
        else:
            self.signals.append((statement, origin, self._place(origin)))

    def _check_owner(self, end: Any) -> None:
        owner = end.owner
        if owner is self.obj or id(owner) in self.t.direct:
            return
        offsets(self.t, owner)
        raise StatementError(
            f"`{end.name}` of a {type(owner).__name__} lies inside a part of {self.label} and cannot be connected from here",
            hint="give the part a port of its own, connect that port inside its class, and connect it here",
        )

    def _named(self, end: Any) -> str:
        """A port or signal as the author of this component writes it."""
        part = self.t.direct.get(id(end.owner), "")
        return f"{part}.{end.name}" if part else end.name

    def _ports(self) -> None:
        open_ports = [
            (g.voff + first, g.kids, kind) for g in self.t.groups for kind, first in g.template.port_kinds
        ]
        rows = connection_rows(self.ends, open_ports)
        self.lengths.extend(rows.lengths)
        self.col.extend(rows.col)
        self.val.extend(rows.val)
        self.t.row_origins.extend(rows.origins)
        self.t.relate(self.lengths, self.col, self.val)

    def _signals(self) -> None:
        for s in signal_sets(self.signals, self.obj, self._named):
            for target in s.targets:
                self._at(s.origin, self._feed, target, s.source, s.origin)

    def _feed(self, target: Symbol, value: Expr, origin: Origin) -> None:
        key = (id(target.owner), target.name)
        if key in self.fed:
            raise DuplicateWriterError(
                f"`{self._named(target)}` is given by two statements",
                where=(self.fed[key], self._place(origin)),
                hint="a signal has one source: a keyword, a connection or an equation",
            )
        self.fed[key] = self._place(origin)
        if target.field.is_discrete:
            self._assignment(target, value, origin)
        else:
            self._relate(Eq(target, value), origin)

    def _child_inputs(self) -> None:
        """Keywords such as ``PWM(duty=0.5)`` feed an input; what is left open is an error."""
        fed = [
            g.kids
            for g in self.t.groups
            if any(isinstance(f, Input) for f in g.template.cls._fields.values())
        ]
        for k in np.sort(np.concatenate([np.zeros(0, Index), *fed])).tolist():
            path, child = self.t.runs[k][0], cast(Component, self.t.keep[1 + k])
            code, lasti = child.__dict__.get("_origin", (type(self.obj).equations.__code__, 0))
            for name, f in type(child)._fields.items():
                if not isinstance(f, Input):
                    continue
                symbols = f.symbols(child)
                if name in child.__dict__:
                    self._at((code, lasti), self._feed, symbols, wrap(child.__dict__[name]), (code, lasti))
                elif not f.shape and (id(child), name) not in self.fed:
                    full = path if self.root else f"{self.path}.{path}"
                    raise UnconnectedInputError(
                        f"input `{name}` of `{full}` has no value",
                        where=(Location(full, code.co_filename, line_of(code, lasti)),),
                        hint=f"connect it, or give it as keyword: {type(child).__name__}({name}=...)",
                    )

    def _bounds(self) -> None:
        """Declared bounds of own variables are requirements during the run."""
        origin: Origin = (type(self.obj).equations.__code__, 0)
        for name, f in self.t.variables.items():
            if not isinstance(f, Variable):
                continue
            symbol = Symbol(self.obj, name, f)
            if isfinite(f.min):
                self.t.checks.append(Check(symbol >= f.min, f"`{name}` must be at least {f.min:g}", origin))
            if isfinite(f.max):
                self.t.checks.append(Check(symbol <= f.max, f"`{name}` must be at most {f.max:g}", origin))

    def _powers(self) -> None:
        powers = (ref.power() for ref in self.obj.port_refs())
        self.t.powers.extend(p for p in powers if p is not None)
