"""Energies that elements with a table of modes absorb within instants."""

from collections.abc import Iterator

import pytest

from acausal import (
    Circuit,
    Component,
    Eq,
    If,
    Mode,
    Modes,
    Parameter,
    Statement,
    Structural,
    Variable,
    connect,
    der,
    leave,
    simulate,
    time,
)
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    IdealClosingSwitch,
    IdealOpAmpLimited,
    OnePort,
)
from acausal.components.rotational import Inertia, LossyGear, OneWayClutch, PartialCompliant
from tests.systems.circuits import circuit


class Zener(OnePort):
    """Conducts forward, blocks, and holds ``Vz`` backward."""

    Vz: Parameter = Parameter(default=4.0, unit="V")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        block = Mode("block", Eq(self.i, 0), leave("forward", self.v), leave("reverse", -self.v - self.Vz))
        forward = Mode("forward", Eq(self.v, 0), leave("block", -self.i))
        reverse = Mode("reverse", Eq(self.v, -self.Vz), leave("block", self.i))
        yield Modes("state", block, forward, reverse, start="block")


class ZenerWithCurve(OnePort):
    """The same with its curve; the first two modes prescribe voltages."""

    Vz: Parameter = Parameter(default=4.0, unit="V")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        forward = Mode("forward", Eq(self.v, 0), leave("block", -self.i))
        reverse = Mode("reverse", Eq(self.v, -self.Vz), leave("block", self.i))
        block = Mode("block", Eq(self.i, 0), leave("forward", self.v), leave("reverse", -self.v - self.Vz))
        yield Modes("state", forward, reverse, block, curve=(self.v, self.i), start="block")


@pytest.mark.parametrize("zener", [Zener, ZenerWithCurve])
def test_what_modes_absorb_of_an_impulse_is_lost(zener: type[OnePort]) -> None:
    """6 A.s flow against the 4 V that the diode holds, which shared 10 V with the open switch; that falls from 6 V."""
    model = circuit(
        ("c", Capacitor(C=1.0, v=10.0), "a", "0"),
        ("s", IdealClosingSwitch(control=time >= 1.0), "a", "b"),
        ("z", zener(), "0", "b"),
    )
    result = simulate(model, 2.0)
    assert result["c.v"].final == pytest.approx(4.0)
    assert result.audit().lost == pytest.approx({"s.closed": 18.0, "z.state": 24.0})
    assert result.energy("z") == pytest.approx(24.0) and result.energy("c") == pytest.approx(-42.0)


@pytest.mark.filterwarnings("ignore:given starts contradict")
@pytest.mark.parametrize("capacity", [0.0, 1.0])
def test_a_freewheel_that_locks_with_an_impulse_loses_what_the_wheels_do(capacity: float) -> None:
    """1 kg.m2 at 3 rad/s takes 2 kg.m2 along: 4.5 J become 1.5 J."""
    model = Circuit()
    a, b = model.add("a", Inertia(J=1.0, w=3.0)), model.add("b", Inertia(J=2.0, w=0.0))
    wheel = model.add("k", OneWayClutch(fn_max=1.0, f_normalized=capacity))
    model.connect(a.flange_b, wheel.flange_a)
    model.connect(wheel.flange_b, b.flange_a)
    audit = simulate(model, 1.0).audit()
    assert audit.lost == pytest.approx({"k.state": 3.0})
    assert [audit.into(part) for part in "abk"] == pytest.approx([-4.0, 1.0, 3.0])


def test_modes_between_two_voltages_have_no_power() -> None:
    """The output goes to its limit at once and charges a capacitor: all that the instant takes is taken by ideal parts."""
    model = circuit(
        ("v", ConstantVoltage(V=1.0), "i", "0"),
        ("s", IdealClosingSwitch(control=time >= 1.0), "o", "a"),
        ("c", Capacitor(C=1.0), "a", "0"),
    )
    amp = model.add("amp", IdealOpAmpLimited(Vps=5.0, Vns=-5.0))
    model.connect(amp.in_p, model.v.p)
    model.connect(amp.in_n, model.ground.p)
    model.connect(amp.out, model.s.p)
    result = simulate(model, 2.0)
    assert result["c.v"].final == pytest.approx(5.0)
    assert set(result.audit().lost) == {"s.closed"}


class Claw(PartialCompliant):
    """Joins both flanges from 1 s on."""

    w_rel: Variable = Variable(unit="rad/s")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w_rel, der(self.phi_rel))
        yield If(time >= 1.0, [Eq(self.w_rel, 0)], [Eq(self.tau, 0)], name="closed")


class Geared(Component):
    """A wheel turns at 2 rad/s, and is joined to another one at rest that has a third one behind a gear with losses."""

    ratio: Parameter = Parameter(default=2.0)
    rows: Structural[tuple] = Structural(tuple, default=((0.0, 0.8, 0.9, 0.1, 0.1),))

    def build(self) -> None:
        self.a, self.b, self.c = Inertia(J=1.0, w=2.0), Inertia(J=2.0, w=0.0), Inertia(J=0.5, w=0.0)
        self.claw, self.gear = Claw(), LossyGear(ratio=self.ratio, lossTable=self.rows)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.a.flange_b, self.claw.flange_a)
        yield connect(self.claw.flange_b, self.b.flange_a)
        yield connect(self.b.flange_b, self.gear.flange_a)
        yield connect(self.gear.flange_b, self.c.flange_a)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("method", ["auto", "implicit"])
@pytest.mark.parametrize("ratio", [2.0, -2.0])
@pytest.mark.parametrize(
    "rows", [((0.0, 0.8, 0.9, 0.1, 0.1),), ((0.0, 0.8, 0.9, 0.1, 0.1), (10.0, 0.8, 0.7, 0.2, 0.2))]
)
def test_teeth_lose_their_part_of_an_impulse(rows: tuple, ratio: float, method: str) -> None:
    """Of the impulse T on the gear 0.2 T is lost: 2 - w = 2 w + T, and 0.5 w / 2 = 2 (T - 0.2 T) behind it."""
    result = simulate(Geared(ratio=ratio, rows=rows), 1.0, method=method)
    w = 2.0 / (3.0 + 0.25 / 1.6)
    passed, rtol = 0.25 * w / 1.6, 1e-12 if method == "auto" and len(rows) == 1 else 1e-6
    assert result["b.w"].final == pytest.approx(w, rel=rtol)
    lost = {"claw.closed": 0.5 * 2.0 * (2.0 - w), "gear.state": 0.5 * w * 0.2 * passed}
    assert result.audit().lost == pytest.approx(lost, rel=rtol)
    assert sum(lost.values()) == pytest.approx(2.0 - 1.5 * w**2 - 0.25 * (w / 2.0) ** 2)
