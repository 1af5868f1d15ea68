"""S12: of several consistent modes the present one stays, whatever the run has seen before and whatever path it is on."""

from __future__ import annotations

import math
from typing import Any

import pytest

from acausal import (
    Complementarity,
    Component,
    Discrete,
    Eq,
    Parameter,
    Result,
    Variable,
    assign,
    compile_model,
    der,
    if_else,
    pre,
    sample,
    simulate,
    sin,
    when,
)
from acausal.simulation import repeating, self_check
from acausal.simulation.instants.hints import Hints

from .observing import Statements

PERIOD = 1e-3


def asks(n: int, w: float) -> bool:
    """Whether something has to be carried after tick ``n``."""
    return math.sin(w * n * n) > 0.0


class Rivals(Component):
    """Each carries more where the other one does: a = q + M b with M = [[1, 2], [2, 1]], whose determinant is negative.

    Where both q are -1, either may carry alone, or both together.
    """

    n: Discrete = Discrete(int)
    q1: Discrete = Discrete(start=5.0)
    q2: Discrete = Discrete(start=5.0)
    x: Variable = Variable(start=1.0)
    a1: Variable = Variable()
    b1: Variable = Variable()
    a2: Variable = Variable()
    b2: Variable = Variable()

    def own(self, b: Any) -> Any:
        """What one carries for itself."""
        return b

    def equations(self) -> Statements:
        n = pre(self.n) + 1
        tick = sample(period=PERIOD)
        yield when(
            tick,
            assign(self.n, n),
            assign(self.q1, if_else(sin(1.0 * n * n) > 0, -1.0, 5.0)),
            assign(self.q2, if_else(sin(1.3 * n * n) > 0, -1.0, 5.0)),
        )
        yield Eq(der(self.x), -self.x + self.b1)
        yield Eq(self.a1, self.q1 + self.own(self.b1) + 2 * self.b2)
        yield Eq(self.a2, self.q2 + 2 * self.b1 + self.own(self.b2))
        yield Complementarity(self.a1, self.b1, name="one")
        yield Complementarity(self.a2, self.b2, name="two")


class BentRivals(Rivals):
    """The same, where what one carries for itself is no straight line."""

    def own(self, b: Any) -> Any:
        return b + 0.1 * b**2


def present_modes_stay(result: Result, ticks: int) -> int:
    """Check all modes; how often one of several stayed."""
    at = [(k + 0.5) * PERIOD for k in range(ticks)]
    modes = list(zip(result["one"].at(at) > 0.5, result["two"].at(at) > 0.5, strict=True))
    counts = [int(n) for n in result["n"].at(at)]
    stayed = 0
    for before, now, n in zip([(False, False), *modes], modes, counts, strict=False):
        first, second = asks(n, 1.0), asks(n, 1.3)
        if not (first and second):
            assert now == (first, second)
        elif before == (False, False):
            assert now != (False, False)
        else:
            assert now == before, n
            stayed += 1
    return stayed


@pytest.mark.parametrize("every_visit", [False, True])
@pytest.mark.parametrize("model", [Rivals(), BentRivals()])
def test_a_known_outcome_does_not_take_over(
    model: Rivals, every_visit: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_check, "EVERY_VISIT", every_visit)
    ticks = 400 if type(model) is Rivals else 100
    result = simulate(model, ticks * PERIOD)
    assert present_modes_stay(result, ticks) > ticks // 8


