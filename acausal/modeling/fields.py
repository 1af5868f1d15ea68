"""Typed fields of components and ports: parameters, variables, discretes, signals."""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Generic, Self, TypeVar, overload

from ..errors import DeclarationError, ParameterError, UnitError
from .expressions import LONGEST_INTEGER, Expr, Symbol
from .number_checks import is_finite, is_number, shown
from .operations import MARKS
from .symbol_arrays import SymbolArray
from .units import parse_unit

T = TypeVar("T")


class _Active(threading.local):
    """The component objects being traced by this thread, innermost last, and the number of the present ``build()``."""

    def __init__(self) -> None:
        self.stack: list[Any] = []
        self.build = 0
        self.builds = 0

    @contextmanager
    def building(self, component: Any) -> Iterator[int]:
        """While the ``build()`` of a component runs; gives its number."""
        outer, self.builds = self.build, self.builds + 1
        self.build = self.builds
        self.stack.append(component)
        try:
            yield self.build
        finally:
            self.stack.pop()
            self.build = outer


active = _Active()


class _Missing:
    """The absence of a value; there is one object, which pickles by its name."""

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        return "MISSING"


MISSING: Any = _Missing()


class Field:
    """Common part of all fields: name, unit, documentation."""

    name: str = ""
    shape: tuple[int, ...] = ()

    def __init__(self, *, unit: str = "", doc: str = "") -> None:
        self.unit = unit
        self.doc = doc
        if not isinstance(unit, str):
            raise UnitError(f"a unit is a string, got {shown(unit)}", hint='write e.g. unit="N.m"')
        parse_unit(unit)

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @property
    def marks(self) -> int:
        """The `MARKS` of its symbols."""
        return MARKS["v"]

    def names(self) -> list[str]:
        """Return the scalar names of the field: ``x``, or ``x[0]``, ``x[1]``, ..."""
        names = [self.name]
        for extent in self.shape:
            names = [f"{n}[{k}]" for n in names for k in range(extent)]
        return names

    def symbols(self, owner: Any, prefix: str = "") -> Any:
        """Return the symbol of a scalar field, nested tuples of symbols for an array."""

        def nest(name: str, shape: tuple[int, ...]) -> Any:
            if not shape:
                return Symbol(owner, prefix + name, self)
            return SymbolArray(nest(f"{name}[{k}]", shape[1:]) for k in range(shape[0]))

        return nest(self.name, self.shape)


def _check_bounds(low: Any, high: Any, shape: Any) -> None:
    """Raise DeclarationError unless bounds are numbers in their order and extents are positive integers."""
    for name, value in (("min", low), ("max", high)):
        if not is_number(value) or math.isnan(value):
            raise DeclarationError(f"`{name}` of a field must be a number, got {shown(value)}")
    if low > high:
        raise DeclarationError(
            f"`min` of a field is above its `max`: {low:g} > {high:g}",
            hint="no value would do; exchange them",
        )
    check_extents(shape)


def check_extents(shape: Any) -> None:
    """Raise DeclarationError unless the extents of a field are positive integers."""
    if not isinstance(shape, tuple) or not all(type(n) is int and n > 0 for n in shape):
        raise DeclarationError(
            f"`shape` of a field is a tuple of positive integers, got {shown(shape)}", hint="shape=(3,)"
        )


