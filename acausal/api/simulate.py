"""The verbs that span all stages."""

from __future__ import annotations

import inspect
import threading
from collections.abc import Hashable
from typing import Any

from ..errors import DeclarationError, nearest
from ..modeling.component import Component, existing_parts
from ..modeling.fields import Structural
from ..modeling.typed_fields import Input
from ..results.result import Result
from .program import Program, compile_model

_lock = threading.Lock()
_OPTIONS = [n for n in inspect.signature(Program.simulate).parameters if n not in ("self", "t_end")]


def simulate(model: Component, t_end: float, **options: Any) -> Result:
    """Compile a model and run it.

    The program is kept with the model object and used again; it is compiled anew after a
    change of a structural parameter, an input or, in a `Circuit`, the parts and connections.

    Parameters
    ----------
    model : Component
    t_end : float
        End of the run in seconds.
    **options
        As for `Program.simulate`: ``parameters``, ``initial``, ``inputs``, ``t_start``, ``start``,
        ``save``, ``grid``, ``until``, ``method``, ``rtol``, ``atol``, ``impulses``, ``progress``.

    Raises
    ------
    AcausalError
        For a model that is not well formed or a run that fails; the error of a failed run
        carries what was computed in its ``result``.
    """
    unknown = [name for name in options if name not in _OPTIONS]
    if unknown:
        raise DeclarationError(
            f"simulate() takes no option `{unknown[0]}`", hint=nearest(unknown[0], _OPTIONS)
        )
    return remembered(model).simulate(t_end, **options)


def remembered(model: Component) -> Program:
    """Return the program of a model object, compiled when there is none or the model has changed."""
    if not isinstance(model, Component):
        return compile_model(model)  # which says what is wrong
    with _lock:
        shape = _shape(model)
        found = model.__dict__.get("_program")
        if found is None or found[0] != shape:
            found = model.__dict__["_program"] = (shape, compile_model(model))
        return found[1]


def _shape(model: Component) -> Hashable:
    """What a program depends on beside the class: structural values, inputs, and the content of scripts."""
    shape = []
    for path, obj in existing_parts(model):
        own = obj.__dict__
        values = tuple(
            (n, _key(own[n]))
            for n, f in obj._fields.items()
            if n in own and isinstance(f, (Structural, Input))
        )
        scripted = len(own.get("_statements", ()))
        if values or scripted or not type(obj).share:
            parts = own.get("_parts", ()) if not type(obj).share else ()
            shape.append((path, type(obj), values, scripted, parts))
    return tuple(shape)


def _key(value: Any) -> Hashable:
    return value if isinstance(value, (int, float, str, tuple, bool)) else id(value)
