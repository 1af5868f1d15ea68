"""What marks a function as a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])

compiler: list[Callable[[Any], Any]] = []
"""What compiles kernels that are imported from now on; empty but while the package is built."""


def kernel(function: F) -> F:
    """A function in the dialect of this package: itself, where nothing compiles it."""
    return compiler[0](function) if compiler else function


def chosen(records: Any, k: int) -> Any:
    """One of several records of a kind, which a kernel has by its number."""
    return records[k]


NESTED = "r"
"""Kind of a part of a record that is a record; others are arrays: "f" or "i", and the number of axes."""


def width(record: Any) -> int:
    """Numbers of a table that a class of records takes: for each array its address and the lengths of its axes."""
    return sum(width_of_part(record, k) for k in range(len(record._fields)))


def width_of_part(record: Any, k: int) -> int:
    """The same of one of its parts."""
    kind = record.layout.split()[k]
    return width(record.of[k]) if kind == NESTED else 1 + int(kind[1])
