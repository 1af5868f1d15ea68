"""Ideal parts join a large part and a small one: what both keep has its digits in whatever order they are written."""

from collections.abc import Sequence
from fractions import Fraction
from itertools import permutations

import pytest
from mpmath import findroot, mp, mpf

from acausal import Circuit, Result, simulate
from acausal.components.blocks import BooleanStep
from acausal.components.electrical import (
    Capacitor,
    Diode,
    Ground,
    IdealClosingSwitch,
    IdealOpeningSwitch,
    IdealTransformer,
    Inductor,
)
from acausal.components.translational import CubicSpring, Fixed, ImpactStop, Mass
from tests.systems.circuits import circuit
from tests.systems.line_models import Claw, Grip, Lever
from tests.systems.test_joined_capacitors import CubicCapacitor

BOTH = [(0, 1), (1, 0)]
LATE = 1e-3
ROUNDED = 1e-14


def common(sizes: Sequence[float], before: Sequence[float]) -> Fraction:
    """What parts have in common once they are joined: the mean of what they had, by their sizes."""
    kept = sum(Fraction(m) * Fraction(v) for m, v in zip(sizes, before, strict=True))
    return kept / sum(map(Fraction, sizes))


def off(found: float, exact: Fraction) -> float:
    """Relative error."""
    return float(abs((Fraction(found) - exact) / exact))


def after(result: Result, path: str) -> float:
    return float(result[path].at(LATE))


def passed(result: Result, path: str) -> float:
    """The impulse of a variable in the only jump."""
    (event,) = (e for e in result.events if e.jumps)
    return next(float(value) for name, value, _ in event.impulses if name == path)


def joined(C: Sequence[float], v: Sequence[float], order: Sequence[int], *more: tuple) -> Result:
    """Capacitors that switches connect to the first of them."""
    parts = [(f"c{k}", Capacitor(C=C[k]), f"n{k}", "0") for k in order]
    switches = [(f"s{k}", IdealClosingSwitch(), f"n{k}", "n0") for k in range(1, len(C))]
    model = circuit(*parts, *switches, *more, command=BooleanStep(startTime=LATE))
    model.connect(model.command.y, *(getattr(model, name).control for name, *_ in switches))
    return simulate(model, 2 * LATE, initial={f"c{k}.v": v[k] for k in order})


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("order", BOTH)
@pytest.mark.parametrize("v", [(0.0, 1e9), (1.0, 1e9), (3e-3, -1e9), (7.0, -1e-5)])
@pytest.mark.parametrize("C", [(1.0, 1e-12), (1e-12, 1.0), (0.3, 7e-10)])
def test_capacitors_keep_their_charge(
    C: tuple[float, float], v: tuple[float, float], order: Sequence[int]
) -> None:
    result, exact = joined(C, v, order), common(C, v)
    assert [off(after(result, f"c{k}.v"), exact) for k in range(2)] == pytest.approx([0.0, 0.0], abs=ROUNDED)
    charge = Fraction(C[0]) * (Fraction(v[0]) - exact)
    assert off(passed(result, "s1.i"), -charge) < ROUNDED


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("v", [(0.0, 1e9, -1e4), (0.0, 1e9, 1 / 3), (1e-3, 1e9, 0.0)])
@pytest.mark.parametrize("C", [(1.0, 1e-12, 3e-7), (1.0, 1e-12, 2.0)])
def test_three_capacitors_keep_their_charge(
    C: tuple[float, ...], v: tuple[float, ...], order: Sequence[int]
) -> None:
    result, exact = joined(C, v, order), common(C, v)
    for k in range(3):
        assert off(after(result, f"c{k}.v"), exact) < ROUNDED
    for k in (1, 2):
        assert off(passed(result, f"s{k}.i"), Fraction(C[k]) * (Fraction(v[k]) - exact)) < ROUNDED


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("order", BOTH)
@pytest.mark.parametrize("n", [3.0, 1 / 3, -0.1])
@pytest.mark.parametrize(("C", "v"), [((1.0, 1e-12), (0.0, 1e9)), ((1e-12, 1.0), (1e9, 0.0))])
def test_a_transformer_between_capacitors(
    C: tuple[float, float], v: tuple[float, float], n: float, order: Sequence[int]
) -> None:
    model = Circuit()
    for k in order:
        model.add(f"c{k}", Capacitor(C=C[k]))
    model.add("t", IdealTransformer(n=n))
    model.add("s", IdealClosingSwitch())
    model.add("ground", Ground())
    model.add("command", BooleanStep(startTime=LATE))
    model.connect(model.c0.p, model.s.p)
    model.connect(model.s.n, model.t.p1)
    model.connect(model.t.p2, model.c1.p)
    model.connect(model.c0.n, model.t.n1, model.t.n2, model.c1.n, model.ground.p)
    model.connect(model.command.y, model.s.control)
    result = simulate(model, 2 * LATE, initial={"c0.v": v[0], "c1.v": v[1]})
    ratio = Fraction(n)
    # ``n * C0 * v0 + C1 * v1`` is kept, and ``v0 = n * v1`` after it.
    kept = ratio * Fraction(C[0]) * Fraction(v[0]) + Fraction(C[1]) * Fraction(v[1])
    exact = kept / (ratio**2 * Fraction(C[0]) + Fraction(C[1]))
    assert off(after(result, "c0.v"), ratio * exact) < ROUNDED
    assert off(after(result, "c1.v"), exact) < ROUNDED


