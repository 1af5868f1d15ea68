"""A motor behind an H-bridge of four ideal switches and four ideal diodes, against two references."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from acausal import Result, simulate
from tests.oracles.motor_drive import MotorDrive
from tests.systems.motor_drives import MotorBridge

STOP = 0.2
TIMES = np.sort(np.concatenate([np.arange(1, 201) * 1e-3, np.random.default_rng(8).uniform(0, STOP, 600)]))
CASE = MotorDrive()


@pytest.fixture(scope="module")
def direct() -> Result:
    return simulate(MotorBridge(), STOP)


@pytest.fixture(scope="module")
def geared() -> Result:
    return simulate(MotorBridge(geared=True), STOP)


def reference(peers: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The script that writes the references of the common benchmark cases."""
    monkeypatch.setattr(sys, "path", [*sys.path, str(peers / "common")])
    spec = importlib.util.spec_from_file_location("peers_reference", peers / "reference" / "make.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_speed_against_the_reference_of_the_peers(
    direct: Result, peers: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = reference(peers, monkeypatch).b8()
    error = np.abs(direct["rotor.w"].at(np.arange(1, 201) * 1e-3) - expected)
    assert error.max() <= 1e-6 * np.abs(expected).max()


def test_current_and_speed_against_the_exact_solution(direct: Result) -> None:
    exact = CASE.states(TIMES)
    for path, expected in zip(("inductor.i", "rotor.w"), exact.T, strict=True):
        assert np.abs(direct[path].at(TIMES) - expected).max() <= 1e-9 * np.abs(expected).max()


def test_a_load_behind_a_gear_counts_by_the_square_of_the_ratio(direct: Result, geared: Result) -> None:
    """``0.6e-4 + 4e-3 / 10**2 = 1e-4``: one degree of freedom, the same currents, a tenth of the speed."""
    i = direct["inductor.i"].at(TIMES)
    assert np.abs(geared["inductor.i"].at(TIMES) - i).max() <= 1e-9 * np.abs(i).max()
    w = direct["rotor.w"].at(TIMES)
    assert np.abs(10 * geared["load.w"].at(TIMES) - w).max() <= 1e-9 * np.abs(w).max()


@pytest.mark.parametrize("name", ["direct", "geared"])
def test_two_modes_of_three_states_and_a_closed_balance(name: str, request: pytest.FixtureRequest) -> None:
    """Current, speed and angle. In either direction the current flows through two closed switches."""
    result = request.getfixturevalue(name)
    assert [(mode.states, mode.path) for mode in result.modes] == [(3, "exact")] * 2
    currents = result["inductor.i"].at(TIMES)
    assert currents.min() < -0.1 and currents.max() > 0.1
    audit = result.audit()
    assert abs(audit.balance) < 1e-9 * abs(audit.into("source"))
