"""Steps of integration in a row, as long as nothing on the way asks for a closer look.

They are the steps of `dynamics.stepper` with the demands of `simulation.nonlinear`: what is accepted here is what would be
accepted there, but that a row goes on with the rounding of states that it began with. A step about which there is any doubt
is left to these: trials at which a point is not found, states that others may serve better, forms that come near zero.

References: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd ed., Springer 1993, section II.4;
E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., Springer 1996, section IV.2 (PI control after
Gustafsson; detection of stiffness).
"""

from __future__ import annotations

import math

import numpy as np

from .constraints import choice_serves, copy_row, volume_left
from .dialect import kernel
from .location import spacing
from .newton import ITERATIONS
from .step_doubts import DEPARTS, DOUBT, try_step
from .step_forms import BEGIN, END, allow_forms, carry_forms
from .step_points import linearise, look
from .step_records import (
    AHEAD,
    ATOL,
    BEFORE,
    CHANGES,
    CHOOSES,
    EVALUATED,
    FACTORISED,
    HELD_OWN,
    HELD_STEPS,
    INSIDE,
    JACOBIANS,
    LARGEST,
    LAST_ERROR,
    LEAD,
    LIMIT,
    LONGEST,
    MADE,
    MOST,
    NEAR_BOUNDARY,
    NOW,
    ORDER,
    REJECTED,
    RTOL,
    SINCE_LOOK,
    SIZE,
    SOURCES_UNTIL,
    SPEED,
    USUAL,
    VOLUME,
    StepRecords,
)  # fmt: skip

SAFETY = 0.9
"""Part of the step size that would just meet the tolerance."""
SHRINK, GROW = 0.2, 6.0
"""Smallest and largest factor from one step size to the next."""
MEMORY = 0.2
"""Share of the last error in the next step size (beta times the order in section IV.2)."""
LEAST_ERROR = 1e-4
"""Smaller errors are remembered as this one."""
LEAST_FOR_GROWTH = 1e-10
REACH = 1.01
"""A step this much longer is stretched rather than followed by a very short one."""
SMALLEST_STEP = 16
"""In units in the last place of the time."""
MOST_REJECTED = 16
"""Rejections of one step, after which a closer look decides: rounding may reject any number of them."""
NEAR, FAR = 0.2, 1.5
"""Distances from a singular point ahead, in steps, between which a step would end next to it."""
STANDING = (2.0**-52 / DEPARTS) ** 0.5
"""Least slope of a combination of the constraints, relative to that at the begin, at which rounding hides forces."""
UNMOVED = 1e-6
"""Magnitude, in units of the scale, of coordinates that are zero so far."""
BOUNDARY = 3.25
"""Steps times eigenvalue at the end of the stability domain of Dormand-Prince 5(4) on the negative axis."""
STIFF = 1.0
"""Steps times eigenvalue from which the implicit method is the better one: on ``y' = -L (y - cos t) - sin t`` with ``L`` from 5
to 1000 and tolerances from 1e-3 to 1e-9 it then makes less than half the steps, with errors at most half as large."""
STIFF_STEPS = 4
"""Steps near the boundary after which the implicit method goes on; beyond the boundary one is enough."""
QUIET_STEPS = 4
"""Steps in a row that are not near the boundary after which those near it do not count any more."""
LOOK_EVERY = 10
"""Implicit steps between two looks at the eigenvalues."""
SLOW = 0.25
"""Implicit step times largest eigenvalue below which the explicit method would make the same steps."""
SQUARINGS = 5
"""Of a Jacobian, until its powers tell how large its eigenvalues are."""
PERHAPS, SURELY = 1, 2
"""Whether the other method is the better one behind a step."""
HELD = 2.5
"""Step size times eigenvalue from which stability holds a step. The boundary of the stability domain is 2.6 to 3.4 from zero for
motions that lose more than 9 % of their amplitude in a radian. Those that lose nothing have theirs at 1: however rough the
tolerance is, none of them is taken for one that has died away."""
LONG = 1000
"""So many more steps that stability holds than others mean a stiff problem, as DOPRI5 looks for one after 1000 steps."""
SMALL = 1e-2
"""Least absolute tolerances by which stability is judged, in units of the relative one and of the present values."""

