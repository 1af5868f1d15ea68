"""Conditions of a start whose point lies on another side of a comparison than the start values."""

from collections.abc import Iterator

import pytest

from acausal import (
    Component,
    Eq,
    InitializationError,
    Parameter,
    Structural,
    Variable,
    connect,
    der,
    if_else,
    simulate,
)
from acausal.components import rotational, translational
from acausal.modeling import Statement

TORQUE, STIFFNESS, CLEARANCE, DRAG = 2.0, 500.0, 0.02, 0.1


class Drive(Component):
    """A constant torque on a load with viscous drag, through a backlash."""

    exceeding: Structural[bool] = Structural(bool, default=False)
    d: Parameter = Parameter(unit="N.m.s/rad")

    def build(self) -> None:
        """Make the parts."""
        self.drive = rotational.ConstantTorque(tau_constant=TORQUE)
        self.J1, self.J2 = rotational.Inertia(J=0.1), rotational.Inertia(J=0.2)
        kind = rotational.ElastoBacklash2 if self.exceeding else rotational.ElastoBacklash
        self.play = kind(c=STIFFNESS, d=self.d, b=CLEARANCE)
        self.drag, self.fixed = rotational.Damper(d=DRAG), rotational.Fixed()

    def equations(self) -> Iterator[Statement]:
        """Connect the parts in a row."""
        yield connect(self.drive.flange, self.J1.flange_a)
        yield connect(self.J1.flange_b, self.play.flange_a)
        yield connect(self.play.flange_b, self.J2.flange_a)
        yield connect(self.J2.flange_b, self.drag.flange_b)
        yield connect(self.drag.flange_a, self.fixed.flange)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("exceeding", [False, True])
@pytest.mark.parametrize("d", [0.0, 0.5])
@pytest.mark.parametrize(
    "initial",
    [
        {"J1.w": "steady state", "J2.w": "steady state", "play.w_rel": 0.0, "J1.phi": 0.0},
        {"J1.w": TORQUE / DRAG, "J2.w": TORQUE / DRAG, "play.tau": -TORQUE, "J1.phi": 0.0},
        {"J1.w": TORQUE / DRAG, "J2.w": TORQUE / DRAG, "J2.a": 0.0, "J1.phi": 0.0},
    ],
    ids=["steady", "torque", "acceleration"],
)
def test_backlash_rests_on_the_flank_that_carries(
    exceeding: bool, d: float, initial: dict[str, float | str]
) -> None:
    result = simulate(Drive(exceeding=exceeding, d=d), 0.05, initial=initial)
    assert result["play.phi_rel"].at(0.0) == pytest.approx(-CLEARANCE / 2 - TORQUE / STIFFNESS, rel=1e-9)
    assert result["der(J1.w)"].at(0.0) == pytest.approx(0.0, abs=1e-7)
    assert result["der(J2.w)"].at(0.0) == pytest.approx(0.0, abs=1e-7)
    assert result["J1.w"].ptp() == pytest.approx(0.0, abs=1e-9)


class Nowhere(Component):
    """``der(x)`` vanishes at -1 for positive x only, and at 1 for the others: nowhere."""

    x: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        """Return the law."""
        yield Eq(der(self.x), if_else(self.x > 0, -1 - self.x, 1 - self.x))


def test_steady_state_on_no_side_is_refused() -> None:
    with pytest.raises(InitializationError, match=r"der\(`x`\) = 0 does not hold after the start"):
        simulate(Nowhere(), 0.1, initial="steady state")


class Tyre(Component):
    """A wheel above a road, touching it below 0.3 m only."""

    def build(self) -> None:
        """Make the parts."""
        self.road, self.wheel = translational.Fixed(), translational.Mass(m=40.0)
        self.tyre = translational.ElastoGap(c=2e5, d=0.0, s_rel0=0.3)

    def equations(self) -> Iterator[Statement]:
        """Connect the tyre between road and wheel."""
        yield connect(self.road.flange, self.tyre.flange_a)
        yield connect(self.tyre.flange_b, self.wheel.flange_a)


@pytest.mark.parametrize(("s", "contact"), [(0.1, True), (0.5, False)])
def test_discrete_that_an_equation_gives_holds_or_is_refused(s: float, contact: bool) -> None:
    result = simulate(Tyre(), 0.001, initial={"tyre.contact": contact, "wheel.s": s})
    assert bool(result["tyre.contact"].at(0.0)) is contact
    told = rf"`tyre.contact` cannot be {not contact} at the start: the model gives {contact}"
    with pytest.raises(InitializationError, match=told):
        simulate(Tyre(), 0.001, initial={"tyre.contact": not contact, "wheel.s": s})
