"""What a run confirms of itself, as functions of arrays: guards, relations and branches; jumps; equations and motion.

A value may be off by rounding, `ROUNDED` of the terms it was computed from, however these cancel; along a closed form by
`EVALUATED` of them, and by what its functions of time make of `ROUNDED` of the point at its start; by what moves while an
event may be late; and where it was integrated or solved for numerically by a multiple of the tolerance asked for, of what it
was on the way. Nothing else counts: no estimate of an error, no depth of the search for crossings and no scale, so that a fault
in how those judge noise does not hide here.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from ..compilation.discrete_check import ROUNDED as ROUNDED
from ..dynamics.closed_form import AffineFlow, Trajectory
from ..kernels.rounding import EVALUATED, LATE, RESOLVED
from ..reduction.affine import SLIDING, AffineModel, Element, Kind, ModeData, Rows
from ..reduction.double_double import over_state
from ..reduction.rounding import TINY, UNIT, amplitudes
from ..values import frozen
from .nonlinear.system import beside
from .watch import can_trigger, orientations

ELIMINATED = 2.0**-26
"""The same for what the elimination of a mode gives: half the digits, to which `reduction.identities` checks each mode."""
NOTHING = 2.0**-104
"""Part of the scale of a variable that two roundings leave: equations between values below it say nothing."""
SOLVED = 1e-6
"""Part of the magnitude that numerical solutions of nonlinear equations may miss."""
STEPS = 100.0
"""The same for what is integrated, in units of the relative tolerance of the run."""
WHERE = (0.6180339887498949, 1.0)
"""Where the motion of a segment is looked at, in its length; equations at the first of these."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
PANEL = np.concatenate([[-1.0], NODES, [1.0]])


def lateness(t: float, tolerance: float) -> float:
    """Seconds by which an event may be late, where those within ``tolerance`` share an instant."""
    return LATE * math.ulp(t) + tolerance


@dataclass(frozen=True)
class Violation:
    """A row that does not hold: its number, value, the sum of the magnitudes of its terms, and what is allowed."""

    what: str
    """"guard" (or relation), "branch" (number of an element), "rest" (as of a guard), "conservation", "equation", "record"
    (number of an unknown whose jump is not recorded), "motion", "flow", "drift" or "crossing" (number of a state), "hidden" (as
    of a guard), "discrete" or "time" (number of a relation of time), "start" (number of a variable)."""
    which: int
    value: float
    terms: float
    allowed: float


@frozen
class Doubt:
    """By how much a state vector may be off."""

    terms: np.ndarray
    """Magnitudes (ny,) of what it was computed from."""
    late: np.ndarray
    """How far (ny,) it moves while an event may be late, or may be off by what its steps rounded."""
    tolerance: float = 0.0
    """Of what is integrated, as a part of the magnitudes ``terms``."""
    flow: tuple[AffineFlow, np.ndarray, np.ndarray] | None = None
    """Along a closed form the flow, the magnitudes of its functions and of the states (ny,) at its start; None elsewhere."""

    solved: np.ndarray | None = None
    """Magnitudes (n,) of what unknowns were solved from where nonlinear equations give them; None elsewhere."""

    def of(self, rows: np.ndarray, parts: np.ndarray, reads: np.ndarray) -> np.ndarray:
        """By how much rows over it may be off, which were computed from coefficients of the magnitudes ``parts``.

        ``reads`` are the magnitudes of their coefficients over the unknowns.
        """
        found = (ROUNDED if self.flow is None else EVALUATED) * parts.dot(self.terms)
        found += np.abs(rows).dot(np.abs(self.late))
        if self.flow is not None:
            # Products of one function may cancel in a row whatever the states are.
            found += ROUNDED * self.flow[0].cancelling(rows, *self.flow[1:])
        if self.solved is not None:
            found += ROUNDED * reads.dot(self.solved)
        return found + self.tolerance * np.abs(rows).dot(self.terms) if self.tolerance else found