class Parameter(Field):
    """A number (or array) that stays fixed during a run.

    Reads as its number, and as a symbol inside ``build()`` and ``equations()``.
    May be bound to an expression of parameters of the parent, and of the parent's other parts.

    Parameters
    ----------
    default : float or array, optional
        Without a default the keyword is required.
    unit : str
        SI unit such as ``"Ohm"`` or ``"N.m.s/rad"``; ``"1"`` if dimensionless.
    min, max : float
        Bounds, checked when a value is given.
    shape : tuple of int
        Extents of an array parameter.
    fixed : bool
        False: the number is computed at the start, from conditions such as ``initially(...)``; the default and the keyword
        are guesses. Any parameter of a part becomes such a one by ``Start``: ``Spring(c=100.0, s_rel0=Start(0.1))``.
    """

    def __init__(
        self,
        *,
        default: Any = MISSING,
        unit: str = "",
        min: float = -math.inf,
        max: float = math.inf,
        shape: tuple[int, ...] = (),
        fixed: bool = True,
        doc: str = "",
    ) -> None:
        super().__init__(unit=unit, doc=doc)
        _check_bounds(min, max, shape)
        self.min, self.max, self.shape, self.fixed = min, max, shape, fixed
        self.default = 0.0 if default is MISSING and not fixed else default
        problem = (
            "" if isinstance(self.default, (_Missing, Expr)) else self.problem_of(self.default, self.shape)
        )
        if problem:
            raise DeclarationError(f"the default of a Parameter {problem}")

    @property
    def marks(self) -> int:
        """None: it stays what it is."""
        return 0

    @overload
    def __get__(self, obj: None, cls: type) -> Self: ...
    @overload
    def __get__(self, obj: object, cls: type) -> Expr: ...
    def __get__(self, obj: Any, cls: type) -> Any:
        if obj is None:
            return self
        computed = self.is_computed(obj)
        if active.stack or computed:
            return (self.computed if computed else self).symbols(obj)
        return obj.parameter_value(self)

    def __set__(self, obj: Any, value: float | Expr | Sequence[Any] | Start) -> None:
        if self.is_computed(obj):
            raise ParameterError(
                f"`{self.name}` of {type(obj).__name__} is computed at the start and cannot be assigned",
                where=obj.location(),
                hint=f'give a guess as keyword, or its value for the run: initial={{"{self.name}": ...}}',
            )
        self.check(value, obj)
        obj.override(self.name, value)

    def is_computed(self, obj: Any) -> bool:
        """Whether the number is computed at the start of a run."""
        return not self.fixed or isinstance(obj.__dict__.get(self.name), Start)

    @cached_property
    def computed(self) -> Computed:
        """The field that stands for this one where its number is computed."""
        start = self.default if is_number(self.default) else 0.0
        made = Computed(
            unit=self.unit, start=start, min=self.min, max=self.max, shape=self.shape, doc=self.doc
        )
        made.name = self.name
        return made

    def check(self, value: Any, obj: Any) -> None:
        """Raise ParameterError unless ``value`` is an expression or a number within the bounds."""
        problem = "" if isinstance(value, Expr) else self.problem_of(value, self.shape)
        if problem:
            raise ParameterError(f"`{self.name}` of {type(obj).__name__} {problem}", where=obj.location())

    def problem_of(self, value: Any, shape: tuple[int, ...]) -> str:
        """Return what is wrong with numbers or expressions of a shape, "" if nothing is."""
        if not shape:
            return "" if isinstance(value, Expr) else self.problem(value)
        if isinstance(value, (str, bytes)) or not hasattr(value, "__len__") or len(value) != shape[0]:
            return f"needs {' x '.join(map(str, self.shape))} values, got {value!r}"
        return next(filter(None, (self.problem_of(v, shape[1:]) for v in value)), "")

    def problem(self, value: Any) -> str:
        """Return what is wrong with a number for this parameter, "" if nothing is."""
        if not is_number(value) or not is_finite(value):
            return f"must be a finite number, got {shown(value)}"
        if 0 < abs(value) < sys.float_info.min:
            return f"must be 0 or at least {sys.float_info.min:g} in magnitude, got {float(value):g}, which has no inverse"
        if not self.min <= value <= self.max:
            bound = f"at least {self.min:g}" if value < self.min else f"at most {self.max:g}"
            return f"must be {bound}{unit_suffix(self)}, got {float(value):g}"
        return ""


def unit_suffix(field: Field) -> str:
    """Return the unit behind a number, "" for none."""
    return f" {field.unit}" if field.unit not in ("", "1") else ""


class Structural(Field, Generic[T]):
    """A plain Python value that may decide counts and branches in ``build()`` and ``equations()``.

    Parameters
    ----------
    type : type
        ``int``, ``bool``, ``str``, an enum, ``tuple`` (for tables) or a class.
    check : callable, optional
        Takes a value of the type and returns what is wrong with it, "" if nothing is.
    """

    def __init__(
        self, type: type[T], *, default: T = MISSING, check: Callable[[Any], str] | None = None, doc: str = ""
    ) -> None:
        super().__init__(doc=doc)
        self.type, self.default, self.check = type, default, check
        if default is not MISSING and not self.takes(_freeze(default) if type is tuple else default):
            raise DeclarationError(
                f"the default of a Structural must be of type {type.__name__}, got {shown(default)}"
            )
        if default is not MISSING and not _is_hashable(default if type is not tuple else _freeze(default)):
            raise DeclarationError(
                f"the default {shown(default)} of a Structural field cannot be hashed", hint=_HASHABLE
            )

    def takes(self, value: Any) -> bool:
        """Whether a value is of the type; whole numbers are floats too, and Booleans no numbers."""
        if isinstance(value, int) and self.type in (int, float):
            return not isinstance(value, bool) and (
                self.type is float or value.bit_length() <= LONGEST_INTEGER
            )
        return isinstance(value, self.type)

    @overload
    def __get__(self, obj: None, cls: type) -> Self: ...
    @overload
    def __get__(self, obj: object, cls: type) -> T: ...
    def __get__(self, obj: Any, cls: type) -> Any:
        return self if obj is None else obj.__dict__.get(self.name, self.default)

    def __set__(self, obj: Any, value: T) -> None:
        obj.set_structural(self, value)

    def convert(self, value: Any, obj: Any) -> Any:
        """Return the value in hashable form, or raise ParameterError."""
        if self.type is tuple:
            value = _freeze(value)
        elif self.type is float and type(value) is int:
            value = float(value)
        elif not self.takes(value):
            kind = self.type.__name__
            raise ParameterError(
                f"`{self.name}` of {type(obj).__name__} must be of type {kind}, got {shown(value)}",
                where=obj.location(),
            )
        if not _is_hashable(value):
            raise ParameterError(
                f"`{self.name}` of {type(obj).__name__} cannot be hashed: {shown(value)}",
                where=obj.location(),
                why="structural values decide which components share their equations",
                hint=_HASHABLE,
            )
        problem = self.check(value) if self.check is not None else ""
        if problem:
            raise ParameterError(f"`{self.name}` of {type(obj).__name__} {problem}", where=obj.location())
        if self.type is tuple and not isinstance(value, tuple):
            raise ParameterError(
                f"`{self.name}` of {type(obj).__name__} must be of type tuple, got {shown(value)}",
                where=obj.location(),
            )
        return value


