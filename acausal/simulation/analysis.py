"""The structure of a program, at the point where it starts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..explanation.as_written import structure_as_written
from ..explanation.branches import element_entries, given_branches
from ..explanation.structure import Structure
from ..flattening.flat_model import parameter_vector
from ..flattening.flatten import overrides
from .binding import scalar_parameters

if TYPE_CHECKING:
    from .program import Program


def program_structure(
    program: Program, reduce: bool, mode: Mapping[str, Any] | None, parameters: Mapping[str, Any] | None
) -> Structure:
    """Return the structure of a program: see `Program.structure`."""
    flat = program.flat
    changes = {**overrides(program.model), **scalar_parameters(parameters)}
    P = parameter_vector(flat, changes)
    entries = element_entries(flat)
    branches = given_branches(entries, mode)
    names = {entries[k].name: entries[k].branches[b] for k, b in branches.items()}
    return structure_as_written(flat, P, branches, names)
