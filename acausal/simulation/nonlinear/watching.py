"""What can end a segment that is integrated: guards and relations along its motion, with their noise."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial

import numpy as np

from ...dynamics.noise import LOCATED, TWICE, StepNoise, rounded_mode
from ...dynamics.scan import Watch
from ...reduction.affine import ModeData
from ...values import frozen
from ..instants.transition import ModeTables
from ..numeric import NumericCore
from ..watch import can_trigger, open_at_zero, orientations
from .forms import Forms
from .motion import Motion
from .system import NonlinearSystem
from .tangents import Tangents


@frozen
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
        Motion -> noise of the forms.
    """

    forms: Forms
    which: list[int]
    armed: np.ndarray
    open_at_zero: np.ndarray
    noise: Callable[[Motion], StepNoise]


@frozen
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
    shift : (n + q,) array or None
        How far they and the sources may be off together.
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
    shift: np.ndarray | None


def watched(tangents: Tangents, core: NumericCore, system: NonlinearSystem, at: Situation) -> Watched:
    """Return what to watch in a nonlinear mode; ``core`` linearises it at present."""
    guards = at.tables.count
    orientation = orientations(guards, at.operators, at.relations)
    which = np.flatnonzero(can_trigger(at.data, at.forced, at.disabled, len(at.signs)))
    rows, nonlinear = tangents.watched(core, at.data.mode)
    forms = Forms.of(system.mode, rows.take(which), nonlinear[which], orientation[which], core.amplitudes)
    armed = np.array(at.signs) * orientation > 0
    open_ = open_at_zero(guards, at.operators, at.relations)[which]
    if core.system is None:
        noise = partial(_noise, at, Watch(at.data, at.tables.forms, orientation, armed, which))
    else:
        noise = partial(_noise_of_rows, at, forms, armed[which])
    return Watched(forms, which.tolist(), armed[which], open_, noise)


def _noise(at: Situation, watch: Watch, motion: Motion) -> StepNoise:
    """Noise of forms of a mode that is analysed."""
    data, states = at.data, at.data.states
    error = None if at.error is None else at.error[states]
    begin = watch.late(at.y, at.t) + watch.known(error, None if at.shift is None else data.chosen(at.shift))
    weights, rates = np.abs(watch.forms[:, : len(states)]), data.Ay[: len(states)]

    def drift(h: float) -> np.ndarray:
        return weights @ rounded_mode(rates, at.y, h)

    return StepNoise(begin, drift)


def _noise_of_rows(at: Situation, forms: Forms, armed: np.ndarray, motion: Motion) -> StepNoise:
    """The same of a model with sparse rows."""
    v, slope = motion.jets(motion.last)
    begin = TWICE * LOCATED * math.ulp(at.t) * np.abs(forms.at(motion, v[None], slope[None])[0, 1])
    if at.error is not None:
        error = np.zeros(len(v))
        error[: motion.system.nx] = at.error[motion.system.mode.states]
        begin += TWICE * armed * (forms.sizes(motion, v) @ error)
    return StepNoise(begin)