# What a row of steps ends with.
DONE, FULL, DOUBTFUL, MADE_LAST = 0, 1, 2, 3


@kernel
def growth(error: float, last: float, order: float, after_rejection: bool) -> float:
    """Factor from an accepted step to the next; never above one straight after a rejection."""
    beta = MEMORY / order
    power = 1.0 / order - 0.75 * beta
    factor = SAFETY * math.pow(last, beta) * math.pow(max(error, LEAST_FOR_GROWTH), -power)
    return min(max(factor, SHRINK), 1.0 if after_rejection else GROW)


@kernel
def reduction(error: float, order: float) -> float:
    """Factor from a rejected step to the next trial."""
    return max(SHRINK, SAFETY * math.pow(error, -1.0 / order))


@kernel
def count_stability(k: StepRecords, h: float) -> bool:
    """Count an explicit step by whether stability held it; whether that asks for a look.

    The last two stages are at the same time: the difference of their rates over that of their arguments shows the largest
    eigenvalue that the solution excites.
    """
    s, w, counts, apart, change = k.stages, k.state, k.state.counts, 0.0, 0.0
    for i in range(w.y.shape[0]):
        rough = w.numbers[RTOL] * abs(w.y1[i])
        scale = w.atol[i] + rough if counts[CHOOSES] > 0 else max(w.atol[i], SMALL * rough)
        a, b = (w.y1[i] - s.arguments[5, i]) / scale, (s.parts[6, i] - s.parts[5, i]) / scale
        apart, change = apart + a * a, change + b * b
    reach = h * math.sqrt(change / apart) if apart > 0.0 else 0.0
    if counts[CHOOSES] > 0:
        if reach > STIFF:
            counts[NEAR_BOUNDARY], counts[INSIDE] = counts[NEAR_BOUNDARY] + 1, 0
        else:
            counts[INSIDE] += 1
            if counts[INSIDE] >= QUIET_STEPS:
                counts[NEAR_BOUNDARY] = 0
        return reach > BOUNDARY or counts[NEAR_BOUNDARY] >= STIFF_STEPS
    if reach > HELD:
        counts[HELD_STEPS] += 1
        counts[HELD_OWN] += 1
        counts[LEAD] += 1
        w.numbers[SPEED] += (math.log(reach / h) - w.numbers[SPEED]) / counts[HELD_OWN]
    else:
        counts[LEAD] = max(counts[LEAD] - 1, 0)
    return False


@kernel
def log_place(k: StepRecords, which: int) -> None:
    """Write down an end of a step."""
    at, log, j = k.places, k.log, k.state.counts[MADE]
    copy_row(at.points[which], log.points[j])
    copy_row(at.sources[which], log.sources[j])
    copy_row(at.rates[which], log.rates[j])
    copy_row(at.slopes[which], log.slopes[j])


@kernel
def keep_step(k: StepRecords, t1: float) -> None:
    """Write down a step."""
    at, log, j = k.places, k.log, k.state.counts[MADE]
    log.times[j] = t1
    copy_row(k.state.y1, log.states[j])
    for d in range(3):
        copy_row(at.dense[d], log.dense[j, d])
    for e in range(2):
        copy_row(at.errors[e], log.errors[j, e])
    log_place(k, END)
    k.state.counts[MADE] += 1


