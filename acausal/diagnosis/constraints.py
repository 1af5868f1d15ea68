"""Constraints among differentiated variables in words, with the equations as written behind them."""

from __future__ import annotations

from functools import cached_property

from ..modeling.expressions import Expr, constant
from ..structure.elimination import combine
from ..structure.incidence import IntegerRows, stack
from .algebra import total
from .equations import equality
from .facts import Constraint
from .findings import AffineConstraint, Findings
from .reduced_rows import ReducedRows
from .system import differentiated


class Constraints:
    """What the constraints of one mode say.

    Parameters
    ----------
    rows : ReducedRows
    found : Findings
    """

    def __init__(self, rows: ReducedRows, found: Findings) -> None:
        self.rows, self.found = rows, found

    def described(self) -> tuple[Constraint, ...]:
        """Return all constraints: those from affine equations in the order they were found, then the others."""
        e, made = self.rows.equations, []
        for c in self.found.affine:
            times = self.behind(c.equations)
            origins = sorted(times)
            text = self.said(c)[0]
            texts = tuple(differentiated(e.text(k), times[k]) for k in origins)
            made.append(
                Constraint(
                    text,
                    c.order,
                    texts,
                    tuple(e.place(k) for k in origins),
                    e.variable(self.rows.key((c.dependent, 0))[0]),
                )
            )
        for k, levels in self.found.hidden.items():
            text, place = e.text(k), e.place(k)
            made += [Constraint(differentiated(text, n), n, (text,), (place,)) for n in range(levels)]
        return tuple(made)

    def said(self, c: AffineConstraint) -> tuple[str, Expr | None]:
        """An equation itself where it is the constraint, else the combination with its factors."""
        e = self.rows.equations
        behind = self.behind(c.equations)
        if len(behind) == 1 and not any(behind.values()):
            (k,) = behind
            names = {self.rows.key(u) for u in e.unknowns(k) if u[0] not in e.inputs}
            if names == {self.rows.key((v, 0)) for v in c.factors}:
                (_, expression), *_ = e.expressions(k)
                return equality(expression), expression
        return self._combination(c)

    def _combination(self, c: AffineConstraint) -> tuple[str, Expr | None]:
        e, terms = self.rows.equations, []
        first = c.factors[min(c.factors, key=lambda v: (v != c.dependent, v))]
        for v in sorted(c.factors, key=lambda v: (v != c.dependent, v)):
            factor = c.factors[v] / first * float(self.rows.classes.sign[v])
            symbol = e.symbol(self.rows.key((v, 0))[0])
            terms.append(
                (
                    1 if factor > 0 else -1,
                    symbol if abs(factor) == 1 else constant(_short(abs(factor))) * symbol,
                )
            )
        left, rest = terms[0][1], [(-s, t) for s, t in terms[1:]]
        if c.moving:
            right = total(rest)
            return f"{left} = " + (f"{right} + f(time)" if rest else "f(time)"), None
        if c.offset:
            rest.append((1, constant(_short(-c.offset / first))))
        return f"{left} = {total(rest)}", left - total(rest)

    @cached_property
    def _kept_rows(self) -> dict[int, dict[int, int]]:
        """Integer row that stays in the core -> what it says, over the representatives."""
        presolved, core_rows = self.rows.reduced.presolved, self.rows.reduced.core_rows
        y = presolved.y
        K = presolved.K.take(core_rows).over(self.rows.reduced.flat.nv, y)
        found = {}
        for n, origin in enumerate(presolved.kept_row_origin[core_rows].tolist()):
            part = slice(int(K.ptr[n]), int(K.ptr[n + 1]))
            row: dict[int, int] = {}
            for v, factor in zip(K.col[part].tolist(), K.val[part].tolist(), strict=True):
                root, sign = int(self.rows.classes.representative[v]), int(self.rows.classes.sign[v])
                row[root] = row.get(root, 0) + sign * factor
            found[origin] = {v: factor for v, factor in row.items() if factor}
        return found

    def behind(self, equations: dict[int, int]) -> dict[int, int]:
        """The equations as written behind those of the core, of which an integer row may combine several."""
        found: dict[int, int] = {}
        for k, times in equations.items():
            origin = -1 - k if k < 0 else k
            row = self._kept_rows.get(origin) if k < self.rows.equations.integer_rows else None
            parts = [k] if row is None else self._combined(row)
            for part in parts:
                found[part] = max(times, found.get(part, 0))
        return found

    def _combined(self, row: dict[int, int]) -> list[int]:
        e = self.rows.equations
        given = [
            *sorted(e.inputs),
            *(self.rows.key((v, 0))[0] for v in self.rows.reduced.presolved.pinned.tolist()),
        ]
        own = self.rows.integer
        rows = stack(own, IntegerRows.from_dicts([{v: 1} for v in given], own.n))
        (weights,) = combine(rows, IntegerRows.from_dicts([row], rows.n))
        return sorted(k for k in weights if k < e.integer_rows)


def _short(number: float) -> float:
    """A number as it is shown: what rounding left behind is cut off."""
    return float(f"{number:.9g}")
