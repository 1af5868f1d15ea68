"""Gate pulses of line-commutated converters."""

import numpy as np
import pytest

from acausal.components.blocks import PhaseAngle
from tests.components.signals import pulses, run

PERIOD = 0.02


def gates(alpha: float, **values: float):
    result = run(0.05, firing=PhaseAngle(frequency=50.0, alpha=alpha, **values))
    return [pulses(result[f"firing.fire_{side}"]) / PERIOD for side in "pn"]


def test_pulses_last_from_the_firing_angle_to_the_end_of_the_half_wave() -> None:
    p, n = gates(np.pi / 3)
    assert p == pytest.approx(np.array([(1 / 6, 1 / 2), (7 / 6, 3 / 2), (13 / 6, 5 / 2)]), rel=1e-12)
    assert n == pytest.approx(np.array([(2 / 3, 1), (5 / 3, 2)]), rel=1e-12)


def test_angle_zero_fires_whole_half_waves() -> None:
    p, n = gates(0.0)
    assert p == pytest.approx(np.array([(0, 1 / 2), (1, 3 / 2), (2, 5 / 2)]), rel=1e-12)
    assert n == pytest.approx(np.array([(1 / 2, 1), (3 / 2, 2)]), rel=1e-12)


@pytest.mark.parametrize("alpha", [np.pi, 4.0])
def test_no_pulse_at_full_angle(alpha: float) -> None:
    assert [g.size for g in gates(alpha)] == [0, 0]


def test_start_time_shifts_the_line() -> None:
    p, _ = gates(np.pi / 2, startTime=0.25 * PERIOD)
    assert p[0] == pytest.approx((0.5, 0.75), rel=1e-12)


@pytest.mark.parametrize("start", [-0.1, -0.6, -100.6])
def test_a_run_that_starts_within_a_half_wave(start: float) -> None:
    result = run(0.05, firing=PhaseAngle(frequency=50.0, alpha=np.pi / 3, startTime=start * PERIOD))
    t = np.arange(0.0123, 2.49, 0.02)
    angle = (t - start) % 1.0
    assert result["firing.fire_p"].at(t * PERIOD).tolist() == ((angle > 1 / 6) & (angle < 1 / 2)).tolist()
    assert result["firing.fire_n"].at(t * PERIOD).tolist() == (angle > 2 / 3).tolist()
