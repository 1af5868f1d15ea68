"""Events that a kernel follows are those of the loop, bit for bit; what it does not know is left to the loop."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from acausal import (
    Component,
    ConsistencyError,
    Program,
    Statement,
    connect,
)
from acausal.components import electrical as el
from acausal.components.blocks import PWM
from acausal.kernels import loading
from acausal.kernels.entries import ENTRIES
from acausal.kernels.loading import PackedMany
from acausal.results.record import Growing, Prefix
from acausal.simulation import closed_form, repeating, self_check
from acausal.simulation.confirmation import require
from acausal.simulation.repeating import Repeating
from acausal.simulation.seen_events import SeenEvents
from acausal.simulation.self_check import Violation
from benchmarks.circuits import PhaseShiftBridge, PowerFactorCorrector, SinglePhaseBridge, ThreePhaseBridge
from tests.results.models import Buck
from tests.simulation.repeating_models import (
    Across,
    Chopped,
    Dragged,
    Hysteretic,
    NaturallySampled,
    Rectifier,
    Regulated,
    SineBoost,
    ramped_network,
)
from tests.systems.motor_drives import MotorBridge

compiled = pytest.mark.skipif(
    loading.compiled_function("follow_events") is None, reason="kernels are not compiled on this machine"
)


@pytest.fixture(autouse=True)
def _looked_at_as_usual(monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks inside every segment, as tests do elsewhere, leaves nothing to a kernel."""
    monkeypatch.setattr(self_check, "EVERY_VISIT", False)


MODELS: dict[str, tuple[Any, float, float]] = {
    "a buck converter": (lambda: Buck(), 3e-3, 0.9),
    "a converter that gets empty": (lambda: Chopped(load=200.0), 4e-3, 0.9),
    "a regulated converter": (lambda: Regulated(), 4e-3, 0.9),
    "a hysteretic converter": (lambda: Hysteretic(), 3e-3, 0.0),
    "a bridge with a motor": (lambda: MotorBridge(), 5e-3, 0.9),
    "a rectifier": (lambda: SinglePhaseBridge(), 0.4, 0.5),
    "three phases": (lambda: ThreePhaseBridge(), 0.3, 0.5),
    "capacitors behind a ramp": (lambda: ramped_network(), 1.5e-3, 0.5),
    "a thyristor": (lambda: Rectifier(), 1.0, 0.5),
    "a duty that a sine gives": (lambda: NaturallySampled(), 0.1, 0.5),
    "a mass in friction": (lambda: Dragged(), 20.0, 0.5),
    "a converter behind a sine": (lambda: SineBoost(), 2.0, 0.9),
    "a power-factor corrector": (lambda: PowerFactorCorrector(), 0.06, 0.9),
    "a phase-shift bridge": (lambda: PhaseShiftBridge(), 2e-3, 0.9),
}
"""Models, lengths of runs, and the least part of their segments that the kernel has to follow."""


def trace(run: Repeating) -> list[Any]:
    """Everything that a run records and ends with, as bits."""
    steps = [
        (s.t, s.number, s.kind, s.triggers, s.before, s.after, s.D.tobytes(), s.R.tobytes())  # type: ignore[union-attr]
        for s in run.record.steps
    ]
    segments = [(s.start, s.end, s.data.mode, s.trajectory.y0.tobytes()) for s in run.record.segments]
    now = run.state
    return [
        steps,
        segments,
        now.t,
        now.z.tobytes(),
        now.mode,
        now.D.tobytes(),
        now.memory.tobytes(),
        now.ticks,
    ]