def doubt_along(trajectory: Trajectory, length: float, h: float, late: np.ndarray) -> Doubt:
    """By how much the state vector may be off at time ``h`` of a segment in closed form."""
    start, piece = trajectory.piece(h)
    flow, weights = piece.flow, piece.flow.basis.magnitudes(h - start)
    return Doubt(trajectory.magnitude(length), late, flow=(flow, weights, np.abs(piece.y0)))


@frozen
class Held:
    """What has to stay positive in a mode, and what selects branches: rows over ``y``, with the magnitudes of their parts."""

    rows: np.ndarray
    parts: np.ndarray
    which: np.ndarray
    """Numbers of the rows among all forms of the mode."""
    reads: np.ndarray
    """Magnitudes (rows, n) of the coefficients over the unknowns."""
    selections: tuple[tuple[int, np.ndarray, np.ndarray, np.ndarray, Callable[[np.ndarray], int]], ...]
    """Element, relations over ``y`` with their parts and what they read, and the branch that their signs select."""
    speeds: tuple[tuple[int, int], ...] = ()
    """Elements of friction that slides, and at rest holds more than it has then, with the places of the rows of their speeds."""

    @cached_property
    def _sizes(self) -> np.ndarray:
        return np.abs(self.rows)

    def clear(self, y: np.ndarray, late: np.ndarray) -> bool:
        """Whether nothing is left or selected at ``y``, whatever the doubt is beside rounding of an evaluation.

        ``late`` is how far (ny,) the point moves while an event may be late.
        """
        if self.selections or not len(self.rows):
            return not self.selections
        allowed = EVALUATED * self.parts.dot(np.abs(y)) + self._sizes.dot(np.abs(late))
        return False not in (self.rows.dot(y) + allowed >= 0.0).tolist()


def held(
    data: ModeData, model: AffineModel, relations: Rows, operators: Sequence[str], values: Sequence[float],
    forced: Sequence[int], disabled: frozenset[tuple[int, int, int]],
) -> Held:  # fmt: skip
    """What is in force with these values of the relations."""
    n, guards = model.n, data.guards
    in_mode = Rows(np.zeros((len(guards), n)), guards[:, :n], guards[:, n:])
    rows, parts = (
        np.concatenate(both) for both in zip(over_y(in_mode, data), over_y(relations, data), strict=True)
    )
    which = np.flatnonzero(can_trigger(data, forced, disabled, len(rows)))
    side = orientations(len(guards), operators, values)[which, None]
    selections = []
    for number, element in enumerate(model.elements):
        given, select = element.relations, element.select
        if element.kind is Kind.CONDITION and given is not None and select and forced[number] < 0:
            selections.append((number, *over_y(given, data), np.abs(given.A), select))
    reads, speeds = np.abs(np.concatenate([in_mode.A, relations.A])[which]), _speeds(data, model, which)
    return Held(rows[which] * side, parts[which], which, reads, tuple(selections), speeds)


def _speeds(data: ModeData, model: AffineModel, which: np.ndarray) -> tuple[tuple[int, int], ...]:
    """Elements of friction with a breakaway level of its own that moves, and places of their guards among the forms ``which``."""
    found = []
    for place, guard in enumerate(which[which < len(data.guards)].tolist()):
        k = int(data.guard_element[guard])
        element = model.elements[k]
        if element.kind is Kind.FRICTION and not element.monotone and data.mode[k] in SLIDING:
            found.append((k, place))
    return tuple(found)


def over_y(rows: Rows, data: ModeData) -> tuple[np.ndarray, np.ndarray]:
    """Forms over the state vector of a mode, and magnitudes of the products that make each coefficient.

    A source that vanishes is made of no less than its amplitude: its parts count what moves it too.
    """
    k, (over, speed) = len(data.states), data.sizes
    parts = np.abs(rows.A) @ over + np.abs(rows.E) @ (over @ speed)
    parts[:, k:] += np.abs(rows.B)
    parts[:, k:] = parts[:, k:] @ amplitudes(data.Ay[k:, k:])
    return over_state(data, rows.A, rows.B, rows.E), parts


