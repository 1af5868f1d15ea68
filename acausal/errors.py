"""One tree of errors. Every error says what, where, why, and what to do.

Errors that end a run carry what was computed until then in ``result``.
"""

from __future__ import annotations

import difflib
import functools
import inspect
import math
import os
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Self

import numpy as np

MOST_SUGGESTED = 3
"""Names offered instead of one that is not known."""


@dataclass(frozen=True)
class Location:
    """Where something was written: component path and source line."""

    path: str = ""
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        source = f"{PurePath(self.file).name}:{self.line}" if self.file else ""
        if self.path and source:
            return f"{self.path} ({source})"
        return self.path or source


class AcausalError(Exception):
    """Base of all errors of this package.

    Parameters
    ----------
    what : str
        What is wrong, with the names the user wrote.
    where : sequence of Location
        The places involved, most telling first.
    why : str
        The reason, when ``what`` does not already say it.
    hint : str
        What to do.
    about : sequence of str
        Paths of the variables that the words name.

    Attributes
    ----------
    result : Result or None
        What was computed; a pickled error comes back without it.
    """

    def __init__(
        self, what: str, *, where: Iterable[Location] = (), why: str = "", hint: str = "", about: Iterable[str] = ()
    ) -> None:  # fmt: skip
        self.what = what
        self.where = tuple(dict.fromkeys(where))
        self.why = why
        self.hint = hint
        self.about = tuple(about)
        self.result: Any = None
        super().__init__(what)

    def because(self, why: str) -> Self:
        """Give the error another reason."""
        self.why = why
        return self

    def locate(self, *where: Location) -> None:
        """Say where, unless that is known."""
        self.where = self.where or where

    def advise(self, hint: str) -> None:
        """Add what to do."""
        self.hint = "; ".join([self.hint] * bool(self.hint) + [hint])

    def __reduce__(self) -> Any:
        # Results do not pickle, and the message is worth having without one.
        return _rebuild, (type(self), {**self.__dict__, "result": None})

    def __str__(self) -> str:
        lines = [self.what]
        lines += [f"  at {place}" for place in self.where if str(place)]
        if self.why:
            lines.append(f"  because {self.why}")
        if self.hint:
            lines.append(f"  hint: {self.hint}")
        return "\n".join(lines)


def _rebuild(kind: type[AcausalError], state: dict[str, Any]) -> AcausalError:
    error = kind(state["what"])
    error.__dict__.update(state)
    return error


class ModelError(AcausalError):
    """The model is not well formed."""


class DeclarationError(ModelError, TypeError):
    """A field, keyword or class is used in a way it was not declared for."""


class ExpressionError(ModelError, TypeError):
    """A Python operator cannot be applied to a symbol (``==``, ``and``, ``if``, ``max``, ...)."""


class StatementError(ModelError, TypeError):
    """Something was yielded that is not a statement, or a statement is malformed."""


class ParameterError(ModelError, ValueError):
    """A parameter is missing, of the wrong type, or outside its bounds."""


class UnknownPathError(ModelError, KeyError):
    """A path names nothing in the model; the nearest names are listed."""

    __str__ = AcausalError.__str__


class UnknownNameError(ModelError, AttributeError):
    """A component or port has nothing of that name; the nearest names are listed."""


class PortMismatchError(ModelError, TypeError):
    """Ports or signals of different types are connected."""


class UnitError(ModelError, ValueError):
    """The two sides of an equation or connection have different dimensions."""


class UnconnectedInputError(ModelError):
    """An input of a sub-component has no value."""


class BalanceError(ModelError):
    """A component does not have as many equations as unknowns."""


class DuplicateWriterError(ModelError):
    """A discrete variable is determined by more than one statement."""


class DuplicateNameError(ModelError):
    """Two statements or fields of one component share a name."""


class StructuralError(AcausalError):
    """The equations have no unique solution, whatever the numbers."""


class ContradictionError(StructuralError):
    """Equations contradict each other in every mode."""


class SingularModelError(StructuralError):
    """Too many unknowns for the equations, or equations that depend on each other."""


class ModeNotSquareError(StructuralError):
    """One mode has more unknowns than equations, or fewer."""


class ModelSizeError(StructuralError):
    """The dynamic core is too large for the exact path."""


class NotAffineError(StructuralError):
    """The exact path was asked for, and the dynamic core is not affine in its unknowns."""


