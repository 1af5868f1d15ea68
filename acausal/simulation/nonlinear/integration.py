"""Segments of nonlinear models, and of any model on request: integrated numerically, with located crossings."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from ...dynamics.automatic import Stiffness
from ...dynamics.closed_form import PRECISION
from ...dynamics.location import Function, begin_of, locate
from ...dynamics.noise import LOCATED, MISSED, TWICE
from ...dynamics.scan import Floor, first_crossing
from ...reduction.affine import Mode
from ...reduction.rounding import SUMMED
from .accepted_steps import AcceptedSteps
from .accuracy import Tolerances, terms
from .forms import Forms
from .motion import Motion, Place
from .sampling import reads_slopes, sampled_unknowns, shortest_corrected, solvable
from .state_selection import Selection
from .steps import Span, Steps
from .watched_steps import Watched, WatchedSteps

STEPS_A_PANEL = 3
"""Steps under one panel of a quadrature: its 21 nodes resolve their quartics."""
HALVINGS = 5
"""Halvings of such a panel, to about a tenth of a step: within that a solution has no more to show."""


class SampledMotion:
    """What a record keeps of a numerically integrated segment: the state ``[z, z', xi]`` at any time.

    Parameters
    ----------
    make : callable
        Returns the steps, when they are first read.
    selection : Selection
        Of the states at the end.
    tolerances : Tolerances
    hidden : int
        Number of sources in the state that the motion does without.
    """

    reach = -1.0
    halvings = HALVINGS

    def __init__(
        self,
        make: Callable[[], AcceptedSteps],
        selection: Selection,
        tolerances: Tolerances,
        hidden: int,
    ) -> None:
        self._make, self._hidden = make, hidden
        self._kept: tuple[bytes, np.ndarray] | None = None
        self.freedom, self.precision = len(selection.states), 1e-2 * tolerances.rtol

    @classmethod
    def of(cls, steps: AcceptedSteps, hidden: int) -> SampledMotion:
        """The motion along steps that are made."""
        steps.motion.recorded()
        return cls(lambda: steps, steps.motion.selection, steps.tolerances, hidden)

    @cached_property
    def _steps(self) -> AcceptedSteps:
        return self._make()

    @property
    def y0(self) -> np.ndarray:
        """State at the begin."""
        return self._first

    @cached_property
    def _first(self) -> np.ndarray:
        return self._state(self._steps.begin)

    @property
    def breaks(self) -> list[float]:
        """Ends of the steps."""
        return [a.step.t1 for a in self._steps.accepted]

    @property
    def bridged(self) -> bool:
        """Whether a step passes a change point."""
        return any(a.bridge is not None for a in self._steps.accepted)

    def edges(self, h0: float, h1: float) -> np.ndarray:
        """Ends of panels within a part of the segment."""
        # Slopes of steps, which tell of quick states, have corners at their ends.
        inner = [
            a.step.t1 for a in self._steps.accepted[:: 1 if reads_slopes(self._steps) else STEPS_A_PANEL]
        ]
        return np.array([h0, *(t for t in inner if h0 < t < h1), h1])

    def magnitude(self, length: float) -> np.ndarray:
        """Magnitudes by which the states are rounded: of what cancels in the equations that are solved for them."""
        return self._magnitude

    @cached_property
    def _magnitude(self) -> np.ndarray:
        steps, motion = self._steps, self._steps.motion
        if not motion.batched:
            return np.maximum(np.abs(self.y0), np.abs(self._state(steps.accepted[-1].end)))
        system, nx = motion.system, motion.system.nx
        both, xi = np.zeros((nx + system.m, 2)), np.abs(steps.begin.xi)
        if reads_slopes(steps):
            both += self._corrections()
        places = [
            (p, motion.solved_of(a.selection))
            for a in steps.accepted
            for p in (a.end, *(a.bridge.edges if a.bridge is not None else ()))
        ]
        for place, solved in places:
            both, xi = np.fmax(both, terms(motion, place, solved)), np.maximum(xi, np.abs(place.xi))
        v0, v1 = (abs(jet.y) @ both[:, 0] + abs(jet.xi) @ xi for jet in (system.v0, system.v1))
        v1[len(system.mode.states) + system.algebraic] = both[nx + system.algebraic, 1]
        z_of = abs(system.z_of)
        return np.concatenate([z_of @ v0, z_of @ v1, xi, np.zeros(self._hidden)])

    def _corrections(self) -> np.ndarray:
        """Sizes (nx + m, 2) of what slopes of steps correct of points and of their rates: up to the tolerance.

        All are solved for together, and one rounds as the largest of them does, in units of scales; see `rounding.solved`.
        """
        steps, system = self._steps, self._steps.motion.system
        scale = np.concatenate((system.scale, system.open_scale))
        found = steps.tolerances.rtol * float(np.max(steps.size / system.scale)) * scale
        return np.column_stack((found, found / shortest_corrected(steps)))

    def terms(self, hs: np.ndarray) -> np.ndarray:
        """Magnitudes of the states at some times."""
        return np.abs(self.sample(hs))

    def at(self, h: float) -> np.ndarray:
        """State at one time."""
        return self._state(self._steps.place(h))

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """States (k, 2 n + q) at the times ``hs`` (k,), not to be changed.

        Those of the last call are kept: variables are read one after the other at the same times.
        """
        hs = np.asarray(hs, float)
        key, found = hs.tobytes(), self._kept
        if found is None or found[0] != key:
            found = self._kept = key, self._sampled(hs)
        return found[1]

    def _sampled(self, hs: np.ndarray) -> np.ndarray:
        out = np.zeros((len(hs), len(self.y0)))
        n, q = self._steps.motion.system.z_of.shape[0], len(self._steps.begin.xi)
        out[:, :n], out[:, n : 2 * n], out[:, 2 * n : 2 * n + q] = sampled_unknowns(self._steps, hs)
        out.setflags(write=False)
        return out

    def _state(self, place: Place) -> np.ndarray:
        z, slopes = self._steps.motion.unknowns(place)
        return np.concatenate([z, slopes, place.xi, np.zeros(self._hidden)])


class StillMotion:
    """A state that is kept at one instant."""

    reach = -1.0
    precision = PRECISION
    halvings = HALVINGS

    def __init__(self, y: np.ndarray) -> None:
        self.y0 = y

    def edges(self, h0: float, h1: float) -> np.ndarray:
        """Both ends."""
        return np.array([h0, h1])

    def magnitude(self, length: float) -> np.ndarray:
        """Magnitudes of the state."""
        return np.abs(self.y0)

    def terms(self, hs: np.ndarray) -> np.ndarray:
        """The same for all times."""
        return np.abs(self.sample(hs))

    def at(self, h: float) -> np.ndarray:
        """State at any time."""
        return self.y0

    def sample(self, hs: np.ndarray) -> np.ndarray:
        """The same state for all times."""
        return np.tile(self.y0, (len(hs), 1))


class Integration:
    """The segments of a run, and what they tell about those to come.

    Parameters
    ----------
    n : int
        Number of core unknowns.
    solver : str
        "explicit", "implicit" or "auto".
    tolerances : Tolerances

    Attributes
    ----------
    size : (n,) array
        Largest magnitudes of the core unknowns so far.
    steps : Steps or None
        Of the segment begun last.
    watched : Watched or None
        What could end it.
    late, shift : float, (n, 2) array or None
        Seconds by which the crossing that ended it may be off, and how far core unknowns then move (`Uncertainty.shift`); None
        where nothing crossed.
    """

    def __init__(self, n: int, solver: str, tolerances: Tolerances) -> None:
        self._solver, self._tolerances = solver, tolerances
        self.size = np.zeros(n)
        self.steps: Steps | None = None
        self.watched: Watched | None = None
        self.late = 0.0
        self.shift: np.ndarray | None = None
        self._stiffness: dict[Mode, Stiffness] = {}
        self._stiff = Stiffness()
        self._length = 0.0
        self._hidden = 0
        self.told: set[type] = set()
        """Kinds of notices that a run gives once, and has given."""

    def tell(self, kind: type) -> None:
        """A notice of this kind was given."""
        self.told.add(kind)

    def begin(self) -> None:
        """Forget the steps of the last segment."""
        self.steps = None

    def segment(
        self,
        motion: Motion,
        watched: Watched,
        mode: Mode,
        z: np.ndarray,
        span: Span,
        hidden: int,
        first: float | None = None,
    ) -> tuple[float, int | None, SampledMotion]:
        """Integrate to the end of a span or the first crossing; returns the length, the form that crossed, and the motion.

        Parameters
        ----------
        z : (n,) array
            Core unknowns at the begin.
        hidden : int
            Number of sources in states of the record that the motion does without.
        first : float, optional
            Size of its first step; estimated by default.
        """
        t, length, self._hidden = span.t, span.length, hidden
        np.maximum(self.size, np.abs(z), out=self.size)
        forms, noise = watched.forms, watched.noise(motion)
        steps = self.steps = Steps(
            motion, self._solver, self._tolerances, span, forms, noise, self.size, self._stiffness_of(mode),
            first,
        )  # fmt: skip
        self.watched = watched
        pieces = WatchedSteps(steps, forms, noise, watched.open_at_zero)
        hit, self.late, self.shift = None, 0.0, None
        if forms.count:
            G, floor = np.eye(forms.count), Floor(noise.resolution, noise.late, noise.missed)
            hit = first_crossing(pieces, G, watched.armed, lambda: floor, length, t)  # type: ignore[arg-type]
        else:
            for _ in pieces.pieces(length):
                pass
        h, crossed = length, None
        if hit is not None:
            h, k, since = _located(pieces, forms, watched.armed, hit, span.resolution)
            crossed = watched.which[k]
            self.late, moved = _moved(pieces, forms, h, k, since, t)
            self.shift = motion.system.mode.z_of @ moved
            steps.cut(h)
        steps.sizes(self.size)
        self._length = h
        return h, crossed, SampledMotion.of(steps, hidden)

    @property
    def chooses(self) -> bool:
        """Whether what is known of the stiffness of a mode chooses the method."""
        return self._solver == "auto"

    def stiffness(self, mode: Mode) -> Stiffness:
        """What is known of the stiffness of a mode."""
        return self._stiffness.get(mode) or Stiffness(self._stiff.stiff)

    def go_on_in(self, mode: Mode) -> None:
        """Take a mode as the present one: what is known of its stiffness serves one that is entered for the first time."""
        self._stiffness_of(mode)

    def _stiffness_of(self, mode: Mode) -> Stiffness:
        """What is known of the stiffness of a mode: of one entered for the first time, that of the mode before."""
        found = self._stiffness.get(mode)
        if found is None:
            found = self._stiffness[mode] = Stiffness(self._stiff.stiff)
        self._stiff = found
        return found

    def bends(self) -> np.ndarray:
        """Second time derivatives of the core unknowns at the end of the last segment; zero where there were no steps."""
        end = self.end
        if self.steps is None or end is None:
            return np.zeros(len(self.size))
        motion = self.steps.motion
        return motion.system.z_of @ motion.bends(end)

    @property
    def end(self) -> Place | None:
        """The point at the end of the last segment, before that of its last step where something crossed; None without steps."""
        steps = self.steps
        return None if steps is None or not steps.accepted else steps.place(self._length)

    def unfinished(self) -> tuple[float, SampledMotion] | None:
        """Length and motion of the steps before a failure that can be read and in which nothing has crossed, None without any."""
        steps = self.steps
        if steps is None or not steps.accepted:
            return None
        h = min(solvable(steps), steps.passed)
        steps.cut(h)
        return (h, SampledMotion.of(steps, self._hidden)) if steps.accepted else None


def _located(
    watched: WatchedSteps, forms: Forms, armed: np.ndarray, hit: tuple[float, int], resolution: float
) -> tuple[float, int, float]:
    """Time and form of a crossing, from those of the interpolation, and the seconds within which it may have crossed.

    What sank to its floor without having left it may have crossed at any time since it was zero, and is taken there: at its
    floor it is farther off the more a loss amplifies what rounds.
    """
    steps, noise, (h, k) = watched.steps, watched.noise, hit
    left = armed | (watched.highest > noise.floor)
    limits = np.where(left, -noise.touch, -noise.floor)
    if watched.vanished[k]:
        limits[k] = np.nextafter(0.0, 1.0)
        return *_sunk(steps, forms, h, limits, (float(watched.nonzero[k]), k)), 0.0
    if left[k]:
        zero = locate(_form(steps, forms, k), *watched.piece, h, 0.0)
        if zero > resolution or watched.highest[k] > noise.floor[k]:
            return zero, k, 0.0
        # It came back to zero in no time: an instant there would be the last one again.
        limits[k] = -noise.floor[k]
    h, k = _sunk(steps, forms, watched.piece[1], limits, hit)
    if left[k]:
        return h, k, 0.0
    risen = _risen(steps, forms, k, h)
    return risen if risen > resolution else h, k, h - risen


def _moved(
    watched: WatchedSteps, forms: Forms, h: float, k: int, since: float, t: float
) -> tuple[float, np.ndarray]:
    """Seconds by which a crossing may be off, and how far ``v`` then moves (nv, 2): with time alone, and with the states too.

    The states are off by what the last steps missed, and the crossing is by the time in which its form makes up for that, within
    the step: the form vanishes all the same, and what follows from it alone is known as exactly as it is. It may have crossed at
    any time within ``since`` seconds. Sources round with the time ``t`` at which the motion begins.
    """
    steps = watched.steps
    motion, a = steps.motion, steps.at(h)
    v, slope = steps.jets(a, np.array([h]))
    last = [b.step.errors for b in steps.accepted[-2:] if b.selection is a.selection]
    place = steps.inside(a, h)
    missed = MISSED * motion.carried(place, np.vstack(last).T)
    missed[~np.isfinite(missed)] = 0.0  # A slope that does not exist tells nothing of the error.
    driven = np.where(np.arange(len(v[0])) < len(v[0]) - len(place.xi), 0.0, slope[0])
    changes = np.column_stack([slope[0], driven, np.zeros_like(slope[0]), missed])
    tangent = forms.tangent(motion, v[0])
    rate, source, *offs = np.nan_to_num(tangent(changes)[k]).tolist()
    rounded, longest = TWICE * SUMMED * float(tangent.terms[k]), h - a.step.t0
    rounded += LOCATED * math.ulp(t + h) * abs(source)
    since = max(since, rounded / abs(rate) if longest * abs(rate) > rounded else longest)
    j = int(np.argmax(np.abs(offs)))
    off, reach = offs[j], longest * abs(rate)
    late = off / rate if reach > abs(off) else longest
    if since > abs(late):
        return since, since * np.column_stack([slope[0], slope[0]])
    made_up = changes[:, 2 + j] if reach > abs(off) else 0.0
    return late, np.column_stack([late * slope[0], late * slope[0] - made_up])


def _form(steps: Steps, forms: Forms, k: int) -> Function:
    """One form itself, and its slope."""

    def at(h: float) -> tuple[float, float]:
        value, slope = forms.at(steps.motion, *steps.jets(steps.at(h), np.array([h])))[0, :, k].tolist()
        return value, slope

    return at


def _risen(steps: Steps, forms: Forms, k: int, h: float) -> float:
    """Last time before ``h``, where a form lies below zero, at which it was above; if it never was, where it was highest.

    Looked at where steps end: what a step misses inside of it may rise where the form does not.
    """
    times = np.array([0.0, *(a.step.t1 for a in steps.accepted)])
    before = (times < h) | (times == 0.0)
    values = forms.values(steps.motion, steps.ends()[before])[:, k]
    top = int(np.argmax(values))
    highest = float(times[before][top])
    return locate(_form(steps, forms, k), highest, h, h, 0.0) if values[top] > 0.0 else highest


def _sunk(
    steps: Steps, forms: Forms, end: float, limits: np.ndarray, hit: tuple[float, int]
) -> tuple[float, int]:
    """Where a form that lay at zero is itself below its limit, or another one crosses before.

    Beside a bend the interpolation is so too early, and nothing would have changed at that instant. After
    ``end`` the search has seen nothing.
    """

    def below(h: float) -> np.ndarray:
        return np.flatnonzero(forms.at(steps.motion, *steps.jets(steps.at(h), np.array([h])))[0, 0] < limits)

    h, k = hit
    if not len(below(end)):
        return hit
    found = below(h)
    if not len(found):
        h = begin_of(lambda h: len(below(h)) > 0, h, end)
        found = below(h)
    return h, k if k in found else int(found[0])
