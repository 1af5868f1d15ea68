"""What can end a segment that is integrated: guards and relations along its motion, with their noise."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from ...dynamics.noise import TWICE, StepNoise, rounded_states
from ...dynamics.scan import Watch
from ...reduction.affine import ModeData
from ...reduction.rounding import ROUNDING
from ..instants.transition import SCALE_FLOOR, ModeTables
from ..large.signs import magnitudes
from ..numeric import NumericCore
from ..watch import can_trigger, open_at_zero, orientations
from .forms import Forms
from .motion import Motion
from .system import NonlinearSystem
from .tangents import Tangents


@dataclass(frozen=True, eq=False)
class Watched:
    """Forms that can end a segment.

    Attributes
    ----------
    which : list of int
        Numbers of the forms among all of the mode.
    armed : (forms,) array of bool
        The form leaves zero into the positive.
    open_at_zero : (forms,) array of bool
        The form is not in force any more where it comes to lie at zero.
    noise : callable
        Motion, core unknown of every coordinate and length of the segment -> noise of the forms.
    """

    forms: Forms
    which: list[int]
    armed: np.ndarray
    open_at_zero: np.ndarray
    noise: Callable[[Motion, np.ndarray, float], StepNoise]


@dataclass(frozen=True, eq=False)
class Situation:
    """What decides at the begin of a segment which guards and relations can trigger, and from which side.

    Attributes
    ----------
    y : (ny,) array
        State vector of the mode.
    relations : sequence of float
        Truth of the state relations, with their ``operators``.
    signs : sequence of int
        Lexicographic signs of all guards and relations.
    error : (n,) array or None
        Rounding of the core unknowns.
    """

    t: float
    data: ModeData
    tables: ModeTables
    y: np.ndarray
    relations: Sequence[float]
    operators: Sequence[str]
    forced: tuple[int, ...]
    disabled: frozenset[tuple[int, int, int]]
    signs: Sequence[int]
    error: np.ndarray | None


def watched(tangents: Tangents, core: NumericCore, system: NonlinearSystem, at: Situation) -> Watched:
    """Return what to watch in a nonlinear mode; ``core`` linearises it at present."""
    guards = at.tables.count
    orientation = orientations(guards, at.operators, at.relations)
    which = np.flatnonzero(can_trigger(at.data, at.forced, at.disabled, len(at.signs)))
    rows, nonlinear = tangents.watched(core, at.data.mode)
    chosen = type(rows)(rows.E[which], rows.A[which], rows.B[which])
    forms = Forms.of(system.mode, chosen, nonlinear[which], orientation[which])
    armed = np.array(at.signs) * orientation > 0
    open_ = open_at_zero(guards, at.operators, at.relations)[which]
    if core.system is None:
        watch = Watch(at.data, at.tables.forms, at.tables.signs.noise, orientation, armed, which)
        noise = partial(_noise, at, watch, core.model.n)
    else:
        noise = partial(_noise_of_rows, forms, magnitudes(chosen, core, at.y[len(at.data.states) :]))
    return Watched(forms, which.tolist(), armed[which], open_, noise)


def _noise_of_rows(
    forms: Forms, scale: np.ndarray, motion: Motion, of: np.ndarray, length: float
) -> StepNoise:
    """Noise of forms with these magnitudes over all unknowns of the model."""
    v = motion.jets(motion.last)[0]
    weights = abs(forms.linear(motion, v))
    least = 2.0 * (ROUNDING * (weights @ np.abs(v)) + SCALE_FLOOR * scale)
    return StepNoise(least, ROUNDING * weights[:, : motion.system.nx])


def _noise(at: Situation, watch: Watch, n: int, motion: Motion, of: np.ndarray, length: float) -> StepNoise:
    """Noise of forms; ``of`` are those of the ``n`` core unknowns that are behind the coordinates."""
    data, states, sources = at.data, len(at.data.states), motion.sources.magnitude(length)
    column = np.full(n + 1, -1)
    column[data.states] = np.arange(states)
    known, noise = column[of] >= 0, at.tables.signs.noise[watch.which]
    size = np.zeros(len(at.y))
    size[states : states + len(sources)] = sources
    error = None if at.error is None else at.error[data.states]
    least = watch.floor(at.y, size, error, at.t)
    rounding = np.zeros((len(noise), len(of)))
    rounding[:, known] = TWICE * noise[:, column[of][known]]
    weights, rates = np.abs(watch.forms[:, :states]), np.abs(data.Ay[:states])

    def drift(h: float) -> np.ndarray:
        return weights @ rounded_states(rates.diagonal(), rates @ np.abs(at.y), h)

    return StepNoise(least, rounding, drift)
