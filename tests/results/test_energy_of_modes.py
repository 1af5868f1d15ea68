"""Energies that elements with a table of modes absorb within instants."""

from collections.abc import Iterator

import pytest

from acausal import Circuit, Eq, Mode, Modes, Parameter, Statement, leave, simulate, time
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    IdealClosingSwitch,
    IdealOpAmpLimited,
    OnePort,
)
from acausal.components.rotational import Inertia, OneWayClutch
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


def test_what_modes_absorb_of_an_impulse_is_lost() -> None:
    """6 A.s flow against the 4 V that the diode holds, which shared 10 V with the open switch; that falls from 6 V."""
    model = circuit(
        ("c", Capacitor(C=1.0, v=10.0), "a", "0"),
        ("s", IdealClosingSwitch(control=time >= 1.0), "a", "b"),
        ("z", Zener(), "0", "b"),
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
