"""Statistics of a run: what happened how often, and what it cost."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from ..dynamics.work import STAGES
from .events import Events
from .modes import ModeVisit
from .record import Segment


def _no_steps() -> np.ndarray:
    return np.zeros((0, 2))


@dataclass(frozen=True)
class Statistics:
    """Work of a run.

    Statistics of two runs are equal when all counts are; ``history``, ``seconds`` and ``peak_memory`` take no part in it.

    Attributes
    ----------
    flattenings, presolves, symbolic_analyses : int
        Work on the program since it was made, this run included.
    mode_analyses : int
        Modes analysed with numbers during this run; those known from earlier runs do not count. A mode with nonlinear
        equations counts once for its structure, and once for each point at which an instant looks at it with their slopes.
    searches, hints, candidates : int
        Choices of the next mode, how many of them were known from a like instant before, and the modes that were
        examined for the others.
    segments, micro_steps : int
    paths : dict
        How many visited modes took which way of integration.
    steps, rejections : int
        Accepted and rejected steps of numerical integration.
    held : int
        Accepted steps of ``method="explicit"`` that its stability held, not the accuracy of the solution.
    evaluations, jacobians, factorisations : int
        Calls of the rate of the states and of its Jacobian, and factorised matrices of implicit steps.
    newton_iterations : int
        Iterations of Newton's method: at the start, after events, and for the unknowns and constraints along the motion.
    events : dict
        How many events there were of which kind.
    history : (steps, 2) array
        Begin and end of every accepted step, in s.
    seconds : dict
        Time spent on each stage, in s: "compile" (the program, as far as this and earlier runs needed it), "analyse" (numbers of
        the parameters, and modes analysed with them), "start" (the first instant), "flow" (closed forms and steps
        between instants, and the search for crossings), "instants", "record". What observes the run does not count.
    peak_memory : int
        Largest memory in bytes that the process had until the run ended; 0 where the system does not tell.
    """

    flattenings: int = 0
    presolves: int = 0
    symbolic_analyses: int = 0
    mode_analyses: int = 0
    searches: int = 0
    hints: int = 0
    candidates: int = 0
    segments: int = 0
    micro_steps: int = 0
    paths: dict[str, int] = field(default_factory=dict)
    steps: int = 0
    rejections: int = 0
    held: int = 0
    evaluations: int = 0
    jacobians: int = 0
    factorisations: int = 0
    newton_iterations: int = 0
    events: dict[str, int] = field(default_factory=dict)
    history: np.ndarray = field(default_factory=_no_steps, compare=False)
    seconds: dict[str, float] = field(default_factory=lambda: dict.fromkeys(STAGES, 0.0), compare=False)
    peak_memory: int = field(default=0, compare=False)

    def __repr__(self) -> str:
        shown = [f"{f.name}={getattr(self, f.name)}" for f in fields(self) if f.compare]
        times = ", ".join(f"{name} {value:.3g} s" for name, value in self.seconds.items())
        return f"Statistics({', '.join(shown)}; {times}; {self.peak_memory / 2**20:.0f} MB)"


def step_history(segments: Sequence[Segment]) -> np.ndarray:
    """Return begin and end (steps, 2) of the accepted steps of integrated segments, in order."""
    found = [_no_steps()]
    for s in segments:
        breaks = getattr(s.trajectory, "breaks", None)
        if breaks is not None and len(breaks):
            # The last step may reach beyond the event that ended the segment.
            ends = np.minimum(s.start + np.asarray(breaks), s.end)
            found.append(np.column_stack([np.concatenate([[s.start], ends[:-1]]), ends]))
    return np.concatenate(found)


def completed(
    counts: Statistics, segments: Sequence[Segment], events: Events, modes: Sequence[ModeVisit]
) -> Statistics:
    """Return what a run counted with what its record shows."""
    # Files hold polynomials in place of steps, and the history of these.
    history = counts.history if len(counts.history) else step_history(segments)
    history.setflags(write=False)
    kinds, paths = dict(Counter(events.kinds)), dict(Counter(m.path for m in modes))
    return replace(
        counts, paths=paths, steps=len(history), history=history, events=kinds, seconds=dict(counts.seconds)
    )


def peak_memory() -> int:
    """Return the largest memory in bytes that this process has had, 0 where the system does not tell."""
    try:
        import resource
    except ImportError:
        return 0
    # In kilobytes, on macOS in bytes.
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
