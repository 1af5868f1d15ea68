"""How exactly a segment has to be integrated: errors of guards and relations along with those of the states.

A state that a guard amplifies, as that of an element which leaks does the small flow through it, is to be as exact as the
guard needs. An error ``e`` of the states is one of ``W e`` in what follows from them, with the derivatives ``W`` along the
constraints and nonlinear rows at the begin of a step: see A. C. Hindmarsh et al., "SUNDIALS", ACM TOMS 31 (2005), where the
weighted norm of a step covers algebraic variables too.

Dependent coordinates and open unknowns, which are solved for, have no error of their own, so that nothing else would limit a
step over which they turn about or come to lie on another branch, where the states beside them are easy to integrate. At points
inside of a step they are compared with the cubic through their values and slopes at both ends. Where the error of a step is not
small beside its way, as that of a state which falls within its tolerance beyond a bend, what follows from it is to be known too.
"""

from __future__ import annotations

import math

import numpy as np

from ...dynamics.noise import LOCATED, MISSED, TWICE, StepNoise, lasting
from ...dynamics.step import Step
from ...kernels.newton import ACCURATE, REACHED
from ...kernels.step_doubts import DEPARTS, LONGER, PROBE, UNSEEN
from ...reduction.rounding import ROUNDING, SUMMED, UNIT
from ...values import frozen
from .forms import Forms
from .motion import Motion, Place
from .newton import NewtonFailure
from .system import Linear


@frozen
class Tolerances:
    """Relative tolerance, absolute one in units of the largest magnitude of each variable so far.

    ``longest`` is the longest step in seconds where unknowns of nonlinear equations have no states beside them, whose
    error would limit it.
    """

    rtol: float
    atol: float
    longest: float

    def absolute(self, size: np.ndarray, scale: np.ndarray) -> np.ndarray:
        """Absolute errors of variables with given magnitudes so far; scales matter as far as rounding does.

        Scales are taken from the sources before anything moves. That of the flow through a small storage exceeds by
        decades what a loss beside it lets through.
        """
        return np.maximum(self.atol * size, SUMMED * scale)


