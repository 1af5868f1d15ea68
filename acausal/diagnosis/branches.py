"""Branches of statements by the names users give."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..compilation.residual_modes import ModeEntry, branch_number, mode_entries
from ..compilation.residual_scope import Entries
from ..errors import UnknownPathError, nearest
from ..flattening.flat_model import FlatModel


def element_entries(flat: FlatModel) -> list[ModeEntry]:
    """Return all statements with branches, in the order of the elements."""
    return [e for e in mode_entries(flat, Entries(flat)) if e.kind != "relation"]


def given_branches(entries: list[ModeEntry], mode: Mapping[Any, Any] | None) -> dict[int, int]:
    """Return element -> branch from what was given by path: name of a branch, its position, or a Boolean.

    Raises
    ------
    UnknownPathError
        For a path that names no statement with branches.
    ParameterError
        For a branch that the statement does not have.
    """
    number = {e.name: k for k, e in enumerate(entries)}
    found = {}
    for path, value in (mode or {}).items():
        if path not in number:
            raise UnknownPathError(
                f"no statement with branches is named `{path}`", hint=nearest(str(path), number)
            )
        found[number[path]] = branch_number(entries[number[path]], value)
    return found
