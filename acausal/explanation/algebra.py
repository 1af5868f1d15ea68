"""Small symbolic algebra for texts: equations solved for an unknown, and small linear systems solved exactly.

Sums of products are kept as polynomials with rational coefficients in atoms; an atom is any expression that is
no sum, product or number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from math import gcd, isfinite, lcm

from ..flattening.forms import affine_form
from ..modeling.expressions import Expr, Symbol, constant, fold, to_text, walk

Monomial = tuple[str, ...]
"""Texts of the atoms multiplied, sorted."""
LARGEST_SYSTEM = 4
"""Unknowns of a linear system that is solved symbolically."""
LONGEST_SOLUTION = 12
"""Terms in a numerator or denominator beyond which a formula says less than the equations."""


class Polynomial:
    """``sum coefficient * product of atoms``."""

    def __init__(self, terms: dict[Monomial, Fraction], atoms: dict[str, Expr]) -> None:
        self.terms = {m: c for m, c in terms.items() if c}
        self.atoms = atoms
        """Text -> expression, shared by all polynomials of one calculation."""

    def __add__(self, other: Polynomial) -> Polynomial:
        terms = dict(self.terms)
        for m, c in other.terms.items():
            terms[m] = terms.get(m, Fraction(0)) + c
        return Polynomial(terms, self.atoms)

    def __neg__(self) -> Polynomial:
        return Polynomial({m: -c for m, c in self.terms.items()}, self.atoms)

    def __sub__(self, other: Polynomial) -> Polynomial:
        return self + (-other)

    def __mul__(self, other: Polynomial) -> Polynomial:
        terms: dict[Monomial, Fraction] = {}
        for m, c in self.terms.items():
            for n, d in other.terms.items():
                key = tuple(sorted(m + n))
                terms[key] = terms.get(key, Fraction(0)) + c * d
        return Polynomial(terms, self.atoms)

    @property
    def number(self) -> Fraction | None:
        """Its value if it is one."""
        return self.terms.get((), Fraction(0)) if set(self.terms) <= {()} else None

    def symbols(self) -> set[str]:
        """Texts of all atoms."""
        return {a for m in self.terms for a in m}

    def divided(self, monomial: Monomial, number: Fraction) -> Polynomial:
        """The quotient by a monomial that divides every term."""
        terms = {}
        for m, c in self.terms.items():
            left = list(m)
            for a in monomial:
                left.remove(a)
            terms[tuple(left)] = c / number
        return Polynomial(terms, self.atoms)

    def expression(self) -> Expr:
        """Written out, positive terms first."""
        return total(
            [
                (1 if c > 0 else -1, product([abs(c), *(self.atoms[a] for a in m)]))
                for m, c in self.terms.items()
            ]
        )


def product(factors: Sequence[Fraction | Expr]) -> Expr:
    """Return the product of a number and expressions, ones left out."""
    number, *rest = factors
    assert isinstance(number, Fraction)
    found: Expr | None = None if number == 1 and rest else constant(float(number))
    for factor in rest:
        assert isinstance(factor, Expr)
        found = factor if found is None else found * factor
    return constant(1.0) if found is None else found


def tidied(op: str, args: Sequence[Expr], data: object) -> Expr:
    """Return an operation without zeros and double signs, as they stay behind where variables are replaced."""
    if op == "neg":
        return total([(-1, args[0])])
    if op in ("+", "-"):
        sign, (a, b) = 1 if op == "+" else -1, args
        if b.op == "neg" or _zero(a) or _zero(b):
            return total([(1, a), (sign, b)])
    elif op in ("*", "/"):
        a, b = args
        if _zero(a) or (op == "*" and _zero(b)):
            return constant(0.0)
        if (a.op == "neg") != (b.op == "neg"):
            return -Expr(op, (_bare(a), _bare(b)), data)
        return Expr(op, (_bare(a), _bare(b)), data)
    return Expr(op, tuple(args), data)


def _zero(expr: Expr) -> bool:
    return expr.op == "const" and expr.data == 0


def _bare(expr: Expr) -> Expr:
    return expr.args[0] if expr.op == "neg" else expr


def simplified_product(a: Expr, b: Expr) -> Expr:
    """Return ``a * b`` without factors of zero and one."""
    if a.op == "const" and a.data in (0, 1):
        return a if a.data == 0 else b
    if b.op == "const" and b.data in (0, 1):
        return b if b.data == 0 else a
    return a * b


def total(terms: Iterable[tuple[int, Expr]]) -> Expr:
    """Return the sum of signed expressions: zeros left out, no double signs, positive terms first."""
    made: list[tuple[int, Expr]] = []
    for sign, term in terms:
        while term.op == "neg":
            sign, term = -sign, term.args[0]
        if term.op == "const" and term.data < 0:
            sign, term = -sign, constant(-term.data)
        if not (term.op == "const" and term.data == 0):
            made.append((1 if sign > 0 else -1, term))
    found: Expr | None = None
    for sign, term in sorted(made, key=lambda t: -t[0]):
        if found is None:
            found = term if sign > 0 else -term
        else:
            found = found + term if sign > 0 else found - term
    return constant(0.0) if found is None else found


def polynomial(expr: Expr, atoms: dict[str, Expr]) -> Polynomial:
    """Return an expression as a polynomial; products of long sums stay atoms."""

    def atom(node: Expr) -> Polynomial:
        key = to_text(node)
        atoms.setdefault(key, node)
        return Polynomial({(key,): Fraction(1)}, atoms)

    def leaf(node: Expr) -> Polynomial:
        return (
            Polynomial({(): Fraction(repr(node.data))}, atoms)
            if node.op == "const" and isfinite(node.data)
            else atom(node)
        )

    def apply(node: Expr, args: list[Polynomial]) -> Polynomial:
        if node.op == "neg":
            return -args[0]
        if node.op == "+":
            return args[0] + args[1]
        if node.op == "-":
            return args[0] - args[1]
        if node.op == "*" and len(args[0].terms) * len(args[1].terms) <= LONGEST_SOLUTION:
            return args[0] * args[1]
        if node.op == "/" and args[1].number:
            return args[0].divided((), args[1].number)
        return atom(node)

    return fold(expr, leaf, apply)


def rational(above: Polynomial, below: Polynomial) -> Expr:
    """Return a quotient with common factors cancelled, as whole numbers over one denominator where it is numeric."""
    common = _common(above, below)
    content = Fraction(
        gcd(*(c.numerator for c in below.terms.values())), lcm(*(c.denominator for c in below.terms.values()))
    )
    if all(c < 0 for c in below.terms.values()):
        content = -content
    above, below = above.divided(common, content), below.divided(common, content)
    number = below.number
    if number is None:
        return tidied("/", (above.expression(), below.expression()), None)
    scale = lcm(*(c.denominator for c in above.terms.values()), 1)
    if scale == 1 or _is_decimal(scale):
        return above.expression()
    return above.divided((), Fraction(1, scale)).expression() / constant(float(scale))


def _is_decimal(scale: int) -> bool:
    """Powers of ten are written as decimal numbers."""
    while scale % 10 == 0:
        scale //= 10
    return scale == 1


def _common(*polynomials: Polynomial) -> Monomial:
    """Atoms that every term of all polynomials contains."""
    monomials = [list(m) for p in polynomials for m in p.terms]
    if not monomials or not all(p.terms for p in polynomials):
        return ()
    found: list[str] = []
    for atom in monomials[0]:
        if all(m.count(atom) > found.count(atom) for m in monomials):
            found.append(atom)
    return tuple(found)


class Linear:
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


def determinant(A: list[list[Polynomial]]) -> Polynomial:
    """Expansion along the first row."""
    first, *rest = A
    if not rest:
        return first[0]
    found: Polynomial | None = None
    for j, entry in enumerate(first):
        if not entry.terms:
            continue
        minor = entry * determinant([row[:j] + row[j + 1 :] for row in rest])
        minor = -minor if j % 2 else minor
        found = minor if found is None else found + minor
    return Polynomial({}, first[0].atoms) if found is None else found


def linear_system(equations: Sequence[Expr], unknowns: Sequence[Symbol]) -> Linear | None:
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
    return Linear(A, b)


def are_affine(equations: Sequence[Expr], unknowns: Sequence[Symbol]) -> bool:
    """True when all equations are affine in some symbols taken together."""
    number = {id(s): k for k, s in enumerate(unknowns)}
    return all(affine_form(expr, lambda s: number.get(id(s))) is not None for expr in equations)


def solved_for(expr: Expr, unknown: Symbol) -> Expr | None:
    """Return what an unknown equals by ``expr = 0``; as written where the unknown stands alone, None if not affine."""
    if expr.op == "-":
        for side, other in (expr.args, expr.args[::-1]):
            if side is unknown and all(node is not unknown for node in walk(other)):
                return other
    system = linear_system([expr], [unknown])
    found = None if system is None else system.solve()
    return None if found is None else found[0]
