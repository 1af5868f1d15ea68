"""An attempt at the start goes from values to a value: the run stands where it was, and the next attempt finds the same."""

from collections.abc import Iterator
from dataclasses import fields

import numpy as np
import pytest

from acausal import Component, Eq, Statement, Variable, compile_model, connect, der
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, IdealDiode, Resistor
from acausal.simulation.run import Run
from acausal.simulation.starts.completion import Completer
from acausal.simulation.starts.initialization import complete
from acausal.simulation.starts.problem import StartProblem
from acausal.simulation.starts.provisional import entered
from acausal.simulation.starts.starting import Beginning, Starting
from acausal.simulation.state import State
from tests.systems.test_tiny_starts import SliderCrank


class Charging(Component):
    def build(self) -> None:
        self.source, self.ground = ConstantVoltage(V=10.0), Ground()
        self.diode, self.resistor, self.capacitor = IdealDiode(), Resistor(R=2.0), Capacitor(C=1e-3)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.diode.p)
        yield connect(self.diode.n, self.resistor.p)
        yield connect(self.resistor.n, self.capacitor.p)
        yield connect(self.capacitor.n, self.source.n, self.ground.p)


class Cubic(Component):
    x: Variable = Variable()
    y: Variable = Variable()

    def equations(self) -> Iterator[Statement]:
        yield Eq(der(self.x), 8.0 - self.y)
        yield Eq(self.y**3 + self.y, self.x)


def problem_of(run: Run) -> StartProblem:
    return Starting(run)._provisional(Beginning(), None)


def same(a: State, b: State) -> bool:
    pairs = [(getattr(a, f.name), getattr(b, f.name)) for f in fields(State)]
    return all(np.array_equal(x, y) if isinstance(x, np.ndarray) else x == y for x, y in pairs)


@pytest.mark.parametrize(
    ("model", "initial"),
    [
        (Charging(), {"capacitor.v": -3.0}),
        (Cubic(), "steady state"),
        (SliderCrank(), {"joint.phi": 0.5, "joint.w": 1.0}),
    ],
    ids=["linear", "nonlinear", "mechanism"],
)
def test_an_attempt_changes_neither_the_run_nor_its_problem(model: Component, initial: object) -> None:
    run = compile_model(model).prepare(1.0, initial=initial)
    problem = problem_of(run)
    before, given = run.snapshot(), problem.state
    copies = [np.array(v) for f in fields(State) if isinstance(v := getattr(given, f.name), np.ndarray)]
    first, second = (complete(entered(problem, {}))[0] for _ in range(2))
    assert same(run.snapshot(), before)
    assert problem.state is given
    kept = [v for f in fields(State) if isinstance(v := getattr(given, f.name), np.ndarray)]
    assert all(np.array_equal(a, b) for a, b in zip(copies, kept, strict=True))
    scale = 1.0 + np.abs(first.z)
    # The second search begins at a model that touches where the first one ended.
    assert (np.abs(first.z - second.z) <= 1e-12 * scale).all()


@pytest.mark.parametrize(
    "initial",
    [{}, {"capacitor.v": -3.0}, "steady state", {"": "steady state", "capacitor.v": 20.0}, {"diode.i": 2.0}],
)
def test_an_affine_model_is_completed_by_one_linear_solution(
    initial: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No search and no iteration takes part, whatever is demanded."""
    entered: list[object] = []
    monkeypatch.setattr(Completer, "__init__", lambda *rows: entered.append(rows))
    result = compile_model(Charging()).start(span=1.0, initial=initial).result
    assert entered == []
    assert result.stats.newton_iterations == 0
