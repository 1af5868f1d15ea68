"""Choice between an explicit and an implicit method, made and remade while a problem is integrated.

Reference: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, section IV.2 (automatic
stiffness detection: the estimate of the eigenvalue, and the counting of steps).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.steps import BOUNDARY, LOOK_EVERY, QUIET_STEPS, SLOW, STIFF, STIFF_STEPS
from ..reduction.rounding import TINY
from .directions import generic_direction
from .dormand_prince import DormandPrince
from .linear import Shifted
from .problem import Problem
from .rosenbrock import Rosenbrock
from .step import Step
from .stepper import Demands

POWERS = 8
"""Multiplications with a Jacobian that has no entries."""
MOST_EIGENVALUES = 64
"""Components up to which eigenvalues are computed; beyond, a norm is their bound."""


@dataclass(eq=False)
class Stiffness:
    """What is known of the stiffness of a problem; kept from one stepper to the next."""

    stiff: bool = False
    near: int = 0
    quiet: int = 0
    implicit: int = 0
    """Implicit steps since the last look."""

    def explicit_step(self, reach: float) -> bool:
        """Count a step of ``reach``, step size times eigenvalue; return whether the implicit method is the better one."""
        if reach > STIFF:
            self.near, self.quiet = self.near + 1, 0
        else:
            self.quiet += 1
            if self.quiet >= QUIET_STEPS:
                self.near = 0
        return reach > BOUNDARY or self.near >= STIFF_STEPS

    def resume(self, near: int, quiet: int, implicit: int) -> None:
        """Go on behind steps that were counted elsewhere."""
        self.near, self.quiet, self.implicit = near, quiet, implicit

    def take(self, stiff: bool, near: int, quiet: int, implicit: int) -> None:
        """Take what steps that were made elsewhere have decided, and their counts."""
        self.stiff = stiff
        self.resume(near, quiet, implicit)

    def settle(self, stiff: bool) -> None:
        """Take a decision and begin to count anew."""
        self.stiff, self.near, self.quiet, self.implicit = stiff, 0, 0, 0


class Automatic:
    """Dormand-Prince where accuracy limits the steps, Rodas5P where stability would.

    It begins with the explicit method, unless the problem is known to be stiff. The last two stages of an explicit step, at
    the same time and at neighbouring points, show the largest eigenvalue that the solution excites. Implicit steps compare
    their size with the eigenvalues of the Jacobian.

    Parameters
    ----------
    problem, t, y, demands, **options
        As in `Stepper`.
    stiffness : Stiffness
        Changed by the steps.
    """

    def __init__(
        self,
        problem: Problem,
        t: float,
        y: np.ndarray,
        demands: Demands,
        *,
        stiffness: Stiffness,
        **options: Any,
    ) -> None:
        self._problem, self._demands, self._options, self.stiffness = problem, demands, options, stiffness
        self._stepper = self._made(t, y, options.pop("first_step", None))

    def _made(
        self, t: float, y: np.ndarray, first: float | None, rate: np.ndarray | None = None
    ) -> DormandPrince | Rosenbrock:
        kind = Rosenbrock if self.stiffness.stiff else DormandPrince
        return kind(self._problem, t, y, self._demands, first_step=first, rate=rate, **self._options)

    @property
    def stepper(self) -> DormandPrince | Rosenbrock:
        """What makes the next step."""
        return self._stepper

    @property
    def t(self) -> float:
        """Where the integration stands."""
        return self._stepper.t

    @property
    def h(self) -> float:
        """Size proposed for the next step."""
        return self._stepper.h

    @property
    def between(self) -> float:
        """Part of a step in the middle of the longest stretch without a point that the method looks at."""
        return self._stepper.between

    def step(self, limit: float) -> Step:
        """One accepted step, as `Stepper.step`."""
        stepper, known = self._stepper, self.stiffness
        step = stepper.step(limit)
        if not stepper.y.size:
            return step
        if isinstance(stepper, DormandPrince):
            change = known.explicit_step(stepper.reach)
        else:
            known.implicit += 1
            change = known.implicit >= LOOK_EVERY and self._inside(stepper, step.t1 - step.t0)
        if change:
            self._change()
        return step

    def look(self, h: float) -> None:
        """Take the other method if it is the better one behind steps that were made elsewhere, the last of ``h`` seconds."""
        stepper = self._stepper
        if isinstance(stepper, DormandPrince) or self._inside(stepper, h):
            self._change()

    def _change(self) -> None:
        stepper, known = self._stepper, self.stiffness
        known.settle(not known.stiff)
        # Sought anew, from the last point looked at, the rate might be that of another branch.
        self._stepper = self._made(stepper.t, stepper.y, stepper.h, stepper.rate)

    def _inside(self, stepper: Rosenbrock, h: float) -> bool:
        """Whether an explicit step of size ``h`` would be stable."""
        self.stiffness.implicit = 0
        scale = self._demands.atol + self._demands.rtol * np.abs(stepper.y)
        return h * _largest_eigenvalue(stepper.linearised, scale) < SLOW


def _largest_eigenvalue(jacobian: Any, scale: np.ndarray) -> float:
    """Magnitude of the largest eigenvalue of a Jacobian, or a bound; ``scale`` are magnitudes of the components."""
    if len(scale) <= MOST_EIGENVALUES and isinstance(jacobian, np.ndarray):
        found = np.linalg.eigvals(jacobian) if np.isfinite(jacobian).all() else np.array([np.inf])
        return float(np.abs(found).max())
    if isinstance(jacobian, Shifted):
        return _by_powers(jacobian, scale)
    return float(((abs(jacobian) @ scale) / scale).max())


def _by_powers(jacobian: Any, scale: np.ndarray) -> float:
    """Growth of the components by repeated multiplication, the mean of the last half: eigenvalues may come in pairs."""
    k = scale * generic_direction(len(scale))
    growth = []
    for _ in range(POWERS):
        k /= np.linalg.norm(k / scale)
        k = jacobian @ k
        growth.append(float(np.linalg.norm(k / scale)))
    return float(np.exp(np.mean(np.log(np.maximum(growth[POWERS // 2 :], TINY)))))
