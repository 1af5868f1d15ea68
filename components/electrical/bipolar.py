"""Bipolar transistors after Ebers and Moll, with junction and diffusion charges."""

from __future__ import annotations

from collections.abc import Iterator

from acausal.modeling import Component, Eq, Expr, Parameter, Statement, Structural, Variable, der

from .characteristics import depletion_integral, exlin2, exlin2_integral
from .interfaces import Pin


class BJT(Component):
    """Partial: transport form of the Ebers-Moll equations, for voltages that are positive in forward direction.

    ``ibe = Is * (exp(vbe / Vt) - 1) + Gbe * vbe``, ``ibc`` likewise,
    ``C.i = (ibe - ibc) * (1 - Vak * vbc) - ibc / Br - der(qbc) + der(qcs)``,
    ``B.i = ibe / Bf + ibc / Br + der(qbe) + der(qbc)``.

    Charges: ``qbe = Tauf * Is * (exp(vbe / Vt) - 1) + Cje * Phie * d(vbe / Phie)``, where ``d`` is the integral
    of ``(1 - x) ** -Me``, above ``x = 0`` of ``1 + Me * x``; ``qbc`` likewise; ``qcs = Ccs * vcs``. The
    exponentials in the currents are continued by their tangents below ``EMin`` and above ``EMax``, in the
    charges by the integrals of these.

    Ebers and Moll, Proceedings of the IRE 42 (1954).
    """

    polarity = 1
    """1: npn, -1: pnp."""

    C = Pin()
    B = Pin()
    E = Pin()
    Bf: Parameter = Parameter(default=50.0, unit="1", min=1e-9, doc="Forward current gain")
    Br: Parameter = Parameter(default=0.1, unit="1", min=1e-9, doc="Reverse current gain")
    Is: Parameter = Parameter(default=1e-16, unit="A", min=0, doc="Transport saturation current")
    Vak: Parameter = Parameter(default=0.02, unit="1/V", doc="Inverse Early voltage")
    Tauf: Parameter = Parameter(default=0.12e-9, unit="s", min=0, doc="Ideal forward transit time")
    Taur: Parameter = Parameter(default=5e-9, unit="s", min=0, doc="Ideal reverse transit time")
    Ccs: Parameter = Parameter(default=1e-12, unit="F", min=0, doc="Capacitance, collector to substrate")
    Cje: Parameter = Parameter(
        default=0.4e-12, unit="F", min=0, doc="Depletion capacitance of base and emitter at zero bias"
    )
    Cjc: Parameter = Parameter(
        default=0.5e-12, unit="F", min=0, doc="Depletion capacitance of base and collector at zero bias"
    )
    Phie: Parameter = Parameter(default=0.8, unit="V", min=1e-3, doc="Diffusion voltage of base and emitter")
    Me: Parameter = Parameter(
        default=0.4, unit="1", min=0, max=0.99, doc="Gradation exponent of base and emitter"
    )
    Phic: Parameter = Parameter(
        default=0.8, unit="V", min=1e-3, doc="Diffusion voltage of base and collector"
    )
    Mc: Parameter = Parameter(
        default=0.333, unit="1", min=0, max=0.99, doc="Gradation exponent of base and collector"
    )
    Gbc: Parameter = Parameter(default=1e-15, unit="S", min=0, doc="Conductance, base to collector")
    Gbe: Parameter = Parameter(default=1e-15, unit="S", min=0, doc="Conductance, base to emitter")
    Vt: Parameter = Parameter(default=0.02585, unit="V", min=1e-6, doc="Voltage equivalent of temperature")
    EMin: Parameter = Parameter(default=-100.0, unit="1", doc="Exponent below which the tangent is used")
    EMax: Parameter = Parameter(default=40.0, unit="1", doc="Exponent above which the tangent is used")
    useCharges: Structural[bool] = Structural(
        bool, default=True, doc="False: quasi-static, without charges and substrate"
    )
    useSubstrate: Structural[bool] = Structural(
        bool, default=False, doc="True: the substrate is the pin S; false: it is grounded"
    )
    vbe: Variable = Variable(unit="V", doc="Voltage, base to emitter, positive when forward-biased")
    vbc: Variable = Variable(unit="V", doc="Voltage, base to collector, positive when forward-biased")
    ibe: Variable = Variable(unit="A", doc="Transport current of base and emitter")
    ibc: Variable = Variable(unit="A", doc="Transport current of base and collector")
    qbe: Variable = Variable(unit="C", doc="Charge of base and emitter")
    qbc: Variable = Variable(unit="C", doc="Charge of base and collector")
    qcs: Variable = Variable(unit="C", doc="Charge of collector against substrate")

    def build(self) -> None:
        if self.useSubstrate:
            self.S = Pin()

    def equations(self) -> Iterator[Statement]:
        sign = self.polarity
        yield Eq(self.vbe, sign * (self.B.v - self.E.v))
        yield Eq(self.vbc, sign * (self.B.v - self.C.v))
        yield Eq(self.ibe, self.transport(self.vbe, self.Gbe))
        yield Eq(self.ibc, self.transport(self.vbc, self.Gbc))
        yield from self.charges()
        moving = self.useCharges
        into_qbe, into_qbc, into_qcs = (der(q) if moving else 0 for q in (self.qbe, self.qbc, self.qcs))
        forward = (self.ibe - self.ibc) * (1 - self.Vak * self.vbc)
        yield Eq(self.C.i, sign * (forward - self.ibc / self.Br - into_qbc) + into_qcs)
        yield Eq(self.B.i, sign * (self.ibe / self.Bf + self.ibc / self.Br + into_qbe + into_qbc))
        yield Eq(self.E.i + self.B.i + self.C.i, into_qcs)
        if self.useSubstrate:
            yield Eq(self.S.i, -into_qcs)

    def transport(self, v: Expr, G: Expr) -> Expr:
        """Return the current of a junction at the voltage ``v``."""
        return self.Is * (exlin2(v / self.Vt, self.EMin, self.EMax) - 1) + G * v

    def charges(self) -> Iterator[Statement]:
        """Yield what the charges are; all zero without them."""
        if not self.useCharges:
            yield from (Eq(q, 0) for q in (self.qbe, self.qbc, self.qcs))
            return
        qbe, qbc = (
            tau * self.Is * (exlin2_integral(v / self.Vt, self.EMin, self.EMax) - 1)
            + C * phi * depletion_integral(v / phi, m)
            for v, tau, C, phi, m in (
                (self.vbe, self.Tauf, self.Cje, self.Phie, self.Me),
                (self.vbc, self.Taur, self.Cjc, self.Phic, self.Mc),
            )
        )
        yield Eq(self.qbe, qbe)
        yield Eq(self.qbc, qbc)
        yield Eq(self.qcs, self.Ccs * (self.C.v - (self.S.v if self.useSubstrate else 0)))


class NPN(BJT):
    """Bipolar transistor npn: `BJT` with ``vbe = B.v - E.v``, ``vbc = B.v - C.v``.

    Junctions, Early effect, transit times and depletion capacitances are modelled; resistances of the leads,
    high injection, breakdown and self-heating are left out. A grounded substrate draws ``der(qcs)`` from the
    collector to ground by a way that no pin shows; to balance all currents give it its pin by ``useSubstrate``.
    """


class PNP(BJT):
    """Bipolar transistor pnp: `NPN` with all voltages and currents of opposite sign, ``vbe = E.v - B.v``."""

    polarity = -1
