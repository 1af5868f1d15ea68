"""Results satisfy the equations as written, at both limits of every event and between."""

import numpy as np
import pytest

from acausal import Circuit, Component, compile_model
from acausal.components.translational import ConstantForce, Fixed, ImpactStop, Mass
from acausal.results.equations import EquationsAt
from examples.buck_converter import Buck
from tests.systems.residual_defect import defect


def ball() -> Component:
    """Dropped from 1 m on a floor."""
    model = Circuit()
    floor, stop = model.add("floor", Fixed()), model.add("stop", ImpactStop(restitution=0.9))
    mass = model.add("ball", Mass(m=1.0, s=1.0))
    weight = model.add("weight", ConstantForce(f_constant=-9.81))
    model.connect(floor.flange, stop.flange_a)
    model.connect(stop.flange_b, mass.flange_a, weight.flange)
    return model


@pytest.mark.sweep(every=3)
@pytest.mark.parametrize(("model", "stop"), [(Buck(), 0.3e-3), (Buck(duty=0.05), 0.1e-3), (ball(), 9.0)])
def test_a_result_satisfies_the_equations(model: Component, stop: float) -> None:
    program = compile_model(model)
    result = program.simulate(stop)
    assert len(result.events) > 20
    assert defect(program.residual(), result, np.linspace(0.0, stop, 41)) < 1e-9


def test_another_branch_does_not_satisfy_them() -> None:
    program = compile_model(Buck())
    result, residual = program.simulate(20e-6), program.residual()
    d = EquationsAt(residual, result)
    arguments = d.arguments(
        np.array([2e-6]), "right", residual.mode({"switch.closed": False, "diode.on": "on"})[None]
    )
    assert np.abs(np.array(residual.F(*arguments[0])[0])).max() == pytest.approx(24.0, rel=1e-9)
