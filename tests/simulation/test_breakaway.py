"""What a run has learnt of frictions that take more to break away than to slide: the modes that a search finds, at once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from acausal import Circuit, Component, Program
from acausal.components import blocks
from acausal.components import translational as tr
from acausal.kernels import loading
from acausal.simulation import repeating, self_check
from acausal.simulation.instants.search import Search


def stick_slip() -> Component:
    """A mass on a belt, held by a spring."""
    return dragged(1, [(1.0, 1.5, 0.2)])


def dragged(seed: int, frictions: list[tuple[float, float, float | None]]) -> Component:
    """Masses in a row, each on a belt of some speed, or the floor, in friction with two levels; some are pushed by sines."""
    rng, model = np.random.default_rng(seed), Circuit()
    wall = model.add("wall", tr.Fixed())
    before = wall.flange
    for k, (sliding, breakaway, speed) in enumerate(frictions):
        mass = model.add(f"mass{k}", tr.Mass(m=float(10.0 ** rng.uniform(-0.5, 0.5))))
        spring = model.add(f"spring{k}", tr.Spring(c=float(10.0 ** rng.uniform(0.0, 1.5))))
        friction = model.add(f"friction{k}", tr.Friction(f_coulomb=sliding, f_breakaway=breakaway, d=0.05))
        model.connect(before, spring.flange_a)
        model.connect(spring.flange_b, mass.flange_a, friction.flange_a)
        under = wall if speed is None else model.add(f"belt{k}", tr.ConstantSpeed(v_fixed=speed))
        model.connect(friction.flange_b, under.flange)
        if rng.random() < 0.5:
            sine = blocks.Sine(amplitude=float(rng.uniform(0.5, 3.0)), f=float(rng.uniform(0.1, 1.0)))
            push, source = model.add(f"push{k}", tr.Force()), model.add(f"source{k}", sine)
            model.connect(source.y, push.f)
            model.connect(push.flange, mass.flange_b)
        before = mass.flange_b
    return model


def random_row(seed: int) -> Component:
    rng = np.random.default_rng(seed)
    frictions = []
    for _ in range(int(rng.integers(1, 5))):
        sliding = float(rng.uniform(0.5, 1.5))
        breakaway = sliding * float(rng.choice([1.0, 1.2, 1.5, 2.0]))
        frictions.append((sliding, breakaway, None if rng.random() < 0.3 else float(rng.uniform(0.05, 0.5))))
    return dragged(seed, frictions)


def no_rivals(self: Search, begin: Any, mode: Any, rivals: Any = Search.rivals) -> tuple[()] | None:
    """As if a search had to find what uneven frictions do each time."""
    return () if rivals(self, begin, mode) == () else None


def ran(model: Component, length: float) -> tuple[Any, list[Any]]:
    result = Program(model).simulate(length)
    events = [(event.t, repr(event)) for event in result.events]
    return result.stats, [events, [s.trajectory.y0.tobytes() for s in result.segments.all]]


@pytest.fixture
def learnt(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Sets after how many instants a kernel follows what was seen."""
    monkeypatch.setattr(self_check, "EVERY_VISIT", False)
    return lambda instants: monkeypatch.setattr(repeating, "LEARNT", instants)


@pytest.mark.sweep(every=16)
@pytest.mark.parametrize("seed", range(64))
def test_hints_lead_to_what_a_search_finds(seed: int, learnt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    learnt(math.inf)
    _, hinted = ran(random_row(seed), 40.0)
    learnt(2)
    _, followed = ran(random_row(seed), 40.0)
    learnt(math.inf)
    monkeypatch.setattr(Search, "rivals", no_rivals)
    _, searched = ran(random_row(seed), 40.0)
    assert hinted == searched
    assert followed == searched


def test_what_sticks_and_slips_is_searched_for_once(learnt: Any) -> None:
    learnt(math.inf)
    stats, _ = ran(stick_slip(), 200.0)
    assert stats.searches > 100
    assert stats.searches - stats.hints <= 5


def test_a_friction_that_can_rest_rests_though_it_slid_before(learnt: Any) -> None:
    """Pushed with 1.2 N it breaks away from a shelf of 1 N, slides, and rests on the next push of the same kind at 1.1 N."""
    learnt(math.inf)
    model = Circuit()
    mass, friction, wall = tr.Mass(m=1.0), tr.Friction(f_coulomb=0.8, f_breakaway=1.15, d=0.0), tr.Fixed()
    pushes = blocks.TimeTable(table=[(0.0, 0.0), (1.0, 1.2), (1.5, 0.0), (6.0, 0.0), (7.0, 1.1), (8.0, 0.0)])
    for name, part in {"mass": mass, "friction": friction, "wall": wall, "push": tr.Force()}.items():
        model.add(name, part)
    model.add("pushes", pushes)
    model.connect(model.pushes.y, model.push.f)
    model.connect(model.push.flange, model.mass.flange_a)
    model.connect(model.mass.flange_b, model.friction.flange_a)
    model.connect(model.friction.flange_b, model.wall.flange)
    result = Program(model).simulate(8.0)
    last = result["mass.s"].at(5.9)
    assert last > 0.0
    assert result["mass.s"].final == last


@pytest.mark.skipif(
    loading.compiled_function("follow_events") is None, reason="kernels are not compiled here"
)
def test_a_kernel_follows_sticking_and_slipping(learnt: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = [0]
    inner = repeating.SeenEvents.recorded

    def counting(self: Any, *given: Any) -> Any:
        found = inner(self, *given)
        followed[0] += len(found[0])
        return found

    monkeypatch.setattr(repeating.SeenEvents, "recorded", counting)
    learnt(math.inf)
    _, expected = ran(stick_slip(), 200.0)
    assert followed == [0]
    learnt(2)
    _, found = ran(stick_slip(), 200.0)
    assert found == expected
    assert followed[0] > 0.9 * len(expected[1])
