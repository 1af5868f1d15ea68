"""All equations of a flattened model, one by one: what they say, where they were written, which unknowns they hold."""

from __future__ import annotations

from ..compilation.residual_equations import connection_text
from ..errors import Location
from ..flattening.open_ports import open_flow
from ..modeling.expressions import Expr, constant
from .algebra import shown, total
from .equation_rows import EquationRows


class Equations(EquationRows):
    """The equations as written, numbered as those of `Residual`: integer rows, residuals, then those of the elements.

    Parameters
    ----------
    flat : FlatModel
    branches : mapping of int to int, optional
        Elements, in the order of their batches, -> the branch in force. An element that is not named stands with all
        its branches: each of their unknowns occurs in its equation.
    aliases : (representative, sign), optional
        Variables that are replaced: ``x[j] = sign[j] * x[representative[j]]``, zero where the sign is 0. An equation
        that says nothing else is left without unknowns.
    parameters : ndarray, optional
        Values of all parameters, for numbers beside formulas.
    numeric : bool
        Leave out of formulas what is zero, or a factor of one, by these values.

    Attributes
    ----------
    row, col, order : ndarray of int64, shape (nnz,)
        Equation ``row[k]`` holds the variable ``col[k]``, differentiated ``order[k]`` times (0 or 1). A pair occurs once
        for every order.

    Notes
    -----
    Texts and places are made when asked for. Comparisons count as constant: their variables are no incidence.
    """

    def place(self, k: int) -> Location:
        """Return component path, file and line of an equation; of one that stands for an open port, the port."""
        if k < self.integer_rows:
            flow = open_flow(self.flat, k)
            return Location(flow.rpartition(".")[0]) if flow else self.flat.row_location(k)
        g, i = self.locate(k)
        return self.flat.location(g.batch, i, g.origin)

    def path(self, k: int) -> str:
        """Return the path of the component that states an equation, "" for the model itself."""
        if k < self.integer_rows:
            return self.flat.path(int(self.flat.row_batch[k]), int(self.flat.row_instance[k]))
        g, i = self.locate(k)
        return self.flat.path(g.batch, i)

    def written(self, k: int) -> str:
        """Return an equation as its author wrote it; what a connection states is written out."""
        if k < self.integer_rows:
            flow = open_flow(self.flat, k)
            return self.flat.row_text(k) or (
                f"{flow} = 0, not connected" if flow else connection_text(self.flat, k)
            )
        g, i = self.locate(k)
        if g.text:
            return g.text
        chosen = self.chosen(g, i)
        if len(chosen) == 1:
            return equality(chosen[0][1])
        return "; ".join(f"{name}: {equality(expr)}" for name, expr in chosen)

    def is_connection(self, k: int) -> bool:
        """True for what follows from a connection, or from a port that is not connected."""
        return k < self.integer_rows and not self.flat.row_text(k)

    def text(self, k: int) -> str:
        """Return an equation with the paths of its variables and parameters, ``load.v = load.R*load.i``."""
        if self.is_connection(k) and self.aliases is None:
            return connection_text(self.flat, k)
        found = [(name, equality(expr)) for name, expr in self.expressions(k)]
        return found[0][1] if len(found) == 1 else "; ".join(f"{name}: {text}" for name, text in found)

    def expressions(self, k: int) -> tuple[tuple[str, Expr], ...]:
        """Return (branch, left minus right side) for the branches that may be in force; symbols carry whole paths."""
        if k < self.integer_rows:
            return (("", self._integer_row(k)),)
        g, i = self.locate(k)
        return tuple((name, self.named(g.batch, i, expr)) for name, expr in self.chosen(g, i))

    def _integer_row(self, k: int) -> Expr:
        flat = self.flat
        part = slice(int(flat.ptr[k]), int(flat.ptr[k + 1]))
        batch, local, i = (int(a[k]) for a in (flat.row_batch, flat.row_local, flat.row_instance))
        known = flat.batches[batch].template.remainders.get(local)
        factors: dict[int, int] = {}
        for c, v in zip(flat.col[part].tolist(), flat.val[part].tolist(), strict=True):
            if self.aliases is not None:
                c, v = int(self.aliases[0][c]), v * int(self.aliases[1][c])
            factors[c] = factors.get(c, 0) + v
        terms = [(v, self._term(c, v)) for c, v in factors.items() if v]
        if known is not None:
            terms.append((1, self.named(batch, i, known)))
        if not terms:
            return constant(0.0)
        (sign, left), *others = terms
        return left - total((-sign * s, e) for s, e in others)

    def _term(self, v: int, factor: int) -> Expr:
        symbol = self._symbol("v", v)
        return symbol if abs(factor) == 1 else constant(float(abs(factor))) * symbol


def equality(expr: Expr) -> str:
    """Return "left = right" for an expression that has to vanish."""
    if expr.op == "neg":
        return equality(expr.args[0])
    if expr.op == "-":
        return f"{shown(expr.args[0])} = {shown(expr.args[1])}"
    return f"{shown(expr)} = 0"
