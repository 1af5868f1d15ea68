"""Averages over successive windows, as measuring instruments show them."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Discrete,
    Eq,
    Expr,
    Parameter,
    Statement,
    Variable,
    assign,
    der,
    maximum,
    reinit,
    require,
    sample,
    sqrt,
    when,
)

from .interfaces import SISO


class PartialWindow(SISO):
    """Integral over windows of one period, evaluated and cleared at the end of each."""

    period: Parameter = Parameter(unit="s", min=0, doc="Length of a window")
    integral: Variable = Variable(doc="Integral since the begin of the window")
    held: Discrete = Discrete(float, doc="Result of the last complete window")

    def windowed(self, integrand: Expr, result: Expr) -> Iterator[Statement]:
        """Yield the statements that integrate, and hold ``result`` at the end of every window."""
        yield require(self.period > 0, "the `period` must be positive")
        yield Eq(der(self.integral), integrand)
        yield when(
            sample(period=self.period, start=self.period),
            assign(self.held, result),
            reinit(self.integral, 0.0),
        )
        yield Eq(self.y, self.held)


class Mean(PartialWindow):
    """Mean over the last complete window, ``y = integral(u) / period``; 0 before the first one ends."""

    def equations(self) -> Iterator[Statement]:
        yield from self.windowed(self.u, self.integral / self.period)


class RootMeanSquare(PartialWindow):
    """Root mean square over the last complete window, ``y = sqrt(integral(u**2) / period)``; 0 before the first one ends."""

    def equations(self) -> Iterator[Statement]:
        yield from self.windowed(self.u * self.u, sqrt(maximum(self.integral, 0.0) / self.period))