@pytest.fixture
def followed(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Counts segments that the kernel has followed."""
    count = [0]
    recorded = SeenEvents.recorded

    def counting(self: SeenEvents, *given: Any) -> Any:
        found = recorded(self, *given)
        count[0] += len(found[0])
        return found

    monkeypatch.setattr(SeenEvents, "recorded", counting)
    return count


def run_of(
    monkeypatch: pytest.MonkeyPatch, model: Any, length: float, learnt: float, times: int = 1
) -> list[Any]:
    """Traces of some runs of one program, which look for what they have seen after so many instants."""
    monkeypatch.setattr(repeating, "LEARNT", learnt)
    program, found = Program(model), []
    for _ in range(times):
        run = program.start()
        run.advance(length)
        found.append(trace(run._run))
    return found


@pytest.mark.sweep(every=3)
@compiled
@pytest.mark.parametrize("name", MODELS)
def test_events_are_those_of_the_loop(name: str, monkeypatch: pytest.MonkeyPatch, followed: Any) -> None:
    model, length, part = MODELS[name]
    expected = run_of(monkeypatch, model(), length, math.inf)[0]
    assert followed == [0]
    found = run_of(monkeypatch, model(), length, 2)[0]
    assert found == expected
    assert followed[0] >= part * len(found[1])


@compiled
@pytest.mark.parametrize("name", ["a buck converter", "a converter that gets empty", "three phases"])
def test_what_a_run_has_seen_serves_the_next_one(
    name: str, monkeypatch: pytest.MonkeyPatch, followed: Any
) -> None:
    model, length, _ = MODELS[name]
    first, second, third = run_of(monkeypatch, model(), length, 16, times=3)
    assert first == second == third
    assert followed[0] > 2.5 * 0.9 * len(first[1])


@compiled
def test_many_short_advances_are_one_long_one(monkeypatch: pytest.MonkeyPatch, followed: Any) -> None:
    monkeypatch.setattr(repeating, "LEARNT", 4)
    program, times = Program(Buck()), np.linspace(0.0, 1e-3, 200)[1:]
    whole, stepped = program.start(), program.start()
    whole.advance(1e-3)
    for t in times.tolist():
        stepped.advance(t)
    events = [s.t for s in whole._run.record.steps]
    assert [s.t for s in stepped._run.record.steps] == pytest.approx(events, rel=1e-13)
    assert followed[0] > 2 * 0.9 * len(events)
    assert stepped._run.state.z == pytest.approx(whole._run.state.z, rel=1e-13)


@pytest.mark.sweep(every=4)
@compiled
@pytest.mark.parametrize("steps", [217, 1999])
def test_events_of_short_advances_are_read_as_they_come(
    steps: int, monkeypatch: pytest.MonkeyPatch, followed: Any
) -> None:
    """An advance may end between two events, with a segment and no micro-step."""
    monkeypatch.setattr(repeating, "LEARNT", math.inf)
    program, read = Program(Chopped()), list[int]()
    expected = [(e.kind, e.triggers) for e in program.simulate(6e-3).events]
    monkeypatch.setattr(repeating, "LEARNT", 16)
    run = program.start()
    for k in range(steps):
        run.advance(6e-3 * (k + 1) / steps)
        if k % 20 == 0:
            read.append(len(run.result.events))
    assert followed[0] > 100
    assert [(e.kind, e.triggers) for e in run.result.events] == expected
    assert read == sorted(read)


def test_a_block_knows_its_items_and_grows_by_whole_or_by_single_ones() -> None:
    grown = Growing[int]()
    for k in range(3):
        grown.append(k)
    taken = Prefix(grown, len(grown))
    grown.extend(range(3, 40))
    grown.extend(range(0))
    grown.append(40)
    grown.append(41)
    assert list(taken) == [0, 1, 2]
    assert list(grown) == list(range(42))
    assert [grown[k] for k in (0, 2, 3, 39, 40, -1)] == [0, 2, 3, 39, 40, 41]
    assert [list(grown.first(k)) for k in (0, 2, 3, 20, 41, 42)] == [
        list(range(k)) for k in (0, 2, 3, 20, 41, 42)
    ]
    whole = Prefix(grown, 41, (99,))
    assert [(begin, count) for _, begin, count in whole.blocks()] == [(0, 3), (3, 37), (40, 1), (41, 1)]
    assert [begin for _, begin, _ in whole.blocks(3)] == [3, 40, 41]
    assert list(whole) == [*range(41), 99]


@pytest.mark.parametrize(
    "name", ["a buck converter", "a converter that gets empty", "a thyristor", "three phases"]
)
def test_the_same_source_interpreted_has_the_same_bits(
    name: str, monkeypatch: pytest.MonkeyPatch, followed: Any
) -> None:
    model, length, _ = MODELS[name]
    expected = run_of(monkeypatch, model(), length / 4, 2)[0]
    followed[0] = 0
    monkeypatch.setattr(loading, "_loaded", dict.fromkeys(ENTRIES))
    monkeypatch.setattr(repeating, "WITHOUT_COMPILER", True)
    with np.errstate(all="ignore"):
        assert run_of(monkeypatch, model(), length / 4, 2)[0] == expected
    assert followed[0] > 0


@compiled
def test_other_parameters_are_other_events(monkeypatch: pytest.MonkeyPatch) -> None:
    program = Program(Chopped())
    for load in (5.0, 200.0, 5.0, 60.0):
        monkeypatch.setattr(repeating, "LEARNT", 2)
        found = program.simulate(2e-3, parameters={"load": load})
        monkeypatch.setattr(repeating, "LEARNT", math.inf)
        expected = Program(Chopped(load=load)).simulate(2e-3)
        assert found.final == expected.final
        assert found.events.times.tolist() == expected.events.times.tolist()


@compiled
def test_threads_use_what_was_seen_one_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeating, "LEARNT", 2)
    program = Program(Buck())
    expected = program.simulate(2e-3).final
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(program.simulate(2e-3).final)) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [expected] * 6


@compiled
def test_a_jump_is_left_to_the_loop(monkeypatch: pytest.MonkeyPatch, followed: Any) -> None:
    """A capacitor that a switch joins with another one time after time: an impulse each time, whose energy is booked."""

    class Pumped(Component):
        def build(self) -> None:
            self.source, self.ground = el.ConstantVoltage(V=1.0), el.Ground()
            self.pwm, self.switch = PWM(frequency=1e3, duty=0.5), el.IdealClosingSwitch()
            self.a, self.b = el.Capacitor(C=1e-6), el.Capacitor(C=1e-6)
            self.charge, self.load = el.Resistor(R=100.0), el.Resistor(R=300.0)

        def equations(self) -> Iterator[Statement]:
            yield connect(self.pwm.y, self.switch.control)
            yield connect(self.source.p, self.charge.p)
            yield connect(self.charge.n, self.a.p, self.switch.p)
            yield connect(self.switch.n, self.b.p, self.load.p)
            yield connect(self.source.n, self.a.n, self.b.n, self.load.n, self.ground.p)

    results = []
    for learnt in (math.inf, 2):
        monkeypatch.setattr(repeating, "LEARNT", learnt)
        results.append(Program(Pumped()).simulate(20e-3, impulses="allow"))
    assert results[0].final == results[1].final
    assert [e.t for e in results[0].events] == [e.t for e in results[1].events]
    assert (
        sum(len(s.jumps) > 0 for s in results[1].steps)
        == sum(len(s.jumps) > 0 for s in results[0].steps)
        > 15
    )
    assert followed[0] > 0


@compiled
@pytest.mark.parametrize("bar", [True, False])
def test_a_callback_is_told_of_every_event_and_a_bar_now_and_then(
    bar: bool, monkeypatch: pytest.MonkeyPatch, followed: Any
) -> None:
    told: list[float] = []
    monkeypatch.setattr("acausal.simulation.progress.Bar.__call__", lambda self, t: told.append(t))
    result = Program(Buck()).simulate(20e-3, progress=True if bar else told.append)
    count = len(result.events)
    assert 2 < len(told) < 0.1 * count if bar else len(told) >= count - 1
    assert (followed[0] > 0.9 * count) == bar
    assert told == sorted(told)


@compiled
def test_an_interrupt_leaves_a_run_at_the_last_events_that_were_recorded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    program, length = Program(Buck()), 50e-3
    whole = program.start(span=1.0)
    whole.advance(length)
    calls, follow = [0], SeenEvents.follow

    def interrupted(self: SeenEvents) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            raise KeyboardInterrupt
        return follow(self)

    run = program.start(span=1.0)
    run.advance(1e-3)
    with monkeypatch.context() as patched:
        patched.setattr(SeenEvents, "follow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            run.advance(length)
    segments = run._run.record.segments
    assert len(segments) > 200
    assert run.t == segments[-1].end > 1e-3
    run.advance(length)
    segments = run._run.record.segments
    assert all(a.end == b.start for a, b in zip(segments[:-1], segments[1:], strict=True))
    assert run._run.state.z == pytest.approx(whole._run.state.z, rel=1e-12)


@compiled
@pytest.mark.parametrize("which", [1, 2, 3, 4])
def test_an_interrupt_while_a_situation_is_packed_spoils_no_other_run(
    which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(repeating, "LEARNT", 2)
    program, add, count = Program(Buck()), PackedMany.add, [0]
    expected = Program(Buck()).simulate(1e-3).final

    def interrupted(self: PackedMany, *given: Any) -> None:
        count[0] += 1
        if count[0] == which:
            raise KeyboardInterrupt
        add(self, *given)

    monkeypatch.setattr(PackedMany, "add", interrupted)
    with pytest.raises(KeyboardInterrupt):
        program.simulate(1e-3)
    assert program.simulate(1e-3).final == expected


@compiled
def test_no_run_takes_a_mode_because_another_run_has_found_it(
    monkeypatch: pytest.MonkeyPatch, followed: Any
) -> None:
    found = []
    for learnt in (math.inf, 2):
        monkeypatch.setattr(repeating, "LEARNT", learnt)
        program, chance, traces = Program(Across()), np.random.default_rng(5), []
        for _ in range(8):
            run = program.start(span=6e-3, inputs={"u": 50.0}, impulses="allow")
            for _ in range(4):
                u = float(chance.choice([50.0, 0.0, -20.0, 100.0]))
                run.advance(run.t + float(chance.choice([1e-3, 3e-4, 7.7e-4])), inputs={"u": u})
            traces.append(trace(run._run))
        found.append(traces)
    assert found[0] == found[1]
    assert followed[0] > 0


@compiled
def test_a_run_looks_at_its_own_first_segments_whatever_others_have_seen(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(repeating, "LEARNT", 2)
    program, visits = Program(Buck()), []
    for _ in range(2):
        run = program.start()
        run.advance(1e-3)
        visits.append(dict(run._run.visits))
    assert visits[0] == visits[1]


@compiled
@pytest.mark.parametrize("name", ["a buck converter", "a rectifier", "a mass in friction"])
def test_segments_of_the_kernel_are_looked_at_as_those_of_the_loop(
    name: str, monkeypatch: pytest.MonkeyPatch, followed: Any
) -> None:
    """The same segments, from the same begins to the same ends."""
    make, length, _ = MODELS[name]
    found: list[list[Any]] = []
    look = closed_form.confirm_flow

    def noted(run: Any, tables: Any, trajectory: Any, h: float, known: Any, inside: bool) -> None:
        if inside:
            late, length, y0 = f"{known.late:.12g}", f"{h:.12g}", trajectory.y0.tobytes()
            found[-1].append((run.state.t, run.state.mode, late, length, y0, run.y.tobytes()))
        look(run, tables, trajectory, h, known, inside)

    monkeypatch.setattr(closed_form, "confirm_flow", noted)
    for learnt in (math.inf, 2):
        monkeypatch.setattr(repeating, "LEARNT", learnt)
        program = Program(make())
        for _ in range(2):
            found.append([])
            program.simulate(length)
    first, *others = found
    # The loop also looks at segments that are much longer than those before.
    assert all(set(other) <= set(first) for other in others)
    assert followed[0] > 0 and len(others[-1]) >= 3


@compiled
def test_what_a_look_finds_in_a_kernel_ends_the_run_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeating, "LEARNT", 2)
    run = Program(Chopped()).start()
    run.advance(1e-4)
    looked: list[float] = []

    def wrong(run: Any, *_: Any) -> None:
        looked.append(run.state.t)
        require(run, Violation("motion", 0, 1.0, 1.0, 1e-9), run.state.t)

    monkeypatch.setattr(closed_form, "confirm_flow", wrong)
    with pytest.raises(ConsistencyError):
        run.advance(4e-3)
    assert len(looked) == 1 and looked[0] > 1e-4
    partial = run.result
    assert 1e-4 <= partial.t[-1] <= looked[0] + 1e-5


@compiled
def test_room_for_situations_is_given_back(monkeypatch: pytest.MonkeyPatch, followed: Any) -> None:
    expected = run_of(monkeypatch, ThreePhaseBridge(), 0.2, math.inf)
    monkeypatch.setattr(repeating, "MOST_BYTES", 100_000)
    assert run_of(monkeypatch, ThreePhaseBridge(), 0.2, 2) == expected
