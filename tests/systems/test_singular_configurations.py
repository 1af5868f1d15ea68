"""Where constraints depend on each other: in a point that a motion reaches, or everywhere."""

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import solve_ivp
from scipy.optimize import brentq

from acausal import (
    Component,
    Discrete,
    Eq,
    Parameter,
    Result,
    SingularModelError,
    Statement,
    Variable,
    assign,
    cos,
    der,
    pre,
    simulate,
    sin,
    time,
    when,
)
from tests.systems.mechanism_models import Bob, Linkage

PASSES = "the motion passes a change point, where the constraints .* depend on each other"


def parallelogram(phi: float, w: float = 10.0) -> Linkage:
    c, s = 0.1 * np.cos(phi), 0.1 * np.sin(phi)
    return Linkage(b=0.4, c=0.1, x=c, y=s, u=0.4 + c, v=s, dx=-w * s, dy=w * c, du=-w * s, dv=w * c)


@pytest.mark.sweep(every=30)
@pytest.mark.sweep(every=4)
@pytest.mark.parametrize(
    ("phi", "w", "rtol"),
    [
        *((0.3, 10.0, rtol) for rtol in (1e-3, 1e-6, 1e-9)),
        (2.0, -1e-4, 1e-6),
        *(pytest.param(2.0, -1e-4, rtol, marks=pytest.mark.sweep) for rtol in (1e-3, 1e-9)),
    ],
)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_a_parallelogram_stays_one_where_it_may_change_into_an_antiparallelogram(
    phi: float, w: float, method: str, rtol: float
) -> None:
    """All four bars lie in one line twice a turn; each joint goes on in its circle, and nothing pulls at the coupler."""
    with pytest.warns(UserWarning, match=PASSES):
        result = simulate(parallelogram(phi, w), 13.0 / abs(w), rtol=rtol, method=method)
    t = np.linspace(0.0, 13.0 / abs(w), 2001)
    angle = phi + w * t
    for name, wanted in (("x", np.cos(angle)), ("u", 4.0 + np.cos(angle)), ("v", np.sin(angle))):
        np.testing.assert_allclose(result[name].at(t), 0.1 * wanted, atol=60.0 * rtol)
    np.testing.assert_allclose(result["dv"].at(t) / w, 0.1 * np.cos(angle), atol=60.0 * rtol)
    # Next to the line rounding blows forces up, by one over the distance: at tight tolerances steps are not long enough to
    # leave that behind.
    distance = np.abs(np.sin(angle))
    clear = distance > 0.1
    for name, wanted in (("A", 1.0), ("B", 0.0), ("C", 1.0)):
        force = result[name].at(t) / w**2
        np.testing.assert_allclose(force[clear], wanted, atol=300.0 * rtol)
        assert (np.abs(force - wanted) <= 300.0 * rtol + 1e-6 / distance).all()
    assert result.check().ok


def test_a_file_holds_a_motion_past_change_points(tmp_path: Path) -> None:
    """Rounding blows forces up next to them: what halving a panel does not resolve there is no motion."""
    with pytest.warns(UserWarning, match=PASSES):
        result = simulate(parallelogram(0.3), 1.3, rtol=1e-6)
    result.save(tmp_path / "parallelogram")
    loaded, t = Result.load(tmp_path / "parallelogram"), np.linspace(0.0, 1.3, 1001)
    for name in ("x", "u", "v", "dv"):
        np.testing.assert_allclose(loaded[name].at(t), result[name].at(t), atol=1e-11)
    for name in ("A", "B", "C"):
        np.testing.assert_allclose(loaded[name].at(t), result[name].at(t), atol=1e-4)


def test_a_parallelogram_that_comes_into_line_tells_once_where_and_which_motions_cross() -> None:
    with pytest.warns(UserWarning) as told:
        simulate(parallelogram(1.0), 1.0, rtol=1e-6)
    assert len(told) == 1
    text = str(told[0].message)
    assert text.startswith(f"integration at t = {(np.pi - 1.0) / 10:.6f}")
    begin, end = map(float, re.search(r" is interpolated from t = (\S+) to (\S+);", text).groups())  # type: ignore[union-attr]
    assert 0.2 < begin < (np.pi - 1.0) / 10 < end < 0.22
    for equation in ("Eq((u - x)**2 + (v - y)**2, b**2)", "Eq((u - d)**2 + v**2, c**2)"):
        assert equation in text
    assert "`x` = -0.1" in text and "`u` = 0.3" in text
    assert "; two motions cross there, on which `y`, `v` change as 1 : -0.6 and as 1 : 1; it goes on" in text


