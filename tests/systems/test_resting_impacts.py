"""A body that rests on a plastic stop is hit: what reaches it goes through to the stop, however its speed rounds."""

import pytest

import acausal as ac
from acausal.components.translational import ConstantForce, Fixed, ImpactStop, Mass

METHODS = ("exact", "implicit", "explicit")


def hit_at_a_wall(v: float, restitution: float, unit: float, m: float = 1.0) -> ac.Circuit:
    """A mass runs into a plastic wall and rests there; another of twice its mass follows it; speeds in a unit of their own."""
    model = ac.Circuit()
    wall = model.add("wall", Fixed())
    first = model.add("first", Mass(m=m, s=0.25 * unit, v=v * unit))
    other = model.add("other", Mass(m=2.0, s=0.5 * unit, v=-0.37 * unit))
    plastic = model.add("plastic", ImpactStop(restitution=0.0))
    hit = model.add("hit", ImpactStop(restitution=restitution))
    model.connect(wall.flange, plastic.flange_a)
    model.connect(plastic.flange_b, first.flange_a, hit.flange_a)
    model.connect(hit.flange_b, other.flange_a)
    return model


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("restitution", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize(("v", "m"), [(-0.3, 1.0), (-0.7, 0.3), (-1.1, 7.0), (-0.25, 1e-4)])
def test_a_mass_at_rest_passes_a_hit_on(v: float, m: float, restitution: float, method: str) -> None:
    result = ac.simulate(hit_at_a_wall(v, restitution, 1.0, m), 1.5, method=method)
    assert result["first.v"].final == 0.0
    assert result["other.v"].final == pytest.approx(0.37 * restitution, rel=1e-9, abs=1e-15)
    lost = 0.5 * m * v**2 + 0.37**2 * (1.0 - restitution**2)
    assert result.audit().energy_lost == pytest.approx(lost, rel=1e-9, abs=1e-9 * 0.37**2)
    assert result.check().ok


@pytest.mark.parametrize("unit", [1e-9, 1e-3, 1e6])
def test_units_of_length_do_not_matter(unit: float) -> None:
    result = ac.simulate(hit_at_a_wall(-0.3, 1.0, unit), 1.5)
    assert result["first.v"].final == 0.0
    assert result["other.v"].final == pytest.approx(0.37 * unit, rel=1e-12)
    assert result.check().ok


@pytest.mark.sweep(every=9)
@pytest.mark.parametrize("method", METHODS)
def test_a_ball_bounces_to_rest_on_a_lying_block(method: str) -> None:
    """Floor and block are plastic, the ball is not: 3 kg fall by 0.1 m and 0.7 kg by 1.1 m."""
    model = ac.Circuit()
    floor, block, ball = (
        model.add("floor", Fixed()),
        model.add("block", Mass(m=3.0, s=0.1)),
        model.add("ball", Mass(m=0.7, s=1.1)),
    )
    lying, bounced = model.add("lying", ImpactStop()), model.add("bounced", ImpactStop(restitution=0.7))
    heavy, light = (
        model.add("heavy", ConstantForce(f_constant=-30.0)),
        model.add("light", ConstantForce(f_constant=-7.0)),
    )
    model.connect(floor.flange, lying.flange_a)
    model.connect(lying.flange_b, block.flange_a, bounced.flange_a, heavy.flange)
    model.connect(bounced.flange_b, ball.flange_a, light.flange)
    result = ac.simulate(model, 5.0, method=method)
    assert result["block.s"].final == result["ball.s"].final == 0.0
    assert result.audit().energy_lost == pytest.approx(10.7, rel=1e-9)
    assert result.check().ok


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize(("g", "h"), [(1.0, 1.0), (1e-9, 1e9), (1e-12, 1e12), (1e12, 1e12), (1e-12, 1.0)])
def test_a_ball_comes_to_rest_in_all_units(g: float, h: float, method: str) -> None:
    model = ac.Circuit()
    wall, ball = model.add("wall", Fixed()), model.add("ball", Mass(m=1.0, s=h))
    stop, force = (
        model.add("stop", ImpactStop(restitution=0.5)),
        model.add("force", ConstantForce(f_constant=-g)),
    )
    model.connect(wall.flange, stop.flange_a)
    model.connect(stop.flange_b, ball.flange_a)
    model.connect(ball.flange_b, force.flange)
    fall = (2.0 * h / g) ** 0.5
    result = ac.simulate(model, 6.0 * fall, method=method)
    assert result["ball.s"].at(1.5 * fall) == pytest.approx(0.25 * h, rel=1e-6)
    assert result["ball.v"].final == 0.0
    assert result.check().ok
