"""Bodies collide while they lie against places without mass: those follow, and hand on impulses only from body to body."""

from collections.abc import Callable
from math import acos, atan2, cos, exp, hypot, inf, log, pi, sin, sqrt
from typing import Any

import pytest

from acausal import Circuit, Result, simulate
from acausal.components.translational import ConstantForce, Damper, Fixed, HardStop, ImpactStop, Mass, Spring
from tests.systems.line_models import Point

pytestmark = pytest.mark.filterwarnings("ignore:given starts contradict")
METHODS = ["exact", "explicit", "implicit"]
Arc = tuple[float, float, float]
"""When the stop is hit, or never, and the position and speed then or at the end."""


class Line:
    """A mechanism on a line, perhaps seen from the other side or with its parts added and connected the other way round."""

    def __init__(self, side: int = 1, reverse: bool = False) -> None:
        self.side, self.reverse = side, reverse
        self._parts: list[tuple[str, Any, tuple[str, ...]]] = []

    def part(self, name: str, component: Any, *nodes: str) -> None:
        self._parts.append((name, component, nodes))

    def place(self, node: str, at: float) -> None:
        self.part(f"O{node}", Point(s=self.side * at), node)

    def mass(self, name: str, node: str, m: float, s: float, v: float = 0.0) -> None:
        self.part(name, Mass(m=m, s=self.side * s, v=self.side * v), node)

    def push(self, name: str, node: str, force: float) -> None:
        self.part(name, ConstantForce(f_constant=self.side * force), node)

    def contact(self, name: str, left: str, right: str, reach: float, e: float = 0.0) -> None:
        """The place on the right comes no further than ``reach`` behind the other."""
        nodes = (left, right)[:: self.side]
        self.part(name, ImpactStop(s_rel0=-reach, restitution=e), *nodes)

    def stop(self, node: str, at: float, e: float) -> None:
        ends = (-1e6, at) if self.side > 0 else (-at, 1e6)
        self.part("stop", HardStop(s_min=ends[0], s_max=ends[1], restitution=e), node)

    def circuit(self) -> Circuit:
        made, nodes = Circuit(), {"ground": []}
        for name, component, at in self._parts[:: -1 if self.reverse else 1]:
            part = made.add(name, component)
            ends = [part.flange] if hasattr(part, "flange") else [part.flange_a, part.flange_b]
            for node, end in zip(at, ends, strict=False):
                nodes.setdefault(node, []).append(end)
        nodes["ground"].append(made.add("ground", Fixed()).flange)
        for ends in nodes.values():
            if len(ends) > 1:
                made.connect(*ends[:: -1 if self.reverse else 1])
        return made


def swings(s: float, v: float, stop: float, eq: float, rate: float, span: float) -> Arc:
    """An arc of ``s'' = rate**2 (eq - s)`` up to the stop."""
    r, phase = hypot(s - eq, v / rate), atan2(-v / rate, s - eq)
    h = ((-acos((stop - eq) / r) - phase) % (2.0 * pi)) / rate if abs(stop - eq) <= r else inf
    if h <= span:
        return h, stop, -r * rate * sin(rate * h + phase)
    return inf, eq + r * cos(rate * span + phase), -r * rate * sin(rate * span + phase)


def drags(s: float, v: float, stop: float, end: float, rate: float, span: float) -> Arc:
    """An arc of ``v' = rate (end - v)`` with ``end > 0`` up to the stop."""

    def at(h: float) -> tuple[float, float]:
        return s + end * h + (v - end) * (1.0 - exp(-rate * h)) / rate, end + (v - end) * exp(-rate * h)

    # Beyond its turning point the motion is monotone.
    low = log((end - v) / end) / rate if v < 0.0 else 0.0
    if at(span)[0] < stop or low >= span:
        return (inf, *at(span))
    high = span
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if at(middle)[0] < stop else (low, middle)
    return high, stop, at(high)[1]


