"""Events, modes and counts of a run."""

import numpy as np
import pytest

from acausal import Component, Result, simulate
from acausal.components.blocks import TimeTable
from tests.results.models import Buck, Discharge, sharing


@pytest.fixture(scope="module")
def buck() -> Result:
    return simulate(Buck(), 1e-4)


def test_a_run_without_switching_has_its_start_only() -> None:
    result = simulate(Discharge(), 1e-3)
    assert [(e.t, e.kind) for e in result.events] == [(0.0, "start")]
    assert len(result.events) == 1
    assert "1 events" in repr(result)


def test_an_event_tells_what_happened() -> None:
    events = simulate(sharing(), 2e-3).events
    assert len(events) == 2
    e = events[-1]
    assert (e.t, e.kind) == (1e-3, "time")
    assert e.triggers == ("startTime <= time in step",)
    assert e.modes == {"switch.closed": ("false", "true")}
    assert e.discretes["step.y"] == (False, True)
    assert {name: (a, pytest.approx(b)) for name, a, b in e.jumps} == {"a.v": (10.0, 2.5), "b.v": (0.0, 2.5)}
    assert e.lost == {"switch.closed": pytest.approx(37.5e-6)}
    assert e.energy_lost == pytest.approx(37.5e-6)
    assert [(abs(amount), unit) for _, amount, unit in e.impulses] == [(pytest.approx(7.5e-6), "A.s")]
    assert "switch.closed: false -> true" in repr(e)


def test_ticks_and_timed_edges_are_named(buck: Result) -> None:
    times = np.unique(np.concatenate([np.arange(11), np.arange(10) + 0.4])) * 1e-5
    np.testing.assert_allclose(buck.events.times, times, rtol=1e-14)
    edge, tick = buck.events[1], buck.events[2]
    assert any("time in pwm" in text for text in edge.triggers)
    assert any(text.startswith("sample(") for text in tick.triggers)


def test_what_triggers_is_named_once() -> None:
    """A step of a table changes value and slope in one instant."""

    class Pressed(Component):
        def build(self) -> None:
            self.press = TimeTable(table=((0, 0), (1, 0), (1, 2), (2, 2)))

    _, step, *_ = simulate(Pressed(), 3.0).events
    assert (step.t, step.triggers) == (1.0, ("table(time) in press",))
    assert step.discretes == {}


def test_a_guard_is_named_by_its_element() -> None:
    result = simulate(Buck(), 1e-4, parameters={"load.R": 500.0}, initial={"capacitor.v": 20.0})
    zero = [e for e in result.events if e.kind == "state"]
    assert zero
    assert zero[0].triggers == ("diode.on",)
    assert zero[0].modes == {"diode.on": ("on", "off")}


def test_events_behave_as_a_sequence(buck: Result) -> None:
    assert buck.events[-1] is buck.events[len(buck.events) - 1]
    assert [e.t for e in buck.events[1:3]] == [buck.events[1].t, buck.events[2].t]
    assert "more" in repr(buck.events)
    with pytest.raises(IndexError):
        buck.events[10000]


def test_modes_count_time_and_visits(buck: Result) -> None:
    on, off = buck.modes
    assert on.branches == {"switch.closed": "true", "diode.on": "off"}
    assert on.time == pytest.approx(40e-6)
    assert (on.visits, off.visits) == (10, 10)
    assert on.time + off.time == pytest.approx(1e-4)
    assert (on.states, on.path) == (2, "exact")


def test_stats_count_the_work(buck: Result) -> None:
    stats = buck.stats
    assert (stats.flattenings, stats.presolves, stats.symbolic_analyses) == (1, 1, 1)
    assert stats.segments == 20
    assert stats.micro_steps >= 21
    assert stats.searches >= 21
    assert stats.paths == {"exact": 2}


@pytest.mark.filterwarnings("ignore:given starts contradict")
def test_initial_lists_states_after_the_start() -> None:
    result = simulate(sharing(t_close=0.0), 1e-3)
    assert result.initial == {"a.v": pytest.approx(2.5), "b.v": pytest.approx(2.5)} or result.initial == {
        "a.v": pytest.approx(2.5)
    }
    assert simulate(Discharge(), 1e-3, initial={"capacitor.v": 3.0}).initial == {"capacitor.v": 3.0}


@pytest.mark.parametrize("R", [5.0, 500.0])
def test_final_values_begin_a_run_where_another_ended(R: float) -> None:
    model = Buck()
    first = simulate(model, 2e-3, parameters={"load.R": R})
    assert first.final == {path: first[path].final for path in first.states}
    second = simulate(model, 1e-5, parameters={"load.R": R}, initial=first.final)
    whole = simulate(model, 2.01e-3, parameters={"load.R": R})
    assert second.initial == pytest.approx(first.final, rel=1e-13)
    assert second.final == pytest.approx(whole.final, rel=1e-11)


def test_the_start_reports_what_begins_to_conduct_but_no_branches_of_choices() -> None:
    assert simulate(Buck(), 1e-4, parameters={"duty": 0.0}, initial={"inductor.i": 1.0}).events[0].modes == {
        "diode.on": ("off", "on")
    }


def test_given_parameters_are_listed() -> None:
    model = Discharge()
    assert simulate(model, 1e-3, parameters={"load.R": 2e3}).parameters == {"load.R": 2e3}
    assert simulate(model, 1e-3).parameters == {}