def rounded_step(data: ModeData, y: np.ndarray, h: float) -> np.ndarray:
    """By how much the state vector (ny,) may be off because the terms of its rates cancel, and what follows it with it.

    Carried on by a step of the implicit Euler method, in the direction of time in which it damps. The control of steps estimates
    the same by itself; a check shares nothing with it. Closed forms have no steps, ``h = 0``.
    """
    if h == 0.0:
        return np.zeros(len(y))
    rounded = ROUNDED * h * (data.sizes[1] @ np.abs(y))
    # What has no rate stays, and enters the others as often as a step reads it.
    moves = abs(data.Ay).sum(axis=1) > 0.0
    unit, inner, beside = (
        np.eye(int(moves.sum())),
        data.Ay[np.ix_(moves, moves)],
        data.Ay[np.ix_(moves, ~moves)],
    )
    ways = [rounded]
    for step in (h, -h):
        with suppress(np.linalg.LinAlgError):
            inverse = np.linalg.inv(unit - step * inner)
            ways.append(rounded.copy())
            ways[-1][moves] = (
                np.abs(inverse) @ rounded[moves] + np.abs(step * inverse @ beside) @ rounded[~moves]
            )
    return np.min(ways[1:] or ways, axis=0)


def left_branch(rows: Held, mode: Sequence[int], y: np.ndarray, doubt: Doubt) -> Violation | None:
    """The guard or relation that is left at ``y``, or the element whose conditions select another branch; None without any."""
    values = rows.rows.dot(y)
    low = np.flatnonzero(~(values >= 0.0))
    if len(low):
        parts, off = rows.parts[low], doubt.of(rows.rows[low], rows.parts[low], rows.reads[low])
        found = worst("guard", rows.which[low], -values[low], parts.dot(np.abs(y)), off)
        if found is not None:
            return found
    for number, forms, parts, reads, select in rows.selections:
        values = forms.dot(y)
        if select(np.sign(values)) == mode[number]:
            continue
        allowed = doubt.of(forms, parts, reads)
        # Where one of them may be zero, signs of derivatives decide.
        if not (np.abs(values) <= allowed).any():
            k = int(np.argmin(np.abs(values)))
            return Violation(
                "branch", number, float(values[k]), float(parts[k].dot(np.abs(y))), float(allowed[k])
            )
    return None


def admits(rows: Held, mode: Sequence[int], y: np.ndarray, Ay: np.ndarray) -> bool:
    """Whether a point lies in a mode beyond doubt: what has to be positive is, or leaves zero upwards."""
    rate = Ay @ y
    values, slopes = rows.rows @ y, rows.rows @ rate
    rounded = ROUNDED * (rows.parts @ np.abs(y))
    rising = slopes > ROUNDED * (rows.parts @ (np.abs(Ay) @ np.abs(y)))
    if not ((values > rounded) | ((np.abs(values) <= rounded) & rising)).all():
        return False
    for number, forms, parts, _, select in rows.selections:
        values = forms @ y
        if (np.abs(values) <= ROUNDED * (parts @ np.abs(y))).any() or select(np.sign(values)) != mode[number]:
            return False
    return True


def resting(
    rows: Held, released: Sequence[int], points: Sequence[tuple[np.ndarray, np.ndarray]], Ay: np.ndarray
) -> Violation | None:
    """The one of the elements ``released`` that left its breakaway level although nothing moves, by states and their rates.

    It begins to slide with less force than it held with, so that its speed or the rate of that leaves rounding where it slides.
    """
    for place in (place for k, place in rows.speeds if k in released):
        row, parts = rows.rows[place], rows.parts[place]
        speeds = [(abs(row @ y), parts @ np.abs(y)) for y, _ in points]
        rates = [(abs(row @ rate), parts @ (np.abs(Ay) @ np.abs(y))) for y, rate in points]
        if all(value <= ROUNDED * terms for value, terms in speeds + rates):
            return Violation("rest", int(rows.which[place]), float(speeds[-1][0]), 0.0, 0.0)
    return None