def bounces(
    arc: Callable[[float, float, float], Arc], s: float, v: float, m: float, e: float, t: float
) -> tuple[float, float, float]:
    """Position, speed and lost energy at the end of a motion of arcs, which rests at the stop once it is slow there."""
    lost = 0.0
    while True:
        h, s, v = arc(s, v, t)
        if h == inf:
            return s, v, lost
        lost, t, v = lost + 0.5 * m * v**2 * (1.0 - e**2), t - h, -e * v
        if abs(v) < 1e-9:
            return s, 0.0, lost


def agrees(result: Result, side: int, expected: tuple[float, float, float]) -> None:
    """All that is lost is lost at the stop."""
    s, v, lost = expected
    found = side * result["M1.s"].final, side * result["M1.v"].final
    assert found == pytest.approx((s, v), rel=1e-5, abs=1e-6 * abs(s))
    assert result.energy("stop") == pytest.approx(lost, rel=1e-5)
    assert result.audit().energy_lost == pytest.approx(lost, rel=1e-5)
    assert result.check().ok


def test_the_case_by_hand() -> None:
    """``s'' = 4 - s`` from rest reaches 2 with the energy 6; three quarters are lost there, and again of what is left."""
    result = simulate(pushed(), 3.0)
    assert [event.lost for event in result.events[1:]] == [
        {"stop.upper": pytest.approx(4.5, rel=1e-9)},
        {"stop.upper": pytest.approx(1.125, rel=1e-9)},
    ]
    assert result.energy("stop") == pytest.approx(5.625, rel=1e-9)
    assert result.energy("P1") == pytest.approx(0.0, abs=1e-12)
    assert (result["On1.s"] - result["M1.s"]).final == pytest.approx(1.0, rel=1e-12)


def pushed(
    e: float = 0.5,
    v: float = 0.0,
    s: float = 0.0,
    m: float = 1.0,
    held: Any = None,
    force: float = 5.0,
    weight: float = 0.0,
    at_contact: float = 0.0,
    side: int = 1,
    reverse: bool = False,
) -> Circuit:
    """A place on a spring or damper that a force pushes against a mass before a stop."""
    line = Line(side, reverse)
    line.place("n1", s + 1.0)
    line.push("B1", "n1", force)
    line.part("K1", Spring(c=1.0, s_rel0=0.0) if held is None else held, "ground", "n1")
    line.mass("M1", "n2", m, s, v)
    line.contact("P1", "n1", "n2", 1.0, at_contact)
    line.stop("n2", 2.0, e)
    if weight:
        line.push("B2", "n2", weight)
    return line.circuit()


@pytest.mark.sweep(every=18)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("at_contact", [0.0, 0.7])
@pytest.mark.parametrize("e", [0.0, 0.3, 0.5, 1.0])
@pytest.mark.parametrize("m", [1e-3, 1.0, 1e3])
def test_a_place_on_a_spring(
    m: float, e: float, at_contact: float, side: int, reverse: bool, method: str
) -> None:
    model = pushed(e, m=m, at_contact=at_contact, side=side, reverse=reverse)
    t_end = 3.0 * sqrt(m)
    expected = bounces(lambda s, v, h: swings(s, v, 2.0, 4.0, sqrt(1.0 / m), h), 0.0, 0.0, m, e, t_end)
    agrees(simulate(model, t_end, method=method), side, expected)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("c", [1e-6, 1e3, 1e9])
def test_springs_of_any_stiffness(c: float, side: int, method: str) -> None:
    model = pushed(m=c, held=Spring(c=c, s_rel0=0.0), force=5.0 * c, side=side)
    expected = bounces(lambda s, v, h: swings(s, v, 2.0, 4.0, 1.0, h), 0.0, 0.0, c, 0.5, 3.0)
    agrees(simulate(model, 3.0, method=method), side, expected)


@pytest.mark.sweep(every=24)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("e", [0.0, 0.5, 0.9])
@pytest.mark.parametrize("d", [0.5, 1.0, 4.0])
def test_a_place_on_a_damper(d: float, e: float, side: int, reverse: bool, method: str) -> None:
    """Against a spring it would give way by a leap, here at the speed that the mass then has."""
    model = pushed(e, held=Damper(d=d), side=side, reverse=reverse)
    expected = bounces(lambda s, v, h: drags(s, v, 2.0, 5.0 / d, d, h), 0.0, 0.0, 1.0, e, 4.0)
    agrees(simulate(model, 4.0, method=method), side, expected)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("weight", [-1.5, 9.81])
