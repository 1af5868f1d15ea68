"""What gives no energy away and takes none passes the check, however small the tolerance."""

import pytest

from acausal import Circuit, simulate
from acausal.components.planar import Body, FixedTranslation, Revolute, World


@pytest.mark.sweep(every=4)
@pytest.mark.parametrize("method", ["auto", "implicit"])
@pytest.mark.parametrize("rtol", [1e-6, 1e-9, 1e-10])
def test_the_powers_of_a_pendulum_are_rounding_of_their_products(rtol: float, method: str) -> None:
    """A body keeps its energy, and so takes no power: all are zero but for the last digits of their terms."""
    circuit = Circuit()
    world, hinge = circuit.add("world", World()), circuit.add("hinge", Revolute(phi=1.0))
    arm, body = circuit.add("arm", FixedTranslation(r=(0.0, -0.5))), circuit.add("body", Body(m=1.0, I=0.02))
    circuit.connect(world.frame_b, hinge.frame_a)
    circuit.connect(hinge.frame_b, arm.frame_a)
    circuit.connect(arm.frame_b, body.frame_a)
    assert simulate(circuit, 4.0, rtol=rtol, method=method).check().ok
