"""Why conditions of a start cannot be met, in the words of the model."""

from __future__ import annotations

import math

import numpy as np

from ..errors import AcausalError, InitializationError
from ..flattening.open_ports import with_open_ports
from ..simulation.failures import RateUnknown, StartNotMet
from ..simulation.standing import Standing
from ..simulation.starts.completion import System, Unreachable
from ..simulation.starts.conditions import Condition, Conditions
from ..simulation.starts.priorities import MISSED, combination
from ..simulation.starts.stated import Rank
from .nonlinear_points import accepted, core_at, stated, surroundings
from .search_failures import constraints_on, demanding
from .start_moving import MOST_NAMED, moving


def start_not_met(now: Standing, record: StartNotMet) -> AcausalError:
    """Return the error for conditions that cannot be met."""
    conditions: Conditions = record.conditions
    failure: Unreachable = record.cause
    system, endless = failure.system, moving(now, conditions, failure)
    if endless is not None:
        return endless
    for row in np.flatnonzero(failure.missed & (system.which >= 0)).tolist():
        if not system.A[row].any():
            condition = conditions.items[int(system.which[row])]
            return _determined(now, condition, -float(system.b[row] * system.divisor[row]))
    rows = _contradiction(system)
    # Constraints that contradict each other where the search ended may hold elsewhere: no condition is to blame.
    if rows is not None and (system.which[rows] >= 0).any():
        return _contradict(now, conditions, failure, rows)
    return with_open_ports(_not_found(now, conditions, failure), now.flat)


def rate_unknown(now: Standing, failure: RateUnknown) -> InitializationError:
    """Return the error for an initial equation that reads a rate that nothing gives: it would count as zero."""
    name = now.program.unknowns.state_name(failure.unknown)
    return InitializationError(
        f"`{failure.item.text}` reads der(`{name}`), which no equation of the model gives",
        where=failure.item.where,
        why="it is the derivative of what itself follows from derivatives of nonlinear equations",
        hint="give it a variable of the model, as in rate = Variable() and"
        f" yield Eq(self.rate, der(self.{name})), and state the condition with that",
    )


def _contradiction(system: System) -> list[int] | None:
    """The first row that must hold and that those before it contradict, behind as few of them as do; None without any."""
    kept: list[int] = []
    for row in np.flatnonzero(system.top & system.A.any(axis=1)).tolist():
        factors = combination(system.A[kept], system.A[row])
        if factors is None:
            kept.append(row)
        elif abs(system.b[row] - factors @ system.b[kept]) > MISSED * (1.0 + np.abs(factors).sum()):
            taking_part = np.abs(factors) > MISSED * np.abs(factors).max(initial=0.0)
            return [*np.array(kept)[taking_part].tolist(), row]
    return None


def _determined(now: Standing, condition: Condition, defect: float) -> AcausalError:
    if condition.rank is Rank.STEADY:
        return InitializationError(
            f"there is no steady state at t = {now.state.t:.9g}: {condition.text} cannot hold",
            where=condition.where,
            why="its rate is the same whatever the states are: a source drives it, and nothing limits it",
            hint="fix its value with initial=, so that it may move, or ask for a steady state of other parts only",
        )
    why, where = "the equations in force determine it, whatever the states are", condition.where
    if condition.unknown >= 0:
        what = f"at t = {now.state.t:.9g} {condition.text} cannot hold at the start"
        prescribed = [(condition.variable, condition.value)]
        why = constraints_on(now, (), prescribed) or why
        where = (*where, *demanding(now, (), now.state.forced, prescribed))
    elif condition.variable < 0:
        what = f"{condition.text} does not hold at the start: its sides differ by {defect:.9g}"
    else:
        what = (
            f"`{now.flat.variable(condition.variable)}` is fixed at {condition.value:g} but the model gives"
            f" {condition.value + defect:.9g} at the start"
        )
    return InitializationError(
        what,
        where=tuple(dict.fromkeys(where)),
        why=why,
        hint="drop `fixed` or the condition, or change the parameters, sources and starts of discretes that it follows from",
    )