class Loaded(Linkage):
    """The second crank is driven where it has no lever: the force of the coupler has no bound in line."""

    def equations(self) -> Iterator[Statement]:
        rows = list(super().equations())
        rows[7] = Eq(der(self.dv), -self.C * self.v - self.B * (self.v - self.y) - 50.0)
        yield from rows


def test_a_force_without_bound_ends_the_motion_with_both_branches_named() -> None:
    c, s = 0.1 * np.cos(1.0), 0.1 * np.sin(1.0)
    driven = Loaded(b=0.4, c=0.1, x=c, y=s, u=0.4 + c, v=s, dx=-10 * s, dy=10 * c, du=-10 * s, dv=10 * c)
    with pytest.raises(SingularModelError, match="depend on each other at this point") as caught:
        simulate(driven, 1.0, rtol=1e-6)
    assert "two motions cross there, on which `y`, `v` change as 1 : -0.6 and as 1 : 1" in caught.value.what
    result = caught.value.result
    assert result is not None
    assert result["y"].final == pytest.approx(0.0, abs=2e-3)
    t = np.linspace(0.0, result.t_end, 101)
    np.testing.assert_allclose(result["y"].at(t), result["v"].at(t), atol=1e-7)


def test_a_parallelogram_at_rest_in_one_line_names_both_of_its_motions() -> None:
    """To second order in the heights ``y`` and ``v`` the bars ask for ``(y - v) (4 (y + v) + (y - v)) = 0``."""
    with pytest.raises(
        SingularModelError, match="start at t = 0: .* depend on each other at this point"
    ) as caught:
        simulate(Linkage(b=0.4, c=0.1, x=0.1, y=0.0, u=0.5, v=0.0, dx=0.0, dy=0.0, du=0.0, dv=0.0), 1.0)
    assert caught.value.what.endswith(
        "; two motions cross there, on which `y`, `v` change as -0.6 : 1 and as 1 : 1"
    )


class TwoRods(Bob):
    """A second rod beside the first one."""

    second: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield from self.newton()
        yield Eq(self.push, -self.second * self.x)
        yield Eq(self.x**2 + self.y**2, 1)
        yield Eq(2 * self.x**2 + 2 * self.y**2, 2)


def test_a_redundant_rod_is_named() -> None:
    with pytest.raises(SingularModelError) as caught:
        simulate(TwoRods(x=0.6, y=-0.8), 1.0)
    assert "`Eq(x**2 + y**2, 1)` of `TwoRods`" in caught.value.what
    assert "`Eq(2*x**2 + 2*y**2, 2)` of `TwoRods`" in caught.value.what


class Symmetric(Component):
    """Slider-crank whose rod is as long as its crank: at ``phi = pi/2`` the slide may rest while the crank turns on."""

    phi: Variable = Variable(start=0.5)
    w: Variable = Variable(start=1.0)
    s: Variable = Variable(start=2.0)
    v: Variable = Variable()
    f: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.phi), self.w)
        yield Eq(der(self.s), self.v)
        yield Eq((self.s - cos(self.phi)) ** 2 + sin(self.phi) ** 2, 1)
        yield Eq(der(self.v), 2 * self.f * (self.s - cos(self.phi)))
        yield Eq(der(self.w), 2 * self.f * self.s * sin(self.phi))


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_a_slide_goes_on_with_its_crank_through_the_axis(method: str, rtol: float) -> None:
    """``s = 2 cos(phi)``, and the energy ``w**2 (1 + 4 sin(phi)**2) / 2`` is kept: time by quadrature."""
    with pytest.warns(UserWarning, match=PASSES):
        result = simulate(Symmetric(), 20.0, rtol=rtol, method=method, initial={"phi": 0.5, "w": 1.0})
    t = np.linspace(0.0, 20.0, 4001)
    phi, w = result["phi"].at(t), result["w"].at(t)
    assert phi[-1] > 4.0 * np.pi
    np.testing.assert_allclose(result["s"].at(t), 2.0 * np.cos(phi), atol=rtol)
    np.testing.assert_allclose(result["v"].at(t), -2.0 * np.sin(phi) * w, atol=rtol)
    angle = np.linspace(0.5, phi[-1], 200_001)
    slowness = np.sqrt((1.0 + 4.0 * np.sin(angle) ** 2) / (1.0 + 4.0 * np.sin(0.5) ** 2))
    assert np.trapezoid(slowness, angle) == pytest.approx(20.0, rel=10.0 * rtol)
    force = -(w**2) / (1.0 + 4.0 * np.sin(phi) ** 2)
    np.testing.assert_allclose(result["f"].at(t), force, atol=rtol + 1e-5)
    assert result.check().ok


