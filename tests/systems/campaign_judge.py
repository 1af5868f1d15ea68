"""Judgement of runs of random networks and mechanisms by the oracles, from values read as plain arrays.

A run is right when at every time all equations and laws hold, when differentiated variables integrate their derivatives, and
when at every event they jump as the exact complementarity problem of that instant says. A refusal is right when that problem
has no solution.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from acausal import AcausalError, Component, Result, compile_model
from tests.oracles import circuits, lines
from tests.oracles.complementarity import Instant, NotSquareError, System, residuals, solution
from tests.oracles.networks import GROUND, Element
from tests.systems import line_models, network_models

EXACT = 1e-8
"""Relative error allowed to closed forms."""
QUANTUM = 2.0**-40
"""Left limits of events are rounded to multiples of this part of the largest: rounding is no condition."""
NEAR = 32
"""The same up to which left limits touch or rest."""
INSIDE = (0.02, 0.31, 0.5, 0.77, 0.98)
"""Places within a segment at which everything is judged, beside both ends."""


@dataclass(frozen=True)
class Case:
    """A model and how it is judged.

    Attributes
    ----------
    text : str
        The description, to print.
    units : dict of str to str
        Letters before the point of an unknown -> unit.
    build : callable
        Makes the model.
    paths : dict of str to str
        Unknown of the oracle -> path of a result.
    equations : callable
        Whether after the change -> rows that hold.
    instant : callable
        Left limits, whether after the change -> consistent right limits, None if there are none.
    defects : callable
        Values, whether after the change, limit -> violated laws.
    states : tuple of str
        Differentiated unknowns.
    starts : dict
        Exact left limits at the start.
    change : float
        Time of the change in seconds.
    elements : int
        How many elements have modes.
    parts : int
        Size.
    snapped : callable
        Rounded left limits, distance -> left limits that obey exactly what they obey up to that distance.
    """

    text: str
    units: Mapping[str, str]
    build: Callable[[], Component]
    paths: Mapping[str, str]
    equations: Callable[[bool], System]
    instant: Callable[[Mapping[str, Any], bool], Instant | None]
    defects: Callable[[Mapping[str, Any], bool, float], Mapping[str, float]]
    states: tuple[str, ...]
    starts: Mapping[str, Any]
    change: float
    elements: int
    parts: int
    snapped: Callable[[Mapping[str, Fraction], Fraction], dict[str, Fraction]] = lambda states, near: dict(
        states
    )


@dataclass(frozen=True)
class Verdict:
    """What came of one run: ``right``, ``right refusal``, ``wrong`` or ``wrong refusal``, and why."""

    outcome: str
    why: str = ""
    events: int = 0
    decisions: int = 0
    error: str = ""
    parts: int = 0
    elements: int = 0


# -- cases -----------------------------------------------------------------------------------------------------------


def network_case(network: Sequence[Element], change: float) -> Case:
    """A network whose switches all change over once."""
    closed = {e.name: e.value for e in network if e.kind == "S"}
    system = {
        after: circuits.system(network, {n: v != after for n, v in closed.items()}) for after in (False, True)
    }
    paths: dict[str, str] = {}
    for e in network:
        first, second = ("v1", "i1") if e.kind == "X" else ("v", "i")
        paths[f"v.{e.name}"], paths[f"i.{e.name}"] = f"{e.name}.{first}", f"{e.name}.{second}"
        ports = (
            [("p1", e.p), ("n1", e.n), ("p2", e.extra[0]), ("n2", e.extra[1])]
            if e.kind == "X"
            else [("p", e.p), ("n", e.n)]
        )
        if e.kind == "X":
            paths[f"v2.{e.name}"], paths[f"i2.{e.name}"] = f"{e.name}.v2", f"{e.name}.i2"
        for pin, node in ports:
            if node != GROUND:
                paths.setdefault(f"e.{node}", f"{e.name}.{pin}.v")
    return Case(
        text="\n".join(f"{e.kind} {e.name} {e.p} {e.n} {e.value} {e.extra}" for e in network),
        units=circuits.UNITS,
        build=lambda: network_models.model(network, change),
        paths=paths,
        equations=lambda after: system[after],
        instant=lambda states, after: _solved(network, system[after], states),
        defects=lambda values, after, limit: circuits.defects(network, values, limit),
        states=tuple(circuits.state(e) for e in network if e.kind in "LC"),
        starts=circuits.starts(network),
        change=change,
        elements=sum(e.kind in "DTS" for e in network),
        parts=len(network),
    )  # fmt: skip


def _solved(network: Sequence[Element], system: System, states: Mapping[str, Any]) -> Instant | None:
    if any(e.kind == "N" for e in network):
        raise NotSquareError("nonlinear parts are in no linear problem")
    return solution(system, states)


def line_case(parts: Sequence[lines.Part], change: float) -> Case:
    """A mechanism whose pushes and clutches change once."""
    paths: dict[str, str] = {}
    for e in parts:
        if e.kind == "M":
            paths[f"s.{e.a}"], paths[f"v.{e.a}"] = f"{e.name}.s", f"{e.name}.v"
        elif e.kind == "G":
            # The lever pulls at a with -flange_a.f.
            paths[f"f.{e.name}"] = f"-{e.name}.flange_a.f"
        elif e.kind != "B":
            paths[f"f.{e.name}"] = f"{e.name}.f"
    return Case(
        text="\n".join(f"{e.kind} {e.name} {e.a} {e.b} {e.value} {e.extra}" for e in parts),
        units=lines.UNITS,
        build=lambda: line_models.model(parts, change),
        paths=paths,
        equations=lambda after: lines.system(parts, after=after),
        instant=lambda states, after: lines.consistent(parts, states, after),
        defects=lambda values, after, limit: lines.defects(parts, values, after, limit),
        states=tuple(f"{letter}.{e.a}" for e in parts if e.kind == "M" for letter in "sv"),
        starts=lines.starts(parts),
        change=change,
        elements=sum(e.kind in "FWP" for e in parts),
        parts=len(parts),
        snapped=lambda states, near: lines.snapped(parts, states, near),
    )


# -- judgement -------------------------------------------------------------------------------------------------------


def attempt(case: Case, span: float, **options: Any) -> Result | Exception:
    """Run a case; a failure is an answer too."""
    with warnings.catch_warnings():
        # Islands without ground, explicit starts that move: both are frequent here.
        warnings.simplefilter("ignore")
        try:
            return compile_model(case.build()).simulate(span, impulses="allow", **options)
        except Exception as error:
            return error


def judged(case: Case, answer: Result | Exception, limit: float = EXACT) -> Verdict:
    """Judge what came of a case; ``limit`` is the relative error that is allowed."""
    if isinstance(answer, AcausalError):
        return refusal(case, answer)
    if isinstance(answer, Exception):
        return Verdict("wrong", f"{type(answer).__name__}: {answer}"[:200], error=type(answer).__name__)
    return verdict(case, answer, limit)


def refusal(case: Case, error: AcausalError) -> Verdict:
    """Whether a refusal is right: the instant it speaks of has no solution."""
    result: Result | None = getattr(error, "result", None)
    name = type(error).__name__
    begun = result is not None and len(result.segments) > 0
    try:
        if begun and result is not None:
            t = result.t_end
            states, after = left_limits(case, result, t), t >= case.change
        else:
            t, states, after = 0.0, case.starts, False
        found = case.instant(states, after)
    except NotSquareError:
        return Verdict("undecided", f"{name} at t = {t:g}", error=name)
    if found is None:
        return Verdict("right refusal", error=name)
    return Verdict("wrong refusal", f"{name} at t = {t:g}: {error}"[:300].replace("\n", " "), error=name)


def left_limits(case: Case, result: Result, t: float) -> dict[str, Fraction]:
    """Left limits of the differentiated unknowns, rounded."""
    values = {c: float(read(case, result, c, np.array([t]), "left")[0]) for c in case.states}
    size = 2.0 ** np.ceil(np.log2(max((abs(v) for v in values.values()), default=1.0) or 1.0))
    quantum = Fraction(float(size) * QUANTUM)
    rounded = {c: quantum * round(Fraction(v) / quantum) for c, v in values.items()}
    return case.snapped(rounded, NEAR * quantum)


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
        *law_defects(case, result, times, limit),
    ]
    count = len(result.events)
    return Verdict("wrong" if wrong else "right", "; ".join(wrong[:4]), count, len(times) - 1)


def start_defects(case: Case, result: Result, limit: float) -> list[str]:
    """Differences of right limits at the start from those of the exact problem."""
    return _jump_defects(case, result, 0.0, case.starts, limit)


def jump_defects(case: Case, result: Result, t: float, limit: float) -> list[str]:
    """The same at an event, whose left limits are known to rounding."""
    return _jump_defects(case, result, t, left_limits(case, result, t), max(limit, 1e-7))


def _jump_defects(case: Case, result: Result, t: float, states: Mapping[str, Any], limit: float) -> list[str]:
    try:
        expected = case.instant(states, t >= case.change)
    except NotSquareError:
        return []
    if expected is None:
        return [f"a mode is found at t = {t:.9g} where there is none"]
    size: dict[str, float] = {}
    for c in case.states:
        around = np.concatenate([np.abs(result[case.paths[c]].values), [abs(expected.values.get(c, 0.0))]])
        size[c[0]] = max(size.get(c[0], 0.0), around.max())
    found = []
    for c in case.states:
        right = float(read(case, result, c, np.array([t]))[0])
        if c in expected.values and not abs(right - expected.values[c]) <= limit * size[c[0]]:
            found.append(f"{c} is {right:.9g} instead of {expected.values[c]:.9g} at t = {t:.9g}")
    # After an impulse the derivatives may be those of another mode than that of the impulse.
    if t == 0.0 and not found and not expected.impulses:
        found += _slope_defects(case, result, expected, limit)
    return found


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
        for k, defect in residuals(model, values, rates, case.units, limit).items():
            if defect > 1.0:
                rows = model.equations[k]
                found.append(
                    f"equation {dict(rows.value)} {dict(rows.rate)} violated by {defect * limit:.2g}"
                )
        for name, defect in case.defects(values, after, limit).items():
            if defect > 1.0:
                found.append(f"law of {name} violated by {defect * limit:.2g}")
        found += _integral_defects(case, result, spans, limit)
    return found


NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
COARSE_NODES, COARSE_WEIGHTS = np.polynomial.legendre.leggauss(5)


def _integral_defects(
    case: Case, result: Result, spans: list[tuple[float, float]], limit: float
) -> list[str]:
    """Over short pieces late in each segment, increments are the integrals of the derivatives where a rule resolves them."""
    found = []
    size: dict[str, float] = {}
    for c in case.states:
        reach = max(np.abs(result[case.paths[c]].values).max(), abs(float(case.starts[c])))
        size[c[0]] = max(size.get(c[0], 0.0), reach)
    for c in case.states:
        for a, b in spans[:50]:
            t0 = a + 0.6 * (b - a)
            h = 0.05 * (b - a)
            fine = h / 2 * WEIGHTS @ rate(case, result, c, t0 + h / 2 * (NODES + 1))
            coarse = h / 2 * COARSE_WEIGHTS @ rate(case, result, c, t0 + h / 2 * (COARSE_NODES + 1))
            x = read(case, result, c, np.array([t0, t0 + h]))
            rounding = 1e-13 * size[c[0]]
            allowed = limit * (abs(fine) + np.abs(x).max() * (limit > EXACT)) + rounding
            if abs(fine - coarse) <= 1e-2 * allowed and abs(x[1] - x[0] - fine) > allowed:
                found.append(f"{c} does not follow its derivative at t = {t0:.6g}")
                break
    return found
