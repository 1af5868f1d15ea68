"""Mechanisms that are held once more than needed: their motion is determined, and how parts share forces is chosen.

The motion is compared with that of one minimal coordinate.
"""

import io
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from acausal import Component, Eq, Result, SingularModelError, Statement, Variable, connect, der, simulate
from acausal.components.planar import Body, Fixed, FixedTranslation, Revolute, Rod, World
from acausal.components.rotational import Inertia

G, ARM = 9.80665, 0.3
IN_LINE = ((0.0, 0.0), (0.4, 0.0), (0.9, 0.0))
OFFSET = ((0.0, 0.0), (0.4, 0.0), (0.2, 0.3))


class Cranks(Component):
    """Equal parallel cranks that carry one coupler."""

    pivots = IN_LINE

    def build(self) -> None:
        self.world, self.body = World(), Body(m=2.0, I=0.1)
        for k, (x, y) in enumerate(self.pivots):
            self.set(
                k, ground=FixedTranslation(r=(x, y)), crank=Revolute(phi=0.7, w=2.0) if not k else Revolute()
            )
            self.set(
                k, arm=FixedTranslation(r=(ARM, 0.0)), pin=Revolute(), bar=FixedTranslation(r=(x - 0.4, y))
            )

    def set(self, k: int, **parts: Component) -> None:
        for name, part in parts.items():
            setattr(self, f"{name}{k}", part)

    def equations(self) -> Iterator[Statement]:
        for k in range(len(self.pivots)):
            ground, crank, arm, pin, bar = (
                getattr(self, f"{name}{k}") for name in ("ground", "crank", "arm", "pin", "bar")
            )
            yield connect(self.world.frame_b, ground.frame_a)
            yield connect(ground.frame_b, crank.frame_a)
            yield connect(crank.frame_b, arm.frame_a)
            yield connect(arm.frame_b, pin.frame_a)
            yield connect(pin.frame_b, bar.frame_b)
            yield connect(bar.frame_a, self.body.frame_a)


class OffsetCranks(Cranks):
    pivots = OFFSET


def swinging(w0: float, t: np.ndarray) -> np.ndarray:
    """Angle and speed of a point mass on the arm."""
    moved = solve_ivp(
        lambda _, y: [y[1], -G / ARM * np.cos(y[0])],
        (0.0, t[-1]),
        [0.7, w0],
        "DOP853",
        t,
        rtol=1e-12,
        atol=1e-12,
    )
    return moved.y


def told(model: Component, t_end: float, **options: object) -> Result:
    with pytest.warns(UserWarning, match="redundant: .* follows? from the other constraints"):
        return simulate(model, t_end, **options)  # type: ignore[arg-type]


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
@pytest.mark.parametrize("kind", [Cranks, OffsetCranks])
def test_three_parallel_cranks_move_as_one(kind: type[Cranks], rtol: float) -> None:
    result = told(kind(), 0.2, rtol=rtol)
    t = np.linspace(0.0, 0.2, 41)
    phi, w = swinging(2.0, t)
    for k in range(3):
        np.testing.assert_allclose(result[f"crank{k}.phi"].at(t), phi, atol=100.0 * rtol)
    np.testing.assert_allclose(result["body.frame_a.phi"].at(t), 0.0, atol=1e-9)
    bend = -G / ARM * np.cos(phi)
    held = 2.0 * np.array(
        [
            -ARM * (np.cos(phi) * w**2 + np.sin(phi) * bend),
            ARM * (np.cos(phi) * bend - np.sin(phi) * w**2) + G,
        ]
    )
    for name, wanted in zip(("fx", "fy"), held, strict=True):
        shown = sum(result[f"bar{k}.frame_a.{name}"].at(t) for k in range(3))
        np.testing.assert_allclose(shown, -wanted, atol=2e3 * rtol)


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("rtol", [1e-4, 1e-8])
@pytest.mark.parametrize("cranks", [Cranks, OffsetCranks])
def test_cranks_in_line_do_not_change_into_crossed_ones(cranks: type[Component], rtol: float) -> None:
    """All bars of `Cranks` lie in one line at an angle of zero; the pivots of the others form a triangle."""
    t = np.linspace(0.0, 0.4, 401)
    with pytest.warns(UserWarning) as told:
        result = simulate(cranks(), 0.4, rtol=rtol)
    assert ["redundant" in str(told[0].message), len(told)] == [True, 2 if cranks is Cranks else 1]
    assert all("passes a change point" in str(w.message) for w in told[1:])
    for k in range(3):
        np.testing.assert_allclose(result[f"crank{k}.phi"].at(t), swinging(2.0, t)[0], atol=100.0 * rtol)


