"""Nonlinear parts: capacitors given by their charge, a saturating inductor, a varistor."""

from __future__ import annotations

from collections.abc import Iterator
from math import pi

from acausal.modeling import (
    Component,
    Eq,
    Expr,
    Parameter,
    Statement,
    Structural,
    Variable,
    absolute,
    atan,
    curve_problem,
    der,
    if_else,
    maximum,
    minimum,
    no_event,
    require,
)

from .characteristics import clamp, depletion_integral
from .interfaces import HeatingOnePort, OnePort


class ChargeCapacitor(OnePort):
    """Partial: nonlinear capacitor, ``i = der(q)``, ``q = charge(v)``.

    A component overrides `charge`. Charge, not capacitance times slope of voltage, is what is differentiated, so
    that it is conserved whatever the voltages do at an instant. Losses and hysteresis are left out.
    """

    q: Variable = Variable(unit="C", doc="Charge")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.q, self.charge(self.v))
        yield Eq(self.i, der(self.q))

    def charge(self, v: Expr) -> Expr:
        """Return the charge at voltage ``v``: an increasing function, made of functions of the language."""
        raise NotImplementedError


class JunctionCapacitor(ChargeCapacitor):
    """Depletion capacitance of a junction, ``C(v) = Cj * (1 - v / Phi) ** -m``, above ``v = 0`` ``Cj * (1 + m * v / Phi)``.

    ``v`` is positive when the junction is forward-biased. The charge of diffusion is left out.
    """

    Cj: Parameter = Parameter(unit="F", min=0, doc="Capacitance at zero bias")
    Phi: Parameter = Parameter(default=0.8, unit="V", min=1e-3, doc="Diffusion voltage")
    m: Parameter = Parameter(default=0.5, unit="1", min=0, max=0.99, doc="Gradation exponent; 0.5: abrupt")

    def charge(self, v: Expr) -> Expr:
        return self.Cj * self.Phi * depletion_integral(v / self.Phi, self.m)


class TableCapacitor(ChargeCapacitor):
    """Capacitance from a table, linear between the points ``(x, c)``, constant outside; ``q`` is its integral from 0.

    ``C(v) = C * c(v / V)``, as data sheets of power transistors give the small-signal capacitance against voltage.
    """

    C: Parameter = Parameter(default=1.0, unit="F", min=0, doc="Factor of the capacitances in the table")
    V: Parameter = Parameter(default=1.0, unit="V", min=1e-9, doc="Factor of the voltages in the table")
    table: Structural[tuple] = Structural(
        tuple, check=curve_problem, doc="Points (voltage over V, capacitance over C), voltages ascending"
    )

    def charge(self, v: Expr) -> Expr:
        x, rows = v / self.V, self.table
        (first, c_first), (last, c_last) = rows[0], rows[-1]
        total = c_first * (minimum(x, first) - min(0.0, first)) + c_last * (maximum(x, last) - max(0.0, last))
        for (a, ca), (b, cb) in zip(rows, rows[1:], strict=False):
            into, before = clamp(x, a, b) - a, min(max(0.0, a), b) - a
            total = total + ca * (into - before) + (cb - ca) / (b - a) / 2 * (into**2 - before**2)
        return self.C * self.V * no_event(total)


class SaturationScale(Component):
    """Holds ``Ipar`` of a `SaturatingInductor`, which follows from the parameters of that."""

    Ipar: Parameter = Parameter(unit="A", doc="Current that scales the saturation")


class SaturatingInductor(OnePort):
    """Saturating inductor, ``v = der(Psi)``, ``Psi = Linf * i + (Lzer - Linf) * Ipar * atan(i / Ipar)``.

    ``scale.Ipar`` is such that ``Psi / i = Lnom`` at ``i = Inom``. The inductance ``Psi / i`` falls from ``Lzer`` at small
    to ``Linf`` at large currents. Hysteresis, core and winding losses are left out.
    """

    Inom: Parameter = Parameter(default=1.0, unit="A", min=1e-12, doc="Nominal current")
    Lnom: Parameter = Parameter(unit="H", min=0, doc="Inductance at the nominal current")
    Lzer: Parameter = Parameter(unit="H", min=0, doc="Inductance near zero current")
    Linf: Parameter = Parameter(unit="H", min=0, doc="Inductance at large current")
    Psi: Variable = Variable(unit="Wb", doc="Flux linkage")

    def build(self) -> None:
        self.scale = SaturationScale(Ipar=self.saturation_current())

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield require((self.Linf < self.Lnom) & (self.Lnom < self.Lzer), "needs `Linf < Lnom < Lzer`")
        Ipar = self.scale.Ipar
        yield Eq(self.Psi, self.Linf * self.i + (self.Lzer - self.Linf) * Ipar * atan(self.i / Ipar))
        yield Eq(self.v, der(self.Psi))

    def saturation_current(self) -> Expr:
        """Return ``Ipar = Inom * x`` with ``x * atan(1 / x) = y``, ``y = (Lnom - Linf) / (Lzer - Linf)``.

        The left side grows and is concave. The start of Newton's method is exact to leading order at both ends, 0
        and 1, of the range of ``y``; four steps then reach rounding errors everywhere.
        """
        sound = (self.Linf < self.Lnom) & (self.Lnom < self.Lzer)
        # A wrong choice is refused, but only after everything has been found finite.
        y = if_else(sound, (self.Lnom - self.Linf) / if_else(sound, self.Lzer - self.Linf, 1), 0.5)
        x = 2 / pi * y * (1 - y ** (12 / pi**2)) ** -0.5
        for _ in range(4):
            angle = atan(1 / x)
            x = x - (x * angle - y) / (angle - x / (1 + x**2))
        return self.Inom * x


class Varistor(HeatingOnePort):
    """Metal-oxide varistor, ``i = In * sign(v) * (|v| / Vn) ** alpha + Gp * v``.

    Above ``Imax`` the power is continued by its tangent. ``Gp`` is the linear core that a power alone, which has no
    slope at zero, does not have. Capacitance, heating and ageing are left out.
    """

    Vn: Parameter = Parameter(unit="V", min=1e-9, doc="Voltage at the current In")
    In: Parameter = Parameter(default=1e-3, unit="A", min=1e-15, doc="Current at the voltage Vn")
    alpha: Parameter = Parameter(default=30.0, unit="1", min=1, doc="Exponent")
    Imax: Parameter = Parameter(default=1e4, unit="A", min=1e-15, doc="Current at which the tangent begins")
    Gp: Parameter = Parameter(default=1e-9, unit="S", min=0, doc="Parallel conductance")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        x = no_event(absolute(self.v)) / self.Vn
        inner = no_event(minimum(x, (self.Imax / self.In) ** (1 / self.alpha)))
        size = self.In * inner ** (self.alpha - 1) * (inner + self.alpha * (x - inner))
        yield Eq(self.i, no_event(if_else(self.v < 0, -size, size)) + self.Gp * self.v)
