"""Many runs of one program: what they measure, where they run, and what is left of those that do not end well."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import acausal as ac
from acausal import Program, Result, random_sets, sweep
from tests.results.models import Buck, Discharge

ONE = 1e-3


def left(result: Result) -> float:
    """Voltage at the end of a discharge, 10 V exp(-t / (R C))."""
    return result["capacitor.v"].final


def both(result: Result) -> dict[str, float]:
    """The same with what is lost."""
    return {"v": result["capacitor.v"].final, "mean": result["capacitor.v"].mean()}


def deadly(result: Result) -> float:
    """Ends the process of the third run."""
    if result.parameters["R"] == 3e3:
        os._exit(1)
    return left(result)


def exact(R: float) -> float:
    """Closed form of `left`."""
    return 10.0 * math.exp(-ONE / (R * 1e-6))


RESISTANCES = [1e3, 2e3, 3e3, 4e3]


@pytest.mark.parametrize(
    "make",
    [lambda: None, lambda: ThreadPoolExecutor(2), lambda: ProcessPoolExecutor(2)],
    ids=["one after the other", "threads", "processes"],
)
def test_a_grid_gives_a_column_of_values(make: Callable[[], Executor | None]) -> None:
    executor = make()
    found = sweep(Program(Discharge()), {"R": RESISTANCES}, ONE, measure=left, executor=executor)
    if executor is not None:
        executor.shutdown()
    assert found.values == pytest.approx([exact(R) for R in RESISTANCES], rel=1e-13)
    assert found.table()["R"].tolist() == RESISTANCES
    assert found.failed == []


def test_two_parameters_make_a_grid_and_mappings_columns() -> None:
    found = sweep(
        Buck(),
        {"duty": [0.3, 0.5], "load.R": [4.0, 5.0, 6.0]},
        2e-4,
        measure=lambda r: {"v": r["capacitor.v"].mean()},
    )
    table = found.table()
    assert list(table) == ["duty", "load.R", "v"]
    assert table["duty"].tolist() == [0.3] * 3 + [0.5] * 3
    assert table["load.R"].tolist() == [4.0, 5.0, 6.0] * 2
    alone = Program(Buck()).simulate(2e-4, parameters={"duty": 0.5, "load.R": 4.0})
    assert table["v"][3] == alone["capacitor.v"].mean()


def test_lists_of_sets_and_whole_results() -> None:
    found = sweep(Discharge(), [{"R": 1e3}, {"R": 5e3}], ONE)
    assert [type(value) for value in found.values] == [Result, Result]
    assert found[1].value["capacitor.v"].final == pytest.approx(exact(5e3), rel=1e-13)
    with pytest.raises(ac.ParameterError, match="measure numbers, got Result"):
        found.table()


def test_draws_are_the_same_for_the_same_seed() -> None:
    of: dict[str, Callable[[np.random.Generator], float]] = {"R": lambda rng: rng.normal(1e3, 10.0)}
    assert random_sets(of, 5, seed=3) == random_sets(of, 5, seed=3) != random_sets(of, 5, seed=4)
    found = sweep(Discharge(), random_sets(of, 200), ONE, measure=left)
    # dv/dR = v t / (R^2 C): a deviation of 10 Ohm is one of 0.01 v.
    assert np.std(found.values) == pytest.approx(0.01 * exact(1e3), rel=0.15)


def test_a_run_that_fails_takes_no_other_down() -> None:
    found = sweep(Discharge(), {"R": [1e3, -1.0, 2e3]}, ONE, measure=left)
    assert [run.parameters for run in found.failed] == [{"R": -1.0}]
    assert isinstance(found.failed[0].error, ac.ParameterError)
    assert np.isnan(found.table()["value"]).tolist() == [False, True, False]
    assert repr(found) == "<Sweep of 3 runs, 1 of them failed>"


def test_a_process_that_dies_is_told_and_what_was_done_is_kept(tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    with ProcessPoolExecutor(1) as executor:
        found = sweep(Discharge(), {"R": RESISTANCES}, ONE, measure=deadly, executor=executor, log=log)
    assert found.values[:2] == pytest.approx([exact(R) for R in RESISTANCES[:2]], rel=1e-13)
    assert [str(run.error) for run in found.failed] == [
        "the process of this run, or of one beside it, died before it was finished"
    ] * 2
    again = sweep(Discharge(), {"R": RESISTANCES}, ONE, measure=left, log=log)
    assert again.values == pytest.approx([exact(R) for R in RESISTANCES], rel=1e-13)


def test_an_interrupted_sweep_goes_on_where_it_was(tmp_path: Path) -> None:
    log, asked = tmp_path / "runs.jsonl", list[float]()

    def measured(result: Result) -> dict[str, float]:
        asked.append(result.parameters["R"])
        if len(asked) == 3:
            raise KeyboardInterrupt
        return both(result)

    with pytest.raises(KeyboardInterrupt) as info:
        sweep(Discharge(), {"R": RESISTANCES}, ONE, measure=measured, log=log)
    assert [run.parameters["R"] for run in info.value.sweep] == RESISTANCES[:2]  # type: ignore[attr-defined]
    found = sweep(Discharge(), {"R": RESISTANCES}, ONE, measure=measured, log=log)
    assert asked == [*RESISTANCES[:3], *RESISTANCES[2:]]
    assert found.table()["v"] == pytest.approx([exact(R) for R in RESISTANCES], rel=1e-13)


def test_a_log_that_was_cut_loses_its_last_line_alone(tmp_path: Path) -> None:
    log = tmp_path / "runs.jsonl"
    sweep(Discharge(), {"R": RESISTANCES}, ONE, measure=left, log=log)
    text = log.read_text()
    log.write_text(text[:-20])
    asked: list[float] = []

    def measured(result: Result) -> float:
        asked.append(result.parameters["R"])
        return left(result)

    sweep(Discharge(), {"R": RESISTANCES}, ONE, measure=measured, log=log)
    assert asked == RESISTANCES[3:]
    assert [json.loads(line)["parameters"]["R"] for line in log.read_text().splitlines()] == RESISTANCES
    log.write_text("what is this\n" + text)
    with pytest.raises(ac.ParameterError, match="line 1 of .* is no run of a sweep"):
        sweep(Discharge(), {"R": RESISTANCES}, ONE, measure=left, log=log)


@pytest.mark.parametrize("wrong", [[1.0, 2.0], {"R": [[1.0]]}])
def test_other_parameters_are_refused(wrong: Any) -> None:
    with pytest.raises(ac.ParameterError, match=r"takes a (mapping|number)"):
        sweep(Discharge(), wrong, ONE)


def test_tables_of_other_libraries() -> None:
    pytest.importorskip("pandas")
    found = sweep(Discharge(), {"R": RESISTANCES}, ONE, measure=both)
    frame = found.to_pandas()
    assert frame["v"].tolist() == found.table()["v"].tolist()
    pytest.importorskip("xarray")
    assert found.to_xarray()["mean"].sel(R=2e3).item() == found.table()["mean"][1]
