"""Files of named arrays and text: written whole or not at all, and every changed bit is found when they are read.

A file is a zip archive of NumPy arrays, as `numpy.load` reads, with a checksum of all its bytes behind it.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

MARK = b"acausal result "
"""First part of the comment of the archive; the format and the checksum follow."""
DIGITS = 64
"""Of a checksum (SHA-256)."""
FORMAT_DIGITS = 4
UNREADABLE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, OSError, OverflowError, RuntimeError, ValueError,
)  # fmt: skip
"""What reading an archive with changed bytes raises."""


class Damaged(Exception):
    """The bytes are not those that were written."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def pack(about: Any, arrays: dict[str, np.ndarray], format: int) -> bytes:
    """Return the bytes of a file."""
    stream = io.BytesIO()
    text = np.frombuffer(json.dumps(about, allow_nan=False).encode(), np.uint8)
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in {"about": text, **arrays}.items():
            member = zipfile.ZipInfo(f"{name}.npy")
            member.compress_type = zipfile.ZIP_DEFLATED
            with archive.open(member, "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, array, allow_pickle=False)
        archive.comment = MARK + b"%0*d " % (FORMAT_DIGITS, format) + b"0" * DIGITS
    data = stream.getvalue()[:-DIGITS]
    return data + _checksum(data)


def unpack(data: bytes, formats: Sequence[int]) -> tuple[Any, dict[str, np.ndarray], int]:
    """Return text and arrays of a file, and which of the ``formats`` it has.

    Raises
    ------
    Damaged
        With what is wrong.
    """
    tail = len(MARK) + FORMAT_DIGITS + 1 + DIGITS
    mark = data[-tail : -tail + len(MARK)] if len(data) >= tail else b""
    if mark == MARK and _checksum(data[:-DIGITS]) == data[-DIGITS:]:
        found = int(data[-tail + len(MARK) : -DIGITS])
        if found not in formats:
            known = " and ".join(map(str, formats))
            raise Damaged(f"its format is {found}, this version reads format {known}")
        members = _members(data)
        return json.loads(members.pop("about").tobytes()), members, found
    raise Damaged(_damage(data, mark == MARK))


def _checksum(data: bytes) -> bytes:
    return hashlib.sha256(data).hexdigest().encode()


def _members(data: bytes) -> dict[str, np.ndarray]:
    found = {}
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        for name in archive.namelist():
            with archive.open(name) as entry:
                found[name.removesuffix(".npy")] = np.lib.format.read_array(entry, allow_pickle=False)
    return found


def _damage(data: bytes, marked: bool) -> str:
    """What is wrong with a file whose checksum is not that of its bytes."""
    if not data:
        return "it is empty"
    if not data.startswith(b"PK\x03\x04"):
        return "it does not begin as one"
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except UNREADABLE:
        return "it is cut off, or its table of contents is damaged"
    if not marked and not archive.comment.startswith(MARK[:4]):
        return "it has no checksum: it was written or edited by something else"
    for member in archive.infolist():
        try:
            archive.read(member)
        except UNREADABLE:
            return f"its part `{member.filename}` is damaged"
    return "its checksum is not that of its content: it is damaged or was edited"


def write_whole(file: Any, data: bytes) -> None:
    """Write a file beside its place and rename it, so that an older one lives until the new one is complete.

    Raises
    ------
    OSError
        With the path as it was given.
    """
    if hasattr(file, "write"):
        file.write(data)
        return
    path = Path(os.path.realpath(os.fspath(file)))
    try:
        if path.is_dir():
            raise IsADirectoryError(errno.EISDIR, f"{os.strerror(errno.EISDIR)}, name a file in it")
        _replace(path, data)
    except OSError as error:
        # What is beside the place is no business of those who named it.
        raise type(error)(error.errno, error.strerror, os.fspath(file)) from None


def _replace(path: Path, data: bytes) -> None:
    mode = path.stat().st_mode & 0o7777 if path.exists() else None
    handle, beside = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".part", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.chmod(beside, _usual() if mode is None else mode)
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _usual() -> int:
    """Permissions of a new file."""
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
