"""Modes that a run visited."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..errors import counted
from ..reduction.affine import Mode
from .names import Names
from .segments import Segments


@dataclass(frozen=True)
class ModeVisit:
    """One discrete mode of a run.

    Attributes
    ----------
    branches : dict
        Mode variable of every element -> name of its branch.
    time : float
        Seconds spent in the mode.
    visits : int
        Times the mode was entered.
    states : int
        Number of independent states.
    index : int
        Differentiation index of its equations.
    path : str
        How the mode is integrated: "exact" in closed form, "general" numerically.
    reason : str
        The equation that keeps the mode off the closed form, "" where nothing does.
    """

    branches: dict[str, str]
    time: float
    visits: int
    states: int
    index: int
    path: str = "exact"
    reason: str = ""

    def __repr__(self) -> str:
        inside = ", ".join(f"{k}: {v}" for k, v in list(self.branches.items())[:6])
        more = f", ... {len(self.branches) - 6} more" if len(self.branches) > 6 else ""
        which = f" {{{inside}{more}}}," if inside else ""
        visits, states = counted(self.visits, "visit"), counted(self.states, "state")
        return f"<Mode{which} {self.time:.6g} s in {visits}, {states}, {self.path}>"


class VisitedModes(tuple[ModeVisit, ...]):
    """The distinct modes of a run in the order of their first visit."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "\n".join([counted(len(self), "mode"), *(f"  {m!r}" for m in self[:12])])


def visited_modes(names: Names, segments: Segments) -> VisitedModes:
    """Collect the modes of all segments; the state at the end alone is no visit."""
    time: dict[tuple[Mode, str], float] = {}
    visits: dict[tuple[Mode, str], int] = {}
    first: dict[tuple[Mode, str], Any] = {}
    previous: tuple[Mode, str] | None = None
    ends = zip(segments.group_of.tolist(), segments.start.tolist(), segments.end.tolist(), strict=True)
    for g, start, end in ends:
        data = segments.groups[g].data
        mode = data.mode, data.path
        if end <= start and len(segments) > 1:
            continue
        first.setdefault(mode, data)
        time[mode] = time.get(mode, 0.0) + end - start
        visits[mode] = visits.get(mode, 0) + (mode != previous)
        previous = mode
    return VisitedModes(
        ModeVisit(
            _branches(names, mode[0]),
            time[mode],
            visits[mode],
            data.freedom,
            int(data.index),
            data.path,
            data.reason,
        )
        for mode, data in first.items()
    )


def _branches(names: Names, mode: Mode) -> dict[str, str]:
    return {path: branches[b] for (path, branches), b in zip(names.elements, mode, strict=True)}
