"""Where a run confirms itself: what `self_check` looks at after an instant, at a jump and after a segment."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import takewhile

import numpy as np

from ..compilation.discrete import DiscreteProgram
from ..dynamics.closed_form import Trajectory
from ..dynamics.noise import Uncertainty
from ..kernels.newton import REACHED
from ..reduction.affine import (
    SLIDING,
    STICK,
    AffineModel,
    Element,
    Kind,
    Mode,
    ModeData,
    Restart,
)
from ..reduction.rounding import SUMMED, UNIT
from ..results.record import Jump, MicroStep, Record
from .failures import Inconsistent
from .instants.discrete import Outcome
from .instants.impact_rounds import Stage
from .instants.restart import LeftLimits
from .instants.transition import ModeTables
from .nonlinear.accuracy import rates_from
from .nonlinear.steps import Steps
from .nonlinear.tangents import Tangents
from .numeric import NumericCore
from .resolution import hidden, unlocated
from .run import Run
from .self_check import (
    ELIMINATED,
    EVALUATED,
    NOTHING,
    ROUNDED,
    SOLVED,
    WHERE,
    Doubt,
    Held,
    Point,
    Violation,
    cancelled,
    doubt_along,
    drifting,
    held,
    lateness,
    left_branch,
    may_drift,
    resting,
    rounded_step,
    unconserved,
    unmoved,
    worst,
)


def confirm_instant(run: Run) -> None:
    """Raise ConsistencyError unless guards, relations and branches hold at the point an instant leads to."""
    state, data, y, steps = run.state, run.data, run.y, run.integration.steps
    rows = in_force(run.core, run.tables, *run.situation())
    if rows is None:
        return
    late = lateness(state.t, run.tolerance) * (data.Ay @ y)
    if rows.clear(y, late):
        return
    terms = np.concatenate([_terms(state.z, state.error, steps)[data.states], np.abs(y[len(data.states) :])])
    doubt = Doubt(terms, np.abs(late) + rounded_step(data, y, _longest(steps)), run.method.missed)
    found = left_branch(rows, state.mode, y, doubt)
    if found is not None and run.numerical and run.reduced.nonlinear:
        # What nonlinear equations give is as exact as their terms are, which may be large where it vanishes.
        solved = run.linearisation.solved_from(state.z, state.slopes, run.xi, run.system(), run.present)
        found = left_branch(rows, state.mode, y, replace(doubt, solved=solved))
    require(run, found, state.t)


def missed_statement(program: DiscreteProgram, outcome: Outcome) -> Violation:
    """The first discrete, or relation of time, that misses its statement after a micro-step."""
    assert outcome.defects is not None
    k = int(np.flatnonzero(outcome.defects)[0])
    value, own = float(outcome.defects[k]), k < len(program.compared_at_once)
    number = int(program.compared_at_once[k] if own else program.timed[k - len(program.compared_at_once)])
    terms = abs(float(outcome.D[number])) + abs(float(outcome.D[number]) - value) if own else 1.0
    return Violation("discrete" if own else "time", number, value, terms, ROUNDED * terms)


def confirm_jump(
    run: Run,
    restart: Restart,
    stages: Sequence[Stage],
    reinits: Sequence[tuple[int, float]],
    known: Uncertainty,
    collided: bool,
) -> None:
    """Raise ConsistencyError unless the conserved quantities are kept over the parts of a jump and its end is consistent.

    Where contacts have ``collided``, the law of impact stands for their equations, and what their rounds leave of speeds and
    impulses is measured by those of the largest one.
    """
    state, lin, data, steps = run.state, run.linearisation, run.data, run.integration.steps
    model, tolerance = run.core.model, SOLVED if run.reduced.nonlinear else ELIMINATED
    was = _terms(state.z, state.error, steps)
    free, doubt = [j for j, _ in reinits], ROUNDED * was + NOTHING * model.scale
    if run.record.steps:  # Before the first of them nothing has moved.
        late = lateness(state.t, run.tolerance) * (data.Ay @ run.y)
        doubt += data.sizes[0] @ (np.abs(late) + rounded_step(data, run.y, _longest(steps)))
    parts = [_parts_of_jump(stage, known.apart if collided else known) for stage in stages]
    sizes = [np.max([part[k] for part in parts], axis=0) for k in range(2)]
    for stage, (*_, explains) in zip(stages, parts, strict=True):
        mode = stage.after.mode
        which = lin.affine_rows(mode)
        if collided:
            which = np.setdiff1d(which, _rows_of_contacts(model, mode))
        jump, off = (stage.z_before, stage.z_after, stage.J1), (doubt, explains)
        require(run, unconserved(model.rows(mode), which, jump, sizes, free, off, tolerance), state.t)
    at = replace(point_of(model, restart.data, restart.y, np.abs(restart.y)), z=restart.z)
    mode = restart.data.mode
    require(run, run.core.equations.unsolved(mode, lin.affine_rows(mode), at, tolerance), state.t)
    if run.reduced.nonlinear:
        size, constants = np.maximum(was, np.abs(at.z)), run.tangents.constants(run.present)
        require(run, _nonlinear(run.tangents, mode, at, size, constants), state.t)


def _parts_of_jump(stage: Stage, known: Uncertainty) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Magnitudes (n,) of the terms of jumps and of impulses: of contacts, or of defects of constraints as the mode maps them.

    Third of the impulses which what is uncertain explains: those are not made.
    """
    data, n = stage.after, len(stage.z_before)
    ends, J1 = np.abs(stage.z_before) + np.abs(stage.z_after), np.abs(stage.J1)
    if stage.by is not None:
        contacts, p = stage.by
        moved, J1 = contacts.terms(p)
        ends += moved
    # A point of a large model has no maps of defects.
    if not isinstance(data, ModeData) or not len(data.constraints):
        return ends, J1, np.zeros(n)
    k, of, size = len(data.states), data.constraints, np.abs(data.impulse)
    defects = np.abs(of) @ np.abs(np.concatenate([stage.z_before, stage.y_after[k:]]))
    jumps = np.abs(data.T[:, :k]) @ (np.abs(data.jump) @ defects)
    return (
        ends + jumps,
        J1 + size @ defects,
        size @ LeftLimits(data, stage.z_before, stage.y_after[k:], known).explained,
    )


