"""What the error of a broken model must say: kind, culprits, innocents and remedy.

A line that ends in ``# <-`` holds a culprit: the error names it by file and line. What is listed as innocent must not
be named at all.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass

from acausal import AcausalError, Component

from .refusals import MARK


@dataclass(frozen=True)
class Broken:
    """A broken model.

    ``named`` and ``innocent`` are texts that the error has and has not; ``repair`` stands in its hint, ``reason`` in its
    explanation. ``until`` is the time up to which there is a result.
    """

    build: Callable[[], Component]
    kind: type[AcausalError]
    named: tuple[str, ...] = ()
    innocent: tuple[str, ...] = ()
    repair: str = ""
    reason: str = ""
    until: float | None = None
    t_end: float = 1.0

    @property
    def places(self) -> tuple[str, ...]:
        """``file:line`` of every marked line."""
        lines, first = inspect.getsourcelines(self.build)
        file = inspect.getsourcefile(self.build) or ""
        return tuple(
            f"{file.rpartition('/')[2]}:{first + k}"
            for k, line in enumerate(lines)
            if line.rstrip().endswith(MARK)
        )
