"""Judgement of runs of random networks and mechanisms by the oracles, from values read as plain arrays.

A run is right when at every time all equations and laws hold, when differentiated variables integrate their derivatives and
stored energy the powers, and when at every event they jump as the exact complementarity problem of that instant says, without
gain of energy. Nonlinear parts stand in that problem as lines through the points that the run has found. A refusal is right
when the problem has no solution. An explicit method that says a model is stiff need not go on to the end: what it has computed is
judged.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np

from acausal import AcausalError, ModeNotSquareError, Result, StiffnessWarning, compile_model
from tests.oracles.complementarity import Instant, NotSquareError, residuals
from tests.systems.campaign_cases import Case
from tests.systems.campaign_steps import stepping_defects

EXACT = 1e-8
"""Relative error allowed to closed forms."""
QUANTUM = 2.0**-40
"""Left limits of events are rounded to multiples of this part of the largest: rounding is no condition."""
NEAR = 32
"""The same up to which left limits touch or rest."""
INSIDE = (0.02, 0.31, 0.5, 0.77, 0.98)
"""Places within a segment at which everything is judged, beside both ends."""
PANELS = np.concatenate([[0.0], 2.0 ** np.arange(-20, -2), np.arange(0.25, 1.01, 0.125)])
"""Parts of a segment over which powers are integrated: what an event excites decays after it."""
TRAJECTORY = 0.1
"""Seconds from which a run is a trajectory, not a decision."""
BALANCED = 16
"""Segments of a run over which energies are balanced."""
FURTHER = 1000
"""Steps and instants that a run goes on after it has said that the model is stiff."""


@dataclass(frozen=True)
class Verdict:
    """What came of one run, and why: ``right``, ``stiff``, ``right refusal``, ``wrong``, ``wrong refusal`` or ``unjudged``.

    A run that was stopped as a stiff one, and is right as far as it went, is ``stiff``.

    Attributes
    ----------
    off : float
        Largest error relative to the size of what is off, where one is measured.
    stepping : str
        How small steps judge the run, see `campaign_steps`; empty where they were not asked.
    """

    outcome: str
    why: str = ""
    events: int = 0
    decisions: int = 0
    error: str = ""
    parts: int = 0
    elements: int = 0
    off: float = 0.0
    stepping: str = ""


class StoppedError(Exception):
    """A run was stopped that stability holds; what it has computed is its result."""

    result: Result


def stopped_where_stiff(simulate: Callable[..., Result]) -> Result:
    """Call what runs a model; where it says that the model is stiff, `StoppedError` ends it some steps later."""
    further = 0

    def progress(t: float) -> None:
        nonlocal further
        further += any(issubclass(told.category, StiffnessWarning) for told in warned)
        if further > FURTHER:
            raise StoppedError(f"stopped at t = {t:.3g} s")

    with warnings.catch_warnings(record=True) as warned:
        # Islands without ground, explicit starts that move: both are frequent here.
        warnings.simplefilter("always")
        return simulate(progress=progress)


def attempt(case: Case, span: float, **options: Any) -> Result | Exception:
    """Run a case; a failure is an answer too, and so is a stop."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            program = compile_model(case.build())
        return stopped_where_stiff(partial(program.simulate, span, impulses="allow", **options))
    except Exception as error:
        return error


class UnjudgedError(Exception):
    """No oracle can tell."""


def judged(case: Case, answer: Result | Exception, limit: float = EXACT) -> Verdict:
    """Judge what came of a case; ``limit`` is the relative error that is allowed."""
    if isinstance(answer, AcausalError):
        return refusal(case, answer)
    if isinstance(answer, StoppedError):
        found = judged(case, answer.result, limit)
        return replace(found, outcome="stiff", why=str(answer)) if found.outcome == "right" else found
    if isinstance(answer, Exception):
        return Verdict("wrong", f"{type(answer).__name__}: {answer}"[:200], error=type(answer).__name__)
    try:
        return verdict(case, answer, limit)
    except UnjudgedError as error:
        return Verdict("unjudged", str(error), len(answer.events))


