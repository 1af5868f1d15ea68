"""What happens at instants, as functions: discrete equations, whens and state machines of a residual."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import casadi as ca

from ..errors import Location
from ..flattening.flat_model import FlatModel
from ..flattening.forms import choices
from ..modeling.statements import Assign, Reinit, Terminate
from ..values import frozen
from .residual_scope import Scope


@frozen
class Update:
    """New values of some variables at an instant.

    Attributes
    ----------
    kind : str
        "equation" (a discrete equation: holds at every instant), "when" (at the instants at which the
        condition becomes true) or "transition" (at instants, while the condition holds).
    condition : str
        As written; "" for an equation. Of several branches of one chain only the first whose condition holds counts.
    assigned, reinitialised : tuple of str
        Discrete variables that are assigned and differentiated variables that are reinitialised: the rows of ``values``.
    values : Function
        ``(t, xdot, x, w, u, p, d, m, pre) -> new values``: continuous variables before the micro-step, discrete
        variables after it (``d``) and before it (``pre``).
    messages : tuple of str
        Of ``terminate``.
    place : Location
        Path, file and line.
    """

    kind: str
    condition: str
    assigned: tuple[str, ...]
    reinitialised: tuple[str, ...]
    values: ca.Function
    messages: tuple[str, ...]
    place: Location


def updates(scope: Scope, arguments: list[Any], names: list[str]) -> tuple[Update, ...]:
    """Return all discrete statements; ``scope`` reads discrete variables before the micro-step from ``arguments[-1]``."""
    flat = scope.symbols.flat
    found = []
    for k, i, kind, condition, actions, origin in _statements(flat):
        actions = sorted(actions, key=lambda a: isinstance(a, Reinit))
        valued = [a for a in actions if isinstance(a, Assign)]
        values = [scope.lower(k, i, choices(a.value)) for a in valued]

        def path(action: Assign, k: int = k, i: int = i) -> str:
            if isinstance(action, Reinit):
                return flat.variable(flat.symbol(k, i, "v", action.target))
            return flat.discrete(flat.symbol(k, i, "d", action.target))

        result = ca.vertcat(*values) if values else ca.SX(0, 1)
        found.append(
            Update(
                kind,
                condition,
                tuple(path(a) for a in valued if not isinstance(a, Reinit)),
                tuple(path(a) for a in valued if isinstance(a, Reinit)),
                ca.Function("values", arguments, [ca.densify(result)], names, ["values"]),
                tuple(a.message for a in actions if isinstance(a, Terminate)),
                flat.location(k, i, origin),
            )
        )
    return tuple(found)


_Statement = tuple[int, int, str, str, list[Any], Any]
"""(batch, instance, kind, condition, actions, origin)."""


def _statements(flat: FlatModel) -> Iterator[_Statement]:
    for k, i in flat.instances():
        template = flat.batches[k].template
        for a in template.assignments:
            yield k, i, "equation", "", [Assign(a.target, a.value)], a.origin
        for chain in template.whens:
            for conditions, actions in chain.branches:
                kind = "when" if chain.edge else "transition"
                yield k, i, kind, " | ".join(map(str, conditions)), list(actions), chain.origin
