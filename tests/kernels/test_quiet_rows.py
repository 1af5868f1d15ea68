"""Rows of quiet instants by a kernel: what the loop would make of them, interpreted as compiled, and nothing missed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal.components import electrical as el
from acausal.components import rotational as ro
from acausal.components.blocks import PWM
from acausal.kernels import loading
from acausal.simulation import repeating, self_check
from acausal.simulation.quiet_rows import QuietRows
from tests.kernels.test_steps import Converter

pytestmark = pytest.mark.skipif(
    loading.compiled_function("find_point") is None, reason="kernels are interpreted"
)


class Pendulum(ac.Component):
    """A pendulum with a sampled controller that filters what it measures; ``x`` counts its samples above a level."""

    period: ac.Parameter = ac.Parameter(default=1e-2, unit="s")
    wave: ac.Parameter = ac.Parameter(default=0.0)
    unit: ac.Parameter = ac.Parameter(default=1.0, unit="s")
    phi: ac.Variable = ac.Variable(start=0.5)
    w: ac.Variable = ac.Variable()
    u: ac.Discrete = ac.Discrete(float, start=0.0)
    filtered: ac.Discrete = ac.Discrete(float, start=0.5)
    above: ac.Discrete = ac.Discrete(int, start=0)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(self.unit * ac.der(self.phi), self.w)
        yield ac.Eq(
            self.unit * ac.der(self.w),
            self.u + self.wave * ac.sin(3.0 * ac.time / self.unit) - ac.sin(self.phi),
        )
        yield ac.when(
            ac.sample(period=self.period),
            ac.assign(self.filtered, 0.9 * ac.pre(self.filtered) + 0.1 * self.phi),
            ac.assign(self.u, -2.0 * self.filtered - 0.3 * self.w),
            ac.assign(self.above, ac.pre(self.above) + ac.if_else(self.phi > 0.2, 1, 0)),
        )


class Rod(ac.Component):
    """A point mass on a rod, of index 3, pushed by a sampled controller."""

    x: ac.Variable = ac.Variable(start=1.0)
    y: ac.Variable = ac.Variable(start=0.0)
    vx: ac.Variable = ac.Variable(start=0.0)
    vy: ac.Variable = ac.Variable(start=0.0)
    force: ac.Variable = ac.Variable()
    push: ac.Discrete = ac.Discrete(float, start=0.0)
    unit: ac.Parameter = ac.Parameter(default=1.0, unit="s")

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(self.unit * ac.der(self.x), self.vx)
        yield ac.Eq(self.unit * ac.der(self.y), self.vy)
        yield ac.Eq(self.unit * ac.der(self.vx), -self.force * self.x + self.push)
        yield ac.Eq(self.unit * ac.der(self.vy), -self.force * self.y - 9.81)
        yield ac.Eq(self.x**2 + self.y**2, 1.0)
        yield ac.when(ac.sample(period=1e-2), ac.assign(self.push, -0.5 * self.vx))


class Rubbing(ac.Component):
    """A motor turns an unbalanced wheel in a bearing with dry friction; its voltage is sampled, and it turns back and forth."""

    unit: ac.Parameter = ac.Parameter(default=1.0, unit="s")
    damping: ac.Parameter = ac.Parameter(default=0.05, unit="N.m.s/rad")
    size: ac.Parameter = ac.Parameter(default=1.0, unit="N.m")
    u: ac.Discrete = ac.Discrete(float, start=0.0, unit="N.m")

    def build(self) -> None:
        self.wheel, self.fixed = ro.Inertia(J=0.1), ro.Fixed()
        self.torque = ro.Torque(tau=self.u - 0.1 * self.size * ac.sin(self.wheel.phi))
        self.friction = ro.BearingFriction(tau_coulomb=0.2, tau_breakaway=0.3)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.torque.flange, self.wheel.flange_a)
        yield ac.connect(self.wheel.flange_b, self.friction.flange_a)
        wanted = self.size * ac.sin(2.0 * ac.time / self.unit) - self.damping * self.wheel.w
        yield ac.when(ac.sample(period=1e-2), ac.assign(self.u, wanted))


class Doubled(ac.Component):
    """Two switches at different frequencies before an exponential diode, whose edges meet from time to time."""

    def build(self) -> None:
        self.source, self.a, self.b = (
            el.ConstantVoltage(V=10.0),
            PWM(frequency=1e3, duty=0.5),
            PWM(frequency=1.5e3, duty=0.3),
        )
        self.first, self.second = el.IdealClosingSwitch(), el.IdealClosingSwitch()
        self.r, self.s, self.diode = el.Resistor(R=10.0), el.Resistor(R=20.0), el.Diode(R=1e6)
        self.capacitor, self.load, self.ground = el.Capacitor(C=1e-5), el.Resistor(R=100.0), el.Ground()

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.a.y, self.first.control)
        yield ac.connect(self.b.y, self.second.control)
        yield ac.connect(self.source.p, self.first.p, self.second.p)
        yield ac.connect(self.first.n, self.r.p)
        yield ac.connect(self.second.n, self.s.p)
        yield ac.connect(self.r.n, self.s.n, self.diode.p)
        yield ac.connect(self.diode.n, self.capacitor.p, self.load.p)
        yield ac.connect(self.source.n, self.capacitor.n, self.load.n, self.ground.p)


MODELS: dict[str, tuple[Callable[[], ac.Component], float, str, float]] = {
    "pendulum": (Pendulum, 2.0, "phi", 0.7),
    "waves": (lambda: Pendulum(wave=0.7, period=3e-3), 1.0, "w", 0.7),
    "rod": (Rod, 2.0, "force", 0.5),
    "rubbing": (Rubbing, 4.0, "wheel.w", 0.3),
    "converter": (Converter, 1e-3, "load.v", 0.5),
    "doubled": (Doubled, 3e-2, "load.v", 0.4),
}
METHODS = ["auto", "implicit"]


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the rows that runs leave to the kernel from now on."""
    monkeypatch.setattr(self_check, "EVERY_VISIT", False)
    lengths: list[int] = []
    keep = QuietRows._keep_row

    def counted(run: Any, rows: Any) -> None:
        lengths.append(rows.count)
        keep(run, rows)

    monkeypatch.setattr(QuietRows, "_keep_row", counted)
    return lengths


