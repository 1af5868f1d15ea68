"""Program: a compiled model, ready to run with any parameters; `simulate` compiles and runs at once."""

from __future__ import annotations

import inspect
import math
import threading
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import AcausalError, DeclarationError, NotAffineError, ParameterError, nearest, warn
from ..flattening.flat_model import parameter_vector, start_values
from ..flattening.flatten import overrides
from ..modeling.component import Component, existing_parts
from ..modeling.fields import Structural
from ..modeling.typed_fields import Input
from ..reduction.core import Values
from ..reduction.labels import nonlinear_row
from ..reduction.reduced_model import ReducedModel
from ..results.grid import check_grid, own_grid
from ..results.objects import Opaque
from ..results.result import Result
from ..results.streaming import Stream
from ..simulation.binding import (
    bind_inputs,
    check_ticks,
    make_clocks,
    make_starts,
    saved_paths,
    scalar_parameters,
    static_requirement_missed,
    time_unit,
)
from ..simulation.checks import check_method, check_options, check_span
from ..simulation.compiled import CompiledModel, PassCounts
from ..simulation.continuation import begin, begin_of, continued
from ..simulation.cores import Cores
from ..simulation.failures import Failure, Notice
from ..simulation.large.sizes import may_be_large
from ..simulation.loop import Loop
from ..simulation.method import EXACT_STATES
from ..simulation.numeric import Times
from ..simulation.options import Options
from ..simulation.progress import reporting
from ..simulation.standing import Standing
from ..simulation.starts.stated import Starts
from ..simulation.state import Checkpoint
from ..simulation.stopping import Until
from .outcome import kept, outcome
from .stepping import Simulation

if TYPE_CHECKING:
    from ..compilation.residual import Residual
    from ..diagnosis.structure import Structure


