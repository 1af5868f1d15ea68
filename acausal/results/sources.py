"""Where the signals of a result take their values from: segments, evaluated on demand."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics.quadrature import unresolved
from ..errors import warn
from .affine import ONE, Affine, affine_integral
from .names import Located
from .panels import Panels, equal_parts, fit
from .record import Segment
from .segments import Segments

BEFORE = -1
"""Segment number of the left limit at the start."""


class ResultSource:
    """Values of one variable of a computed result."""

    def __init__(self, result: Any, found: Located) -> None:
        self.result, self.found = result, found
        self.t_start, self.t_end = result.t_start, result.t_end

    @property
    def t(self) -> np.ndarray:
        """Points in seconds; equal times are left and right limit of an event."""
        return self.result.t

    def evaluate(self, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of segments of the run."""
        return self.within(self.result.segments, which, hs)

    def within(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of some segments."""
        raise NotImplementedError

    def before(self) -> float:
        """Left limit at the start."""
        return float(self.within(self._first, np.zeros(1, np.int64), np.zeros(1))[0])

    @property
    def _first(self) -> Segments:
        return Segments([self.result.record.segments[0]])

    def inside(self, segment: Segment, hs: np.ndarray) -> np.ndarray:
        """Values at times since the start of one segment."""
        raise NotImplementedError

    def sample(self) -> np.ndarray:
        """Values at the points of the result."""
        _, which, hs = self.result.points
        return self._values(self.result.segments, which, hs) if len(which) else np.zeros(0)

    def at(self, t: np.ndarray, side: str) -> np.ndarray:
        """Limits from one side at times within the run."""
        return self._values(*self.result.located(t, side))

    def _values(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        if (which == BEFORE).any():
            out = self.within(segments, np.maximum(which, 0), hs).astype(float)
            out[which == BEFORE] = self.before()
            return out
        return self.within(segments, which, hs)

    def power_integral(self, a: float, b: float, power: int) -> float:
        """Integral over [a, b] of the value to a power."""

        def raised(s: Segment, ys: np.ndarray, hs: np.ndarray) -> np.ndarray:
            return self.inside(s, hs)[:, None] ** power

        return float(self.result.segments.integral(raised, a, b, name=f"`{self.found.path}`")[0])

    def affine(self) -> Affine | None:
        """The values as an affine form; None if they are none."""
        return None

    def panels(self, a: float, b: float, longest: float) -> Panels:
        """Series that represent the values on [a, b], no panel longer than ``longest``."""
        start, end = self.result.segments.start, self.result.segments.end
        which = np.flatnonzero(np.minimum(b, end) > np.maximum(a, start))
        begin = np.maximum(a, start[which]) - start[which]
        h0, h1, of = equal_parts(begin, np.minimum(b, end[which]) - start[which], longest)
        panels = fit(self.evaluate, start, which[of], h0, h1)
        if not panels.resolved:
            warn(unresolved(f"`{self.found.path}`", b - a))
        return panels

    def undetermined(self) -> np.ndarray:
        """Mask over ``t``: the model leaves the value open."""
        return np.zeros(len(self.t), bool)

    def origin(self) -> str:
        """What the values follow from, for messages: the equation that is solved for them, with its place."""
        return ""


class ContinuousSource(ResultSource):
    """Values of a continuous variable or of its time derivative."""

    def within(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of some segments."""
        return segments.variable(self.found.index, self.found.kind == "slope", which, hs)

    def inside(self, segment: Segment, hs: np.ndarray) -> np.ndarray:
        """Values at times since the start of one segment."""
        read = segment.readout.slopes if self.found.kind == "slope" else segment.readout.values
        return read(self.found.index, segment.data, segment.trajectory, segment.moment, hs)

    def power_integral(self, a: float, b: float, power: int) -> float:
        """Integral over [a, b] of the value to a power."""
        affine = self.affine()
        if affine is None:
            return super().power_integral(a, b, power)
        return affine_integral(self.result.segments, affine, affine if power == 2 else ONE, a, b)

    def affine(self) -> Affine | None:
        """The values as an affine form; None if they are none."""
        segments, k = self.result.segments, self.found.index
        if not segments.groups or segments.groups[0].readout.observed(k):
            return None
        return Affine({(k, self.found.kind == "slope"): 1.0}, 0.0)

    def origin(self) -> str:
        """The equation that is solved for the values, with its place."""
        names, readout = self.result.names, self.result.record.segments[0].readout
        for k, _ in readout.observed(self.found.index):
            o = names.model.output_equations[k]
            place = names.flat.location(o.batch, o.instance, o.row.statement.origin)
            return f"{o.row.statement.text} in {place}"
        return ""

    def before(self) -> float:
        """The start value of what differentiated variables determine; others have no left limit but the right one."""
        result, k = self.result, self.found.index
        model, z = result.names.model, result.record.z
        row = model.W_core[[k]]
        first = result.record.segments[0]
        if (
            self.found.kind == "slope"
            or first.readout.observed(k)
            or not len(z)
            or not first.readout.dynamic[row.indices].all()
        ):
            return super().before()
        xi = first.trajectory.y0[len(first.data.states) :]
        return float((row @ z)[0] + (first.readout.VK[[k]] @ xi)[0])

    def undetermined(self) -> np.ndarray:
        """Mask over ``t``: the model leaves the value open."""
        result, model = self.result, self.result.names.model
        if self.found.index in model.presolved.relative:
            return np.ones(len(self.t), bool)
        columns = model.W_core[[self.found.index]].indices
        flags = np.array([bool(s.data.undetermined[columns].any()) for s in result.segments.all], bool)
        return flags[np.maximum(result.points[1], 0)] if len(flags) else np.zeros(0, bool)


class DiscreteSource(ResultSource):
    """Values of a discrete variable."""

    def within(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of some segments."""
        return segments.discretes(self.found.index)[which]

    def inside(self, segment: Segment, hs: np.ndarray) -> np.ndarray:
        """Values at times since the start of one segment."""
        return np.full(len(hs), segment.moment.D[self.found.index])

    def before(self) -> float:
        """Left limit at the start."""
        D = self.result.record.D
        return float(D[self.found.index]) if len(D) else super().before()


class ConstantSource(ResultSource):
    """Value of a parameter."""

    def within(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of some segments."""
        return np.full(len(which), segments.all[0].readout.P[self.found.index])

    def inside(self, segment: Segment, hs: np.ndarray) -> np.ndarray:
        """Values at times since the start of one segment."""
        return np.full(len(hs), segment.readout.P[self.found.index])

    def affine(self) -> Affine | None:
        """The values as an affine form; None if they are none."""
        return (
            Affine({}, float(self.result.record.segments[0].readout.P[self.found.index]))
            if len(self.result.record.segments)
            else None
        )