def _contradict(now: Standing, conditions: Conditions, failure: Unreachable, rows: list[int]) -> AcausalError:
    system = failure.system
    conflicting = [conditions.items[int(system.which[r])] for r in rows if system.which[r] >= 0]
    equations = [r for r in rows if system.which[r] < 0]
    text = ", ".join(c.text for c in conflicting[:MOST_NAMED])
    where = tuple(dict.fromkeys(p for c in conflicting for p in c.where))
    steady = [c for c in conflicting if c.rank is Rank.STEADY]
    what = "cannot all hold at the start" if len(conflicting) > 1 else "cannot hold at the start"
    if steady:
        what = (
            "cannot all hold: there is no such steady state"
            if len(conflicting) > 1
            else "leaves no steady state"
        )
    why = (
        "they prescribe the same quantity twice"
        if len(conflicting) > 1
        else "the equations in force determine it"
    )
    prescribed = [(c.variable, c.value) for c in conflicting if c.unknown >= 0]
    if prescribed and not now.reduced.nonlinear:
        why = constraints_on(now, (), prescribed) or why
    hint = "drop one of them, or give it as a start that is not fixed"
    if steady:
        why = "the equations in force leave no point at which all of them rest"
        if now.relations:
            why += ", on those sides of comparisons where the search began"
            hint = f"give starts near the point that you mean, on its side of the comparisons; else {hint}"
    if equations:
        why = f"the nonlinear equations {stated(now, _nonlinear_rows(now, equations)).text} bind them to each other"
    return InitializationError(
        f"at t = {now.state.t:.9g} {text} {what}",
        where=where,
        why=why + _left(now, conditions, failure),
        hint=hint,
    )


def _nonlinear_rows(now: Standing, rows: list[int]) -> list[int]:
    """Nonlinear rows behind hard rows, which come first in a system."""
    of_row = now.tangents.mode(
        now.core, now.state.mode, now.state.z, now.state.slopes, now.xi, now.present
    ).constraint_rows
    return list(dict.fromkeys(int(of_row[r]) for r in rows))


def _with_coupled(now: Standing, rows: list[int]) -> list[int]:
    """Constraints that were missed, and those that share coordinates with them: any may be the one that is wrong."""
    near, motion = surroundings(now, accepted(now)), now.linearisation.last
    if near is None or motion is None or not motion.system.constraints:
        return rows
    return list(
        dict.fromkeys([*rows, *near.constraints(motion.system.constraints).coupled(rows[0]).tolist()])
    )


def _not_found(now: Standing, conditions: Conditions, failure: Unreachable) -> AcausalError:
    system = failure.system
    rows = np.flatnonzero(failure.missed)
    rows = rows[np.argsort(-np.abs(system.b[rows]), kind="stable")]
    own = [conditions.items[int(system.which[r])] for r in rows.tolist() if system.which[r] >= 0]
    equations = [r for r in rows.tolist() if system.which[r] < 0]
    demanded = own or [c for c in conditions.items if c.rank <= Rank.STEADY]
    parts = [c.text for c in demanded[:MOST_NAMED]]
    places = [p for c in demanded[:MOST_NAMED] for p in c.where]
    last, about = "", list[str]()
    if equations:
        found = stated(now, _with_coupled(now, _nonlinear_rows(now, equations)))
        parts.append(f"the nonlinear equations {found.text}")
        places, about = [*places, *found.places], list(found.unknowns.values())
        last = f"\n  begun at {found.values(core_at(now, accepted(now)))}"
        last += f"\n  last tried {found.values(failure.nearest.z)}"
    return InitializationError(
        f"no start values were found at t = {now.state.t:.9g} at which {', '.join(parts) or 'all equations'} hold{last}",
        where=tuple(dict.fromkeys(places)),
        about=about,
        why="Newton's method, damped and begun anew beside the start values, came to no solution"
        + _left(now, conditions, failure),
        hint="give starts near the solution, fix other variables, or drop a condition: there may be no solution, as of a"
        " loop whose lengths do not let it close",
    )


def _left(now: Standing, conditions: Conditions, failure: Unreachable) -> str:
    """What the point misses that comes nearest to the conditions, as the end of a sentence; "" if none is known."""
    system = failure.rest
    if system is None:
        return ""
    rows = np.flatnonzero(system.top & (system.which >= 0) & (np.abs(system.b) > MISSED)).tolist()
    missed: dict[str, list[float]] = {}
    for row in rows:
        condition = conditions.items[int(system.which[row])]
        if condition.variable >= 0:
            unit = now.program.unknowns.unit(condition.variable)
            missed.setdefault(unit, []).append(float(system.b[row] * system.divisor[row]))
    left = [f"{math.hypot(*defects):.6g} {unit}" for unit, defects in missed.items()]
    return f"; at the nearest point found {' and '.join(left)} are left" if left else ""