def confirm_recorded(run: Run, parts: Sequence[Jump], z_before: np.ndarray, restart: Restart) -> None:
    """Raise ConsistencyError unless recorded parts of a jump lead to its end: energies read them."""
    state, which = run.state, np.flatnonzero(run.core.model.differentiated)
    lost, terms = restart.z - z_before, np.abs(restart.z) + np.abs(z_before)
    ends = [part.right[: len(lost)] for part in parts]
    if ends:
        lost, terms = lost - (ends[-1] - parts[0].left[: len(lost)]), terms + np.sum(np.abs(ends), axis=0)
    terms += _terms(state.z, state.error, run.integration.steps)
    # What comes to rest has moved on the way. Newton's method rounds all unknowns as the largest, in units of scales.
    part, floor = (SOLVED, UNIT) if run.reduced.nonlinear else (ROUNDED, NOTHING)
    allowed = part * terms + floor * run.core.model.scale
    require(run, worst("record", which, np.abs(lost[which]), terms[which], allowed[which]), state.t)


def confirm_flow(
    run: Run, tables: ModeTables, trajectory: Trajectory, length: float, known: Uncertainty, inside: bool
) -> None:
    """Raise ConsistencyError unless the end of a segment in closed form, and the way there if ``inside``, is as the mode says.

    ``known`` is how exactly its begin was known, how late the crossing there may have been and what that moves.
    """
    state, data = run.state, run.data
    require(run, cancelled(trajectory.flow), state.t)
    moved = None if known.error is None else known.error / SUMMED
    require(run, unlocated(run.core.model, data, trajectory, known, length, moved), state.t)
    rows_held = in_force(run.core, tables, *run.situation())
    left = None
    if rows_held is not None:
        explained = partial(_share_of_rounding, run.record, run.core, known.late)
        off = np.zeros(len(run.y))
        off[: len(data.states)] = 0.0 if known.error is None else known.error[data.states]
        left = partial(_left_on_the_way, rows_held, data, trajectory, length, off, explained)
        late = lateness(state.t + length, run.tolerance)
        require(run, left(length, run.y, late), state.t + length)
    if not inside:
        return
    h, size = WHERE[0] * length, trajectory.magnitude(length)
    t, y = state.t + h, trajectory.at(h)
    if left is not None:
        require(run, left(h, y, lateness(t, run.tolerance)), t)
    at = point_of(run.core.model, data, y, size)
    require(run, run.core.equations.unsolved(state.mode, None, at, ELIMINATED), t)
    least = NOTHING * run.core.model.scale[data.states]
    if trajectory.flow.size is not None:  # Rounding of one state moves all that it drives.
        least += UNIT * (trajectory.flow.size @ np.abs(trajectory.y0))[: len(least)]
    require(run, unmoved(data, trajectory, length, size, least), t)
    largest = np.maximum(np.abs(trajectory.y0), np.abs(run.y))
    require(run, drifting(data, trajectory.flow, largest, length), state.t + length)
    if rows_held is not None:
        if rows_held.speeds:
            released = _released(run.record.steps, state.t, run.core.model.elements, state.mode)
            require(
                run, resting(rows_held, released, [(p, data.Ay @ p) for p in (y, run.y)], data.Ay), state.t
            )
        require(run, hidden(run.core, data, rows_held, trajectory, length, np.zeros(0)), state.t)


