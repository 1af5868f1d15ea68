"""Values at the start of a run, and what each of them follows from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import UnknownPathError, nearest
from .record import Recorded


@dataclass(frozen=True)
class InitialValue:
    """One value at the start.

    Attributes
    ----------
    path : str
        Variable, statement with branches, or parameter.
    value : float or str
        After the first instant, in the unit of the variable; the name of a branch.
    unit : str
    reason : str
        "fixed=True", "initial=", "given start", "default start", "steady state", "initially" with component, file and line,
        "initial mode", "continued", "follows from the equations", or "nearest to its default start, which others contradict"
        (or "given start") where starts are no more than nearly met.
    before : float or None
        Value before the first instant, where the variable jumps in it.
    """

    path: str
    value: float | str
    unit: str
    reason: str
    before: float | None = None

    def __str__(self) -> str:
        value = self.value if isinstance(self.value, str) else f"{self.value:.9g}"
        moved = "" if self.before is None else f", jumps from {self.before:.6g}"
        return f"{self.path} = {value}{f' {self.unit}' * (self.unit not in ('', '1'))}: {self.reason}{moved}"


class InitialValues(dict[str, float]):
    """Values of the differentiated variables after the first instant, by path, with what they follow from.

    It is a dictionary, good for ``initial=`` of another run. Printed, it is a table with one line per value.

    Attributes
    ----------
    entries : tuple of InitialValue
        One per differentiated variable, then what else was prescribed: other variables, branches, parameters.
    """

    def __init__(self, values: dict[str, float], entries: Iterable[InitialValue] = ()) -> None:
        super().__init__(values)
        self.entries = tuple(entries)

    def reason(self, path: str) -> str:
        """Return what a value follows from.

        Raises
        ------
        UnknownPathError
            If nothing is told of ``path``.
        """
        reasons = {e.path: e.reason for e in self.entries}
        if path not in reasons:
            raise UnknownPathError(
                f"no start is told of `{path}`: it is neither differentiated nor prescribed",
                hint=nearest(path, reasons),
            )
        return reasons[path]

    def __str__(self) -> str:
        rows = [str(e).partition(": ") for e in self.entries]
        width = max((len(left) for left, _, _ in rows), default=0)
        return "\n".join(f"{left:<{width}}  {right}" for left, _, right in rows)


def initial_values(record: Recorded, states: Sequence[str], read: Callable[[str], Any]) -> InitialValues:
    """Collect the values of the differentiated variables after the first instant; ``read`` gives the signal of a path."""
    if not len(record.segments):
        return InitialValues({})
    t = record.segments[0].start
    before = {path: value for step in reversed(record.steps) if step.t == t for path, value, _ in step.jumps}
    reasons = {p: ("", "continued") for p in states} | record.reasons()
    entries = []
    for path, (branch, reason) in reasons.items():
        value, unit = (branch, "") if branch else (float(read(path).at(t)), read(path).unit)
        entries.append(InitialValue(path, value, unit, reason, before.get(path)))
    return InitialValues({p: float(read(p).at(t)) for p in states}, entries)
