"""What starts very slowly moves for a very short time: events of the first instants have times of their own size."""

import numpy as np
import pytest

import acausal as ac
from acausal.components.translational import ConstantForce, Fixed, Friction, ImpactStop, Mass

METHODS = ("exact", "implicit", "explicit")
SLOW = [1e-9, 1e-12, 1e-15, 1e-17, 1e-20, 1e-26, 1e-30, 1e-60, 1e-100]


def pressed(v: float) -> ac.Circuit:
    """A mass of 1 kg on a floor that is pressed down with 0.01 N leaves it, or falls on it, with this speed."""
    model = ac.Circuit()
    floor, mass = model.add("floor", Fixed()), model.add("mass", Mass(m=1.0, v=v))
    stop, force = (
        model.add("stop", ImpactStop(restitution=0.5)),
        model.add("force", ConstantForce(f_constant=-0.01)),
    )
    model.connect(floor.flange, stop.flange_a)
    model.connect(stop.flange_b, mass.flange_a)
    model.connect(force.flange, mass.flange_b)
    return model


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize("span", [1.0, 1e6])
@pytest.mark.parametrize(
    ("method", "v"), [(method, v) for method in METHODS for v in SLOW if method == "exact" or v > 1e-70]
)
def test_slow_flights_end_when_they_end(method: str, v: float, span: float) -> None:
    """Each flight takes 2 v / g, and is half as long as the one before; steps follow heights to 1e-120 m."""
    result = ac.simulate(pressed(v), span, method=method)
    landings = np.array([event.t for event in result.events[1:21]])
    flights = 200.0 * v * 0.5 ** np.arange(20)
    np.testing.assert_allclose(landings, np.cumsum(flights), rtol=1e-12 if method == "exact" else 1e-9)
    assert result["mass.s"].final == 0.0
    assert result.check().ok


@pytest.mark.sweep(every=4)
@pytest.mark.filterwarnings("ignore:given starts contradict the model:UserWarning")
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("v", [1e-17, -1e-17])
def test_a_slow_mass_comes_to_rest_on_its_floor(v: float, method: str) -> None:
    result = ac.simulate(pressed(v), 1.0, method=method)
    assert result["mass.s"].final == 0.0
    assert result.check().ok


@pytest.mark.sweep(every=4)
@pytest.mark.filterwarnings("ignore:given starts contradict the model:UserWarning")
@pytest.mark.parametrize("method", ["exact", "implicit"])
@pytest.mark.parametrize("v", [1e-140, 1e-150, -1e-150])
def test_what_flies_no_distance_with_all_digits_comes_to_rest_at_once(v: float, method: str) -> None:
    """Half of the squares of these speeds over 0.01 m/s2 are below 1e-277 m."""
    result = ac.simulate(pressed(v), 1.0, method=method)
    assert (result["mass.s"].final, result["mass.v"].final) == (0.0, 0.0)
    assert len(result.events) == (2 if v > 0.0 else 1)
    assert result.check().ok


def sliding(v: float, m: float, d: float, breakaway: float) -> ac.Circuit:
    """A mass slides against 200 N of friction and viscous friction."""
    model = ac.Circuit()
    mass, floor = model.add("mass", Mass(m=m, v=v)), model.add("floor", Fixed())
    friction = model.add("friction", Friction(f_coulomb=200.0, f_breakaway=breakaway, d=d))
    model.connect(mass.flange_a, friction.flange_a)
    model.connect(friction.flange_b, floor.flange)
    return model


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(
    ("m", "d", "breakaway"), [(2.7, 1.0, 300.0), (2.7, 1.0, 200.0), (2.7, 0.0, 300.0), (0.1, 50.0, 200.0)]
)
@pytest.mark.parametrize("v", [1e-10, 1e-13, 1e-17, -1e-17, 1e-40])
def test_a_slow_mass_stops_by_friction(v: float, m: float, d: float, breakaway: float, method: str) -> None:
    """After m v / 200 N; functions that add up to the speed are as large as 200 N over the viscous friction."""
    result = ac.simulate(sliding(v, m, d, breakaway), 0.4, method=method)
    rounding = 1e-14 * 200.0 / d if d else 1e-14 * abs(v)
    assert result["mass.v"].final == 0.0
    assert result["mass.s"].final == pytest.approx(0.0, abs=rounding * m / d if d else abs(v))
    assert abs(result.events[-1].t - m * abs(v) / 200.0) <= m * rounding / 200.0 + 1e-9 * m * abs(v) / 200.0
    assert result.check().ok
