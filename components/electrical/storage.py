"""Batteries as equivalent circuits."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Eq, Parameter, Statement, Structural, Variable, curve_problem, der, table

from .interfaces import OnePort


class Battery(OnePort):
    """Battery, first-order Thevenin circuit: ``v = ocv(soc) + R0 * i + v1``, ``i = v1 / R1 + der(C1 * v1)``.

    State of charge ``der(Q * soc) = i``: ``i > 0`` charges. The open-circuit voltage ``ocv`` is linear between the points
    of its table, constant outside; whether ``soc`` stays between 0 and 1 is up to the circuit. Piecewise affine.

    Temperature, ageing, self-discharge, hysteresis between charging and discharging, and the dependence of
    ``R0``, ``R1``, ``C1`` on the state of charge are left out.

    Plett, Battery Management Systems, volume 1 (2015), chapter 2.
    """

    Q: Parameter = Parameter(unit="C", min=1e-9, doc="Charge between soc = 0 and soc = 1; 3600 C are 1 Ah")
    ocv: Structural[tuple] = Structural(
        tuple, check=curve_problem, doc="Points (state of charge, open-circuit voltage in V), ascending"
    )
    R0: Parameter = Parameter(default=0.0, unit="Ohm", min=0, doc="Series resistance")
    R1: Parameter = Parameter(unit="Ohm", min=1e-12, doc="Resistance of the polarisation")
    C1: Parameter = Parameter(unit="F", min=0, doc="Capacitance of the polarisation")
    soc: Variable = Variable(unit="1", start=1.0, doc="State of charge, 1: full")
    v1: Variable = Variable(unit="V", doc="Voltage of the polarisation")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        charges, voltages = zip(*self.ocv, strict=True)
        yield Eq(der(self.Q * self.soc), self.i)
        yield Eq(self.i, self.v1 / self.R1 + der(self.C1 * self.v1))
        yield Eq(self.v, table(self.soc, charges, voltages) + self.R0 * self.i + self.v1)