def test_the_warning_names_what_is_redundant_and_what_is_open() -> None:
    with pytest.warns(UserWarning) as all_told:
        simulate(Cranks(), 0.01)
    assert len(all_told) == 1
    text = str(all_told[0].message)
    assert "`Eq(dx, cos(frame_a.phi)*r[0] - sin(frame_a.phi)*r[1])` of `" in text
    assert "nothing determines" in text and "have the smallest sum" in text
    for part in ("arm", "bar", "ground"):
        assert f"`{part}" in text


def test_a_run_goes_on_from_another() -> None:
    model = OffsetCranks()
    result = simulate(model, 0.2, rtol=1e-8, start=told(model, 0.1, rtol=1e-8))
    assert result["crank2.phi"].final == pytest.approx(swinging(2.0, np.array([0.0, 0.2]))[0][-1], abs=1e-6)


def test_a_saved_result_holds_no_rounding() -> None:
    """The coupler does not turn: its angle, and what turns it, are what cancels in the equations for them."""
    result = told(OffsetCranks(), 0.1, rtol=1e-8)
    file = io.BytesIO()
    result.save(file)
    assert len(file.getvalue()) < 100_000
    file.seek(0)
    loaded = Result.load(file)
    np.testing.assert_array_equal(loaded.t, result.t)
    t = np.linspace(0.0, 0.1, 77)
    for name, size in (
        ("crank1.phi", 1.0),
        ("crank2.w", 1.0),
        ("body.frame_a.phi", 1.0),
        ("bar2.frame_a.fy", G),
    ):
        np.testing.assert_allclose(loaded[name].at(t), result[name].at(t), atol=1e-10 * size)


class TwoCranks(Component):
    """A parallelogram with a third, equal crank, which a flywheel drives."""

    def build(self) -> None:
        self.world, self.flywheel = World(), Inertia(J=0.1)
        self.pivot, self.middle = Fixed(r=(1.0, 0.0)), Fixed(r=(0.5, 0.0))
        self.crank, self.arm = Revolute(useAxisFlange=True, phi=0.7, w=1.0), FixedTranslation(r=(0.2, 0.0))
        self.near, self.far = Revolute(phi=-0.7), FixedTranslation(r=(0.5, 0.0))
        self.beam, self.body = FixedTranslation(r=(0.5, 0.0)), Body(m=1.0, I=0.1, g=0.0)
        self.link, self.spare = Rod(L=0.2, phi=0.7), Rod(L=0.2, phi=0.7)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.crank.frame_a)
        yield connect(self.crank.axis, self.flywheel.flange_a)
        yield connect(self.crank.frame_b, self.arm.frame_a)
        yield connect(self.arm.frame_b, self.near.frame_a)
        yield connect(self.near.frame_b, self.far.frame_a)
        yield connect(self.far.frame_b, self.beam.frame_a, self.body.frame_a)
        yield connect(self.pivot.frame_b, self.link.frame_a)
        yield connect(self.beam.frame_b, self.link.frame_b)
        yield connect(self.middle.frame_b, self.spare.frame_a)
        yield connect(self.far.frame_b, self.spare.frame_b)


