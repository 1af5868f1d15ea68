"""Two nonlinear capacitors joined by an ideal switch: charge is conserved, not voltage times capacitance."""

import pytest

from acausal import Circuit, Expr, Parameter, simulate
from acausal.components.blocks import BooleanStep
from acausal.components.electrical import ChargeCapacitor, IdealClosingSwitch
from tests.oracles.nonlinear_circuits import joined
from tests.systems.circuits import circuit


class CubicCapacitor(ChargeCapacitor):
    """Charge ``C * v * (1 + (v / V)**2)``."""

    C: Parameter = Parameter(unit="F")
    V: Parameter = Parameter(unit="V")

    def charge(self, v: Expr) -> Expr:
        return self.C * v * (1 + (v / self.V) ** 2)


def joined_capacitors() -> Circuit:
    model = circuit(
        ("first", CubicCapacitor(C=1e-6, V=5.0), "a", "0"),
        ("switch", IdealClosingSwitch(), "a", "b"),
        ("second", CubicCapacitor(C=3e-6, V=2.0), "b", "0"),
        command=BooleanStep(startTime=1e-3),
    )
    model.connect(model.command.y, model.switch.control)
    return model


def charge(C: float, V: float, v: float) -> float:
    return C * v * (1 + (v / V) ** 2)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("second", [0.0, -4.0, 1.5])
def test_joined_nonlinear_capacitors_keep_their_charge(second: float) -> None:
    start = {"first.v": 10.0, "second.v": second}
    result = simulate(joined_capacitors(), 2e-3, initial=start)
    total = charge(1e-6, 5.0, 10.0) + charge(3e-6, 2.0, second)
    v, passed = joined((lambda u: charge(1e-6, 5.0, u), lambda u: charge(3e-6, 2.0, u)), (10.0, second))
    assert result["first.v"].at(1e-3, side="left") == pytest.approx(10.0, rel=1e-12)
    for t in (1e-3, 2e-3):
        now = result["first.q"].at(t) + result["second.q"].at(t)
        assert abs(now - total) <= 1e-12 * abs(total)
        assert [result["first.v"].at(t), result["second.v"].at(t)] == pytest.approx([v, v], rel=1e-9)
    (event,) = (e for e in result.events if e.jumps)
    assert event.t == 1e-3
    assert event.impulses == (("switch.i", pytest.approx(passed, rel=1e-9), "A.s"),)


def energy(C: float, V: float, v: float) -> float:
    """Integral of the voltage over the charge."""
    return C * v**2 * (1 / 2 + 3 / 4 * (v / V) ** 2)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("second", [0.0, -4.0, 1.5])
def test_the_switch_takes_what_the_capacitors_lose(second: float) -> None:
    result = simulate(joined_capacitors(), 2e-3, initial={"first.v": 10.0, "second.v": second})
    v = result["first.v"].final
    before = energy(1e-6, 5.0, 10.0) + energy(3e-6, 2.0, second)
    lost = before - energy(1e-6, 5.0, v) - energy(3e-6, 2.0, v)
    (event,) = [e for e in result.events if e.lost]
    assert event.energy_lost == pytest.approx(lost, rel=1e-8)
    assert abs(result.audit().balance) <= 1e-8 * before
