"""Diodes with exponential characteristics. For ideal ones see `IdealDiode`."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Expr, Parameter, Statement, Variable, exp, if_else, no_event

from .characteristics import exlin
from .interfaces import HeatingOnePort


class Diode(HeatingOnePort):
    """Junction diode, ``i = Ids * (exp(v / Vt) - 1) + v / R``, above ``v = Maxexp * Vt`` continued by its tangent.

    Shockley, Bell System Technical Journal 28 (1949). Quasi-static: junction charge, reverse recovery, breakdown
    and the resistance of the bulk are left out, and the tangent conducts better than the bulk of a real diode does.
    """

    Ids: Parameter = Parameter(default=1e-6, unit="A", min=0, doc="Saturation current")
    Vt: Parameter = Parameter(
        default=0.04, unit="V", min=1e-6, doc="Voltage equivalent of temperature times emission coefficient"
    )
    Maxexp: Parameter = Parameter(default=15.0, unit="1", doc="Exponent at which the tangent begins")
    R: Parameter = Parameter(default=1e8, unit="Ohm", min=1e-9, doc="Parallel ohmic resistance")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.Ids * (exlin(self.v / self.Vt, self.Maxexp) - 1) + self.v / self.R)


class Diode2(HeatingOnePort):
    """Junction diode with series resistance and breakdown: ``v = vd + Rs * id``, ``i = id + Gp * v``.

    Forward and down to ``vd = -Bv / 2``: ``id = Ids * (exp(vd / (N * Vt)) - 1)``, above ``vd = Vf + N * Vt``
    continued by its tangent. Below: ``id = -Ids * (exp(-(vd + Bv) / (N * Vt)) + 1 - 2 * exp(-Bv / (2 * N * Vt)))``,
    continued likewise beyond the same distance from ``-Bv``. The pieces meet with equal values and slopes. Quasi-static:
    junction charge and reverse recovery are left out.
    """

    Vf: Parameter = Parameter(default=0.7, unit="V", min=0, doc="Forward voltage")
    Ids: Parameter = Parameter(default=1e-13, unit="A", min=0, doc="Reverse saturation current")
    Rs: Parameter = Parameter(default=16.0, unit="Ohm", min=0, doc="Series resistance")
    Vt: Parameter = Parameter(default=0.02585, unit="V", min=1e-6, doc="Voltage equivalent of temperature")
    N: Parameter = Parameter(default=1.0, unit="1", min=1e-3, doc="Emission coefficient")
    Bv: Parameter = Parameter(default=100.0, unit="V", min=0, doc="Reverse breakdown voltage")
    Gp: Parameter = Parameter(default=1e-6, unit="S", min=0, doc="Parallel conductance")
    vd: Variable = Variable(unit="V", doc="Voltage across the junction")
    id: Variable = Variable(unit="A", doc="Current through the junction")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.id, self.junction())
        yield Eq(self.v, self.vd + self.Rs * self.id)
        yield Eq(self.i, self.id + self.Gp * self.v)

    def junction(self) -> Expr:
        """Return the current through the junction at ``vd``."""
        width = self.N * self.Vt
        top = self.Vf / width + 1
        forward = exlin(self.vd / width, top) - 1
        breakdown = exlin(-(self.vd + self.Bv) / width, top) + 1 - 2 * exp(-self.Bv / (2 * width))
        return self.Ids * no_event(if_else(self.vd < -self.Bv / 2, -breakdown, forward))


class ZDiode(HeatingOnePort):
    """Zener diode, ``i = Ids * (exp(v / Vt) - 1) - Ibv * exp(-(v + Bv) / (Nbv * Vt)) + v / R``.

    Above an exponent of ``Maxexp`` each exponential is continued by its tangent. Quasi-static: junction charge
    is left out; the breakdown voltage does not depend on temperature.
    """

    Ids: Parameter = Parameter(default=1e-6, unit="A", min=0, doc="Saturation current")
    Vt: Parameter = Parameter(default=0.04, unit="V", min=1e-6, doc="Voltage equivalent of temperature")
    Maxexp: Parameter = Parameter(default=30.0, unit="1", doc="Exponent at which the tangents begin")
    R: Parameter = Parameter(default=1e8, unit="Ohm", min=1e-9, doc="Parallel ohmic resistance")
    Bv: Parameter = Parameter(default=5.1, unit="V", min=0, doc="Breakdown voltage")
    Ibv: Parameter = Parameter(default=0.7, unit="A", min=0, doc="Current at the breakdown voltage")
    Nbv: Parameter = Parameter(default=0.74, unit="1", min=1e-3, doc="Emission coefficient of the breakdown")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        forward = self.Ids * (exlin(self.v / self.Vt, self.Maxexp) - 1)
        breakdown = self.Ibv * exlin(-(self.v + self.Bv) / (self.Nbv * self.Vt), self.Maxexp)
        yield Eq(self.i, forward - breakdown + self.v / self.R)
