"""Switches whose contacts draw an arc when they open under current."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Discrete,
    Eq,
    Expr,
    Input,
    Mode,
    Modes,
    Parameter,
    Statement,
    assign,
    if_else,
    leave,
    time,
    when,
)

from .interfaces import OnePort


class SwitchWithArc(OnePort):
    """Partial: ``v = Ron * i`` when closed; after opening an arc, then ``i = Goff * v``.

    The arc holds ``v`` at ``min(Vmax, V0 + dVdt * t)`` in the direction of the current, with ``t`` the time since the
    contacts began to open, until the current has come down to ``Goff * v``. The state is read as ``state``:
    ``closed``, ``forward`` and ``backward`` (arc), ``open``. The arc does not strike again after it has gone out.
    """

    Ron: Parameter = Parameter(default=0.0, unit="Ohm", min=0, doc="Resistance when closed")
    Goff: Parameter = Parameter(default=0.0, unit="S", min=0, doc="Conductance when open")
    V0: Parameter = Parameter(default=30.0, unit="V", min=0, doc="Voltage of the arc at first")
    dVdt: Parameter = Parameter(default=10e3, unit="V/s", min=0, doc="Rise of the voltage of the arc")
    Vmax: Parameter = Parameter(default=60.0, unit="V", min=0, doc="Greatest voltage of the arc")
    opened: Discrete = Discrete(float, start=-1e30, unit="s", doc="Time of the last opening; -1e30: never")

    def path(self, closed: Expr) -> Iterator[Statement]:
        """Yield the statements of contacts that touch while ``closed`` holds."""
        yield when(~closed, assign(self.opened, time))
        drop = self.V0 + self.dVdt * (time - self.opened)
        arc = if_else(drop < self.Vmax, drop, self.Vmax)
        leak = self.i - self.Goff * self.v
        touch = leave("closed", 1, closed)
        yield Modes(
            "state",
            Mode("open", Eq(leak, 0), touch),
            Mode("forward", Eq(self.v, arc), touch, leave("open", -leak)),
            Mode("backward", Eq(self.v, -arc), touch, leave("open", leak)),
            Mode(
                "closed",
                Eq(self.v, self.Ron * self.i),
                leave("forward", self.i, ~closed),
                leave("backward", -self.i, ~closed),
                leave("open", 1, ~closed),
            ),
            start="open",
        )


class CloserWithArc(SwitchWithArc):
    """Switch that is closed while ``control`` is true, and opens with an arc: `SwitchWithArc`."""

    control: Input = Input(bool, doc="True: closed")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield from self.path(closed=self.control)


class OpenerWithArc(SwitchWithArc):
    """Switch that is open while ``control`` is true, and opens with an arc: `SwitchWithArc`."""

    control: Input = Input(bool, doc="True: open")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield from self.path(closed=~self.control)
