"""The same bits: in a second run, with a warm cache, and in another process."""

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import casadi
import numpy as np
import pytest

from acausal import Circuit, Program, Result, compile_model
from acausal.components.blocks import PWM, Hysteresis, Mean
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Resistor,
    SineVoltage,
    VoltageSensor,
)
from acausal.simulation import compiled as compilation
from tests.systems.circuits import circuit, diode_bridge

ROOT = Path(__file__).resolve().parents[2]


def converter() -> Circuit:
    """A rectifier that feeds a chopper with a clock, a sampled mean and a hysteresis: every kind of event."""
    model = circuit(
        ("line", SineVoltage(V=325.0, f=50.0), "a", "b"),
        ("Ls", Inductor(L=1e-3), "a", "c"),
        *diode_bridge("cb", "plus", "0"),
        ("smoothing", Capacitor(C=200e-6), "plus", "0"),
        ("switch", IdealClosingSwitch(), "plus", "x"),
        ("free", IdealDiode(), "0", "x"),
        ("choke", Inductor(L=2e-3), "x", "out"),
        ("output", Capacitor(C=50e-6), "out", "0"),
        ("load", Resistor(R=20.0), "out", "0"),
        ("extra", IdealClosingSwitch(), "out", "d"),
        ("resistor", Resistor(R=40.0), "d", "0"),
        ("bias", ConstantVoltage(V=5.0), "e", "0"),
        ("bleeder", Resistor(R=1e4), "out", "e"),
        ("voltmeter", VoltageSensor(), "out", "0"),
        pwm=PWM(frequency=5e3, duty=0.4),
        mean=Mean(period=1e-3),
        comparator=Hysteresis(uLow=90.0, uHigh=110.0),
    )
    model.connect(model.pwm.y, model.switch.control)
    model.connect(model.voltmeter.v, model.mean.u, model.comparator.u)
    model.connect(model.comparator.y, model.extra.control)
    return model


def fingerprint(result: Result) -> str:
    """Hash of all instants, modes and signals."""
    times = np.linspace(result.t_start, result.t_end, 257)
    found = hashlib.sha256()
    for step in result.steps:
        found.update(np.float64(step.t).tobytes() + repr((step.kind, step.before, step.after)).encode())
    for path in ("Ls.i", "smoothing.v", "choke.i", "output.v", "mean.y", "t0.v", "line.i", "extra.closed"):
        found.update(np.asarray(result[path].at(times), float).tobytes())
    return found.hexdigest()


def run(program: Program, **options: Any) -> str:
    return fingerprint(program.simulate(0.01, **options))


def in_new_process(seed: str) -> str:
    code = "from tests.systems.test_determinism import *; print(run(compile_model(converter())))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONHASHSEED": seed},
    )
    return done.stdout.strip()


@pytest.fixture(scope="module")
def program() -> Program:
    return compile_model(converter())


@pytest.fixture(scope="module")
def first(program: Program) -> str:
    return run(program)


def test_the_model_has_every_kind_of_event(program: Program) -> None:
    result = program.simulate(0.01)
    assert {"start", "time", "state"} <= {s.kind for s in result.steps}
    assert len({s.after for s in result.steps}) >= 6


def test_a_second_run_gives_the_same_bits(program: Program, first: str) -> None:
    assert run(program) == first


def test_runs_between_change_nothing(program: Program, first: str) -> None:
    other = run(program, parameters={"load.R": 15.0, "line.V": 250.0}, initial={"smoothing.v": 100.0})
    assert other != first
    assert run(program) == first


def test_another_object_of_the_model_gives_the_same_bits(first: str) -> None:
    assert run(compile_model(converter())) == first


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize("seed", ["0", "4711"])
def test_a_new_process_gives_the_same_bits(first: str, seed: str) -> None:
    assert in_new_process(seed) == first


def _fail(*arguments: Any, **keywords: Any) -> None:
    msg = "compiled again"
    raise AssertionError(msg)


COMPILATION: Iterable[tuple[Any, str]] = (
    (compilation, "flatten"),
    (compilation, "reduce_model"),
    (compilation, "discrete_program"),
    (compilation, "source_program"),
    (casadi, "Function"),
    (casadi.SX, "sym"),
)


def test_many_runs_with_other_parameters_compile_nothing(
    program: Program, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for owner, name in COMPILATION:
        monkeypatch.setattr(owner, name, _fail)
    finals = set()
    for k in range(30):
        parameters = {"load.R": 10.0 + 0.1 * k, "line.V": 300.0 + 0.5 * k, "choke.L": 1e-3 * (1 + 0.01 * k)}
        result = program.simulate(1e-4, parameters=parameters)
        finals.add(result["output.v"].final)
    assert len(finals) == 30
    stats = result.stats
    assert (stats.flattenings, stats.presolves, stats.symbolic_analyses) == (1, 1, 1)