def _left_on_the_way(
    rows_held: Held, data: ModeData, trajectory: Trajectory, length: float, off: np.ndarray,
    explained: Callable[[], float], h: float, y: np.ndarray, seconds: float,
) -> Violation | None:  # fmt: skip
    """The guard, relation or branch that is left at ``y``, after ``h`` seconds of a segment in closed form.

    The state vector was ``off`` (ny,) at the begin, and events may be ``seconds`` late; ``explained()`` is the part that
    rounding explains of what the search for the crossing that began the segment left open.
    """
    late = np.abs(seconds * (data.Ay @ y)) + off
    if rows_held.clear(y, late):
        return None
    if trajectory.shift is not None:
        late += explained() * np.abs(trajectory.flow.start(trajectory.shift).at(h))
    return left_branch(rows_held, data.mode, y, doubt_along(trajectory, length, h, late))


def _share_of_rounding(record: Record, core: NumericCore, located: float) -> float:
    """The part of ``located`` seconds within which rounding hides the crossing between the last two segments.

    This check reckons rounding by itself. Where there is one segment alone nothing is known of it, and all is explained.
    """
    if len(record.segments) < 2:
        return 1.0
    before, now = record.segments[-2:]
    first = list(takewhile(lambda step: step.t == now.start, reversed(record.steps)))[-1]
    data, motion, h = before.data, before.trajectory, before.end - before.start
    assert isinstance(data, ModeData) and isinstance(motion, Trajectory)
    row = core.tables(data).forms[first.triggers[0]]
    slope = abs(float(row @ motion.slope(h)))
    rounded = EVALUATED * float(np.abs(row) @ motion.magnitude(h))
    return min(1.0, rounded / slope / located) if slope else 1.0


def confirm_steps(run: Run, tables: ModeTables, length: float, known: Uncertainty) -> None:
    """The same after a segment of integration, at the ends of all steps; ``tables`` are those of the mode's last analysis."""
    state, data, core, steps = run.state, tables.data, run.base, run.integration.steps
    y = data.state(state.z, state.slopes, run.xi)
    watched = run.integration.watched
    assert steps is not None
    assert watched is not None
    rows_held = in_force(run.core, tables, *run.situation())
    if steps.forms.count:
        rounded = partial(_rounded_forms, rows_held, data, y, steps, known.error)
        late = lateness(state.t + length, run.tolerance), abs(known.late)
        found, h = _along(steps, np.array(watched.which), length, rounded, late, run.method.missed)
        require(run, found, state.t + h)
    motion = None
    # Steps of an affine model follow the rates of a mode that has a closed form.
    if rows_held is not None and not run.reduced.nonlinear:
        first, over = _point_of_steps(steps, 0.0, length, run.xi, NOTHING * core.model.scale)[0], data.states
        # Nothing follows what steps left open along this motion: they tell it in two ways, a trajectory has one.
        motion = tables.flow.start(np.concatenate([first.z[over], first.xi]))
        largest, missed = run.integration.size, run.method.missed
        require(run, unlocated(core.model, data, motion, known, length, largest, missed), state.t)
    if not run.visit(length):
        return
    h, system = WHERE[0] * length, steps.motion.system
    t, mode, lin = state.t + h, state.mode, run.linearisation
    at, size = _point_of_steps(steps, h, length, run.xi, NOTHING * core.model.scale)
    over = data.states
    # Rounded coefficients move what steps follow as they move closed forms, whether anything is watched or not.
    if core.system is None and not run.reduced.nonlinear:
        largest = np.concatenate([size[over], np.abs(at.xi)])
        if motion is not None or may_drift(data, largest, length):
            part = run.method.tolerances.rtol
            require(run, drifting(data, tables.flow, largest, length, part), t)
        at = replace(at, doubt=(at.doubt[0], at.doubt[1] + _rounded_slopes(data, largest)))
    require(
        run, core.equations.unsolved(mode, lin.affine_rows(mode), at, SOLVED if system.m else ELIMINATED), t
    )
    require(run, _nonlinear(run.tangents, mode, at, size, steps.motion.constants), t)
    if rows_held is None:
        return
    point = np.concatenate([at.z[over], at.xi])
    rate = np.concatenate([at.slopes[over], (data.Ay @ point)[len(over) :]])
    if motion is not None:
        ends = np.array([a.step.t1 for a in steps.accepted if a.step.t1 < length])
        require(run, hidden(core, data, rows_held, motion, length, ends), t)
    released = _released(run.record.steps, state.t, core.model.elements, mode)
    if released:
        require(run, resting(rows_held, released, [(point, rate)], data.Ay), t)


