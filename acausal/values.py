"""Records that do not change: compared by identity, and frozen once they are made."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, dataclass, field, fields
from typing import Any, TypeVar, dataclass_transform

T = TypeVar("T")


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a record of its annotated fields, each of which is set once.

    The same as ``dataclass(frozen=True, eq=False)``, with shared functions in place of those that it compiles for each class:
    these took a fifth of the time in which the package is imported, and made instances slower.
    """
    made: Any = dataclass(eq=False, repr=False)(cls)
    made.__setattr__, made.__delattr__ = _set_once, _keep
    if "__repr__" not in cls.__dict__:
        made.__repr__ = _shown
    return made


def _set_once(self: Any, name: str, given: Any) -> None:
    if name in self.__dict__:
        raise FrozenInstanceError(f"cannot assign to field {name!r}")
    self.__dict__[name] = given


def _keep(self: Any, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _shown(self: Any) -> str:
    shown = ", ".join(f"{each.name}={getattr(self, each.name)!r}" for each in fields(self) if each.repr)
    return f"{type(self).__qualname__}({shown})"
