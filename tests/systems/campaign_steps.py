"""Runs of random networks and mechanisms against small steps of an oracle that knows neither events nor modes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from acausal import Result
from tests.oracles.complementarity import ROUNDING, NotSquareError
from tests.oracles.time_stepping import NoStepError, Trajectory, graded, mean_difference, trajectory
from tests.systems.campaign_cases import Case

STEPS = 300, 200
"""Steps of a phase in the coarsest of three trajectories, and steps of each of its graded parts where those do not decide."""
COARSE = 0.05
"""Error of the steps, relative to the size of a state, from which they tell nothing."""
ORDER = 0.8
"""Part of an error that is left with half the step, at most; half of it with the order that the method has."""
BEYOND = 4.0
"""Estimates of the error of the steps by which a run may be off; the estimate is that of an error of first order."""


def stepping_defects(case: Case, result: Result) -> tuple[str, list[str]]:
    """How small steps judge a run: ``agrees``, ``coarse``, ``no steps`` or ``disagrees``; and what is off."""
    found: list[str] = []
    resolved = False
    for count, levels in zip(STEPS, (1, case.graded), strict=True):
        try:
            runs = [stepped(case, result.t_end, count * 2**k, levels) for k in range(3)]
        except (NoStepError, NotSquareError):
            return "no steps", []
        resolved, found = compared(case, result, runs)
        if resolved and not found:
            return "agrees", []
    return ("disagrees" if resolved else "coarse"), found


def compared(case: Case, result: Result, runs: list[Trajectory]) -> tuple[bool, list[str]]:
    """Whether the steps resolve all states, and which states of the run are off.

    How parallel parts share a current or a force is no matter of the states, and not determined.
    """
    finest = runs[-1]
    weights = np.diff(finest.t, prepend=0.0) / finest.t[-1]
    size: dict[str, float] = {}
    for c in case.states:
        size[c[0]] = max(size.get(c[0], 0.0), float(np.abs(finest.values[c]).max()))
    # Both an event and the jump in it may be a step early or late.
    late = 2.0 * (1 + len(result.events)) * float(weights.max())
    resolved, found = True, []
    for c in case.states:
        of = size[c[0]] or 1.0
        first, second = (mean_difference(runs[k], runs[k + 1], c) / of for k in (0, 1))
        resolved = resolved and second <= max(min(COARSE, ORDER * first), late)
        values = np.asarray(result[case.paths[c]].at(np.minimum(finest.t, result.t_end)), float)
        off = float(weights @ np.abs(finest.values[c] - values)) / of
        # What vanishes is compared with what it rounds by, of all that has its unit.
        alike = [np.abs(v).max(initial=0.0) for k, v in finest.values.items() if k[0] == c[0]]
        alike += [abs(float(v)) for k, v in case.starts.items() if k[0] == c[0]]
        if off > BEYOND * second + late and off * of > ROUNDING * max(alike):
            found.append(f"{c} is off by {off:.2g} of its size, small steps by {second:.2g}")
    return resolved, found


LATEST: dict[tuple[str, float, float, int, int], Trajectory] = {}
"""Trajectories of the latest case, which other methods that go as far are compared with too."""


def stepped(case: Case, span: float, count: int, levels: int) -> Trajectory:
    """The trajectory of a case in so many steps for each level of every phase."""
    key = case.text, case.change, span, count, levels
    if key not in LATEST:
        if any(other[:2] != key[:2] for other in LATEST):
            LATEST.clear()
        change, end = (Fraction(t).limit_denominator(10**6) for t in (case.change, span))
        phases = []
        for after, length in ((False, min(change, end)), (True, end - change)):
            model = case.equations(after)
            assert case.holding is not None
            if length > 0:
                phases.append((model, case.holding(model), length))
        starts = {c: Fraction(case.starts[c]) for c in case.states}
        LATEST[key] = trajectory(graded(phases, levels), starts, count)
    return LATEST[key]
