"""Where constraints depend on each other: in a point that a motion reaches, or everywhere."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Component,
    Eq,
    SingularModelError,
    Statement,
    Variable,
    cos,
    der,
    simulate,
    sin,
)
from tests.systems.mechanism_models import Bob, Linkage


def parallelogram() -> Linkage:
    phi = 1.0
    c, s = 0.1 * np.cos(phi), 0.1 * np.sin(phi)
    return Linkage(b=0.4, c=0.1, x=c, y=s, u=0.4 + c, v=s, dx=-10 * s, dy=10 * c, du=-10 * s, dv=10 * c)


@pytest.mark.parametrize("rtol", [1e-5, 1e-6, 1e-8])
def test_a_parallelogram_stops_where_it_may_change_into_an_antiparallelogram(rtol: float) -> None:
    """All four bars lie in one line at ``phi = pi``: the constraints are dependent there, and two motions go on."""
    with pytest.raises(SingularModelError, match="depend on each other") as caught:
        simulate(parallelogram(), 1.0, rtol=rtol)
    error = caught.value
    assert "integration at t = 0.2141" in error.what
    for equation in ("Eq((u - x)**2 + (v - y)**2, b**2)", "Eq((u - d)**2 + v**2, c**2)"):
        assert equation in error.what
    assert "`x` = -0.1" in error.what and "`u` = 0.3" in error.what
    assert error.what.endswith("; two motions cross there, on which `y`, `v` change as 1 : -0.6 and as 1 : 1")
    assert error.why is not None and "singular configuration" in error.why
    assert error.result is not None
    np.testing.assert_allclose(error.result.t_end, (np.pi - 1.0) / 10, atol=1e-4)
    t = np.linspace(0.0, 0.2, 21)
    np.testing.assert_allclose(error.result["x"].at(t), 0.1 * np.cos(1.0 + 10 * t), atol=1e-6)


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


@pytest.mark.parametrize("rtol", [1e-4, 1e-6])
def test_a_bifurcation_of_the_motion_is_an_error_with_the_result_so_far(rtol: float) -> None:
    with pytest.raises(SingularModelError, match="`phi` = 1.5") as caught:
        simulate(Symmetric(), 10.0, rtol=rtol, initial={"phi": 0.5, "w": 1.0})
    assert caught.value.what.endswith(
        "; two motions cross there, on which `phi`, `s` change as -0.5 : 1 and as 1 : 0"
    )
    found = caught.value.result
    assert found is not None
    assert found["phi"].final == pytest.approx(np.pi / 2, abs=1e-3)
    assert found["s"].at(0.3) == pytest.approx(2 * np.cos(found["phi"].at(0.3)), abs=1e-12)
