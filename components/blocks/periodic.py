"""What periodic pulses have in common."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Component,
    Discrete,
    Expr,
    Parameter,
    Statement,
    and_,
    assign,
    floor,
    if_else,
    initial,
    require,
    sample,
    time,
    when,
)


def periods(period: Expr, first: Expr) -> tuple[list[Expr], Expr]:
    """Return when periods begin and the begin of the present one; one that began before the run begins with it.

    Parameters
    ----------
    period, first : expression
        Length of a period and begin of the first one in seconds, of parameters.
    """
    tick = sample(period=period, start=first)
    # A tick may share the instant of an event next to it: periods that begun at the time of such instants would creep.
    passed = floor((time - first) / period + if_else(tick, 0.5, 0.0))
    return [tick, and_(initial(), time >= first)], first + passed * period


class PartialPulse(Component):
    """Instants of periodic pulses: the first ``width`` percent of every period from ``startTime`` on."""

    width: Parameter = Parameter(
        default=50.0, unit="1", min=0, max=100, doc="Width of a pulse in percent of the period"
    )
    period: Parameter = Parameter(unit="s", min=0, doc="Period")
    startTime: Parameter = Parameter(default=0.0, unit="s", doc="Begin of the first pulse")
    end: Discrete = Discrete(float, unit="s", doc="End of the last pulse that has begun")

    def equations(self) -> Iterator[Statement]:
        yield require(self.period > 0, "the period of pulses must be positive")
        # A pulse that fills its period ends after the next one has begun, so that no gap opens between them.
        length = self.period * if_else(self.width >= 100, 2.0, self.width / 100)
        begins, start = periods(self.period, self.startTime)
        yield when(begins, assign(self.end, start + length))

    def active(self) -> Expr:
        """Return the condition that a pulse lasts."""
        return and_(time >= self.startTime, time < self.end)
