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
    Result,
    Variable,
    assign,
    der,
    if_else,
    pre,
    sample,
    simulate,
    sin,
    when,
)
from acausal.simulation import repeating, self_check

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
