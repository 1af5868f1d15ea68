"""Families of random models of the campaign: what a seed means, how it is run, and how it is judged."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from acausal import AcausalError, Program, Result, compile_model
from acausal.components.electrical import Capacitor, IdealDiode, Inductor, Resistor, SineVoltage
from tests.oracles import circuits, lines, random_lines
from tests.oracles.circuits import random_circuit
from tests.oracles.random_lines import random_chain, random_mechanism
from tests.oracles.rounding import rounded_share
from tests.systems import general_path_cases
from tests.systems.campaign_cases import Case, line_case, network_case
from tests.systems.campaign_judge import (
    EXACT,
    TRAJECTORY,
    UNIT,
    StoppedError,
    Verdict,
    attempt,
    judged,
    stopped_where_stiff,
)
from tests.systems.circuits import circuit, diode_bridge
from tests.systems.general_path_cases import CASES

INTEGRATED = 1e-5
"""Error of laws and continued states allowed to runs with the default ``rtol`` of 1e-6."""
LIMITS = {"exact": EXACT, "auto": EXACT, "explicit": INTEGRATED, "implicit": INTEGRATED}


@dataclass(frozen=True)
class Family:
    """Random models of one kind.

    Attributes
    ----------
    describe : callable
        Seed -> parts as plain tuples, any part of which may be left out to find a smaller model.
    case : callable
        Parts and time of the change -> model and judge.
    change, span : float
        Time of the change and end of the run, in seconds; spans of some milliseconds show decisions, not trajectories.
    methods : tuple of str
        Paths on which every model is run.
    """

    describe: Callable[[int], Sequence[Any]]
    case: Callable[[Sequence[Any], float], Case]
    change: float
    span: float
    methods: tuple[str, ...] = ("auto",)

    @property
    def decides(self) -> bool:
        """Whether single instants are counted, not trajectories."""
        return self.span < TRAJECTORY

    def text(self, parts: Sequence[Any]) -> str:
        """The description, to print."""
        return self.case(parts, self.change).text

    def run(self, parts: Sequence[Any], method: str, ran: Callable[[], None] = lambda: None) -> Verdict:
        """Run a description and judge it; ``ran`` is called in between."""
        case = self.case(parts, self.change)
        answer = attempt(case, self.span, method=method)
        ran()
        found = judged(case, answer, LIMITS[method])
        return replace(found, parts=case.parts, elements=case.elements)


def smaller(parts: Sequence[Any]) -> Iterator[list[Any]]:
    """Descriptions with less: without a mass and all that is fixed to it, or without another part."""
    for e in parts:
        if e.kind in lines.BODIES:
            yield [x for x in parts if e.a not in (x.a, x.b)]
    for k in reversed(range(len(parts))):
        if parts[k].kind not in lines.BODIES:
            yield [*parts[:k], *parts[k + 1 :]]


LOSSY = (
    *("freewheeling", "charging to rest", "half wave", "bridge at a resistor", "bridge at a choke"),
    *(
        "bridge at a capacitor",
        "oscillator damped by a bridge",
        "buck CCM",
        "buck DCM",
        "boost DCM",
        "flyback",
    ),
    *("six pulse, ideal lines", "six pulse", "thyristor bridge", "triac", "inverter", "multiplier"),
    *("30 mF behind a diode", "30 mF behind a bridge"),
)
WRONG = 100.0
"""Error in units of the relative tolerance from which an integrated run is called wrong."""
STIFFEST = 1e4
"""Time constants of the fastest motion over which an explicit method is asked to go, instead of the whole run: what flows through
a small loss is to be as exact as the states, which holds its steps below those that its stability allows."""


def share(exact: Result) -> float:
    """Part of a run in closed form over which an explicit method is asked to go."""
    fastest = max((1.0 / s.data.tau for s in exact.segments.all), default=0.0)
    return min(1.0, STIFFEST / (fastest * exact.t_end)) if fastest * exact.t_end else 1.0


class LossyCircuit(NamedTuple):
    """A circuit of `general_path_cases` or of this module with equal losses in all its switches and valves."""

    kind: str
    name: str
    Ron: float
    Goff: float
    rtol: float


@dataclass(frozen=True)
class GeneralPath:
    """Circuits with small losses, integrated, against their closed form."""

    methods: tuple[str, ...] = ("explicit", "implicit")
    decides: bool = False

    def describe(self, seed: int) -> list[LossyCircuit]:
        """Circuit, losses and tolerance of a seed."""
        rng = random.Random(seed)
        Ron, Goff = 10.0 ** -rng.randint(3, 9), 10.0 ** -rng.randint(3, 9)
        return [LossyCircuit("circuit", LOSSY[seed % len(LOSSY)], Ron, Goff, rng.choice((1e-3, 1e-6, 1e-9)))]

    def text(self, parts: Sequence[Any]) -> str:
        """The description, to print."""
        return "\n".join(map(str, parts))

    def run(self, parts: Sequence[Any], method: str, ran: Callable[[], None] = lambda: None) -> Verdict:
        """Compare values on the way, means and extremes with those of the exact path; ``ran`` is called in between."""
        (given,) = parts
        found = CASES.get(given.name) or filter_case(given.name)
        program = compile_model(found.build())
        paths = [program.flat.parameter(k) for k in range(program.flat.npar)]
        losses = {p: getattr(given, p.rsplit(".", 1)[1]) for p in paths if p.endswith((".Ron", ".Goff"))}
        allowed, run = WRONG * given.rtol, partial(program.simulate, **found.options)
        size = {"parts": len(losses), "elements": len(losses) // 2}
        closed = partial(run, method="exact", parameters=losses)
        integrated = partial(run, method=method, rtol=given.rtol)
        exact = None
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                exact = whole = closed(found.span)
                if method == "explicit" and share(whole) < 1.0:
                    exact = closed(found.span * share(whole))
                answer, stiff = as_far_as_it_goes(partial(integrated, exact.t_end, parameters=losses))
                ran()
                off, why = against(closed(answer.t_end) if stiff else exact, answer, whole)
            except AcausalError as error:
                ran()
                if exact is not None and has_way_out(integrated, closed, exact, losses, allowed):
                    return Verdict("right refusal", error=type(error).__name__, **size)
                return replace(refused(program, found, given, error), **size)
        right = "stiff" if stiff else "right"
        return Verdict(
            right if off <= allowed else "wrong",
            "" if off <= allowed else why,
            len(exact.events),
            len(answer.events),
            off=off,
            **size,
        )


def as_far_as_it_goes(simulate: Callable[..., Result]) -> tuple[Result, bool]:
    """What a run computes, and whether it was stopped as a stiff one."""
    try:
        return stopped_where_stiff(simulate), False
    except StoppedError as stopped:
        return stopped.result, True


def has_way_out(
    integrated: Callable[..., Result],
    closed: Callable[[float], Result],
    exact: Result,
    losses: dict[str, float],
    allowed: float,
) -> bool:
    """Whether with small losses of one kind at zero, as a refusal advises, a run is right within its tolerance."""
    for kind in (".Ron", ".Goff"):
        with suppress(AcausalError):
            rest = {path: 0.0 if path.endswith(kind) else loss for path, loss in losses.items()}
            answer, stiff = as_far_as_it_goes(partial(integrated, exact.t_end, parameters=rest))
            if against(closed(answer.t_end) if stiff else exact, answer, exact)[0] <= allowed:
                return True
    return False


def refused(
    program: Program, case: general_path_cases.Case, given: LossyCircuit, error: AcausalError
) -> Verdict:
    """Whether losses may be refused: without them the circuit runs, and they change less than default tolerances may miss.

    How much they change is in proportion to what `ROUGH` losses of the same kind do. Beside losses that matter those of the other
    kind may be refused whose effect is less than what rounding of the rates makes that they give: without these the circuit runs.
    """
    kinds = {"Ron": given.Ron, "Goff": given.Goff}
    name, text = type(error).__name__, f"{type(error).__name__}: {error}"[:300]

    def simulated(**losses: float) -> Result:
        paths = [program.flat.parameter(k) for k in range(program.flat.npar)]
        numbers = {p: losses.get(p.rsplit(".", 1)[1], 0.0) for p in paths if p.endswith((".Ron", ".Goff"))}
        return program.simulate(case.span, method="exact", parameters=numbers, **case.options)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ideal = simulated()
            changed = {
                kind: size / ROUGH * max(departure(ideal, simulated(**{kind: ROUGH})).values(), default=0.0)
                for kind, size in kinds.items()
                if size
            }
            total = sum(changed.values())
            if total > MISSED:
                for kind in changed:
                    if changed[kind] < min(MISSED, drowned(ideal, kind, kinds[kind])):
                        simulated(**{other: size for other, size in kinds.items() if other != kind})
                        return Verdict("right refusal", error=name)
        except AcausalError as other:
            return Verdict("wrong refusal", f"{text}; beside it: {other}"[:400], error=name)
    if total <= MISSED:
        return Verdict("right refusal", error=name)
    return Verdict("wrong refusal", f"losses that change {total:.2g}: {text}", error=name)


def drowned(ideal: Result, kind: str, size: float) -> float:
    """Part of what flows through losses of a kind and size, or of what the storages that they join hold, that is rounding.

    The drop along a resistance is a difference of what stands at its ends: what flows is rounding of these over the resistance.
    """
    across, through, store = ("v", "i", "C") if kind == "Ron" else ("i", "v", "L")
    stores = [float(ideal[f"{p[:-2]}.{store}"].final) for p in ideal.states if p.endswith(f".{across}")]
    owners = [p.rsplit(".", 1)[0] for p in ideal.parameters if p.endswith(f".{kind}")]
    ends, flows = (max(abs(ideal[f"{p}.{x}"]).max() for p in owners) for x in (across, through))
    rounded = UNIT * ends / (size * flows) if flows else np.inf
    return max(rounded_share(stores, size, ideal.t_end), rounded)


ROUGH = 1e-3
"""Losses, in Ohm and Siemens, that every circuit is run with."""
MISSED = 1e-6
"""Part of its size that a run at the default tolerance may miss."""
WEAK = ("freewheeling", "half wave", "bridge at a choke", "bridge at a capacitor", "buck CCM", "boost DCM", "flyback",
        "six pulse, ideal lines", "six pulse", "thyristor bridge", "multiplier", "30 mF behind a bridge")  # fmt: skip
TIMES = (np.arange(400) + 0.6180339887) / 400.0
"""Parts of a run at which values are compared: between the fractions at which circuits commutate."""
STRONG = 1e-5
"""Losses, in Ohm and Siemens, whose effect tells that of smaller ones."""


class WeakLosses:
    """Circuits with losses far below those of parts that exist, in closed form, against the lossless circuit.

    What a small loss changes is proportional to it. With losses of 1e-5 the proportion is measured, one kind at a time; those of
    a seed may change ten times as much, or be refused with the way out.
    """

    methods: tuple[str, ...] = ("exact",)
    decides: bool = False

    def describe(self, seed: int) -> list[LossyCircuit]:
        """Circuit and losses of a seed: all circuits in turn, with one kind of loss or both."""
        rng = random.Random(seed)
        exponents = [rng.randint(6, 12) for _ in "RG"]
        Ron, Goff = (10.0**-k for k in exponents)
        kind = seed // len(WEAK) % 3
        return [LossyCircuit("circuit", WEAK[seed % len(WEAK)], Ron * (kind != 0), Goff * (kind != 1), 0.0)]

    def text(self, parts: Sequence[Any]) -> str:
        """The description, to print."""
        return "\n".join(map(str, parts))

    def run(self, parts: Sequence[Any], method: str, ran: Callable[[], None] = lambda: None) -> Verdict:
        """Compare values at the end, means and values on the way with those without losses."""
        (given,) = parts
        found = CASES.get(given.name) or filter_case(given.name)
        program = compile_model(found.build())
        paths = [program.flat.parameter(k) for k in range(program.flat.npar)]

        def simulated(Ron: float, Goff: float) -> Result:
            size = {"Ron": Ron, "Goff": Goff}
            losses = {p: size[p.rsplit(".", 1)[1]] for p in paths if p.endswith((".Ron", ".Goff"))}
            return program.simulate(found.span, method=method, parameters=losses, **found.options)

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                answer = simulated(given.Ron, given.Goff)
            except AcausalError as error:
                ran()
                return refused(program, found, given, error)
            ran()
            try:
                ideal = simulated(0.0, 0.0)
                proportions = [
                    (size / STRONG, departure(ideal, simulated(*strong)))
                    for size, strong in ((given.Ron, (STRONG, 0.0)), (given.Goff, (0.0, STRONG)))
                    if size
                ]
            except AcausalError as error:
                return Verdict(
                    "wrong refusal",
                    f"beside the losses of the seed: {error}"[:300],
                    error=type(error).__name__,
                )
        wrong = []
        for path, off in departure(ideal, answer).items():
            expected = sum(part * moved[path] for part, moved in proportions)
            if not off <= 10.0 * expected + EXACT:
                wrong.append(f"{path} is off by {off:.3g} of its size, {expected:.3g} in proportion")
        return Verdict("wrong" if wrong else "right", "; ".join(wrong[:3]), len(answer.events))


def departure(ideal: Result, result: Result) -> dict[str, float]:
    """How far the states of a run are from those of another, at 400 times and on average, relative to their sizes."""
    t = ideal.t_end * TIMES
    found, size = {}, {}
    for path in ideal.states:
        a, b = ideal[path], result[path]
        size[path] = float(np.abs(a.values).max()) or 1.0
        found[path] = max(abs(a.mean() - b.mean()), float(np.abs(a.at(t) - b.at(t)).mean())) / size[path]
    return found


def against(exact: Result, result: Result, whole: Result) -> tuple[float, str]:
    """How far states are from those of the exact path: means, values on the way or extremes, whichever is farthest; and where.

    At the begin of a run the terms of its closed form cancel, which are as large as the values of the ``whole`` of it, and
    their rounding is no error of the other path.
    """
    t = exact.t_end * TIMES
    found, size, reach = [], dict[str, float](), dict[str, float]()
    for path in exact.states:
        a, b = exact[path], result[path]
        for sizes, of in ((size, a), (reach, whole[path])):
            sizes[a.unit] = max(sizes.get(a.unit, 0.0), of.max(), -of.min())
        off = abs(a.mean() - b.mean()), np.abs(a.at(t) - b.at(t)).mean(), abs(a.max() - b.max())
        found.append((path, a.unit, float(max(off)), a.mean(), b.mean()))
    relative = [max(off - UNIT * reach[unit], 0.0) / (size[unit] or 1.0) for _, unit, off, _, _ in found]
    if not relative:
        return 0.0, ""
    worst = int(np.argmax(relative))
    path, unit, off, a, b = found[worst]
    text = f"{path} is off by {off:.3g} of {size[unit]:.4g} {unit} (mean {b:.6g} instead of {a:.6g})"
    return float(relative[worst]), text


def filter_case(name: str) -> general_path_cases.Case:
    """A rectifier with 60 uH in the line, 30 mF and 1 Ohm at 325 V: the valves see a hundred times the current of the load."""
    source = ("source", SineVoltage(V=325.0, f=50.0), "a", "0" if name.endswith("diode") else "n")
    line = ("line", Inductor(L=60e-6), "a", "b")
    valves = [("diode", IdealDiode(), "b", "plus")]
    if name.endswith("bridge"):
        valves = diode_bridge(("b", "n"), "plus", "0")
    load = [("filter", Capacitor(C=30e-3), "plus", "0"), ("load", Resistor(R=1.0), "plus", "0")]
    return general_path_cases.Case(lambda: circuit(source, line, *valves, *load), 0.1)


INTEGRATING = ("explicit", "implicit")
ALL = ("exact", *INTEGRATING)
INSTANT = {"change": 1e-3, "span": 2e-3}

FAMILIES: dict[str, Family | GeneralPath | WeakLosses] = {
    "networks": Family(lambda seed: random_circuit(seed, grounded=True), network_case, **INSTANT),
    "free networks": Family(lambda seed: random_circuit(seed), network_case, **INSTANT),
    "ideal networks": Family(
        lambda seed: random_circuit(seed, losses=0.0, grounded=True), network_case, **INSTANT
    ),
    "resting": Family(lambda seed: random_mechanism(seed), line_case, **INSTANT),
    "moving": Family(lambda seed: random_mechanism(seed, moving=True), line_case, **INSTANT),
    "chains": Family(random_chain, line_case, **INSTANT),
    "copies": Family(lambda seed: random_mechanism(seed, copies=2 + seed % 4, bodies=1 + seed % 3), line_case, **INSTANT),
    "network runs": Family(
        lambda seed: random_circuit(seed, grounded=True, size=5 + seed % 36), network_case, 0.7, 2.0, ALL
    ),
    "free runs": Family(
        lambda seed: random_circuit(seed, size=5 + seed % 36, losses=0.5 * (seed % 2)), network_case, 0.7, 2.0, ALL
    ),
    "nonlinear runs": Family(
        lambda seed: circuits.with_nonlinear(random_circuit(seed, grounded=True, size=5 + seed % 26)),
        network_case,
        0.7,
        2.0,
        INTEGRATING,
    ),
    "general path": GeneralPath(),
    "weak losses": WeakLosses(),
    "mechanism runs": Family(
        lambda seed: random_mechanism(seed, moving=seed % 2 == 0, bodies=1 + seed % 6), line_case, 0.7, 2.0, ALL
    ),
    "nonlinear mechanisms": Family(
        lambda seed: random_lines.with_nonlinear(random_mechanism(seed, moving=seed % 2 == 0, bodies=1 + seed % 4)),
        line_case,
        0.7,
        2.0,
        INTEGRATING,
    ),
}  # fmt: skip
