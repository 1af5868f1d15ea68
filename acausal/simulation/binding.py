"""What a run is given: parameters, initial values, inputs, bound to the numbers of the model."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from ..compilation.discrete import Sample
from ..errors import AcausalError, Location, ParameterError, UnconnectedInputError, UnknownPathError, nearest
from ..flattening.flat_model import FlatModel
from ..flattening.template import Template, place_of
from ..modeling.component import Component
from ..modeling.elements import ElementTable
from ..modeling.expressions import enum_index
from ..modeling.number_checks import shown
from ..reduction.core import Values, evaluate
from ..results.names import Names
from ..results.objects import Opaque
from .checks import is_number, is_real
from .clocks import Clock
from .compiled import CompiledModel
from .failures import RequirementMissed
from .sources.source_states import OpenInput
from .starts.stated import Starts

MOST_EXTENTS = 4
"""Extents of an array parameter."""
MOST_TICKS = 1e12
"""Ticks of one clock in a run; a run of more would take years."""


def static_requirement_missed(program: CompiledModel, values: Values) -> RequirementMissed | None:
    """Return a requirement on parameters alone that does not hold; they come before any number is used."""
    flat = program.flat
    for k, s in enumerate(flat.batches):
        for c in s.template.checks:
            if program.reduced.forms[k].is_static(c.condition):
                failed = np.flatnonzero(evaluate(program.reduced, k, c.condition, values) == 0.0)
                if len(failed):
                    place = flat.location(k, int(failed[0]), c.origin)
                    return RequirementMissed(c.message, place, str(c.condition))
    return None


def mapping(name: str, given: Any, example: str) -> Mapping[Any, Any]:
    """Return an option that is a mapping, empty for None.

    Raises
    ------
    ParameterError
        If it is none.
    """
    if given is None:
        return {}
    if not isinstance(given, Mapping):
        raise ParameterError(f"`{name}` takes a mapping, got {shown(given)}", hint=f"{name}={example}")
    return given


def scalar_parameters(flat: FlatModel, given: Any) -> dict[str, Any]:
    """Return parameters by scalar path: array values are spread over their elements.

    Raises
    ------
    ParameterError
        If they are no mapping from paths, or an array has not the extents of its parameter.
    """
    parameters = mapping("parameters", given, '{"load.R": 2.0}')
    found: dict[str, Any] = {}
    for path, value in parameters.items():
        if not isinstance(path, str):
            raise ParameterError(
                f"parameters are given by path, a string, got {shown(path)}",
                hint='parameters={"load.R": 2.0}',
            )
        elements = [("", value)]
        extents: list[int] = []
        while all(_is_sequence(v) and len(v) for _, v in elements):
            extents.append(len(elements[0][1]))
            elements = [(f"{index}[{k}]", v) for index, row in elements for k, v in enumerate(row)]
        if extents or _is_sequence(value):
            _check_extents(flat, path, value, tuple(extents))
        found.update({path + index: v for index, v in elements})
    return found


def _is_sequence(value: Any) -> bool:
    mapping_or_text = isinstance(value, (str, bytes, Mapping, set, frozenset))
    return hasattr(value, "__len__") and getattr(value, "ndim", 1) > 0 and not mapping_or_text


def _check_extents(flat: FlatModel, path: str, value: Any, extents: tuple[int, ...]) -> None:
    """Raise ParameterError unless the parameter ``path`` has these extents."""
    for n in range(MOST_EXTENTS + 1):
        try:
            shape = flat.find("p", path + "[0]" * n)[1].shape
            break
        except UnknownPathError:
            continue
    else:
        return  # an unknown path is named where it is looked up
    wanted = shape[len(shape) - n :]
    if wanted != extents:
        size = f"{' x '.join(map(str, wanted))} values" if wanted else "one number"
        raise ParameterError(f"`{path}` needs {size}, got {shown(value)}", where=place_of(flat.root, path))


STEADY = "steady state"
"""What ``initial=`` takes for a model, a component or a variable whose derivatives are to be zero."""


def make_starts(
    program: CompiledModel,
    initial: Any,
    start: np.ndarray,
    fixed: np.ndarray,
    given: np.ndarray,
    D: np.ndarray,
) -> Starts:
    """Return the start values of a run, changed by ``initial``; those of discretes are written into ``D``.

    Raises
    ------
    UnknownPathError
        For a path that names nothing in the model.
    ParameterError
        For a value that is no finite number, no branch, and not "steady state", or for two values of one variable.
    """
    flat, branches, discretes, of_run = program.flat, {}, {}, set()
    steady = np.zeros(flat.nv, bool)
    if _is_steady(initial):
        initial = {"": STEADY}
    example = f'{{"load.v": 1.0}}, or initial="{STEADY}"'
    stated = [
        (program.names.component(what) if isinstance(what, Component) else program.names.path(what), value)
        for what, value in mapping("initial", initial, example).items()
    ]
    paths = [path for path, _ in stated]
    twice = next((path for k, path in enumerate(paths) if path in paths[:k]), None)
    if twice is not None:
        raise ParameterError(
            f"`initial` gives `{twice or 'the whole model'}` twice, as a handle and as a path",
            hint="give it once",
        )
    elements = _elements(program, paths)
    for path, value in stated:
        found = elements.get(path)
        if found is not None:
            branches[found[0]] = _branch(path, found[1], value)
        elif _is_steady(value):
            steady |= _at_rest(program, path)
        else:
            code = enum_index(value) if isinstance(value, Enum) else value
            try:
                k, _ = flat.find("v", path)
            except UnknownPathError as unknown:
                try:
                    d, field = flat.find("d", path)
                except UnknownPathError:
                    _check_initial(flat.root, path, code, is_number)
                    raise unknown from None
                _check_discrete(flat.root, path, field, value, code)
                D[d], discretes[d] = float(code), value
            else:
                _check_initial(flat.root, path, value, is_real)
                start[k], fixed[k] = float(code), True
                of_run.add(k)
    return Starts(start, fixed, given, branches, frozenset(of_run), steady, discretes)


def _check_initial(root: Template, path: str, value: Any, is_value: Callable[[Any], bool]) -> None:
    """Raise ParameterError for what is no initial value of a variable, or given for the whole model."""
    if not path:
        raise ParameterError(
            f'"" in `initial` is the whole model, which takes "{STEADY}" only, got {shown(value)}',
            hint='name a variable, as in {"load.v": 1.0}',
        )
    if not is_value(value) or not math.isfinite(value):
        raise ParameterError(
            f"the initial value of `{path}` must be a finite number, got {shown(value)}",
            where=place_of(root, path),
            hint=f'"{STEADY}" makes derivatives zero' if isinstance(value, str) else "",
        )


def _check_discrete(root: Template, path: str, field: Any, value: Any, code: Any) -> None:
    """Raise ParameterError for what is no value of a discrete variable; an enum takes its members and their codes."""
    foreign = isinstance(value, Enum) and not (isinstance(field.type, type) and isinstance(value, field.type))
    if foreign or not is_number(code) or not field.holds(float(code)):
        raise ParameterError(
            f"the initial value of `{path}` must be {field.kind}, got {shown(value)}",
            where=place_of(root, path),
        )


def _is_steady(value: object) -> bool:
    return isinstance(value, str) and value == STEADY


def _at_rest(program: CompiledModel, path: str) -> np.ndarray:
    """Mask of the differentiated variables of a component, or of one variable by itself.

    Raises
    ------
    UnknownPathError
        If the path names neither.
    ParameterError
        If nothing is differentiated there.
    """
    own, inside = program.names.inside(path)
    if own is None and not inside:
        program.flat.find("v", path)
    found = np.zeros(program.flat.nv, bool)
    found[inside] = program.reduced.differentiated[inside]
    if own is not None:
        # An alias of what is differentiated is as good.
        found[own] = program.reduced.differentiated[own] or program.unknowns.settable(own) is not None
    if own is not None and not found.any():
        raise ParameterError(
            f"`{path}` is not differentiated in this model: it has no rate that could be made zero",
            where=place_of(program.flat.root, path),
            hint="give its rate a variable of the model, as in rate = Variable() and"
            f' yield Eq(self.rate, der(self.{path})), and start with initial={{"rate": 0.0}}; or name a component with states',
        )
    if path and not found.any():
        raise ParameterError(
            f"nothing in `{path}` is differentiated: it has no steady state of its own",
            where=place_of(program.flat.root, path),
            hint="name a component with states, or a variable x of which der(x) occurs",
        )
    return found


def _elements(program: CompiledModel, paths: Iterable[str]) -> dict[str, tuple[int, ElementTable]]:
    """Number and table of every element by the path that names its branch; none where no path ends like one of them."""
    names = {rows.forms.statement.name for rows in program.reduced.elements}
    if not any(path.rpartition(".")[2] in names for path in paths):
        return {}
    found: dict[str, tuple[int, ElementTable]] = {}
    for k, (rows, i) in enumerate(program.flat.each(program.reduced.elements)):
        statement = rows.forms.statement
        # An element that stands for equations bears the name of their variable, and has no branch to give.
        if not rows.forms.replaced:
            found.setdefault(program.flat.name_in(rows.batch, i, statement.name), (k, statement.table))
    return found


def _branch(path: str, table: ElementTable, value: Any) -> int:
    """Return the branch that a name, or a value of the mode variable, stands for.

    Raises
    ------
    ParameterError
        If it stands for none.
    """
    names = [b.name for b in table.branches]
    if isinstance(value, str) and value in names:
        return names.index(value)
    true = table.true_branch
    code = int(value) if is_number(value) and value in range(len(names) if true is None else 2) else None
    if code is None:
        raise ParameterError(
            f"`{path}` has no branch {shown(value)}",
            hint=f"its branches are {', '.join(names)}{', or give True or False' if true is not None else ''}",
        )
    return code if true is None else true if code else 1 - true


def bind_inputs(
    program: CompiledModel, given: Any, D: np.ndarray, present: Iterable[OpenInput] | None = None
) -> tuple[OpenInput, ...]:
    """Return what feeds the open inputs and write the discrete ones into ``D``.

    ``present`` are those of a run that goes on: inputs that are not named keep them.

    Raises
    ------
    UnconnectedInputError
        If an open input is given no value.
    UnknownPathError, ParameterError
        For a name that is no input, or a value that cannot feed it.
    """
    root = program.flat.root
    inputs = mapping("inputs", given, '{"u": 1.0}')
    names = [n for n, _, _ in program.reduced.inputs]
    switches = [n for n in root.inputs if n in root.discretes]
    for name, value in inputs.items():
        if name not in names and name not in switches:
            hint = nearest(name, names + switches) or f"{program.flat.label} declares no Input of its own"
            raise UnknownPathError(f"the model has no input `{name}`", hint=hint)
        if name in switches:
            D[root.index("d", name)] = _discrete(name, root.discretes[name], value)
    if present is not None:
        lost = [f.name for f in present if isinstance(f.function, Opaque) and f.name not in inputs]
        if lost:
            raise UnconnectedInputError(
                f"input `{lost[0]}` of {program.flat.label} has no value",
                why="the run that is continued was read from a file, which holds no functions",
                hint=f'give it for the run, inputs={{"{lost[0]}": ...}}',
            )
        return tuple(_open_input(f.name, inputs[f.name]) if f.name in inputs else f for f in present)
    values = {n: inputs[n] if n in inputs else _own_input(program, n) for n in names + switches}
    for name in switches:
        D[root.index("d", name)] = _discrete(name, root.discretes[name], values[name])
    return tuple(_open_input(n, values[n]) for n in names)


def _own_input(program: CompiledModel, name: str) -> Any:
    """Return the value that the model object was given for an input as keyword."""
    own, (field, *index) = program.flat.own_values, name.replace("]", "").split("[")
    if field not in own:
        raise UnconnectedInputError(
            f"input `{name}` of {program.flat.label} has no value",
            where=program.model.location(),
            hint=f'give it for the run, inputs={{"{name}": ...}}, or as keyword: {program.flat.label}({field}=...)',
        )
    value: Any = own[field]
    for i in index:
        value = value[int(i)]
    return value


def _open_input(name: str, value: Any) -> OpenInput:
    """Return an input; one that is no number, function or table is refused by name."""
    try:
        return OpenInput(name, _watched(name, value) if callable(value) else value)
    except AcausalError:
        raise
    except (TypeError, ValueError, OverflowError) as error:
        raise ParameterError(
            f"input `{name}` takes a number, a callable or (times, values), got {shown(value)}"
        ) from error


def _watched(name: str, function: Callable[[float], Any]) -> Callable[[float], float]:
    """Return the function with a check of what it returns; one that does not take the time alone is refused."""
    try:
        inspect.signature(function).bind(0.0)
    except TypeError as error:
        raise ParameterError(
            f"the function of input `{name}` cannot be called with the time: {error}",
            hint=f'inputs={{"{name}": lambda t: ...}}',
        ) from error
    except ValueError:  # functions of extensions may have no signature
        pass

    def value(t: float) -> float:
        found = function(t)
        if not is_number(found):
            raise ParameterError(
                f"the function of input `{name}` must return a number, got {shown(found)} at t = {t:g}",
                hint="give every input a function of its own",
            )
        return float(found)

    return value


def _discrete(name: str, field: Any, value: Any) -> float:
    boolean = field.type is bool
    if not is_number(value) or (value not in (0, 1) if boolean else not float(value).is_integer()):
        kind = "True or False" if boolean else "a whole number"
        raise ParameterError(
            f"the discrete input `{name}` takes {kind}, got {shown(value)}",
            hint="change it between steps of program.start()",
        )
    return float(value)


def time_unit(program: CompiledModel, values: Values, clocks: Sequence[Clock], span: float) -> float:
    """Return the shortest period of clocks and sinusoids, else the span of the run."""
    periods = [float(c.period) for c in clocks]
    for known in program.reduced.knowns:
        for term in known.terms:
            if term.kind == "sinusoid" and term.rate is not None:
                rates = np.abs(evaluate(program.reduced, known.batch, term.rate, values))
                periods += (2 * math.pi / rates[rates > 0]).tolist()
    return min([p for p in periods if p > 0] or [span if span > 0 else 1.0])


def make_clocks(program: CompiledModel, values: Values) -> tuple[Clock, ...]:
    """Return a clock per sampled condition."""
    clocks = []
    for s in program.discrete.samples:
        one = np.array([s.instance])
        period, start = (float(evaluate(program.reduced, s.batch, a, values, one)[0]) for a in s.node.args)
        clocks.append(Clock.make(period, start, _sampled_at(program, s)))
    return tuple(clocks)


def _sampled_at(program: CompiledModel, sample: Sample) -> Location:
    """Where a sampled condition is written."""
    origin = program.flat.batches[sample.batch].template.origin_of(sample.node)
    return program.flat.location(sample.batch, sample.instance, origin)


def check_ticks(program: CompiledModel, clocks: Sequence[Clock], t0: float, t_end: float) -> None:
    """Raise ParameterError when a clock ticks so often that the run would never come to its end."""
    for s, clock in zip(program.discrete.samples, clocks, strict=True):
        period = float(clock.period)
        ticks = (t_end - max(t0, float(clock.start))) / period + 1.0
        if ticks > MOST_TICKS:
            place = _sampled_at(program, s)
            raise ParameterError(
                f"the period {period:g} s of sample() in `{place.path}` gives {ticks:.3g} ticks during the run",
                where=(place,),
                hint="give a longer period, in seconds, or a shorter run",
            )


def saved_paths(names: Names, save: Sequence[Any] | None) -> tuple[str, ...] | None:
    """Return the paths of what is to be shown by default, all checked; None for everything."""
    if save is None:
        return None
    if isinstance(save, str):
        raise ParameterError(f"`save` takes a list of paths, got {save!r}", hint=f"save=[{save!r}]")
    if not isinstance(save, Iterable):
        raise ParameterError(f"`save` takes a list of paths, got {shown(save)}", hint='save=["load.v"]')
    return tuple(names.find(p).path for p in save)