def _along(
    steps: Steps,
    which: np.ndarray,
    length: float,
    rounded: Callable[[], np.ndarray | float],
    late: tuple[float, float],
    missed: float,
) -> tuple[Violation | None, float]:
    """The guard or relation, of those in ``which``, that is left at a step or at the end, and after how many seconds.

    Forms may be off by what is ``rounded`` in a step, and by the part ``missed`` by integration of what they were on the way. The
    end, and the crossing at the begin, may be ``late`` or early by some seconds: by what moves in these, they may be off too.
    """
    forms, motion = steps.forms, steps.motion
    ends = [motion.jets(place) for place in (steps.place(length), steps.begin)]
    times = np.array([0.0, *(a.step.t1 for a in steps.accepted)])
    points = np.vstack([steps.ends(), ends[0][0]])
    values = forms.values(motion, points)
    looked = np.flatnonzero(np.append(times < length, True))
    values_there = values[looked]
    if values_there.min() >= 0.0:
        return None, 0.0
    # What was integrated may be off by its tolerance of what it was on the way, the whole last step included.
    way = np.abs(values).max(axis=0)
    worst_at = looked[np.argmin(values_there, axis=0)]
    terms = np.array([forms.tangent(motion, points[p]).terms[k] for k, p in enumerate(worst_at.tolist())])
    speeds = np.abs([forms.at(motion, v[None], slope[None])[0, 1] for v, slope in ends])
    solved = SOLVED if motion.system.m else ROUNDED
    allowed = missed * way + solved * terms + np.array(late) @ speeds + rounded()
    if motion.batched:
        cancel = np.array([steps.solved(p, length)[k] for k, p in enumerate(worst_at.tolist())])
        terms, allowed = terms + cancel, allowed + ROUNDED * cancel
    lowest = values[worst_at, np.arange(forms.count)]
    found = worst("guard", which, -lowest, terms, allowed)
    at = 0 if found is None else int(worst_at[np.flatnonzero(which == found.which)[0]])
    return found, min(length, float(np.append(times, length)[at]))


def _rounded_forms(
    rows_held: Held | None, data: ModeData, y: np.ndarray, steps: Steps, error: np.ndarray | None
) -> np.ndarray | float:
    """What is rounded of forms in the longest step that ends with these states and sources, and before the first by an error."""
    if rows_held is None:
        return 0.0
    stepped, states = rounded_step(data, y, _longest(steps)), data.states
    if steps.motion.batched:  # Terms cancel in equations too that are solved for what rates read.
        rates = rates_from(steps.motion, steps.motion.last, steps.motion.solved)[states]
        stepped[: len(states)] += ROUNDED * _longest(steps) * rates
    stepped[: len(states)] += 0.0 if error is None else error[states]
    return np.abs(rows_held.rows) @ stepped


def _longest(steps: Steps | None) -> float:
    """Length of the longest step."""
    return 0.0 if steps is None else max((a.step.t1 - a.step.t0 for a in steps.accepted), default=0.0)


