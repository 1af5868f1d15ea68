"""How uncertain a form is, and why: the one home of what counts as zero at an instant and along a segment.

A form is a row over the unknowns: a guard, a relation, a constraint, a jump. Its value is off by rounding of its evaluation,
`ROUNDING` of the magnitudes of its terms also where these cancel, and by what the point is off by (`Uncertainty`). Along a
segment the second moves with the motion (`FlowNoise`), or what integration missed of the form comes to it (`StepNoise`).
A segment counts twice what the sign test at its begin does, which then sees what is left there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from ..kernels.crossing import TOUCH, TWICE
from ..kernels.motion import NoiseForms
from ..kernels.rounding import LOCATED as LOCATED
from ..kernels.rounding import MISSED as MISSED
from ..reduction.affine import Restart
from ..reduction.rounding import ROUNDING, SUMMED
from .closed_form import AffineFlow, Trajectory
from .power_series import PowerSeries

ORDER = 5
"""Power of its length with which the error of a step grows, in all methods."""


# -- at an instant ------------------------------------------------------------------------------------------------------


class Uncertainty(NamedTuple):
    """How exactly left limits are known."""

    late: float
    """Seconds by which the instant may be early or late."""
    error: np.ndarray | None = None
    """Rounding (n,) of the core unknowns, None where nothing has moved yet."""
    rate: Callable[[], np.ndarray] | None = None
    """Tells the time derivatives (n,) of the core unknowns before the instant; None where what moves in ``late`` does not
    count."""
    sources: np.ndarray | None = None
    """How far sources (q,) may be off because they are fitted, or evaluated, anew; None where they go on."""
    shift: np.ndarray | None = None
    """How far core unknowns and sources (n + q, ...) move while the time of a crossing is open; None if it is not. Of two ways to
    tell it (n + q, 2), a row is off by the smaller one: time alone, and time that makes up for states that are off."""

    @classmethod
    def at(cls, t: float, rates: np.ndarray | None = None) -> Uncertainty:
        """At a time that is located to its last places; sources with these ``rates`` (q,) round as it does."""
        late = LOCATED * math.ulp(t)
        return cls(late, sources=None if rates is None else late * np.abs(rates))

    def after(self, restart: Restart, removed: np.ndarray | None) -> Uncertainty:
        """The same behind a restart: what it has ``removed`` of defects is as little known as the defects were."""
        error = np.zeros(len(restart.z)) if self.error is None else self.error.copy()
        if removed is not None:
            error[restart.data.states] += removed
        return self._replace(error=error)

    def part(self, which: np.ndarray, sources: np.ndarray, n: int) -> Uncertainty:
        """The same for some of ``n`` unknowns and of the sources."""
        whole = self.rate
        rate = None if whole is None else lambda: whole()[which]
        moved = None if self.sources is None else self.sources[sources]
        shift = None if self.shift is None else self.shift[np.concatenate([which, n + sources])]
        error = None if self.error is None else self.error[which]
        return Uncertainty(self.late, error, rate, moved, shift)

    def moving(self, rows: np.ndarray, driven: np.ndarray) -> np.ndarray:
        """How far rows (k, n) over the core unknowns and (k, q) over the sources move while the time is uncertain.

        What moves the unknowns together may move a row not at all.
        """
        found = np.zeros(len(rows))
        if self.sources is not None:
            found += np.abs(driven) @ self.sources
        if self.rate is not None:
            found += self.late * np.abs(rows @ self.rate())
        if self.shift is not None:
            n = rows.shape[1]
            found += shifted(rows, self.shift[:n], driven @ self.shift[n:])
        return found

    def motion(self, sources: np.ndarray) -> np.ndarray | None:
        """How far core unknowns and sources (n + q,) move together while the instant may be late, sources with these rates."""
        moved = None if self.rate is None else self.late * np.concatenate([self.rate(), sources])
        return moved if self.shift is None else self.shift if moved is None else (self.shift.T + moved).T

    @property
    def each(self) -> np.ndarray | None:
        """Rounding (n,) of the core unknowns, each with what moves it by itself."""
        if self.rate is None:
            return self.error
        found = (0.0 if self.error is None else self.error) + self.late * np.abs(self.rate())
        return found if self.shift is None else found + shifted(np.eye(len(found)), self.shift[: len(found)])

    @property
    def apart(self) -> Uncertainty:
        """The same where each of the core unknowns is judged by what moves it by itself."""
        return Uncertainty(self.late, self.each, self.rate)


CERTAIN = Uncertainty(0.0)


def shifted(rows: np.ndarray, shift: np.ndarray, beside: np.ndarray | float = 0.0) -> np.ndarray:
    """How far rows (k, ...) move with a `Uncertainty.shift`, which moves something ``beside`` (k, ...) too."""
    found = np.abs(rows @ shift + beside)
    return found if found.ndim == 1 else found.min(axis=1)


# -- along a closed form ------------------------------------------------------------------------------------------------


class ShiftNoise(NamedTuple):
    """How the shift of a start moves along one trajectory: as the states do, all of it together."""

    moving: np.ndarray
    """Magnitudes (ng, nt) of the coefficients of each function."""
    start: np.ndarray
    """Magnitudes (ng,) at the start, where functions cancel."""
    rates: np.ndarray
    """Magnitudes (ng, size) of the coefficients of the time derivative."""


class Sizes(NamedTuple):
    """Noise along one trajectory."""

    start: np.ndarray
    """Of the values at the start (ng,)."""
    moving: np.ndarray
    """Coefficients (ng, nt) of the part that moves, for each function."""
    staying: np.ndarray
    """The same of the part that stays."""
    shifted: ShiftNoise | None
    """What the shift of the start does; None without one."""
    missed: np.ndarray
    """By how much the rates (ng,) at the start are missed."""


class _SeriesNoise:
    """What a power series does to the noise of guards: a column (ng, powers) for each of its functions, cosines before sines."""

    def __init__(self, series: PowerSeries, G: np.ndarray, error: float, missed: np.ndarray) -> None:
        self.series, self._error, self._missed = series, error, missed
        self.over = [G @ left for left in series.left]
        self._sizes = [np.abs(over) for over in self.over]
        self._terms = [TWICE * SUMMED * (np.abs(G) @ np.abs(left)) for left in series.left]

    def moving(self, y: np.ndarray, sums: np.ndarray) -> list[np.ndarray]:
        """Of the part that moves, with start values of magnitudes ``y`` (ny,) and their ``sums`` in the series."""
        found = self._error * sums + self.series.magnitudes(y, self._missed)
        return [over @ found for over in self._sizes]

    def staying(self, sums: np.ndarray) -> list[np.ndarray]:
        """The same of the part that stays."""
        return [terms @ sums for terms in self._terms]

    def shifted(self, shift: np.ndarray) -> list[np.ndarray]:
        """What the shift (ny,) of a start makes of each function."""
        found = np.abs(self.series.weights(shift))
        return [over @ found for over in self._sizes]


class FlowNoise:
    """Noise of the guards ``G y`` along the trajectories of one flow.

    Parameters
    ----------
    flow : AffineFlow
    G : (ng, ny) array
    rates : (ng, ny) array
        Time derivatives of the guards.
    error : float
        Error of the states at the start of a segment, relative to their magnitudes.

    Attributes
    ----------
    moves, stays : arrays of int
        Functions that the terms of the noise follow: of the part that moves, and of the one that stays.

    Notes
    -----
    An error of the start moves as the states do: what a fast function makes of it is gone when that has decayed. The small flow
    through a loss is a difference of large states times the conductance; it is known as exactly as the slow functions give it,
    not as the states are known. A guard that reads few states, as the speed of a swing, is known better at its start than errors
    of all states at once would make it: the smaller of the two counts. What rounding of the last segment left in all states
    belongs to the floor, which the caller gives. Rounding of an evaluation stays as long as the terms do that cancel in it.
    By how much the functions together miss the start is an error of it too: a state that is exactly zero begins beside zero.
    So does a rate, which takes a guard that leaves zero slowly below it at first.
    """

    def __init__(self, flow: AffineFlow, G: np.ndarray, rates: np.ndarray, error: float) -> None:
        left, self._right, moves = flow.independent
        self._left, missed = G @ left, flow.missed
        follows = error * np.abs(self._right) + np.abs(self._right @ missed)
        self._moving = np.abs(self._left)
        self._start = error * np.abs(G) + np.abs(G @ missed)
        self._staying = TWICE * SUMMED * (np.abs(G) @ np.abs(flow.left))
        self._flow, self._G = flow, G
        self._basis, slopes = flow.basis, flow.basis.frame[:, 1]
        rest = (self._left * slopes[moves]) @ self._right - rates
        self._series = [_SeriesNoise(series, G, error, missed) for series in flow.series]
        for series in self._series:
            rest += series.series.derivative(series.over, slopes)
        more = [columns for series in flow.series for columns in series.functions]
        self.moves, self.stays = np.concatenate([moves, *more]), np.concatenate([flow.function, *more])
        self._size = np.abs(flow.right)
        self._over_y = np.concatenate([self._start, np.abs(rest), follows, self._size])

    @property
    def for_kernels(self) -> NoiseForms:
        """What kernels read of it where the flow has no power series."""
        parts = self._over_y, self._left, self._right, self._staying
        return NoiseForms._make([*map(np.ascontiguousarray, parts), np.zeros(len(self._over_y))])

    def sizes(self, trajectory: Trajectory) -> Sizes:
        """What noise a trajectory has."""
        # One product for all: there are few guards and functions.
        y = np.abs(trajectory.y0)
        found, shift = self._over_y.dot(y), trajectory.shift
        m, n = len(self._start), len(found) - len(self._size)
        moving, staying = self._moving * found[2 * m : n], self._staying * found[n:]
        for series in self._series:
            sums = series.series.magnitudes(y)
            moving = np.hstack([moving, *series.moving(y, sums)])
            staying = np.hstack([staying, *series.staying(sums)])
        shifted = None if shift is None else self._shifted(shift)
        return Sizes(found[:m], moving, staying, shifted, found[m : 2 * m])

    def _shifted(self, shift: np.ndarray) -> ShiftNoise:
        rates = self._G.dot(self._flow.coefficients(shift)).dot(self._basis.derivative)
        moving = np.abs(self._left * self._right.dot(shift))
        for series in self._series:
            moving = np.hstack([moving, *series.shifted(shift)])
        return ShiftNoise(moving, np.abs(self._G.dot(shift)), np.abs(rates))

    def rounding(self, trajectory: Trajectory, h: float) -> np.ndarray:
        """That of an evaluation (ng,) at one time."""
        start, piece = trajectory.piece(h)
        weights, y = self._basis.weights(h - start)[self.stays], np.abs(piece.y0)
        staying = self._staying * self._size.dot(y)
        for series in self._series:
            staying = np.hstack([staying, *series.staying(series.series.magnitudes(y))])
        return staying.dot(weights)


# -- along steps --------------------------------------------------------------------------------------------------------


def lasting(h: float, rtol: float) -> float:
    """Time in which what a step of ``h`` seconds follows moves by its own size: a step that long would miss all of it.

    For that time rounding of the states, which every step brings anew, moves what follows from them.
    """
    return h * rtol ** (-1.0 / ORDER)


def rounded_states(rates: np.ndarray, terms: np.ndarray, h: float) -> np.ndarray:
    """Rounding of states after ``h`` seconds: that of their rates, the sums of ``terms``, until it has died away.

    ``rates`` are the magnitudes of the derivatives of these by the states.
    """
    return ROUNDING * h * terms / np.maximum(h * rates.diagonal(), 1.0)


def rounded_chain(rates: np.ndarray, terms: np.ndarray, h: float) -> np.ndarray:
    """The same over one step, and of what follows these states: as the implicit Euler method carries it on.

    ``rates`` are the derivatives themselves, the first columns those by the states. What decays fast is bounded forward, what
    grows fast backward: the smaller of both counts. Between them, what does both moves no more than without either.
    """
    n, rounded = len(rates), ROUNDING * h * terms
    found = np.full(n, np.inf)
    for step in (h * rates[:, :n], -h * rates[:, :n]):
        with suppress(np.linalg.LinAlgError):  # Growth over just this time, seen from its begin.
            found = np.fmin(found, np.abs(np.linalg.inv(np.eye(n) - step)) @ rounded)
    return np.where(np.isfinite(found), found, rounded)


Rounded = Callable[[float], np.ndarray]


class StepNoise:
    """Noise of the forms of a segment in steps: the estimated error of a step, and the rounding of an evaluation.

    What rounds in the states moves a form that is zero with all its terms, for as long as it takes what the steps follow to move.
    A form that was positive and comes to lie below zero by less than the errors which the steps before it and around it left
    may have come to rest there. What lies deeper is a crossing, and is located where the form vanishes. Errors of earlier
    steps do not count: added up they exceed what a form that is damped ever was, and then nothing crosses.

    Parameters
    ----------
    begin : (forms,) array
        Rounding that the begin of the segment leaves for all of it.
    late : (forms,) array
        How far the begin is off because the crossing there may be late: errors of the steps before. What has been farther from
        zero has left them, and they allow no step to miss as much.
    drift : callable, optional
        Rounding (forms,) of the states that stays for some seconds; by default none.
    chain : callable, optional
        Rounding (forms,) that the rates of a step of some seconds leave, along chains of states too; by default none.
    rates : (forms,) array or float, optional
        By how much the rates at the begin are off.

    Attributes
    ----------
    drift, chain : callable
    rates : (forms,) array or float
    resolution : (forms,) array
        Rounding of an evaluation after the last step.
    missed : (forms,) array
        What integration may have missed of the forms along the last step, and rounding of their own terms: what does not leave
        that before it turns back has no sign that an instant could tell.
    """

    def __init__(
        self, begin: np.ndarray, late: np.ndarray, drift: Rounded | None = None, chain: Rounded | None = None,
        rates: np.ndarray | float = 0.0,
    ) -> None:  # fmt: skip
        self._begin, self.late, self.rates = begin, late, rates
        self.drift, self.chain = (rounded or (lambda _: np.zeros(len(begin))) for rounded in (drift, chain))
        self._error, self._terms, self.missed = np.zeros((3, len(begin)))
        self.resolution = begin.copy()

    @property
    def floor(self) -> np.ndarray:
        """Depth at which an unarmed form reacts."""
        return self.resolution + self.late + self.missed

    @property
    def touch(self) -> np.ndarray:
        """Depth up to which a form below zero has not crossed it. A state that came to rest may swing within its error."""
        return TOUCH * self.resolution + self.missed

    def follow(self, h: float, terms: np.ndarray, error: np.ndarray) -> None:
        """Take a step with the terms of the forms at its end and their errors; rounding stays for ``h`` seconds."""
        evaluated = TWICE * ROUNDING * np.maximum(terms, self._terms)
        self.resolution[:] = self._begin + evaluated + TWICE * self.drift(h)
        self.missed[:] = MISSED * np.maximum(error, self._error) + evaluated
        self._error, self._terms = error, terms
