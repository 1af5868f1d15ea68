"""Errors of a mode without a form of index 1: which equations, which variables, why."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from ..errors import Location, SingularModelError, StructuralError
from ..structure.decomposition import decompose
from ..structure.incidence import Incidence
from ..structure.offsets import sigma_offsets
from .residual_equations import Equation
from .residual_reduction import SymbolicRow
from .residual_variables import Symbols


def unmatched(incidence: Incidence) -> tuple[np.ndarray, np.ndarray]:
    """Return the equations of the over-determined part and the unknowns of the under-determined one."""
    parts = decompose(incidence)
    return parts.over.equations, parts.under.unknowns


class Failures:
    """Makes errors with the names of the model; columns are derivatives, algebraic unknowns, differentiated variables."""

    def __init__(self, symbols: Symbols, columns: Any, equations: Sequence[Equation], value: Any) -> None:
        self.s, self.columns, self.equations, self.value = symbols, columns, equations, value
        self.names = [f"der({n})" for n in symbols.of_x.names] + [*symbols.of_w.names, *symbols.of_x.names]
        self.first = len(symbols.at_x) + len(symbols.at_w)

    def contradiction(self, row: SymbolicRow) -> StructuralError:
        """Return the error of equations that leave a number for zero."""
        return StructuralError(
            "the equations of this mode contradict each other",
            where=self._places(row.origins),
            why=f"together {self._texts(row.origins)} say 0 = {row.sample[0]:g}",
            hint="no values satisfy them; a model cannot stay in such a mode",
        )

    def input_differentiated(self, row: SymbolicRow, name: str) -> StructuralError:
        """Return the error of a constraint whose derivative holds that of an open input."""
        return StructuralError(
            f"{self._named(row.coefficients)} must follow the input `{name}`, so that its derivative is needed",
            where=self._places(row.origins),
            why=self._texts(row.origins),
            hint="make the input a differentiated variable: Eq(der(x), u)",
        )

    def constraint(self, origins: list[int], rows: Any) -> StructuralError:
        """Return the error of equations that hold too few unknowns."""
        many = len(origins) > 1
        return StructuralError(
            f"{self._named(self._incident(rows))} are tied by {'constraints' if many else 'a constraint'}:"
            f" this mode has index {self._index()}",
            where=self._places(origins),
            why=f"{self._texts(origins)} hold{'' if many else 's'} too few unknowns that could follow from"
            f" {'them' if many else 'it'}",
            hint=HINT,
        )

    def singular(self, origins: list[int], cols: list[int], rows: Any) -> StructuralError:
        """Return the error of equations whose Jacobian is singular."""
        return StructuralError(
            f"the algebraic equations of this mode do not determine {self._named(cols)}: its index is above 1",
            where=self._places(origins),
            why=f"the Jacobian of {self._texts(origins)} is singular; they tie {self._named(self._incident(rows))}",
            hint=HINT,
        )

    def open(self, cols: list[int], empty: list[SymbolicRow]) -> SingularModelError:
        """Return the error of unknowns that follow from no equation."""
        origins = sorted({k for r in empty for k in r.origins})
        return SingularModelError(
            f"the equations of this mode leave {self._named(cols)} open",
            where=self._places(origins),
            why=f"some equations follow from others: {self._texts(origins)}" if origins else "",
            hint="potentials need a reference; one between open elements, or a flow around closed ones, stays open",
        )

    def _index(self) -> str:
        """Structural index of the equations as written."""
        entries: list[tuple[int, int, int]] = []
        for order, columns in ((1, self.s.xdot), (0, ca.vertcat(self.s.x, self.s.w))):
            row, col = ca.jacobian_sparsity(self.value, columns).get_triplet()
            entries += [(r, c, order) for r, c in zip(row, col, strict=True)]
        row, col, sigma = np.array(entries, np.int64).reshape(-1, 3).T
        found = sigma_offsets(row, col, sigma, (self.first, self.first))
        if found.singular is not None:
            return "above 1"
        return str(max(2, int(found.c.max() + (found.d == 0).any())))

    def _incident(self, rows: Any) -> list[int]:
        used = ca.jacobian_sparsity(rows, self.columns[self.first :]).get_triplet()[1]
        return [self.first + k for k in sorted(set(used))]

    def _named(self, cols: Iterable[int]) -> str:
        names = [f"`{self.names[k]}`" for k in sorted(cols)]
        return ", ".join(names[:6]) + (", ..." if len(names) > 6 else "")

    def _texts(self, origins: Iterable[int]) -> str:
        texts = [f"`{self.equations[k].name}`" for k in sorted(origins)]
        return ", ".join(texts[:4]) + (", ..." if len(texts) > 4 else "")

    def _places(self, origins: Iterable[int]) -> list[Location]:
        return [self.equations[k].place for k in sorted(origins)][:4]


HINT = "state a constraint between differentiated variables in differentiated form, or replace one of them"
