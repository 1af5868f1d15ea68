"""What a failed run computed can be read up to its end."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import acausal.components.planar as pl
import acausal.components.rotational as ro
from acausal import (
    Component,
    Discrete,
    Eq,
    InitializationError,
    SingularModelError,
    Variable,
    connect,
    der,
    simulate,
)

CRANK, LEVER, COUPLER, BASE = 0.1, 0.2, 0.12, 0.25


class FourBar(Component):
    """A driven crank that moves a rocker until coupler and lever are in line."""

    def build(self) -> None:
        self.left, self.right = pl.World(), pl.Fixed(r=(BASE, 0.0))
        self.crank, self.arm = pl.Revolute(useAxisFlange=True), pl.FixedTranslation(r=(CRANK, 0.0))
        self.drive = ro.ConstantSpeed(w_fixed=1.0)
        self.rocker, self.lever = pl.Revolute(), pl.FixedTranslation(r=(LEVER, 0.0))
        self.body, self.coupler = pl.Body(m=1.0, I=0.05), pl.Rod(L=COUPLER)

    def equations(self):
        yield connect(self.left.frame_b, self.crank.frame_a)
        yield connect(self.crank.axis, self.drive.flange)
        yield connect(self.crank.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.coupler.frame_a)
        yield connect(self.right.frame_b, self.rocker.frame_a)
        yield connect(self.rocker.frame_b, self.lever.frame_a, self.body.frame_a)
        yield connect(self.lever.frame_b, self.coupler.frame_b)


@pytest.mark.sweep(every=3)
@pytest.mark.filterwarnings("ignore:the start values do not say")
# Next to the lock rounding decides whether there is such a point.
@pytest.mark.filterwarnings("ignore:.*equations have no point between values and slopes")
@pytest.mark.parametrize(("rtol", "method"), [(1e-6, "auto"), (1e-8, "implicit")])
def test_a_run_into_a_lock_is_read_up_to_its_end(rtol: float, method: str, tmp_path: Path) -> None:
    with pytest.raises(SingularModelError) as failure:
        simulate(FourBar(), 7.0, rtol=rtol, method=method, progress=False)
    result = failure.value.result  # type: ignore[attr-defined]
    # Law of cosines where coupler and lever are in line.
    straight = COUPLER + LEVER
    locked = math.acos((CRANK**2 + BASE**2 - straight**2) / (2.0 * CRANK * BASE))
    start = result["crank.phi"].at(0.0)
    assert result.t_end == pytest.approx(locked - start, abs=1e-6)
    assert result.t[-1] == result.t_end
    # Points of all sizes before the end are on the constraint.
    t = np.concatenate([result.t, result.t_end - np.logspace(-12.0, -1.0, 300)])
    crank, rocker = result["crank.phi"].at(t), result["rocker.phi"].at(t)
    # Next to the lock the rocker is integrated, and the crank follows it.
    assert crank == pytest.approx(start + t, abs=rtol)
    tips = CRANK * np.exp(1j * crank), BASE + LEVER * np.exp(1j * rocker)
    assert np.abs(tips[0] - tips[1]) == pytest.approx(COUPLER, rel=1e-9)
    assert result["rocker.phi"].max() >= rocker.max()
    result.to_csv(tmp_path / "run.csv", ["rocker.phi"])
    # The drive gives what the body has in kinetic energy, the joints take nothing.
    taken = result.audit(0.0, 2.4)
    speed = result["rocker.w"].at(np.array([0.0, 2.4]))
    assert taken.into("body") == pytest.approx(0.5 * 0.05 * (speed[1] ** 2 - speed[0] ** 2), rel=1e-6)


class Watched(Component):
    """A decay, and whether it is still above one half."""

    x: Variable = Variable(start=1.0)
    above: Discrete = Discrete(bool, start=False)

    def equations(self):
        yield Eq(self.above, self.x > 0.5)
        yield Eq(der(self.x), -self.x)


def test_values_that_were_tried_for_a_failed_start_are_no_result() -> None:
    with pytest.raises(InitializationError, match="cannot be False") as caught:
        simulate(Watched(), 1.0, initial={"above": False})
    result = caught.value.result
    assert len(result.t) == 0 and not result.events and not result.initial
    assert result.status.startswith("failed: `above` cannot be False")