def test_nor_where_a_kernel_follows_events(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(self_check, "EVERY_VISIT", False)
    monkeypatch.setattr(repeating, "WITHOUT_COMPILER", True)
    result = simulate(Rivals(), 200 * PERIOD)
    assert present_modes_stay(result, 200) > 20


# -- boundaries: several modes suit in passive networks too -------------------------------------------------------------


def turned(n: Any, least: float) -> Any:
    """1, -1 or 0 after tick ``n``."""
    s = sin(1.0 * n * n)
    return if_else(s > least, 1.0, if_else(s < -least, -1.0, 0.0))


class Unfed(Component):
    """A diode behind a source that is 1, -1 or 0 V: at 0 it blocks or conducts nothing."""

    n: Discrete = Discrete(int)
    q: Discrete = Discrete(start=1.0)
    x: Variable = Variable()
    a: Variable = Variable()
    b: Variable = Variable()

    def equations(self) -> Statements:
        n = pre(self.n) + 1
        yield when(sample(period=PERIOD), assign(self.n, n), assign(self.q, turned(n, 0.3)))
        yield Eq(der(self.x), self.b - self.x)
        yield Eq(self.a, self.b - self.q)
        yield Complementarity(self.a, self.b, name="one")


class Freewheel(Unfed):
    """A current of 1 A that one of two diodes carries, and which a source drives into either: at 0 V both may."""

    b2: Variable = Variable()
    a2: Variable = Variable()

    def equations(self) -> Statements:
        n = pre(self.n) + 1
        yield when(sample(period=PERIOD), assign(self.n, n), assign(self.q, turned(n, 0.3)))
        yield Eq(der(self.x), self.b - self.x)
        yield Eq(self.b + self.b2, 1.0)
        yield Eq(self.a - self.a2, self.q)
        yield Complementarity(self.a, self.b, name="one")
        yield Complementarity(self.a2, self.b2, name="two")


class Parallel(Unfed):
    """Two diodes at one resistor, one with a source of its own: at 0 V they share a current as they like."""

    b2: Variable = Variable()
    a2: Variable = Variable()

    def equations(self) -> Statements:
        n = pre(self.n) + 1
        yield when(sample(period=PERIOD), assign(self.n, n), assign(self.q, turned(n, 0.3)))
        yield Eq(der(self.x), self.b - self.x)
        yield Eq(self.a, self.b + self.b2 - 1.0)
        yield Eq(self.a2, self.b + self.b2 - 1.0 - 0.5 * self.q)
        yield Complementarity(self.a, self.b, name="one")
        yield Complementarity(self.a2, self.b2, name="two")


class Doubly(Unfed):
    """M = [[1, 1], [1, -1]]: both were asked for 30 times before the second one is not, where either answer suits."""

    q2: Discrete = Discrete(start=5.0)
    b2: Variable = Variable()
    a2: Variable = Variable()

    def equations(self) -> Statements:
        n = pre(self.n) + 1
        odd = sin(0.5 * math.pi * n) ** 2 > 0.5
        asked = if_else(n > 60, 0.5, -0.5)
        first, second = if_else(odd, -1.0, 20.0), if_else(odd, asked, 5.0)
        yield when(sample(period=PERIOD), assign(self.n, n), assign(self.q, first), assign(self.q2, second))
        yield Eq(der(self.x), self.b - self.x)
        yield Eq(self.a, self.q + self.b + self.b2)
        yield Eq(self.a2, self.q2 + self.b - self.b2)
        yield Complementarity(self.a, self.b, name="one")
        yield Complementarity(self.a2, self.b2, name="two")


@pytest.mark.parametrize("kernel", [True, False])
@pytest.mark.parametrize("model", [Unfed, Freewheel, Parallel, Doubly])
def test_what_was_learnt_changes_no_mode(
    model: type[Unfed], kernel: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(self_check, "EVERY_VISIT", not kernel)
    monkeypatch.setattr(repeating, "WITHOUT_COMPILER", kernel)
    program = compile_model(model())
    learnt = [trace(program.simulate(150 * PERIOD)) for _ in range(2)]
    monkeypatch.setattr(Hints, "known", lambda *_: ())
    monkeypatch.setattr(Hints, "remember", lambda *_: None)
    monkeypatch.setattr(self_check, "EVERY_VISIT", True)
    assert learnt == [trace(compile_model(model()).simulate(150 * PERIOD))] * 2


def trace(result: Result) -> list[tuple[float, ...]]:
    """Modes and flows in all periods."""
    at = [(k + 0.5) * PERIOD for k in range(150)]
    names = ["one", "x", "b", *(name for name in ("two", "b2") if name in result)]
    return [
        tuple(round(float(v), 9) for v in row) for row in zip(*(result[n].at(at) for n in names), strict=True)
    ]


class Stepped(Component):
    """A diode behind a resistor and a source that a clock sets; ``c`` lets what the current was drive it."""

    c: Parameter = Parameter(default=0.0)
    h: Parameter = Parameter(default=0.0)
    q: Discrete = Discrete(start=5.0)
    x: Variable = Variable()
    a: Variable = Variable()
    b: Variable = Variable()

    def equations(self) -> Statements:
        yield when(sample(period=1e-3, start=1e-3), assign(self.q, self.h))
        yield Eq(1e-9 * der(self.x), self.b - self.x)
        yield Eq(self.a, self.q + self.b + self.c * (self.x - self.b))
        yield Complementarity(self.a, self.b, name="one")


@pytest.mark.parametrize(
    ("before", "now"), [({"h": -1.0}, {"h": 0.0}), ({"c": 0.0, "h": -1.0}, {"c": 2.0, "h": 1.0})]
)
def test_no_run_depends_on_one_with_other_parameters(before: dict[str, float], now: dict[str, float]) -> None:
    program = compile_model(Stepped())
    program.simulate(1.000001e-3, parameters=before)
    again = program.simulate(1.000001e-3, parameters=now)
    fresh = compile_model(Stepped()).simulate(1.000001e-3, parameters=now)
    for name in ("one", "b", "x"):
        assert again[name].final == fresh[name].final
