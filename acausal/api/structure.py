"""The structure of a program, at the point where it starts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..diagnosis.analysis import Analysis
from ..diagnosis.as_solved import structure_as_solved
from ..diagnosis.as_written import structure_as_written, structure_of_large_model
from ..diagnosis.branches import element_entries, given_branches
from ..diagnosis.findings import Findings
from ..diagnosis.numbering import statement_of_element
from ..diagnosis.structure import Structure
from ..flattening.flat_model import parameter_vector, start_values
from ..flattening.flatten import overrides
from ..reduction.core import Values
from ..results.names import value_of
from ..simulation.binding import make_starts, scalar_parameters
from ..simulation.compiled import CompiledModel
from ..simulation.continuation import begin
from ..simulation.failures import UNSOLVED, NotSolved
from ..simulation.loop import Loop
from ..simulation.options import Options
from ..simulation.starts.stated import Starts

MOST_ANALYSED = 1000
"""Core unknowns up to which a structure is found with numbers."""


def program_structure(
    program: CompiledModel,
    prepare: Callable[..., Loop],
    reduce: bool,
    mode: Mapping[str, Any] | None,
    parameters: Mapping[str, Any] | None,
    initial: Mapping[Any, Any] | str | None,
    inputs: Mapping[str, Any] | None,
) -> Structure:
    """Return the structure of a program: see `Program.structure`; ``prepare`` makes a run of it."""
    flat, entries = program.flat, element_entries(program.flat)
    branches = given_branches(entries, mode)
    P = parameter_vector(flat, {**overrides(program.model), **scalar_parameters(flat, parameters)})
    start, fixed, given, D = start_values(flat, P)
    declared = make_starts(program, initial, start, fixed, given, D)
    if not reduce:
        names = {entries[k].name: entries[k].branches[b] for k, b in branches.items()}
        return structure_as_written(flat, P, declared, branches, names)
    if len(program.reduced.core) > MOST_ANALYSED:
        return structure_of_large_model(program.reduced, _unanalysed(program, P, D, declared))
    dense = Options(method="exact")
    fed = _fed(program, inputs)
    run = prepare(1.0, parameters=parameters, initial=initial, inputs=fed, options=dense)
    begin(run)
    statements = statement_of_element(program.reduced)
    chosen = tuple(branches.get(k, b) for k, b in zip(statements, run.state.mode, strict=True))
    names = {
        entries[k].name: entries[k].branches[b] for k, b in zip(statements, chosen, strict=True) if k >= 0
    }
    try:
        found = Analysis(run.standing(), chosen).findings()
    except UNSOLVED as failure:
        raise run.failed(NotSolved(failure, "structure")) from None
    return structure_as_solved(program.reduced, found, names, _values(run, fed), _zeros(fed, inputs))


def _fed(program: CompiledModel, given: Mapping[str, Any] | None) -> dict[str, Any]:
    """Inputs with zero for those that are given nowhere."""
    flat, found = program.flat, dict(given or {})
    for name in flat.root.inputs:
        if name.partition("[")[0] not in flat.own_values and name not in found:
            kind = getattr(flat.root.discretes.get(name), "type", float)
            found[name] = kind()
    return found


def _values(run: Loop, fed: Mapping[str, Any]) -> dict[str, Any]:
    """Values of inputs at the present point."""
    root, found = run.flat.root, {}
    for name in (n for n in root.inputs if n in fed):
        d, v = root.index("d", name), root.index("v", name)
        if d is not None:
            found[name] = value_of(root.discretes[name], float(run.present.D[d]))
        elif v is not None:
            found[name] = float(run.read((v,))[0])
    return found


def _zeros(fed: Mapping[str, Any], given: Mapping[str, Any] | None) -> tuple[str, ...]:
    """Note that inputs count as zero which were not given."""
    names = [name for name in fed if name not in (given or {})]
    if not names:
        return ()
    shown = ", ".join(f"`{name}`" for name in names[:6]) + (", ..." if len(names) > 6 else "")
    return (f'not given, taken as zero: {shown}; structure(inputs={{"{names[0]}": ...}}) takes other values',)


def _unanalysed(program: CompiledModel, P: np.ndarray, D: np.ndarray, declared: Starts) -> Findings:
    """What is known of a model before it starts."""
    reduced, flat = program.reduced, program.flat
    mode = tuple(rows.forms.statement.table.start for rows, _ in flat.each(reduced.elements))
    return Findings(Values(P, D, np.zeros(reduced.nr)), declared, mode, 0, ())