def _point_of_steps(
    steps: Steps, h: float, length: float, xi: np.ndarray, least: np.ndarray
) -> tuple[Point, np.ndarray]:
    """The point after ``h`` seconds of an integrated segment, and the magnitudes of its terms on the way."""
    system, place = steps.motion.system, steps.place(h)
    v, v1 = steps.motion.jets(place)
    over = abs(system.z_of)
    size = over @ np.maximum(np.abs(v), steps.largest())
    doubt = ROUNDED * size + least, ROUNDED * (over @ np.abs(v1)) + least / length
    sources = np.concatenate([place.xi, xi[len(place.xi) :]])
    return Point(system.z_of @ v, system.z_of @ v1, sources, doubt), size


def _released(steps: Sequence[MicroStep], t: float, elements: Sequence[Element], mode: Mode) -> list[int]:
    """Elements of friction at rest before the instant at ``t``, the last one, and sliding after it in ``mode``."""
    first = len(steps)
    while first and steps[first - 1].t == t:
        first -= 1
    if first == len(steps) or steps[first].kind == "start":
        return []
    return [
        k
        for k, (e, old, new) in enumerate(zip(elements, steps[first].before, mode, strict=True))
        if e.kind is Kind.FRICTION and new in SLIDING and e.shown_as(old) == STICK
    ]


def _nonlinear(
    tangents: Tangents, mode: Mode, at: Point, size: np.ndarray, constants: np.ndarray
) -> Violation | None:
    """The nonlinear equation that does not hold at a point, where unknowns were of these magnitudes on the way."""
    numbers = np.asarray(tangents.numbers_in_force(mode))
    which = np.flatnonzero(numbers >= 0)
    if not len(which):
        return None
    rows, functions = numbers[which], tangents.functions
    a = tangents.arguments(at.z, at.slopes, at.xi)
    sizes = abs(tangents.Z) @ size + abs(tangents.D) @ np.abs(at.slopes) + abs(tangents.X) @ np.abs(at.xi)
    rounded = functions.rounding(a, constants, UNIT * (sizes + tangents.scale)).copy()
    value, gradient = functions(0, [a], constants)
    terms = np.bincount(tangents.nonlinear_rows.owner, np.abs(gradient) * sizes, len(value))[rows]
    return worst("equation", which, np.abs(value[rows]), terms, SOLVED * terms + REACHED * rounded[rows])


def in_force(
    core: NumericCore,
    tables: ModeTables,
    operators: Sequence[str],
    relations: tuple[np.ndarray, np.ndarray],
    forced: tuple[int, ...],
    disabled: frozenset[tuple[int, int, int]],
) -> Held | None:
    """What has to hold with the values of the ``relations``, all and which of them; None for nothing."""
    if not len(tables.forms):
        return None
    values = relations[0][relations[1]]
    key = values.tobytes(), forced, disabled
    found = tables.situations.get(key)
    if found is None:
        found = held(tables.data, core.model, core.relations, operators, values.tolist(), forced, disabled)
        tables.keep(tables.situations, key, found)
    return found


def _terms(z: np.ndarray, error: np.ndarray | None, steps: Steps | None) -> np.ndarray:
    """Magnitudes of what the core unknowns were computed from in the last segment, or were along it."""
    if steps is not None:
        return np.maximum(np.abs(z), steps.largest(steps.motion.system.z_of))
    return np.abs(z) if error is None else np.abs(z) + error / SUMMED


def point_of(model: AffineModel, data: ModeData, y: np.ndarray, size: np.ndarray) -> Point:
    """The point of a mode with a state vector whose terms have these magnitudes."""
    rate, over = data.Ay @ y, data.sizes[0]
    least = NOTHING * model.scale
    doubt = ROUNDED * (over @ size) + least, _rounded_slopes(data, size) + data.fastest * least
    return Point(data.T @ y, data.T @ rate, y[len(data.states) :], doubt)


def _rounded_slopes(data: ModeData, size: np.ndarray) -> np.ndarray:
    """By how much slopes (n,) may be off because terms of rates cancel that are computed from states of these magnitudes."""
    over, speed = data.sizes
    return ROUNDED * (over @ (speed @ size))


def _rows_of_contacts(model: AffineModel, mode: Mode) -> np.ndarray:
    counts = [len(e.branches[b].equations) for e, b in zip(model.elements, mode, strict=True)]
    contacts = np.repeat([e.kind is Kind.IMPACT for e in model.elements], counts)
    return len(model.base) + np.flatnonzero(contacts)


def require(run: Run, found: Violation | None, t: float) -> None:
    """End the run before what does not hold."""
    if found is None:
        return
    error = run.failed(Inconsistent(found, t))
    run.go_back()
    raise error
