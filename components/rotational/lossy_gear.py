"""Gear with losses in its mesh and in its bearings."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from acausal.modeling import (
    Eq,
    Expr,
    If,
    Mode,
    Modes,
    Statement,
    Structural,
    Variable,
    der,
    leave,
    table,
)

from ..thermal.interfaces import PartialConditionalHeatPort
from .gears import PartialGear


def _problem_of_losses(rows: Any) -> str:
    if not rows or any(len(row) != 5 for row in rows):
        return "needs rows (speed, eta_mf1, eta_mf2, tau_bf1, tau_bf2)"
    if any(a[0] >= b[0] for a, b in zip(rows, rows[1:], strict=False)):
        return "needs ascending speeds"
    if any(not (0 < row[1] <= 1 and 0 < row[2] <= 1) for row in rows):
        return "needs efficiencies above 0 and up to 1"
    return "" if all(row[3] >= 0 and row[4] >= 0 for row in rows) else "needs friction torques of 0 or more"


class LossyGear(PartialGear, PartialConditionalHeatPort):
    """Gear with losses in mesh and bearings, ``phi_a = ratio * phi_b``, ``-flange_b.tau = ratio * (flange_a.tau - tauLoss)``.

    Turning forwards ``tauLoss`` is the larger of ``(1 - eta_mf1) * flange_a.tau + tau_bf1``, where ``flange_a`` drives, and
    ``(1 - 1 / eta_mf2) * flange_a.tau + tau_bf2``, where it is driven; backwards the smaller of the same with ``-tau_bf1``
    and ``-tau_bf2``. At standstill the gear is stuck while ``tauLoss`` is between the two. Of an impulse it takes the same
    part as of a torque in the direction in which the impulse does work; one that turns the gear around acts by the law of the
    direction before until standstill, and by that of the direction after from there. An impact with restitution that turns it
    around ends the run with `ImpactError`. With one row of losses it stays on the exact path. The teeth are rigid and never
    lift off; what friction depends on besides the speed, as temperature and oil, is left out. C. Pelchen, C. Schweiger, M.
    Otter, Modeling and Simulating the Efficiency of Gearboxes and of Planetary Gearboxes, 2nd International Modelica
    Conference, 2002.
    """

    lossTable: Structural[tuple] = Structural(
        tuple,
        default=((0.0, 1.0, 1.0, 0.0, 0.0),),
        check=_problem_of_losses,
        doc="Rows (speed of flange_a, eta_mf1, eta_mf2, tau_bf1, tau_bf2), speeds ascending; constant outside",
    )
    w_a: Variable = Variable(unit="rad/s", doc="Speed of flange_a relative to the housing")
    tauLoss: Variable = Variable(unit="N.m", doc="Torque lost between flange_a and flange_b, at flange_a")
    tauLossMax: Variable = Variable(unit="N.m", doc="Torque lost turning forwards")
    tauLossMin: Variable = Variable(unit="N.m", doc="Torque lost turning backwards, negative")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        a, b, w = self.flange_a, self.flange_b, self.w_a
        yield Eq(w, der(a.phi - self.phi_support))
        yield Eq(b.tau + self.ratio * (a.tau - self.tauLoss), 0)
        # Efficiencies up to 1 make the line in force the larger one turning forwards, and the smaller one backwards. Elements
        # decide it together with the torques, and by their impulses where there are any.
        driving, driven = self.losses(w, 1)
        yield If(
            driving > driven,
            [Eq(self.tauLossMax, driving)],
            [Eq(self.tauLossMax, driven)],
            name="drivesForward",
        )
        driving, driven = self.losses(-w, -1)
        yield If(
            driving < driven,
            [Eq(self.tauLossMin, driving)],
            [Eq(self.tauLossMin, driven)],
            name="drivesBackward",
        )
        yield Modes(
            "state",
            Mode(
                "stuck",
                Eq(w, 0),
                leave("forward", self.tauLoss - self.tauLossMax),
                leave("backward", self.tauLossMin - self.tauLoss),
            ),
            Mode("forward", Eq(self.tauLoss, self.tauLossMax), leave("stuck", -w)),
            Mode("backward", Eq(self.tauLoss, self.tauLossMin), leave("stuck", w)),
            curve=(w, self.tauLoss),
            start="stuck",
        )
        yield from self.heat(self.tauLoss * w)

    def losses(self, speed: Expr, sign: int) -> tuple[Expr, Expr]:
        """Return the loss where ``flange_a`` drives, and where it is driven; ``sign`` -1: turning backwards."""
        speeds, *columns = zip(*self.lossTable, strict=True)
        eta1, eta2, tau1, tau2 = (c[0] if len(speeds) == 1 else table(speed, speeds, c) for c in columns)
        tau = self.flange_a.tau
        return (1 - eta1) * tau + sign * tau1, (1 - 1 / eta2) * tau + sign * tau2
