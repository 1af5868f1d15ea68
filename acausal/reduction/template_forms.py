"""Statements of one template as affine forms, once per class: rows, elements, relations, what is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from ..flattening.flat_model import locate_variable
from ..flattening.forms import Activity, Form, Key, affine_form, choices, has_time, incidence, relations
from ..flattening.template import ElementStatement, ResidualStatement, Template
from ..modeling.expressions import Expr, Symbol, fold, walk
from ..modeling.operations import MARKS, marks
from ..values import frozen


@frozen
class NonlinearForm:
    """A residual that is not affine; ``knowns`` are the largest parts of it that time moves without any variable."""

    expr: Expr
    keys: tuple[Key, ...]
    knowns: tuple[Expr, ...]


@frozen
class RowForm:
    """A residual: affine with factors that hold no variable, or ``form`` None."""

    statement: ResidualStatement
    form: Form | None
    keys: tuple[Key, ...]
    """Variables and derivatives that occur."""


@frozen
class BranchForms:
    """Forms of one branch of an element."""

    equations: tuple[Form | NonlinearForm, ...]
    guards: tuple[Form | NonlinearForm, ...]
    blocked: tuple[Form | NonlinearForm, ...]


@frozen
class ElementForms:
    """Forms of one element statement."""

    statement: ElementStatement
    branches: tuple[BranchForms, ...]
    conditions: tuple[int, ...] = ()
    """State relations that select the branch, by their local numbers."""
    replaced: tuple[ResidualStatement, ...] = ()
    """Equations of the template that the element stands for; none for a statement with branches."""
    decided: tuple[Form | NonlinearForm, ...] = ()
    """The differences of the conditions in each branch after the other, where conditions read each other."""

    @property
    def continuous(self) -> bool:
        """Continuous variables select the branch."""
        return bool(self.conditions)


@frozen
class Relation:
    """``node`` compares ``form`` (left minus right) with zero; ``timed``: it depends on time and discretes alone."""

    node: Expr
    difference: Expr
    form: Form | NonlinearForm | None
    timed: bool


@dataclass(eq=False)
class TemplateForms:
    """All forms of one template; ids of relation nodes lead to their position."""

    template: Template
    rows: list[RowForm] = field(default_factory=list)
    elements: list[ElementForms] = field(default_factory=list)
    initials: list[RowForm] = field(default_factory=list)
    relations: list[Relation] = field(default_factory=list)
    relation_at: dict[int, int] = field(default_factory=dict)

    def classify(self, symbol: Symbol) -> int | None:
        """Return the local index of a continuous variable, None for anything known."""
        return locate_variable(self.template, symbol)

    def reads(self, expr: Expr, kinds: str) -> bool:
        """True when symbols of these kinds, or registered relations, decide the value."""
        if expr.marks & marks("time", "sample", "initial", "terminal", *kinds):
            return True
        return bool(expr.marks & MARKS["<"]) and any(id(node) in self.relation_at for node in walk(expr))

    def is_static(self, expr: Expr) -> bool:
        """True for expressions of parameters alone."""
        return not self.reads(expr, "vd")


def template_forms(template: Template) -> TemplateForms:
    """Return the forms of a template."""
    forms = TemplateForms(template)
    prepared = [(e, _tidy(e)) for e in template.elements]
    remainders = list(template.remainders.values())
    _register(forms, _expressions(template, prepared, remainders))
    for r in template.residuals:
        forms.rows.append(_row(forms, r))
    for r in template.initials:
        forms.initials.append(_row(forms, r))
    for statement, branches in prepared:
        control = statement.table.control
        conditions = () if control is None else _conditions(forms, control)
        made = tuple(BranchForms(*(tuple(form_of(forms, e) for e in part) for part in b)) for b in branches)
        forms.elements.append(ElementForms(statement, made, conditions))
    return forms


_Branch = tuple[tuple[Expr, ...], tuple[Expr, ...], tuple[Expr, ...]]


def _tidy(element: ElementStatement) -> tuple[_Branch, ...]:
    def rewrite(exprs: Iterable[Expr]) -> tuple[Expr, ...]:
        return tuple(choices(e) for e in exprs)

    return tuple(
        (rewrite(b.residuals), rewrite(g.g for g in b.guards), rewrite(b.blocked))
        for b in element.table.branches
    )


def _row(forms: TemplateForms, r: ResidualStatement) -> RowForm:
    return RowForm(r, affine_form(r.expr, forms.classify), tuple(incidence(r.expr, forms.classify)))


def _conditions(forms: TemplateForms, control: Expr) -> tuple[int, ...]:
    local = [forms.relation_at[id(n)] for n in walk(control) if id(n) in forms.relation_at]
    return tuple(k for k in local if not forms.relations[k].timed)


def form_of(forms: TemplateForms, expr: Expr) -> Form | NonlinearForm:
    """Return an expression as an affine form, or as a nonlinear form."""
    form = affine_form(expr, forms.classify)
    return nonlinear_form(forms, expr) if form is None else form


def nonlinear_form(forms: TemplateForms, expr: Expr) -> NonlinearForm:
    """Return an expression as a nonlinear form."""
    return NonlinearForm(expr, tuple(incidence(expr, forms.classify)), tuple(_moved_by_time(expr, forms)))


def _moved_by_time(expr: Expr, forms: TemplateForms) -> Iterator[Expr]:
    """Largest parts with time but without variables, each once."""
    active = Activity(expr, forms.classify)
    seen: set[int] = set()
    stack = [expr]
    while stack:
        node = stack.pop()
        if id(node) in seen or node.op == "pre" or id(node) in forms.relation_at:
            continue
        seen.add(id(node))
        if active.has_time(node) and not active.has_variable(node):
            yield node
        else:
            stack.extend(reversed(node.args))


def _expressions(
    t: Template, prepared: list[tuple[ElementStatement, tuple[_Branch, ...]]], known: list[Expr]
) -> Iterator[Expr]:
    """All expressions whose relations make events."""
    yield from (r.expr for r in t.residuals)
    yield from known
    yield from (r.expr for r in t.initials)
    for statement, branches in prepared:
        for branch in branches:
            for part in branch:
                yield from part
        table = statement.table
        yield from table.beside
        for b in table.branches:
            yield from (g.enabled for g in b.guards if g.enabled is not None)
    yield from (a.value for a in t.assignments)
    for chain in t.whens:
        for conditions, _ in chain.branches:
            yield from conditions
    yield from (c.condition for c in t.checks)


def _register(forms: TemplateForms, expressions: Iterable[Expr]) -> None:
    """Register the relations in expressions, but in ``no_event``."""
    for expr in expressions:
        for node in relations(expr):
            if id(node) not in forms.relation_at:
                _register_relation(forms, node)


def _register_relation(forms: TemplateForms, node: Expr) -> None:
    difference = choices(node.args[0] - node.args[1])
    _register(forms, (difference,))
    keys = incidence(difference, forms.classify)
    timed = not keys and has_time(difference)
    if not keys and not timed and not any(id(n) in forms.relation_at for n in walk(difference)):
        return
    affine_in_time = timed and polynomial_degree(difference) in (0, 1)
    form = None if affine_in_time else form_of(forms, difference)
    forms.relation_at[id(node)] = len(forms.relations)
    forms.relations.append(Relation(node, difference, form, affine_in_time))


def polynomial_degree(expr: Expr) -> int | None:
    """Degree in time of an expression without variables, None if it is no polynomial piece by piece."""
    return polynomial_degrees(expr, Activity(expr))[id(expr)]


def polynomial_degrees(expr: Expr, active: Activity) -> dict[int, int | None]:
    """Degree in time of all parts of an expression, by identity."""

    def apply(node: Expr, degrees: list[int | None]) -> int | None:
        if node.op == "/":
            return None if active.has_time(node.args[1]) else degrees[0]
        if node.op not in ("+", "-", "neg", "if_else", "*"):
            return None
        parts = degrees[1:] if node.op == "if_else" else degrees
        known = [d for d in parts if d is not None]
        if len(known) < len(parts):
            return None
        return sum(known) if node.op == "*" else max(known)

    found: dict[int, int | None] = {}
    fold(expr, lambda node: int(node.op == "time"), apply, lambda n: None if active.has_time(n) else 0, found)
    return found
