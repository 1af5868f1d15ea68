"""Choice of the next mode of a nonlinear model: search on linearised models until point and mode stay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from functools import partial

import numpy as np

from ...dynamics.directions import generic_direction
from ...dynamics.noise import Uncertainty
from ...errors import ConsistencyError
from ...reduction.affine import Inadmissible, Mode, Restart
from ...reduction.core import Values
from ..failures import UNSOLVED, NoConsistentPoint
from ..nonlinear.linearisation import Linearisation
from ..nonlinear.motion import Motion
from ..nonlinear.newton import NewtonFailure
from ..nonlinear.state_selection import DependentConstraints
from .restart import LeftLimits
from .restart import restart as entered
from .search import Choice, NoConsistentMode

WAY_POINTS = (6, 12, 24, 48, 96)
"""Points of Gauss rules along an instant, until two agree."""
MOST_ROUNDS = 40
PROBE = 0.3819660112501051
"""Part of a way at which is seen whether it bends: an irrational one, where no polynomial with simple coefficients vanishes."""
BESIDE = 0.3
"""Distance from a point at which slopes vanish, in units of the scale."""
SETTLED = 1e-9
"""Scaled change of the point between two rounds after which it stays."""
ACCEPTED = 1e-6
"""The same where it does not become smaller: what is left is rounding in a model of many unknowns."""
STALLED = 0.5
"""Part of the change before, from which on a change has not become smaller."""


Search = Callable[[Mode], Choice]
Suits = Callable[[Mode], Choice | None]
"""Mode -> what it gives at the point of the tangents in force, None where it does not suit there."""
"""The search for a consistent mode of the affine model in force, begun with a mode."""


def choose(
    lin: Linearisation, search: Search, begin: tuple[np.ndarray, np.ndarray], z_minus: np.ndarray, xi: np.ndarray,
    values: Values, present: Mode, foreseen: Sequence[Mode] = (),
) -> Choice:  # fmt: skip
    """The consistent mode after an instant, and the point in it.

    Parameters
    ----------
    begin : pair of (n,) arrays
        Core unknowns before the instant, with their slopes.
    xi, values
        Sources, parameters and discretes after the instant.
    foreseen : sequence of Mode
        Modes to which differentiated variables are likely not to jump, in the order in which they are tried: that with which a
        search begins where it is not known to be left, then a foretold one.

    Raises
    ------
    NoConsistentMode, NoConsistentPoint

    Notes
    -----
    Every round searches on the model that linearises at the last point, restarts there from the left limits,
    and solves the nonlinear rows of the mode found from that restart. At a fixed point the restart conserves what
    it must, all rows hold, and guards have their signs along the nonlinear motion. A search begins with the present
    mode; where tangents lead to and fro between modes, with the last one. Where the mode is foreseen and nothing can jump in it,
    the first round would do no more than name it. On tangents of another mode the one before may seem to end, so that it is tried
    on its own.
    """
    for mode in foreseen:
        found = _foreseen(lin, search, begin[1], z_minus, xi, values, present, mode)
        if found is not None:
            return found
    nearest = np.inf
    for choice, again, far in _rounds(lin, search, begin, xi, values, present):
        if again and (far <= SETTLED or STALLED * nearest <= far <= ACCEPTED):
            return choice
        nearest = far
    raise AssertionError("rounds end with a choice or an error")


def mode_beside(
    lin: Linearisation, search: Search, begin: tuple[np.ndarray, np.ndarray], xi: np.ndarray, values: Values,
    present: Mode,
) -> Choice:  # fmt: skip
    """The mode that two rounds of `choose` find one after the other, restarted on the tangents of the second.

    Where left limits are far from all that equations admit, as start values may be, the point needs many more rounds, or never
    stays, and what is sought from there does not depend on it.
    """
    return next(choice for choice, again, _ in _rounds(lin, search, begin, xi, values, present) if again)


def restarted(
    lin: Linearisation, mode: Mode, begin: tuple[np.ndarray, np.ndarray], xi: np.ndarray, values: Values,
    known: Uncertainty,
) -> Restart:  # fmt: skip
    """The restart in one mode, whatever its guards say; the model in force stays.

    Raises
    ------
    Inadmissible, NoConsistentPoint, NewtonFailure, DependentConstraints
    """

    def enter(present: Mode) -> Choice:
        return Choice(entered(lin.core.model, LeftLimits(lin.core.mode(present), begin[0], xi, known)), ())

    if not lin.base.reduced.nonlinear:
        return enter(mode).restart
    before = lin.core, lin.z, lin.last
    try:
        lin.linearise(*begin, xi, values)
        return choose(lin, enter, begin, begin[0], xi, values, mode).restart
    finally:
        lin.go_back(*before)


def _rounds(
    lin: Linearisation, search: Search, begin: tuple[np.ndarray, np.ndarray], xi: np.ndarray, values: Values,
    present: Mode,
) -> Iterator[tuple[Choice, bool, float]]:  # fmt: skip
    """What each round finds, whether in the mode of the one before, and how far from its point."""
    z, slopes = begin
    tried: list[Mode] = []
    first: NoConsistentMode | None = None
    for k in range(MOST_ROUNDS):
        try:
            choice = search(present)
        except NoConsistentMode as failure:
            if k or not _guesses(lin).any():
                if first is not None:
                    lin.linearise(z, slopes, xi, values)
                raise first or failure from None
            # Slopes may vanish at a guess alone: x^2 at 0.
            first = failure
            lin.linearise(_beside(lin), slopes, xi, values)
            continue
        if choice.restart.data.mode in tried[:-1]:
            choice = search(tried[-1])
        restart, mode = choice.restart, choice.restart.data.mode
        if lin.exact(mode, values) is not None:
            yield (
                choice,
                True,
                0.0,
            )  # The nonlinear rows, whose tangents may lie elsewhere, have no part in it.
        far = _distance(lin, restart.z, lin.z)
        yield Choice(restart, choice.history, others=choice.others), mode in tried[-1:], far
        tried.append(mode)
        point, rates = _point(lin, restart, xi, values)
        lin.linearise(point, rates, xi, values, derivatives(restart)[1])
    raise NoConsistentPoint(tried)


def _foreseen(
    lin: Linearisation, search: Search, slopes: np.ndarray, z_minus: np.ndarray, xi: np.ndarray, values: Values,
    present: Mode, mode: Mode,
) -> Choice | None:  # fmt: skip
    """The fixed point in a mode that is foreseen, if that is one to which no differentiated variable jumps.

    Left limits then are what a restart leads to, and the guess for the rest.
    """
    before = lin.core, lin.z, lin.last
    with suppress(NewtonFailure, DependentConstraints, NoConsistentMode):
        motion = smooth(lin, slopes, z_minus, xi, values, mode)
        choice = None if motion is None else _fixed(lin, motion, lambda: search(present), xi, values, mode)
        if choice is not None:
            return choice
    lin.go_back(*before)
    return None


def one_by_one(
    lin: Linearisation, suits: Suits, slopes: np.ndarray, z_minus: np.ndarray, xi: np.ndarray, values: Values,
    modes: Iterable[Mode],
) -> Choice | None:  # fmt: skip
    """The first of some modes with a fixed point on its own tangents to which no differentiated variable jumps.

    Where there is none all is as it was before. Newton's method may find another root than the one that suits: points of modes
    that differ in one element are guesses too.
    """
    before, found = (lin.core, lin.z, lin.last), list[tuple[Mode, np.ndarray]]()
    for mode in modes:
        near = [z for other, z in found if sum(map(int.__ne__, mode, other)) == 1]
        for guess in (lin.z, *near):
            with suppress(Inadmissible, ConsistencyError, *UNSOLVED):
                lin.mode(mode, guess, slopes, xi, values)
                motion = smooth(lin, slopes, z_minus, xi, values, mode, guess)
                choice = (
                    None
                    if motion is None
                    else _at_new_point(lin, motion, partial(suits, mode), xi, values, mode, found)
                )
                if choice is not None:
                    return choice
            lin.go_back(*before)
    return None


def _at_new_point(
    lin: Linearisation, motion: Motion, find: Callable[[], Choice | None], xi: np.ndarray, values: Values, mode: Mode,
    found: list[tuple[Mode, np.ndarray]],
) -> Choice | None:  # fmt: skip
    """The same as `_fixed` of a point that was not ``found`` before, and is added to these."""
    z = motion.unknowns(motion.last)[0]
    if any(mode == other and _close(lin, z, known).all() for other, known in found):
        return None
    found.append((mode, z))
    return _fixed(lin, motion, find, xi, values, mode)


def _fixed(
    lin: Linearisation, motion: Motion, find: Callable[[], Choice | None], xi: np.ndarray, values: Values, mode: Mode
) -> Choice | None:  # fmt: skip
    """What is found on the tangents where a motion in a mode begins, if it is that mode there and no state jumps."""
    z, rates = motion.unknowns(motion.last)
    bends = motion.system.z_of @ motion.bends(motion.last) if lin.tangents.deep else None
    lin.linearise(z, rates, xi, values, bends)
    choice = find()
    if choice is None:
        return None
    restart = choice.restart
    stays = restart.data.mode == mode and not restart.jumped and _close(lin, restart.z, lin.z).all()
    return Choice(restart, choice.history, others=choice.others) if stays else None


def smooth(
    lin: Linearisation, slopes: np.ndarray, z_minus: np.ndarray, xi: np.ndarray, values: Values, mode: Mode,
    guess: np.ndarray | None = None,
) -> Motion | None:  # fmt: skip
    """The motion that goes on in a mode, None where a differentiated variable jumps, or tangents do not know the mode.

    Its algebraic variables are sought from a ``guess``, by default from where the model was linearised.

    Raises
    ------
    NewtonFailure, DependentConstraints
    """
    system = lin.tangents.known(mode)
    if system is None or (system.mode.slopes & (system.orders.unknowns > 0)).any():
        return None  # A slope that is a coordinate has no left limit that is kept.
    motion = lin.begin(z_minus, slopes, xi, system, values, lin.z if guess is None else guess, guess is None)
    moving = lin.base.model.differentiated
    return motion if _close(lin, motion.unknowns(motion.last)[0], z_minus)[moving].all() else None


def only_mode(
    lin: Linearisation, slopes: np.ndarray, z_minus: np.ndarray, reinits: Sequence[tuple[int, float]], xi: np.ndarray,
    values: Values,
) -> Choice:  # fmt: skip
    """The point after an instant of a model without elements: states are kept, those that are set anew take their value.

    Raises
    ------
    NewtonFailure
    """
    z = z_minus.copy()
    for k, value in reinits:
        z[k] = value
    motion = lin.begin(z, slopes, xi, lin.mode((), z, slopes, xi, values), values)
    point, rates = motion.unknowns(motion.last)
    lin.linearise(point, rates, xi, values)
    data, jumped = lin.core.mode(()), bool((z != z_minus).any())
    return Choice(Restart(data, data.state(point, rates, xi), point, np.zeros(len(z)), jumped), ())


def derivatives(restart: Restart) -> tuple[np.ndarray, np.ndarray]:
    """First and second time derivatives of the core unknowns along the flow after a restart."""
    data = restart.data
    rate = data.Ay @ restart.y
    return data.T @ rate, data.T @ (data.Ay @ rate)


def _guesses(lin: Linearisation) -> np.ndarray:
    """Mask of the algebraic variables of nonlinear rows: their values are guesses."""
    return lin.tangents.read & ~lin.core.model.differentiated


def _beside(lin: Linearisation) -> np.ndarray:
    """The point of the last tangent, with guesses moved a little."""
    direction = np.where(_guesses(lin), generic_direction(len(lin.z)), 0.0)
    return lin.z + BESIDE * lin.core.model.scale * direction


def _point(
    lin: Linearisation, restart: Restart, xi: np.ndarray, values: Values
) -> tuple[np.ndarray, np.ndarray]:
    """Point on the nonlinear rows of a mode next to a restart on a linearised model.

    Algebraic variables are sought from where the model was linearised, where a tangent may lead far astray.
    """
    data, slopes = restart.data, derivatives(restart)[0]
    system = lin.mode(data.mode, restart.z, slopes, xi, values)
    try:
        motion = lin.begin(restart.z, slopes, xi, system, values, lin.z)
    except NewtonFailure as failure:
        try:
            motion = lin.begin(restart.z, slopes, xi, system, values)
        except NewtonFailure:
            raise failure from None
    return motion.unknowns(motion.last)


def _distance(lin: Linearisation, z: np.ndarray, other: np.ndarray) -> float:
    """Largest scaled difference of two points."""
    return float(np.max(np.abs(z - other) / (lin.base.model.scale + np.abs(z)), initial=0.0))


def close_to(scale: np.ndarray, z: np.ndarray, other: np.ndarray) -> np.ndarray:
    """Mask of the core unknowns that are the same at two points."""
    return np.abs(z - other) <= SETTLED * (scale + np.abs(z))


def _close(lin: Linearisation, z: np.ndarray, other: np.ndarray) -> np.ndarray:
    return close_to(lin.base.model.scale, z, other)


def bend_along(
    lin: Linearisation,
    before: Mode,
    z_minus: np.ndarray,
    z_plus: np.ndarray,
    xi: np.ndarray,
    values: Values,
) -> np.ndarray | None:
    """Distances (2 n,) of the means of core unknowns and their slopes from the means of both limits, over an instant.

    States move along a straight line. Impulses do work against what nonlinear rows give along the way (a charge against the
    potential it makes, a momentum against its speed), in the structure that holds before the instant. None where nothing bends.
    """
    slopes = np.zeros_like(z_minus)
    system = lin.mode(before, z_minus, slopes, xi, values)
    if not system.m:
        return None

    def point(s: float) -> np.ndarray:
        motion = lin.begin(z_minus + s * (z_plus - z_minus), slopes, xi, system, values)
        return np.concatenate(motion.unknowns(motion.last))

    def bent(s: float) -> np.ndarray:
        return point(s) - (1.0 - s) * first - s * last

    try:
        first, last = point(0.0), point(1.0)
        if _close(lin, bent(PROBE)[: len(slopes)], slopes).all():
            return None
        return _mean(lin, bent)
    except (NewtonFailure, DependentConstraints):
        # The way leaves the domain of a function: no better value than the mean of both limits is defined.
        return None


def _mean(lin: Linearisation, bent: Callable[[float], np.ndarray]) -> np.ndarray:
    """Mean (2 n,) of a distance over a way."""
    mean, before = np.zeros(0), None
    for count in WAY_POINTS:
        nodes, weights = np.polynomial.legendre.leggauss(count)
        parts = zip((0.5 * (nodes + 1.0)).tolist(), (0.5 * weights).tolist(), strict=True)
        mean = np.sum([weight * bent(node) for node, weight in parts], axis=0)
        if before is not None and _close(lin, *(found[: len(lin.z)] for found in (mean, before))).all():
            break
        before = mean
    return mean