class Accuracy:
    """Errors of guards and relations in units of their tolerances; `dynamics.stepper.Outputs`.

    Parameters
    ----------
    forms : Forms
        Guards and relations that can trigger.
    noise : StepNoise
        Their noise.

    Attributes
    ----------
    error : (forms,) array
        Estimated errors over the last step.
    """

    def __init__(self, motion: Motion, forms: Forms, tolerances: Tolerances, noise: StepNoise) -> None:
        self._motion, self._forms, self._tolerances, self._noise = motion, forms, tolerances, noise
        self.error = np.zeros(forms.count)
        self._place = motion.last
        self.begin(motion.last, 0.0)

    def begin(self, place: Place, stays: float) -> None:
        """Go on from a place, where rounding of the states so far stays for some seconds."""
        motion = self._motion
        v, h = motion.system.v0(place.y, place.xi), place.h - self._place.h
        self._place, self._tangent = place, self._forms.tangent(motion, v)
        # What a form has been, or will be, in the time in which it moves by its own size; what it was long ago says nothing.
        lasts = lasting(h, self._tolerances.rtol)
        slopes = self._tangent(motion.jets(place)[1][:, None])[:, 0]
        size = np.maximum(np.abs(self._tangent.values), lasts * np.abs(slopes))
        # What a step misses need not be less than what rounding hides anyway. What the last step rounded does not count yet: it
        # grows with the length of the step, and would let the next ones be as wrong as they are long.
        hidden = (
            np.maximum(ROUNDING * self._tangent.terms, self._noise.resolution / MISSED) + np.finfo(float).tiny
        )
        # Sources round as the time does at which a step evaluates them.
        driven = motion.system.v0(np.zeros_like(place.y), motion.system.S @ place.xi)
        hidden += LOCATED * math.ulp(place.h) * np.abs(self._tangent(driven[:, None])[:, 0])
        self._noise.follow(stays, self._tangent.terms, self.error)
        self._absolute = np.maximum(self._tolerances.atol * size, hidden)
        # Of what leaves zero; nothing else is driven by rounding alone.
        self._leaves = np.where(np.abs(self._tangent.values) <= hidden, np.abs(slopes), np.inf)

    def resume(self, before: Place, place: Place, stays: float, error: np.ndarray) -> None:
        """Go on from a place behind steps with these errors, the last of which began at the place ``before``."""
        self._place, self.error = before, error
        self.begin(place, stays)

    def flight(self, h: float, resolution: float) -> float:
        """Seconds that the shortest flight takes which a first step of ``h`` seconds would hide in its rounding.

        That of a form that leaves zero and comes back, as its first two derivatives at the begin say. What rounding alone may
        make leave zero does not count, nor what is back within the ``resolution`` of time.
        """
        motion, place, noise = self._motion, self._place, self._noise
        if not motion.batched or not np.isfinite(self._leaves).any():
            return math.inf
        rates = np.column_stack((motion.jets(place)[1], motion.bends(place)))
        slopes, bends = self._tangent(rates).T * self._forms.orientation
        back = np.isfinite(self._leaves) & (slopes > noise.rates) & (bends < 0.0)
        lengths = 2.0 * slopes / np.where(back, -bends, 1.0)
        heights, hidden = 0.25 * slopes * lengths, TWICE * noise.drift(lasting(h, self._tolerances.rtol))
        back &= (lengths > resolution) & (heights <= hidden)
        return float(lengths[back].min(initial=math.inf))

    def __call__(self, t1: float, y1: np.ndarray, errors: np.ndarray) -> float:
        """Largest error over a step, relative to the values at both its ends.

        What the change of the states alone would make of a value, with the sources as they were, is none that it has: the
        flow through a small resistance is the difference of two that move together.
        """
        motion = self._motion
        v = motion.carried(self._place, errors.T)
        v[~np.isfinite(v)] = 0.0  # A slope that does not exist tells nothing of the error.
        self.error = np.abs(self._tangent(v)).max(axis=1)
        try:
            end = motion.found(t1, y1)
        except NewtonFailure as failure:
            raise motion.failed(failure) from failure
        values = self._forms.values(motion, motion.system.v0(end.y, end.xi)[None])[0]
        size = np.maximum(np.abs(self._tangent.values), np.abs(values))
        may_be = self._absolute + self._tolerances.rtol * size
        found = float((self.error / may_be).max(initial=0.0))
        if not found <= 1.0 and motion.batched:
            # Terms of what is solved for are no terms of the form: a force that vanishes beside others is rounding of theirs.
            solved = self._tangent(motion.system.v0.y[:, motion.solved])
            hidden = np.abs(solved) @ uncertainty(motion, self._place)
            # What leaves zero slower than in proportion to time is rounding of its rate at first, however short the step is.
            h = t1 - self._place.h
            drift = self._noise.chain(h)
            hidden += np.where(self._leaves * h <= drift, drift, 0.0)
            found = float((self.error / (may_be + hidden)).max(initial=0.0))
        return found


