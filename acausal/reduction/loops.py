"""Relations inside algebraic loops: their equations become elements, so that the choice of modes resolves them.

A relation that decides a value outside of every loop is frozen between instants and needs no choice. In a
loop (a limited amplifier with feedback, a comparator that acts on its own input) the value decides the relation
in turn; iterating the two blindly may cycle or miss the consistent branch.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import chain, count, product

import numpy as np

from ..flattening.flat_model import FlatModel, kind_of
from ..flattening.template import ElementStatement, ResidualStatement, name_of
from ..modeling.elements import BranchTable, ElementTable
from ..modeling.expressions import Expr, Symbol, fold, walk
from ..modeling.operations import MARKS
from ..structure.incidence import Incidence
from ..structure.matching import maximum_matching
from .template_forms import BranchForms, ElementForms, Form, NonlinearForm, TemplateForms, form_of

MOST_RELATIONS = 6
"""Relations of one element; a group with more stays with the iteration of micro-steps."""


def resolve_loops(flat: FlatModel, forms: tuple[TemplateForms, ...]) -> tuple[TemplateForms, ...]:
    """Turn equations whose relations lie in their own algebraic loop into elements, statement by statement."""
    candidates = {
        (k, j): relations
        for k, f in enumerate(forms)
        for j, row in enumerate(f.rows)
        if (relations := _state_relations(f, row.statement.expr))
    }
    if not candidates:
        return forms
    looped = _in_loops(flat, forms, candidates)
    found = list(forms)
    for k in dict.fromkeys(k for k, _ in looped):
        rows = [j for at, j in looped if at == k]
        found[k] = _with_elements(forms[k], {j: candidates[k, j] for j in rows})
    return tuple(found)


def _state_relations(forms: TemplateForms, expr: Expr) -> tuple[int, ...]:
    nodes = walk(expr) if expr.marks & MARKS["<"] else ()
    local = [forms.relation_at[id(n)] for n in nodes if id(n) in forms.relation_at]
    return tuple(dict.fromkeys(k for k in local if not forms.relations[k].timed))


# -- which equations lie in a loop with their relations --------------------------------------------------------------


def _in_loops(
    flat: FlatModel, forms: tuple[TemplateForms, ...], candidates: dict[tuple[int, int], tuple[int, ...]]
) -> list[tuple[int, int]]:
    """Statements (batch, row) of which an instance depends on itself through one of its relations."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    table = LoopEntries(flat, forms)
    row, col = table.arrays()
    m, n = table.rows, 2 * flat.nv
    matching = maximum_matching(Incidence.from_pairs(row, col, (m, n)))
    producer = matching.equation
    user, source = [row], [producer[col]]
    reads: dict[tuple[int, int], tuple[np.ndarray, np.ndarray]] = {}
    for (k, j), relations in candidates.items():
        vb, own = flat.batches[k].vb, table.first[k, j] + flat.batches[k].instances
        keys = dict.fromkeys(x for r in relations for x in _algebraic(forms[k], r))
        for x in keys:
            at = np.where(table.differentiated[vb + x], -1, producer[vb + x])
            user.append(own)
            source.append(at)
            before = reads.get((k, j))
            pair = (own, at)
            reads[k, j] = pair if before is None else (np.append(before[0], own), np.append(before[1], at))
    users, sources = np.concatenate(user), np.concatenate(source)
    known = sources >= 0
    graph = csr_array((np.ones(int(known.sum())), (sources[known], users[known])), shape=(m, m))
    _, label = connected_components(graph, directed=True, connection="strong")
    return [
        key
        for key, (own, at) in reads.items()
        if bool(((at >= 0) & (label[np.maximum(at, 0)] == label[own])).any())
    ]


def _algebraic(forms: TemplateForms, relation: int) -> list[int]:
    """Variables whose values a relation compares."""
    from ..flattening.forms import incidence

    found = incidence(forms.relations[relation].difference, forms.classify)
    return [x for x, derivative in found if not derivative]


class LoopEntries:
    """Incidence of all equations of a flat model: values of variables, then their derivatives; states are known."""

    def __init__(self, flat: FlatModel, forms: tuple[TemplateForms, ...]) -> None:
        self.flat = flat
        self.rows = 0
        self.first: dict[tuple[int, int], int] = {}
        self.differentiated = np.zeros(flat.nv, bool)
        self._row: list[np.ndarray] = []
        self._col: list[np.ndarray] = []
        count = np.diff(flat.ptr)
        self._add(np.repeat(np.arange(len(count)), count), flat.col, False)
        self.rows = len(count)
        for k, f in enumerate(forms):
            for j, row in enumerate(f.rows):
                self.first[k, j] = self.rows
                self._statement(k, [row.keys])
            for e in f.elements:
                for q in range(len(e.branches[0].equations)):
                    self._statement(k, [_keys(b.equations[q]) for b in e.branches])

    def _statement(self, batch: int, keys: list[tuple[tuple[int, bool], ...]]) -> None:
        vb = self.flat.batches[batch].vb
        own = self.rows + np.arange(len(vb))
        for x, derivative in dict.fromkeys(key for part in keys for key in part):
            self._add(own, vb + x, derivative)
        self.rows += len(vb)

    def _add(self, row: np.ndarray, variable: np.ndarray, derivative: bool) -> None:
        self._row.append(row)
        self._col.append(variable + self.flat.nv * derivative)
        if derivative:
            self.differentiated[variable] = True

    def arrays(self) -> tuple[np.ndarray, np.ndarray]:
        """Rows and columns without the values of states."""
        row, col = np.concatenate(self._row), np.concatenate(self._col)
        unknown = (col >= self.flat.nv) | ~self.differentiated[col % self.flat.nv]
        return row[unknown], col[unknown]


