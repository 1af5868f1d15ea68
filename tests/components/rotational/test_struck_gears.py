"""Gears with losses that are struck: impulses carry the efficiency of the direction in which they do work."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import pytest

from acausal import (
    Circuit,
    Complementarity,
    Eq,
    If,
    Impact,
    Parameter,
    Statement,
    Variable,
    der,
    simulate,
    time,
)
from acausal.components.rotational import ConstantTorque, Inertia, LossyGear, PartialCompliant
from acausal.errors import ImpactError

J = (1.0, 2.0, 0.5)
"""Moments of inertia of what strikes, and of the wheels in front of the gear and behind it."""


class Joined(PartialCompliant):
    """Claws: joined from 1 s on (one-sided ones from when they meet), or stops with restitution."""

    kind: str = "claw"
    sign: float = 1.0
    e: Parameter = Parameter(default=0.0)
    w_rel: Variable = Variable(unit="rad/s")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.w_rel, der(self.phi_rel))
        sign = self.sign
        if self.kind == "claw":
            yield If(time >= 1.0, [Eq(self.w_rel, 0)], [Eq(self.tau, 0)], name="closed")
        elif self.kind == "freewheel":
            yield Complementarity(sign * self.w_rel, -sign * self.tau, enabled=time >= 1.0, name="closed")
        else:
            yield Impact(sign * self.phi_rel, -sign * self.tau, restitution=self.e, name="closed")


@dataclass(frozen=True)
class Struck:
    """A wheel at ``W`` meets one in front of a gear (``side`` "a") or behind it that turns at ``w`` at flange_a."""

    W: float
    w: float
    ratio: float
    eta: tuple[float, float]
    side: str
    kind: str = "claw"
    e: float = 0.0
    rub: float = 0.0
    drive: tuple[float, float] = (0.0, 0.0)

    @property
    def scale(self) -> float:
        """Speed of the wheel that is struck by that of flange_a."""
        return 1.0 if self.side == "a" else 1.0 / self.ratio

    def model(self) -> Circuit:
        """Both meet after 1 s."""
        m = Circuit()
        relative = self.w * self.scale - self.W
        joined = type("Joined", (Joined,), {"kind": self.kind, "sign": -1.0 if relative > 0 else 1.0})
        a, claw = m.add("a", Inertia(J=J[0], w=self.W, phi=relative)), m.add("claw", joined(e=self.e))
        rows = ((0.0, *self.eta, self.rub, self.rub),)
        gear = m.add("gear", LossyGear(ratio=self.ratio, lossTable=rows))
        b = m.add("b", Inertia(J=J[1], w=self.w, phi=0.0))
        c = m.add("c", Inertia(J=J[2], w=self.w / self.ratio))
        for name, wheel, tau in zip("xy", (b, c), self.drive, strict=True):
            if tau:
                m.connect(m.add(name, ConstantTorque(tau_constant=tau)).flange, wheel.flange_a)
        m.connect(b.flange_b, gear.flange_a)
        m.connect(gear.flange_b, c.flange_a)
        m.connect(a.flange_b, claw.flange_a)
        m.connect(claw.flange_b, b.flange_a if self.side == "a" else c.flange_b)
        return m

    def loss(self, P: float, turning: float) -> float:
        """Part of an impulse on flange_a that is lost while it turns forwards or backwards."""
        lines = (1.0 - self.eta[0]) * P, (1.0 - 1.0 / self.eta[1]) * P
        return max(lines) if turning > 0 else min(lines)

    def inertia(self, turning: float, pushed: float) -> float:
        """Moment of inertia with which the struck wheel resists a push in the direction ``pushed`` of flange_a."""
        if self.side == "b":
            P = -pushed  # J w' = -P before the gear, and ratio (P - loss) behind it.
            return J[2] + self.ratio**2 * J[1] * (P - self.loss(P, turning)) / P
        # P - loss = J w' / ratio^2 has the sign of the push, and so has P.
        return J[1] + J[2] / self.ratio**2 / (1.0 - self.loss(pushed, turning) / pushed)

    def after(self, W: float, w: float) -> tuple[float, float]:
        """Speeds after an inelastic meeting at these: momentum, up to standstill and on from there."""
        v, push = w * self.scale, np.sign((W - w * self.scale) * self.scale)
        if w * push < 0:
            M = self.inertia(w, push)
            met = (J[0] * W + M * v) / (J[0] + M)
            if met / self.scale * push <= 0:
                return met, met / self.scale
            W, v = W + M * v / J[0], 0.0
        M = self.inertia(push, push)
        met = (J[0] * W + M * v) / (J[0] + M)
        return met, met / self.scale


def energy(W: float, w: float, ratio: float) -> float:
    return 0.5 * (J[0] * W**2 + J[1] * w**2 + J[2] * (w / ratio) ** 2)


def check(case: Struck) -> None:
    result = simulate(case.model(), 1.0)
    W, w = (result[f"{name}.w"].at(1.0, side="left") for name in "ab")
    met, after = case.after(W, w)
    assert result["a.w"].at(1.0) == pytest.approx(met, rel=1e-9, abs=1e-12)
    assert result["b.w"].at(1.0) == pytest.approx(after, rel=1e-9, abs=1e-12)
    lost = result.audit().lost
    assert min(lost.values()) >= -1e-12, lost
    taken = energy(W, w, case.ratio) - energy(met, after, case.ratio)
    assert result.audit().energy_lost == pytest.approx(taken, rel=1e-9)


ETAS = (0.8, 0.9), (0.5, 0.6), (0.5, 1.0)
SPEEDS = (3.0, 1.0), (3.0, -1.0), (-3.0, 1.0), (-3.0, -1.0), (0.5, 2.0), (-0.5, -2.0), (3.0, 0.0), (0.2, -0.5)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("side", "ab")
@pytest.mark.parametrize("ratio", [2.0, -2.0])
@pytest.mark.parametrize("eta", ETAS, ids=str)
def test_an_impulse_carries_the_efficiency_of_its_direction(
    eta: tuple[float, float], ratio: float, side: str
) -> None:
    """Forwards and backwards, driving and driven, and turned around."""
    for W, w in SPEEDS:
        check(Struck(W, w, ratio, eta, side))


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("drive", [(1.0, -0.5), (-1.0, 0.5), (0.0, 3.0), (0.0, -3.0)], ids=str)
@pytest.mark.parametrize("side", "ab")
def test_torques_before_the_impulse_do_not_decide(side: str, drive: tuple[float, float]) -> None:
    for (W, w), ratio in product([(3.0, 1.0), (0.5, 1.0), (-3.0, 1.0)], [2.0, -2.0]):
        check(Struck(W, w, ratio, (0.5, 0.6), side, rub=0.05, drive=drive))


@pytest.mark.sweep(every=8)
@pytest.mark.parametrize("side", "ab")
@pytest.mark.parametrize("kind", ["freewheel", "stop"])
def test_one_sided_contacts_strike_as_claws_do(kind: str, side: str) -> None:
    for (W, w), ratio in product(SPEEDS, [2.0, -2.0]):
        if W != w * (1.0 if side == "a" else 1.0 / ratio):
            check(Struck(W, w, ratio, (0.5, 0.6), side, kind))


def test_the_check_of_a_result_follows_a_gear_that_turns_around() -> None:
    result = simulate(Struck(3.0, -1.0, 2.0, (0.5, 0.6), "b", rub=0.05).model(), 2.0)
    found = result.check()
    assert found.ok and not found.unchecked
    assert result.audit().balance == pytest.approx(0.0, abs=1e-12)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("e", [0.3, 1.0])
@pytest.mark.parametrize("side", "ab")
def test_a_rebound_loses_at_the_teeth_what_the_impulse_does(side: str, e: float) -> None:
    """The wheels part with -e times the speed of approach, and the gear goes on in its direction."""
    for (W, w), ratio in product([(3.0, 1.0), (-3.0, -1.0), (0.5, 2.0)], [2.0, -2.0]):
        case = Struck(W, w, ratio, (0.8, 0.9), side, "stop", e)
        push = np.sign((W - w * case.scale) * case.scale)
        M, v, approach = case.inertia(w, push), w * case.scale, W - w * case.scale
        p = (1.0 + e) * approach / (1.0 / J[0] + 1.0 / M)
        if w * (v + p / M) / case.scale <= 0:
            continue
        result = simulate(case.model(), 1.01)
        assert result["a.w"].final == pytest.approx(W - p / J[0], rel=1e-9)
        assert result["b.w"].final == pytest.approx((v + p / M) / case.scale, rel=1e-9)
        assert min(result.audit().lost.values()) >= -1e-12


@pytest.mark.parametrize("e", [0.5, 1.0])
def test_a_gear_that_a_rebound_turns_around_is_refused(e: float) -> None:
    """How its impulse splits between both directions, what approaches and what parts, follows from no law."""
    with pytest.raises(ImpactError, match=r"gear\.state"):
        simulate(Struck(3.0, -1.0, 2.0, (0.5, 0.5), "a", "stop", e).model(), 1.01)
    result = simulate(Struck(3.0, -1.0, 2.0, (1.0, 1.0), "a", "stop", e).model(), 1.01)
    assert result["a.w"].final < result["b.w"].final


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("ratio", [2.0, -2.0])
def test_losses_by_speed_take_their_part_of_an_impulse(ratio: float) -> None:
    """Integrated runs: both rows say the same."""
    case = Struck(3.0, -1.0, ratio, (0.5, 0.6), "a")
    model = case.model()
    rows = ((0.0, 0.5, 0.6, 0.0, 0.0), (10.0, 0.5, 0.6, 0.0, 0.0))
    model.gear.lossTable = rows
    result = simulate(model, 1.0)
    assert result["b.w"].final == pytest.approx(case.after(3.0, -1.0)[1], rel=1e-6)
    assert min(result.audit().lost.values()) >= -1e-9