def refusal(case: Case, error: AcausalError) -> Verdict:
    """Whether a refusal is right: the instant it speaks of has no solution, or none of many is said to be the one."""
    result: Result | None = getattr(error, "result", None)
    name = type(error).__name__
    begun = result is not None and len(result.segments) > 0
    try:
        if begun and result is not None:
            t = result.t_end
            states, after = left_limits(case, result, t)[0], t >= case.change
        else:
            t, states, after = 0.0, case.starts, False
        found = case.instant(states, after, None)
    except NotSquareError:
        return Verdict("unjudged", f"{name} at t = {t:g}", error=name)
    if found is None or (isinstance(error, ModeNotSquareError) and not case.determined(states, after)):
        return Verdict("right refusal", error=name)
    return Verdict("wrong refusal", f"{name} at t = {t:g}: {error}"[:300].replace("\n", " "), error=name)


def left_limits(
    case: Case, result: Result, t: float, quantum: float = QUANTUM
) -> tuple[dict[str, Fraction], float]:
    """Left limits of the differentiated unknowns, rounded, and how far that may have moved them."""
    values = {c: float(read(case, result, c, np.array([t]), "left")[0]) for c in case.states}
    size = 2.0 ** np.ceil(np.log2(max((abs(v) for v in values.values()), default=1.0) or 1.0))
    unit = Fraction(float(size) * quantum)
    rounded = {c: unit * round(Fraction(v) / unit) for c, v in values.items()}
    return case.snapped(rounded, NEAR * unit), float(NEAR * unit)


def read(case: Case, result: Result, unknown: str, t: np.ndarray, side: str = "right") -> np.ndarray:
    """Values of an unknown of the oracle."""
    path = case.paths[unknown]
    sign = -1.0 if path.startswith("-") else 1.0
    return sign * np.asarray(result[path.lstrip("-")].at(t, side=side), float)


def rate(case: Case, result: Result, unknown: str, t: np.ndarray, side: str = "right") -> np.ndarray:
    """Derivatives of a differentiated unknown."""
    return np.asarray(result[f"der({case.paths[unknown]})"].at(t, side=side), float)


def verdict(case: Case, result: Result, limit: float) -> Verdict:
    """Judge a finished run."""
    times = sorted({float(e.t) for e in result.events} | {0.0, result.t_end})
    wrong = [
        *start_defects(case, result, limit),
        *(x for t in times[1:] if t < result.t_end for x in jump_defects(case, result, t, limit)),
        *gains(case, result, times, limit),
        *law_defects(case, result, times, limit),
    ]
    stepping = ""
    if not wrong and case.holding is not None and result.t_end > TRAJECTORY:
        stepping, wrong = stepping_defects(case, result)
    found = "wrong" if wrong else "right"
    return Verdict(found, "; ".join(wrong[:4]), len(result.events), len(times) - 1, stepping=stepping)


def start_defects(case: Case, result: Result, limit: float) -> list[str]:
    """Differences of right limits at the start from those of the exact problem."""
    return _jump_defects(case, result, 0.0, limit)


def jump_defects(case: Case, result: Result, t: float, limit: float) -> list[str]:
    """The same at an event, whose left limits are known to rounding: what is about to touch may do so or not yet."""
    for quantum in (QUANTUM, UNIT):
        found = _jump_defects(case, result, t, max(limit, 1e-7), quantum)
        if not found:
            break
    return found


def _jump_defects(case: Case, result: Result, t: float, limit: float, quantum: float = QUANTUM) -> list[str]:
    expected, moved = _expected(case, result, t, limit, quantum)
    if expected is None:
        return [f"a mode is found at t = {t:.9g} where there is none"]
    size: dict[str, float] = {}
    for c in case.states:
        around = np.concatenate([np.abs(result[case.paths[c]].values), [abs(expected.values.get(c, 0.0))]])
        size[c[0]] = max(size.get(c[0], 0.0), around.max())
    found = []
    for c in case.states:
        right = float(read(case, result, c, np.array([t]))[0])
        if c in expected.values and not abs(right - expected.values[c]) <= limit * size[c[0]] + moved + UNIT:
            found.append(f"{c} is {right:.9g} instead of {expected.values[c]:.9g} at t = {t:.9g}")
    # After an impulse the derivatives may be those of another mode than that of the impulse.
    if t == 0.0 and not found and not expected.impulses:
        found += _slope_defects(case, result, expected, limit)
    return found


