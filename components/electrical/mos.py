"""Field-effect transistors with quadratic characteristic, quasi-static."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import (
    Component,
    Eq,
    Parameter,
    Statement,
    absolute,
    if_else,
    maximum,
    minimum,
    no_event,
    require,
)

from .interfaces import Pin


class MOS(Component):
    """Partial: level-1 characteristic between drain ``D`` and source ``S``, whichever of the two acts as source.

    With ``u`` the voltages against the pin that acts as source (for n-channel the lower one), positive as
    they open the channel: ``ugst = K5 * (ug - Vt + K2 * min(ub, 0))``,
    ``id = beta * w * (max(ugst, 0) - w / 2) + uds / RDS`` with ``w = min(uds, max(ugst, 0))`` and
    ``beta = Beta * (W + dW) / (L + dL)``: cut off, linear and saturated range in one line.

    Shichman and Hodges, IEEE Journal of Solid-State Circuits 3 (1968).
    """

    polarity = 1
    """1: n-channel, -1: p-channel."""

    D = Pin()
    G = Pin()
    S = Pin()
    B = Pin()
    Beta: Parameter = Parameter(unit="A/V2", min=0, doc="Transconductance parameter of a square channel")
    Vt: Parameter = Parameter(unit="V", doc="Threshold voltage at zero bias")
    K2: Parameter = Parameter(unit="1", doc="Bulk threshold parameter")
    K5: Parameter = Parameter(unit="1", doc="Reduction of the pinch-off region")
    W: Parameter = Parameter(default=20e-6, unit="m", min=0, doc="Width of the channel")
    L: Parameter = Parameter(default=6e-6, unit="m", min=0, doc="Length of the channel")
    dW: Parameter = Parameter(default=-2.5e-6, unit="m", doc="Widening of the channel")
    dL: Parameter = Parameter(unit="m", doc="Lengthening of the channel")
    RDS: Parameter = Parameter(default=1e7, unit="Ohm", min=1e-9, doc="Parallel resistance, drain to source")

    def equations(self) -> Iterator[Statement]:
        yield require(self.W + self.dW > 0, "the effective width `W + dW` of the channel must be positive")
        yield require(self.L + self.dL > 0, "the effective length `L + dL` of the channel must be positive")
        sign = self.polarity
        vd, vg, vs, vb = (sign * pin.v for pin in (self.D, self.G, self.S, self.B))
        source = minimum(vd, vs)
        drive = self.K5 * (vg - source - sign * self.Vt + self.K2 * minimum(vb - source, 0))
        open_ = maximum(drive, 0)
        width = minimum(absolute(vd - vs), open_)
        # An effective length of zero is refused, but only after everything has been found finite.
        length = if_else(self.L + self.dL > 0, self.L + self.dL, 1)
        channel = self.Beta * (self.W + self.dW) / length * width * (open_ - width / 2)
        directed = no_event(if_else(vd < vs, -channel, channel))
        yield Eq(self.D.i, sign * directed + (self.D.v - self.S.v) / self.RDS)
        yield Eq(0, self.D.i + self.S.i)
        yield Eq(self.G.i, 0)
        yield Eq(self.B.i, 0)


class NMOS(MOS):
    """N-channel field-effect transistor, level 1: cut off, linear, saturated range; ``G.i = B.i = 0``.

    ``id = beta * uds * (ugst - uds / 2) + uds / RDS`` for ``uds < ugst``, ``beta * ugst**2 / 2 + uds / RDS`` above,
    with ``ugst = K5 * (ugs - Vt + K2 * min(ubs, 0))`` and ``beta = Beta * (W + dW) / (L + dL)``. Drain and source
    change roles with the sign of the voltage between them. Gate charge, conduction below threshold, the
    modulation of the channel length and the junctions to the body are left out.
    """

    Beta: Parameter = Parameter(
        default=0.041e-3, unit="A/V2", min=0, doc="Transconductance parameter of a square channel"
    )
    Vt: Parameter = Parameter(default=0.8, unit="V", doc="Threshold voltage at zero bias")
    K2: Parameter = Parameter(default=1.144, unit="1", doc="Bulk threshold parameter")
    K5: Parameter = Parameter(default=0.7311, unit="1", doc="Reduction of the pinch-off region")
    dL: Parameter = Parameter(default=-1.5e-6, unit="m", doc="Lengthening of the channel")


class PMOS(MOS):
    """P-channel field-effect transistor, level 1: `NMOS` with all voltages, currents and ``Vt`` of opposite sign."""

    polarity = -1

    Beta: Parameter = Parameter(
        default=0.0085e-3, unit="A/V2", min=0, doc="Transconductance parameter of a square channel"
    )
    Vt: Parameter = Parameter(default=-0.15, unit="V", doc="Threshold voltage at zero bias")
    K2: Parameter = Parameter(default=0.41, unit="1", doc="Bulk threshold parameter")
    K5: Parameter = Parameter(default=0.839, unit="1", doc="Reduction of the pinch-off region")
    dL: Parameter = Parameter(default=-2.1e-6, unit="m", doc="Lengthening of the channel")
