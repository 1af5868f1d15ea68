"""Options of a run: parameters, start, end, continuation, steps, progress, failures."""

import io
import pickle
import sys
from collections.abc import Iterator

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    FlowInterruptedError,
    Input,
    ParameterError,
    Statement,
    Structural,
    UnknownPathError,
    compile_model,
    connect,
    simulate,
    table,
)
from acausal.components.blocks import BooleanStep
from acausal.components.electrical import (
    Capacitor,
    ConstantCurrent,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    Inductor,
    Pin,
    Resistor,
    SignalVoltage,
)
from acausal.simulation.continuation import begin
from tests.results.models import Buck, Discharge, sharing

TAU = 1e-3


class Driven(Component):
    """A first-order lag from an open input, with a switch to ground."""

    u: Input = Input(float, unit="V")
    short: Input = Input(bool)

    def build(self) -> None:
        self.source = SignalVoltage()
        self.resistor = Resistor(R=1e3)
        self.capacitor = Capacitor(C=1e-6)
        self.bleeder = Resistor(R=1e3)
        self.switch = IdealClosingSwitch()
        self.ground = Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.u, self.source.v)
        yield connect(self.short, self.switch.control)
        yield connect(self.source.p, self.resistor.p)
        yield connect(self.resistor.n, self.capacitor.p, self.switch.p)
        yield connect(self.switch.n, self.bleeder.p)
        yield connect(self.source.n, self.capacitor.n, self.bleeder.n, self.ground.p)


def charge(t: float, u: float = 1.0, v0: float = 0.0) -> float:
    return u + (v0 - u) * float(np.exp(-t / TAU))


def interrupted() -> Circuit:
    """An inductor whose only path opens at 1 ms."""
    c = Circuit()
    source, coil, ground = (
        c.add("source", SignalVoltage(v=1.0)),
        c.add("coil", Inductor(L=1.0)),
        c.add("ground", Ground()),
    )
    switch, step = (
        c.add("switch", IdealClosingSwitch()),
        c.add("step", BooleanStep(startTime=1e-3, startValue=True)),
    )
    c.connect(source.p, switch.p)
    c.connect(switch.n, coil.p)
    c.connect(coil.n, source.n, ground.p)
    c.connect(step.y, switch.control)
    return c


# -- parameters, programs --------------------------------------------------------------------------------------------


def test_a_hundred_runs_share_one_compilation() -> None:
    program = compile_model(Discharge())
    for k in range(1, 101):
        result = program.simulate(TAU, parameters={"load.R": 1e3 * k})
        assert result["capacitor.v"].final == pytest.approx(10 * np.exp(-1 / k), rel=1e-12)
    stats = result.stats
    assert (stats.flattenings, stats.presolves, stats.symbolic_analyses) == (1, 1, 1)
    assert program.simulate(TAU, parameters={"load.R": 1e5}).stats.mode_analyses == 0


def test_a_program_stays_with_its_model_object() -> None:
    model = Discharge()
    assert simulate(model, TAU).names is simulate(model, TAU).names
    circuit = sharing()
    first = simulate(circuit, 2e-3)
    bleeder = circuit.add("bleeder", Resistor(R=1.0))
    circuit.connect(bleeder.p, circuit.b.p)
    circuit.connect(bleeder.n, circuit.ground.p)
    assert simulate(circuit, 2e-3)["b.v"].final < 1e-3 * first["b.v"].final


class Bank(Component):
    """Equal resistors in parallel."""

    n: Structural = Structural(int, default=1)
    p = Pin()
    q = Pin()

    def build(self) -> None:
        self.resistors = [Resistor(R=2.0) for _ in range(self.n)]

    def equations(self) -> Iterator[Statement]:
        for resistor in self.resistors:
            yield connect(self.p, resistor.p)
            yield connect(self.q, resistor.n)


class Banks(Component):
    """Two banks at 1 V."""

    def build(self) -> None:
        self.left, self.right = Bank(), Bank()
        self.source, self.ground = ConstantVoltage(V=1.0), Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.left.p, self.right.p)
        yield connect(self.source.n, self.left.q, self.right.q, self.ground.p)


