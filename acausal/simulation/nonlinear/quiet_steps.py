"""Steps of a motion in a row, made by a kernel as long as none of them asks for a closer look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...dynamics.automatic import Automatic
from ...dynamics.explicit import Explicit
from ...dynamics.noise import lasting
from ...dynamics.rosenbrock import Rosenbrock
from ...dynamics.stages import new_stages, new_system
from ...dynamics.step import Step
from ...dynamics.stepper import Stepper
from ...dynamics.work import Work
from ...kernels import step_records as k
from ...kernels.constraints import ConstraintSlopes
from ...kernels.loading import Bound, Packed
from ...kernels.stages import StagePoints, Stages
from ...kernels.step_forms import BEGIN, StepForms
from ...kernels.steps import MADE_LAST
from .accuracy import Tolerances
from .forms import Forms
from .motion import Motion, Place
from .point_kernels import PointKernels

MOST = 64
"""Steps of one row that ends within a segment: then whoever watches the run is told."""


@dataclass(slots=True, eq=False)
class RowControl:
    """What steps tell those that follow, beside what their stepper knows; a row of steps changes it."""

    size: np.ndarray
    """Largest magnitudes (nx,) of coordinates."""
    longest: float
    usual: float
    moved: np.ndarray
    """Longest step, the usual one, and largest changes (ny,) of coordinates and open unknowns over a step."""
    volume: float
    largest_volume: float
    ahead: float
    """Volume of the derivatives of constraints, the largest one so far, and seconds to where there is none."""


@dataclass(slots=True, eq=False)
class RowDemands:
    """What does not change along a row of steps."""

    limit: float
    tolerances: Tolerances
    least: np.ndarray
    """Least absolute tolerances (n,), whatever the magnitudes are."""
    before: float
    """Length of the step before, zero for none."""
    length: float
    floor: np.ndarray
    """What counts as zero of the forms after a step of that length."""


def zeros(shapes: Sequence[int | tuple[int, ...]]) -> list[np.ndarray]:
    """Arrays of zeros."""
    return [np.zeros(shape) for shape in shapes]


class QuietSteps:
    """Room for rows of steps of one mode.

    Parameters
    ----------
    kernels : PointKernels
        For the coordinates that are solved for.
    motion : Motion
    method : StepMethod
    forms : int
        How many can end a segment.
    most : int
        Steps that are written down.

    Attributes
    ----------
    records : StepRecords
        What kernels read and write.
    """

    _of: Forms | None

    def __init__(
        self, kernels: PointKernels, motion: Motion, method: k.StepMethod, forms: int, most: int = MOST
    ) -> None:
        system, size, n = motion.system, kernels.size, len(kernels.states)
        rows, ny, of_rates = system.constraints, size.nx + size.m, system.open_of_rates
        self._kernels, self.flow, self._of = kernels, motion.sources.flow, None
        self._scale = np.concatenate((system.scale, system.open_scale))
        self._resolves = np.array([bool(size.m or rows), of_rates is not None], np.int64)
        functions, generator = self.flow.basis.size, np.ascontiguousarray(system.S, float)
        self._sources = k.SourcesAlong(
            np.zeros((size.q, functions)), np.zeros(functions), generator, np.zeros(size.q)
        )
        constraints = ConstraintSlopes(
            system.constraint_levels, system.pivot_weight, np.zeros((2, rows, size.nx)), np.zeros((rows, rows)),
            np.zeros((rows, size.nx)), np.zeros((rows, size.nx)), np.zeros(size.nx, np.int64), np.zeros((2, rows)),
        )  # fmt: skip
        over, ends, row = [(forms, ny), (forms, size.q)], (2, forms), forms
        self._forms = StepForms._make(zeros([*over, *over, 4, row, ends, ends, ends, row, row, (most, row)]))
        numbers, counts = np.zeros(k.NUMBERS), np.zeros(k.COUNTS, np.int64)
        shapes = [*[n] * 5, size.nx, ny, size.nx, size.nx, ny, n, max(n, ny)]
        self.state = k.StepState._make([numbers, counts, *zeros(shapes)])
        known = zeros([(2, ny), (2, size.q), (2, size.nx), (2, ny), (2, n), (3, n), (n, n), (n, n), n])
        of_rates = np.zeros((0, n)) if of_rates is None else np.ascontiguousarray(of_rates)
        self.places = k.StepPlaces._make([*known, of_rates, *zeros([ny, size.nx, size.q])])
        shapes = [(), (n,), (3, n), (2, n), (ny,), (size.q,), (size.nx,), (ny,)]
        self._log = k.StepLog._make(zeros([(most, *shape) for shape in shapes]))
        self.records = k.StepRecords(
            self.flow.basis.functions, *kernels.records, *self._room_of(method), method, self._sources, constraints,
            self._forms, self.state, self.places, self._log,
        )  # fmt: skip
        self._kernel = Bound("follow_steps", Packed(self.records))

    @classmethod
    def of(cls, motion: Motion, method: k.StepMethod, forms: Forms) -> QuietSteps | None:
        """The room for a motion with its present states; None where no kernel finds its points or evaluates the forms."""
        kernels = motion.system.kernels(motion.selection.dependent)
        if kernels is None or len(forms.rows) or not isinstance(forms.over_v, np.ndarray):
            return None
        key = int(method.kind[0]), forms.count
        found = kernels.rows.get(key)
        if found is None or found.flow is not motion.sources.flow:
            found = kernels.rows[key] = cls(kernels, motion, method, forms.count)
        found.watch(motion, forms)
        return found

    def watch(self, motion: Motion, forms: Forms) -> None:
        """Take the forms that can end the segment."""
        if self._of is forms:
            return
        f, v0, self._of = self._forms, motion.system.v0, forms
        for given, rows in zip(
            forms.along(v0), (f.over_points, f.over_sources, f.sizes, f.sizes_of_sources), strict=True
        ):
            rows[:] = given

    def follow(
        self, motion: Motion, stepper: Stepper | Automatic, control: RowControl, demands: RowDemands
    ) -> list[tuple[Step, Place]]:
        """Make steps from the accepted place of a motion; return them with their ends, none where the first one is doubtful.

        The stepper is where it would be if it had made them. Other states may serve better behind the last one.
        """
        made_by, begin = stepper.stepper if isinstance(stepper, Automatic) else stepper, motion.accepted
        self._stand(motion, made_by, control, demands)
        self._count(stepper, motion.work)
        self._kernels.begin(motion.constants, motion.damped(self._kernels.dependent))
        status = self._kernel.run()
        motion.work.iterated(self._kernels.iterations)
        w, made = self.state, self._made(begin, made_by.y)
        if not made:
            return made
        numbers, counts = w.numbers, w.counts
        control.longest, control.usual = numbers[[k.LONGEST, k.USUAL]].tolist()
        control.volume, control.largest_volume, control.ahead = numbers[
            [k.VOLUME, k.LARGEST, k.AHEAD]
        ].tolist()
        control.size, control.moved = w.largest.copy(), w.moved.copy()
        step, end = made[-1]
        h, error = numbers[[k.SIZE, k.LAST_ERROR]].tolist()
        made_by.resume(end.h, step.y1, w.rate.copy(), h, error, len(made))
        motion.work.stepped(*counts[[k.EVALUATED, k.REJECTED, k.JACOBIANS, k.FACTORISED]].tolist())
        motion.accept(end)
        if isinstance(made_by, Rosenbrock):
            made_by.linearised_by(self.places.jacobian.copy())
        if isinstance(stepper, Automatic):
            stepper.stiffness.resume(*counts[[k.NEAR_BOUNDARY, k.INSIDE, k.SINCE_LOOK]].tolist())
            if status == MADE_LAST and counts[k.CHANGES]:
                stepper.look(step.t1 - step.t0)
        elif isinstance(made_by, Explicit):
            made_by.hold(int(counts[k.HELD_OWN]), float(numbers[k.SPEED]))
            motion.work.holds(*counts[[k.HELD_STEPS, k.LEAD]].tolist())
        return made

    def _stand(self, motion: Motion, stepper: Stepper, control: RowControl, demands: RowDemands) -> None:
        """Take where steps begin, and what is demanded of them."""
        begin, w, at, tolerances = motion.accepted, self.state, self.places, demands.tolerances
        start, piece = motion.sources.piece(begin.h)
        self._sources.C[:] = piece.C
        w.numbers[:] = (
            begin.h, stepper.h, stepper.last_error, demands.limit, stepper.demands.max_step, tolerances.rtol, tolerances.atol,
            start, start + piece.reach, control.longest, control.usual, control.volume, control.largest_volume, control.ahead,
            0.0, demands.before,
        )  # fmt: skip
        f = self._forms
        f.numbers[:] = tolerances.rtol, tolerances.atol, lasting(1.0, tolerances.rtol), 1.0 / demands.length
        f.floor[:] = demands.floor
        w.y[:], w.rate[:], w.size[:] = stepper.y, stepper.rate, np.abs(stepper.y)
        w.atol[:], w.least[:], w.largest[:] = stepper.demands.atol, demands.least, control.size
        w.scale[:], w.bends[:], w.units[:], w.moved[:] = (
            self._scale,
            motion.bend_lengths,
            motion.units,
            control.moved,
        )
        at.points[BEGIN], at.sources[BEGIN], at.rates[BEGIN] = begin.y, begin.xi, begin.X_t

    def _count(self, stepper: Stepper | Automatic, work: Work) -> None:
        """Take the counts with which steps begin."""
        w = self.state
        w.counts[:] = 0
        w.counts[[k.RESOLVES, k.READS_RATES]] = self._resolves
        if isinstance(stepper, Automatic):
            known = stepper.stiffness
            w.counts[[k.CHOOSES, k.NEAR_BOUNDARY, k.INSIDE, k.SINCE_LOOK]] = (
                1,
                known.near,
                known.quiet,
                known.implicit,
            )
        elif isinstance(stepper, Explicit):
            own, w.numbers[k.SPEED] = stepper.held
            w.counts[[k.HELD_STEPS, k.HELD_OWN, k.LEAD]] = work.held, own, work.lead

    def by(self, method: k.StepMethod) -> k.StepRecords:
        """The same steps by another method, which goes on where this one stands."""
        stages, points = self._room_of(method)
        return self.records._replace(stages=stages, points=points, method=method)

    def _room_of(self, method: k.StepMethod) -> tuple[Stages, StagePoints]:
        """Stages of a method, and points there."""
        count, n = len(method.times), len(self._kernels.states)
        # One more point than there are stages: that of the end, where no stage finds it.
        stages = new_stages(count, n, new_system(n))._replace(arguments=np.zeros((count + 1, n)))
        return stages, self._kernels.stage_points(count + 1)

    def demand(self, motion: Motion, tolerances: Tolerances, longest: float) -> None:
        """Take what is demanded of all steps of a mode, whose motion has the states and bends of the present one."""
        w, states = self.state, motion.selection.states
        w.numbers[[k.MOST, k.RTOL, k.ATOL]] = longest, tolerances.rtol, tolerances.atol
        # What counts as zero does not depend on the length of a step: it is far above what that rounds.
        self._forms.numbers[:] = tolerances.rtol, tolerances.atol, lasting(1.0, tolerances.rtol), 0.0
        w.scale[:], w.bends[:] = self._scale, motion.bend_lengths
        w.least[:] = tolerances.absolute(np.zeros(len(states)), motion.system.scale[states])

    def begin(self, motion: Motion, constants: np.ndarray, chooses: bool) -> None:
        """Begin to count steps anew, of which eigenvalues may choose the method; nothing is written down any more."""
        self._kernels.begin(constants, motion.damped(self._kernels.dependent))
        self.state.counts[:] = 0
        self.state.counts[[k.RESOLVES, k.READS_RATES]] = self._resolves
        self.state.counts[k.CHOOSES] = chooses

    def spent(self, work: Work) -> None:
        """Count what steps have taken since their begin."""
        work.stepped(*self.state.counts[[k.EVALUATED, k.REJECTED, k.JACOBIANS, k.FACTORISED]].tolist())
        work.iterated(self._kernels.iterations)
        self._kernels.forget()

    @property
    def errors(self) -> np.ndarray:
        """Estimated errors (forms,) of the last two steps of the row."""
        count = int(self.state.counts[k.MADE])
        return self._forms.errors[max(count - 2, 0) : count].max(axis=0)

    def _made(self, begin: Place, y0: np.ndarray) -> list[tuple[Step, Place]]:
        count, log, nx, found = int(self.state.counts[k.MADE]), self._log, self._kernels.size.nx, []
        states, dense, errors, points, sources, rates, slopes = (part[:count].copy() for part in log[1:])
        t0 = begin.h
        for j, t1 in enumerate(log.times[:count].tolist()):
            step = Step(t0, t1, y0, states[j], dense[j], errors[j])
            found.append((step, Place(t1, points[j], nx, sources[j], rates[j], y_t=slopes[j])))
            t0, y0 = t1, states[j]
        return found
