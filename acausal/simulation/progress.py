"""Progress of a run: a bar on terminals and in notebooks, or a callable."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TextIO

from ..errors import ParameterError

PATIENCE = 1.0
"""Seconds of work before a bar appears by itself."""
INTERVAL = 0.1
"""Seconds between two updates of the bar."""
WIDTH = 30


class Bar:
    """Writes the part of a run that is done, at most every 0.1 s and from ``patience`` seconds on."""

    def __init__(self, t_start: float, t_end: float, patience: float, stream: TextIO) -> None:
        self.t_start, self.span, self.stream = t_start, t_end - t_start, stream
        self._begin = time.monotonic()
        self._due = self._begin + patience
        self._shown = False

    def __call__(self, t: float) -> None:
        """Report that the run has reached time ``t``."""
        now = time.monotonic()
        if now >= self._due:
            self._due, self._shown = now + INTERVAL, True
            self._write(min(1.0, (t - self.t_start) / self.span), now - self._begin)

    def _write(self, part: float, seconds: float) -> None:
        bar = "#" * int(WIDTH * part)
        self.stream.write(f"\r[{bar:<{WIDTH}}] {100 * part:5.1f} %  {seconds:.1f} s")
        self.stream.flush()

    def close(self) -> None:
        """End the line if one was begun."""
        if self._shown:
            self.stream.write("\n")
            self.stream.flush()


def interactive(stream: Any) -> bool:
    """Return True for a terminal, and inside a notebook."""
    return "ipykernel" in sys.modules or bool(getattr(stream, "isatty", lambda: False)())


@contextmanager
def reporting(progress: Any, t_start: float, t_end: float) -> Iterator[Callable[[float], Any] | None]:
    """Give the function that a run calls with the time it reached, or None.

    Parameters
    ----------
    progress : bool, callable or None
        None: a bar when the run takes longer than a second, on terminals and
        in notebooks only. True: a bar from the start, anywhere. A callable gets the
        time reached after every event and step of integration.

    Raises
    ------
    ParameterError
        For anything else.
    """
    if callable(progress):
        yield progress
        return
    if not (progress is None or isinstance(progress, bool)):
        raise ParameterError(f"progress is True, False, None or a callable, got {progress!r}")
    stream = sys.stderr
    if progress is False or (progress is None and not interactive(stream)):
        yield None
        return
    bar = Bar(t_start, t_end, 0.0 if progress else PATIENCE, stream)
    try:
        yield bar
    finally:
        bar.close()