class Resolution:
    """How far what is solved for departs from cubics over steps.

    A kink, or a jump that `no_event` allows, is no cubic however short the step is. It counts with the length of the step,
    as in an integral.

    Parameters
    ----------
    rtol : float
        Relative tolerance.
    """

    def __init__(self, motion: Motion, rtol: float) -> None:
        self._motion, self._rtol = motion, rtol
        self._scale = np.concatenate([motion.system.scale, motion.system.open_scale])
        self._largest = np.zeros(len(self._scale))
        """Largest changes of coordinates and open unknowns over a step so far."""
        self._longest = 0.0
        self._usual = 0.0
        """Longest step so far; before there is any, the first one tried."""

    @property
    def so_far(self) -> tuple[float, float, np.ndarray]:
        """Longest step so far, the usual one, and largest changes over steps."""
        return self._longest, self._usual, self._largest

    def resume(self, longest: float, usual: float, largest: np.ndarray) -> None:
        """Go on behind steps that have left these."""
        self._longest, self._usual, self._largest = longest, usual, largest

    def accept(self, begin: Place, end: Place) -> None:
        """Go on behind a step between these points."""
        self._usual = self._longest = max(self._longest, end.h - begin.h)
        np.maximum(self._largest, np.abs(end.y - begin.y), out=self._largest)

    def __call__(self, step: Step, end: Place) -> float:
        """Largest distance from a cubic over a step with this point at its end, in units of what may be.

        Raises
        ------
        NewtonFailure
        """
        motion, begin, h = self._motion, self._motion.accepted, step.t1 - step.t0
        self._usual = self._usual or h
        # A method looks at a point inside of its step itself.
        places = [p for p in motion.recent if step.t0 < p.h < step.t1]
        if not places or h > LONGER * self._longest:
            time = step.t0 + PROBE * h
            guess = motion.guessed(cubic(motion, begin, end).at(PROBE), time)
            places.append(motion.solve(time, step.at(PROBE), guess, motion.selection))
        found = max(self._distance(step, end, place) for place in places)
        if (np.abs(step.errors) > DEPARTS * np.abs(step.y1 - step.y0)).any():
            found = max(found, *(self._doubt(step, place) for place in (end, *places)))
        return found

    def _doubt(self, step: Step, place: Place) -> float:
        """Errors of what is solved for at a point of a step, in units of what may be of them; no number where it is singular."""
        motion, solved = self._motion, self._motion.solved
        errors = np.abs(motion.moved(place, step.errors.T)[solved]).max(axis=1, initial=0.0)
        largest = np.maximum(np.maximum(np.abs(motion.accepted.y), np.abs(place.y)), self._rtol * self._scale)
        may_be = DEPARTS * np.maximum(largest, self._largest)[solved]
        return float((errors / may_be).max())

    def _distance(self, step: Step, end: Place, place: Place) -> float:
        """Distance of a point inside of a step from what rates or else the cubic say.

        Where rates tell the open unknowns, those that belong to the slope of the step are known without the cubic.
        """
        motion, begin, h = self._motion, self._motion.accepted, step.t1 - step.t0
        solved, s, states = motion.solved, (place.h - step.t0) / h, motion.selection.states
        y0, inner = begin.y[solved], place.y[solved]
        moved, chord = inner - y0, end.y[solved] - y0
        change = np.maximum(np.abs(chord), np.abs(moved))
        part = self._rtol * max(1.0, self._usual / h)
        may_be = DEPARTS * change + part * np.maximum(change, self._largest[solved])
        # How exactly they are sought.
        may_be += ACCURATE * self._scale[solved] + UNSEEN * self._rtol * np.abs(inner)
        open_of_rates, by_rates = motion.system.open_of_rates, math.inf
        if open_of_rates is not None:
            far = np.abs(open_of_rates.dot(step.slope(s) - place.X_t[states]))
            by_rates = float((far / may_be).max())
            if by_rates <= DEPARTS or by_rates <= 1.0 and self._moves(step, open_of_rates, may_be):
                return by_rates
        b0, b1 = _bends(chord, h * motion.slopes(begin)[solved], h * motion.slopes(end)[solved])
        far = np.abs(inner - (y0 + s * (chord + (1.0 - s) * (b0 + s * b1))))
        found = float((far / may_be).max())
        if not found <= 1.0:
            errors = np.abs(motion.moved(motion.accepted, step.errors.T)).max(axis=1, initial=0.0)
            may_be += MISSED * errors[solved] + _rounding_along(motion, begin, place, end)
            found = float((far / may_be).max())
        return min(found, by_rates) if by_rates <= 1.0 else found

    def _moves(self, step: Step, open_of_rates: np.ndarray, may_be: np.ndarray) -> bool:
        """Whether the slope of a step is known; of one that moves little more than rounding it is rounding."""
        rounded = np.abs(open_of_rates).dot(SUMMED * np.abs(step.y1) / (step.t1 - step.t0))
        return bool((rounded <= may_be).all())


def uncertainty(motion: Motion, place: Place) -> np.ndarray:
    """How far what is solved for at a place may be off: by what a solution leaves of its equations, and rounding of their terms.

    Not a number where it does not exist. Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., SIAM 2002, section 7.2.
    """
    left, J = (
        REACHED * motion.system.rounding(place.y, place.xi, motion.constants),
        _slopes(motion.linear(place)),
    )
    return _through(J[:, motion.solved], left + ROUNDING * np.abs(J) @ np.abs(place.y))


