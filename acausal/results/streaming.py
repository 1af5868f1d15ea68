"""Columns of a record on disk: a long run needs no more memory than its last events.

What the operating system maps into memory it may take out again, so that reading a long record needs little memory too.
"""

from __future__ import annotations

import mmap
import os
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from ..errors import ParameterError, SimulationError

CHUNK = 2**24
"""Bytes of columns that stay in memory."""
CANNOT = "the record cannot be streamed"
ALIGNED = 64
"""Bytes to a multiple of which each column begins."""


def _closed(file: Any) -> None:
    with suppress(OSError):
        file.close()


class MovableColumns(Protocol):
    """Items as columns."""

    def move(self, make: Callable[[np.ndarray], np.ndarray]) -> None:
        """Take what ``make`` makes of each column in the place of it."""
        ...


class Stream:
    """A file to which columns are moved, in chunks of some megabytes; what is read of it later is read from there.

    Parameters
    ----------
    place : path or True
        A file that does not exist yet; True for one of its own, which vanishes with the last result that reads it.

    Raises
    ------
    ParameterError
        The file exists already, or cannot be made.
    """

    def __init__(self, place: Any) -> None:
        try:
            self._path = None if place is True else Path(place)
        except TypeError as error:
            why = f"{place!r} is no path"
            raise ParameterError(CANNOT, why=why, hint="give the path of a file, or True") from error
        self.place = "a file of its own" if self._path is None else str(self._path)
        self._file: Any = None
        self._waiting: list[MovableColumns] = []
        self._bytes = self._written = 0
        if self._path is not None:
            self._check(self._path)

    def _check(self, path: Path) -> None:
        """Raise where the file cannot be made, before there is anything to write: a run that fails early leaves none."""
        if path.exists():
            why = f"{path}: the file exists"
        elif not path.parent.is_dir():
            why = f"{path}: there is no such directory"
        elif not os.access(path.parent, os.W_OK):
            why = f"{path}: no files may be made there"
        else:
            return
        hint = "name a file that does not exist: an older result may still read another one"
        raise ParameterError(CANNOT, why=why, hint=hint)

    def _open(self) -> Any:
        import tempfile

        found = tempfile.TemporaryFile() if self._path is None else self._path.open("x+b")
        # What is mapped stays readable. Bytes that found no place are in memory still.
        weakref.finalize(self, _closed, found)
        return found

    def take(self, *columns: MovableColumns) -> None:
        """Move columns to the file, once there are enough.

        Raises
        ------
        SimulationError
            They cannot be written, and stay in memory.
        """
        for each in columns:
            each.move(self._counted)
        self._waiting += columns
        if self._bytes >= CHUNK:
            self._write()

    def _counted(self, column: np.ndarray) -> np.ndarray:
        self._bytes += column.nbytes
        return column

    def _write(self) -> None:
        places: dict[int, tuple[np.ndarray, int]] = {}
        size = 0

        def placed(column: np.ndarray) -> np.ndarray:
            nonlocal size
            if id(column) not in places:
                places[id(column)] = column, size
                size += -(-column.nbytes // ALIGNED) * ALIGNED
            return column

        for each in self._waiting:
            each.move(placed)
        mapped = self._mapped(list(places.values()), size)

        def moved(column: np.ndarray) -> np.ndarray:
            return np.ndarray(column.shape, column.dtype, mapped, places[id(column)][1])

        for each in self._waiting:
            each.move(moved)
        self._waiting, self._bytes = [], 0

    def _mapped(self, columns: list[tuple[np.ndarray, int]], size: int) -> mmap.mmap:
        """Memory that shows columns, each at its place, as the file holds them."""
        begin = self._written
        try:
            self._file = self._file or self._open()
            for column, place in columns:
                self._file.seek(begin + place)
                self._file.write(np.ascontiguousarray(column).data)
            # To a whole page, where the next chunk may begin.
            end = -(-(begin + size) // mmap.ALLOCATIONGRANULARITY) * mmap.ALLOCATIONGRANULARITY
            self._file.truncate(end)
            self._file.flush()
            mapped = mmap.mmap(self._file.fileno(), end - begin, access=mmap.ACCESS_READ, offset=begin)
        except OSError as error:
            raise SimulationError(
                "the record cannot be written any further",
                why=f"{self.place}: {error.strerror}, after {begin} bytes",
                hint="the result until there is whole; stream to a larger disk, or shorten the run",
            ) from error
        self._written = end
        return mapped
