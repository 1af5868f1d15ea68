"""Analysed modes of a program, found by the contents of the rows they follow from.

An analysis depends on the equations in force and on the generator of the sources: on no scale, start or length of a run, and
on no number that enters none of these. So runs share it, whatever else differs between them, and where numbers change in a
run, only modes that contain them are analysed anew. Guards are put over the states of the analysis that exists. What the
branches in force block matters only where it settles what nothing determines.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from ..dynamics.assembly import affine_flow
from ..dynamics.closed_form import AffineFlow
from ..dynamics.exponential import PERIODS
from ..reduction.affine import AffineModel, Inadmissible, Mode, ModeData, digest
from ..reduction.columns import Begun
from ..reduction.index_reduction import reduce_mode, with_guards

MODE_BYTES = 100_000_000
"""Bytes of tables that are kept; beyond, those that were not used for longest are given back."""

Analysis = ModeData | Inadmissible
Key = TypeVar("Key")
Value = TypeVar("Value")


def size_of(found: Analysis) -> int:
    """Bytes of the arrays of an analysed mode."""
    if isinstance(found, Inadmissible):
        return 1000
    return _bytes(found) + found.T.nbytes


def _bytes(found: Any) -> int:
    # A copy at once: another thread may give it a cached property meanwhile.
    return sum(part.nbytes for part in vars(found).copy().values() if isinstance(part, np.ndarray))


class Recent(Generic[Key, Value]):
    """A dictionary within a limit of bytes; the entries that were not asked for longest go first. Threads may share it."""

    def __init__(self, limit: int, drop: Callable[[Value], None] | None = None) -> None:
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self._limit, self._drop, self.bytes = limit, drop, 0
        self._lock = threading.RLock()

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Value | None:
        """What is kept, None if nothing is."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                return None
            self._kept.move_to_end(key)
            return found[0]

    def put(self, key: Key, value: Value, size: int) -> None:
        """Keep a value; the last one is kept whatever its size."""
        with self._lock:
            self._forget(key)
            self._kept[key] = value, size
            self.bytes += size
            while self.bytes > self._limit and len(self._kept) > 1:
                self._forget(next(iter(self._kept)))

    def _forget(self, key: Key) -> None:
        value, size = self._kept.pop(key, (None, 0))
        self.bytes -= size
        if value is not None and self._drop is not None:
            self._drop(value)


class Contents:
    """Digests of the numbers of a model: what two models share has the same ones."""

    def __init__(self, model: AffineModel) -> None:
        self._model, self._branches = model, dict[tuple[int, int], tuple[bytes, bytes]]()

    @cached_property
    def _common(self) -> bytes:
        model = self._model
        return digest(model.S, model.differentiated, *model.base.parts)

    def _branch(self, element: int, branch: int) -> tuple[bytes, bytes]:
        found = self._branches.get((element, branch))
        if found is None:
            e = self._model.elements[element]
            held, blocked = e.branches[branch], e.blocked[branch]
            found = digest(*held.equations.parts), digest(*held.guards.parts, *blocked.parts)
            self._branches[element, branch] = found
        return found

    def of(self, mode: Mode) -> tuple[bytes, bytes]:
        """Digests of the equations of a mode, and of its guards and what it blocks."""
        parts = [self._branch(*at) for at in enumerate(mode)]
        rows = [self._common, *(rows for rows, _ in parts), repr(mode).encode()]
        return b"".join(rows), b"".join(others for _, others in parts)


@dataclass(eq=False)
class _Entry:
    """One analysis, with the last guards."""

    first: Analysis
    last: tuple[bytes, ModeData] | None = None


class AnalysedModes:
    """The analysed modes of one program, and closed forms of motions. Several threads may ask at once.

    Each analysis holds some bytes ``beside`` its own: those of a model that no other one shares.
    """

    def __init__(self, limit: int = MODE_BYTES, beside: int = 0) -> None:
        self._beside = beside
        self._entries: Recent[bytes, _Entry] = Recent(limit // 2)
        self._flows: Recent[tuple[bytes, int, float, float], AffineFlow] = Recent(limit // 2)
        self._lock = threading.RLock()

    @property
    def bytes(self) -> int:
        """Size of what is kept."""
        return self._entries.bytes + self._flows.bytes

    def mode(
        self, model: AffineModel, contents: Contents, mode: Mode, begun: Callable[[Mode], Begun] | None = None
    ) -> tuple[Analysis, bool]:
        """The analysis of a mode of a model with these contents, which may have ``begun``, and whether it had to be made."""
        rows, others = contents.of(mode)
        with self._lock:
            entry = self._entries.get(rows)
            settled = entry is not None and isinstance(entry.first, ModeData) and len(entry.first.settled)
            if entry is not None and settled and entry.last is not None and entry.last[0] != others:
                entry = None
            new = entry is None
            if entry is None:
                found = analyse(model, mode, None if begun is None else begun(mode))
                entry = _Entry(found, (others, found) if isinstance(found, ModeData) else None)
                self._entries.put(rows, entry, size_of(found) + self._beside)
            if isinstance(entry.first, Inadmissible):
                return entry.first, new
            if entry.last is None or entry.last[0] != others:
                entry.last = others, with_guards(model, entry.first)
            return entry.last[1], new

    def flow(self, Ay: np.ndarray, nx: int, unit: float, span: float) -> AffineFlow:
        """The closed form of ``y' = Ay y`` with ``nx`` physical states: one for all modes that move alike."""
        key = digest(Ay), nx, unit, min(span, PERIODS * unit)
        with self._lock:
            found = self._flows.get(key)
            if found is None:
                found = affine_flow(Ay, nx, unit, span)
                self._flows.put(key, found, _bytes(found) + sum(series.nbytes for series in found.series))
            return found


def analyse(model: AffineModel, mode: Mode, begun: Begun | None = None) -> Analysis:
    """The analysis of a mode, which may have begun, or why it cannot exist."""
    try:
        return reduce_mode(model, mode, begun)
    except Inadmissible as error:
        return error.with_traceback(None)