def gains(case: Case, result: Result, times: Sequence[float], limit: float) -> list[str]:
    """Energies that storage and sources have gained in instants; the largest of the run tells what is rounding."""
    t = np.array(times)
    before, after = (
        np.broadcast_to(case.stored({c: read(case, result, c, t, side) for c in case.paths}), t.shape)
        for side in ("left", "right")
    )
    largest = max(np.max(before, initial=0.0), np.max(after, initial=0.0))
    found = []
    for k in np.flatnonzero(after > (1 + limit) * before + limit**2 * largest).tolist():
        expected, _ = _expected(case, result, times[k], limit)
        work = case.work(expected.impulses) if expected else 0.0
        gain = after[k] - before[k] + work
        if gain > limit * (before[k] + after[k] + abs(work)):
            found.append(f"energy grows by {gain:.3g} J of {before[k]:.6g} J at t = {times[k]:.9g}")
    return found


def _expected(
    case: Case, result: Result, t: float, limit: float, quantum: float = QUANTUM
) -> tuple[Instant | None, float]:
    """What the exact problem of an instant says, and how far its left limits were moved."""
    states, moved = left_limits(case, result, t, quantum) if t else (case.starts, 0.0)
    now = np.array([t])

    def right_limit(unknown: str) -> float:
        return float(read(case, result, unknown, now)[0])

    try:
        found = case.instant(states, t >= case.change, right_limit)
        leaps = {} if found is None else _leaps(case, found)
        if found is not None and leaps:
            # What has no mass leaps to what it meets, and what that leads to follows in the same instant. Where nothing drives
            # it, it may as well stay.
            states = {c: found.values.get(c, x) for c, x in states.items()}
            leapt = {c: float(states[c]) + way for c, way in leaps.items()}
            if all(abs(right_limit(c) - x) <= limit * (1.0 + abs(x)) for c, x in leapt.items()):
                after = case.instant({**states, **leapt}, t >= case.change, right_limit)
                found = after and replace(after, impulses={**found.impulses, **after.impulses})
        return found, moved
    except NotSquareError as error:
        raise UnjudgedError(f"no oracle for the instant t = {t:.9g}: {error}") from None


def _leaps(case: Case, found: Instant) -> dict[str, float]:
    """Ways by which positions leap: integrals of speeds over an instant."""
    ways = {f"s.{c[2:]}": way for c, way in found.impulses.items() if c.startswith("v.")}
    return {c: way for c, way in ways.items() if c in case.states}


def _slope_defects(case: Case, result: Result, expected: Instant, limit: float) -> list[str]:
    """Differences of the derivatives after the start, which tell which mode it was."""
    now = np.zeros(1)
    slopes = {c: float(rate(case, result, c, now)[0]) for c in case.states}
    # All numbers of the models are of the order of one.
    size: dict[str, float] = {}
    for c, slope in slopes.items():
        size[c[0]] = max(size.get(c[0], 1.0), abs(slope), abs(expected.slopes.get(c, 0.0)))
    return [
        f"der({c}) is {slope:.9g} instead of {expected.slopes[c]:.9g} at the start"
        for c, slope in slopes.items()
        if c in expected.slopes and not abs(slope - expected.slopes[c]) <= limit * size[c[0]]
    ]


