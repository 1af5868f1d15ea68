"""Sums of products with rational coefficients; an atom is any expression that is no sum, product or number."""

from __future__ import annotations

from fractions import Fraction
from functools import reduce
from math import gcd, isfinite, lcm

from ..modeling.expressions import Expr, constant, fold, to_text
from .algebra import product, tidied, total

Monomial = tuple[str, ...]
"""Texts of the atoms multiplied, sorted."""
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

    def _power(self, atom: str, times: int) -> Expr:
        return self.atoms[atom] if times == 1 else self.atoms[atom] ** times

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
                (
                    1 if c > 0 else -1,
                    product([abs(c), *(self._power(a, m.count(a)) for a in dict.fromkeys(m))]),
                )
                for m, c in self.terms.items()
            ]
        )


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
        if node.op == "**" and args[1].number in (2, 3, 4) and len(args[0].terms) == 1:
            return reduce(Polynomial.__mul__, [args[0]] * int(args[1].number or 1))
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