_HASHABLE = "give a tuple instead of a list, tuple(d.items()) instead of a dictionary, or a frozen dataclass"


def _is_hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True


def _freeze(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    return tuple(_freeze(v) for v in value) if isinstance(value, (list, tuple)) else value


class SymbolField(Field):
    """A field that reads as its symbol, and is set by equations alone."""

    @overload
    def __get__(self, obj: None, cls: type) -> Self: ...
    @overload
    def __get__(self, obj: object, cls: type) -> Symbol: ...
    def __get__(self, obj: Any, cls: type) -> Any:
        return self if obj is None else self.symbols(obj)

    def __set__(self, obj: Any, value: Any) -> None:
        raise DeclarationError(
            f"`{self.name}` of {type(obj).__name__} is a variable and cannot be assigned",
            where=obj.location(),
            hint=f"give its start value as a keyword: {type(obj).__name__}({self.name}=...); state equations with Eq",
        )


class Variable(SymbolField):
    """A continuous unknown.

    Parameters
    ----------
    unit : str
        SI unit.
    start : float
        Value before the first instant (left limit).
    fixed : bool
        True: the start value must hold after the first instant as well.
    nominal : float, optional
        Typical magnitude; else scales follow from sources and starts.
    min, max : float
        Assertions checked at start and during the run. Where nonlinear equations give the variable, its start is sought
        within them first.
    shape : tuple of int
        Extents of an array variable.
    state_priority : int
        Where constraints leave a choice of the variables that are integrated, those with the higher number are
        taken. A hint: it yields where the others would follow from it badly.
    """

    flow = False

    def __init__(
        self,
        *,
        unit: str = "",
        start: float = 0.0,
        fixed: bool = False,
        nominal: float | None = None,
        min: float = -math.inf,
        max: float = math.inf,
        shape: tuple[int, ...] = (),
        state_priority: int = 0,
        doc: str = "",
    ) -> None:
        super().__init__(unit=unit, doc=doc)
        _check_bounds(min, max, shape)
        if nominal is not None and not (is_number(nominal) and is_finite(nominal) and nominal > 0):
            raise DeclarationError(
                f"`nominal` of a Variable is a positive magnitude, got {shown(nominal)}",
                hint="leave it out if no typical size is known",
            )
        if not is_number(start) or not is_finite(start):
            raise DeclarationError(f"`start` of a Variable must be a finite number, got {shown(start)}")
        self.start, self.fixed, self.nominal = start, fixed, nominal
        self.min, self.max, self.shape, self.state_priority = min, max, shape, state_priority


class Computed(Variable):
    """A parameter whose number is computed at the start: a variable that rests."""


class Flow(Variable):
    """A variable of a port that sums to zero over a connection set, positive into the component.

    The parameters are those of `Variable`.
    """

    flow = True


class Start:
    """A start value with its flag, ``Capacitor(C=1e-6, v=Start(10.0, fixed=True))``.

    Parameters
    ----------
    value : float
        In the unit of the variable.
    fixed : bool
        True: it must hold after the first instant. False: it is the value before.
    """

    __slots__ = ("fixed", "value")

    def __init__(self, value: float, *, fixed: bool = False) -> None:
        self.value, self.fixed = value, fixed

    def __repr__(self) -> str:
        return f"Start({self.value!r}, fixed={self.fixed})"