class SimulationError(AcausalError):
    """A run could not go on; ``result`` holds what was computed."""


class ConvergenceError(SimulationError):
    """Nonlinear equations were not solved, or no step of the integration meets the tolerance."""


class InitializationError(SimulationError):
    """Fixed start values and initial equations contradict the model."""


class FlowInterruptedError(SimulationError):
    """An opening element cuts a flow that has no other path."""


class InfiniteImpulseError(SimulationError):
    """A source that steps moves what it could not with any finite impulse."""


class ContradictorySourcesError(SimulationError):
    """Ideal sources contradict each other through the elements in force."""


class NoConsistentModeError(SimulationError):
    """No combination of branches satisfies all guards."""


class ImpactError(SimulationError):
    """The law of impact gives contacts that collide no motion."""


class ChatteringError(SimulationError):
    """A relation or guard of continuous variables switches back and forth without end."""


class EventIterationError(SimulationError):
    """Discrete variables do not settle within an instant."""


class NonFiniteError(SimulationError):
    """A value is not a number, or infinite."""


class DiscreteValueError(SimulationError):
    """A discrete variable takes a value that is not of its type."""


class ConsistencyError(SimulationError):
    """A computed value does not satisfy the model as it is written.

    Attributes
    ----------
    t : float
        Time in seconds.
    value, relative, allowed : float
        The defect in the unit of the statement, relative to its largest term, and how large that may be.
    """

    def __init__(
        self, what: str, *, where: Iterable[Location] = (), why: str = "", hint: str = "", t: float = math.nan,
        value: float = math.nan, relative: float = math.nan, allowed: float = math.nan,
    ) -> None:  # fmt: skip
        super().__init__(what, where=where, why=why, hint=hint)
        self.t, self.value, self.relative, self.allowed = t, value, relative, allowed


class RequirementError(SimulationError):
    """A ``require`` condition or a declared bound of a variable does not hold."""


def nearest(name: str, known: Iterable[str], beside: Iterable[str] = ()) -> str:
    """Return a hint with the names closest to ``name``, those that differ in case only first; "" if there are none.

    Names ``beside`` the known ones are proposed where they are close, and not listed.
    """
    names = list(known)
    all_names = [*names, *beside]
    same = [n for n in all_names if n.lower() == name.lower()]
    close = same or difflib.get_close_matches(name, all_names, n=MOST_SUGGESTED, cutoff=0.5)
    if close:
        return "did you mean " + " or ".join(f"`{c}`" for c in close) + "?"
    more = ", ..." if len(names) > 8 else ""
    return "there are " + ", ".join(f"`{n}`" for n in names[:8]) + more if names else ""


def counted(count: int, what: str, many: str = "") -> str:
    """Return "1 mode", "2 modes"; ``many`` is the plural where it does not end with s."""
    return f"{count} {what}" if count == 1 else f"{count} {many or what + 's'}"


def listed(texts: Sequence[str], most: int, between: str = ", ", count: int = 0) -> str:
    """Return texts as a list in words, those after the first ``most`` as "and 3 more"; ``count`` is more than are given."""
    beyond = max(len(texts), count) - most
    more = f" and {beyond} more" if beyond > 0 else ""
    return between.join(texts[:most]) + more


def shortened(text: str, most: int) -> str:
    """Return a text with the middle left out if it has more than ``most`` characters."""
    half = most // 2
    return text if len(text) <= most else f"{text[:half]} ... {text[-half:]}"


PACKAGE = f"{os.path.dirname(os.path.abspath(__file__))}{os.sep}"


class StiffnessWarning(UserWarning):
    """Stability has long held the steps of ``method="explicit"``: "auto" and "implicit" make fewer. Warned of once in a run."""


def warn(message: str, kind: type[UserWarning] = UserWarning) -> None:
    """Warn at the line of the user that led here, the first one outside this package."""
    level, frame = 1, inspect.currentframe()
    # Cached properties are called by way of functools, what np.errstate decorates by way of NumPy.
    inside = (PACKAGE, functools.__file__, os.path.dirname(np.__file__) + os.sep)
    while frame is not None and frame.f_code.co_filename.startswith(inside):
        level, frame = level + 1, frame.f_back
    # `warnings.warn` counts from this function, level one.
    warnings.warn(message, kind, stacklevel=level)
