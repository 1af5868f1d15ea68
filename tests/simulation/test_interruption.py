"""Runs that are interrupted anywhere go on as if they had not been."""

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

import numpy as np
import pytest

from acausal import (
    Circuit,
    Component,
    Discrete,
    Eq,
    Program,
    Statement,
    Variable,
    assign,
    compile_model,
    der,
    pre,
    reinit,
    sample,
    simulate,
    when,
)
from acausal.components.electrical import (
    Capacitor,
    Diode,
    Ground,
    IdealDiode,
    Inductor,
    Resistor,
    SineVoltage,
)
from examples.buck_converter import Buck

PACKAGE = "acausal"


class Interrupt:
    """Raises KeyboardInterrupt when the package executes its ``count``-th line; counts without a limit else."""

    def __init__(self, count: float = float("inf")) -> None:
        self.left, self.lines = count, 0

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        if PACKAGE not in frame.f_code.co_filename:
            return None
        if event == "line":
            self.lines += 1
            if self.lines >= self.left:
                self.left = float("inf")
                raise KeyboardInterrupt
        return self

    def during(self, work: Callable[[], Any]) -> Any:
        before = sys.gettrace()
        sys.settrace(self)
        try:
            return work()
        finally:
            sys.settrace(before)


def interrupted(program: Program, t_end: float, count: int, **options: Any) -> Any:
    """The result that an interruption at some line leaves."""
    with pytest.raises(KeyboardInterrupt) as caught:
        Interrupt(count).during(lambda: program.simulate(t_end, **options))
    return getattr(caught.value, "result", None)


def lines_of(program: Program, t_end: float, **options: Any) -> int:
    counter = Interrupt()
    counter.during(lambda: program.simulate(t_end, **options))
    return counter.lines


def rectifier(junction: bool) -> Circuit:
    c = Circuit()
    source, ground = c.add("source", SineVoltage(V=10.0, f=50.0)), c.add("ground", Ground())
    line, capacitor = c.add("line", Inductor(L=1e-3)), c.add("capacitor", Capacitor(C=1e-4))
    load = c.add("load", Resistor(R=20.0))
    diode = c.add("diode", Diode() if junction else IdealDiode())
    c.connect(source.p, line.p)
    c.connect(line.n, diode.p)
    c.connect(diode.n, capacitor.p, load.p)
    c.connect(capacitor.n, load.n, source.n, ground.p)
    return c


