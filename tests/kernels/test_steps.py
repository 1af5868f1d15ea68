"""Rows of steps by a kernel: the steps that are made one by one without it, interpreted as compiled, and no event missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.components import electrical as el
from acausal.components import translational as tr
from acausal.components.blocks import PWM
from acausal.kernels import loading
from acausal.simulation.nonlinear.quiet_steps import QuietSteps
from acausal.simulation.nonlinear.steps import Steps
from tests.systems.mechanism_models import Linkage
from tests.systems.test_pendulum import AngularPendulum, CartesianPendulum

pytestmark = pytest.mark.skipif(
    loading.compiled_function("find_point") is None, reason="kernels are interpreted"
)


class Belt(ac.Component):
    """A mass on a spring sticks to a belt and slips."""

    def build(self) -> None:
        self.wall, self.spring, self.mass = tr.Fixed(), tr.Spring(c=10.0), tr.Mass(m=1.0)
        self.friction = tr.Friction(f_coulomb=1.0, f_breakaway=1.5)
        self.belt = tr.ConstantSpeed(v_fixed=0.2)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.wall.flange, self.spring.flange_a)
        yield ac.connect(self.spring.flange_b, self.mass.flange_a)
        yield ac.connect(self.mass.flange_b, self.friction.flange_b)
        yield ac.connect(self.friction.flange_a, self.belt.flange)


class Converter(ac.Component):
    """Step-down converter with an ideal switch and an exponential diode: stiff, with a sine beside its source."""

    def build(self) -> None:
        self.source, self.pwm = el.SineVoltage(V=1.0, f=3e3, offset=24.0), PWM(frequency=100e3, duty=0.4)
        self.switch, self.diode = el.IdealClosingSwitch(), el.Diode(R=1e6)
        self.inductor, self.capacitor = el.Inductor(L=47e-6), el.Capacitor(C=10e-6)
        self.load, self.ground = el.Resistor(R=5.0), el.Ground()

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.pwm.y, self.switch.control)
        yield ac.connect(self.source.p, self.switch.p)
        yield ac.connect(self.switch.n, self.diode.n, self.inductor.p)
        yield ac.connect(self.inductor.n, self.capacitor.p, self.load.p)
        yield ac.connect(self.source.n, self.diode.p, self.capacitor.n, self.load.n, self.ground.p)


def linkage() -> Linkage:
    """A crank of a four-bar linkage that turns."""
    return Linkage(x=0.1, y=0.0, dy=1.0, u=0.3, v=np.sqrt(0.25**2 - 0.1**2), du=0.0)


MODELS: dict[str, tuple[Callable[[], ac.Component], float, str]] = {
    "angle": (lambda: AngularPendulum(phi=2.0), 20.0, "phi"),
    "Cartesian": (lambda: CartesianPendulum(x=1.0, y=0.0, vx=0.0, vy=-5.0), 5.0, "force"),
    "linkage": (linkage, 1.0, "B"),
    "belt": (Belt, 20.0, "mass.v"),
    "converter": (Converter, 2e-4, "load.v"),
}
METHODS = ["auto", "explicit", "implicit"]


def rows_of(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the rows that runs make from now on."""
    lengths: list[int] = []
    follow = QuietSteps.follow

    def counted(*arguments: Any) -> Any:
        made = follow(*arguments)
        lengths.append(len(made))
        return made

    monkeypatch.setattr(QuietSteps, "follow", counted)
    return lengths


