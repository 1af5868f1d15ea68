"""A motion of nearly equal time constants after a crossing, whose closed form holds for a part of a segment and is continued."""

from collections.abc import Iterator
from fractions import Fraction

import mpmath as mp
import pytest

from acausal import Component, Eq, Input, Parameter, Statement, Variable, der, if_else, simulate

LEVEL = 0.5
SPAN = 40.0
TIMES = [1 + Fraction(3 * k, 100) for k in range(8)]
"""Time constants of the tanks: so near to each other that their motions are no eigenvectors but powers of time."""


class Tank(Component):
    """A stirred tank that water flows through."""

    T: Parameter = Parameter(default=1.0, unit="s")
    c: Variable = Variable(start=0.0)
    inlet: Input = Input()

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.T * der(self.c), self.inlet - self.c)


class Dosing(Component):
    """Dye is added to the water in front of a chain of tanks as long as there is too little of it in the last one."""

    def build(self) -> None:
        self.tank = [Tank(T=float(T)) for T in TIMES]

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.tank[0].inlet, if_else(self.tank[-1].c < LEVEL, 1.0, 0.0))
        for tank, before in zip(self.tank[1:], self.tank[:-1], strict=True):
            yield Eq(tank.inlet, before.c)


def arrived(t: float, switched: list[float]) -> float:
    """What is in the last tank: the sum of the responses to the steps of the dye, each in partial fractions."""
    found = mp.mpf(0)
    with mp.workdps(50):
        T = [mp.mpf(a.numerator) / a.denominator for a in TIMES]
        for k, at in enumerate(switched):
            parts = (
                a ** (len(T) - 1) / mp.fprod(a - b for b in T if b != a) * mp.exp(-(mp.mpf(t) - at) / a)
                for a in T
            )
            found += (-1) ** k * (1 - mp.fsum(parts))
    return float(found)


@pytest.mark.parametrize(("method", "off"), [("exact", 1e-12), ("implicit", 3e-6), ("explicit", 3e-6)])
def test_what_steps_left_open_of_a_crossing_does_not_stop_a_long_segment(method: str, off: float) -> None:
    """The check of steps followed both ways to tell it into the second piece of the closed form, which follows one."""
    times = simulate(Dosing(), SPAN, method=method).events.times.tolist()
    assert len(times) == 5 and times[0] == 0.0
    for k in range(1, len(times)):
        assert arrived(times[k], times[:k]) == pytest.approx(LEVEL, rel=off)
