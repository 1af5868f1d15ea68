"""Program: a compiled model, ready to run with any parameters."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..codegen.discrete import discrete_program
from ..codegen.sources import source_program
from ..errors import (
    AcausalError,
    Location,
    ModelSizeError,
    ParameterError,
    UnknownPathError,
    nearest,
)
from ..flattening.flat_model import FlatModel, parameter_vector, start_values
from ..flattening.flatten import flatten, overrides
from ..flattening.template import place_of
from ..modeling.component import Component
from ..modes.assemble import flow_like
from ..modes.core import Values, evaluate
from ..modes.reduced_model import ReducedModel, reduce_model
from ..results.result import Result
from .checks import check_options, check_reinits
from .clocks import Clock
from .failures import requirement_failed
from .initialization import Starts
from .numeric import NumericCore, build_core, nominal_magnitudes
from .run import Options, Run
from .source_states import Feed

MAX_CORES = 64
MAX_UNKNOWNS = 3000
"""Dense matrices of a mode; a pencil of this size takes some 100 MB."""


class Program:
    """A compiled model.

    Flattening, presolve and symbolic analysis are done; numbers enter with
    ``simulate``. Analysed modes are kept and change no result.

    Parameters
    ----------
    model : Component
    """

    def __init__(self, model: Component) -> None:
        self.model = model
        self.flat: FlatModel = flatten(model)
        self.reduced: ReducedModel = reduce_model(self.flat)
        self.discrete = discrete_program(self.reduced)
        check_reinits(self)
        self.sources = source_program(self.reduced)
        self._cores: dict[Any, NumericCore] = {}
        self._warned = False

    # -- compile-time checks -------------------------------------------------------------------------------------

    def _warn_of_islands(self) -> None:
        """Warn, once per program, of what no equation determines."""
        presolved, flat = self.reduced.presolved, self.flat
        if self._warned:
            return
        self._warned = True
        for pinned, island in zip(presolved.pinned, presolved.islands, strict=True):
            names = [flat.variable(int(k)) for k in island[:6]]
            more = f" and {len(island) - 6} more" if len(island) > 6 else ""
            flow = flow_like(self.reduced)[int(pinned)]
            what = "undetermined circulating flow" if flow else "no reference"
            then = "the flows are relative to it" if flow else "potentials of the island are relative to it"
            warnings.warn(
                f"{what} in the island {{{', '.join(names)}{more}}}: `{flat.variable(int(pinned))}` is pinned to zero; {then}",
                stacklevel=4,
            )

    # -- names ---------------------------------------------------------------------------------------------------

    @cached_property
    def core_index(self) -> np.ndarray:
        """Position in the core of every kept unknown, -1 for observers."""
        found = np.full(len(self.reduced.presolved.y), -1, np.int64)
        found[self.reduced.core] = np.arange(len(self.reduced.core))
        return found

    @cached_property
    def relation_operators(self) -> list[str]:
        """Operator of every state relation."""
        found = []
        for rows in self.reduced.relations:
            if not rows.relation.timed:
                found += [rows.relation.node.op] * len(self.flat.stamps[rows.stamp].vb)
        return found

    @cached_property
    def _elements(self) -> list[tuple[str, Location]]:
        found = []
        for rows in self.reduced.elements:
            for i in range(len(self.flat.stamps[rows.stamp].vb)):
                path = self.flat.path(rows.stamp, i) or self.flat.label
                found.append((path, self.flat.location(rows.stamp, i, rows.forms.statement.origin)))
        return found

    def element_place(self, k: int) -> tuple[str, Location]:
        """Return component path and place of element ``k``."""
        return self._elements[k]

    @cached_property
    def _state_names(self) -> list[str]:
        W = self.reduced.W_core
        names = [self.flat.variable(int(k)) for k in self.reduced.presolved.y[self.reduced.core]]
        for x in np.flatnonzero(self.reduced.differentiated).tolist():
            if W.indptr[x + 1] - W.indptr[x] == 1:
                names[int(W.indices[W.indptr[x]])] = self.flat.variable(x)
        return names

    def state_name(self, j: int) -> str:
        """Return the name of core unknown ``j``, that of a differentiated variable if there is one."""
        return self._state_names[j]

    @cached_property
    def _units(self) -> list[str]:
        unit = np.empty(self.flat.nv, object)
        for f, at in self.flat.variable_fields():
            unit[at] = f.unit
        return [str(unit[int(k)]) for k in self.reduced.presolved.y[self.reduced.core]]

    def unit_of_core(self, j: int) -> str:
        """Return the unit of core unknown ``j``."""
        return self._units[j]

    def single(self, x: int) -> tuple[int, int] | None:
        """Return (kept unknown, sign) when variable ``x`` is a signed alias, else None."""
        W = self.reduced.W
        if W.indptr[x + 1] - W.indptr[x] != 1 or abs(W.data[W.indptr[x]]) != 1:
            return None
        return int(W.indices[W.indptr[x]]), int(W.data[W.indptr[x]])

    def settable(self, x: int) -> tuple[Any, ...] | None:
        """Return ("core", unknown, sign) or ("integral", position, sign) of a differentiated variable, else None."""
        alias = self.single(x)
        if alias is None:
            return None
        j, sign = alias
        at = int(self.core_index[j])
        if at >= 0:
            return ("core", at, sign) if self._differentiated[at] else None
        for n, k in enumerate(self._integrals):
            o = self.reduced.observers[k]
            if o.unknown == j:
                return "integral", n, sign * o.sign
        return None

    @cached_property
    def _differentiated(self) -> np.ndarray:
        """Mask over the core unknowns: an alias is differentiated somewhere."""
        found = np.zeros(len(self.reduced.core), bool)
        for x in np.flatnonzero(self.reduced.differentiated).tolist():
            alias = self.single(x)
            if alias is not None and self.core_index[alias[0]] >= 0:
                found[self.core_index[alias[0]]] = True
        return found

    def reinit_target(self, x: int) -> tuple[Any, ...]:
        """Return what `settable` returns, for a variable that is known to be differentiated."""
        target = self.settable(x)
        assert target is not None
        return target

    @cached_property
    def _integrals(self) -> list[int]:
        return [k for k, o in enumerate(self.reduced.observers) if o.integral]

    # -- numbers -------------------------------------------------------------------------------------------------

    def core_for(
        self, values: Values, D: np.ndarray, R: np.ndarray, feeds: Sequence[Feed], T0: float, span: float, starts: Starts
    ) -> NumericCore:
        """Return the numeric core for these values, from the cache if it was built before."""
        discretes, relations = self.reduced.frozen
        factors = (D[discretes].tobytes(), R[relations].tobytes())
        sources = tuple((f.degree, f.values.tobytes()) for f in feeds)
        key = (values.P.tobytes(), factors, sources, T0, span, starts.value.tobytes())
        core = self._cores.get(key)
        if core is None:
            self._check_size()
            made = Values(values.P, D.copy(), R.copy())
            core = build_core(self.reduced, made, feeds, starts.value * self.reduced.differentiated, self._nominals, T0, span)
            if len(self._cores) >= MAX_CORES:
                del self._cores[next(iter(self._cores))]
            self._cores[key] = core
        return core

    def _check_size(self) -> None:
        n = len(self.reduced.core)
        if n > MAX_UNKNOWNS:
            raise ModelSizeError(
                f"the dynamic core of {self.flat.label} has {n} unknowns; the exact path takes up to {MAX_UNKNOWNS}",
                hint="split the model, or replace parts of it by an equivalent of lower order",
            )

    @cached_property
    def _nominals(self) -> np.ndarray:
        return nominal_magnitudes(self.reduced)

    def _time_unit(self, values: Values, clocks: list[Clock], span: float) -> float:
        periods = [float(c.period) for c in clocks]
        for known in self.reduced.knowns:
            for term in known.terms:
                if term.kind == "sinusoid" and term.rate is not None:
                    rates = np.abs(evaluate(self.reduced, known.stamp, term.rate, values))
                    periods += (2 * math.pi / rates[rates > 0]).tolist()
        return min([p for p in periods if p > 0] or [span if span > 0 else 1.0])

    def _clocks(self, values: Values, t0: float) -> list[Clock]:
        clocks = []
        for s in self.discrete.samples:
            one = np.array([s.instance])
            period, start = (float(evaluate(self.reduced, s.stamp, a, values, one)[0]) for a in s.node.args)
            place = self.flat.location(s.stamp, s.instance, self.flat.stamps[s.stamp].template.origin_of(s.node))
            clock = Clock.make(period, start, place)
            clock.advance_to(t0, 4 * math.ulp(t0))
            clocks.append(clock)
        return clocks

    # -- running -------------------------------------------------------------------------------------------------

    def prepare(
        self,
        span: float,
        *,
        t0: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
        initial: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        options: Options | None = None,
    ) -> Run:
        """Return a run before its first instant."""
        changes = {**overrides(self.model), **self._expand(parameters or {})}
        P = parameter_vector(self.flat, changes)
        start, fixed, given, D = start_values(self.flat, P)
        self._initial(dict(initial or {}), start, fixed, D)
        starts = Starts(start, fixed, given)
        feeds = self._feeds(dict(inputs or {}), D)
        values = Values(P, D, np.zeros(self.reduced.nr))
        self._check_static(values)
        clocks = self._clocks(values, t0)
        T0 = self._time_unit(values, clocks, span)
        core = self.core_for(values, D, values.R, feeds, T0, span, starts)
        self._warn_of_islands()
        return Run(self, values, core, feeds, options or Options(), t0, T0, span, clocks, starts)

    def _check_static(self, values: Values) -> None:
        """Requirements on parameters alone come before any number is used."""
        for k, s in enumerate(self.flat.stamps):
            for c in s.template.checks:
                if self.reduced.forms[k].is_static(c.condition):
                    failed = np.flatnonzero(evaluate(self.reduced, k, c.condition, values) == 0.0)
                    if len(failed):
                        place = self.flat.location(k, int(failed[0]), c.origin)
                        raise requirement_failed(c.message, place, str(c.condition))

    def _expand(self, parameters: Mapping[str, Any]) -> dict[str, float]:
        found: dict[str, float] = {}
        for path, value in parameters.items():
            if hasattr(value, "__len__") and not isinstance(value, str):
                found.update({f"{path}[{k}]": v for k, v in enumerate(value)})
            else:
                found[path] = value
        return found

    def _initial(self, initial: dict[str, Any], start: np.ndarray, fixed: np.ndarray, D: np.ndarray) -> None:
        for path, value in initial.items():
            if isinstance(value, str) or not hasattr(value, "__float__") or not math.isfinite(float(value)):
                raise ParameterError(
                    f"the initial value of `{path}` must be a finite number, got {value!r}", where=place_of(self.flat.root, path)
                )
            try:
                k, _ = self.flat.find("v", path)
                start[k], fixed[k] = float(value), True
            except UnknownPathError as unknown:
                try:
                    D[self.flat.find("d", path)[0]] = float(value)
                except UnknownPathError:
                    raise unknown from None

    def _feeds(self, inputs: dict[str, Any], D: np.ndarray) -> tuple[Feed, ...]:
        names = [n for n, _, _ in self.reduced.inputs]
        switches = [n for n in self.flat.root.inputs if n in self.flat.root.discretes]
        own = self.flat.own_values
        for name, value in inputs.items():
            if name not in names and name not in switches:
                hint = nearest(name, names + switches) or f"{self.flat.label} declares no Input of its own"
                raise UnknownPathError(f"the model has no input `{name}`", hint=hint)
            if name in switches:
                D[self.flat.root.index("d", name)] = float(value)
        for name in switches:
            if name not in inputs and isinstance(own.get(name), (bool, int, float)):
                D[self.flat.root.index("d", name)] = float(own[name])
        return tuple(Feed(n, inputs.get(n, own.get(n, 0.0))) for n in names)

    def simulate(
        self,
        t_end: float,
        *,
        parameters: Mapping[str, Any] | None = None,
        initial: Mapping[str, Any] | None = None,
        inputs: Mapping[str, Any] | None = None,
        t_start: float = 0.0,
        impulses: str = "error",
        progress: Callable[[float], None] | None = None,
    ) -> Result:
        """Run from ``t_start`` to ``t_end``.

        Raises
        ------
        ParameterError
            For a span that is not positive and finite, or an unknown option.
        AcausalError
            Any failure of the run; its ``result`` holds what was computed.
        """
        check_options(t_start, t_end, impulses)
        run = self.prepare(
            t_end - t_start, t0=t_start, parameters=parameters, initial=initial, inputs=inputs, options=Options(impulses=impulses)
        )
        try:
            run.start()
            run.advance(t_end, progress=progress)
            run.finish()
        except AcausalError as error:
            error.result = Result(self, run)
            raise
        return Result(self, run)


def compile_model(model: Component) -> Program:
    """Flatten, presolve and analyse a model.

    Parameters
    ----------
    model : Component

    Returns
    -------
    Program
    """
    return Program(model)