def test_with_a_weight(weight: float, method: str) -> None:
    model = pushed(weight=weight)
    expected = bounces(lambda s, v, h: swings(s, v, 2.0, 4.0 + weight, 1.0, h), 0.0, 0.0, 1.0, 0.5, 3.0)
    agrees(simulate(model, 3.0, method=method), 1, expected)


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("damped", [False, True])
def test_at_the_start_of_a_run(damped: bool, e: float, side: int, reverse: bool, method: str) -> None:
    model = pushed(e, 3.0, 2.0, held=Damper(d=1.0) if damped else None, side=side, reverse=reverse)

    def arc(s: float, v: float, h: float) -> Arc:
        return drags(s, v, 2.0, 5.0, 1.0, h) if damped else swings(s, v, 2.0, 4.0, 1.0, h)

    s, v, lost = bounces(arc, 2.0, -3.0 * e, 1.0, e, 1.0) if e else (2.0, 0.0, 0.0)
    result = simulate(model, 1.0, method=method)
    agrees(result, side, (s, v, lost + 4.5 * (1.0 - e**2)))
    assert side * result["M1.v"].at(0.0) == pytest.approx(-3.0 * e, abs=1e-12)


@pytest.mark.sweep(every=9)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("between", [False, True])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_places(e: float, between: bool, side: int, reverse: bool, method: str) -> None:
    """Both on one side of the mass, or on both of its sides."""
    line = Line(side, reverse)
    line.place("n1", 1.0)
    line.push("B1", "n1", 12.0)
    line.part("K1", Spring(c=1.0, s_rel0=0.0), "ground", "n1")
    line.mass("M1", "n2", 1.0, 0.0)
    line.contact("P1", "n1", "n2", 1.0)
    sign = -1.0 if between else 1.0
    line.place("n3", 0.5 * -sign)
    line.push("B3", "n3", 6.0 * sign)
    line.part("K3", Spring(c=0.25, s_rel0=0.0), "ground", "n3")
    line.contact("P3", *(("n2", "n3") if between else ("n3", "n2")), -0.5)
    line.stop("n2", 2.0, e)
    # Springs of 1 and 0.25 N/m with ends at s + 1 and s -+ 0.5.
    pull = 11.0 + sign * 6.0 + 0.25 * 0.5 * sign
    expected = bounces(lambda s, v, h: swings(s, v, 2.0, pull / 1.25, sqrt(1.25), h), 0.0, 0.0, 1.0, e, 2.5)
    agrees(simulate(line.circuit(), 2.5, method=method), side, expected)