@kernel
def go_on(k: StepRecords, t1: float) -> None:
    """Take the end of a step as the begin of the next one."""
    w, at, h = k.state, k.places, t1 - k.state.numbers[NOW]
    w.numbers[LONGEST] = w.numbers[USUAL] = max(w.numbers[LONGEST], h)
    for i in range(w.moved.shape[0]):
        w.moved[i] = max(w.moved[i], abs(at.points[END, i] - at.points[BEGIN, i]))
    for i in range(w.largest.shape[0]):
        w.largest[i] = max(w.largest[i], abs(at.points[END, i]))
        w.units[i] = min(max(w.largest[i], UNMOVED * w.scale[i]), w.bends[i])
    for i in range(w.y.shape[0]):
        x = k.changes.states[i]
        w.atol[i] = max(w.numbers[ATOL] * w.largest[x], w.least[i])
        w.rate[i], w.y[i], w.size[i] = at.rates[END, x], w.y1[i], abs(w.y1[i])
    w.numbers[NOW], w.numbers[BEFORE] = t1, h
    allow_forms(k.forms, h)
    copy_row(at.points[END], at.points[BEGIN])
    copy_row(at.sources[END], at.sources[BEGIN])
    copy_row(at.rates[END], at.rates[BEGIN])
    copy_row(at.slopes[END], at.slopes[BEGIN])
    for i in range(k.constraints.levels.shape[0]):
        copy_row(k.constraints.slopes[END, i], k.constraints.slopes[BEGIN, i])


@kernel
def square(A: np.ndarray, out: np.ndarray) -> float:
    """The square of a matrix of which the largest magnitude is one, in units of its own largest magnitude, which is returned."""
    n, largest = A.shape[0], 0.0
    for i in range(n):
        for j in range(n):
            out[i, j] = 0.0
            for m in range(n):
                out[i, j] += A[i, m] * A[m, j]
            largest = max(largest, abs(out[i, j]))
    for i in range(n):
        for j in range(n):
            out[i, j] /= largest if largest > 0.0 else 1.0
    return largest


@kernel
def explicit_serves(k: StepRecords, h: float) -> int:
    """Whether an explicit step of ``h`` seconds would be stable with the last Jacobian: zero, `PERHAPS` or `SURELY`.

    With the largest entry ``a`` of ``J^k``, the k-th power of its largest eigenvalue lies between ``trace(J^k) / n`` and ``n a``.
    """
    J, n, size = k.places.jacobian, k.state.y.shape[0], 0.0
    # Each step factorises the matrix of its stages anew: it serves as room.
    power, other = k.stages.system.matrix, k.places.square
    for i in range(n):
        for j in range(n):
            size = max(size, abs(J[i, j]))
    if not size < math.inf:
        return PERHAPS
    logarithm, order = 0.0, 1.0
    for i in range(n):
        for j in range(n):
            power[i, j] = J[i, j] / size if size > 0.0 else 0.0
    logarithm = math.log(size) if size > 0.0 else 0.0
    for _ in range(SQUARINGS):
        largest = square(power, other)
        if largest == 0.0:
            return SURELY
        logarithm, order = 2.0 * logarithm + math.log(largest), 2.0 * order
        for i in range(n):
            for j in range(n):
                power[i, j] = other[i, j]
    trace, limit = 0.0, order * math.log(SLOW / h) - logarithm
    for i in range(n):
        trace += power[i, i]
    if abs(trace) > 0.0 and math.log(abs(trace) / n) >= limit:
        return 0
    return SURELY if math.log(float(n)) < limit else PERHAPS


@kernel
def take_step(k: StepRecords, t1: float) -> bool:
    """Accept a step; false where a look is due behind it."""
    w, h, changes = k.state, t1 - k.state.numbers[NOW], 0
    if k.method.kind[0] > 0:
        w.counts[SINCE_LOOK] += 1
        if w.counts[CHOOSES] > 0 and w.counts[SINCE_LOOK] >= LOOK_EVERY:
            changes = explicit_serves(k, h)
            if changes == 0:
                w.counts[SINCE_LOOK] = 0
    elif count_stability(k, h):
        changes = SURELY
    w.counts[CHANGES] = changes
    carry_forms(k.forms, w.counts[MADE])
    keep_step(k, t1)
    go_on(k, t1)
    looks = changes > 0
    if k.constraints.levels.shape[0] > 0:
        looks = looks or not choice_serves(k.constraints, k.points.dependent, w.units)
    return not looks


