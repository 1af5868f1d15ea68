"""What to say when the values a run has computed do not satisfy its own equations."""

from __future__ import annotations

import numpy as np

from ..errors import ConsistencyError, Location
from ..flattening.template import place_of
from ..simulation.failures import Inconsistent
from ..simulation.options import Options
from ..simulation.self_check import Violation
from ..simulation.standing import Standing
from .relation_names import form_name, relation_place, relation_text

WAY_OUT = "the result ends before it; set losses and leakages too small to matter to zero, which is exact"
SEVERAL = (
    "; where derivatives all but cancel in an equation, as in coils written with `M = k*sqrt(L1*L2)`, differentiate what is "
    "common to them and what is left in terms of their own, as `CoupledInductors` does"
)
HINT = f"{WAY_OUT}, or run with a smaller `rtol`; if that does not help, please report the model: it is a fault of the library"
INTEGRATED = f'{WAY_OUT}, or run with method="implicit", whose tolerance allows for it'
MODES = f'{WAY_OUT}, or run with method="implicit", which needs no modes'
HIDDEN = ("hidden", "crossing", "drift")
"""What is no fault, but beyond the digits of doubles: no tolerance helps."""


def inconsistent(now: Standing, failure: Inconsistent) -> ConsistencyError:
    """Return the error for a run that contradicts its own equations."""
    found = failure.found
    name, where = _subject(now, failure)
    relative = abs(found.value) / found.terms if found.terms else float("inf")
    why = f"the defect is {found.value:.6g}; its terms sum to {found.terms:.6g}, and {found.allowed:.3g} is allowed"
    if found.what == "rest":
        why = f"it moves with {found.value:.3g}, at no acceleration, and at rest it holds more than while it slides"
    return ConsistencyError(
        f"the computed values do not satisfy the model at t = {failure.t:.9g} s: {name}",
        where=where,
        why=why,
        hint=_hint(now, found, relative), t=failure.t, value=found.value, relative=relative,
        allowed=found.allowed / found.terms if found.terms else 0.0,
    )  # fmt: skip


def _hint(now: Standing, found: Violation, relative: float) -> str:
    """What can be done: steps, which promise less than a closed form, may miss what rounding of rates moves."""
    if found.what == "flow":
        return MODES
    if found.what != "drift":
        return WAY_OUT if found.what in HIDDEN else HINT
    way_out = INTEGRATED if not now.numerical and relative <= Options.rtol else WAY_OUT
    return way_out + SEVERAL * _beside_others(now, found.which)


def _beside_others(now: Standing, k: int) -> bool:
    """Whether an equation reads the derivatives of a state and of another variable."""
    E = now.core.model.base.E
    reads = (E if isinstance(E, np.ndarray) else E.toarray()) != 0
    return bool((reads[:, now.data.states[k]] & (reads.sum(axis=1) > 1)).any())


def _subject(now: Standing, failure: Inconsistent) -> tuple[str, tuple[Location, ...]]:
    found, elements = failure.found, now.core.model.elements
    if found.what == "discrete":
        places = {k: place for k, place, _ in now.program.discrete.written}
        return f"`{now.flat.discrete(found.which)}` has not the value of its statement", (
            places[found.which],
        )
    if found.what == "time":
        return f"{relation_text(now, found.which)} has another value than what it compares", (
            relation_place(now, found.which),
        )
    if found.what == "guard":
        name, place = form_name(now, found.which)
        return f"{name} has been left", (place,)
    if found.what == "rest":
        name, place = form_name(now, found.which)
        return f"{name} says that friction slides, and nothing moves", (place,)
    if found.what == "branch":
        name, place = now.program.unknowns.element_place(found.which)
        branch = elements[found.which].branches[now.state.mode[found.which]].name
        return f"the conditions of `{name}` select another branch than `{branch}`", (place,)
    if found.what == "record":
        return (
            f"the jump of `{now.program.unknowns.state_name(found.which)}` is not recorded with its impulses",
            (),
        )
    if found.what == "start":
        name = now.flat.variable(found.which)
        return f"`{name}` does not begin where its start says, which agrees with all equations", place_of(
            now.flat.root, name
        )
    if found.what == "hidden":
        name, place = form_name(now, found.which)
        return f"rounding hides whether {name} has been left", (place,)
    if found.what == "crossing":
        return f"rounding hides the time of a crossing, and with it `{_state(now, found.which)}`", ()
    if found.what == "drift":
        return f"rates that cancel exceed the motion of `{_state(now, found.which)}` too far for doubles", ()
    if found.what == "flow":
        return f"modes that cancel exceed the motion of `{_state(now, found.which)}` too far for doubles", ()
    if found.what == "motion":
        return f"`{_state(now, found.which)}` moves otherwise than its derivative says", ()
    text = {"equation": "does not hold", "conservation": "is not conserved over the instant"}[found.what]
    model, row = now.core.model, found.which
    if row < len(model.base):
        return f"{model.row_names[row] if len(model.row_names) else 'an equation'} {text}", ()
    row -= len(model.base)
    for k, (element, branch) in enumerate(zip(elements, now.state.mode, strict=True)):
        count = len(element.branches[branch].equations)
        if row < count:
            name, place = now.program.unknowns.element_place(k)
            return f"an equation of `{name}` {text}", (place,)
        row -= count
    return f"an equation {text}", ()


def _state(now: Standing, k: int) -> str:
    states = now.data.states
    return now.program.unknowns.state_name(int(states[k])) if k < len(states) else "a source"
