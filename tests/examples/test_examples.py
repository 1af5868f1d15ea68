"""Every example answers its question as the theory of its field does, prints both, and draws its picture.

An example is a script with ``main()``, which returns ``{name of a figure: (simulated, theory, tolerance)}``; the
tolerance is relative and says how far the theory holds. If ``main`` has an argument ``gif``, it writes an animation too.

Its runs satisfy the equations as written, at both limits of events and between. The residual is taken from the model
before any reduction, and nothing of it serves the runs.
"""

from importlib.util import module_from_spec, spec_from_file_location
from inspect import signature
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from acausal import Program, Result
from tests.systems.residual_defect import defect

EXAMPLES = sorted((Path(__file__).resolve().parents[2] / "examples").glob("*.py"))
MOST_LINES = 80
CHECKED = 20
"""Points of a check of the last run."""
EVENTS, BETWEEN = 300, 60
"""Events and times between them that are looked at; by chance, so that no pulse pattern is in step with them.

All runs of an example share them: what repeats a model with other numbers is looked at less often.
"""
Runs = list[tuple[Program, Result]]


def load(script: Path) -> ModuleType:
    spec = spec_from_file_location(f"example_{script.stem}", script)
    assert spec is not None and spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(autouse=True)
def runs_confirm_themselves_as_those_of_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """The residual, which looks at them here, sees what a look inside every segment would."""
    monkeypatch.setattr("acausal.simulation.self_check.EVERY_VISIT", False)


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    """All runs from now on, with their programs."""
    found: Runs = []
    simulate = Program.simulate

    def remembering(program: Program, *args: Any, **options: Any) -> Result:
        result = simulate(program, *args, **options)
        found.append((program, result))
        return result

    monkeypatch.setattr(Program, "simulate", remembering)
    return found


def satisfy_their_equations(runs: Runs) -> bool:
    assert runs
    residuals = {program: program.residual() for program, _ in runs}
    chance = np.random.default_rng(1)
    events, points = (-(-n // len(runs)) for n in (EVENTS, BETWEEN))
    for program, result in runs:
        between = chance.uniform(result.t_start, result.t_end, points)
        assert defect(residuals[program], result, between, events) < 1e-9
    runs[-1][1].check(CHECKED).require()
    return True


@pytest.mark.sweep(every=9)
@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_an_example_agrees_with_theory_and_satisfies_its_equations(
    script: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    runs: Runs,
) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    main = load(script).main
    moves = "gif" in signature(main).parameters
    answer = main(gif=True) if moves else main()
    plt.close("all")
    assert answer
    for name, (simulated, theory, tolerance) in answer.items():
        assert 0 < tolerance <= 0.05, name
        assert simulated == pytest.approx(theory, rel=tolerance, abs=0), name
    lines = capsys.readouterr().out.splitlines()
    for name, (simulated, theory, _) in answer.items():
        shown = [line for line in lines if line.startswith(f"{name} ")]
        assert len(shown) == 1, name
        assert shown[0].removeprefix(name).split() == [f"{simulated:.5g}", "theory", f"{theory:.5g}"]
    pictures = [f"{script.stem}.gif"] * moves + [f"{script.stem}.png"]
    assert sorted(p.name for p in tmp_path.iterdir()) == pictures
    assert satisfy_their_equations(runs)


@pytest.mark.parametrize("script", EXAMPLES, ids=lambda script: script.stem)
def test_a_script_is_short_and_opens_with_its_question(script: Path) -> None:
    lines = script.read_text(encoding="utf-8").splitlines()
    assert len(lines) <= MOST_LINES
    assert lines[0].startswith('"""') and lines[0].endswith("?")
