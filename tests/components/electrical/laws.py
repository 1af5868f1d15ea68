"""The law of one component, evaluated without a circuit and without a solver."""

from typing import Any

import numpy as np

from acausal.flattening.flat_model import VECTOR
from acausal.flattening.forms import choices
from acausal.modeling import Component, Eq, Expr, Parameter, Symbol
from acausal.modeling.expressions import fold
from acausal.modeling.fields import active


def right_side(part: Component, name: str, **values: Any) -> np.ndarray:
    """The right side of the last equation whose left side is ``name``, with numbers or arrays for variables and inputs."""
    part.ensure_built()
    active.stack.append(part)
    try:
        equations = [s for s in part.equations() if isinstance(s, Eq)]
    finally:
        active.stack.pop()
    # Equations of the base classes come first: `v = p.v - n.v`, `i = p.i`.
    *_, law = (e.rhs for e in equations if isinstance(e.lhs, Symbol) and e.lhs.name == name)

    def leaf(node: Expr) -> Any:
        if not isinstance(node, Symbol):
            return node.data
        if isinstance(node.field, Parameter):
            return node.owner.parameter_value(node.field)
        return values[node.name]

    return fold(choices(law), leaf, lambda node, args: VECTOR[node.op](*args))
