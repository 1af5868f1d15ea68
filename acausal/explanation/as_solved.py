"""The structure of a model as it is solved: without aliases, with the constraints that were found and the chosen states."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property

import numpy as np

from ..errors import Location
from ..modeling.expressions import Expr, constant
from ..modes.core import form_matrices
from ..modes.reduced_model import ReducedModel
from ..structure.aliases import AliasClasses
from ..structure.elimination import combine, echelon
from ..structure.incidence import INT, Incidence, IntegerRows, stack
from ..structure.matching import maximum_matching
from .algebra import total
from .aliases import Aliases, merge_aliases
from .as_written import by_offsets
from .counting import count
from .equations import Equations, equality
from .findings import AffineConstraint, Findings, Key
from .numbering import branches_in_force, equation_of_form
from .sequence import SolutionOrder
from .states import described_states
from .structure import Constraint, Structure
from .system import System, differentiated, without

Row = tuple[int, int, str, Location, Expr | None, list[Key]]
"""(equation or -1, order, text, place, expression, unknowns) of a row that is no equation of the model as it stands."""


def structure_as_solved(reduced: ReducedModel, found: Findings, mode: Mapping[str, str]) -> Structure:
    """Return the structure of a model in one mode.

    Parameters
    ----------
    reduced : ReducedModel
    found : Findings
    mode : mapping of str to str
        Statement -> branch in force.
    """
    made = _Assembly(reduced, found)
    system, open_names = made.system()
    aliases = Aliases(reduced.flat, made.classes, found.starts)
    names = dict.fromkeys([*open_names, *(made.equations.variable(made.key((v, 0))[0]) for v in found.open)])
    notes = (f"not determined in this mode, least values are shown: {', '.join(names)}",) if names else ()
    return Structure(
        label=reduced.flat.label, reduced=True, mode=mode, counts=count(made.equations, system.incidence.n, made.merged),
        index=found.index, constraints=made.constraints(), states=described_states(made.equations, aliases, found),
        blocks=SolutionOrder(system), aliases=aliases, conflicts=aliases.conflicts, notes=notes,
        iteration=tuple(made.equations.variable(*made.key(k)) for k in found.iterated),
    )  # fmt: skip


def structure_of_large_model(reduced: ReducedModel, found: Findings) -> Structure:
    """Return the structure of a model without aliases as its equations alone tell it, for models too large to analyse."""
    made = _Assembly(reduced, found)
    pinned = {made.key((v, 0))[0] for v in reduced.presolved.pinned.tolist()}
    unknown = np.setdiff1d(made.roots, sorted(pinned | set(made.equations.inputs)))
    aliases = Aliases(reduced.flat, made.classes, found.starts)
    note = "the model is too large to be analysed with numbers: index, constraints and states are structural"
    sorted_ = by_offsets(made.equations, made.kept(), unknown)
    return sorted_.structure(
        {}, found.starts, reduced=True, aliases=aliases, merged=made.merged, notes=(note,)
    )


class _Assembly:
    """Rows and columns of the system of one mode."""

    def __init__(self, reduced: ReducedModel, found: Findings) -> None:
        self.reduced, self.found = reduced, found
        flat = reduced.flat
        branches = branches_in_force(reduced, found.mode)
        plain = Equations(flat, branches)
        row, col, order = numeric_incidence(reduced, found, plain)
        differentiated_ = np.zeros(flat.nv, bool)
        differentiated_[col[order > 0]] = True
        self.classes: AliasClasses = merge_aliases(flat, differentiated_, sorted(plain.inputs))
        representative, sign = self.classes.representative, self.classes.sign
        self.equations = Equations(flat, branches, (representative, sign), found.values.P)
        # Integer rows over the representatives as the view has them; of the others those with a factor other than zero.
        e = self.equations
        integer, own = e.row < e.integer_rows, (row >= e.integer_rows) & (sign[col] != 0)
        self.row = np.concatenate([e.row[integer], row[own]])
        self.col = np.concatenate([e.col[integer], representative[col[own]]])
        self.order = np.concatenate([e.order[integer], order[own]])
        self.differentiated = np.zeros(flat.nv, bool)
        self.differentiated[self.col[self.order > 0]] = True

    def key(self, key: Key) -> Key:
        """A variable in terms of its representative."""
        return int(self.classes.representative[key[0]]), key[1]

    # -- rows ----------------------------------------------------------------------------------------------------

    def kept(self) -> np.ndarray:
        """Equations that say more than that variables are aliases, without those that follow from others."""
        e = self.equations
        used = np.zeros(len(e), bool)
        used[self.row] = True
        used[e.integer_rows :] = True
        left = len(self.reduced.presolved.dependent) - (int((~used).sum()) - self.merged)
        if left > 0:
            integer = np.flatnonzero(used[: e.integer_rows])
            used[integer[echelon(self._integer.take(integer)).redundant]] = False
        return np.flatnonzero(used)

    @property
    def roots(self) -> np.ndarray:
        """Representatives that are not zero, ascending."""
        return np.unique(self.classes.representative[self.classes.sign != 0])

    @property
    def merged(self) -> int:
        """Variables that are replaced by others or by zero."""
        return self.reduced.flat.nv - len(self.roots)

    def _added(self) -> list[Row]:
        """Constraints differentiated once more, equations that are not affine differentiated, variables pinned to zero."""
        e, found = self.equations, self.found
        rows: list[Row] = []
        movable = {self.key(k) for k in (*found.coordinates, *found.iterated)} - {
            self.key(k) for k in found.states
        }
        for c in found.affine:
            text, expression = self._constraint_text(c)
            slope = None if expression is None else e.derivative(expression, 1)
            behind = self._behind(c.equations)
            place = e.place(min(behind)) if behind else Location()
            rows.append((-1, 0, differentiated(text, 1), place, slope, [self.key((v, 1)) for v in c.factors]))
        for d in found.curved:
            (_, expression), *_ = e.expressions(d.equation)
            text, keys = differentiated(e.text(d.equation), d.order), {self.key(k) for k in d.keys}
            slope = e.derivative(expression, d.order, found.slope)
            if slope is not None:
                # What affine equations give is read as it stands; of coordinates only those with a factor are there.
                slope = without(slope, {id(e.symbol(*k)) for k in movable - keys})
                keys |= e.keys(slope) - movable
            rows.append((d.equation, d.order, text, e.place(d.equation), slope, sorted(keys)))
        for v in self.reduced.presolved.pinned.tolist():
            k = self.key((v, 0))
            symbol = e.symbol(*k)
            rows.append((-1, 0, f"{symbol} = 0", Location(e.flat.label), symbol - constant(0.0), [k]))
        return rows

    def _constraint_text(self, c: AffineConstraint) -> tuple[str, Expr | None]:
        """An equation itself where it is the constraint, else the combination with its factors."""
        e = self.equations
        behind = self._behind(c.equations)
        if len(behind) == 1 and not any(behind.values()):
            (k,) = behind
            names = {self.key(u) for u in e.unknowns(k) if u[0] not in e.inputs}
            if names == {self.key((v, 0)) for v in c.factors}:
                (_, expression), *_ = e.expressions(k)
                return equality(expression), expression
        return self._combination(c)

    def _combination(self, c: AffineConstraint) -> tuple[str, Expr | None]:
        e, terms = self.equations, []
        first = c.factors[min(c.factors, key=lambda v: (v != c.dependent, v))]
        for v in sorted(c.factors, key=lambda v: (v != c.dependent, v)):
            factor = c.factors[v] / first * float(self.classes.sign[v])
            symbol = e.symbol(self.key((v, 0))[0])
            terms.append(
                (
                    1 if factor > 0 else -1,
                    symbol if abs(factor) == 1 else constant(_short(abs(factor))) * symbol,
                )
            )
        left, rest = terms[0][1], [(-s, t) for s, t in terms[1:]]
        if c.moving:
            right = total(rest)
            return f"{left} = " + (f"{right} + f(time)" if rest else "f(time)"), None
        if c.offset:
            rest.append((1, constant(_short(-c.offset / first))))
        return f"{left} = {total(rest)}", left - total(rest)

    @cached_property
    def _integer(self) -> IntegerRows:
        """Integer rows over the representatives."""
        flat = self.reduced.flat
        rows = IntegerRows(flat.ptr, flat.col, flat.val * self.classes.sign[flat.col], flat.nv)
        return rows.over(flat.nv, self.classes.representative).compress()

    @cached_property
    def _kept_rows(self) -> dict[int, dict[int, int]]:
        """Integer row that stays in the core -> what it says, over the representatives."""
        presolved, core_rows = self.reduced.presolved, self.reduced.core_rows
        y = presolved.y
        K = presolved.K.take(core_rows).over(self.reduced.flat.nv, y)
        found = {}
        for n, origin in enumerate(presolved.kept_row_origin[core_rows].tolist()):
            part = slice(int(K.ptr[n]), int(K.ptr[n + 1]))
            row: dict[int, int] = {}
            for v, factor in zip(K.col[part].tolist(), K.val[part].tolist(), strict=True):
                root, sign = int(self.classes.representative[v]), int(self.classes.sign[v])
                row[root] = row.get(root, 0) + sign * factor
            found[origin] = {v: factor for v, factor in row.items() if factor}
        return found

    def _behind(self, equations: dict[int, int]) -> dict[int, int]:
        """The equations as written behind those of the core, of which an integer row may combine several."""
        found: dict[int, int] = {}
        for k, times in equations.items():
            origin = -1 - k if k < 0 else k
            row = self._kept_rows.get(origin) if k < self.equations.integer_rows else None
            parts = [k] if row is None else self._combined(row)
            for part in parts:
                found[part] = max(times, found.get(part, 0))
        return found

    def _combined(self, row: dict[int, int]) -> list[int]:
        e = self.equations
        given = [*sorted(e.inputs), *(self.key((v, 0))[0] for v in self.reduced.presolved.pinned.tolist())]
        rows = _with_units(self._integer, given)
        (weights,) = combine(rows, IntegerRows.from_dicts([row], rows.n))
        return sorted(k for k in weights if k < e.integer_rows)

    # -- the system ----------------------------------------------------------------------------------------------

    def _columns(self) -> list[Key]:
        """What is solved for."""
        given = set(self.equations.inputs)
        found = {(v, int(self.differentiated[v])) for v in self.roots.tolist() if v not in given}
        states = {self.key(k) for k in self.found.states}
        for k in [
            *self.found.coordinates,
            *self.found.iterated,
            *((c.dependent, 0) for c in self.found.affine),
        ]:
            found.add(self.key(k))
        return sorted(found - states)

    def system(self) -> tuple[System, list[str]]:
        """Return the square system, and the names of unknowns that no equation determines in this mode."""
        e, kept, added, columns = self.equations, self.kept(), self._added(), self._columns()
        position, place = {k: n for n, k in enumerate(columns)}, np.full(len(e), -1, INT)
        place[kept] = np.arange(len(kept))
        pairs = [
            (int(place[r]), position[v, o])
            for r, v, o in zip(self.row.tolist(), self.col.tolist(), self.order.tolist(), strict=True)
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
        system = System(
            e, number[rows], times[rows], chosen[cols, 0], chosen[cols, 1], incidence, rank[rows], texts,
            preferred, self._vanished(),
        )  # fmt: skip
        return system, [e.variable(*columns[c]) for c in missing]

    def _vanished(self) -> dict[int, list[Key]]:
        """Equation -> variables whose factors are zero for these numbers."""
        e = self.equations
        present = set(zip(self.row.tolist(), self.col.tolist(), self.order.tolist(), strict=True))
        found: dict[int, list[Key]] = {}
        for k, v, o in zip(e.row.tolist(), e.col.tolist(), e.order.tolist(), strict=True):
            if (k, v, o) not in present:
                found.setdefault(k, []).append((v, o))
        return found

    # -- constraints ---------------------------------------------------------------------------------------------

    def constraints(self) -> tuple[Constraint, ...]:
        """Return all constraints: those from affine equations in the order they were found, then the others."""
        e, made = self.equations, []
        for c in self.found.affine:
            times = self._behind(c.equations)
            origins = sorted(times)
            text = self._constraint_text(c)[0]
            texts = tuple(differentiated(e.text(k), times[k]) for k in origins)
            made.append(
                Constraint(
                    text,
                    c.order,
                    texts,
                    tuple(e.place(k) for k in origins),
                    e.variable(self.key((c.dependent, 0))[0]),
                )
            )
        for k, levels in self.found.hidden.items():
            text, place = e.text(k), e.place(k)
            made += [Constraint(differentiated(text, n), n, (text,), (place,)) for n in range(levels)]
        return tuple(made)


def _with_units(rows: IntegerRows, variables: list[int]) -> IntegerRows:
    """Append a row for each of some variables."""
    return stack(rows, IntegerRows.from_dicts([{v: 1} for v in variables], rows.n))


def _matched(incidence: Incidence) -> tuple[np.ndarray, np.ndarray, Incidence]:
    """The rows and columns that determine each other, and their incidence; all of them in a regular system."""
    matching = maximum_matching(incidence)
    rows, cols = np.arange(incidence.m), np.arange(incidence.n)
    if matching.perfect:
        return rows, cols, incidence
    rows = np.flatnonzero(matching.unknown >= 0)
    cols = np.sort(matching.unknown[rows])
    return rows, cols, incidence.restricted(rows, cols)


def _short(number: float) -> float:
    """A number as it is shown: what rounding left behind is cut off."""
    return float(f"{number:.9g}")


def numeric_incidence(
    reduced: ReducedModel, found: Findings, equations: Equations
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (equation, variable, order) of all factors in force that are not zero for these numbers, and of all curved rows.

    Integer rows are included.
    """
    number = equation_of_form(reduced, found.mode, equations)
    E, A, _ = form_matrices(reduced, found.values)
    parts = []
    for matrix, order in ((E, 1), (A, 0)):
        entries = matrix.tocoo()
        row = number[entries.row]
        at = (row >= 0) & (entries.data != 0.0)
        parts.append((row[at], entries.col[at], np.full(int(at.sum()), order)))
    affine = np.zeros(len(number), bool)
    for r in reduced.rows:
        affine[r.first + np.arange(len(reduced.flat.stamps[r.stamp].vb))] = True
    curved = np.zeros(len(equations), bool)
    curved[number[~affine & (number >= 0)]] = True
    keep = curved[equations.row] | (equations.row < equations.integer_rows)
    parts.append((equations.row[keep], equations.col[keep], equations.order[keep]))
    row, col, order = (np.concatenate([p[k] for p in parts]).astype(INT) for k in range(3))
    return row, col, order