def law_defects(case: Case, result: Result, times: list[float], limit: float) -> list[str]:
    """Violated equations and laws, and differentiated unknowns that are not the integrals of their derivatives."""
    found = []
    for after in (False, True):
        spans = [
            (a, b) for a, b in zip(times, times[1:], strict=False) if b > a and (a >= case.change) == after
        ]
        if not spans:
            continue
        inner = np.array([a + (b - a) * x for a, b in spans for x in INSIDE])
        ends = np.array([b for _, b in spans])
        begins = np.array([a for a, _ in spans])
        values, rates = {}, {}
        for c in case.paths:
            values[c] = np.concatenate(
                [read(case, result, c, begins), read(case, result, c, inner), read(case, result, c, ends, "left")]
            )  # fmt: skip
        for c in case.states:
            rates[c] = np.concatenate(
                [rate(case, result, c, begins), rate(case, result, c, inner), rate(case, result, c, ends, "left")]
            )  # fmt: skip
        model = case.equations(after)
        if any(not np.isfinite(x).all() for x in (*values.values(), *rates.values())):
            found.append("a value is not finite")
            continue
        for k, defect in residuals(model, values, rates, case.units, limit, case.rounded(values)).items():
            if not defect <= 1.0:
                rows = model.equations[k]
                found.append(
                    f"equation {dict(rows.value)} {dict(rows.rate)} violated by {defect * limit:.2g}"
                )
        for name, defect in case.defects(values, after, limit).items():
            if not defect <= 1.0:
                found.append(f"law of {name} violated by {defect * limit:.2g}")
        found += _integral_defects(case, result, spans, limit)
        found += energy_defects(case, result, spans, after, limit)
    return found