@pytest.mark.parametrize("order", BOTH)
@pytest.mark.parametrize("L", [(1e6, 1e-6), (1e-6, 1e6)])
@pytest.mark.parametrize("i", [(0.0, 1e9), (1e-3, 1e9)])
def test_inductors_in_series_keep_their_flux(
    L: tuple[float, float], i: tuple[float, float], order: Sequence[int]
) -> None:
    ends = ("a", "0"), ("b", "a")
    parts = [(f"l{k}", Inductor(L=L[k]), *ends[k]) for k in order]
    model = circuit(
        *parts,
        ("s0", IdealOpeningSwitch(), "a", "0"),
        ("s1", IdealOpeningSwitch(), "b", "a"),
        ("across", IdealClosingSwitch(), "b", "0"),
        command=BooleanStep(startTime=LATE),
    )
    model.connect(model.command.y, model.s0.control, model.s1.control, model.across.control)
    start = {"l0.i": i[0], "l1.i": i[1]}
    result, exact = simulate(model, 2 * LATE, initial=start, impulses="allow"), common(L, i)
    assert off(after(result, "l0.i"), exact) < ROUNDED
    assert off(after(result, "l1.i"), exact) < ROUNDED


@pytest.mark.parametrize("order", BOTH)
@pytest.mark.parametrize(
    ("m", "v"),
    [
        ((1e6, 1e-6), (0.0, 1e9)),
        ((1e-6, 1e6), (-1e9, 1e-4)),
        ((1e6, 1e-6), (0.0, 1e3)),
        ((0.3, 1e-9), (0.1, 1e9)),
    ],
)
def test_plastic_impacts_keep_the_momentum(
    m: tuple[float, float], v: tuple[float, float], order: Sequence[int]
) -> None:
    model = Circuit()
    for k in order:
        model.add(f"m{k}", Mass(m=m[k]))
    model.add("stop", ImpactStop(restitution=0.0))
    model.connect(model.m1.flange_b, model.stop.flange_a)
    model.connect(model.stop.flange_b, model.m0.flange_a)
    start = {"m0.v": v[0], "m1.v": v[1], "m0.s": 1.0, "m1.s": 0.0}
    result, exact = simulate(model, 2.0 / (v[1] - v[0]), initial=start), common(m, v)
    assert off(float(result["m0.v"].final), exact) < ROUNDED
    assert off(float(result["m1.v"].final), exact) < ROUNDED
    assert off(passed(result, "stop.f"), Fraction(m[1]) * (exact - Fraction(v[1]))) < ROUNDED


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("order", BOTH)
@pytest.mark.parametrize("ratio", [1.0, 3.0, -1 / 7])
@pytest.mark.parametrize("kind", ["claw", "friction"])
@pytest.mark.parametrize("nonlinear", [False, True])
def test_clutches_keep_the_momentum(nonlinear: bool, kind: str, ratio: float, order: Sequence[int]) -> None:
    m, v = (1e6, 1e-6), (0.0, 1e9)
    model = Circuit()
    for k in order:
        model.add(f"m{k}", Mass(m=m[k]))
    clutch = model.add("clutch", Claw() if kind == "claw" else Grip(capacity=1e30))
    model.add("lever", Lever(ratio=ratio))
    model.add("command", BooleanStep(startTime=LATE))
    model.connect(model.command.y, clutch.closed if kind == "claw" else clutch.engaged)
    model.connect(model.m1.flange_b, model.lever.flange_a)
    model.connect(model.lever.flange_b, clutch.flange_a)
    model.connect(clutch.flange_b, model.m0.flange_a)
    if nonlinear:
        # Elsewhere, so that the motion is integrated and the momentum is still exact.
        model.add("other", Mass(m=1.0))
        model.add("spring", CubicSpring(c=1.0, c3=1.0))
        model.add("wall", Fixed())
        model.connect(model.other.flange_b, model.spring.flange_a)
        model.connect(model.spring.flange_b, model.wall.flange)
    result, R = simulate(model, 2 * LATE, initial={"m0.v": v[0], "m1.v": v[1]}), Fraction(ratio)
    exact = R * Fraction(m[1]) * Fraction(v[1]) / (Fraction(m[0]) + R**2 * Fraction(m[1]))
    assert off(after(result, "m0.v"), exact) < ROUNDED
    assert off(after(result, "m1.v"), R * exact) < ROUNDED