def _keys(form: Form | NonlinearForm) -> tuple[tuple[int, bool], ...]:
    return tuple(form.factors) if isinstance(form, Form) else form.keys


# -- the elements ----------------------------------------------------------------------------------------------------


def _with_elements(forms: TemplateForms, looped: dict[int, tuple[int, ...]]) -> TemplateForms:
    """The forms with looped rows as elements; rows that share a relation share the element."""
    groups: list[tuple[list[int], list[int]]] = []
    for j, relations in looped.items():
        joined = [g for g in groups if set(g[1]) & set(relations)]
        rows = sorted({j, *(x for g in joined for x in g[0])})
        together = sorted({*relations, *(x for g in joined for x in g[1])})
        groups = [g for g in groups if g not in joined] + [(rows, together)]
    groups = [g for g in groups if len(g[1]) <= MOST_RELATIONS]
    gone = {j for rows, _ in groups for j in rows}
    elements, taken = [], {e.statement.name for e in forms.elements}
    for rows, relations in groups:
        statements = [forms.rows[j].statement for j in rows]
        name = _free(taken, [_determined(forms, s) for s in statements], statements[0].text)
        taken.add(name)
        elements.append(_element(forms, name, statements, relations))
    return replace(
        forms,
        rows=[row for j, row in enumerate(forms.rows) if j not in gone],
        elements=[*forms.elements, *elements],
    )


def _free(taken: set[str], wanted: list[str], text: str) -> str:
    """The first name that is not taken; a number follows the text where all are."""
    numbered = (f"{text} ({n})" for n in count(2))
    return next(name for name in chain(wanted, [text], numbered) if name and name not in taken)


def _determined(forms: TemplateForms, statement: ResidualStatement) -> str:
    """The variable that stands alone on one side of an equation, the left one first; "" where none does."""
    expr = statement.expr
    for side in expr.args if expr.op == "-" else ():
        if not isinstance(side, Symbol) or kind_of(side) != "v":
            continue
        k = forms.classify(side)
        if k is not None:
            name = name_of(forms.template, "v", k)
            # Equations of a part may determine its variable too, and then bear this name.
            return name if k < len(forms.template.variables) else f"Eq({name}, ...)"
    return ""


def _element(
    forms: TemplateForms, name: str, statements: list[ResidualStatement], relations: list[int]
) -> ElementForms:
    """One branch per combination of the relations' values, all false first."""
    nodes = [forms.relations[k].node for k in relations]
    made, tables = [], []
    for values in product((False, True), repeat=len(nodes)):
        given = {id(node): value for node, value in zip(nodes, values, strict=True)}
        residuals = tuple(_decided(s.expr, given) for s in statements)
        texts = [f"{_decided(n, {k: v for k, v in given.items() if k != id(n)})}" for n in nodes]
        branch = ", ".join(t if v else f"not {t}" for t, v in zip(texts, values, strict=True))
        made.append(BranchForms(tuple(form_of(forms, e) for e in residuals), (), ()))
        tables.append(BranchTable(branch, residuals, (), ()))
    statement = ElementStatement(name, ElementTable("relation", tuple(tables)), statements[0].origin)
    decided = _in_branches(forms, relations)
    return ElementForms(statement, tuple(made), tuple(relations), tuple(statements), decided)


def _in_branches(forms: TemplateForms, relations: list[int]) -> tuple[Form | NonlinearForm, ...]:
    """The differences of relations as they read in each branch; none where no relation reads another one."""
    read = [forms.relations[k] for k in relations]
    made, nested = [], False
    for values in product((False, True), repeat=len(read)):
        for own in read:
            given = {id(r.node): v for r, v in zip(read, values, strict=True) if r is not own}
            difference = _decided(own.difference, given)
            nested |= difference is not own.difference
            made.append(difference)
    return tuple(form_of(forms, e) for e in made) if nested else ()


def _decided(expr: Expr, given: dict[int, bool]) -> Expr:
    """An expression with the values of some relations, choices between branches made."""

    def leaf(node: Expr) -> Expr:
        return node

    def apply(node: Expr, args: list[Expr]) -> Expr:
        if id(node) in given:
            return Expr("true", data=given[id(node)])
        if node.op == "not" and args[0].op == "true":
            return Expr("true", data=not args[0].data)
        if node.op in ("and", "or", "xor"):
            decided = _logic(node.op, args)
            if decided is not None:
                return decided
        if node.op == "if_else" and args[0].op == "true":
            return args[1] if args[0].data else args[2]
        same = all(a is b for a, b in zip(args, node.args, strict=True))
        return node if same else Expr(node.op, tuple(args), node.data)

    return fold(expr, leaf, apply)


def _logic(op: str, args: list[Expr]) -> Expr | None:
    """Value of a condition of which some parts are decided; None if it is still the same condition."""
    known = [a for a in args if a.op == "true"]
    if not known:
        return None
    value, other = bool(known[0].data), args[1] if args[0] is known[0] else args[0]
    if op == "xor":
        return Expr("not", (other,)) if value else other
    decisive = op == "or"
    return known[0] if value == decisive else other
