"""Piecewise linear dampers with a breakpoint at zero speed, at rest and on the way there."""

from collections.abc import Iterator
from math import exp, pi, sqrt

import numpy as np
import pytest

from acausal import (
    Component,
    Eq,
    Parameter,
    Statement,
    Structural,
    Variable,
    connect,
    der,
    simulate,
    table,
)
from acausal.components import translational

GRAVITY = 9.80665
SPEEDS, FORCES = (-2.0, -0.3, -0.1, 0.0, 0.1, 0.3, 2.0), (-3000.0, -700.0, -320.0, 0.0, 500.0, 1300.0, 4700.0)
SPRUNG, INERTIA, WHEEL, FRONT, REAR = 600.0, 900.0, 40.0, 1.2, 1.5
SPRING, TYRE, FREE, RADIUS = 2e4, 2e5, 0.5, 0.3


class TableDamper(translational.PartialCompliantWithRelativeStates):
    """Force from a table, in N over m/s."""

    speeds: Structural[tuple[float, ...]] = Structural(tuple, default=SPEEDS)
    forces: Structural[tuple[float, ...]] = Structural(tuple, default=FORCES)
    v0: Parameter = Parameter(default=1.0, unit="m/s")
    f0: Parameter = Parameter(default=1.0, unit="N")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.f, self.f0 * table(self.v_rel / self.v0, self.speeds, self.forces))


class Beam(Component):
    """Rigid body that heaves and pitches by small angles."""

    front: translational.Flange = translational.Flange()
    rear: translational.Flange = translational.Flange()
    z: Variable = Variable(unit="m")
    th: Variable = Variable(unit="rad")
    vz: Variable = Variable(unit="m/s")
    w: Variable = Variable(unit="rad/s")
    m: Parameter = Parameter(default=SPRUNG, unit="kg")
    J: Parameter = Parameter(default=INERTIA, unit="kg.m2")
    g: Parameter = Parameter(default=GRAVITY, unit="m/s2")
    a: Parameter = Parameter(default=FRONT, unit="m")
    b: Parameter = Parameter(default=REAR, unit="m")

    def equations(self) -> Iterator[Statement]:
        yield Eq(self.front.s, self.z + self.a * self.th)
        yield Eq(self.rear.s, self.z - self.b * self.th)
        yield Eq(der(self.z), self.vz)
        yield Eq(der(self.th), self.w)
        yield Eq(self.m * der(self.vz), self.front.f + self.rear.f - self.m * self.g)
        yield Eq(self.J * der(self.w), self.a * self.front.f - self.b * self.rear.f)


class HalfCar(Component):
    """A beam on two springs and table dampers, wheels and tyres."""

    gap: Structural[bool] = Structural(bool, default=False)

    def build(self) -> None:
        kind = translational.ElastoGap if self.gap else translational.SpringDamper
        self.road, self.body = translational.Fixed(), Beam(z=0.634, th=-0.0133)
        self.wheel = [translational.Mass(m=WHEEL, s=s) for s in (0.2817, 0.2850)]
        self.weight = [translational.ConstantForce(f_constant=-WHEEL * GRAVITY) for _ in range(2)]
        self.spring = [translational.Spring(c=SPRING, s_rel0=FREE) for _ in range(2)]
        self.damper = [TableDamper() for _ in range(2)]
        self.tyre = [kind(c=TYRE, d=300.0, s_rel0=RADIUS) for _ in range(2)]

    def equations(self) -> Iterator[Statement]:
        for i, end in enumerate((self.body.front, self.body.rear)):
            strut = self.spring[i], self.damper[i]
            lower = [part.flange_a for part in strut]
            yield connect(self.road.flange, self.tyre[i].flange_a)
            yield connect(self.tyre[i].flange_b, self.wheel[i].flange_a, *lower, self.weight[i].flange)
            yield connect(end, *(part.flange_b for part in strut))


def rest() -> dict[str, float]:
    """Positions at which springs and tyres carry what lies above them; the lever rule shares the weight of the body."""
    loads = [SPRUNG * GRAVITY * arm / (FRONT + REAR) for arm in (REAR, FRONT)]
    wheels = [RADIUS - (load + WHEEL * GRAVITY) / TYRE for load in loads]
    front, rear = (s + FREE - load / SPRING for s, load in zip(wheels, loads, strict=True))
    heave, pitch = (REAR * front + FRONT * rear) / (FRONT + REAR), (front - rear) / (FRONT + REAR)
    return {"body.z": heave, "body.th": pitch, "wheel[0].s": wheels[0], "wheel[1].s": wheels[1]}


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
@pytest.mark.parametrize("gap", [False, True])
def test_half_car_stays_where_it_rests(gap: bool, method: str) -> None:
    result = simulate(HalfCar(gap=gap), 10.0, initial="steady state", method=method)
    for path, value in rest().items():
        assert result[path].at(0.0) == pytest.approx(value, rel=1e-12)
        assert result[path].ptp() < 1e-12
    assert [event.kind for event in result.events] == ["start"]


class Airborne(HalfCar):
    """The search for a state of rest begins with wheels above the road, where nothing carries the car."""

    def build(self) -> None:
        super().build()
        self.body, self.wheel = Beam(z=1.5), [translational.Mass(m=WHEEL, s=1.0) for _ in range(2)]


