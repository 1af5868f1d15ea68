"""Photovoltaic modules by the single-diode equation, and its parameters from a data sheet."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp as number_exp

from acausal.modeling import Eq, Input, Parameter, Statement, Variable, exp

from .characteristics import exlin
from .interfaces import OnePort

THERMAL_VOLTAGE = 0.025692579
"""Boltzmann constant times 298.15 K over the elementary charge, in V (CODATA 2018)."""


class PhotovoltaicModule(OnePort):
    """Photovoltaic module, ``-i = Iph - I0 * (exp(vd / a) - 1) - vd / Rp``, ``vd = v - Rs * i``; it delivers ``-i``.

    With ``t = T / TRef``, ``s = S / SRef``: ``Iph = s * (IphRef + muI * (T - TRef))``,
    ``I0 = I0Ref * t**3 * exp((Eg - Eg(T) / t) / Vt)``, ``Eg(T) = Eg * (1 - muEg * (T - TRef))``,
    ``a = N * ns * Vt * t``, ``1 / Rp = s / RpRef``, ``Rs`` constant. Band gap of silicon by default.

    De Soto, Klein and Beckman, Solar Energy 80 (2006). All cells alike and equally lit: partial shading, bypass diodes,
    reverse breakdown and the capacitance of the junction are left out. `single_diode_parameters` fits a data sheet.
    """

    IphRef: Parameter = Parameter(unit="A", min=0, doc="Photocurrent at SRef and TRef")
    I0Ref: Parameter = Parameter(unit="A", min=0, doc="Saturation current at TRef")
    N: Parameter = Parameter(default=1.3, unit="1", min=0.1, doc="Ideality factor")
    ns: Parameter = Parameter(default=1.0, unit="1", min=1, doc="Number of cells in series")
    Rs: Parameter = Parameter(default=0.0, unit="Ohm", min=0, doc="Series resistance of the module")
    RpRef: Parameter = Parameter(
        default=1e6, unit="Ohm", min=1e-9, doc="Parallel resistance of the module at SRef"
    )
    muI: Parameter = Parameter(
        default=0.0, unit="A/K", doc="Temperature coefficient of the short-circuit current"
    )
    Eg: Parameter = Parameter(default=1.121, unit="V", min=0, doc="Band gap over charge at TRef")
    muEg: Parameter = Parameter(
        default=2.677e-4, unit="1/K", doc="Relative fall of the band gap with temperature"
    )
    Vt: Parameter = Parameter(
        default=THERMAL_VOLTAGE, unit="V", min=1e-6, doc="Voltage equivalent of temperature at TRef"
    )
    SRef: Parameter = Parameter(default=1000.0, unit="W/m2", min=1e-3, doc="Reference irradiance")
    TRef: Parameter = Parameter(default=298.15, unit="K", min=1.0, doc="Reference temperature")
    Maxexp: Parameter = Parameter(default=80.0, unit="1", doc="Exponent at which the tangent begins")
    S: Input = Input(float, unit="W/m2", doc="Irradiance in the plane of the module")
    T: Input = Input(float, unit="K", doc="Temperature of the cells")
    vd: Variable = Variable(unit="V", doc="Voltage across the junctions")
    iph: Variable = Variable(unit="A", doc="Photocurrent")
    i0: Variable = Variable(unit="A", doc="Saturation current")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        s, t, warmer = self.S / self.SRef, self.T / self.TRef, self.T - self.TRef
        gap = self.Eg * (1 - self.muEg * warmer)
        yield Eq(self.iph, s * (self.IphRef + self.muI * warmer))
        yield Eq(self.i0, self.I0Ref * t**3 * exp((self.Eg - gap / t) / self.Vt))
        yield Eq(self.v, self.vd + self.Rs * self.i)
        junction = self.i0 * (exlin(self.vd / (self.N * self.ns * self.Vt * t), self.Maxexp) - 1)
        yield Eq(self.i, junction + s * self.vd / self.RpRef - self.iph)


def single_diode_parameters(
    *, Isc: float, Voc: float, Imp: float, Vmp: float, ns: float, N: float = 1.3, Vt: float = THERMAL_VOLTAGE
) -> dict[str, float]:
    """Return parameters of a `PhotovoltaicModule` whose curve has the three points of a data sheet.

    The curve passes through short circuit, open circuit and the point of maximum power, and has its maximum of power
    there. For a given series resistance the first three conditions are linear in ``Iph``, ``I0`` and ``1 / Rp``; the
    fourth then gives the series resistance by bisection.

    Parameters
    ----------
    Isc, Voc : float
        Short-circuit current in A and open-circuit voltage in V, at reference conditions.
    Imp, Vmp : float
        Current in A and voltage in V at maximum power.
    ns : float
        Number of cells in series.
    N : float
        Ideality factor, which three points do not determine.
    Vt : float
        Voltage equivalent of the reference temperature, in V.

    Raises
    ------
    ValueError
        If the points belong to no such curve with positive resistances.

    Notes
    -----
    Conditions as in De Soto, Klein and Beckman, Solar Energy 80 (2006), without the one on temperature.
    """
    if not (0 < Imp < Isc and 0 < Vmp < Voc and N > 0 and ns >= 1 and Vt > 0):
        raise ValueError(
            f"a data sheet has 0 < Imp < Isc, 0 < Vmp < Voc, N > 0, ns >= 1, got Imp = {Imp:g}, Isc = {Isc:g}, "
            f"Vmp = {Vmp:g}, Voc = {Voc:g}, N = {N:g}, ns = {ns:g}"
        )
    a = N * ns * Vt

    def fit(Rs: float) -> tuple[float, float, float]:
        return _three_points(a, Rs, Isc, Voc, Imp, Vmp)

    low, high = 0.0, (Voc - Vmp) / Imp * (1 - 1e-9)
    if fit(low)[2] * Vmp > Imp:
        raise ValueError(
            f"no positive series resistance fits with N = {N:g}: choose a smaller ideality factor"
        )
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if fit(middle)[2] * Vmp < Imp else (low, middle)
    top, G, _ = fit(low)
    if G <= 0:
        raise ValueError(
            f"no positive parallel resistance fits with N = {N:g}: choose a smaller ideality factor"
        )
    I0 = top * number_exp(-Voc / a)
    Iph = top - I0 + G * Voc
    return {"IphRef": Iph, "I0Ref": I0, "Rs": low, "RpRef": 1 / G, "N": N, "ns": ns, "Vt": Vt}


def _three_points(
    a: float, Rs: float, Isc: float, Voc: float, Imp: float, Vmp: float
) -> tuple[float, float, float]:
    """Return ``I0 * exp(Voc / a)``, ``1 / Rp`` and ``-di/dv`` at maximum power; open circuit eliminates ``Iph``."""
    at_maximum = number_exp((Vmp + Imp * Rs - Voc) / a)
    e1, g1 = 1 - number_exp((Isc * Rs - Voc) / a), Voc - Isc * Rs
    e2, g2 = 1 - at_maximum, Voc - Vmp - Imp * Rs
    determinant = e1 * g2 - e2 * g1
    top, G = (Isc * g2 - Imp * g1) / determinant, (e1 * Imp - e2 * Isc) / determinant
    slope = top / a * at_maximum + G
    return top, G, slope / (1 + slope * Rs)
