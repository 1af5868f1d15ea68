"""Trace a class once per structural key.

``build()`` and ``equations()`` run on one object per key; what they yield is
sorted into integer rows, residuals, elements and discrete statements over the
local numbering of the template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from math import isfinite
from typing import Any, cast

import numpy as np

from ..errors import (
    AcausalError,
    DeclarationError,
    DuplicateNameError,
    DuplicateWriterError,
    Location,
    StatementError,
    UnconnectedInputError,
)
from ..modeling.component import Component, endless, existing_parts, line_of, locate
from ..modeling.dimensions import check_equation
from ..modeling.expressions import RELATIONS, Expr, Symbol, walk, wrap
from ..modeling.fields import Parameter, Start, Structural, Variable, active
from ..modeling.ports import PortRef
from ..modeling.statements import Assign, Connect, Eq, Initially, Named, Require, Statement, Transitions, When
from ..modeling.typed_fields import Discrete, Input, Output
from .balance import check_balance
from .connections import Ends, check_ends, connection_rows, is_port_connection, signal_sets
from .forms import affine_form, choices, integer_factors
from .grouping import computed_names, group_children, number_discretes, own_layout, rest_of_computed
from .integer_parts import IntegerParts
from .locating import locate_symbol, offsets
from .statement_checks import check_continuous, check_element, check_writers, shown, yield_hint
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
MAX_DEPTH = 100
"""Levels of composites within each other."""


class Tracer:
    """Keeps the templates of one flattening, by key."""

    def __init__(self) -> None:
        self.templates: dict[tuple[Any, ...], Template] = {}
        self.path: list[str] = []
        """Steps from the root to the object being traced: the first instance of its class."""
        self._tracing: dict[tuple[Any, ...], str] = {}

    def place(self, obj: Component) -> str:
        """Return the path of the object being traced, the class name for the root."""
        return ".".join(self.path) or type(obj).__name__

    def template(self, obj: Component) -> Template:
        """Return the template of an object, tracing its class if the key is new.

        Raises
        ------
        DeclarationError
            If a component contains itself.
        """
        cls = type(obj)
        structural = tuple(
            vars(obj).get(n, f.default) for n, f in cls._fields.items() if isinstance(f, Structural)
        )
        key = (cls, structural, computed_names(obj), None if _shared(obj) else id(obj))
        found = self.templates.get(key)
        if found is None:
            if key in self._tracing or len(self.path) > MAX_DEPTH:
                inside = self._tracing.get(key) or f"{MAX_DEPTH} levels above"
                raise DeclarationError(
                    f"{cls.__name__} contains itself: `{'.'.join(self.path)}` stands inside {inside}",
                    where=tuple(Location(".".join(self.path), p.file, p.line) for p in obj.location()),
                    hint="a chain of parts is a list: self.cells = [Cell(...) for _ in range(n)]",
                )
            self._tracing[key] = f"`{'.'.join(self.path)}`" if self.path else "the model"
            found = self.templates[key] = self._trace(self._representative(obj))
            del self._tracing[key]
        return found

    def _child(self, step: str, obj: Component) -> Template:
        """The template of a part, one step further from the root."""
        self.path.append(step)
        found = self.template(obj)
        self.path.pop()
        return found

    def _representative(self, obj: Component) -> Component:
        """The object to trace: a fresh one with the structural values, or the unshared object itself."""
        if not _shared(obj):
            return obj
        cls = type(obj)
        fresh = cls.__new__(cls)
        for name, f in cls._fields.items():
            if isinstance(f, Structural) and name in obj.__dict__:
                fresh.__dict__[name] = obj.__dict__[name]
        fresh.__dict__.update(dict.fromkeys(computed_names(obj), Start(0.0)))
        return fresh

    def _trace(self, obj: Component) -> Template:
        obj.ensure_built()
        template = Template(type(obj))
        template.keep.append(obj)
        own_layout(template, obj)
        group_children(self._child, template, obj)
        active.stack.append(obj)
        try:
            _Statements(template, obj, self.place(obj)).collect()
        finally:
            active.stack.pop()
        check_balance(template, obj, self.place(obj))
        return template


def _shared(obj: Component) -> bool:
    """Whether one trace stands for all objects of the class: no part of this one was rebuilt from outside."""
    return type(obj).share and not any(
        part.restructured for _, part in existing_parts(obj) if part is not obj
    )


class _Statements:
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
        self.t.residuals += rest_of_computed(self.t, self.obj)
        self._signals()
        self._child_inputs()
        number_discretes(self.t)
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
        elif isinstance(statement, (When, Transitions, Initially, Require)):
            self._other(statement, origin)
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
        f = symbol.field
        if (
            isinstance(f, Parameter)
            or isinstance(f, Discrete)
            or (isinstance(f, (Input, Output)) and f.is_discrete)
        ):
            return None
        return self.locate("v", symbol)

    def locate(self, kind: str, symbol: Symbol) -> int:
        """Local index of a symbol; raises when it belongs to no part of this component."""
        return locate_symbol(self.t, kind, symbol)

    def _is_discrete(self, expr: Expr) -> bool:
        f = getattr(expr, "field", None)
        return isinstance(f, Discrete) or (isinstance(f, (Input, Output)) and f.is_discrete)

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
        check_equation(eq.lhs, eq.rhs)
        check_continuous(eq.residual)
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
        relations = [] if known is None else [n for n in walk(known) if n.op in RELATIONS]
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

    def _other(self, statement: Any, origin: Origin) -> None:
        if isinstance(statement, (When, Transitions)):
            check_writers(statement, self._name)
        if isinstance(statement, When):
            for action in (a for _, actions in statement.branches for a in actions if isinstance(a, Assign)):
                check_equation(action.target, action.value)
            self.t.whens.append(self.integers.held_in_chain(WhenChain(statement.branches, origin)))
        elif isinstance(statement, Transitions):
            self.t.whens.append(self.integers.held_in_chain(state_machine(statement, origin)))
        elif isinstance(statement, Initially):
            eq = statement.equation
            check_equation(eq.lhs, eq.rhs)
            check_continuous(eq.residual)
            self.t.initials.append(ResidualStatement(choices(eq.residual), origin, eq.text(self._name)))
        else:
            held = self.integers.held(statement.condition, origin)
            self.t.checks.append(Check(held, statement.message, origin))

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
        self.t.ptr = np.concatenate([[0], np.cumsum(np.array(self.lengths, Index))]).astype(Index)
        self.t.col = np.array(self.col, Index)
        self.t.val = np.array(self.val, Index)

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
        self.t.powers = tuple(p for p in powers if p is not None)
