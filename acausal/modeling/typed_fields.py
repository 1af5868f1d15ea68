"""Fields whose values have a type: discrete variables and signals."""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import Enum
from typing import Any, cast

import numpy as np

from ..errors import DeclarationError, ExpressionError
from .expressions import Expr, enum_index
from .fields import SymbolField, check_extents
from .number_checks import is_finite, is_number, shown
from .operations import MARKS, marks

LARGEST_WHOLE = 2.0**53
"""Beyond this not all whole numbers are doubles."""


class Typed(SymbolField):
    """A field whose values have a type, which they keep during a run."""

    type: type

    def problem(self, value: Any) -> str:
        """Return what is wrong with a value for this variable, "" if nothing is."""
        if issubclass(self.type, Enum):
            return "" if isinstance(value, self.type) else f"must be {self.kind}, got {shown(value)}"
        truth = isinstance(value, (bool, np.bool_))
        numeric = (truth and self.type is bool) or (is_number(value) and is_finite(value))
        return "" if numeric and self.holds(float(value)) else f"must be {self.kind}, got {shown(value)}"

    def holds(self, number: float) -> bool:
        """Whether a number is a value of this type, that of an enum by its code."""
        if self.codes is not None:
            return number in self.codes
        if self.type is float:
            return math.isfinite(number)
        return number.is_integer() and abs(number) <= LARGEST_WHOLE

    @property
    def codes(self) -> tuple[int, ...] | None:
        """Numbers that stand for the values of a Boolean or enum, None for other types."""
        if issubclass(self.type, Enum):
            return tuple(enum_index(member) for member in self.type)
        return (0, 1) if self.type is bool else None

    @property
    def kind(self) -> str:
        """What values are, in words."""
        if issubclass(self.type, Enum):
            return f"one of {', '.join(map(str, self.type))}"
        return {bool: "True or False", int: "a whole number", float: "a finite number"}[self.type]


class Discrete(Typed):
    """A variable that changes only at instants.

    Parameters
    ----------
    type : type
        ``bool``, ``int``, ``float`` or an enum.
    start : value of that type
        Value before the first instant; the first member for an enum.
    """

    def __init__(
        self,
        type: type = float,
        *,
        start: Any = None,
        unit: str = "",
        shape: tuple[int, ...] = (),
        doc: str = "",
    ) -> None:
        super().__init__(unit=unit, doc=doc)
        check_extents(shape)
        if type not in (bool, int, float) and not (
            isinstance(type, cast(Any, Callable)) and issubclass(type, Enum)
        ):
            raise DeclarationError(f"a Discrete is bool, int, float or an enum, not {type!r}")
        self.type, self.shape = type, shape
        self.start = start if start is not None else (next(iter(type)) if issubclass(type, Enum) else type(0))
        problem = self.problem(self.start)
        if problem:
            raise DeclarationError(f"the start of a Discrete {problem}")

    @property
    def marks(self) -> int:
        """The `MARKS` of its symbols."""
        return marks("d", "enum") if issubclass(self.type, Enum) else MARKS["d"]


class _Signal(Typed):
    """A directed value between components; bool and int signals are discrete, float signals continuous."""

    flow, fixed, nominal, start = False, False, None, 0.0
    min, max = -math.inf, math.inf

    def __init__(
        self, type: type = float, *, unit: str = "", shape: tuple[int, ...] = (), doc: str = ""
    ) -> None:
        super().__init__(unit=unit, doc=doc)
        check_extents(shape)
        if type not in (bool, int, float):
            raise DeclarationError(f"a signal is bool, int or float, not {type!r}")
        self.type, self.shape = type, shape

    @property
    def is_discrete(self) -> bool:
        return self.type is not float

    @property
    def marks(self) -> int:
        """The `MARKS` of its symbols."""
        return MARKS["d" if self.is_discrete else "v"]


class Input(_Signal):
    """A signal that comes from outside: connected, or given as keyword by the parent.

    An input of the model itself may stay open; a run feeds it, ``simulate(model, 1.0, inputs={"u": 5.0})``.

    Parameters
    ----------
    type : type
        ``float`` for a continuous signal, ``bool`` or ``int`` for a discrete one.
    unit : str
        SI unit; "" takes any.
    shape : tuple of int
        Extents of an array of signals.
    """

    def __set__(self, obj: Any, value: float | Expr) -> None:
        self.check(value, obj)
        obj.__dict__[self.name] = value

    def check(self, value: Any, obj: Any) -> None:
        """Raise ExpressionError unless ``value`` may feed this input."""
        if isinstance(value, Expr) or (
            self.shape and hasattr(value, "__len__") and not isinstance(value, (str, bytes))
        ):
            return
        number = hasattr(value, "__float__") and getattr(value, "ndim", 0) == 0 and is_finite(value)
        if not number or (self.type is bool and value not in (0, 1)):
            kind = "True, False or a condition" if self.type is bool else "a finite number or an expression"
            raise ExpressionError(
                f"input `{self.name}` of {type(obj).__name__} takes {kind}, got {shown(value)}",
                where=obj.location(),
                hint=self._hint(value),
            )

    def _hint(self, value: Any) -> str:
        """What to write in the place of a block; "" for other things."""
        block = type(value).__name__
        outputs = [n for n, f in getattr(value, "_fields", {}).items() if isinstance(f, Output)]
        if not outputs:
            return ""
        name = block.lower()
        return (
            f"make the block a part of its own, self.{name} = {block}(...), and give its output:"
            f" {self.name}=self.{name}.{outputs[0]}, or connect(self.{name}.{outputs[0]}, ...)"
        )


class Output(_Signal):
    """A signal that the component determines, by an equation of its own.

    The parameters are those of `Input`.
    """
