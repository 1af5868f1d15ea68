"""The verbs that span all stages."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from .modeling.component import Component
from .results.result import Result
from .simulation.program import Program, compile_model

_programs: WeakKeyDictionary[Component, Program] = WeakKeyDictionary()


def simulate(model: Component, t_end: float, **options: Any) -> Result:
    """Compile a model and run it; the program of a model object is remembered.

    Parameters
    ----------
    model : Component
    t_end : float
        End of the run in seconds.
    **options
        As for `Program.simulate`.
    """
    program = _programs.get(model)
    if program is None:
        program = _programs[model] = compile_model(model)
    return program.simulate(t_end, **options)
