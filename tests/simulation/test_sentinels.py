"""Discretes that mark "never" by a value beyond all others: they are no magnitudes, and change no event."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Discrete,
    Eq,
    Mode,
    Modes,
    Statement,
    Variable,
    assign,
    der,
    if_else,
    leave,
    maximum,
    minimum,
    simulate,
    time,
    when,
)


def waiting(never: float) -> Component:
    """``x = t``; a level and a time are ``never`` until ``t = 0.1``."""

    class Waiting(Component):
        x: Variable = Variable(start=0.0, fixed=True)
        y: Variable = Variable(start=0.0, fixed=True)
        z: Variable = Variable(start=0.0, fixed=True)
        level: Discrete = Discrete(float, start=never)
        last: Discrete = Discrete(float, start=never)
        above: Discrete = Discrete(float)
        later: Discrete = Discrete(float)

        def equations(self) -> Iterator[Statement]:
            since = time - self.last
            limited = minimum(2.0, maximum(-2.0, since))
            chosen = if_else(since > 2.0, 2.0, if_else(since < -2.0, -2.0, since))
            yield Eq(der(self.x), 1.0)
            yield Eq(der(self.y), limited + chosen)
            yield when(time >= 0.1, assign(self.level, 0.5), assign(self.last, 0.1))
            yield when(self.x > self.level, assign(self.above, time))
            yield when(3.0 * self.x > 1.0 + since, assign(self.later, time))
            yield Modes(
                "side",
                Mode("below", Eq(der(self.z), 1.0), leave("above", self.x - self.level)),
                Mode("above", Eq(der(self.z), -1.0), leave("below", self.level - self.x)),
                start="below",
            )

    return Waiting()


@pytest.mark.parametrize("never", [1e30, -1e30, 1e12, -1e12])
@pytest.mark.parametrize("method", ["auto", "exact", "explicit", "implicit"])
def test_a_mark_changes_no_event(never: float, method: str) -> None:
    result = simulate(waiting(never), 1.0, method=method)
    assert result["above"].final == pytest.approx(0.5, rel=1e-12)
    assert result["later"].final == pytest.approx(0.45, rel=1e-12)
    assert result["y"].final == pytest.approx(-np.sign(never) * 0.4 + 0.81, rel=1e-9)
    assert result["z"].final == pytest.approx(0.0 if never > 0.0 else -0.2, abs=1e-9)
