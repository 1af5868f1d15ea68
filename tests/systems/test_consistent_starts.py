"""Starts that agree with all equations stay what they are, whatever branches the search for the first mode tries."""

import math
import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

import acausal.simulation.starts.starting as starting
from acausal import Component, InitializationError, Statement, Structural, connect, simulate
from acausal.components.planar import Body as PlanarBody
from acausal.components.planar import FixedTranslation, Prismatic, Revolute, Rod, World
from acausal.components.rotational import ConstantTorque
from acausal.components.translational import CoulombFriction, HardStop, Mass
from tests.oracles.lines import GROUND, Part
from tests.systems.campaign_cases import line_case
from tests.systems.campaign_families import FAMILIES


class FrictionAndStop(Component):
    """Two masses with friction between them, and a stop that none of them touches."""

    def build(self) -> None:
        self.a, self.b = Mass(m=1.0, L=0.2), Mass(m=1.0)
        self.friction, self.stop = CoulombFriction(f_coulomb=2.0), HardStop(s_min=-1.0, s_max=5.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.a.flange_b, self.friction.flange_a)
        yield connect(self.friction.flange_b, self.b.flange_a)
        yield connect(self.a.flange_b, self.stop.flange)


@pytest.mark.parametrize("speed", [0.0, 1.0, -1e-6])
@pytest.mark.parametrize("a", [0.5, -0.9, 4.0])
def test_an_untouched_stop_moves_no_mass(a: float, speed: float) -> None:
    """The flange between the masses has a default of its own, which is no place of the first one."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = simulate(FrictionAndStop(), 1e-3, initial={"a.s": a, "b.s": 1.0, "a.v": speed})
    found = [result[path].at(0.0) for path in ("a.s", "b.s", "a.v", "b.v")]
    assert found == pytest.approx([a, 1.0, speed, 0.0], rel=1e-15, abs=0.0)


class Given(FrictionAndStop):
    def build(self) -> None:
        super().build()
        self.a, self.b = Mass(m=1.0, L=0.2, s=0.5, v=1.0), Mass(m=1.0, s=1.0)


def test_given_starts_that_hold_are_not_moved_either() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = simulate(Given(), 1e-3)
    assert [result[path].at(0.0) for path in ("a.s", "b.s", "a.v", "b.v")] == [0.5, 1.0, 1.0, 0.0]


def test_defaults_follow_the_starts_they_depend_on_to_the_last_digits() -> None:
    """A rounding of 2e-14 m between redundant frictions left no mode without contradiction, and a search over all of them."""
    parts = FAMILIES["moving"].describe(820024)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = simulate(line_case(parts, 1e-3).build(), 1e-6, impulses="allow")
    masses = {part.a: float(part.extra[0]) for part in parts if part.kind == "M"}
    for part in parts:
        if part.kind == "F":
            ends = (float(result[f"{part.name}.flange_{end}.s"].at(0.0)) for end in "ab")
            assert tuple(ends) == pytest.approx([masses.get(n, 0.0) for n in (part.a, part.b)], rel=1e-15)
    assert result.stats.candidates <= 30


def completed_beside(moved: dict[str, float]) -> Any:
    """What completes a start, and then moves some states, as the completion once did."""
    right = starting.complete

    def beside(problem: Any) -> Any:
        here, completed = right(problem)
        names = [here.program.unknowns.state_name(j) for j in range(len(here.z))]
        z, y = here.z.copy(), here.y.copy()
        for path, value in moved.items():
            z[names.index(path)] = value
        y[: len(here.data.states)] = z[here.data.states]
        return replace(here.at(z=z), y=y), completed

    return beside


@pytest.mark.parametrize("clawed", [False, True])
def test_a_place_without_mass_goes_to_its_contact_alone(clawed: bool) -> None:
    """Only its contact says where it is; the mass there, and the damped place that this is clawed to, stay where they are."""
    parts = [
        Part("O", "O1", "n1", GROUND, None, (-0.5,)),
        Part("M", "M1", "n2", GROUND, 1.5, (-0.5, 0.0)),
        Part("P", "P1", "n1", "n2", -1.0),
        Part("O", "O2", "n3", GROUND, None, (-1.0,)),
        Part("D", "D1", "n3", GROUND, 50.0),
    ]
    if clawed:
        parts.append(Part("L", "L1", "n3", "n2", None, (True, False)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = simulate(line_case(parts, 0.5).build(), 1.0, impulses="allow")
    places = [result[path].at([0.0, 0.4, 1.0]).tolist() for path in ("O1.s", "M1.s", "M1.v", "O2.s")]
    assert places == [[0.5] * 3, [-0.5] * 3, [0.0] * 3, [-1.0] * 3]


def test_fixed_starts_hold_whatever_point_completes_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """The point that a start was completed to once moved `b` to 0.9 m: what is fixed is set again in the first instant."""
    monkeypatch.setattr(starting, "complete", completed_beside({"b.s": 0.9}))
    result = simulate(FrictionAndStop(), 1e-3, initial={"a.s": 0.5, "b.s": 1.0, "a.v": 1.0})
    assert [result[path].at(0.0) for path in ("a.s", "b.s", "a.v", "b.v")] == [0.5, 1.0, 1.0, 0.0]


class StoppedCrank(Component):
    """A slider-crank with stops of its slider; a body at the crank and a torque may be there."""

    fly: Structural[bool] = Structural(bool, default=False)
    driven: Structural[bool] = Structural(bool, default=False)
    speed: Structural[float] = Structural(float, default=0.0)

    def build(self) -> None:
        self.world, self.arm, self.rod = World(), FixedTranslation(r=(0.3, 0.0)), Rod(L=1.0)
        self.hinge = Revolute(phi=0.4, useAxisFlange=self.driven, **({"w": self.speed} if self.speed else {}))
        self.slider, self.load = Prismatic(useAxisFlange=True), PlanarBody(m=2.0, g=0.0)
        self.stop = HardStop(s_min=0.9, s_max=5.0)
        if self.fly:
            self.wheel = PlanarBody(m=0.5, g=0.0)
        if self.driven:
            self.torque = ConstantTorque(tau_constant=1.5)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.hinge.frame_a, self.slider.frame_a)
        yield connect(self.hinge.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.rod.frame_a)
        yield connect(self.rod.frame_b, self.slider.frame_b, self.load.frame_a)
        yield connect(self.slider.axis, self.stop.flange)
        if self.fly:
            yield connect(self.arm.frame_b, self.wheel.frame_a)
        if self.driven:
            yield connect(self.hinge.axis, self.torque.flange)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("speed", [0.0, -2.0])
@pytest.mark.parametrize("driven", [False, True])
@pytest.mark.parametrize("fly", [False, True])
def test_a_given_angle_holds_beside_an_untouched_stop(fly: bool, driven: bool, speed: float) -> None:
    """The default of the slider, 0 m, lies beyond its stop; the angle says that it is not there."""
    result = simulate(StoppedCrank(fly=fly, driven=driven, speed=speed), 0.01)
    s = 0.3 * math.cos(0.4) + math.sqrt(1.0 - (0.3 * math.sin(0.4)) ** 2)
    assert result["hinge.phi"].at(0.0) == 0.4
    assert result["hinge.w"].at(0.0) == pytest.approx(speed, rel=1e-12)
    assert result["slider.s"].at(0.0) == pytest.approx(s, rel=1e-12)
    assert result["stop.flange.f"].at(0.0) == 0.0


def test_an_angle_beyond_the_stop_is_refused() -> None:
    with pytest.raises(InitializationError, match=r"`hinge.phi` = 1.9 cannot hold"):
        simulate(StoppedCrank(fly=True), 0.01, initial={"hinge.phi": 1.9})