def _rounding_along(motion: Motion, begin: Place, place: Place, end: Place) -> np.ndarray:
    """The same for its distance from the cubic between two other places.

    Slopes solve equations with the same matrix, which moves with what is solved for: by how much says its change over the step,
    for ``(J_y dy) y_t = (J_y y_t) dy``.
    """
    h, found = end.h - begin.h, uncertainty(motion, place)
    first, last = (_slopes(motion.linear(p)) for p in (begin, end))
    turned, s = np.abs(last - first)[:, motion.solved], (place.h - begin.h) / h
    for p, J, r in ((begin, first, 1.0 - s), (end, last, s)):
        value = uncertainty(motion, p)
        doubt = turned @ value + ROUNDING * h * (np.abs(J) @ np.abs(motion.slopes(p)))
        slope = _through(J[:, motion.solved], doubt)
        found += r * r * ((3.0 - 2.0 * r) * value + (1.0 - r) * slope)
    return found


def balancing(motion: Motion, place: Place) -> np.ndarray:
    """How large open unknowns would be if each alone balanced the other ones in one of its equations."""
    J = np.abs(motion.linear(place).F_y[:, motion.system.nx :])
    terms = (J @ np.abs(place.H))[:, None]
    return np.divide(terms, J, out=np.full(J.shape, np.inf), where=J > 0.0).min(axis=0)


def terms(motion: Motion, place: Place, solved: np.ndarray) -> np.ndarray:
    """Magnitudes (k, 2) of the terms that give coordinates and open unknowns at a place, and their slopes.

    What is solved for takes over the rounding of all rows, that of what their operations give on the way included: it may vanish
    where none of that does. No number where it does not exist.
    """
    system = motion.system
    found = np.abs(np.column_stack((place.y, motion.slopes(place))))
    J = _slopes(system.linear(place.y, place.xi, motion.constants))
    cancel = np.abs(J) @ found
    cancel[:, 0] += system.rounding(place.y, place.xi, motion.constants) / UNIT
    found[solved] = _through(J[:, solved], cancel)
    return found


def unknowns_from(motion: Motion) -> np.ndarray:
    """Magnitudes of the terms that give the core unknowns at the last point."""
    place, system = motion.last, motion.system
    of_place = terms(motion, place, motion.solved)[:, 0]
    return abs(system.z_of) @ (abs(system.v0.y) @ of_place + abs(system.v0.xi) @ np.abs(place.xi))


def rates_from(motion: Motion, place: Place, solved: np.ndarray) -> np.ndarray:
    """Magnitudes of the terms that give the rates of core unknowns at a place, zero for those that are no states.

    Where rates cancel, as at rest between equal parts, rounding of what is ``solved`` for moves states all the same.
    """
    system = motion.system
    of_place = terms(motion, place, solved)[:, 0]
    found = abs(system.rate_of_both) @ of_place + abs(system.rate_of_sources) @ np.abs(place.xi)
    states, rates = system.mode.states, np.zeros(system.z_of.shape[0])
    rates[states] = np.where(np.isfinite(found), found, 0.0)[: len(states)]
    return rates


def _slopes(lin: Linear) -> np.ndarray:
    """Derivatives of all rows by coordinates and open unknowns."""
    return np.vstack([lin.C_y, lin.F_y])


def _through(J: np.ndarray, defect: np.ndarray) -> np.ndarray:
    """What defects of all rows make of what is solved for from them, with the derivatives by that."""
    try:
        return np.abs(np.linalg.inv(J)) @ defect
    except np.linalg.LinAlgError:
        return np.full(defect.shape, np.nan)


def straight(begin: Place, end: Place) -> Step:
    """Coordinates and open unknowns along straight lines between two points."""
    dense = np.zeros((3, len(begin.y)))
    return Step(begin.h, end.h, begin.y, end.y, dense, dense[:0])


def cubic(motion: Motion, begin: Place, end: Place) -> Step:
    """Coordinates and open unknowns along cubics with the slopes at both points."""
    found, h = straight(begin, end), end.h - begin.h
    found.dense[:2] = _bends(end.y - begin.y, h * motion.slopes(begin), h * motion.slopes(end))
    return found


def _bends(chord: np.ndarray, first: np.ndarray, last: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of `Step` of a cubic with these slopes over the step; one that is no number is that of the chord."""
    m0, m1 = first - chord, last - chord
    if not math.isfinite(np.add.reduce(m0) + np.add.reduce(m1)):
        m0, m1 = (np.where(np.isfinite(m), m, 0.0) for m in (m0, m1))
    return m0, -m0 - m1
