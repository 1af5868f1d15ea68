"""Balls that bounce until they rest: every bounce is on time."""

import numpy as np
import pytest

from acausal import Component, Eq, Impact, Parameter, Variable, der, simulate

METHODS = pytest.mark.parametrize("method", ["auto", "explicit"])


class Dropped(Component):
    """A ball that falls from 1 m."""

    e: Parameter = Parameter(default=0.5)
    h: Variable = Variable(start=1.0)
    v: Variable = Variable()
    f: Variable = Variable()

    def equations(self):
        yield Eq(der(self.h), self.v)
        yield Eq(der(self.v), self.f - 10.0)
        yield Impact(self.h, self.f, restitution=self.e, rest_speed=0.0)


@pytest.mark.sweep(every=4)
@METHODS
@pytest.mark.parametrize("e", [0.0, 0.1, 0.5, 0.8])
def test_without_a_rest_speed_bouncing_ends_where_it_accumulates(method: str, e: float) -> None:
    result = simulate(Dropped(e=e), 6.0, method=method)
    assert result.status == "finished"
    assert (result["h"].final, result["v"].final, result["f"].final) == pytest.approx(
        (0.0, 0.0, 10.0), abs=1e-6
    )
    bounces = [event.t for event in result.events if event.jumps]
    assert bounces[-1] == pytest.approx(np.sqrt(0.2) * (1 + e) / (1 - e), rel=1e-6)


@pytest.mark.sweep(every=4)
@METHODS
@pytest.mark.parametrize(
    ("e", "end"), [(0.1, 6.0), (0.5, 6.0), (0.5, 60.0), (0.5, 1e5), (0.1, 1e7), (0.8, 6.0)]
)
def test_every_bounce_is_on_time_up_to_the_last(method: str, e: float, end: float) -> None:
    """What a fall over the rest of the run would come to makes no noise in a bounce of a nanosecond."""
    result = simulate(Dropped(e=e), end, method=method)
    bounces = np.array([event.t for event in result.events if event.jumps])
    n = np.arange(len(bounces))
    expected = np.sqrt(0.2) * (1.0 + 2.0 * e * (1.0 - e**n) / (1.0 - e))
    assert len(bounces) > np.log(1e-6) / np.log(e)
    assert np.abs(bounces - expected).max() < 1e-13


class Settling(Dropped):
    """The same, with nothing said of the speed at which it rests."""

    def equations(self):
        yield Eq(der(self.h), self.v)
        yield Eq(der(self.v), self.f - 10.0)
        yield Impact(self.h, self.f, restitution=self.e)


@pytest.mark.sweep(every=3)
@METHODS
@pytest.mark.parametrize("height", [1e-6, 1.0])
def test_the_length_of_a_run_does_not_say_when_a_ball_rests(height: float, method: str) -> None:
    """Not at a speed of a meter per second in a run of a day, nor a ball of a micrometer at those of one of a meter."""
    for end in (6.0, 1e5):
        result = simulate(Settling(), end, initial={"h": height}, method=method)
        bounces = np.array([event.t for event in result.events if event.jumps])
        expected = np.sqrt(0.2 * height) * (1.0 + 2.0 * (1.0 - 0.5 ** np.arange(len(bounces))))
        assert len(bounces) > 30
        assert bounces == pytest.approx(expected, rel=1e-12)
        assert result["h"].final == pytest.approx(0.0, abs=1e-13)