def worst(
    what: str, which: np.ndarray, values: np.ndarray, terms: np.ndarray, allowed: np.ndarray
) -> Violation | None:
    """The value farthest above what is allowed, not a number included."""
    holds = values <= allowed
    if holds.all():
        return None
    wrong = np.flatnonzero(~holds)
    # What is no number lies farther outside than anything.
    excess = np.where(np.isfinite(values[wrong]), values[wrong] / np.maximum(terms[wrong], TINY), np.inf)
    k = int(wrong[np.argmax(excess)])
    return Violation(what, int(which[k]), float(values[k]), float(terms[k]), float(allowed[k]))


def unconserved(
    rows: Rows,
    which: np.ndarray,
    jump: tuple[np.ndarray, np.ndarray, np.ndarray],
    sizes: Sequence[np.ndarray],
    free: Sequence[int],
    doubt: tuple[np.ndarray, np.ndarray],
    tolerance: float,
) -> Violation | None:
    """The one of the rows ``which`` whose integral over a part of an instant, ``E (z+ - z-) + A J1 = 0``, does not hold.

    ``jump`` are both limits and the impulses, ``sizes`` the magnitudes of both and of what they were computed from, however it
    cancelled; ``free`` are unknowns that are set from outside by an impulse of their own; ``doubt`` are by how much
    the limits may be off, and the impulses that this explains.
    """
    E, A, (before, after, J1) = rows.E[which], rows.A[which], jump
    value = E @ (after - before) + A @ J1
    if len(free):
        own = E[:, list(free)]
        own = own if isinstance(own, np.ndarray) else own.toarray()
        value = value - own @ np.linalg.lstsq(own, value, rcond=None)[0]
    size = abs(E)
    terms = size @ sizes[0] + abs(A) @ sizes[1]
    return worst(
        "conservation", which, np.abs(value), terms, tolerance * terms + size @ doubt[0] + abs(A) @ doubt[1]
    )


@frozen
class Point:
    """Unknowns, their slopes and the sources at a time, with what the first two may be off by."""

    z: np.ndarray
    slopes: np.ndarray
    xi: np.ndarray
    doubt: tuple[np.ndarray, np.ndarray]


class ModelRows:
    """The rows ``E z' + A z + B xi`` of a model: its base equations, then those of all branches of its elements.

    They are put side by side once, to look at all of them at once.
    """

    def __init__(self, base: Rows, elements: Sequence[Element]) -> None:
        parts, end = [base], len(base)
        self._base, self._branches = np.arange(end), list[list[np.ndarray]]()
        for element in elements:
            parts += [b.equations for b in element.branches]
            ends = end + np.cumsum([len(b.equations) for b in element.branches])
            self._branches.append([np.arange(a, b) for a, b in pairwise([end, *ends.tolist()])])
            end = int(ends[-1])
        self._rows = beside([
            np.concatenate([getattr(p, name) for p in parts]) if len(parts) > 1 else getattr(base, name)
            for name in "EAB"
        ])  # fmt: skip
        self._sizes = abs(self._rows)

    def unsolved(
        self, mode: Sequence[int], which: np.ndarray | None, at: Point, tolerance: float
    ) -> Violation | None:
        """The one of the equations ``which`` of a mode, None for all, that does not hold at a point."""
        in_force = np.concatenate([self._base, *(b[k] for b, k in zip(self._branches, mode, strict=True))])
        which = np.arange(len(in_force)) if which is None else which
        point, rows = np.concatenate([at.slopes, at.z, at.xi]), in_force[which]
        doubt = np.concatenate([at.doubt[1], at.doubt[0], np.zeros(len(at.xi))])
        value, terms = np.abs(self._rows @ point)[rows], (self._sizes @ np.abs(point))[rows]
        return worst("equation", which, value, terms, tolerance * terms + (self._sizes @ doubt)[rows])