def hit(m1: float, m2: float, e1: float, e2: float, side: int, reverse: bool) -> tuple[Circuit, float, float]:
    """A mass that swings with a place on a spring, hit by another beyond the place at 0.5 s; where, and its speed then."""
    rate = sqrt(1.0 / m1)
    x, v = sin(0.5 * rate) / rate, cos(0.5 * rate)
    line = Line(side, reverse)
    line.place("n1", 0.0)
    line.part("K1", Spring(c=1.0, s_rel0=0.0), "ground", "n1")
    line.mass("M1", "n2", m1, -1.0, 1.0)
    line.mass("M2", "n3", m2, x + 2.0 + 0.5 * 3.0, -3.0)
    line.contact("P1", "n2", "n1", -1.0, e1)
    line.contact("P2", "n1", "n3", -2.0, e2)
    return line.circuit(), x, v


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize(
    ("e1", "e2"), [(0.5, 0.5), (1.0, 1.0), (0.0, 0.5), (0.5, 0.0), (0.0, 0.0), (0.25, 0.75)]
)
@pytest.mark.parametrize(("m1", "m2"), [(1.0, 1.0), (1.0, 3.0), (3.0, 1e-3), (1.0, 1e3)])
def test_a_place_between_bodies_that_collide(
    m1: float, m2: float, e1: float, e2: float, side: int, reverse: bool, method: str
) -> None:
    """They collide as if it were not there, with the restitution of the contact that springs back more."""
    model, x, v = hit(m1, m2, e1, e2, side, reverse)
    e = max(e1, e2)
    common = (m1 * v - 3.0 * m2) / (m1 + m2)
    after = common - e * m2 / (m1 + m2) * (v + 3.0), common + e * m1 / (m1 + m2) * (v + 3.0)
    lost = 0.5 * m1 * m2 / (m1 + m2) * (v + 3.0) ** 2 * (1.0 - e**2)
    # Energies are compared with what the bodies have.
    size = 0.5 * m1 + 4.5 * m2
    result = simulate(model, 0.5 + 1e-3, method=method)
    if e > 0.0:
        final = side * result["M1.v"].final, side * result["M2.v"].final
        rate = sqrt(1.0 / m1)
        pulled = after[0] * cos(1e-3 * rate) - x * rate * sin(1e-3 * rate)
        assert final == pytest.approx((pulled, after[1]), rel=1e-5)
    assert result.audit().energy_lost == pytest.approx(lost, rel=1e-5, abs=1e-6 * size)
    parts = [result.energy(name) for name in ("P1", "P2")]
    assert min(parts) >= -1e-9 * size
    assert sum(parts) == pytest.approx(lost, rel=1e-5, abs=1e-6 * size)
    assert result.check().ok


@pytest.mark.sweep(every=9)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_a_place_at_the_stop(e: float, side: int, reverse: bool, method: str) -> None:
    """It lies before the mass, and the stop meets it; the mass takes it along and back."""
    line = Line(side, reverse)
    line.place("n1", 0.0)
    line.part("K1", Spring(c=1.0, s_rel0=0.0), "ground", "n1")
    line.mass("M1", "n2", 1.0, 0.0, 2.0)
    line.contact("P1", "n2", "n1", 0.0)
    line.stop("n1", 1.0, e)
    result = simulate(line.circuit(), 1.5, method=method)
    s, v, lost = bounces(lambda s, v, h: swings(s, v, 1.0, 0.0, 1.0, h), 0.0, 2.0, 1.0, e, pi / 6.0 + 1e-9)
    assert lost == pytest.approx(1.5 * (1.0 - e**2), rel=1e-9)
    # At rest at the stop the spring pushes it back; behind its centre it stays there.
    turn = 1.5 - pi / 6.0
    amplitude, phase = hypot(1.0, e * sqrt(3.0)), atan2(e * sqrt(3.0), 1.0)
    through = pi / 2.0 - phase
    free = turn > through
    v = -amplitude if free else -amplitude * sin(turn + phase)
    s = -amplitude * (turn - through) if free else amplitude * cos(turn + phase)
    assert (side * result["M1.s"].final, side * result["M1.v"].final) == pytest.approx(
        (s, v), rel=1e-5, abs=1e-6
    )
    assert result.audit().energy_lost == pytest.approx(lost, rel=1e-5, abs=1e-6)
    assert result.check().ok


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("side", [1, -1])
@pytest.mark.parametrize("e", [0.5, 1.0])
def test_bodies_that_meet_at_a_place_at_once(e: float, side: int, reverse: bool, method: str) -> None:
    line = Line(side, reverse)
    line.place("n1", 0.0)
    line.part("K1", Spring(c=1.0, s_rel0=0.0), "ground", "n1")
    line.mass("M1", "n2", 1.0, -2.0, 1.0)
    line.mass("M2", "n3", 1.0, 2.0, -1.0)
    line.contact("P1", "n2", "n1", 0.0, e)
    line.contact("P2", "n1", "n3", 0.0, e)
    result = simulate(line.circuit(), 3.0, method=method)
    assert side * result["M1.s"].final == pytest.approx(-e, rel=1e-6)
    assert side * result["M2.s"].final == pytest.approx(e, rel=1e-6)
    assert [result.energy(n) for n in ("P1", "P2")] == pytest.approx([0.5 * (1.0 - e**2)] * 2, abs=1e-7)
    assert result.check().ok


