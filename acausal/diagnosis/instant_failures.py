"""Why an instant has no end, and values that are no finite numbers."""

from __future__ import annotations

from ..errors import AcausalError, ChatteringError, EventIterationError, NonFiniteError, SingularModelError
from ..reduction.affine import Kind
from ..simulation.failures import EquationsLost, Micro, NotFinite, Unsettled
from ..simulation.large.sizes import LARGE
from ..simulation.standing import Standing
from .relation_names import relation_place, relation_text

MOST_SHOWN = 12
"""Discretes, branches and relations in one line of a table."""


def equations_lost(label: str, failure: EquationsLost) -> AcausalError:
    """Return the error for discretes with which the equations of a large model are singular."""
    return SingularModelError(
        f"at t = {failure.t:.9g} the equations of {label} no longer determine all unknowns",
        why="a coefficient that depends on discrete variables has become zero",
        hint=f"keep it away from zero: models with more than {LARGE} unknowns do not change their structure",
    )


def not_finite(now: Standing, failure: NotFinite) -> NonFiniteError:
    """Return the error for values that are no finite numbers."""
    return {"state": _state, "integral": _integral, "reinit": _reinit}[failure.what](now, failure)


def _state(now: Standing, failure: NotFinite) -> NonFiniteError:
    names = [f"`{now.program.unknowns.state_name(int(now.data.states[k]))}`" for k in failure.which[:4]] or [
        "a source"
    ]
    return NonFiniteError(
        f"{', '.join(names)} leaves the range of doubles after t = {now.state.t:.9g}",
        hint="the model is unstable, or its numbers are too large",
    )


def _integral(now: Standing, failure: NotFinite) -> NonFiniteError:
    integrals = [o for o in now.reduced.output_equations if o.integral]
    wrong = [integrals[k] for k in failure.which[:4]]
    return NonFiniteError(
        f"the integral {', '.join(f'`{now.flat.variable(o.variable)}`' for o in wrong)}"
        f" is not finite between t = {now.state.t:.9g} and {failure.until:.9g}",
        where=tuple(now.flat.location(o.batch, o.instance, o.row.statement.origin) for o in wrong),
        hint="what is integrated has no finite value there: look for a logarithm, root or division",
    )


def _reinit(now: Standing, failure: NotFinite) -> NonFiniteError:
    return NonFiniteError(
        f"reinit of `{now.flat.variable(failure.which[0])}` at t = {now.state.t:.9g} gives {failure.values[0]}",
        where=(failure.place,),
    )


def unsettled(now: Standing, failure: Unsettled) -> AcausalError:
    """Return the error for micro-steps without end."""
    table = "\n".join(
        f"    micro-step {k}: {_described(now, micro)}"
        for k, micro in enumerate(failure.trail, failure.first)
    )
    moving = failure.switching
    if not moving:
        return _not_settling(now, failure.trail, table)
    texts = [relation_text(now, n) for n in moving]
    return ChatteringError(
        f"at t = {now.state.t:.9g} the relation{'s' * (len(moving) > 1)} {', '.join(texts)}"
        f" switch{'es' * (len(moving) == 1)} without end\n{table}",
        where=tuple(dict.fromkeys(relation_place(now, n) for n in moving)),
        why="after each change the flow brings the old value back at once",
        hint="give them a hysteresis, or state the switching as a set-valued element (DryFriction, Modes)",
    )


def _described(now: Standing, micro: Micro) -> str:
    D, mode, _, R, _ = micro
    changes = [f"{now.flat.discrete(k)} = {value:g}" for k, value in enumerate(D[:MOST_SHOWN].tolist())]
    branches = [
        f"{e.path}: {e.branches[b].name}" for e, b in zip(now.core.model.elements, mode, strict=True)
    ][:MOST_SHOWN]
    relations = [
        f"{relation_text(now, n)}: {R[n] != 0.0}" for n in now.program.discrete.r.tolist()[:MOST_SHOWN]
    ]
    return ", ".join(changes + branches + relations)


def _not_settling(now: Standing, trail: list[Micro], table: str) -> EventIterationError:
    """The error for discrete variables, and branches that are read as such, that never stay."""
    elements, declared = now.core.model.elements, now.program.discrete.written
    moving = [k for k in range(len(elements)) if len({mode[k] for _, mode, *_ in trail}) > 1]
    written = [(d, p) for d, p, _ in declared if len({float(D[d]) for D, *_ in trail}) > 1]
    names = [now.flat.discrete(d) for d, _ in written] + [elements[k].path for k in moving]
    hint = "let a `when` fire once instead of an equation that toggles, or end the chain of pre(...) in a value that stays"
    chosen = [elements[k].path for k in moving if elements[k].kind is not Kind.CONTROLLED]
    if chosen:
        joint = (
            f"the branch of `{chosen[0]}` is chosen anew after what it decides by its mode has changed: state the"
            " equations of both in one `If` with a condition on their variables, or in one `Modes`, so that they are"
            " chosen together"
        )
        hint = f"{hint}; or {joint}" if written else joint
    return EventIterationError(
        f"at t = {now.state.t:.9g} the discrete variables do not settle: {', '.join(names[:8])}\n{table}",
        where=tuple(p for _, p in written[:3])
        or tuple(now.program.unknowns.element_place(k)[1] for k in moving[:3]),
        why="each micro-step changes what the next one reads",
        hint=hint,
    )
