"""How do models with many components grow? A ladder, a grid and a chain, built from components of the library."""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from common import Row, deviation, finish

from acausal import Component, Result, compile_model

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.systems.ladder import Ladder, exact_voltages
from tests.systems.large_models import Chain, Grid, chain_positions, grid_voltages

SIZES = (100, 1000, 10000)
REPEAT = 3
LARGEST_GROWTH = 1.2
"""Exponent from the second to the third size."""
TOTAL = 1.0
"""Seconds for the second size."""
ALLOWED = 1e-5
LARGEST_GRID = 1100
"""Nodes up to which the eigenvectors of a grid are a reference."""


def ladder_error(n: int, result: Result) -> float:
    """Deviation from the modes of a ladder."""
    at = range(0, n, max(1, n // 20))
    return deviation(
        np.array([result[f"section[{k}].c.v"].final for k in at]), exact_voltages(n, 1.0)[list(at)]
    )


def grid_error(n: int, result: Result) -> float | None:
    """Deviation from the eigenvectors of a grid; at larger sizes nothing to compare with."""
    if n > LARGEST_GRID:
        return None
    m = side(n)
    found = [[result[f"c[{i}][{j}].v"].final for j in range(m)] for i in range(m)]
    return deviation(np.array(found), grid_voltages(m, 1.0))


def chain_error(n: int, result: Result) -> float:
    """Deviation from the modes of a chain, at the end that is pulled: the wave does not get far in a long one."""
    at = range(max(0, n - 300), n, max(1, min(n, 300) // 20))
    return deviation(np.array([result[f"mass[{k}].s"].final for k in at]), chain_positions(n, 10.0)[list(at)])


def side(n: int) -> int:
    """Nodes along a side of a grid with about ``n`` nodes."""
    return round(math.sqrt(n))


Case = tuple[str, Callable[[int], Component], float, Callable[[int, Result], float | None]]
CASES: tuple[Case, ...] = (
    ("RC ladder", lambda n: Ladder(n=n), 1.0, ladder_error),
    ("RC grid", lambda n: Grid(m=side(n)), 1.0, grid_error),
    ("chain of masses", lambda n: Chain(n=n), 10.0, chain_error),
)


def measured(case: Case, n: int) -> tuple[float, float, float | None]:
    """Median times of build and run, and the error."""
    _, model, end, error = case
    built, ran, result = [], [], None
    for _ in range(REPEAT):
        start = time.perf_counter()
        program = compile_model(model(n))
        middle = time.perf_counter()
        result = program.simulate(end)
        ran.append(time.perf_counter() - middle)
        built.append(middle - start)
    assert result is not None
    return median(built), median(ran), error(n, result)


def rows(case: Case) -> list[Row]:
    """Times at all sizes, their sum at the second, their growth to the third."""
    name, found, times = case[0], [], {}
    for n in SIZES:
        build, run, error = times[n] = measured(case, n)
        allowed = None if error is None else ALLOWED
        found.append(Row(f"{name}, N = {n}: build", build))
        found.append(Row(f"{name}, N = {n}: run {case[2]:g} s, rtol 1e-6", run, error=error, allowed=allowed))
    _, second, third = SIZES
    found.insert(4, Row(f"{name}, N = {second}: build and run", sum(times[second][:2]), TOTAL))
    for k, what in enumerate(("build", "run")):
        exponent = math.log(times[third][k] / times[second][k]) / math.log(third / second)
        found.append(Row(f"{name}: growth exponent of {what}", exponent, LARGEST_GROWTH, unit=""))
    return found


if __name__ == "__main__":
    compile_model(Ladder(n=2)).simulate(0.1)
    finish([row for case in CASES for row in rows(case)])
