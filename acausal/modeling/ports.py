"""Ports: where components meet."""

from __future__ import annotations

import inspect
from contextlib import suppress
from typing import Any, Self, overload

from ..errors import DeclarationError, UnknownNameError, nearest
from .expressions import Expr
from .fields import Field, Variable


class Port:
    """A bundle of potentials (``Variable``) and flows (``Flow``).

    Subclasses declare fields and, for energy audits, the power they carry
    into the component (``power``).
    """

    name: str = ""
    _fields: dict[str, Variable]

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        found: dict[str, Variable] = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, Field):
                    if not isinstance(value, Variable):
                        raise DeclarationError(
                            f"port {cls.__name__} may declare Variable and Flow only, not `{name}`"
                        )
                    found[name] = value
        cls._fields = found

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    @overload
    def __get__(self, obj: None, cls: type) -> Self: ...
    @overload
    def __get__(self, obj: object, cls: type) -> Self: ...
    def __get__(self, obj: Any, cls: type) -> Any:
        return self if obj is None else PortRef(obj, self, self.name)

    def __set__(self, obj: Any, value: Any) -> None:
        raise DeclarationError(f"port `{self.name}` cannot be assigned; connect it", where=obj.location())

    def power(self) -> Expr | None:
        """Return the power that flows into the component through this port, a sum of products of variables, or None."""
        return None

    @classmethod
    def fields(cls) -> dict[str, Variable]:
        """Return the declared variables by name, base classes first."""
        return cls._fields


class PortRef:
    """The port of one component object; its fields read as symbols."""

    __slots__ = ("name", "owner", "port")

    def __init__(self, owner: Any, port: Port, name: str) -> None:
        self.owner, self.port, self.name = owner, port, name

    def __getattr__(self, name: str) -> Any:
        field = type(self.port).fields().get(name)
        if field is None:
            if name.startswith("_"):
                raise AttributeError(name)
            known = type(self.port).fields()
            raise UnknownNameError(
                f"port `{self.name}` ({type(self.port).__name__}) has no `{name}`", hint=nearest(name, known)
            )
        return field.symbols(self.owner, f"{self.name}.")

    def power(self) -> Expr | None:
        """Return the power into the component through this port."""
        return type(self.port).power(self)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"{type(self.owner).__name__}.{self.name}"

    def __getstate__(self) -> Any:
        return (self.owner, self.port, self.name)

    def __setstate__(self, state: Any) -> None:
        self.owner, self.port, self.name = state


def without_value(cls: type, name: str) -> str:
    """Return a hint if a class only annotates a port or a field, as in ``a: Pin``, which makes none; "" else."""
    for base in cls.__mro__:
        written = vars(base).get("__annotations__", {}).get(name)
        if written is None:
            continue
        kind = written
        if isinstance(written, str):
            # What is not known here, such as a class within a function, may be anything.
            with suppress(Exception):
                kind = inspect.get_annotations(base, eval_str=True)[name]
        if isinstance(kind, type) and issubclass(kind, (Port, Field)):
            text = written if isinstance(written, str) else kind.__name__
            return f"`{name}: {text}` has no value: write `{name}: {text} = {text}()`"
        return ""
    return ""