def test_a_structural_change_of_a_part_is_compiled_anew() -> None:
    model = Banks()
    assert simulate(model, 1.0)["source.i"].final == pytest.approx(-1.0)
    model.left.n = 4
    result = simulate(model, 1.0)
    assert result["source.i"].final == pytest.approx(-2.5)
    assert result[model.left.resistors[3].i].path == "left.resistors[3].i"
    assert simulate(pickle.loads(pickle.dumps(model)), 1.0)["source.i"].final == pytest.approx(-2.5)


def test_programs_pickle_with_their_model() -> None:
    program = pickle.loads(pickle.dumps(compile_model(Discharge(R=2e3))))
    result = program.simulate(TAU)
    assert result[program.model.capacitor.v].final == pytest.approx(10 * np.exp(-0.5), rel=1e-13)
    circuit = pickle.loads(pickle.dumps(compile_model(sharing())))
    assert circuit.simulate(2e-3)[circuit.model.b.v].final == pytest.approx(2.5)


def test_initial_values_may_be_given_by_handle() -> None:
    model = Discharge()
    assert simulate(model, TAU, initial={model.capacitor.v: 4.0})["load.v"].final == pytest.approx(
        4 / np.e, rel=1e-13
    )


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"t_end": 0.0}, "end after its start"),
        ({"t_end": float("nan")}, "finite"),
        ({"t_end": 1.0, "t_start": 2.0}, "end after its start"),
        ({"t_end": 1.0, "method": "magic"}, "magic"),
        ({"t_end": 1.0, "rtol": -1.0}, "rtol"),
        ({"t_end": 1.0, "impulses": "maybe"}, "impulses"),
        ({"t_end": 1.0, "progress": 3}, "progress"),
        ({"t_end": 1.0, "until": 3.0}, "condition"),
        ({"t_end": 1.0, "start": 3.0}, "result of a run"),
        ({"t_end": 1.0, "parameters": {"load.R": -1.0}}, "load.R"),
    ],
)
def test_options_are_checked(options: dict[str, object], match: str) -> None:
    with pytest.raises(ParameterError, match=match):
        simulate(Discharge(), **options)


def test_unknown_options_and_paths_are_errors() -> None:
    with pytest.raises(TypeError, match="tolerance"):
        simulate(Discharge(), 1.0, tolerance=1e-3)
    with pytest.raises(UnknownPathError, match="load.S"):
        simulate(Discharge(), 1.0, parameters={"load.S": 1.0})


def test_tolerances_change_nothing_on_the_exact_path() -> None:
    a, b = simulate(Discharge(), TAU), simulate(Discharge(), TAU, method="exact", rtol=1e-2, atol=1e-2)
    np.testing.assert_array_equal(a["load.v"].values, b["load.v"].values)


# -- the end ---------------------------------------------------------------------------------------------------------


def test_until_ends_the_run() -> None:
    model = Discharge()
    program = compile_model(model)
    for _ in range(3):
        result = program.simulate(1.0, until=model.load.v < 5.0)
        assert result.t_end == pytest.approx(TAU * np.log(2), rel=1e-12)
        assert result.status == "until load.v < 5"
        assert result["load.v"].final == pytest.approx(5.0, rel=1e-12)
    assert program.counts.flattenings == 2
    assert program.simulate(1e-4, until=model.load.p.v < 5.0).status == "finished"
    with pytest.raises(UnknownPathError, match="no part"):
        program.simulate(1.0, until=Discharge().load.v < 5.0)


def test_until_tells_tables_apart() -> None:
    model = Discharge()
    program = compile_model(model)
    for level in (5.0, 2.0):
        line = table(model.load.v, (0.0, 10.0), (0.0, 10.0 / level))
        assert program.simulate(1.0, until=line < 1.0)["load.v"].final == pytest.approx(level, rel=1e-12)


