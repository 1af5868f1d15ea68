"""Every example satisfies its equations as written, at both limits of events and between.

The residual is taken from the model before any reduction, and nothing of it serves the runs.
"""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from acausal import Program, Result
from tests.examples.test_examples import EXAMPLES, load
from tests.systems.residual_defect import defect

CHECKED = 20
"""Points of a check of the last run."""
EVENTS, BETWEEN = 300, 60
"""Events of a run and times between them that are looked at; by chance, so that no pulse pattern is in step with them."""


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_an_example_satisfies_its_equations(
    script: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.pyplot as plt

    runs: list[tuple[Program, Result]] = []
    simulate = Program.simulate

    def remembering(program: Program, *args: Any, **options: Any) -> Result:
        result = simulate(program, *args, **options)
        runs.append((program, result))
        return result

    monkeypatch.setattr(Program, "simulate", remembering)
    monkeypatch.chdir(tmp_path)
    load(script).main()
    plt.close("all")
    assert runs
    residuals = {program: program.residual() for program, _ in runs}
    chance = np.random.default_rng(1)
    for program, result in runs:
        between = chance.uniform(result.t_start, result.t_end, BETWEEN)
        assert defect(residuals[program], result, between, EVENTS) < 1e-9
    runs[-1][1].check(CHECKED).require()