def test_parts_that_hold_a_third_crank_are_named() -> None:
    """Nothing brakes it: the body moves on the circle of the cranks, and the flywheel turns with them."""
    with pytest.warns(UserWarning, match="redundant: ") as all_told:
        result = simulate(TwoCranks(), 0.5, rtol=1e-8)
    text = str(all_told[0].message)
    assert "`link`" in text and "`spare`" in text and "flywheel" not in text
    t = np.linspace(0.0, 0.5, 51)
    np.testing.assert_allclose(result["crank.phi"].at(t), 0.7 + t, atol=1e-7)
    np.testing.assert_allclose(result["flywheel.w"].at(t), 1.0, atol=1e-7)


class Door(Component):
    """A body on two hinges in one place."""

    def build(self) -> None:
        self.world, self.upper, self.lower = World(), Revolute(phi=0.3, w=0.0), Revolute()
        self.first, self.second = FixedTranslation(r=(1.0, 0.0)), FixedTranslation(r=(self.width(), 0.0))
        self.body = Body(m=1.0, I=0.1)

    @staticmethod
    def width() -> float:
        return 1.0

    def equations(self) -> Iterator[Statement]:
        yield connect(self.world.frame_b, self.upper.frame_a, self.lower.frame_a)
        yield connect(self.upper.frame_b, self.first.frame_a)
        yield connect(self.lower.frame_b, self.second.frame_a)
        yield connect(self.first.frame_b, self.second.frame_b, self.body.frame_a)


class Warped(Door):
    @staticmethod
    def width() -> float:
        return 1.001


def test_hinges_share_the_weight_of_a_door() -> None:
    result = told(Door(), 1.0, rtol=1e-8)
    t = np.linspace(0.0, 1.0, 101)
    moved = solve_ivp(
        lambda _, y: [y[1], -G / 1.1 * np.cos(y[0])],
        (0.0, 1.0),
        [0.3, 0.0],
        "DOP853",
        t,
        rtol=1e-12,
        atol=1e-12,
    )
    np.testing.assert_allclose(result["upper.phi"].at(t), moved.y[0], atol=1e-6)
    for name in ("fx", "fy"):
        np.testing.assert_allclose(
            result[f"upper.frame_b.{name}"].at(t), result[f"lower.frame_b.{name}"].at(t), atol=1e-9
        )
    assert result.check().ok


def test_hinges_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SingularModelError, match="hold each other more often than needed"):
        simulate(Warped(), 1.0)


class Rods(Component):
    """A point mass on two rods; ``second`` is the square of the length of one."""

    second = 1.0
    x: Variable = Variable(start=0.6)
    y: Variable = Variable(start=-0.8)
    vx: Variable = Variable()
    vy: Variable = Variable()
    a: Variable = Variable()
    b: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), self.vx)
        yield Eq(der(self.y), self.vy)
        yield Eq(der(self.vx), -(self.a + self.b) * self.x)
        yield Eq(der(self.vy), -(self.a + self.b) * self.y - G)
        yield Eq(self.x**2 + self.y**2, 1)
        yield Eq(2 * self.x**2 + 2 * self.y**2, 2 * self.second)


class Unequal(Rods):
    second = 1.001


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_two_rods_share_what_one_would_hold(method: str) -> None:
    result = told(Rods(), 1.0, rtol=1e-8, method=method)
    t = np.linspace(0.0, 1.0, 101)
    begin = [np.arctan2(-0.8, 0.6), 0.0]
    moved = solve_ivp(
        lambda _, y: [y[1], -G * np.cos(y[0])], (0.0, 1.0), begin, "DOP853", t, rtol=1e-12, atol=1e-12
    )
    phi, w = moved.y
    np.testing.assert_allclose(result["x"].at(t), np.cos(phi), atol=1e-6)
    for name in ("a", "b"):
        np.testing.assert_allclose(result[name].at(t), (w**2 - G * np.sin(phi)) / 2.0, atol=1e-5)


def test_rods_of_other_lengths_contradict_each_other() -> None:
    with pytest.raises(SingularModelError, match="contradict each other"):
        simulate(Unequal(), 1.0)
