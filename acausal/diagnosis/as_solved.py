"""The structure of a model as it is solved: without aliases, with the constraints that were found and the chosen states."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ..errors import Location
from ..flattening.open_ports import open_ports
from ..modeling.expressions import Expr, constant
from ..reduction.reduced_model import ReducedModel
from ..structure.incidence import INT, Incidence
from ..structure.matching import maximum_matching
from .aliases import Aliases
from .constraints import Constraints
from .counting import count
from .findings import Findings, Key
from .reduced_rows import ReducedRows
from .sequence import SolutionOrder
from .states import described_states
from .structure import Structure
from .system import EquationSystem, differentiated, without

Row = tuple[int, int, str, Location, Expr | None, list[Key]]
"""(equation or -1, order, text, place, expression, unknowns) of a row that is no equation of the model as it stands."""


def structure_as_solved(
    reduced: ReducedModel,
    found: Findings,
    mode: Mapping[str, str],
    inputs: Mapping[str, Any],
    notes: tuple[str, ...],
) -> Structure:
    """Return the structure of a model in one mode.

    Parameters
    ----------
    reduced : ReducedModel
    found : Findings
    mode : mapping of str to str
        Statement -> branch in force.
    inputs : mapping of str to float, int or bool
        Values of open inputs.
    notes : tuple of str
        What else should be known.
    """
    made = _Assembly(reduced, found)
    system, open_names = made.system()
    aliases = Aliases(reduced.flat, made.rows.classes, found.starts)
    names = dict.fromkeys([*open_names, *(made.equations.variable(made.key((v, 0))[0]) for v in found.open)])
    notes += (f"not determined in this mode, least values are shown: {', '.join(names)}",) if names else ()
    states = described_states(made.equations, aliases, found)
    return Structure(
        label=reduced.flat.label, reduced=True, mode=mode, counts=count(made.equations, system.incidence.n, made.rows.merged),
        index=found.index, constraints=made.constraints.described(), states=states, freedom=len(states),
        blocks=SolutionOrder(system), aliases=aliases, conflicts=aliases.conflicts, notes=notes,
        inputs=inputs, open_ports=open_ports(reduced.flat),
        iteration=tuple(made.equations.variable(*made.key(k)) for k in found.iterated),
    )  # fmt: skip


class _Assembly:
    """Rows and columns of the system of one mode."""

    def __init__(self, reduced: ReducedModel, found: Findings) -> None:
        self.rows, self.found = ReducedRows(reduced, found), found
        self.constraints = Constraints(self.rows, found)
        self.equations, self.key = self.rows.equations, self.rows.key

    def _added(self) -> list[Row]:
        """Constraints differentiated once more, equations that are not affine differentiated, variables pinned to zero."""
        e, found = self.equations, self.found
        rows: list[Row] = []
        movable = {self.key(k) for k in (*found.coordinates, *found.iterated)} - {
            self.key(k) for k in found.states
        }
        for c in found.affine:
            text, expression = self.constraints.said(c)
            slope = None if expression is None else e.derivative(expression, 1)
            behind = self.constraints.behind(c.equations)
            place = e.place(min(behind)) if behind else Location()
            rows.append((-1, 0, differentiated(text, 1), place, slope, [self.key((v, 1)) for v in c.factors]))
        for d in found.nonlinear:
            (_, expression), *_ = e.expressions(d.equation)
            text, keys = differentiated(e.text(d.equation), d.order), {self.key(k) for k in d.keys}
            slope = e.derivative(expression, d.order, found.slope)
            if slope is not None:
                # What affine equations give is read as it stands; of coordinates only those with a factor are there.
                slope = without(slope, {id(e.symbol(*k)) for k in movable - keys})
                keys |= e.keys(slope) - movable
            rows.append((d.equation, d.order, text, e.place(d.equation), slope, sorted(keys)))
        for v in self.rows.reduced.presolved.pinned.tolist():
            k = self.key((v, 0))
            symbol = e.symbol(*k)
            rows.append((-1, 0, f"{symbol} = 0", Location(e.flat.label), symbol - constant(0.0), [k]))
        return rows

    # -- the system ----------------------------------------------------------------------------------------------

    def _columns(self) -> list[Key]:
        """What is solved for."""
        given = set(self.equations.inputs)
        found = {(v, int(self.rows.differentiated[v])) for v in self.rows.roots.tolist() if v not in given}
        states = {self.key(k) for k in self.found.states}
        for k in [
            *self.found.coordinates,
            *self.found.iterated,
            *((c.dependent, 0) for c in self.found.affine),
        ]:
            found.add(self.key(k))
        return sorted(found - states)

    def system(self) -> tuple[EquationSystem, list[str]]:
        """Return the square system, and the names of unknowns that no equation determines in this mode."""
        e, kept, added, columns = self.equations, self.rows.kept(), self._added(), self._columns()
        position, place = {k: n for n, k in enumerate(columns)}, np.full(len(e), -1, INT)
        place[kept] = np.arange(len(kept))
        pairs = [
            (int(place[r]), position[v, o])
            for r, v, o in self.rows.entries()
            if place[r] >= 0 and (v, o) in position
        ]
        for n, (*_, keys) in enumerate(added):
            pairs += [(len(kept) + n, position[k]) for k in keys if k in position]
        array = np.array(pairs, INT).reshape(-1, 2)
        incidence = Incidence.from_pairs(array[:, 0], array[:, 1], (len(kept) + len(added), len(columns)))
        rows, cols, incidence = _matched(incidence)
        derived = ((n, added[r - len(kept)]) for n, r in enumerate(rows.tolist()) if r >= len(kept))
        texts = {n: (text, place, left) for n, (_, _, text, place, left, _) in derived}
        number = np.concatenate([kept, [a[0] for a in added]]).astype(INT)
        times = np.concatenate([np.zeros(len(kept), INT), [a[1] for a in added]]).astype(INT)
        rank = np.concatenate([e.rank[kept], len(e) + np.arange(len(added))])
        chosen = np.array(columns, INT).reshape(-1, 2)
        wanted = {self.key(k) for k in (*self.found.iterated, *self.found.coordinates)}
        preferred = np.array([columns[c] in wanted for c in cols.tolist()], bool)
        missing = np.setdiff1d(np.arange(len(columns)), cols).tolist()
        system = EquationSystem(
            e, number[rows], times[rows], chosen[cols, 0], chosen[cols, 1], incidence, rank[rows], texts,
            preferred, self.rows.vanished(),
        )  # fmt: skip
        return system, [e.variable(*columns[c]) for c in missing]


def _matched(incidence: Incidence) -> tuple[np.ndarray, np.ndarray, Incidence]:
    """The rows and columns that determine each other, and their incidence; all of them in a regular system."""
    matching = maximum_matching(incidence)
    rows, cols = np.arange(incidence.m), np.arange(incidence.n)
    if matching.perfect:
        return rows, cols, incidence
    rows = np.flatnonzero(matching.unknown >= 0)
    cols = np.sort(matching.unknown[rows])
    return rows, cols, incidence.restricted(rows, cols)