@kernel
def stays_open(k: StepRecords, h: float) -> bool:
    """Note how the volume of the constraints changes over a step; whether it stays far from none."""
    w = k.state
    if k.constraints.levels.shape[0] == 0:
        return True
    left = volume_left(k.constraints, w.units)
    if not w.numbers[VOLUME] * left > STANDING * w.numbers[LARGEST]:
        return False
    w.numbers[AHEAD] = h * left / (1.0 - left) if left < 1.0 else math.inf
    w.numbers[VOLUME] *= left
    w.numbers[LARGEST] = max(w.numbers[LARGEST], w.numbers[VOLUME])
    return True


@kernel
def find_step(k: StepRecords) -> int:
    """Make one step; `FULL` where the next one may follow."""
    numbers, counts, rejected = k.state.numbers, k.state.counts, 0
    t, order, explicit = numbers[NOW], float(k.method.kind[ORDER]), k.method.kind[0] == 0
    if NEAR * numbers[SIZE] < numbers[AHEAD] < FAR * numbers[SIZE]:
        return DOUBTFUL
    if explicit and counts[CHOOSES] == 0 and counts[LEAD] == LONG - 1:
        return DOUBTFUL  # The next one may have to tell of it.
    if not (explicit or linearise(k)):
        return DOUBTFUL
    shortest, limit = SMALLEST_STEP * spacing(t), numbers[LIMIT] - t
    h, before = max(min(numbers[SIZE], numbers[MOST]), shortest), math.inf
    while True:
        ends = h * REACH >= limit
        t1 = numbers[LIMIT] if ends else t + h
        error = try_step(k, t1) if t1 <= numbers[SOURCES_UNTIL] else DOUBT
        if not 0.0 <= error < before:
            return DOUBTFUL  # What does not shrink with the step is rounding.
        if error <= 1.0:
            break
        before = error
        h = (t1 - t) * reduction(error, order)
        rejected += 1
        if h < shortest or rejected > MOST_REJECTED:
            return DOUBTFUL
        counts[REJECTED] += 1
    if not stays_open(k, t1 - t):
        return DOUBTFUL
    # A step cut short by the limit says little about the size of the next one.
    grown = (t1 - t) * growth(error, numbers[LAST_ERROR], order, rejected > 0)
    numbers[SIZE] = max(h, grown) if ends else grown
    if not ends or t1 - t >= h:
        numbers[LAST_ERROR] = max(error, LEAST_ERROR)
    return FULL if take_step(k, t1) else MADE_LAST


@kernel
def make_step(k: StepRecords) -> int:
    """The same; what a closer look is to repeat does not count."""
    counts, iterations = k.state.counts, k.room.counts[ITERATIONS]
    rejected, evaluated = counts[REJECTED], counts[EVALUATED]
    linearised, factorised = counts[JACOBIANS], counts[FACTORISED]
    status = find_step(k)
    if status == DOUBTFUL:
        counts[REJECTED], counts[EVALUATED] = rejected, evaluated
        counts[JACOBIANS], counts[FACTORISED] = linearised, factorised
        k.room.counts[ITERATIONS] = iterations
    return status


@kernel
def follow_steps(k: StepRecords) -> int:
    """Make steps until the limit, as many as there is room for, or up to one that needs a closer look."""
    numbers, status = k.state.numbers, FULL
    if not look(k, BEGIN):
        return DOUBTFUL
    allow_forms(k.forms, numbers[BEFORE])
    while status == FULL and k.state.counts[MADE] < k.log.times.shape[0]:
        if not numbers[NOW] < numbers[LIMIT]:
            return DONE
        status = make_step(k)
    return status
