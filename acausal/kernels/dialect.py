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