def test_an_exact_run_goes_on_with_the_same_bits() -> None:
    program, t_end = compile_model(Buck()), 2e-4
    whole = program.simulate(t_end)
    total = lines_of(program, t_end)
    rng = np.random.default_rng(20261122)
    continued = 0
    for count in rng.integers(1, total, 24).tolist():
        first = interrupted(program, t_end, count)
        if first is None or first.state is None:
            continue
        continued += 1
        assert first.status == "interrupted"
        rest = program.simulate(t_end, start=first) if first.t_end < t_end else first
        for path in ("load.v", "inductor.i"):
            assert rest[path].final == whole[path].final
    assert continued > 14


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("junction", [False, True])
def test_an_integrated_run_goes_on_within_its_tolerance(junction: bool) -> None:
    program, t_end = compile_model(rectifier(junction)), 0.012
    options: dict[str, Any] = {"method": "explicit" if not junction else "auto", "rtol": 1e-7}
    whole = program.simulate(t_end, **options)
    total = lines_of(program, t_end, **options)
    rng = np.random.default_rng(7)
    continued = 0
    for count in rng.integers(total // 5, total, 5).tolist():
        first = interrupted(program, t_end, count, **options)
        if first is None or first.state is None:
            continue
        continued += 1
        rest = program.simulate(t_end, start=first, **options) if first.t_end < t_end else first
        assert rest["capacitor.v"].final == pytest.approx(whole["capacitor.v"].final, rel=1e-6)
        assert rest["line.i"].final == pytest.approx(whole["line.i"].final, abs=1e-6)
    assert continued > 2


def test_steps_of_integration_are_kept_without_any_event() -> None:
    c = Circuit()
    source, ground = c.add("source", SineVoltage(V=1.0, f=50.0)), c.add("ground", Ground())
    load, capacitor = c.add("load", Resistor(R=1.0)), c.add("capacitor", Capacitor(C=1e-3))
    c.connect(source.p, load.p)
    c.connect(load.n, capacitor.p)
    c.connect(capacitor.n, source.n, ground.p)
    program = compile_model(c)
    total = lines_of(program, 0.4, method="explicit")
    first = interrupted(program, 0.4, int(0.6 * total), method="explicit")
    assert 0.1 < first.t_end < 0.4
    whole = program.simulate(0.4, method="explicit")
    at = np.linspace(0.0, first.t_end, 7)
    np.testing.assert_allclose(first["capacitor.v"].at(at), whole["capacitor.v"].at(at), atol=1e-5)


def test_an_observer_sees_steps_and_may_end_the_run() -> None:
    class Enough(Exception):
        pass

    program, seen = compile_model(rectifier(junction=True)), []

    def watch(t: float) -> None:
        seen.append(t)
        if t > 0.002:
            raise Enough

    with pytest.raises(Enough) as caught:
        program.simulate(0.02, progress=watch)
    result: Any = getattr(caught.value, "result", None)
    assert len(seen) > 5
    assert 0.001 < result.t_end <= seen[-1]
    rest = program.simulate(0.02, start=result)
    assert rest["capacitor.v"].final == pytest.approx(
        program.simulate(0.02)["capacitor.v"].final, rel=1e-4, abs=1e-6
    )


def test_a_stepped_run_goes_on_after_an_interruption() -> None:
    program = compile_model(Buck())
    whole = program.simulate(1e-4)
    total = lines_of(program, 1e-4)
    rng = np.random.default_rng(3)
    for count in rng.integers(total // 4, total, 5).tolist():
        sim = program.start(span=1e-4)
        try:
            Interrupt(count).during(lambda sim=sim: sim.advance(1e-4))
        except KeyboardInterrupt:
            pass
        sim.advance(1e-4)
        assert sim.result["load.v"].final == pytest.approx(whole["load.v"].final, rel=1e-13)


class Counted(Component):
    """Rises with slope one and falls back at one; ticks in between end steps of integration."""

    x: Variable = Variable()
    n: Discrete = Discrete(int)
    k: Discrete = Discrete(int)

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), 1.0)
        yield when(self.x >= 1.0, reinit(self.x, 0.0), assign(self.n, pre(self.n) + 1))
        yield when(sample(period=0.3, start=0.1), assign(self.k, pre(self.k) + 1))


def test_steps_of_the_segment_before_are_no_part_of_one_that_is_interrupted_as_it_begins() -> None:
    program, t_end = compile_model(rectifier(False)), 0.012
    options: dict[str, Any] = {"method": "explicit", "rtol": 1e-7}
    begins = []

    class Noting(Interrupt):
        def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
            if event == "call" and frame.f_code.co_name == "_integrated":
                begins.append(self.lines)
            return super().__call__(frame, event, arg)

    whole = program.simulate(t_end, **options)
    Noting().during(lambda: program.simulate(t_end, **options))
    off = whole.events[-1].t
    assert len(begins) == 2
    for later in (2, 5, 20, 60):
        first = interrupted(program, t_end, begins[1] + later, **options)
        assert first.t_end == pytest.approx(off, abs=1e-12)
        rest = program.simulate(t_end, start=first, **options)
        assert rest["capacitor.v"].final == pytest.approx(whole["capacitor.v"].final, rel=1e-6)


@pytest.mark.parametrize("method", ["auto", "explicit", "implicit"])
@pytest.mark.parametrize("stop", [0.35, 1.0, 2.0, 3.1])
def test_no_event_is_lost_in_the_step_that_is_interrupted(stop: float, method: str) -> None:
    model = Counted()

    def watch(t: float) -> None:
        if t >= stop:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as info:
        simulate(model, 9.0, method=method, progress=watch)
    before = getattr(info.value, "result")  # noqa: B009
    assert before["x"].final <= 1.0 + 1e-12
    result = simulate(model, 9.0, start=before, until=model.n >= 4, method=method)
    assert result.t_end == pytest.approx(4.0, abs=1e-9)
    assert [result[name].final for name in "nk"] == [4.0, 14.0]
