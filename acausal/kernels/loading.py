"""Kernels with their records: compiled ones where the package has some, else the source as it is."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np

from ..errors import warn
from .dialect import NESTED, width, width_of_part
from .entries import ENTRIES
from .identity import DIGEST, checksum, compiled
from .motion import MatrixProduct

Room = TypeVar("Room")
TYPES = {"f": np.dtype(np.float64), "i": np.dtype(np.int64)}


@cache
def _parts_of(record: Any) -> tuple[tuple[str, np.dtype[Any] | None, int], ...]:
    """Names of the parts of a class of records, with type and number of axes; no type for a record."""
    return tuple(
        (name, None, 0) if kind == NESTED else (name, TYPES[kind[0]], int(kind[1]))
        for name, kind in zip(record._fields, record.layout.split(), strict=True)
    )


def address(array: np.ndarray) -> int:
    """Where the numbers of an array begin; `numpy.ndarray.ctypes` takes four times as long."""
    if array.size and array.flags.writeable:
        return ctypes.addressof(ctypes.c_char.from_buffer(array))  # type: ignore[arg-type]
    return array.ctypes.data


def table_of(record: Any) -> list[int]:
    """Addresses and lengths of the arrays of a record, and of those in it.

    Raises
    ------
    TypeError
        If an array is not what the record says.
    """
    found = list[int]()
    for (name, kind, axes), part in zip(_parts_of(type(record)), record, strict=True):
        if kind is None:
            found += table_of(part)
            continue
        if part.dtype != kind or part.ndim != axes or not part.flags.c_contiguous:
            raise TypeError(
                f"{type(record).__name__}.{name} is no {kind} with {axes} axes: {part.dtype} with {part.ndim} axes"
            )
        found.append(address(part))
        found += part.shape
    return found


class Packed:
    """A record with the table that a compiled kernel reads."""

    __slots__ = ("record", "table")

    def __init__(self, record: Any) -> None:
        self.record, self.table = record, np.array(table_of(record), np.int64)


class PackedMany:
    """Records of one class by number, of which a kernel takes one at a time; more can be added.

    Attributes
    ----------
    record : list
        The records.
    table : array
        Address and lengths of the rows that a compiled kernel reads, one for each record.
    """

    __slots__ = ("_rows", "record", "table")

    def __init__(self, record: Any) -> None:
        self.record: list[Any] = []
        self._rows = np.zeros((16, width(record)), np.int64)
        self._place()

    def _place(self) -> None:
        self.table = np.array([address(self._rows), *self._rows.shape], np.int64)

    def add(self, packed: Packed) -> None:
        """Add a record."""
        if len(self.record) == len(self._rows):
            self._rows = np.concatenate([self._rows, np.zeros_like(self._rows)])
            self._place()
        self._rows[len(self.record)] = packed.table
        self.record.append(packed.record)

    def put(self, k: int, packed: Packed) -> None:
        """Take another record for one of them."""
        self._rows[k], self.record[k] = packed.table, packed.record

    def replace(self, k: int, name: str, part: Any) -> None:
        """Take another record for a part of one of them."""
        record = self.record[k]
        begin = sum(width_of_part(record, before) for before in range(record._fields.index(name)))
        found = table_of(part)
        self._rows[k, begin : begin + len(found)], self.record[k] = found, record._replace(**{name: part})


class Bound:
    """A kernel with records that it reads and writes; one thread at a time runs it.

    Attributes
    ----------
    records : list
        The records, which may be replaced together with their part of the ``table``.
    table : array
        Addresses and lengths of their arrays, one record after the other.
    run : callable
        Calls the kernel; returns what it returns.
    """

    __slots__ = ("records", "run", "table")

    def __init__(self, name: str, *packed: Packed | PackedMany) -> None:
        self.records, self.table = [each.record for each in packed], np.concatenate([p.table for p in packed])
        function, kernel = compiled_function(name), ENTRIES[name].function
        if function is None:
            self.run: Callable[[], int] = lambda: int(kernel(*self.records))
        else:
            self.run = partial(function, address(self.table))


class Pool(Generic[Room]):
    """Kernels with records of their own, each used by one thread at a time.

    Parameters
    ----------
    make : callable
        Makes one where none is idle.
    """

    __slots__ = ("_idle", "give", "make")

    def __init__(self, make: Callable[[], Room]) -> None:
        self.make, self._idle = make, list[Room]()
        self.give = self._idle.append

    def take(self) -> Room:
        """One to use, to be given back."""
        try:
            return self._idle.pop()
        except IndexError:
            return self.make()


class Matrix:
    """A matrix whose products with vectors have the bits that kernels give them: terms are added in order.

    Parameters
    ----------
    A : (m, n) array
    """

    __slots__ = ("A", "_pool")

    def __init__(self, A: np.ndarray) -> None:
        self.A, self._pool = np.ascontiguousarray(A), Pool(self._room)

    def _room(self) -> Bound:
        return Bound("multiply", Packed(MatrixProduct(self.A, *map(np.zeros, self.A.shape[::-1]))))

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """The product (m,) with a vector (n,)."""
        if compiled_function("multiply") is None:
            terms = self.A * x
            return np.add.accumulate(terms, axis=1)[:, -1] if terms.size else terms.sum(axis=1)
        room = self._pool.take()
        product: MatrixProduct = room.records[0]  # type: ignore[assignment]
        product.x[:] = x
        room.run()
        found = product.y.copy()
        self._pool.give(room)
        return found


_loaded: dict[str, Any] = {}


def compiled_function(name: str) -> Any:
    """A compiled kernel by its name, None where it runs interpreted."""
    if not _loaded:
        _loaded.update(load(compiled()))
    return _loaded[name]


def load(path: Path) -> dict[str, Any]:
    """All kernels by name, from a file without its kind; None for all where nothing can be loaded, which is told."""
    for kind, read in ((".so", _library), (".o", _object)):
        file = path.with_suffix(kind)
        if not file.exists():
            continue
        digest = path.with_suffix(DIGEST)
        if not digest.exists() or digest.read_text(encoding="ascii") != checksum(file):
            reason = f"{file.name} is not what was compiled"
            break
        try:
            addresses = read(file)
        except (OSError, ImportError, AttributeError) as error:
            reason = f"{file.name} cannot be loaded: {error}"
            break
        signature = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p)
        return {name: signature(address) for name, address in addresses.items()}
    else:
        reason = "they were not compiled when the package was installed"
    warn(
        f"kernels run interpreted, and runs take longer: {reason}; install the package anew, or take a wheel of it"
    )
    return dict.fromkeys(ENTRIES)


def _library(file: Path) -> dict[str, int]:
    """Addresses of the kernels in a shared library, which stays loaded."""
    found = ctypes.CDLL(str(file))
    return {name: ctypes.cast(found[f"acausal_{name}"], ctypes.c_void_p).value or 0 for name in ENTRIES}


_engines: list[Any] = []
"""Owners of loaded objects."""


def _object(file: Path) -> dict[str, int]:
    """Addresses of the kernels in an object, which llvmlite loads."""
    import llvmlite.binding as llvm  # type: ignore[import-not-found]

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    machine = llvm.Target.from_default_triple().create_target_machine(jit=True)
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    engine.add_object_file(llvm.ObjectFileRef.from_path(str(file)))
    engine.finalize_object()
    _engines.append(engine)
    return {name: engine.get_function_address(f"acausal_{name}") for name in ENTRIES}
