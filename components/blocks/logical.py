"""Comparisons, logic and memory."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Component,
    Discrete,
    Eq,
    Input,
    Output,
    Parameter,
    Statement,
    and_,
    not_,
    or_,
    pre,
    require,
    xor_,
)

from .interfaces import (
    BooleanSI2SO,
    BooleanSISO,
    PartialComparison,
    PartialComparison2,
)


class GreaterThreshold(PartialComparison):
    """Comparison with a number, ``y = u > threshold``."""

    threshold: Parameter = Parameter(default=0.0, doc="Threshold")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.u > self.threshold)


class GreaterEqualThreshold(PartialComparison):
    """Comparison with a number, ``y = u >= threshold``."""

    threshold: Parameter = Parameter(default=0.0, doc="Threshold")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.u >= self.threshold)


class LessThreshold(PartialComparison):
    """Comparison with a number, ``y = u < threshold``."""

    threshold: Parameter = Parameter(default=0.0, doc="Threshold")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.u < self.threshold)


class LessEqualThreshold(PartialComparison):
    """Comparison with a number, ``y = u <= threshold``."""

    threshold: Parameter = Parameter(default=0.0, doc="Threshold")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.u <= self.threshold)


class Greater(PartialComparison2):
    """Comparison of two signals, ``y = u1 > u2``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.u1 > self.u2)


class Less(PartialComparison2):
    """Comparison of two signals, ``y = u1 < u2``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, self.u1 < self.u2)


class Hysteresis(PartialComparison):
    """Comparison with hysteresis: on above ``uHigh``, off below ``uLow``.

    ``y = (not pre(y) and u > uHigh) or (pre(y) and u >= uLow)``. At the start ``pre(y)`` is the start value of
    ``on``, and the output already holds its value for the input of that time.
    """

    uLow: Parameter = Parameter(default=0.0, doc="Off below this value")
    uHigh: Parameter = Parameter(default=1.0, doc="On above this value")
    on: Discrete = Discrete(bool, doc="State")

    def equations(self) -> Iterator[Statement]:
        yield require(self.uLow <= self.uHigh, "the lower threshold must not exceed the upper one")
        was_on = pre(self.on)
        yield Eq(self.on, or_(and_(not_(was_on), self.u > self.uHigh), and_(was_on, self.u >= self.uLow)))
        yield Eq(self.y, self.on)


class Comparator(PartialComparison2):
    """Comparator with hysteresis, ``u1 > u2`` with a band of width ``hysteresis`` around equality.

    ``y = u1 - u2 > hysteresis / 2 or (pre(y) and u1 - u2 > -hysteresis / 2)``. Without hysteresis a comparator that
    acts on its own input at once may chatter.
    """

    hysteresis: Parameter = Parameter(default=0.0, min=0, doc="Width of the band")
    on: Discrete = Discrete(bool, doc="State")

    def equations(self) -> Iterator[Statement]:
        difference, half = self.u1 - self.u2, self.hysteresis / 2
        yield Eq(self.on, or_(difference > half, and_(pre(self.on), difference > -half)))
        yield Eq(self.y, self.on)


class And(BooleanSI2SO):
    """Conjunction, ``y = u1 and u2``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, and_(self.u1, self.u2))


class Or(BooleanSI2SO):
    """Disjunction, ``y = u1 or u2``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, or_(self.u1, self.u2))


class Xor(BooleanSI2SO):
    """Exclusive disjunction, ``y = u1 xor u2``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, xor_(self.u1, self.u2))


class Nand(BooleanSI2SO):
    """Negated conjunction, ``y = not (u1 and u2)``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, not_(and_(self.u1, self.u2)))


class Nor(BooleanSI2SO):
    """Negated disjunction, ``y = not (u1 or u2)``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, not_(or_(self.u1, self.u2)))


class Not(BooleanSISO):
    """Negation, ``y = not u``."""

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.y, not_(self.u))


class RSFlipFlop(Component):
    """Flip-flop with dominant reset, ``Q = not R and (S or pre(Q))``.

    Where a pair of gates would have both outputs false, at ``R = S = true``, ``QI`` stays the complement of ``Q``.
    """

    S: Input = Input(bool, doc="Set")
    R: Input = Input(bool, doc="Reset")
    Q: Output = Output(bool, doc="State")
    QI: Output = Output(bool, doc="Complement of the state")
    on: Discrete = Discrete(bool, doc="State, with its start value")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.on, and_(not_(self.R), or_(self.S, pre(self.on))))
        yield Eq(self.Q, self.on)
        yield Eq(self.QI, not_(self.on))