class Program(CompiledModel):
    """A compiled model.

    Flattening, presolve and symbolic analysis are done; numbers enter with
    ``simulate``. Analysed modes are kept and change no result, so a program may
    run in several threads at once. Pickling keeps the model, which is compiled
    again on loading.

    Parameters
    ----------
    model : Component
    until : Until, optional
        A condition that ends every run.
    counts : PassCounts, optional
        Counters to go on with.

    Notes
    -----
    Options of `simulate`:

    parameters : mapping of path to number or array
        Win over bindings and values given at construction.
    initial : mapping of path or handle to number
        Values that must hold after the start. For an element the branch, by name or as its variable reads:
        of several consistent modes one with that branch is taken. ``"steady state"`` for a component or variable
        makes derivatives zero, ``initial="steady state"`` all of them.
    inputs : mapping of name to number, callable or (times, values)
        What feeds the open inputs of the model. Callables are followed to about 1e-13 of
        their size, with jumps and kinks where they lie, but what is shorter than about
        1/800 of the run may be missed, and is better given as (times, values).
    t_start : float
        Begin in seconds; 0, or the end of ``start``.
    start : Result
        A run of this model that is continued: states, modes, discretes, integrals, clocks, and
        what is not given anew of parameters and inputs.
    save : sequence of path or handle
        What plots, tables and files show by default, and what decides the points of ``result.t``.
    grid : float or array
        Step or times of the points of ``result.t``; both limits of events are added. By default
        as many points as straight lines between them need.
    stream : path or True
        A new file, or one of its own, to which events that were seen before are written as they are recorded: memory does not
        grow with them.
    until : condition
        Ends the run when it becomes true, such as ``model.load.v > 5``; compiled once.
    method : str
        "auto": closed forms in each mode in which all equations of the dynamic core are affine, with at most 300
        states, else numerical integration, by an explicit method until the steps show that the mode is stiff. "exact" refuses
        models that need the latter, "explicit" (Dormand-Prince) and "implicit" (Rosenbrock) ask for one method in all modes. The
        former tells with a `StiffnessWarning` that stability alone holds its steps.
    rtol, atol : float
        Tolerances of numerical integration, relative to each variable, and in units of its magnitude in
        the model (by default a hundredth of ``rtol``); without effect on the exact path.
    impulses : str
        "error" or "allow": what to do when an opening element cuts a flow, or a source that steps moves at once what no finite
        impulse moves.
    progress : bool or callable
        None: a bar on runs longer than a second, on terminals and in notebooks only. True: always
        a bar. A callable gets the time reached after every
        event and step of integration; what it raises ends the run, and carries the ``result`` until then.
    """

    def __init__(
        self, model: Component, until: Until | None = None, counts: PassCounts | None = None
    ) -> None:
        super().__init__(model, until, counts)
        self.cores = Cores(self)
        self._stops: dict[Any, Program] = {}
        self._lock = threading.RLock()

    # -- running -------------------------------------------------------------------------------------------------

    def prepare(
        self,
        span: float,
        *,
        t0: float = 0.0,
        parameters: Mapping[str, Any] | None = None,
        initial: Mapping[Any, Any] | str | None = None,
        inputs: Mapping[str, Any] | None = None,
        options: Options | None = None,
        before: Checkpoint | None = None,
        open_ended: bool = False,
    ) -> Loop:
        """Return a run before its first instant; ``before`` is what it continues, and ``open_ended`` one of any length."""
        begin, compiled = perf_counter(), self.counts.seconds
        changes = {**overrides(self.model), **scalar_parameters(self.flat, parameters)}
        P = parameter_vector(self.flat, changes)
        start, fixed, given, D = start_values(self.flat, P)
        starts = make_starts(self, initial, start, fixed, given, D)
        open_inputs = bind_inputs(self, inputs, D, None if before is None else before.open_inputs)
        if before is not None:
            # What is given anew changes in the first instant, from what it was where that is known.
            pairs = zip(before.open_inputs, open_inputs, strict=True)
            open_inputs = tuple(new if isinstance(old.function, Opaque) else old for old, new in pairs)
        values = Values(P, D, np.zeros(self.reduced.nr))
        missed = static_requirement_missed(self, values)
        if missed is not None:
            from ..diagnosis.search_failures import requirement_failed

            raise requirement_failed(missed)
        clocks = make_clocks(self, values)
        for open_input in open_inputs:
            open_input.measure(t0, span)
        T0 = time_unit(self, values, clocks, span)
        given_numbers = {path: float(value) for path, value in changes.items()}
        if before is not None and given_numbers == before.parameters and not inputs:
            # Pieces of sources that suit a short run are too many for a long one.
            starts, (span, T0) = before.starts, max((before.span, before.T0), (span, T0))
        options, core = options or Options(), None
        times = Times(T0, span, T0, math.inf if open_ended else span)
        numbers = partial(self.cores.numbers, values, open_inputs, times, starts)
        if self._is_large(options, starts):
            core = numbers(sparse=True)
        core = core or numbers()
        assert core is not None
        run = Loop(
            self, self.cores, values, core, open_inputs, options, t0, T0, span, clocks, starts, _explain, _notify,
            given_numbers,
        )  # fmt: skip
        run.work.spent("analyse", perf_counter() - begin - (self.counts.seconds - compiled))
        return run

    def _is_large(self, options: Options, starts: Starts) -> bool:
        if not may_be_large(self.reduced, starts) or options.method == "exact":
            return False
        many = int(np.count_nonzero(self.reduced.differentiated)) > EXACT_STATES
        return many or options.method != "auto" or bool(self.reduced.nonlinear)

    def simulate(
        self,
        t_end: float,
        *,
        parameters: Mapping[str, Any] | None = None,
        initial: Mapping[Any, Any] | str | None = None,
        inputs: Mapping[str, Any] | None = None,
        t_start: float | None = None,
        start: Result | None = None,
        save: Sequence[Any] | None = None,
        grid: Any = None,
        stream: Any = None,
        until: Any = None,
        method: str = "auto",
        rtol: float = 1e-6,
        atol: float | None = None,
        impulses: str = "error",
        progress: Any = None,
    ) -> Result:
        """Run from ``t_start`` to ``t_end``, events at ``t_end`` included; options are listed under `Program`.

        Raises
        ------
        ParameterError
            For a value of the wrong kind or out of bounds, or a span that is not positive and finite.
        UnknownPathError
            For a path or handle that names nothing in the model.
        AcausalError
            Any failure of the run; its ``result`` holds what was computed (as does that of a
            KeyboardInterrupt).
        """
        program = self if until is None else self._stopping(until)
        t0 = begin_of(self, t_start, start)
        saved, grid = saved_paths(program.names, save), None if grid is None else own_grid(grid)
        options = Options(impulses, save=saved, grid=grid, method=method, rtol=rtol, atol=atol)
        program._check(options, t0, t_end)
        if grid is not None:
            check_grid(grid, t0, t_end)
        options = replace(options, stream=Stream(stream)) if stream else options
        run = program._launch(t_end - t0, t0, parameters, initial, inputs, start, options)
        run.sources.stretch.end_at(t_end)
        check_ticks(program, run.clocks, t0, t_end)
        with kept(run), reporting(progress, t0, t_end) as report:
            begin(run, start, inputs)
            if until is not None and run.status.finished:
                warn(f"the run ends where it starts, at t = {t0:.9g}: {run.status.message}")
            run.advance(t_end, report, each=callable(progress))
            run.finish()
            return outcome(run, run.snapshot())

    def start(
        self,
        *,
        parameters: Mapping[str, Any] | None = None,
        initial: Mapping[Any, Any] | str | None = None,
        inputs: Mapping[str, Any] | None = None,
        t_start: float | None = None,
        start: Result | None = None,
        span: float | None = None,
        save: Sequence[Any] | None = None,
        grid: Any = None,
        method: str = "auto",
        rtol: float = 1e-6,
        atol: float | None = None,
        impulses: str = "error",
    ) -> Simulation:
        """Return a run that advances step by step; options are listed under `Program`.

        ``span`` is the expected length in seconds, by default that of the first step.
        """
        t0 = begin_of(self, t_start, start)
        check_span(t0, span)
        t_end = t0 + (1.0 if span is None else span)
        saved, grid = saved_paths(self.names, save), None if grid is None else own_grid(grid)
        options = Options(impulses, save=saved, grid=grid, method=method, rtol=rtol, atol=atol)
        self._check(options, t0, t_end)

        def launch(length: float) -> Loop:
            return self._launch(length, t0, parameters, initial, inputs, start, options, span is None)

        return Simulation(self, launch, span, start, inputs)

    def _check(self, options: Options, t0: float, t_end: float) -> None:
        check_options(t0, t_end, options.impulses)
        check_method(options.method, options.rtol, options.atol)
        if options.method == "exact":
            _require_affine(self.reduced)

    def _launch(
        self,
        span: float,
        t0: float,
        parameters: Any,
        initial: Any,
        inputs: Any,
        start: Result | None,
        options: Options,
        open_ended: bool = False,
    ) -> Loop:
        settings: dict[str, Any] = {"t0": t0, "inputs": inputs, "options": options, "open_ended": open_ended}
        if start is None:
            return self.prepare(span, parameters=parameters, initial=initial, **settings)
        before = continued(self, start)
        if initial:
            hint = "a continued run takes its states from the earlier one"
            raise ParameterError("`initial` and `start` exclude each other", hint=hint)
        given = {**before.parameters, **scalar_parameters(self.flat, parameters)}
        return self.prepare(span, parameters=given, before=before, **settings)

    def residual(self) -> Residual:
        """Return the equations, before any reduction, as CasADi functions: see `Residual`."""
        from ..compilation.residual import Residual

        return Residual(self.flat, overrides(self.model))

    def structure(
        self,
        reduce: bool = True,
        *,
        mode: Mapping[str, Any] | None = None,
        parameters: Mapping[str, Any] | None = None,
        initial: Mapping[Any, Any] | str | None = None,
        inputs: Mapping[str, Any] | None = None,
    ) -> Structure:
        """Return how the model is solved, or how its equations are sorted as they are written: see `Structure`.

        Parameters
        ----------
        reduce : bool
            True: as it is solved at the start. False: the equations as written.
        mode : mapping of str to str, bool or int, optional
            Statement -> branch, by name, position, or value of its Boolean mode variable.
        parameters, initial, inputs : mapping, optional
            As for `simulate`; inputs that are given nowhere are zero.
        """
        # Not part of a run: a fresh process imports it when it is asked for.
        from .structure import program_structure

        return program_structure(self, self.prepare, reduce, mode, parameters, initial, inputs)

    def _stopping(self, until: Any) -> Program:
        """The program of the model with a condition that ends the run, compiled once."""
        condition = Until(until, self.names)
        with self._lock:
            found = self._stops.get(condition.key)
            if found is None:
                found = self._stops[condition.key] = Program(self.model, condition, self.counts)
        return found

    def __reduce__(self) -> Any:
        return Program, (self.model,)


