"""Results as columns: arrays, comma-separated values, data frames, a summary for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from importlib import import_module
from typing import Any, Protocol

import numpy as np

from .grid import grid_times
from .signal import Signal

SHOWN = 12
"""Signals in the summary."""


class Readable(Protocol):
    """What a table needs of a result."""

    t_start: float
    t_end: float
    saved: tuple[str, ...] | None

    @property
    def t(self) -> np.ndarray:
        """Points in seconds."""
        ...

    @property
    def paths(self) -> list[str]:
        """Paths that tables hold by default."""
        ...

    @property
    def states(self) -> list[str]:
        """Paths of the differentiated variables."""
        ...

    def __getitem__(self, path: Any) -> Any:
        """A signal by its path or handle."""
        ...


def _chosen(result: Readable, paths: Sequence[Any] | None) -> list[Signal]:
    if isinstance(paths, str):
        paths = [paths]
    return [result[p] for p in (result.paths if paths is None else paths)]


def columns(result: Readable, paths: Sequence[Any] | None, grid: Any) -> dict[str, np.ndarray]:
    """Return "time" and one column per signal; `Result.table`."""
    signals = _chosen(result, paths)
    if grid is None:
        return {"time": result.t, **{s.path: s.values for s in signals}}
    t = grid_times(grid, result.t_start, result.t_end)
    return {"time": t, **{s.path: np.asarray(s.at(t)) for s in signals}}


def write_csv(result: Readable, file: Any, paths: Sequence[Any] | None, grid: Any) -> None:
    """Write columns with a header such as ``load.v [V]``; numbers in full precision, Booleans as 0 and 1."""
    import csv

    signals = _chosen(result, paths)
    table = columns(result, [s.path for s in signals], grid)
    header = ["time [s]", *(f"{s.path} [{s.unit}]" if s.unit else s.path for s in signals)]
    body = [c.astype(int).tolist() if c.dtype == bool else c.tolist() for c in table.values()]
    with (
        nullcontext(file)
        if hasattr(file, "write")
        else open(file, "w", newline="", encoding="utf-8") as stream
    ):
        writer = csv.writer(stream)
        writer.writerow(header)
        writer.writerows(zip(*body, strict=True))


def data_frame(result: Readable, paths: Sequence[Any] | None, grid: Any) -> Any:
    """Return a pandas DataFrame indexed by time."""
    try:
        pandas = import_module("pandas")
    except ImportError as error:
        raise ImportError("to_pandas() needs pandas: install it, or use table() or to_csv()") from error
    table = columns(result, paths, grid)
    time = table.pop("time")
    return pandas.DataFrame(table, index=pandas.Index(time, name="time"))


def html(result: Readable) -> str:
    """Return a summary of a result for notebooks."""
    from html import escape

    rows = []
    for path in (result.saved or result.states or result.paths)[:SHOWN]:
        s = result[path]
        values = np.asarray(s.values, float)
        if len(values):
            cells = (s.path, s.unit, f"{values.min():.6g}", f"{values.max():.6g}", f"{values[-1]:.6g}")
            rows.append("<tr>" + "".join(f"<td>{escape(c)}</td>" for c in cells) + "</tr>")
    head = "".join(f"<th>{c}</th>" for c in ("signal", "unit", "min", "max", "final"))
    return f"<div><p>{escape(repr(result))}</p><table><tr>{head}</tr>{''.join(rows)}</table></div>"