def jumps(result: Result) -> list[dict[str, tuple[float, float]]]:
    """Speeds of masses before and after each event in which any jumps."""
    each = [{n: (a, b) for n, a, b in event.jumps if n.endswith(".v")} for event in result.events]
    return [found for found in each if found]


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("damped", [False, True])
def test_a_mass_at_a_place_is_hit(damped: bool, reverse: bool, method: str) -> None:
    """Equal masses change their speeds, and the place takes no part."""
    line = Line(1, reverse)
    line.place("n1", 0.0)
    line.part("K1", Damper(d=1.0) if damped else Spring(c=1.0, s_rel0=0.0), "ground", "n1")
    line.push("B1", "n1", 0.5)
    line.mass("M1", "n2", 1.0, 0.0)
    line.mass("M2", "n3", 1.0, 2.0, -1.0)
    line.contact("P1", "n1", "n2", 0.0, 1.0)
    line.contact("P2", "n2", "n3", 0.0, 1.0)
    result = simulate(line.circuit(), 2.2, method=method)
    (found,) = jumps(result)
    speed = found["M1.v"][0]
    assert speed > 0.1
    assert found["M1.v"][1] == pytest.approx(-1.0, rel=1e-6)
    assert found["M2.v"] == pytest.approx((-1.0, speed), rel=1e-6)
    assert result.audit().energy_lost == pytest.approx(0.0, abs=1e-9)
    assert result.check().ok


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("e", [0.5, 1.0])
@pytest.mark.parametrize("damped", [False, True])
def test_a_place_held_by_another_mass(damped: bool, e: float, reverse: bool, method: str) -> None:
    """No impulse passes through a spring or damper."""
    line = Line(1, reverse)
    line.place("n1", 0.0)
    line.push("B1", "n1", 5.0)
    line.part("K1", Damper(d=2.0) if damped else Spring(c=1.0, s_rel0=0.0), "n3", "n1")
    line.mass("M1", "n2", 1.0, 0.0)
    line.mass("M2", "n3", 3.0, 0.0)
    line.contact("P1", "n1", "n2", 0.0, 0.5)
    line.stop("n2", 1.0, e)
    result = simulate(line.circuit(), 1.0, method=method)
    found = jumps(result)
    assert found
    assert all(set(jump) == {"M1.v"} for jump in found)
    for before, after in (jump["M1.v"] for jump in found):
        assert after == pytest.approx(-e * before, rel=1e-9)
    lost = sum(0.5 * before**2 * (1.0 - e**2) for before, _ in (jump["M1.v"] for jump in found))
    assert result.energy("stop") == pytest.approx(lost, rel=1e-6, abs=1e-9)
    assert result.check().ok


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("e", [0.0, 0.5, 1.0])
def test_two_places_between_bodies(e: float, reverse: bool, method: str) -> None:
    """The impulse passes through both of them, and what is lost is lost where something springs back."""
    line = Line(1, reverse)
    line.place("n1", 0.0)
    line.place("n2", 1.0)
    line.part("K1", Spring(c=1.0, s_rel0=0.0), "ground", "n1")
    line.part("K2", Spring(c=2.0, s_rel0=1.0), "ground", "n2")
    line.mass("M1", "n0", 1.0, -1.0, 2.0)
    line.mass("M2", "n3", 3.0, 2.0, -1.0)
    line.contact("P1", "n0", "n1", 0.0)
    line.contact("P2", "n1", "n2", 1.0, e)
    line.contact("P3", "n2", "n3", 0.0)
    result = simulate(line.circuit(), 1.5, method=method)
    if e:
        found = [jump for jump in jumps(result) if len(jump) == 2]
        (a, b), (c, d) = found[0]["M1.v"], found[0]["M2.v"]
        assert a + 3.0 * c == pytest.approx(b + 3.0 * d, abs=1e-9)
        assert d - b == pytest.approx(e * (a - c), rel=1e-9)
    assert min(result.energy(f"P{k}") for k in (1, 2, 3)) >= -1e-9
    assert result.check().ok
