"""Numbers of a program: cores for sets of parameters, discretes in factors and scales, kept for runs to come."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

from ..errors import ModelSizeError
from ..reduction.affine import Inadmissible, Mode
from ..reduction.core import Values
from ..reduction.labels import Labels
from .analysed_modes import AnalysedModes
from .compiled import CompiledModel
from .instants.hints import Cause
from .large.sizes import LARGE, MAX_UNKNOWNS
from .large.system import LargeSystem, kept_back
from .numeric import NumericCore, Times, build_core
from .seen_situations import SituationKey
from .sources.source_states import OpenInput
from .starts.stated import Starts

MAX_CORES = 64


class Cores:
    """The cores of one program. Several threads may ask at once."""

    def __init__(self, program: CompiledModel) -> None:
        self._program, self._reduced = program, program.reduced
        self._kept: dict[Any, NumericCore | None] = {}
        self._evaluated: tuple[bytes, dict[Any, tuple[Any, Any]]] = b"", {}
        """The last parameters, and what was evaluated with them."""
        self.modes = AnalysedModes()
        self.repeated: set[SituationKey] = set()
        """Situations that came again in a run: in others they are taken to do so."""
        self.modes_after: dict[Cause, Mode] = {}
        """Where causes have led in a run: others test these modes first where no other one may follow."""
        self._lock = threading.RLock()

    @cached_property
    def labels(self) -> Labels:
        """Names and units of the core."""
        return Labels(self._reduced)

    def numbers(
        self,
        values: Values,
        open_inputs: Sequence[OpenInput],
        times: Times,
        starts: Starts,
        sparse: bool = False,
    ) -> NumericCore | None:
        """Return the numeric core for these values, built if it is new.

        With ``sparse`` rows there is none where constraints need the analysis of a dense mode.

        Raises
        ------
        ModelSizeError
        """
        program, reduced = self._program, self._reduced
        given, known = starts.given | starts.fixed, starts.value * reduced.differentiated
        # Models that linearise nonlinear rows serve one point of one run.
        shared = None if sparse or reduced.nonlinear else self.modes

        def equations(core: NumericCore) -> LargeSystem:
            kept = kept_back(reduced, given, self.labels.priority)
            return LargeSystem(core, program.nonlinear_functions, kept)

        def build(made: Values) -> NumericCore | None:
            if not sparse:
                self._check_size()
            core = build_core(
                reduced, made, open_inputs, known, times, self.labels, equations if sparse else None, shared
            )  # fmt: skip
            try:
                _ = core.system
            except Inadmissible:
                return None
            return core

        rest = (times, starts.value.tobytes(), given.tobytes() if sparse else None)
        return self._cached(build, values, open_inputs, rest)

    def _cached(
        self,
        build: Callable[[Values], Any],
        values: Values,
        open_inputs: Sequence[OpenInput],
        rest: tuple[Any, ...],
    ) -> Any:
        (discretes, relations), D, R = self._reduced.frozen, values.D, values.R
        factors = (D[discretes].tobytes(), R[relations].tobytes())
        sources = tuple((f.degree, f.size, f.values.tobytes()) for f in open_inputs)
        key = (values.P.tobytes(), factors, sources, rest)
        with self._lock:
            if key not in self._kept:
                if self._evaluated[0] != key[0]:
                    self._evaluated = key[0], {}
                core = build(Values(values.P, D.copy(), R.copy(), kept=self._evaluated[1]))
                if len(self._kept) >= MAX_CORES:
                    del self._kept[next(iter(self._kept))]
                self._kept[key] = core
            return self._kept[key]

    def _check_size(self) -> None:
        n, label = len(self._reduced.core), self._program.flat.label
        if n > MAX_UNKNOWNS:
            raise ModelSizeError(
                f"the dynamic core of {label} has {n} unknowns; a model with elements or with nonlinear constraints"
                f" between states may have {MAX_UNKNOWNS}",
                hint=f"without these, models with more than {LARGE} unknowns are solved with sparse matrices:"
                " state relations in equations of a `when` instead of elements",
            )
