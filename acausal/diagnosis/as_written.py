"""The structure of equations that are not analysed with numbers: matching, offsets, blocks, sorted sequence."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..flattening.flat_model import FlatModel
from ..flattening.open_ports import open_ports
from ..reduction.reduced_model import ReducedModel
from ..simulation.starts.stated import Starts
from ..structure.decomposition import Decomposition
from ..structure.incidence import INT, Incidence
from ..structure.offsets import Offsets, sigma_offsets
from ..values import frozen
from .aliases import Aliases
from .counting import count
from .equations import Equations
from .facts import Constraint, SelectedState
from .findings import Findings
from .reduced_rows import ReducedRows
from .sequence import SolutionOrder
from .structure import Structure
from .system import EquationSystem, differentiated


def structure_as_written(
    flat: FlatModel,
    parameters: np.ndarray,
    starts: Starts,
    branches: Mapping[int, int],
    mode: Mapping[str, str],
) -> Structure:
    """Return the structure of the equations before any reduction.

    Parameters
    ----------
    flat : FlatModel
    parameters : ndarray
        Values of all parameters.
    starts : Starts
    branches : mapping of int to int
        Elements -> branch in force; of the others all branches count.
    mode : mapping of str to str
        The same in names.
    """
    equations = Equations(flat, branches, parameters=parameters)
    unknown = np.setdiff1d(np.arange(flat.nv), sorted(equations.inputs))
    found = by_offsets(equations, np.arange(len(equations)), unknown)
    return found.structure(mode, starts, reduced=False)


def structure_of_large_model(reduced: ReducedModel, found: Findings) -> Structure:
    """Return the structure of a model without aliases as its equations alone tell it, for models too large to analyse."""
    made = ReducedRows(reduced, found, numeric=False)
    pinned = {made.key((v, 0))[0] for v in reduced.presolved.pinned.tolist()}
    unknown = np.setdiff1d(made.roots, sorted(pinned | set(made.equations.inputs)))
    aliases = Aliases(reduced.flat, made.classes, found.starts)
    note = "the model is too large to be analysed with numbers: index, constraints and states are structural"
    return by_offsets(made.equations, made.kept(), unknown).structure(
        {}, found.starts, reduced=True, aliases=aliases, merged=made.merged, notes=(note,)
    )


@frozen
class OffsetStructure:
    """Some equations of a model, for some of its variables, sorted by their highest derivatives."""

    equations: Equations
    rows: np.ndarray
    unknown: np.ndarray
    offsets: Offsets
    system: EquationSystem

    def structure(
        self,
        mode: Mapping[str, str],
        starts: Starts,
        *,
        reduced: bool,
        aliases: Aliases | None = None,
        merged: int = 0,
        notes: tuple[str, ...] = (),
    ) -> Structure:
        """Return it with everything that is counted."""
        e, singular, offsets = self.equations, self.offsets.singular, self.offsets
        regular = singular is None
        involved = self._involved()
        return Structure(
            label=e.flat.label, reduced=reduced, mode=mode, counts=count(e, len(self.unknown), merged),
            index=int(offsets.c.max(initial=0) + (offsets.d == 0).any()) if regular else None,
            constraints=self._constraints() if regular else (), states=self._states(starts, involved) if regular else (),
            freedom=offsets.degrees_of_freedom if regular else None, tied=self._tied(involved) if regular else (),
            blocks=SolutionOrder(self.system), aliases=() if aliases is None else aliases,
            conflicts=() if aliases is None else aliases.conflicts, notes=notes, open_ports=open_ports(e.flat),
            surplus=() if regular else tuple(e.text(k) for k in self.rows[singular.over.equations].tolist()),
            open=() if regular else tuple(e.variable(v) for v in self.unknown[singular.under.unknowns].tolist()),
        )  # fmt: skip

    def _constraints(self) -> tuple[Constraint, ...]:
        """Equations without derivatives that are differentiated: what they say, and what their derivatives say."""
        e, found = self.equations, []
        slopes = set(e.row[e.order > 0].tolist())
        for n in np.flatnonzero(self.offsets.c).tolist():
            k = int(self.rows[n])
            if k in slopes:
                continue
            text, place = e.text(k), e.place(k)
            found += [
                Constraint(differentiated(text, order), order, (text,), (place,))
                for order in range(int(self.offsets.c[n]))
            ]
        return tuple(found)

    def _involved(self) -> np.ndarray:
        """Which variables occur in equations that are differentiated, shape (nv,)."""
        e, found = self.equations, np.zeros(self.equations.flat.nv, bool)
        found[e.col[np.isin(e.row, self.rows[self.offsets.c > 0])]] = True
        return found

    def _tied(self, involved: np.ndarray) -> tuple[str, ...]:
        """Differentiated variables that occur there, if any of them remains free."""
        e, free = self.equations, self.unknown[(self.offsets.d > 0) & ~involved[self.unknown]]
        if self.offsets.degrees_of_freedom == len(free):
            return ()
        slopes = np.unique(e.col[e.order > 0])
        return tuple(
            e.variable(v) for v in np.intersect1d(slopes, self.unknown[involved[self.unknown]]).tolist()
        )

    def _states(self, starts: Starts, involved: np.ndarray) -> tuple[SelectedState, ...]:
        """Differentiated variables that nothing constrains; a structure alone cannot choose among others."""
        e = self.equations
        why = "differentiated, and not constrained"
        return tuple(
            SelectedState(e.variable(v), e.unit(v), float(starts.value[v]), bool(starts.fixed[v]), why)
            for v in self.unknown[(self.offsets.d > 0) & ~involved[self.unknown]].tolist()
        )


def by_offsets(equations: Equations, rows: np.ndarray, unknown: np.ndarray) -> OffsetStructure:
    """Sort some equations for some variables, both ascending.

    Notes
    -----
    The offsets of the Sigma method tell how often every equation is differentiated and which derivative of every
    unknown is solved for; for a model of index 1 these are the equations as they stand, with states known. What
    numbers decide, such as a factor that is zero, is not seen here.
    """
    place, position = np.full(len(equations), -1, INT), np.full(equations.flat.nv, -1, INT)
    place[rows], position[unknown] = np.arange(len(rows)), np.arange(len(unknown))
    at = (place[equations.row] >= 0) & (position[equations.col] >= 0)
    row, col, sigma = place[equations.row[at]], position[equations.col[at]], equations.order[at]
    offsets = sigma_offsets(row, col, sigma, (len(rows), len(unknown)))
    nothing = np.zeros(len(unknown), bool)
    if offsets.singular is None:
        tight = offsets.d[col] - offsets.c[row] == sigma
        incidence = Incidence.from_pairs(row[tight], col[tight], (len(rows), len(unknown)))
        system = EquationSystem(
            equations, rows, offsets.c, unknown, offsets.d, incidence, equations.rank[rows], {}, nothing
        )
    else:
        highest = np.zeros(len(unknown), INT)
        np.maximum.at(highest, col, sigma)
        incidence = Incidence.from_pairs(row, col, (len(rows), len(unknown)))
        system = _regular(equations, rows, unknown, highest, offsets.singular, incidence)
    return OffsetStructure(equations, rows, unknown, offsets, system)


def _regular(
    equations: Equations, rows: np.ndarray, unknown: np.ndarray, highest: np.ndarray, parts: Decomposition,
    incidence: Incidence,
) -> EquationSystem:  # fmt: skip
    """The well-determined part alone."""
    some, cols = parts.well.equations, parts.well.unknowns
    return EquationSystem(
        equations, rows[some], np.zeros(len(some), INT), unknown[cols], highest[cols], incidence.restricted(some, cols),
        equations.rank[rows[some]], {}, np.zeros(len(cols), bool),
    )  # fmt: skip
