"""Kernels with their records: compiled ones where the package has some, else the source as it is."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import warn
from .entries import ENTRIES
from .identity import DIGEST, checksum, compiled

TYPES = {"f": np.dtype(np.float64), "i": np.dtype(np.int64)}


class Packed:
    """A record of arrays, with their addresses and lengths as a compiled kernel reads them.

    Raises
    ------
    TypeError
        If an array is not what the record says.
    """

    __slots__ = ("record", "table")

    def __init__(self, record: Any) -> None:
        for name, kind, array in zip(record._fields, record.layout.split(), record, strict=True):
            if array.dtype != TYPES[kind[0]] or array.ndim != int(kind[1]) or not array.flags.c_contiguous:
                raise TypeError(
                    f"{type(record).__name__}.{name} is no {kind}: {array.dtype} with {array.ndim} axes"
                )
        self.record = record
        self.table = np.array([n for a in record for n in (a.ctypes.data, *a.shape)], np.int64)


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

    def __init__(self, name: str, *packed: Packed) -> None:
        self.records, self.table = [each.record for each in packed], np.concatenate([p.table for p in packed])
        function, kernel = compiled_function(name), ENTRIES[name].function
        if function is None:
            self.run: Callable[[], int] = lambda: int(kernel(*self.records))
        else:
            self.run = partial(function, self.table.ctypes.data)


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