class Given(Component):
    """The same slide with a crank that turns at a given speed, and no state of its own."""

    w: Parameter = Parameter(default=1.0)
    s: Variable = Variable(start=2.0)
    v: Variable = Variable()
    f: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        phi = self.w * time + 0.3
        yield Eq(der(self.s), self.v)
        yield Eq((self.s - cos(phi)) ** 2 + sin(phi) ** 2, 1)
        yield Eq(der(self.v), 2 * self.f * (self.s - cos(phi)))


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("rtol", [1e-3, 1e-6, 1e-9])
def test_a_given_motion_leads_through_change_points(rtol: float) -> None:
    with pytest.warns(UserWarning, match=PASSES):
        result = simulate(Given(), 20.0, rtol=rtol)
    t = np.linspace(0.0, 20.0, 4001)
    np.testing.assert_allclose(result["s"].at(t), 2.0 * np.cos(t + 0.3), atol=rtol)
    np.testing.assert_allclose(result["v"].at(t), -2.0 * np.sin(t + 0.3), atol=rtol)
    # A multiplier follows from second derivatives: its error is that of these.
    np.testing.assert_allclose(result["f"].at(t), -1.0, atol=2.0 * rtol + 1e-6)


class Cranks(Component):
    """Two equal cranks that carry equal loads, in their angles, with a rigid coupler; a torque at the first one."""

    g: Parameter = Parameter(default=1.0)
    drag: Parameter = Parameter(default=0.0)
    torque: Parameter = Parameter(default=0.0)
    length: Parameter = Parameter(default=2.0)
    a: Variable = Variable(start=0.5)
    b: Variable = Variable(start=0.5)
    wa: Variable = Variable(start=2.5)
    wb: Variable = Variable(start=2.5)
    f: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        x, y = 2.0 + cos(self.b) - cos(self.a), sin(self.b) - sin(self.a)
        yield Eq(der(self.a), self.wa)
        yield Eq(der(self.b), self.wb)
        yield Eq(x**2 + y**2, self.length**2)
        pull = self.torque - self.g * cos(self.a) - self.drag * self.wa
        yield Eq(der(self.wa), pull + self.f * (x * sin(self.a) - y * cos(self.a)))
        pull = -self.g * cos(self.b) - self.drag * self.wb
        yield Eq(der(self.wb), pull + self.f * (y * cos(self.b) - x * sin(self.b)))


