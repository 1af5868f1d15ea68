"""Result of a run: every variable at any time, computed from the stored segments on demand."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import UnknownPathError, nearest
from ..flow.quadrature import integrate
from .record import Segment
from .signal import Signal

if TYPE_CHECKING:
    from ..simulation.program import Program
    from ..simulation.run import Run

Evaluate = Callable[[Segment, np.ndarray], np.ndarray]


class Result:
    """What a run computed."""

    def __init__(self, program: Program, run: Run) -> None:
        self._program, self._run = program, run
        self._segments = run.record.segments
        self._starts = run.record.starts()
        self.t_start = self._segments[0].start if self._segments else run.t
        self.t_end = run.t
        self.steps = run.record.steps
        self._t: np.ndarray | None = None

    def __getitem__(self, path: Any) -> Signal:
        flat = self._program.flat
        if not isinstance(path, str):
            path = self._program.path_of(path)
        if path.startswith("der(") and path.endswith(")"):
            k, f = flat.find("v", path[4:-1])
            return Signal(self, path, f.unit + "/s", f.doc, lambda s, h: s.readout.slopes(k, s.data, s.trajectory, s.moment, h))
        try:
            k, f = flat.find("v", path)
        except UnknownPathError as unknown:
            try:
                d, f = flat.find("d", path)
            except UnknownPathError:
                raise unknown from None
            return Signal(self, path, f.unit, f.doc, lambda s, h: np.full(len(h), s.moment.D[d]))
        return Signal(self, path, f.unit, f.doc, lambda s, h: s.readout.values(k, s.data, s.trajectory, s.moment, h))

    @property
    def t(self) -> np.ndarray:
        if self._t is None:
            self._t = np.concatenate([s.start + self._grid(s) for s in self._segments] or [np.zeros(0)])
        return self._t

    def _grid(self, s: Segment) -> np.ndarray:
        return np.linspace(0.0, s.end - s.start, 9)

    def sample(self, evaluate: Evaluate) -> np.ndarray:
        return np.concatenate([evaluate(s, self._grid(s)) for s in self._segments] or [np.zeros(0)])

    def at(self, evaluate: Evaluate, t: Any, side: str) -> Any:
        times = np.atleast_1d(np.asarray(t, float))
        k = np.searchsorted(self._starts, times, side="right" if side == "right" else "left") - 1
        k = np.clip(k, 0, len(self._segments) - 1)
        values = np.empty(len(times))
        for n in np.unique(k):
            s = self._segments[int(n)]
            some = k == n
            values[some] = evaluate(s, np.clip(times[some] - s.start, 0.0, None))
        return values if np.ndim(t) else float(values[0])

    def integral(self, evaluate: Evaluate, t0: float, t1: float, power: int) -> float:
        total = 0.0
        for s in self._segments:
            a, b = max(t0, s.start), min(t1, s.end)
            if b > a:
                total += integrate(s.trajectory, lambda ys, hs, s=s: evaluate(s, hs)[:, None] ** power, a - s.start, b - s.start)[0]
        return float(total)


__all__ = ["Result", "nearest"]