def by_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """From now on the kernel is not asked."""
    monkeypatch.setattr(QuietRows, "repeat_quietly", lambda *_: False)


@pytest.mark.sweep(every=2)
@pytest.mark.parametrize("rtol", [1e-4, 1e-6, 1e-9])
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", MODELS)
def test_rows_are_what_the_loop_makes(
    name: str, method: str, rtol: float, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, end, path, share = MODELS[name]
    program, times = ac.compile_model(make()), np.linspace(0.0, end, 700)
    found = program.simulate(end, method=method, rtol=rtol)
    assert sum(followed) >= share * found.stats.segments
    by_the_loop(monkeypatch)
    expected = program.simulate(end, method=method, rtol=rtol)
    assert [e.kind for e in found.events] == [e.kind for e in expected.events]
    late = [abs(a.t - b.t) for a, b in zip(found.events, expected.events, strict=True)]
    assert max(late) <= 100.0 * rtol * end
    size = np.abs(expected[path].at(times)).max()
    assert np.abs(found[path].at(times) - expected[path].at(times)).max() <= 30.0 * rtol * size
    for event, other in zip(found.events, expected.events, strict=True):
        assert event.triggers == other.triggers
        assert event.modes.keys() == other.modes.keys()
        assert event.discretes.keys() == other.discretes.keys()
    assert found.check()


@pytest.mark.parametrize("name", ["pendulum", "rod", "converter"])
def test_rows_are_the_same_interpreted(
    name: str, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, end, path, _ = MODELS[name]
    end *= 0.15
    times = np.linspace(0.0, end, 50)
    expected = ac.compile_model(make()).simulate(end)
    count = sum(followed)
    monkeypatch.setitem(loading._loaded, "follow_quiet_instants", None)
    monkeypatch.setattr(repeating, "WITHOUT_COMPILER", True)
    found = ac.compile_model(make()).simulate(end)
    assert sum(followed) == 2 * count > 0
    size = np.abs(expected[path].at(times)).max()
    assert np.abs(found[path].at(times) - expected[path].at(times)).max() <= 1e-12 * size
    assert [e.t for e in found.events] == [e.t for e in expected.events]


@pytest.mark.parametrize("name", MODELS)
def test_a_run_in_parts_is_the_run_as_a_whole(name: str, followed: list[int]) -> None:
    make, end, path, _ = MODELS[name]
    program = ac.compile_model(make())
    whole = program.simulate(end)
    first = program.simulate(0.37 * end)
    count = sum(followed)
    second = program.simulate(end, start=first)
    assert sum(followed) > count
    size = np.abs(whole[path].values).max()
    assert second[path].final == pytest.approx(whole[path].final, abs=3e-5 * size)
    assert len(first.events) + len(second.events) - 1 == len(whole.events)


class Guarded(Pendulum):
    """It must not swing back, and counts how often it has turned."""

    turns: ac.Discrete = ac.Discrete(int, start=0)
    least: ac.Parameter = ac.Parameter(default=-10.0)

    def equations(self) -> Iterator[ac.Statement]:
        yield from super().equations()
        yield ac.when(self.w > 0.0, ac.assign(self.turns, ac.pre(self.turns) + 1))
        yield ac.require(self.filtered > self.least, "it swings back")


def test_crossings_between_samples_are_found(followed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    found = ac.simulate(Guarded(), 10.0)
    assert sum(followed) > 500
    by_the_loop(monkeypatch)
    expected = ac.simulate(Guarded(), 10.0)
    turns = [[e.t for e in result.events if e.kind == "state"] for result in (found, expected)]
    assert len(turns[0]) == len(turns[1]) > 2
    assert np.abs(np.subtract(*turns)).max() <= 1e-5
    assert found["turns"].final == expected["turns"].final > 0


@pytest.mark.parametrize("name", ["rod", "converter", "doubled"])
def test_modes_are_analysed_anew_as_often_as_by_the_loop(
    name: str, followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    make, end, _, _ = MODELS[name]
    program, counts = ac.compile_model(make()), []
    for _ in range(2):
        stats = program.simulate(end).stats
        counts.append((stats.mode_analyses, stats.segments, stats.micro_steps, stats.hints))
        by_the_loop(monkeypatch)
    assert sum(followed)
    assert counts[0] == counts[1]


def test_a_requirement_ends_a_row(followed: list[int], monkeypatch: pytest.MonkeyPatch) -> None:
    ends = []
    for _ in range(2):
        with pytest.raises(ac.RequirementError, match="swings back") as caught:
            ac.simulate(Guarded(least=-0.05), 10.0)
        assert caught.value.result is not None
        ends.append(caught.value.result.t[-1])
        by_the_loop(monkeypatch)
    assert sum(followed) > 20
    assert ends[0] == ends[1]


def test_each_step_is_told_where_that_is_asked_for(followed: list[int]) -> None:
    told: list[float] = []
    result = ac.simulate(Pendulum(), 2.0, progress=lambda t: told.append(t))
    assert not followed
    assert len(told) >= result.stats.steps


def test_what_interrupts_a_run_leaves_what_was_followed(
    followed: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    keep, whole = QuietRows._keep_row, ac.simulate(Pendulum(), 20.0)

    def interrupted(run: Any, rows: Any) -> None:
        keep(run, rows)
        if run.state.t > 10.0:
            raise KeyboardInterrupt

    monkeypatch.setattr(QuietRows, "_keep_row", interrupted)
    program = ac.compile_model(Pendulum())
    with pytest.raises(KeyboardInterrupt) as caught:
        program.simulate(20.0)
    part: Any = caught.value
    assert part.result.t[-1] > 5.0
    monkeypatch.setattr(QuietRows, "_keep_row", keep)
    rest = program.simulate(20.0, start=part.result)
    assert rest["phi"].final == pytest.approx(whole["phi"].final, abs=1e-5)