def test_until_may_combine_conditions() -> None:
    model = sharing()
    result = simulate(model, 2e-3, until=(model.b.v > 1.0) & (model.a.v < 5.0))
    assert result.t_end == 1e-3
    assert result["b.v"].final == pytest.approx(2.5)


# -- continuing ------------------------------------------------------------------------------------------------------


def test_a_continued_run_joins_seamlessly() -> None:
    program = compile_model(Buck())
    whole = program.simulate(1e-3)
    first = program.simulate(0.4e-3)
    second = program.simulate(1e-3, start=first)
    assert (second.t_start, second.t_end) == (0.4e-3, 1e-3)
    for path in ("load.v", "inductor.i"):
        assert second[path].final == pytest.approx(whole[path].final, rel=1e-13)
        assert second[path].at(0.4e-3) == pytest.approx(first[path].final, rel=1e-13)
    inside = whole.events.times[whole.events.times > 0.4e-3 + 1e-9]
    np.testing.assert_allclose(second.events.times[1:], inside, rtol=1e-13)


def test_a_continued_run_keeps_parameters_and_takes_new_ones() -> None:
    program = compile_model(Discharge())
    first = program.simulate(TAU, parameters={"load.R": 2e3})
    assert program.simulate(2 * TAU, start=first)["load.v"].final == pytest.approx(
        10 * np.exp(-1.0), rel=1e-13
    )
    other = program.simulate(2 * TAU, start=first, parameters={"load.R": 1e3})
    assert other["load.v"].final == pytest.approx(10 * np.exp(-1.5), rel=1e-13)
    with pytest.raises(ParameterError, match="exclude"):
        program.simulate(2 * TAU, start=first, initial={"capacitor.v": 1.0})
    with pytest.raises(ParameterError, match="same model"):
        simulate(Discharge(), 2 * TAU, start=first)


def test_a_continued_run_may_end_on_a_condition() -> None:
    model = Discharge()
    program = compile_model(model)
    first = program.simulate(0.1 * TAU)
    result = program.simulate(1.0, start=first, until=model.load.v < 5.0)
    assert result.t_end == pytest.approx(TAU * np.log(2), rel=1e-12)


# -- steps -----------------------------------------------------------------------------------------------------------


def test_steps_with_changing_inputs() -> None:
    sim = compile_model(Driven(short=False)).start(inputs={"u": 1.0})
    v = 0.0
    for k in range(1, 9):
        u = float(k % 3)
        sim.advance(k * TAU / 2, inputs={"u": u})
        v = charge(TAU / 2, u, v)
        assert sim.result["capacitor.v"].final == pytest.approx(v, rel=1e-12, abs=1e-13)
    assert sim.t == 4 * TAU
    assert sim.result.status == "running"
    assert [e.kind for e in sim.result.events] == ["start"] + ["input"] * 8


def test_a_discrete_input_switches() -> None:
    sim = compile_model(Driven()).start(inputs={"u": 2.0, "short": False})
    sim.advance(20 * TAU)
    sim.advance(40 * TAU, inputs={"short": True})
    result = sim.result
    assert result["capacitor.v"].at(20 * TAU) == pytest.approx(2.0, rel=1e-8)
    assert result["capacitor.v"].final == pytest.approx(1.0, rel=1e-12)
    assert result.events[-1].modes == {"switch.closed": ("false", "true")}


def test_an_input_may_turn_into_a_function() -> None:
    sim = compile_model(Driven(short=False)).start(inputs={"u": 0.0})
    sim.advance(TAU)
    sim.advance(2 * TAU, inputs={"u": lambda t: t / TAU - 1.0})
    # v' = (s - v) / tau from rest: v = s - tau + tau exp(-s/tau)
    assert sim.result["capacitor.v"].final == pytest.approx(np.exp(-1.0), rel=1e-11)


def test_snapshots_bring_a_run_back() -> None:
    sim = compile_model(Buck()).start()
    sim.advance(1.23e-4)
    snapshot = sim.snapshot()
    sim.advance(3e-4)
    first = sim.result
    sim.restore(snapshot)
    assert sim.t == 1.23e-4
    sim.advance(3e-4)
    np.testing.assert_array_equal(sim.result["load.v"].values, first["load.v"].values)
    assert len(sim.result.events) == len(first.events)


