"""A compiled model: what all its runs share, before any numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from time import perf_counter

from ..compilation.discrete import DiscreteProgram, discrete_program
from ..compilation.nonlinear_rows import NonlinearFunctions
from ..compilation.programs import program_of
from ..compilation.sources import SourceProgram, source_program
from ..errors import StatementError
from ..flattening.flat_model import FlatModel
from ..flattening.flatten import flatten
from ..kernels.programs import Arithmetic
from ..modeling.component import Component
from ..reduction.nonlinear_rows import NonlinearRows
from ..reduction.reduced_model import ReducedModel, reduce_model
from ..results.names import Names
from .stopping import Until
from .unknowns import Unknowns


@dataclass
class PassCounts:
    """How often the passes that depend on the model alone have run."""

    flattenings: int = 0
    presolves: int = 0
    symbolic_analyses: int = 0
    seconds: float = 0.0
    """Time they took."""


class CompiledModel:
    """Flattened, reduced and generated, with the names users know; holds no numbers of a run.

    Parameters
    ----------
    model : Component
    until : Until, optional
        A condition that ends every run.
    counts : PassCounts, optional
        Counters to go on with.
    """

    def __init__(
        self, model: Component, until: Until | None = None, counts: PassCounts | None = None
    ) -> None:
        begin = perf_counter()
        self.model = model
        self.counts = counts or PassCounts()
        self.flat: FlatModel = flatten(model)
        self.counts.flattenings += 1
        stop = None if until is None else until.add_to(self.flat.root)
        self.reduced: ReducedModel = reduce_model(self.flat)
        self.counts.presolves += 1
        self.discrete: DiscreteProgram = discrete_program(self.reduced, stop)
        self.counts.symbolic_analyses += 1
        self.names = Names(self.reduced, model, self.discrete.samples, self.discrete.stop)
        self._check_reinits()
        self.sources: SourceProgram = source_program(self.reduced)
        self.warned: set[str] = set()
        """What has been said once and is not repeated."""
        self.counts.seconds += perf_counter() - begin

    @cached_property
    def nonlinear_rows(self) -> NonlinearRows:
        """Rows that are not affine."""
        return NonlinearRows(self.reduced)

    @cached_property
    def nonlinear_functions(self) -> NonlinearFunctions:
        """CasADi functions of the rows that are not affine."""
        begin = perf_counter()
        made = NonlinearFunctions(self.nonlinear_rows)
        self.counts.seconds += perf_counter() - begin
        return made

    @cached_property
    def programs(self) -> tuple[Arithmetic | None, Arithmetic | None]:
        """The discrete part and the sources as kernels execute them; None for what they cannot."""
        return program_of(self.discrete.update.function), program_of(self.sources.states.function)

    @cached_property
    def unknowns(self) -> Unknowns:
        """Names, units and places of core unknowns and elements."""
        return Unknowns(self.reduced)

    def _check_reinits(self) -> None:
        """Raise StatementError for a reinit of a variable that is differentiated nowhere."""
        for branch in self.discrete.branches:
            for x, _ in branch.reinits:
                if self.unknowns.settable(x) is None:
                    raise StatementError(
                        f"reinit of `{self.flat.variable(x)}`, which no equation differentiates",
                        where=(branch.place,),
                        why="such a variable has no memory: the equations give it its value at any time",
                        hint="reinit a variable that stands in der(...); a memory that jumps only is a Discrete"
                        " and takes assign()",
                    )