@pytest.mark.parametrize("order", BOTH)
def test_a_nonlinear_conductor_beside_them(order: Sequence[int]) -> None:
    C, v = (1.0, 1e-12), (0.0, 1e9)
    result, exact = joined(C, v, order, ("d", Diode(), "n0", "0")), common(C, v)
    assert off(after(result, "c0.v"), exact) < 1e-12
    assert off(after(result, "c1.v"), exact) < 1e-12


@pytest.mark.parametrize("order", BOTH)
def test_a_nonlinear_capacitor_with_a_small_one(order: Sequence[int]) -> None:
    parts = [
        ("c0", CubicCapacitor(C=1.0, V=5.0), "a", "0"),
        ("c1", Capacitor(C=1e-12), "b", "0"),
    ]
    model = circuit(
        *(parts[k] for k in order), ("s", IdealClosingSwitch(), "a", "b"), command=BooleanStep(startTime=LATE)
    )
    model.connect(model.command.y, model.s.control)
    result = simulate(model, 2 * LATE, initial={"c0.v": 0.0, "c1.v": 1e9})
    with mp.workdps(40):
        total = mpf(1e-12) * mpf(1e9)
        exact = findroot(lambda u: u * (1 + (u / 5) ** 2) + mpf(1e-12) * u - total, 1e-3)
        wrong = [float(abs(after(result, f"c{k}.v") / exact - 1)) for k in range(2)]
    assert max(wrong) < 1e-12


TINY = [1e-100, 1e-15, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-8, 1e-6]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("order", BOTH)
@pytest.mark.parametrize("full", [1.0, -3e4])
@pytest.mark.parametrize("share", TINY)
@pytest.mark.parametrize("C", [(1.0, 1.0), (0.2, 0.5)])
def test_starts_of_very_different_size_contradict_each_other_in_any_order(
    C: Sequence[float], share: float, full: float, order: Sequence[int]
) -> None:
    """Joined from the begin, a full capacitor and one with a tiny part of its voltage keep their charge."""
    v = (share * full, full)
    parts = [(f"c{k}", Capacitor(C=C[k], v=v[k]), f"n{k}", "0") for k in order]
    model = circuit(*parts, ("s", IdealClosingSwitch(control=True), "n0", "n1"))
    with pytest.warns(UserWarning, match="given starts contradict"):
        result = simulate(model, 1.0)
    assert [result[f"c{k}.v"].at(0.0, side="left") for k in range(2)] == list(v)
    assert off(float(result["c0.v"].at(0.0)), common(C, v)) < ROUNDED


@pytest.mark.parametrize("order", list(permutations(range(3))))
@pytest.mark.parametrize("tiny", [1e-12, 1e-10, 1e-8])
def test_a_tiny_start_beside_two_that_cancel(tiny: float, order: Sequence[int]) -> None:
    """What it brings is all that is left."""
    v = (tiny, 5.0, -5.0)
    parts = [(f"c{k}", Capacitor(C=1.0, v=v[k]), f"n{k}", "0") for k in order]
    joins = [(f"s{k}", IdealClosingSwitch(control=True), f"n{k}", "n0") for k in (1, 2)]
    with pytest.warns(UserWarning, match="given starts contradict"):
        result = simulate(circuit(*parts, *joins), 1.0)
    assert off(float(result["c0.v"].at(0.0)), common((1.0, 1.0, 1.0), v)) < 1e-15 * 5.0 / tiny
