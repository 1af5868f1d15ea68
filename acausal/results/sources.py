"""Where signals take their values from, and what these are over time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dynamics.closed_form import unresolved
from ..errors import ParameterError, counted, warn
from ..flattening.template import Located
from ..reduction.rounding import ROUNDING
from .corners import cut_as_followed, split
from .grid import adaptive_grid
from .panels import Panels, follow
from .record import Segment
from .segments import BEFORE, ONE, Affine, Parts, Segments, Term, window
from .spectrum import QUIET, Harmonics
from .waves import extreme


class Source:
    """Where a signal takes its values from: the segments of a result, on demand."""

    held = False
    """Whether it changes only between segments."""

    def __init__(self, result: Any, name: str) -> None:
        self.result, self.name = result, name
        self.t_start, self.t_end = float(result.t_start), float(result.t_end)

    @property
    def t(self) -> np.ndarray:
        """Points in seconds; equal times are left and right limit of an event."""
        return self.result.t

    def within(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of some segments."""
        raise NotImplementedError

    def evaluate(self, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of segments of the run."""
        return self.within(self.result.segments, which, hs)

    def before(self) -> float:
        """Left limit at the start."""
        first = Segments([self.result.record.segments[0]])
        return float(self.within(first, np.zeros(1, np.int64), np.zeros(1))[0])

    def sample(self) -> np.ndarray:
        """Values at the points of the result."""
        _, which, hs = self.result.points
        return self._values(self.result.segments, which, hs) if len(which) else np.zeros(0)

    def at(self, t: np.ndarray, side: str) -> np.ndarray:
        """Limits from one side at times within the run."""
        return self._values(*self.result.located(t, side))

    def _values(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        out = self.within(segments, np.maximum(which, 0), hs)
        if (which == BEFORE).any():
            out = np.where(which == BEFORE, self.before(), out)
        return out

    def affine(self) -> Affine | None:
        """The values as an affine expression; None if they are none."""
        return None

    def products(self, power: int) -> list[Term] | None:
        """The value to a power as a sum of products of two affine expressions; None if it is none."""
        whole = self.affine()
        return None if whole is None else [(1.0, whole, whole if power == 2 else ONE)]

    def power_integral(self, a: float, b: float, power: int) -> float:
        """Integral over [a, b] of the value to a power."""
        segments, products = self.result.segments, self.products(power)
        if self.held:
            which, h0, h1 = segments.overlap(a, b)
            return float(self.within(segments, which, h0).astype(float) ** power @ (h1 - h0))
        if products is not None:
            return segments.integral_of_sum(products, a, b)

        def raised(s: Segment, _: np.ndarray, hs: np.ndarray) -> np.ndarray:
            return self.within(Segments([s]), np.zeros(len(hs), np.int64), hs)[:, None] ** power

        parts = self.cut(segments.overlap(a, b))
        return float(segments.integral(raised, parts, name=f"`{self.name}`")[0])

    def cut(self, parts: Parts) -> Parts:
        """Parts of segments, cut where panels have to begin that the values are to be read from."""
        return parts

    def panels(self, a: float, b: float, longest: float) -> Panels:
        """Series that represent the values on [a, b], no panel longer than ``longest``."""
        segments, whole = self.result.segments, self.affine()
        parts = self.cut(segments.overlap(a, b))
        rounding = ROUNDING * float(segments.magnitude(whole.row, parts[0], parts[2])[0]) if whole else 0.0
        panels = follow(self.evaluate, segments.start, parts, longest, rounding)
        if not panels.resolved:
            warn(unresolved(f"`{self.name}`", b - a))
        return panels

    def undetermined(self) -> np.ndarray:
        """Mask over ``t``: the model leaves the value open."""
        return np.zeros(len(self.t), bool)

    def origin(self) -> str:
        """What the values follow from, for messages: the equation that is solved for them, with its place."""
        return ""


class VariableSource(Source):
    """A continuous variable or its time derivative."""

    def __init__(self, result: Any, found: Located) -> None:
        super().__init__(result, found.path)
        self.index, self.slope = found.index, found.kind == "slope"

    def within(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of some segments."""
        return segments.variable(self.index, self.slope, which, hs)

    def affine(self) -> Affine | None:
        """The values as an affine expression; None if they are none."""
        segments, k = self.result.segments, self.index
        if not segments.groups or segments.groups[0].readout.outside[k]:
            return None
        return Affine({(k, self.slope): 1.0}, 0.0)

    def origin(self) -> str:
        """The equation that is solved for the values, with its place."""
        names, readout = self.result.names, self.result.record.segments[0].readout
        for k, _ in readout.observed(self.index):
            o = names.model.output_equations[k]
            place = names.flat.location(o.batch, o.instance, o.row.statement.origin)
            return f"{o.row.statement.text} in {place}"
        return ""

    def cut(self, parts: Parts) -> Parts:
        """Cut at the edges of the course; the value of an output equation also where it turns on a grid that follows the core."""
        segments = self.result.segments
        parts = split(parts, *segments.edges)
        if not segments.groups[0].readout.outside[self.index]:
            return parts
        # Points that are shown may be given, and few.
        which, hs = adaptive_grid(segments, None)
        values = self.evaluate(which, hs)
        inner = (which[1:-1] == which[:-2]) & (which[1:-1] == which[2:])
        turns = (np.diff(values[:-1]) * np.diff(values[1:]) < 0.0) & inner
        return cut_as_followed(self.evaluate, split(parts, which[1:-1][turns], hs[1:-1][turns]))

    def before(self) -> float:
        """The start value of what differentiated variables determine; others have no left limit but the right one."""
        result, k = self.result, self.index
        model, z = result.names.model, result.record.z
        row, first = model.W_core[[k]], result.record.segments[0]
        readout = first.readout
        if self.slope or readout.outside[k] or not len(z) or not readout.dynamic[row.indices].all():
            return super().before()
        xi = first.trajectory.y0[len(first.data.states) :]
        return float((row @ z)[0] + (readout.VK[[k]] @ xi)[0])

    def undetermined(self) -> np.ndarray:
        """Mask over ``t``: the model leaves the value open."""
        result, model = self.result, self.result.names.model
        if self.index in model.presolved.relative:
            return np.ones(len(self.t), bool)
        columns = model.W_core[[self.index]].indices
        segments = result.segments
        flags = np.array([g.data.undetermined[columns].any() for g in segments.groups], bool)
        return flags[segments.group_of[np.maximum(result.points[1], 0)]]


class HeldSource(Source):
    """A discrete variable or a parameter: every segment holds one value."""

    held = True

    def __init__(self, result: Any, found: Located) -> None:
        super().__init__(result, found.path)
        self.index, self.parameter = found.index, found.kind == "p"

    def within(self, segments: Segments, which: np.ndarray, hs: np.ndarray) -> np.ndarray:
        """Values at times since the starts of some segments."""
        k = self.index
        if not self.parameter:
            return segments.discretes(k)[which]
        return np.array([group.readout.P[k] for group in segments.groups])[segments.group_of[which]]

    def before(self) -> float:
        """Left limit at the start."""
        D = self.result.record.D
        return super().before() if self.parameter or not len(D) else float(D[self.index])

    def affine(self) -> Affine | None:
        """The value of a parameter; None for a discrete."""
        segments = self.result.record.segments
        return (
            Affine({}, float(segments[0].readout.P[self.index])) if self.parameter and len(segments) else None
        )


class OverTime(Harmonics[Source]):
    """What a signal tells of its values over time."""

    def __init__(
        self,
        source: Source,
        path: str,
        unit: str,
        doc: str,
        kind: type = float,
        names: dict[int, str] | None = None,
        composed: bool = False,
    ) -> None:
        self.path, self.unit, self.doc, self.names = path, unit, doc, names or {}
        self.source, self._kind, self._composed = source, kind, composed
        self._values: np.ndarray | None = None

    # -- values --------------------------------------------------------------------------------------------------

    @property
    def t(self) -> np.ndarray:
        """Points in seconds; equal times are left and right limit of an event."""
        return self.source.t

    @property
    @QUIET
    def values(self) -> np.ndarray:
        """Values at ``t``."""
        if self._values is None:
            self._values = self._named(self.source.sample(), self.source.t).astype(self._kind, copy=False)
            self._values.setflags(write=False)
        return self._values

    def _named(self, values: np.ndarray, t: np.ndarray) -> np.ndarray:
        """Warn of values that are not numbers."""
        bad = np.isnan(values) if values.dtype.kind == "f" else np.zeros(0, bool)
        if bad.any():
            what = f"`{self.path}` is not a number at {counted(int(bad.sum()), 'point')}"
            origin = self.source.origin()
            warn(f"{what}, first at t = {t[bad][0]:.9g} s" + (f": {origin}" if origin else ""))
        return values

    @property
    def is_discrete(self) -> bool:
        """True for variables that change only at events."""
        return self._kind is not float

    @property
    def final(self) -> Any:
        """Last value: the right limit at the end."""
        return self.at(self.source.t_end)

    @property
    def undetermined(self) -> np.ndarray:
        """Mask over ``t``: the model leaves the value open (a floating potential, a circulating flow)."""
        return self.source.undetermined()

    @QUIET
    def at(self, t: Any, side: str = "right") -> Any:
        """Return the values at times ``t``; at an event the limit from ``side``, "left" or "right".

        Raises
        ------
        ParameterError
            For times outside the run, or another side.
        """
        if side not in ("left", "right"):
            raise ParameterError(f'side is "left" or "right", got {side!r}')
        try:
            times = np.asarray(t, None if isinstance(t, (str, bytes)) else float).astype(
                float, casting="same_kind"
            )
        except (TypeError, ValueError, OverflowError) as error:
            raise ParameterError(f"`{self.path}` is asked for at times in seconds, got {t!r}") from error
        a, b = self.source.t_start, self.source.t_end
        slack = 4.0 * np.spacing(max(abs(a), abs(b)))
        if not ((times >= a - slack) & (times <= b + slack)).all():
            raise ParameterError(
                f"`{self.path}` is known from {a:g} to {b:g} s only", hint="ask for times within the run"
            )
        inside = np.clip(times, a, b).ravel()
        values = self._named(self.source.at(inside, side), inside).astype(self._kind, copy=False)
        return values.reshape(times.shape) if times.ndim else values[0].item()

    @QUIET
    def mean(self, t0: float | None = None, t1: float | None = None) -> float:
        """Return the mean over time in [t0, t1], by default the whole run; of a Boolean signal the duty ratio.

        Exact for any number of periods where the signal is a sum of exponentials and sinusoids between events, and
        so is the mean of a sum of products of two such signals; a warning says where another one turns too often to be followed.
        """
        a, b = window(t0, t1, self.source.t_start, self.source.t_end)
        return self.source.power_integral(a, b, 1) / (b - a)

    @QUIET
    def rms(self, t0: float | None = None, t1: float | None = None) -> float:
        """Return the root mean square over time in [t0, t1], by default the whole run; see `mean`."""
        a, b = window(t0, t1, self.source.t_start, self.source.t_end)
        return float(np.sqrt(self.source.power_integral(a, b, 2) / (b - a)))

    def max(self, t0: float | None = None, t1: float | None = None) -> Any:
        """Return the largest value in [t0, t1], by default the whole run; between the points too.

        It is a value of the signal, which may jump without an event too. Of a jump in the window both limits count, of one at its
        ends that inside, of an impulse none; without `t1` what the last instant of the run leads to counts too. A warning says
        where the signal turns too often between two events to be followed, with several frequencies between which limits the
        value lies.
        """
        return self._extreme(1.0, t0, t1)

    def min(self, t0: float | None = None, t1: float | None = None) -> Any:
        """Return the smallest value in [t0, t1]; see `max`."""
        return self._extreme(-1.0, t0, t1)

    def ptp(self, t0: float | None = None, t1: float | None = None) -> Any:
        """Return the distance from the smallest to the largest value in [t0, t1]; see `max`."""
        return self.max(t0, t1) - self.min(t0, t1)

    @QUIET
    def _extreme(self, factor: float, t0: float | None, t1: float | None) -> Any:
        """The largest value, of the negative signal for a negative factor."""
        source = self.source
        a, b = window(t0, t1, source.t_start, source.t_end)
        found = extreme(
            source.result.segments, source.affine(), lambda c, d: source.panels(c, d, d - c), factor, a, b
        )
        if found.bound > found.value:
            low, high = sorted((factor * found.value, factor * found.bound))
            warn(
                f"the {'largest' if factor > 0.0 else 'smallest'} value of `{self.path}` is not resolved: several "
                f"frequencies turn too often in {b - a:.3g} s to be followed, and it lies between {low:.9g} and "
                f"{high:.9g}; give a shorter window"
            )
        value = factor * found.value
        if t1 is None:
            # What an event at the end of the run leads to lies in no segment.
            value = factor * float(
                np.maximum(found.value, factor * float(source.at(np.array([b]), "right")[0]))
            )
        return self._kind(round(value)) if self.is_discrete else value
