"""The affine switched model of a core: elements with their branch tables, names and scales."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..errors import ParameterError
from .affine import BACKWARD_LIMIT, FORWARD_LIMIT, STICK, AffineModel, Branch, Element, Kind, Rows
from .core import CoreMatrices, Values, evaluate, model_relation
from .labels import Labels
from .reduced_model import ElementRows, ReducedModel
from .scales import NO_START, longer_unit, propagate_scales, shorter_unit

_KINDS = {
    "complementarity": Kind.COMPLEMENTARITY,
    "friction": Kind.FRICTION,
    "impact": Kind.IMPACT,
    "modes": Kind.MODES,
}


class Magnitudes(NamedTuple):
    """What is known of the magnitudes (nv,) of all variables."""

    known: np.ndarray
    """From nominals and start values, 0 elsewhere."""
    least: np.ndarray | None = None
    """Those that they have in rows that are not affine."""
    bounds: np.ndarray | None = None
    """Of those of which nominals and starts say nothing, 0 elsewhere."""


def assemble(
    model: ReducedModel,
    core: CoreMatrices,
    values: Values,
    sizes: Magnitudes,
    xi_scale: np.ndarray,
    T0: float,
    labels: Labels,
) -> AffineModel:
    """Return the affine model; rows that are not affine are left empty.

    Parameters
    ----------
    core : CoreMatrices
        Dense or sparse; sparse ones have no elements.
    sizes : Magnitudes
    xi_scale : (q,) array
    T0 : float
        Time unit; a longer one is taken where ``sizes.least`` demands it, a shorter one where ``sizes.bounds`` do.
    labels : Labels
        Names and units, which do not depend on numbers.
    """
    cuts = _cut_flows(core.forms, labels.flow) if model.elements else []
    elements = tuple(
        _element(model, core, values, rows, i, cuts) for rows, i in model.flat.each(model.elements)
    )
    stacked, more = core.base, [b.equations for e in elements for b in e.branches]
    if more:
        stacked = Rows(*(np.concatenate([getattr(r, a) for r in (core.base, *more)]) for a in "EAB"))
    T0, scale = _scales(model, stacked, sizes, xi_scale, T0, labels)
    return AffineModel(
        labels.names,
        ((stacked.E != 0.0).sum(axis=0) > 0) | _nonlinear_slopes(model),
        core.base,
        elements,
        core.exosystem.S,
        scale,
        xi_scale,
        T0,
        labels.rows,
        labels.units,
        labels.priority,
    )


def _nonlinear_slopes(model: ReducedModel) -> np.ndarray:
    """Mask over the core unknowns: a derivative occurs in a row that is not affine."""
    found = np.zeros(len(model.core), bool)
    for c in model.nonlinear:
        for k, derivative in c.form.keys:
            if derivative:
                found[model.W_core[model.flat.batches[c.batch].vb[c.instances] + k].indices] = True
    return found


def _scales(
    model: ReducedModel,
    rows: Rows,
    sizes: Magnitudes,
    xi_scale: np.ndarray,
    T0: float,
    labels: Labels,
) -> tuple[float, np.ndarray]:
    """Time unit and scales (n,) of the core unknowns."""
    known = core_magnitudes(model, sizes.known)

    def in_unit(unit: float) -> np.ndarray:
        return propagate_scales(rows, known, xi_scale, unit, labels.units)

    if sizes.least is not None:
        some = np.flatnonzero(sizes.least)
        T0 = longer_unit(in_unit, T0, (model.W_core[some], sizes.least[some]))
    if sizes.bounds is not None:
        limits = core_magnitudes(model, sizes.bounds)
        T0 = shorter_unit(in_unit, T0, known, limits)
        told = np.unique(labels.units[known >= NO_START])
        known = np.where(np.isin(labels.units, told), known, np.maximum(known, limits))
    return T0, in_unit(T0)


def core_magnitudes(model: ReducedModel, magnitudes: np.ndarray) -> np.ndarray:
    """Largest magnitude among the aliases of every core unknown."""
    W = model.W_core
    single = np.diff(W.indptr) == 1
    row = np.flatnonzero(single)
    known = np.zeros(W.shape[1])
    np.maximum.at(known, W.indices[W.indptr[row]], magnitudes[row])
    return known


def _cut_flows(forms: Rows, flow: np.ndarray) -> list[bool]:
    """Of every form, whether it says something of flows alone."""
    reads = forms.A != 0.0
    return (reads.any(axis=1) & ~reads[:, ~flow].any(axis=1) & ~forms.E.any(axis=1)).tolist()


def _element(
    model: ReducedModel, core: CoreMatrices, values: Values, rows: ElementRows, i: int, cuts: list[bool]
) -> Element:
    table, statement = rows.forms.statement.table, rows.forms.statement
    tables = [table.branches[b] for b in rows.shown]
    branches, blocked = [], []
    for made, (equations, guards, others) in zip(tables, rows.branches, strict=True):
        eq = core.forms.take([k + i for k in equations])
        targets, cut = tuple(g.target for g in made.guards), tuple(cuts[k + i] for k in equations)
        branches.append(Branch(made.name, eq, core.forms.take([k + i for k in guards]), targets, cut))
        blocked.append(core.forms.take([k + i for k in others]))
    path = model.flat.path(rows.batch, i)
    kind = _KINDS.get(table.kind, Kind.CONDITION if rows.forms.continuous else Kind.CONTROLLED)
    extra: dict[str, Any] = {}
    if kind is Kind.CONDITION:
        extra = _selection(model, core, values, rows, i)
    if len(rows.branches) > len(table.branches):
        extra["shown"] = rows.shown
    for what, expr in (("restitution", table.restitution), ("rest_speed", table.rest_speed)):
        if expr is not None:
            extra[what] = value = float(evaluate(model, rows.batch, expr, values, np.array([i]))[0])
            if not 0.0 <= value < np.inf:
                raise _impossible(model, rows, i, what, value)
    if table.absorbing is not None:
        extra["absorbing"] = table.absorbing
    if table.impulse is not None:
        extra["impulse_allowed"] = table.impulse == "allow"
    name = f"{path}.{statement.name}" if path else statement.name
    monotone = table.monotone
    if kind is Kind.FRICTION:
        monotone = _without_stiction(branches)
        if not monotone:
            branches[STICK] = replace(branches[STICK], targets=(FORWARD_LIMIT, BACKWARD_LIMIT))
        branches[FORWARD_LIMIT] = replace(branches[FORWARD_LIMIT], targets=(STICK, 1), releases=(1,))
        branches[BACKWARD_LIMIT] = replace(branches[BACKWARD_LIMIT], targets=(STICK, 2), releases=(2,))
    return Element(name, kind, tuple(branches), tuple(blocked), monotone, **extra)


def _impossible(model: ReducedModel, rows: ElementRows, i: int, what: str, value: float) -> ParameterError:
    statement = rows.forms.statement
    return ParameterError(
        f"`{what}` of the Impact `{statement.name}` is {value:g}; it must be a finite number, not negative",
        where=(model.flat.location(rows.batch, i, statement.origin),),
    )


def _without_stiction(branches: list[Branch]) -> bool:
    """The friction curve is monotone: breakaway equals sliding at rest, and sliding does not fall with speed."""
    stick, slips = branches[0], branches[1:3]
    speed = stick.equations.A[0]
    for guard, branch in zip(range(2), slips, strict=True):
        sign = 1.0 - 2.0 * guard
        step = stick.guards.B[guard] + sign * branch.equations.B[0]
        slope = stick.guards.A[guard] + sign * branch.equations.A[0]
        if step.any() or sign * (slope @ speed) > 0.0:
            return False
    return True


def truth(op: str, sign: int) -> bool:
    """Value of the relation ``a op b`` from the sign of a - b."""
    return {"<": sign < 0, "<=": sign <= 0, ">": sign > 0, ">=": sign >= 0, "==": sign == 0, "!=": sign != 0}[
        op
    ]


def _selection(
    model: ReducedModel, core: CoreMatrices, values: Values, rows: ElementRows, i: int
) -> dict[str, Any]:
    """Relations that select the branch of an element, and which one their signs select."""
    conditions, relations = rows.forms.conditions, model.forms[rows.batch].relations
    numbers = [model_relation(model, rows.batch, k) + i for k in conditions]
    operators = [relations[k].node.op for k in conditions]
    control = rows.forms.statement.table.control

    def combination(signs: np.ndarray) -> int:
        holds = [truth(op, int(sign)) for op, sign in zip(operators, signs, strict=True)]
        return sum(value << k for k, value in enumerate(reversed(holds)))

    if control is None and rows.decided:
        own = len(conditions)

        def settled(signs: np.ndarray) -> int:
            # What reads others comes after them: exactly one branch is what its own relations select.
            return next(b for b in range(2**own) if combination(signs[b * own : (b + 1) * own]) == b)

        return {"relations": core.forms.take(condition_rows(model, rows, i)), "select": settled}
    if control is None:
        return {"relations": core.forms.take(condition_rows(model, rows, i)), "select": combination}

    def select(signs: np.ndarray) -> int:
        trial = Values(values.P, values.D, values.R.copy())
        for number, op, sign in zip(numbers, operators, signs, strict=True):
            trial.R[number] = float(truth(op, int(sign)))
        return 0 if evaluate(model, rows.batch, control, trial, np.array([i]))[0] else 1

    return {"relations": core.forms.take(condition_rows(model, rows, i)), "select": select}


def condition_rows(model: ReducedModel, rows: ElementRows, i: int) -> list[int]:
    """Form rows of the relations that select the branch of an element, one branch after the other where they differ."""
    if rows.decided:
        return [row + i for row in rows.decided]
    first = {id(r.relation): r.row for r in model.relations if r.batch == rows.batch and not r.relation.timed}
    relations = model.forms[rows.batch].relations
    return [first[id(relations[k])] + i for k in rows.forms.conditions]
