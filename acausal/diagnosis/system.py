"""Equations and unknowns as they are sorted: which derivatives of which equations, for which derivatives of which variables."""

from __future__ import annotations

from dataclasses import field

import numpy as np

from ..errors import Location
from ..modeling.expressions import Expr, Symbol, constant, fold
from ..structure.incidence import Incidence
from ..values import frozen
from .algebra import tidied
from .equations import Equations, equality


@frozen
class EquationSystem:
    """A square system of equations.

    Attributes
    ----------
    equations : Equations
    row, row_order : ndarray of int64, shape (m,)
        Equation of every row, and how often it is differentiated; -1 for a row that `texts` describes.
    variable, order : ndarray of int64, shape (n,)
        Variable of every column, and the order of its derivative.
    incidence : Incidence, shape (m, n)
    rank : ndarray of int64, shape (m,)
        Written order.
    texts : dict of int to (str, Location, Expr)
        Rows that are no equation of the model: what they say, where they come from, left minus right side.
    preferred : ndarray of bool, shape (n,)
        Unknowns that are guessed before others in a loop.
    vanished : dict of int to list of (int, int)
        Equation -> variables and orders whose factors are zero for the present numbers; `expression` leaves them out.
    """

    equations: Equations
    row: np.ndarray
    row_order: np.ndarray
    variable: np.ndarray
    order: np.ndarray
    incidence: Incidence
    rank: np.ndarray
    texts: dict[int, tuple[str, Location, Expr | None]]
    preferred: np.ndarray
    vanished: dict[int, list[tuple[int, int]]] = field(default_factory=dict)

    def text(self, r: int) -> str:
        """Return what a row says."""
        if r in self.texts:
            return self.texts[r][0]
        k = int(self.row[r])
        left = self._left(k) if k in self.vanished else None
        text = self.equations.text(k) if left is None else equality(left)
        return differentiated(text, int(self.row_order[r]))

    def place(self, r: int) -> Location:
        """Return where a row was written."""
        return self.texts[r][1] if r in self.texts else self.equations.place(int(self.row[r]))

    def expression(self, r: int) -> Expr | None:
        """Return left minus right side; None for one with several branches, or without a formula for its derivative."""
        if r in self.texts:
            return self.texts[r][2]
        left = self._left(int(self.row[r]))
        return None if left is None else self.equations.derivative(left, int(self.row_order[r]))

    def _left(self, k: int) -> Expr | None:
        """Left minus right side of an equation, without what has vanished; None for one with several branches."""
        found = self.equations.expressions(k)
        if len(found) != 1:
            return None
        if k not in self.vanished:
            return found[0][1]
        return without(found[0][1], {id(self.equations.symbol(*key)) for key in self.vanished[k]})

    def unknown(self, c: int) -> str:
        """Return the name of an unknown."""
        return self.equations.variable(int(self.variable[c]), int(self.order[c]))

    def symbol(self, c: int) -> Symbol:
        """Return the symbol of an unknown in `expression`."""
        return self.equations.symbol(int(self.variable[c]), int(self.order[c]))


def without(expr: Expr, symbols: set[int]) -> Expr:
    """Return an expression with zero in the place of some symbols, given by their ids."""

    def leaf(node: Expr) -> Expr:
        return constant(0.0) if id(node) in symbols else node

    return fold(expr, leaf, lambda node, args: tidied(node.op, args, node.data))


def differentiated(text: str, order: int) -> str:
    """Return the text of an equation that is differentiated."""
    return text if order == 0 else f"d/dt ({text})" if order == 1 else f"d^{order}/dt^{order} ({text})"