@pytest.mark.filterwarnings("ignore:given starts contradict")
@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MODELS)
def test_rows_are_the_steps_that_are_made_one_by_one(
    name: str, method: str, rtol: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, end, path = MODELS[name]
    if name == "converter" and method == "explicit":
        end /= 10.0
    times, program = np.linspace(0.0, end, 500), ac.compile_model(make())
    lengths = rows_of(monkeypatch)
    found = program.simulate(end, method=method, rtol=rtol)
    assert sum(lengths) >= 0.3 * found.stats.steps
    monkeypatch.setattr(Steps, "_room", lambda _: None)
    expected = program.simulate(end, method=method, rtol=rtol)
    size = np.abs(expected[path].at(times)).max()
    # The first steps are so short that rounding decides their errors, and with these the lengths of those that follow.
    assert found.stats.steps == pytest.approx(expected.stats.steps, rel=0.02, abs=3)
    assert found[path].at(times) == pytest.approx(expected[path].at(times), abs=10.0 * rtol * size)
    assert len(found.events) == len(expected.events)
    assert found.check()


@pytest.mark.parametrize(
    ("name", "method"), [("Cartesian", "auto"), ("belt", "explicit"), ("converter", "implicit")]
)
def test_rows_are_the_same_interpreted(name: str, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    make, end, path = MODELS[name]
    end *= 0.1
    times = np.linspace(0.0, end, 50)
    expected = ac.compile_model(make()).simulate(end, method=method)[path].at(times)
    assert loading.compiled_function("follow_steps") is not None
    monkeypatch.setitem(loading._loaded, "follow_steps", None)
    lengths = rows_of(monkeypatch)
    found = ac.compile_model(make()).simulate(end, method=method)[path].at(times)
    assert sum(lengths)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


class Grazing(ac.Component):
    """An oscillator, and a level just below its amplitude: each period it is above for a moment."""

    below: ac.Parameter = ac.Parameter(default=1e-6)
    x: ac.Variable = ac.Variable(start=1.0)
    v: ac.Variable = ac.Variable(start=0.0)
    hits: ac.Discrete = ac.Discrete(int, start=0)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(ac.der(self.x), self.v)
        yield ac.Eq(ac.der(self.v), -self.x)
        yield ac.when(self.x > 1.0 - self.below, ac.assign(self.hits, ac.pre(self.hits) + 1))


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("below", [1e-2, 1e-4, 1e-6])
@pytest.mark.parametrize("method", ["explicit", "implicit"])
def test_a_row_ends_where_a_form_may_come_near_zero(method: str, below: float) -> None:
    result = ac.simulate(Grazing(below=below), 2.0 * np.pi * 10.5, method=method, rtol=1e-9)
    assert int(result["hits"].final) == 10
    times = [e.t for e in result.events if e.kind == "state"][::2]
    exact = 2.0 * np.pi * np.arange(len(times)) + np.arccos(1.0 - below)
    # A crossing is as flat as the root of its height: what integration misses moves it by that over its slope.
    assert np.abs(times - exact).max() <= 1e-7 / np.sqrt(2.0 * below)


class Forced(ac.Component):
    """What a stiff rate follows leaps from time to time; its crossings are those of a sine."""

    x: ac.Variable = ac.Variable(start=0.0)
    side: ac.Discrete = ac.Discrete(bool)
    tau: ac.Parameter = ac.Parameter(default=1.0, unit="s")

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(ac.der(self.x), -1e4 * (self.x - ac.sin(ac.time / self.tau) - 0.1 * self.x**3))
        yield ac.Eq(self.side, self.x > 0.5)


@pytest.mark.parametrize("method", ["auto", "implicit"])
def test_stiff_rows_end_at_crossings(method: str) -> None:
    result = ac.simulate(Forced(), 30.0, method=method, rtol=1e-8)
    # x - 0.1 x^3 = sin(t) up to 1e-4: x = 0.5 where sin(t) is 0.4875, a 1e-4th of its slope later.
    first = np.arcsin(0.4875)
    rises, falls = first + 2 * np.pi * np.arange(5), np.pi - first + 2 * np.pi * np.arange(5)
    exact = np.sort(np.concatenate([rises, falls]))
    found = np.array([e.t for e in result.events if e.kind == "state"])
    assert len(found) == len(exact)
    assert np.abs(found - exact - 1e-4 / (1.0 - 0.3 * 0.25)).max() <= 2e-6


def test_each_step_is_told_where_that_is_asked_for() -> None:
    told: list[float] = []
    result = ac.simulate(AngularPendulum(phi=2.0), 5.0, progress=lambda t: told.append(t))
    assert len(told) >= result.stats.steps
