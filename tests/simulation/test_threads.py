"""Threads that share a program, and what it keeps."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from acausal import compile_model
from acausal.simulation.analysed_modes import Recent
from tests.results.models import Buck


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns after a microsecond, not after 5 ms: what they share and change is found half changed."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("restless")
def test_threads_may_share_a_program() -> None:
    program = compile_model(Buck())
    loads = [1.0 + 0.5 * (k // 4) for k in range(12)]

    def run(R: float) -> np.ndarray:
        return program.simulate(2e-4, parameters={"load.R": R})["load.v"].values

    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(run, loads))
    alone = {
        R: compile_model(Buck()).simulate(2e-4, parameters={"load.R": R})["load.v"].values for R in loads
    }
    for R, values in zip(loads, together, strict=True):
        np.testing.assert_array_equal(values, alone[R])


@pytest.mark.usefixtures("restless")
def test_threads_may_share_what_is_given_back() -> None:
    kept: Recent[int, int] = Recent(60)

    def ask(seed: int) -> None:
        for k in range(3000):
            key = (7 * k + seed) % 11
            if kept.get(key) is None:
                kept.put(key, key, 10 + key)

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(4)))
    assert kept.bytes == sum(10 + key for key in range(11) if kept.get(key) is not None) <= 60
