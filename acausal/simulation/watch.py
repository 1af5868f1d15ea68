"""Which forms can trigger during a segment, and from which side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..dynamics.bounds import GuardForms
from ..dynamics.guard_noise import GuardNoise
from ..dynamics.location import Closed, locate
from ..dynamics.modal import AffineFlow, Trajectory
from ..reduction.affine import ModeData
from .instants.lexicographic import ROUNDING


class Watch:
    """Forms of one mode that can trigger in one situation, oriented to be positive where they are in force.

    Attributes
    ----------
    which : list of int
        Numbers of the forms among all of the mode.
    forms : (m, ny) array
    armed : (m,) array of bool
        The form leaves zero into the positive.
    noise : GuardNoise
        Of the forms along the closed form: twice that of the sign test at the start of a segment, which then sees them.
    """

    def __init__(
        self,
        data: ModeData,
        flow: AffineFlow,
        forms: np.ndarray,
        coefficients: np.ndarray,
        orientation: np.ndarray,
        armed: np.ndarray,
        which: np.ndarray,
    ) -> None:
        self.which = which.tolist()
        self.forms = forms[which] * orientation[which, None]
        self.armed = armed[which]
        self.noise = GuardNoise(flow, self.forms, 2.0 * ROUNDING)
        self._coefficients = 2.0 * coefficients[which]
        self._slope = 8.0 * (self.forms @ data.Ay)
        # What leaves zero has been seen to do so: for it errors of the state count.
        self._known = 2.0 * np.abs(self.forms[:, : len(data.states)]) * self.armed[:, None]

    def floor(self, y: np.ndarray, error: np.ndarray | None, t: float) -> np.ndarray:
        """Depth at which a form reacts at ``y`` (ny,) beside the noise along the motion; ``error`` of the physical states."""
        floor = self._coefficients.dot(np.abs(y)) + math.ulp(t) * np.abs(self._slope.dot(y))
        return floor if error is None else floor + self._known.dot(error)

    def since(self, trajectory: Trajectory, h: float, k: int, t0: float) -> float:
        """Last time up to ``h`` at which form ``k``, which reacts there, was above zero or rose.

        What began at zero without a sign reacts at a depth and has crossed before: no sign consults a third derivative. At
        that time it is zero, and a restart has no depth to take back. In the piece of the trajectory that ends there.
        """
        begin, piece = trajectory.piece(h)
        forms = GuardForms(piece.flow.basis, self.forms[k : k + 1] @ piece.C)
        row = forms.R[0]
        form = Closed(forms.basis, row, row.dot(forms.basis.derivative), 0.0)
        if self.armed[k] or h == begin or form.value(h - begin) >= -self.noise.rounding(trajectory, h)[k]:
            return h
        open_ = [(0.0, h - begin)]
        while open_:
            a, b = open_.pop()
            if not forms.bounds(np.array([a, b])).slope(0)[0] <= 0.0:
                if b - a <= math.ulp(t0 + h):
                    return begin + b
                middle = 0.5 * (a + b)
                open_ += [(a, middle), (middle, b)]
            elif form.value(a) > 0.0:
                return begin + locate(form, a, b, t0 + begin)
        return begin

    def lateness(self, trajectory: Trajectory, h: float, k: int) -> float:
        """By how many seconds a crossing at ``h`` may be off: while its form passes through its rounding.

        Zero where it does not pass: a form that touches zero tells no time.
        """
        rounding = float(self.noise.rounding(trajectory, h)[k])
        # The rate of a state amplifies its rounding by what is fast; the functions that are left at that time do not.
        slope = abs(float(self.forms[k].dot(trajectory.slope(h))))
        return rounding / slope if slope * h > rounding else 0.0


def can_trigger(data: ModeData, forced: Sequence[int], disabled: frozenset[Any], count: int) -> np.ndarray:
    """Which of ``count`` guards and relations can trigger: not those of forced elements or disabled guards."""
    found = np.ones(count, bool)
    position: dict[int, int] = {}
    for i, e in enumerate(data.guard_element.tolist()):
        k = position[e] = position.get(e, -1) + 1
        found[i] = forced[e] < 0 and (e, data.mode[e], k) not in disabled
    return found


def orientations(guards: int, operators: Sequence[str], values: Sequence[float]) -> np.ndarray:
    """Sign that makes every form positive where it is in force: guards as they are, relations by their value."""
    towards = [
        1.0 if bool(v) == (op in (">", ">=")) else -1.0 for op, v in zip(operators, values, strict=True)
    ]
    return np.array([1.0] * guards + towards)


def open_at_zero(guards: int, operators: Sequence[str], values: Sequence[float]) -> np.ndarray:
    """Forms that are not in force any more where they come to lie at zero: strict relations that hold, others that do not."""
    return np.array(
        [False] * guards + [bool(v) == (op in "<>") for op, v in zip(operators, values, strict=True)]
    )