def _explain(standing: Standing, failure: Failure) -> AcausalError:
    """What the error says; a run without one does without the words for it."""
    from ..diagnosis.failures import explain

    return explain(standing, failure)


def _notify(standing: Standing, notice: Notice) -> None:
    """The same for what is said without an error."""
    from ..diagnosis.failures import notify

    notify(standing, notice)


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


def _require_affine(model: ReducedModel) -> None:
    """Raise NotAffineError for a model with nonlinear rows: the exact path cannot take it."""
    if model.nonlinear:
        text, place = nonlinear_row(model, 0)
        raise NotAffineError(
            f"`{text}` is not affine in the unknowns and part of the dynamic core",
            where=(place,),
            hint='the exact path takes affine equations; method="auto" integrates modes with others numerically',
        )


_remembering = threading.Lock()
_OPTIONS = [n for n in inspect.signature(Program.simulate).parameters if n not in ("self", "t_end")]


def simulate(model: Component, t_end: float, **options: Any) -> Result:
    """Compile a model and run it.

    The program is kept with the model object and used again; it is compiled anew after a
    change of a structural parameter, an input or, in a `Circuit`, the parts and connections.

    Parameters
    ----------
    model : Component
    t_end : float
        End of the run in seconds.
    **options
        As for `Program.simulate`: ``parameters``, ``initial``, ``inputs``, ``t_start``, ``start``,
        ``save``, ``grid``, ``until``, ``method``, ``rtol``, ``atol``, ``impulses``, ``progress``.

    Raises
    ------
    AcausalError
        For a model that is not well formed or a run that fails; the error of a failed run
        carries what was computed in its ``result``.
    """
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise DeclarationError(
            f"simulate() takes no option `{unknown[0]}`", hint=nearest(unknown[0], _OPTIONS)
        )
    return remembered(model).simulate(t_end, **options)


def remembered(model: Component) -> Program:
    """Return the program of a model object, compiled when there is none or the model has changed."""
    if not isinstance(model, Component):
        return compile_model(model)  # which says what is wrong
    with _remembering:
        shape = _shape(model)
        found = model.__dict__.get("_program")
        if found is None or found[0] != shape:
            found = model.__dict__["_program"] = (shape, compile_model(model))
        return found[1]


def _shape(model: Component) -> Hashable:
    """What a program depends on beside the class: structural values, inputs, and the content of scripts."""
    shape = []
    for path, obj in existing_parts(model):
        own = obj.__dict__
        values = tuple(
            (n, _key(own[n]))
            for n, f in obj._fields.items()
            if n in own and isinstance(f, (Structural, Input))
        )
        scripted = len(own.get("_statements", ()))
        if values or scripted or not type(obj).share:
            parts = own.get("_parts", ()) if not type(obj).share else ()
            shape.append((path, type(obj), values, scripted, parts))
    return tuple(shape)


def _key(value: Any) -> Hashable:
    return value if isinstance(value, (int, float, str, tuple, bool)) else id(value)
