"""Numbers of a run: the affine core, its analysed modes with their flows and sign tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np

from ..dynamics.assembly import affine_flow
from ..dynamics.closed_form import AffineFlow
from ..dynamics.point_frame import PointFrame
from ..dynamics.readout import Readout
from ..reduction.affine import CONTRADICTING, AffineModel, Inadmissible, Mode, ModeData, Rows
from ..reduction.assemble import Magnitudes, assemble, core_magnitudes
from ..reduction.columns import Begun
from ..reduction.constraints import common_constraints
from ..reduction.core import (
    NOTHING,
    TANGENT_STATES,
    Exosystem,
    Values,
    build_exosystem,
    core_matrices,
    evaluate_changed,
)
from ..reduction.index_reduction import source_conditions
from ..reduction.labels import Labels
from ..reduction.magnitudes import bounded_magnitudes, magnitude, nonlinear_magnitudes
from ..reduction.parts import IndependentPart, independent_parts
from ..reduction.reduced_model import ReducedModel
from ..reduction.rounding import amplitudes
from ..structure.incidence import dense_rows
from .analysed_modes import MODE_BYTES, AnalysedModes, Analysis, Contents, Recent, analyse, size_of
from .instants.search import Search
from .instants.transition import CandidateTest, ModeTables, SignTable
from .self_check import ModelRows
from .sources.source_states import OpenInput


class NumericCore:
    """An affine model with its cache of modes; a function of parameters, discretes in factors, and scales.

    ``make`` returns the forms and the model. Of models that linearise nonlinear rows at the points where a run stops, many are
    never looked at.
    """

    def __init__(
        self,
        reduced: ReducedModel,
        values: Values,
        exosystem: Exosystem,
        make: Callable[[], tuple[Rows, AffineModel]],
        unit: float,
        readout: Readout,
        system: Callable[[NumericCore], Any] | None = None,
        shared: AnalysedModes | None = None,
        counts: NumericCore | None = None,
        begun: Callable[[Mode], Begun] | None = None,
        longest: float = math.inf,
    ) -> None:
        self.unit, self.longest = unit, longest
        """Unit of time of the derivatives of general sources."""
        self.reduced, self.exosystem, self.readout, self.values = reduced, exosystem, readout, values
        self.analysed, self.seconds = 0, 0.0
        """Analyses of modes, and the time they took; those with tangents count for the core without."""
        self.idle: list[Any] = []
        """What kernels know of events with these numbers, where no run uses it."""
        self._make_numbers, self._make_system = make, system
        self._shared, self._counts, self._begun = shared, counts or self, begun
        self._modes: Recent[Mode, Analysis] = Recent(MODE_BYTES, self._give_back)

    def linearised(
        self,
        make: Callable[[], tuple[Rows, AffineModel]],
        shared: AnalysedModes,
        begun: Callable[[Mode], Begun],
    ) -> NumericCore:
        """The same numbers with tangents in the place of nonlinear rows; analyses of modes go on from what is ``begun``.

        Where points have the same tangents they have the analyses ``shared``.
        """
        return NumericCore(
            self.reduced, self.values, self.exosystem, make, self.unit, self.readout,
            shared=shared, counts=self._counts, begun=begun, longest=self.longest,
        )  # fmt: skip

    @cached_property
    def _numbers(self) -> tuple[Rows, AffineModel]:
        return self._make_numbers()

    @property
    def forms(self) -> Rows:
        """All affine forms of the model."""
        return self._numbers[0]

    @property
    def model(self) -> AffineModel:
        """The affine switched model."""
        return self._numbers[1]

    @cached_property
    def system(self) -> Any:
        """Equations with sparse rows, None where modes are analysed with dense matrices."""
        return None if self._make_system is None else self._make_system(self)

    @cached_property
    def equations(self) -> ModelRows:
        """The equations that may be in force, to look at whether they hold."""
        return ModelRows(self.model.base, self.model.elements)

    @cached_property
    def parts(self) -> tuple[IndependentPart, ...]:
        """Parts of the model that share no unknown."""
        return independent_parts(self.model)

    @cached_property
    def amplitudes(self) -> np.ndarray:
        """Matrix by which magnitudes of the sources give at least their amplitudes."""
        return self.values.still("amplitudes", NOTHING, lambda: amplitudes(self.exosystem.S), self.exosystem)

    @cached_property
    def frame(self) -> Any:
        """Reads variables at a point ``[z, z', xi]``, whatever its mode."""
        return PointFrame(self.model.n, self.model.S)

    @cached_property
    def relations(self) -> Rows:
        """The forms of the state relations."""
        every = self.reduced.flat.each(self.reduced.relations)
        return self.forms.take([r.row + i for r, i in every if not r.relation.timed])

    @cached_property
    def search(self) -> Search:
        """The search for modes, with the test of candidates."""
        return Search(
            self.model, CandidateTest(self.model, self.mode, self._made), bool(self.reduced.nonlinear)
        )

    def _made(self, data: ModeData) -> ModeTables:
        # Relations of sparse rows are told by the motion.
        return ModeTables(self.model, data, self.relations if self.system is None else None, self._flow)

    def _flow(self, data: ModeData, unit: float) -> AffineFlow:
        closed = affine_flow if self._shared is None else self._shared.flow
        return closed(
            data.Ay, len(data.states), min(self.model.T0, self.unit, unit, self.longest), self.longest
        )

    def form_rows(self, first: int, count: int) -> Rows:
        """Return some of the forms of the model."""
        return self.forms.take(slice(first, first + count))

    def mode(self, mode: Mode) -> ModeData:
        """Return the analysed mode; raises ``Inadmissible``, every time anew, for one that cannot exist."""
        if self.system is not None:
            return self._only_mode
        found = self._modes.get(mode)
        if found is None:
            found = self._found(mode)
            self._modes.put(mode, found, size_of(found))
        if isinstance(found, Inadmissible):
            raise Inadmissible(found.reason, lambda: found.where)
        return found

    @cached_property
    def _only_mode(self) -> Any:
        """A model with sparse rows has no elements: its state is any point of its equations."""
        none = np.zeros(self.model.n, bool)
        return PointFrame(self.model.n, self.model.S, (), none, self.system.mode.index, self.system.nx)

    @cached_property
    def _contents(self) -> Contents:
        return Contents(self.model)

    def _found(self, mode: Mode) -> Analysis:
        begin = perf_counter()
        if self._shared is None:
            found, new = analyse(self.model, mode), True
        else:
            found, new = self._shared.mode(self.model, self._contents, mode, self._begun)
        if new:
            self._counts.analysed += 1
            self._counts.seconds += perf_counter() - begin
        return found

    def _give_back(self, found: Analysis) -> None:
        """Forget what was made of a mode."""
        if isinstance(found, ModeData):
            self.search.test.forget(found.mode)

    def tables(self, data: ModeData) -> ModeTables:
        """Return the tables of a mode; those of one that was analysed with other numbers are not kept."""
        if self.system is not None or self._modes.get(data.mode) is data:
            return self.search.test.tables(data)
        return self._made(data)

    def variables(self, data: ModeData, ids: tuple[int, ...]) -> SignTable:
        """Return the sign table of single variables in a mode."""
        known = self.tables(data).variables
        found = known.get(ids)
        if found is None:
            model, over_z = self.model, dense_rows(self.reduced.W_core, np.array(ids, np.int64))
            rows = self.readout.rows(data, ids)
            found = known[ids] = SignTable(rows, data, model.T0, over_z, model.scale)
        return found

    @cached_property
    def common_constraints(self) -> np.ndarray:
        """Constraints (k, n + q) over ``[z; xi]`` that hold whatever the mode."""
        return common_constraints(self.model)

    @cached_property
    def _given_conditions(self) -> tuple[np.ndarray, np.ndarray]:
        """What redundant integer rows demand of the sources, and the number of the row."""
        rows = (self.reduced.contradictions @ self.exosystem.K).toarray()
        return source_conditions(self.model.S, self.model.xi_scale, rows)

    def contradicting_row(self, xi: np.ndarray) -> int | None:
        """Number of an integer row through which known quantities contradict each other; None without any."""
        rows, numbers = self._given_conditions
        failed = np.flatnonzero(np.abs(rows @ xi) > CONTRADICTING)
        return int(numbers[failed[0]]) if len(failed) else None


def analysed_since(before: Mapping[NumericCore, tuple[int, float]]) -> tuple[int, float]:
    """Analyses of modes, and the seconds they took, since cores had made those ``before``."""
    counts = [(core.analysed - n, core.seconds - seconds) for core, (n, seconds) in before.items()]
    return sum(n for n, _ in counts), sum(seconds for _, seconds in counts)


class Times(NamedTuple):
    """Times of a run, in seconds."""

    T0: float
    """Unit of the magnitudes of derivatives."""
    span: float
    """Its length."""
    unit: float
    """Of the derivatives of general sources."""
    longest: float
    """Time within which it ends for certain."""


def build_core(
    reduced: ReducedModel,
    values: Values,
    open_inputs: Sequence[OpenInput],
    starts: np.ndarray,
    times: Times,
    labels: Labels,
    system: Callable[[NumericCore], Any] | None = None,
    shared: AnalysedModes | None = None,
) -> NumericCore:
    """Evaluate the numbers of a run and assemble its affine model.

    With ``system`` rows are sparse, and it makes the equations that are solved along the motions.
    """
    sparse = system is not None
    degrees, (T0, span, unit, longest) = tuple(f.degree for f in open_inputs), times
    exosystem = build_exosystem(reduced, values, degrees, unit)
    matrices = core_matrices(reduced, values, exosystem, sparse)
    xi_scale = source_scale(reduced, values, exosystem, open_inputs, T0, span)
    sizes = Magnitudes(np.maximum(np.abs(starts), labels.nominals))
    if reduced.nonlinear and not sparse:
        sizes = Magnitudes(
            sizes.known, nonlinear_magnitudes(reduced, values, span), bounded_magnitudes(reduced, values)
        )
    model = assemble(reduced, matrices, values, sizes, xi_scale, T0, labels)
    if reduced.nonlinear:
        xi_scale[-TANGENT_STATES:] = _tangent_scale(model.T0)
        # Time stands still where nothing is linearised: its states are constants.
        still = model.S.copy()
        still[-TANGENT_STATES:] = 0.0
        model = replace(model, S=still, xi_scale=xi_scale)
    else:
        model = replace(model, nominals=core_magnitudes(reduced, labels.nominals))
    readout = values.still("readout", NOTHING, lambda: Readout.of(reduced, exosystem, values.P), exosystem)
    numbers = matrices.forms, model
    return NumericCore(
        reduced, values, exosystem, lambda: numbers, unit, readout, system, shared, longest=longest
    )


def source_scale(
    reduced: ReducedModel,
    values: Values,
    exosystem: Exosystem,
    open_inputs: Sequence[OpenInput],
    T0: float,
    span: float,
) -> np.ndarray:
    """Magnitudes of the exosystem states."""
    scale = np.zeros(len(exosystem.S))
    scale[0] = 1.0
    if reduced.nonlinear:
        scale[-TANGENT_STATES:] = _tangent_scale(T0)
    inputs = iter(open_inputs)
    by_known = {k.first: k for k in reduced.knowns}
    for first, known_number, count, term in exosystem.blocks:
        if term is None:
            _fill(scale, first, next(inputs).size, "pieces", 0.0, T0, exosystem.S)
            continue
        known = by_known[known_number]
        sizes = magnitude(reduced, known.batch, term.expr, values, span)
        rates = (
            np.zeros(count)
            if term.rate is None
            else evaluate_changed(reduced, known.batch, term.rate, values)
        )
        for i in range(count):
            at = first + i * term.states
            _fill(scale[: at + term.states], at, float(sizes[i]), term.kind, float(rates[i]), T0, exosystem.S)
    return scale


def _tangent_scale(T0: float) -> tuple[float, ...]:
    """Magnitudes of the powers of time since the instant."""
    return T0**3 / 6.0, 0.5 * T0**2, T0


def _fill(
    scale: np.ndarray, first: int, size: float, kind: str, rate: float, T0: float, S: np.ndarray
) -> None:
    for k in range(first, len(scale)):
        scale[k] = size
        size *= abs(rate) if kind == "sinusoid" else 1.0 if kind == "pieces" else 1.0 / T0
        if k + 1 >= len(S) or (S[k, k + 1] == 0.0):
            return
