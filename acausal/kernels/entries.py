"""The kernels that are called from outside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .crossing import Guards, Noise, SearchRoom, first_crossing
from .functions import Functions


class KernelEntry(NamedTuple):
    """A kernel, and the classes of the records that it takes."""

    function: Callable[..., int]
    records: tuple[Any, ...]

    @property
    def layouts(self) -> list[list[str]]:
        """Types of the arrays of every record: "f" or "i", with the number of axes."""
        return [record.layout.split() for record in self.records]


ENTRIES = {"first_crossing": KernelEntry(first_crossing, (Functions, Guards, Noise, SearchRoom))}