def energy_defects(
    case: Case, result: Result, spans: list[tuple[float, float]], after: bool, limit: float
) -> list[str]:
    """Over whole segments, what is stored is the integral of the powers, where a rule resolves it."""
    chosen = spans[:: max(1, -(-len(spans) // BALANCED))]
    for a, b in chosen:
        edges = a + (b - a) * PANELS
        begin, end = (
            {c: read(case, result, c, np.array([t]), side) for c in case.paths}
            for t, side in ((a, "right"), (b, "left"))
        )
        stored = [float(np.squeeze(case.stored(values))) for values in (begin, end)]
        for _ in range(3):
            (fine, size), (coarse, _) = (
                _work(case, result, edges, after, nodes, weights)
                for nodes, weights in ((NODES, WEIGHTS), (COARSE_NODES, COARSE_WEIGHTS))
            )
            allowed = limit * (max(stored) + size) + 1e-13 * (max(stored) + size)
            if limit <= EXACT:
                allowed += nothing(case, result, a) ** 2 * sum(_inertias(case).values())
            if abs(fine - coarse) <= 1e-2 * allowed:
                defect = stored[1] - stored[0] + fine
                if not abs(defect) <= allowed:
                    return [
                        f"energy of {defect:.3g} J of {max(stored) + size:.6g} J is missing from {a:.9g} to {b:.9g} s"
                    ]
                break
            edges = np.sort(np.concatenate([edges, (edges[1:] + edges[:-1]) / 2]))
    return []


def _work(
    case: Case, result: Result, edges: np.ndarray, after: bool, nodes: np.ndarray, weights: np.ndarray
) -> tuple[float, float]:
    """Integral of the power over panels, and that of the size of its terms."""
    half = np.diff(edges)[:, None] / 2
    t = (edges[:-1, None] + half * (nodes + 1)).ravel()
    total, size = case.power({c: read(case, result, c, t) for c in case.paths}, after)
    factors = (half * weights).ravel()
    return float(np.sum(factors * total)), float(np.sum(factors * size))


UNIT = 2.0**-50
"""Rounding of what a few terms of double precision leave."""
SUMS = 1e-14
"""Part of the largest state by which a closed form is off, some fifty roundings; by the fastest rate that of its derivative."""
ABSOLUTE = 1e-2
"""Absolute tolerance of integration by default, in units of the relative one."""
NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
COARSE_NODES, COARSE_WEIGHTS = np.polynomial.legendre.leggauss(5)


def time_constant(result: Result, t: float) -> float:
    """That of the fastest motion of the mode in force."""
    return next(s.data.tau for s in result.segments.all if s.start <= t < s.end)


def nothing(case: Case, result: Result, t: float) -> float:
    """What rounding of a rounded zero leaves in states at rest, beside others that are not: a position over its own time."""
    largest = max((np.abs(result[case.paths[c]].values).max() for c in case.states), default=0.0)
    return UNIT**2 * largest / min(time_constant(result, t), 1.0)


def _integral_defects(
    case: Case, result: Result, spans: list[tuple[float, float]], limit: float
) -> list[str]:
    """Over short pieces late in each segment, increments are the integrals of the derivatives where a rule resolves them.

    Integrated runs are as exact as the largest variable of a unit needs, and as their absolute tolerance says, which is in units
    of the largest magnitude that a variable has had. Derivatives are rounded as the fastest motion of their mode needs, and by
    forces and flows of the order of one, values as what they turn into each other: a speed beside a loaded spring is rounded
    as that which the spring can give.
    """
    found: dict[str, str] = {}
    size: dict[str, float] = {}
    inertias = _inertias(case) if limit <= EXACT else {}
    had = {c: abs(float(case.starts[c])) for c in case.states}
    for c in case.states:
        reach = max(np.abs(result[case.paths[c]].values).max(), abs(float(case.starts[c])))
        size[c[0]] = max(size.get(c[0], 0.0), reach)
    for a, b in spans[:50]:
        t0, h = a + 0.6 * (b - a), 0.05 * (b - a)
        rounding = 1e-13 + (SUMS * h / time_constant(result, t0) if limit <= EXACT else 0.0)
        rest = nothing(case, result, t0) if limit <= EXACT else 0.0
        x = {c: read(case, result, c, np.array([t0, t0 + h])) for c in case.states}
        swings = _swings(case, {c: float(v[0]) for c, v in x.items()}, inertias)
        for c in case.states:
            rates = rate(case, result, c, t0 + h / 2 * (NODES + 1))
            fine = h / 2 * WEIGHTS @ rates
            coarse = h / 2 * COARSE_WEIGHTS @ rate(case, result, c, t0 + h / 2 * (COARSE_NODES + 1))
            around = max(np.abs(v).max() for other, v in x.items() if other[0] == c[0])
            had[c] = max(had[c], np.abs(x[c]).max())
            missed = limit * (around + ABSOLUTE * had[c]) if limit > EXACT else 0.0
            allowed = limit * abs(fine) + missed + rounding * size[c[0]] + rest
            allowed += 2 * np.spacing(b) * np.abs(rates).max() + UNIT * (swings.get(c[0], 0.0) + h)
            missed = abs(x[c][1] - x[c][0] - fine)
            if abs(fine - coarse) <= 1e-2 * allowed and missed > allowed + h * _driven(
                case, result, c, limit
            ):
                found.setdefault(c, f"{c} does not follow its derivative at t = {t0:.6g}")
    return list(found.values())


def _driven(case: Case, result: Result, state: str, limit: float) -> float:
    """By how much an integrated run may miss the rate of a state: what drives it is as exact as the largest of its unit needs.

    Beside a small resistance a state is far more exact than its rate is.
    """
    inertia = _inertias(case).get(state, 0.0) if limit > EXACT else 0.0
    drives = {"v": "if", "i": "v"}.get(state[0], "")
    if not inertia or not drives:
        return 0.0
    paths = [path for c, path in case.paths.items() if c[0] in drives]
    return limit * max((np.abs(result[p.lstrip("-")].values).max() for p in paths), default=0.0) / inertia


def _inertias(case: Case) -> dict[str, float]:
    """States in whose squares energy is stored -> twice the energy that each stores at one."""
    found = {}
    for c in case.states:
        down, rest, up = (
            float(case.stored({**dict.fromkeys(case.states, 0.0), c: v})) for v in (-1.0, 0.0, 1.0)
        )
        if (twice := up + down - 2.0 * rest) > 0.0:
            found[c] = twice
    return found


def _swings(case: Case, x: dict[str, float], inertias: dict[str, float]) -> dict[str, float]:
    """Letters before the point of a state -> what one of them is where it alone has all energy that is stored."""
    found: dict[str, float] = {}
    energy = float(case.stored(x)) if inertias else 0.0
    for c, inertia in inertias.items():
        found[c[0]] = max(found.get(c[0], 0.0), (2.0 * energy / inertia) ** 0.5)
    return found
