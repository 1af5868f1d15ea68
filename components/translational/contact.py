"""Rigid contacts and end stops."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Impact, Parameter, Statement, Variable, require

from .interfaces import PartialCompliant, PartialOneFlange


class ImpactStop(PartialCompliant):
    """Rigid one-sided contact, ``gap = s_rel - s_rel0 >= 0``, with Newton's law of impact.

    At an impact the relative speed turns from ``v`` to ``-restitution * v`` by an impulse; slower than the rest speed
    the contact stays closed until its force ``-f`` would pull. The compression itself has no duration: where waves in
    the bodies or the duration of the contact matter, take a stiff spring and damper.
    """

    s_rel0: Parameter = Parameter(default=0.0, unit="m", doc="Distance in contact")
    restitution: Parameter = Parameter(
        default=0.0, unit="1", min=0, max=1, doc="Speed after by speed before an impact"
    )
    gap: Variable = Variable(unit="m", doc="Distance to contact")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.gap, self.s_rel - self.s_rel0)
        yield Impact(self.gap, -self.f, restitution=self.restitution)


class HardStop(PartialOneFlange):
    """Rigid end stops in the housing, ``s_min <= s <= s_max``, with Newton's law of impact.

    ``flange.f = f_max - f_min``, where each stop only pushes. See ``ImpactStop`` for the limits of the idealisation.
    """

    s_min: Parameter = Parameter(unit="m", doc="Lower stop")
    s_max: Parameter = Parameter(unit="m", doc="Upper stop")
    restitution: Parameter = Parameter(
        default=0.0, unit="1", min=0, max=1, doc="Speed after by speed before an impact"
    )
    f_min: Variable = Variable(unit="N", doc="Force of the lower stop")
    f_max: Variable = Variable(unit="N", doc="Force of the upper stop")

    def equations(self) -> Iterator[Statement]:
        yield require(self.s_min < self.s_max, "the lower stop must lie below the upper one")
        yield Eq(self.flange.f, self.f_max - self.f_min)
        yield Impact(self.flange.s - self.s_min, self.f_min, restitution=self.restitution, name="lower")
        yield Impact(self.s_max - self.flange.s, self.f_max, restitution=self.restitution, name="upper")
