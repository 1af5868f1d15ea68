"""Equations in the order in which they can be solved: assignments and loops."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import overload

import numpy as np

from ..errors import Location
from ..modeling.expressions import Expr, Symbol
from ..structure.blocks import Blocks, sort_blocks, written_order
from ..structure.incidence import Incidence
from ..structure.matching import Matching, maximum_matching
from ..structure.tearing import Torn, tear
from ..values import frozen
from .algebra import shown
from .solving import LARGEST_SYSTEM, are_affine, linear_system, solved_for
from .system import EquationSystem

LONGEST_FORMULA = 160
"""Characters of a formula for an unknown of a loop; longer ones say less than the equations."""
MOST_VALUES = 1000
"""Blocks up to which values are looked for."""


@dataclass(frozen=True)
class Block:
    """Equations that are solved together, for as many unknowns.

    Attributes
    ----------
    equations : tuple of str
        In the names of the model.
    places : tuple of Location
        Component path, file and line of each.
    unknowns : tuple of str
        What they are solved for.
    linear : bool
        The equations are affine in the unknowns.
    solution : tuple of str
        What each unknown equals; empty where there is no formula, or only a long one.
    values : tuple of float or None
        Value of each unknown if it depends on neither time nor states nor inputs and formulas give it.
    tearing : tuple of str
        Unknowns of a loop that are guessed; the others follow from them one after the other.
    residuals : tuple of str
        Equations that decide whether the guess is right, as many as tearing variables.
    """

    equations: tuple[str, ...]
    places: tuple[Location, ...]
    unknowns: tuple[str, ...]
    linear: bool
    solution: tuple[str, ...] = ()
    values: tuple[float | None, ...] = ()
    tearing: tuple[str, ...] = ()
    residuals: tuple[str, ...] = ()

    @property
    def is_loop(self) -> bool:
        """True for more than one equation."""
        return len(self.equations) > 1

    @property
    def is_assignment(self) -> bool:
        """True for one equation that gives its unknown explicitly."""
        return not self.is_loop and len(self.solution) == 1


@frozen
class _Solved:
    """Expressions of a block, None for those without; whether it is linear; what its unknowns equal, if that is short."""

    expressions: tuple[Expr | None, ...]
    linear: bool
    formulas: tuple[Expr, ...]


class SolutionOrder(Sequence[Block]):
    """The blocks of a system in solution order; each is made when asked for.

    Parameters
    ----------
    system : EquationSystem
        As many equations as unknowns, structurally regular.
    """

    def __init__(self, system: EquationSystem) -> None:
        self.system = system
        self.matching: Matching = maximum_matching(system.incidence)
        found = sort_blocks(system.incidence, self.matching)
        self.sorted: Blocks = written_order(found, system.incidence, self.matching, system.rank)
        self._made: dict[int, Block] = {}
        self._solved: dict[int, _Solved] = {}

    def __len__(self) -> int:
        return len(self.sorted)

    @overload
    def __getitem__(self, index: int) -> Block: ...
    @overload
    def __getitem__(self, index: slice) -> list[Block]: ...
    def __getitem__(self, index: int | slice) -> Block | list[Block]:
        if isinstance(index, slice):
            return [self[k] for k in range(*index.indices(len(self)))]
        k = range(len(self))[index]
        if k not in self._made:
            self._made[k] = self._make(k)
        return self._made[k]

    def __repr__(self) -> str:
        return f"<{len(self)} blocks, the largest with {int(self.sizes.max(initial=0))} equations>"

    @property
    def sizes(self) -> np.ndarray:
        """Equations of every block."""
        return np.diff(self.sorted.ptr)

    @property
    def loops(self) -> list[Block]:
        """Blocks of more than one equation."""
        return [self[k] for k in np.flatnonzero(self.sizes > 1).tolist()]

    def rows(self, k: int) -> list[int]:
        """Equations of block k, in the numbering of the system."""
        return self.sorted.equations[self.sorted.ptr[k] : self.sorted.ptr[k + 1]].tolist()

    def columns(self, k: int) -> list[int]:
        """Unknowns of block k, in the order of `rows`."""
        return self.sorted.unknowns[self.sorted.ptr[k] : self.sorted.ptr[k + 1]].tolist()

    # -- one block -----------------------------------------------------------------------------------------------

    def _make(self, k: int) -> Block:
        s, rows, cols = self.system, self.rows(k), self.columns(k)
        solved = self._solve(k)
        torn = self._torn(k) if len(rows) > 1 and not solved.formulas else None
        names = tuple(s.unknown(c) for c in cols)
        values = tuple(self._values.get(id(s.symbol(c))) for c in cols) if solved.formulas else ()
        return Block(
            tuple(s.text(r) for r in rows), tuple(s.place(r) for r in rows), names, solved.linear,
            tuple(shown(e) for e in solved.formulas), values,
            () if torn is None else tuple(names[j] for j in torn.tears.tolist()),
            () if torn is None else tuple(s.text(rows[i]) for i in torn.residuals.tolist()),
        )  # fmt: skip

    def _solve(self, k: int) -> _Solved:
        if k not in self._solved:
            self._solved[k] = self._formulas(self.rows(k), self.columns(k))
        return self._solved[k]

    def _formulas(self, rows: list[int], cols: list[int]) -> _Solved:
        s = self.system
        expressions = tuple(s.expression(r) for r in rows)
        known = [e for e in expressions if e is not None]
        if len(known) < len(rows):
            return _Solved(expressions, False, ())
        symbols = [s.symbol(c) for c in cols]
        if len(rows) == 1:
            found = solved_for(known[0], symbols[0])
            return _Solved(expressions, found is not None, () if found is None else (found,))
        if len(rows) > LARGEST_SYSTEM:
            return _Solved(expressions, are_affine(known, symbols), ())
        system = linear_system(known, symbols)
        found = () if system is None else system.solve() or ()
        if any(len(shown(f)) > LONGEST_FORMULA for f in found):
            found = ()
        return _Solved(expressions, system is not None, found)

    @cached_property
    def _values(self) -> dict[int, float]:
        """Values by id of the symbol, of unknowns that formulas and parameters alone decide."""
        found: dict[int, float] = {}
        if len(self) > MOST_VALUES:
            return found
        for k in range(len(self)):
            for c, formula in zip(self.columns(k), self._solve(k).formulas, strict=False):
                value = self.system.equations.evaluate(formula, found)
                if value is not None:
                    found[id(self.system.symbol(c))] = value + 0.0  # no negative zero
        return found

    # -- tearing -------------------------------------------------------------------------------------------------

    def _torn(self, k: int) -> Torn:
        rows, cols = np.array(self.rows(k)), np.array(self.columns(k))
        incidence = self.system.incidence.restricted(rows, cols)
        return tear(incidence, self._solvable(k, incidence), self.system.preferred[cols])

    def _solvable(self, k: int, incidence: Incidence) -> np.ndarray:
        """Entries with a factor that holds no variable."""
        symbols = [self.system.symbol(c) for c in self.columns(k)]
        expressions = self._solve(k).expressions
        found = np.zeros(len(incidence.col), bool)
        for n, (i, j) in enumerate(zip(incidence.row.tolist(), incidence.col.tolist(), strict=True)):
            expr = expressions[i]
            if expr is not None:
                found[n] = self._constant_factor(expr, symbols[j])
        return found

    def _constant_factor(self, expr: Expr, symbol: Symbol) -> bool:
        system = linear_system([expr], [symbol])
        if system is None:
            return False
        factor = system.A[0][0].expression()
        known: dict[int, float] = {}
        return self.system.equations.evaluate(factor, known) not in (None, 0.0)
