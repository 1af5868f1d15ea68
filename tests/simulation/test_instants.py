"""What an instant of a nonlinear model looks at: as few touching models and analysed modes as its search needs."""

from collections.abc import Iterator

import numpy as np
import pytest

import acausal.simulation.analysed_modes as analysed_modes
from acausal import Component, Eq, If, Parameter, Result, Statement, compile_model, connect
from acausal.components.blocks import BooleanPulse
from acausal.components.electrical import (
    ConstantVoltage,
    Diode,
    Ground,
    IdealClosingSwitch,
    Inductor,
    Resistor,
)
from acausal.simulation.searching import Searching
from tests.systems.mechanism_models import Bob, G

EDGES = 20


class Chopper(Component):
    """A switch and a junction diode feed a coil."""

    def build(self) -> None:
        self.source, self.pulse = ConstantVoltage(V=10.0), BooleanPulse(width=0.5, period=1e-4)
        self.switch, self.diode, self.ground = IdealClosingSwitch(), Diode(R=1e6), Ground()
        self.coil, self.load = Inductor(L=1e-3), Resistor(R=2.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.pulse.y, self.switch.control)
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.coil.p)
        yield connect(self.coil.n, self.load.p)
        yield connect(self.source.n, self.diode.p, self.load.n, self.ground.p)


class BrakedBob(Bob):
    """A pendulum whose hinge is braked by turns: a constraint of index 3, and a switched force beside it."""

    d: Parameter = Parameter(default=2.0)

    def build(self) -> None:
        self.pulse = BooleanPulse(width=0.5, period=0.1)

    def equations(self) -> Iterator[Statement]:
        yield from self.newton()
        yield Eq(self.x**2 + self.y**2, 1)
        yield If(self.pulse.y, [Eq(self.push, -self.d * self.vx)], [Eq(self.push, 0)], name="brake")


def _finals(result: Result) -> np.ndarray:
    return np.array([float(result[name].final) for name in result.names.variables])


MODELS = {"chopper": (Chopper(), EDGES * 5e-5), "bob": (BrakedBob(x=0.6, y=-0.8), EDGES * 0.05)}


@pytest.mark.parametrize("name", MODELS)
def test_an_edge_after_which_nothing_jumps_costs_one_analysis(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    count, reduce = [0], analysed_modes.reduce_mode

    def counted(*args: object) -> object:
        count[0] += 1
        return reduce(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(analysed_modes, "reduce_mode", counted)
    model, length = MODELS[name]
    program, costs = compile_model(model), []
    for edges in (1, 2):
        count[0] = 0
        program.simulate(edges * length)
        costs.append(count[0])
    assert costs[1] - costs[0] == EDGES


@pytest.mark.parametrize("name", MODELS)
def test_a_foreseen_mode_changes_no_result(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, length = MODELS[name]
    program = compile_model(model)
    foreseen = program.simulate(length)
    monkeypatch.setattr(Searching, "foreseen", lambda *_: None)
    sought = program.simulate(length)
    assert foreseen.stats.searches < sought.stats.searches
    np.testing.assert_allclose(_finals(foreseen), _finals(sought), rtol=1e-10, atol=1e-12 * G)