@pytest.mark.sweep(every=5)
@pytest.mark.parametrize("rtol", [1e-3, pytest.param(1e-6, marks=pytest.mark.sweep), 1e-9])
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize("g", [0.0, 1.0])
def test_coupled_cranks_turn_as_one_pendulum_does(g: float, method: str, rtol: float) -> None:
    """Without weight they turn evenly, and one step leads past several change points."""
    with pytest.warns(UserWarning, match=PASSES):
        result = simulate(Cranks(g=g), 6.0, rtol=rtol, method=method)
    t = np.linspace(0.0, 6.0, 601)
    wanted = solve_ivp(
        lambda _, y: [y[1], -g * np.cos(y[0])], (0.0, 6.0), [0.5, 2.5], t_eval=t, rtol=1e-12, atol=1e-12
    ).y
    for name, row in (("a", 0), ("b", 0), ("wa", 1), ("wb", 1)):
        np.testing.assert_allclose(result[name].at(t), wanted[row], atol=100.0 * rtol)
    np.testing.assert_allclose(result["f"].at(t), 0.0, atol=100.0 * rtol)
    assert result.check().ok


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["explicit", "implicit"])
@pytest.mark.parametrize(
    ("torque", "rtol"), [(1.0, 1e-3), (1e-4, 1e-3), (1.0, 1e-6), (1e-6, 1e-6), (1e-8, 1e-9)]
)
def test_a_torque_that_only_the_coupler_hands_on_has_no_bound_in_line(
    torque: float, rtol: float, method: str
) -> None:
    """Both cranks share it: the force of the coupler is ``-torque / (4 sin(a))``, however small."""
    with pytest.raises(SingularModelError, match="depend on each other at this point") as caught:
        simulate(Cranks(g=0.0, torque=torque), 2.0, rtol=rtol, method=method)
    result = caught.value.result
    assert result is not None
    assert result["a"].final == pytest.approx(np.pi, abs=2e-3)
    t = np.linspace(0.0, 0.9, 91)
    wanted = -torque / (4.0 * np.sin(0.5 + 2.5 * t + 0.25 * torque * t**2))
    np.testing.assert_allclose(result["f"].at(t), wanted, atol=10.0 * rtol)


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_cranks_that_come_to_rest_in_line_name_both_motions(method: str, rtol: float) -> None:
    """``a = pi - (pi - 0.5) exp(-t)``: the force is lost in rounding before anything stands still."""
    speed = np.pi - 0.5
    with pytest.raises(
        SingularModelError, match="two motions cross there, on which `a`, `b` change"
    ) as caught:
        simulate(Cranks(g=0.0, drag=1.0, wa=speed, wb=speed), 40.0, rtol=rtol, method=method)
    result = caught.value.result
    assert result is not None
    t = np.linspace(0.0, result.t_end, 101)
    np.testing.assert_allclose(result["a"].at(t), np.pi - speed * np.exp(-t), atol=100.0 * rtol)
    np.testing.assert_allclose(result["f"].at(t), 0.0, atol=0.05)
    assert result.t_end > 12.0


def test_counting_turns_beside_the_line_does_not_stop_the_motion() -> None:
    """An event lies 1e-3 behind a change point; a resistor discharges a capacitor beside."""

    class Counted(Cranks):
        n: Discrete = Discrete(start=0.0)
        u: Variable = Variable(start=1.0)

        def equations(self) -> Iterator[Statement]:
            yield from super().equations()
            yield Eq(der(self.u), -3.0 * self.u)
            yield when(self.a > np.pi + 1e-3, assign(self.n, pre(self.n) + 1.0))

    with pytest.warns(UserWarning, match=PASSES):
        result = simulate(Counted(g=0.0), 5.0, rtol=1e-6)
    t = np.linspace(0.0, 5.0, 101)
    np.testing.assert_allclose(result["b"].at(t), 0.5 + 2.5 * t, atol=1e-5)
    np.testing.assert_allclose(result["u"].at(t), np.exp(-3.0 * t), atol=1e-5)
    assert result["n"].final == 1.0


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize("rtol", [1e-6, 1e-9])
@pytest.mark.parametrize("excess", [1e-2, 1e-5, 1e-8, -1e-3, -1e-7])
def test_what_is_nearly_a_parallelogram_turns_away_beside_the_line(excess: float, rtol: float) -> None:
    """Without weight the point ``(a, b)`` runs along its curve at an even speed: no change point lies on that."""

    def slopes(a: float, b: float) -> np.ndarray:
        x, y = 2.0 + np.cos(b) - np.cos(a), np.sin(b) - np.sin(a)
        return np.array([x * np.sin(b) - y * np.cos(b), x * np.sin(a) - y * np.cos(a)])

    length, t = 2.0 + excess, np.linspace(0.0, 3.0, 301)
    b = brentq(lambda b: np.hypot(2.0 + np.cos(b) - np.cos(0.5), np.sin(b) - np.sin(0.5)) - length, 0.2, 1.2)
    along = slopes(0.5, b)
    speed = 3.0 * along / np.linalg.norm(along)
    result = simulate(Cranks(g=0.0, length=length, a=0.5, b=b, wa=speed[0], wb=speed[1]), 3.0, rtol=rtol)
    wanted = solve_ivp(
        lambda _, y: 3.0 * (d := slopes(*y)) / np.linalg.norm(d),
        (0.0, 3.0),
        [0.5, b],
        "DOP853",
        t,
        rtol=1e-12,
        atol=1e-12,
    ).y
    np.testing.assert_allclose([result["a"].at(t), result["b"].at(t)], wanted, atol=100.0 * rtol)
