"""Many runs of one program: grids, lists and random draws of parameters, in threads, processes or on a cluster."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Future
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any, Protocol, TextIO

import numpy as np

from ..errors import AcausalError, ParameterError
from ..modeling.component import Component
from ..results.result import Result
from .program import Program, remembered

Measure = Callable[[Result], Any]
Sets = list[dict[str, float]]


class Executor(Protocol):
    """What runs functions elsewhere: the interface of `concurrent.futures`, which a Dask client has too."""

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Any:
        """Begin a call; returns a future."""
        ...


@dataclass(frozen=True)
class SweepRun:
    """One run of a sweep.

    Attributes
    ----------
    parameters : dict
        Values that the run was given, by path.
    value : object
        What was measured, or the `Result` where nothing was asked for; None where the run failed.
    error : Exception or None
        Why it failed.
    """

    parameters: dict[str, float]
    value: Any = None
    error: BaseException | None = None


class Sweep(Sequence[SweepRun]):
    """The runs of a sweep, in the order in which their parameters were given."""

    def __init__(self, runs: Sequence[SweepRun]) -> None:
        self._runs = tuple(runs)

    def __len__(self) -> int:
        return len(self._runs)

    def __getitem__(self, k: Any) -> Any:
        return self._runs[k] if isinstance(k, int) else Sweep(self._runs[k])

    def __iter__(self) -> Iterator[SweepRun]:
        return iter(self._runs)

    def __repr__(self) -> str:
        failed = len(self.failed)
        return f"<Sweep of {len(self)} runs{f', {failed} of them failed' if failed else ''}>"

    @property
    def failed(self) -> list[SweepRun]:
        """Runs that failed, with their parameters and errors."""
        return [run for run in self._runs if run.error is not None]

    @property
    def values(self) -> list[Any]:
        """What was measured, None for runs that failed."""
        return [run.value for run in self._runs]

    def table(self) -> dict[str, np.ndarray]:
        """Columns of parameters and of what was measured: numbers, or mappings of names to numbers; NaN where a run failed.

        Raises
        ------
        ParameterError
            If something else was measured.
        """
        rows = [_row(run) for run in self._runs]
        names = dict.fromkeys(name for row in rows for name in row)
        return {name: np.array([row.get(name, np.nan) for row in rows]) for name in names}

    def to_pandas(self) -> Any:
        """The table as a data frame."""
        return import_module("pandas").DataFrame(self.table())

    def to_xarray(self) -> Any:
        """The measured columns as an xarray data set over the parameters, which must make a grid."""
        frame, names = self.to_pandas(), list(dict.fromkeys(p for run in self._runs for p in run.parameters))
        return frame.set_index(names).to_xarray()


def _row(done: SweepRun) -> dict[str, float]:
    measured = {} if done.error is not None else done.value
    if not isinstance(measured, Mapping):
        measured = {"value": measured}
    try:
        return {**done.parameters, **{str(name): float(x) for name, x in measured.items()}}
    except (TypeError, ValueError) as error:
        raise ParameterError(
            f"a table takes runs that measure numbers, got {type(done.value).__name__}",
            hint="give `measure` a function of a result that returns a number or a mapping of names to numbers",
        ) from error


def random_sets(
    distributions: Mapping[str, Callable[[np.random.Generator], float]], count: int, seed: int = 0
) -> Sets:
    """Sets of parameters drawn at random, the same ones for the same seed.

    Parameters
    ----------
    distributions : mapping of path to callable
        Each draws one value, such as ``lambda rng: rng.normal(5.0, 0.1)``.
    count : int
    seed : int
    """
    rng = np.random.default_rng(seed)
    return [{path: float(draws(rng)) for path, draws in distributions.items()} for _ in range(count)]


def sweep(
    program: Program | Component,
    parameters: Mapping[str, Sequence[float]] | Iterable[Mapping[str, float]],
    t_end: float,
    *,
    measure: Measure | None = None,
    executor: Executor | None = None,
    log: str | Path | None = None,
    **options: Any,
) -> Sweep:
    """Run a program for many sets of parameters.

    Parameters
    ----------
    program : Program or Component
        Compiled once, and once more in each process that takes part.
    parameters : mapping of path to values, or iterable of mappings of path to value
        All combinations of the values, the last path changing first; or the sets themselves, such as `random_sets` gives.
    t_end : float
        End of every run in seconds.
    measure : callable, optional
        What to keep of a result; by default all of it. Other processes have to be able to import it.
    executor : Executor, optional
        Runs elsewhere: an executor of `concurrent.futures`, or a Dask client. By default one run after the other.
    log : path, optional
        File to which every finished run is added, as a line of JSON; runs that stand in it are not done again. What is measured
        must be a number or a mapping of names to numbers.
    **options
        As for `Program.simulate`.

    Returns
    -------
    Sweep
        A run that fails has an error in the place of a value, and takes no other down; so has one whose process died.

    Raises
    ------
    ParameterError
        If parameters are neither kind, or a log belongs to other parameters.
    KeyboardInterrupt
        Carries what was done as its ``sweep``.
    """
    compiled = program if isinstance(program, Program) else remembered(program)
    sets = _sets(parameters)
    done = {} if log is None else _logged(Path(log))
    runs: list[SweepRun | None] = [done.get(_key(s)) for s in sets]
    todo = [k for k, run in enumerate(runs) if run is None]
    with ExitStack() as stack:
        file = None if log is None else stack.enter_context(Path(log).open("a", encoding="utf-8"))
        try:
            for k, run in _carried_out(compiled, sets, todo, t_end, measure, executor, options):
                runs[k] = run
                if file is not None:
                    _note(file, run)
        except KeyboardInterrupt as interrupt:
            interrupt.sweep = Sweep([run for run in runs if run is not None])  # type: ignore[attr-defined]
            raise
    return Sweep([run for run in runs if run is not None])


def _sets(parameters: Any) -> Sets:
    if isinstance(parameters, Mapping):
        axes = {str(path): np.atleast_1d(np.asarray(values, float)) for path, values in parameters.items()}
        if any(axis.ndim != 1 for axis in axes.values()):
            raise ParameterError("every parameter of a grid takes a number or a list of numbers")
        return [dict(zip(axes, map(float, point), strict=True)) for point in product(*axes.values())]
    sets = list(parameters)
    if not all(isinstance(one, Mapping) for one in sets):
        raise ParameterError(
            "a sweep takes a mapping of paths to values, or a list of mappings of paths to single values"
        )
    return [{str(path): float(value) for path, value in one.items()} for one in sets]


def _carried_out(
    program: Program, sets: Sets, todo: list[int], t_end: float, measure: Measure | None, executor: Executor | None,
    options: dict[str, Any],
) -> Iterator[tuple[int, SweepRun]]:  # fmt: skip
    """Numbers of runs, and the runs, as they are finished in order."""
    if executor is None:
        for k in todo:
            yield k, one_run(program, sets[k], t_end, measure, options)
        return
    futures: list[tuple[int, Future[SweepRun]]] = []
    try:
        futures += [(k, executor.submit(one_run, program, sets[k], t_end, measure, options)) for k in todo]
        for k, future in futures:
            yield k, _outcome(sets[k], future)
    finally:
        for _, future in futures:
            future.cancel()


def _outcome(parameters: dict[str, float], future: Future[SweepRun]) -> SweepRun:
    """What came of a run elsewhere, the death of its process included."""
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        lost = RuntimeError("the process of this run, or of one beside it, died before it was finished")
        lost.__cause__ = error
        return SweepRun(parameters, error=lost)
    except (
        Exception
    ) as error:  # What a cluster or the way of a value between processes raises is of any kind.
        return SweepRun(parameters, error=error)


def one_run(
    program: Program, parameters: dict[str, float], t_end: float, measure: Measure | None, options: dict[str, Any]
) -> SweepRun:  # fmt: skip
    """One run of a sweep, in this process; what ends it is kept."""
    try:
        result = program.simulate(t_end, parameters=parameters, progress=False, **options)
        return SweepRun(parameters, result if measure is None else measure(result))
    except (AcausalError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        return SweepRun(parameters, error=error)


# -- the log ------------------------------------------------------------------------------------------------------------


def _key(parameters: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    return tuple(sorted(parameters.items()))


def _note(file: TextIO, done: SweepRun) -> None:
    """Add a run that did not fail to a log, at once."""
    if done.error is None:
        _row(done)  # numbers alone
        file.write(json.dumps({"parameters": done.parameters, "value": done.value}, default=float) + "\n")
        file.flush()


def _logged(path: Path) -> dict[Any, SweepRun]:
    """Runs of a log; a last line that was cut is done again."""
    found: dict[Any, SweepRun] = {}
    if not path.exists():
        return found
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    for number, line in enumerate(lines, 1):
        try:
            entry = json.loads(line)
            run = SweepRun({str(p): float(x) for p, x in entry["parameters"].items()}, entry["value"])
        except (ValueError, TypeError, KeyError, AttributeError) as error:
            if number == len(lines) and not line.endswith("\n"):
                path.write_text("".join(lines[:-1]), encoding="utf-8")
                break
            raise ParameterError(
                f"line {number} of {path} is no run of a sweep", hint="give the path of a new file"
            ) from error
        found[_key(run.parameters)] = run
    return found