def unmoved(
    data: ModeData, trajectory: Any, length: float, size: np.ndarray, least: np.ndarray
) -> Violation | None:
    """The state that does not move as its derivative says: ``y(b) - y(a)`` is the integral of ``Ay y`` (Gauss, 8 nodes).

    What is below ``least`` (k,) is no motion of a state.
    """
    rate = data.sizes[1]
    # Eight nodes resolve what the states and the sources do within the time constant of the fastest of them.
    half = 0.5 * length / max(1.0, length * data.fastest)
    middles = np.array([min(max(where * length, half), length - half) for where in WHERE])[:, None]
    inner = trajectory.sample((middles + half * PANEL).ravel()).reshape(len(middles), len(PANEL), len(size))
    value = inner[:, -1] - inner[:, 0] - half * (WEIGHTS @ inner[:, 1:-1]) @ data.Ay.T
    largest = np.abs(inner).max(axis=1)
    moved = largest @ rate.T
    terms = largest + 2.0 * half * moved
    late = LATE * np.spacing(middles + half) * moved
    allowed = QUADRATURE * terms + late + ROUNDED * (size + 2.0 * half * (rate @ size))
    allowed[:, : len(least)] += least
    value = np.abs(value)
    if (value <= allowed).all():
        return None
    which = np.tile(np.arange(len(size)), len(middles))
    return worst("motion", which, value.ravel(), terms.ravel(), allowed.ravel())


def cancelled(flow: AffineFlow) -> Violation | None:
    """The state whose closed form is not the solution of its equations, see `dynamics.exponential`."""
    found = flow.departure
    return None if found is None else Violation("flow", found.state, found.off, found.size, found.allowed)


def drifting(
    data: ModeData, flow: AffineFlow, y: np.ndarray, length: float, part: float = 0.0
) -> Violation | None:
    """The state that rounding of the coefficients of its mode moves: rates that cancel exceed what is left of them too far.

    ``y`` are the largest magnitudes of the state vector along a segment, of which a run may miss a ``part``.
    """
    rates, states = data.sizes[1] @ y, len(data.states)
    rates[states:] = 0.0  # Sources are followed by their own functions.
    off, terms = flow.drift(rates, y, length)
    off, terms = off[:states], terms[:states]
    return worst("drift", np.arange(states), off, terms, max(RESOLVED, part) * terms)


def may_drift(data: ModeData, y: np.ndarray, length: float) -> bool:
    """Whether a state may be `drifting`, where all remember everything: what can be told without the closed form."""
    states = len(data.states)
    return bool((UNIT * length * (data.sizes[1] @ y)[:states] > RESOLVED * y[:states]).any())


def covered(data: ModeData, trajectory: Trajectory, y: np.ndarray, length: float) -> bool:
    """Whether rounding covers rates of a mode at some states ``y`` (k, ny) of a segment: what forms tell is doubtful there."""
    states = len(data.states)
    rounded = EVALUATED * length * (data.sizes[1][:states] @ np.abs(y).max(axis=0))
    return bool((rounded > RESOLVED * trajectory.magnitude(length)[:states]).any())


def unseen(rows: Held, trajectory: Trajectory, y: np.ndarray, length: float, side: float) -> np.ndarray:
    """Mask (k, rows) of forms that are not above rounding at states ``y`` (k, ny).

    Whether they have been left cannot be seen there. On the other ``side``, -1, are those that lie below rounding: they have been
    left, and it was not seen where what is judged along steps may be off by more.
    """
    return y @ rows.rows.T <= side * EVALUATED * (rows.parts @ trajectory.magnitude(length))


QUADRATURE = 1e-9
"""Part of the magnitudes that eight nodes miss of a motion within its shortest time constant."""
EVERY_VISIT = False
"""Look inside every segment, not only inside the 1st, 4th, 16th, ... of a mode: for tests."""