def test_steady_state_is_found_beyond_a_gap() -> None:
    result = simulate(Airborne(gap=True), 1.0, initial="steady state")
    for path, value in rest().items():
        assert result[path].at(0.0) == pytest.approx(value, rel=1e-12)
        assert result[path].ptp() < 1e-12


@pytest.mark.parametrize("gap", [False, True])
def test_half_car_comes_to_rest_and_nothing_happens_from_then_on(gap: bool) -> None:
    """Body and wheels lose all above rounding within 40 time constants of the body, which is damped with 3.2 kN.s/m or more."""
    result = simulate(HalfCar(gap=gap), 30.0)
    for path, value in rest().items():
        assert result[path].final == pytest.approx(value, rel=1e-12)
    slowest = 2.0 * SPRUNG / (2.0 * 3200.0)
    assert 3 <= len(result.events) <= 20
    assert result.events[-1].t < 40.0 * slowest
    assert all("v_rel" in event.triggers[0] for event in result.events[1:])


C, MASS, DOWN, UP, START = 100.0, 2.0, 3.0, 5.0, 1.0


class Pair(Component):
    """Two equal masses that fly along while they swing against each other."""

    at: Structural[float] = Structural(float, default=0.0)
    v: Structural[float] = Structural(float, default=0.0)

    def build(self) -> None:
        self.a = translational.Mass(m=MASS, s=self.at, v=self.v)
        self.b = translational.Mass(m=MASS, s=self.at + 1.0 + START, v=self.v)
        self.spring = translational.Spring(c=C, s_rel0=1.0)
        self.damper = TableDamper(speeds=(-100.0, 0.0, 100.0), forces=(-100.0 * DOWN, 0.0, 100.0 * UP))

    def equations(self) -> Iterator[Statement]:
        yield connect(self.a.flange_b, self.spring.flange_a, self.damper.flange_a)
        yield connect(self.spring.flange_b, self.damper.flange_b, self.b.flange_a)


def swings(count: int) -> tuple[np.ndarray, np.ndarray]:
    """Times of the turning points and the stretches there.

    From one to the next ``m x'' / 2 + d x' + c x = 0`` with one of the dampers, beginning at rest: half a period of a linear
    oscillation, ``pi / w``, over which it loses ``exp(-d / m * pi / w)`` with ``w^2 = 2 c / m - (d / m)^2``.
    """
    times, sizes = [0.0], [START]
    for n in range(count):
        rate = (DOWN, UP)[n % 2] / MASS
        half = pi / sqrt(2.0 * C / MASS - rate**2)
        times.append(times[-1] + half)
        sizes.append(sizes[-1] * exp(-rate * half))
    return np.array(times[1:]), np.array(sizes[1:])


@pytest.mark.parametrize(
    ("at", "v", "smallest", "alone"),
    [(0.0, 0.0, 1e-13, 1e-10), (0.65, 0.0, 1e-13, 1e-10), (1000.0, 0.3, 1e-9, 1e-8)],
)
def test_every_turning_point_above_rounding_is_found(
    at: float, v: float, smallest: float, alone: float
) -> None:
    """A time is as exact as rounding of the positions lets it be; nothing else happens before the noise of a sign is near."""
    result = simulate(Pair(at=at, v=v), 60.0)
    times, sizes = swings(100)
    times, sizes = times[sizes > smallest], sizes[sizes > smallest]
    events = np.array([event.t for event in result.events[1:]])
    count = int((sizes > alone).sum())
    found = events[np.argmin(np.abs(events[:, None] - times), axis=0)]
    assert np.array_equal(found[:count], events[:count])
    rounding = 2.0**-52 * (1.0 + at + 60.0 * v)
    assert np.all(np.abs(found - times) < 1e-14 * times + 10.0 * rounding / sizes)


@pytest.mark.parametrize("at", [0.0, 0.65])
def test_no_turning_point_is_found_below_rounding(at: float) -> None:
    """From 1e-18 of the first stretch on. Nothing but the rounding of swings at the times of events drives the common motion."""
    result = simulate(Pair(at=at), 60.0)
    times, sizes = swings(200)
    assert result.events[-1].t < times[np.argmax(sizes < 1e-18)] < 40.0
    assert result["a.v"].final == pytest.approx(0.0, abs=1e-15)


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_turning_points_of_integrated_swings_are_found_to_the_tolerance(method: str) -> None:
    """Steps are as exact as the guard needs, whatever the swings were before: only rounding, some 1e-14 m, ends the events.

    The last instant decides anew, by rounding, in which of the two pieces that meet at rest the run ends.
    """
    result = simulate(Pair(at=0.65), 60.0, method=method, rtol=1e-9)
    times, sizes = swings(100)
    count = int((sizes > 1e-11).sum())
    found = np.array([event.t for event in result.events[1 : count + 1]])
    defects = np.abs(found - times[:count]) * sizes[:count]
    assert np.all(defects < 1e-10)
    assert np.all(defects[sizes[:count] < 1e-8] < 1e-13)
    last = max(event.t for event in result.events if event.t < 60.0)
    assert last < times[np.argmax(sizes < 1e-14)]
