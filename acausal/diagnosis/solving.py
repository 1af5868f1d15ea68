"""Equations solved for an unknown, and small linear systems solved exactly, as formulas."""

from __future__ import annotations

from collections.abc import Sequence

from ..flattening.forms import affine_form
from ..modeling.expressions import Expr, Symbol, constant, walk
from .algebra import shown, tidied, total
from .polynomials import LONGEST_SOLUTION, Polynomial, determinant, polynomial, rational

LARGEST_SYSTEM = 4
"""Unknowns of a linear system that is solved symbolically."""


class LinearSystem:
    """Equations that are affine in some unknowns: ``A x + b = 0`` with polynomials."""

    def __init__(self, A: list[list[Polynomial]], b: list[Polynomial]) -> None:
        self.A, self.b = A, b

    def solve(self) -> tuple[Expr, ...] | None:
        """Return the unknowns, by Cramer's rule; None if the system is singular or the formulas are long."""
        n = len(self.b)
        below = determinant(self.A)
        if not below.terms or len(below.terms) > LONGEST_SOLUTION:
            return None
        found = []
        for j in range(n):
            replaced = [
                [-self.b[i] if k == j else entry for k, entry in enumerate(row)]
                for i, row in enumerate(self.A)
            ]
            above = determinant(replaced)
            if len(above.terms) > LONGEST_SOLUTION:
                return None
            found.append(rational(above, below))
        return tuple(found)


def linear_system(equations: Sequence[Expr], unknowns: Sequence[Symbol]) -> LinearSystem | None:
    """Return equations as a linear system in a few symbols, None if they are not affine in them."""
    number = {id(s): k for k, s in enumerate(unknowns)}
    atoms: dict[str, Expr] = {}
    A: list[list[Polynomial]] = []
    b: list[Polynomial] = []
    for expr in equations:
        form = affine_form(expr, lambda s: number.get(id(s)))
        if form is None:
            return None
        rows = [form.factors.get((k, False)) for k in range(len(unknowns))]
        A.append([Polynomial({}, atoms) if f is None else polynomial(f, atoms) for f in rows])
        b.append(Polynomial({}, atoms) if form.known is None else polynomial(form.known, atoms))
    return LinearSystem(A, b)


def are_affine(equations: Sequence[Expr], unknowns: Sequence[Symbol]) -> bool:
    """True when all equations are affine in some symbols taken together."""
    number = {id(s): k for k, s in enumerate(unknowns)}
    return all(affine_form(expr, lambda s: number.get(id(s))) is not None for expr in equations)


def solved_for(expr: Expr, unknown: Symbol) -> Expr | None:
    """Return what an unknown equals by ``expr = 0``, None if the equation is not affine in it.

    As written where the unknown stands alone; else with products kept or multiplied out, whichever is shorter.
    """
    if expr.op == "-":
        for side, other in (expr.args, expr.args[::-1]):
            if side is unknown and all(node is not unknown for node in walk(other)):
                return other
    form = affine_form(expr, lambda s: 0 if s is unknown else None)
    if form is None or (0, False) not in form.factors:
        return None
    factor = polynomial(form.factors[0, False], {})
    if not factor.terms:
        return None
    terms = () if form.known is None else signed_terms(form.known)
    sign = -1 if factor.number is None or factor.number > 0 else 1
    above = total((sign * s, term) for s, term in terms)
    below = factor if sign < 0 else -factor
    kept = above if below.number == 1 else tidied("/", (above, below.expression()), None)
    system = linear_system([expr], [unknown])
    found = None if system is None else system.solve()
    return kept if found is None or len(shown(kept)) < len(shown(found[0])) else found[0]


def signed_terms(expr: Expr) -> list[tuple[int, Expr]]:
    """Return the terms of a sum; products are kept, and what is added several times is one term."""
    count = {id(expr): 1}
    found: list[tuple[int, Expr]] = []
    for node in reversed(list(walk(expr))):
        times = count.get(id(node), 0)
        if node.op in ("+", "-", "neg"):
            for k, part in enumerate(node.args):
                minus = node.op == "neg" or (node.op == "-" and k == 1)
                count[id(part)] = count.get(id(part), 0) + (-times if minus else times)
        elif times:
            several = abs(times) > 1
            found.append((1 if times > 0 else -1, constant(abs(times)) * node if several else node))
    return found[::-1]
