import numpy as np
import pytest

from tests.oracles import reference_data
from tests.oracles.mechanics import BouncingBall
from tests.oracles.reference_data import load_case, read_trajectory, requires_case


def test_equal_times_are_left_and_right_limits(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("time,a,b\n0,1,2\n1,3,4\n1,5,6\n2,7,8\n")
    data = read_trajectory(path)
    np.testing.assert_array_equal(data.event_times, [1.0])
    np.testing.assert_array_equal(data["a"][data.is_left], [3.0])
    np.testing.assert_array_equal(data["b"][data.is_right], [6.0])
    np.testing.assert_array_equal(data.time[data.away_from_events], [0.0, 2.0])


def test_decreasing_times_are_rejected(tmp_path):
    path = tmp_path / "data.csv"
    path.write_text("time,a\n1,1\n0,2\n")
    with pytest.raises(ValueError, match="decrease"):
        read_trajectory(path)


def test_folder_comes_from_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("ACAUSAL_REFERENCE", str(tmp_path))
    assert reference_data.reference_root() == tmp_path.resolve()
    assert not reference_data.has_case("siconos_bouncing_ball")


@requires_case("siconos_bouncing_ball")
def test_closed_form_ball_agrees_with_the_external_trajectory():
    data = load_case("siconos_bouncing_ball")
    q, v = BouncingBall().state(data.time[data.away_from_events])
    np.testing.assert_allclose(q, data["q"][data.away_from_events], atol=1e-8)
    np.testing.assert_allclose(v, data["v"][data.away_from_events], atol=1e-7)
    np.testing.assert_allclose(data.event_times, BouncingBall().impacts(len(data.event_times)), rtol=1e-7)