def test_an_earlier_result_is_not_changed_by_later_steps() -> None:
    sim = compile_model(Discharge()).start()
    sim.advance(TAU)
    early = sim.result
    sim.advance(2 * TAU)
    assert early.t_end == TAU
    assert early["load.v"].final == pytest.approx(10 / np.e, rel=1e-13)
    with pytest.raises(ParameterError, match="cannot advance"):
        sim.advance(TAU)


def test_the_start_can_be_read_before_the_first_step() -> None:
    result = compile_model(Discharge()).start().result
    assert result["load.v"].final == 10.0


# -- failures and progress -------------------------------------------------------------------------------------------


def test_an_error_carries_what_was_computed() -> None:
    with pytest.raises(FlowInterruptedError) as caught:
        simulate(interrupted(), 2e-3)
    result = caught.value.result
    assert result.t_end == 1e-3
    assert result["coil.i"].final == pytest.approx(1e-3, rel=1e-12)
    assert result.status.startswith("failed: opening")


def test_an_error_at_the_start_carries_an_empty_result() -> None:
    model = Circuit()
    coil, source, ground = (
        model.add("coil", Inductor(L=1.0)),
        model.add("source", ConstantCurrent(I=1.0)),
        model.add("ground", Ground()),
    )
    model.connect(coil.p, source.p)
    model.connect(coil.n, source.n, ground.p)
    with pytest.raises(Exception, match="coil") as caught:
        simulate(model, 1.0, initial={"coil.i": 3.0})
    assert len(caught.value.result.t) == 0
    with pytest.raises(ParameterError, match="nothing was computed"):
        caught.value.result["coil.i"].at(0.0)


def test_an_interrupt_keeps_what_was_computed() -> None:
    def stop(t: float) -> None:
        if t > 5e-5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as caught:
        simulate(Buck(), 1e-3, progress=stop)
    result = caught.value.result
    assert 5e-5 < result.t_end < 1e-4
    assert result.status == "interrupted"
    assert len(result["load.v"].values) > 10


def test_an_error_in_a_given_function_keeps_what_was_computed() -> None:
    def u(t: float) -> float:
        if 5.1e-3 < t < 5.5e-3:
            raise ZeroDivisionError
        return 1.0

    with pytest.raises(ZeroDivisionError) as caught:
        simulate(Driven(short=False), 10e-3, inputs={"u": u})
    assert caught.value.result["capacitor.v"].final > 0.0


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_progress_is_a_bar_when_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    simulate(Buck(), 1e-4)
    simulate(Buck(), 1e-4, progress=False)
    assert stream.getvalue() == ""
    simulate(Buck(), 1e-4, progress=True)
    assert "%" in stream.getvalue()
    assert stream.getvalue().endswith("\n")


def test_a_bar_appears_by_itself_on_long_runs_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    from acausal.simulation import progress

    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    simulate(Discharge(), TAU)
    assert stream.getvalue() == ""
    monkeypatch.setattr(progress, "PATIENCE", -1.0)
    simulate(Buck(), 1e-4)
    assert "%" in stream.getvalue()


def test_a_callable_gets_the_time_reached() -> None:
    times: list[float] = []
    simulate(Buck(), 1e-4, progress=times.append)
    assert times == sorted(times)
    assert times[-1] == 1e-4


def test_modes_are_looked_at_ever_more_seldom(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("acausal.simulation.self_check.EVERY_VISIT", False)
    run = compile_model(Buck()).prepare(1e-3)
    begin(run)
    looked = [run.visit(5e-6) for _ in range(70)]
    assert [k for k, inside in enumerate(looked, 1) if inside] == [1, 4, 16, 64]
    assert [run.visit(length) for length in (1.9e-5, 2.1e-5, 8e-5, 1e-4)] == [False, True, False, True]
    monkeypatch.setattr("acausal.simulation.self_check.EVERY_VISIT", True)
    assert run.visit(5e-6) is True
