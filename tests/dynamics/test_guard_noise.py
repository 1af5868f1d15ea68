"""How exactly guards are known, against what errors of the start make of them."""

import numpy as np
import pytest

from acausal.dynamics.assembly import affine_flow
from acausal.dynamics.noise import FlowNoise

from .oracle import blocks, exact_state, generator, sinusoid

OMEGA = 314.0


@pytest.mark.parametrize("constant", [False, True])
@pytest.mark.parametrize("R", [1e-3, 1e-6, 1e-9])
def test_what_follows_a_source_is_known_as_well_as_their_difference(R: float, constant: bool) -> None:
    """C v' = (u - v) / R - v / 50 with a sine u, also beside a constant: the flow (u - v) / R is C u' + v / 50, not u / R."""
    C = 1e-3
    u0, S, into = 325.0, sinusoid(OMEGA), [1.0, 0.0]
    y0 = [u0, u0, 0.0]
    if constant:
        S, into, y0 = blocks(S, np.zeros((1, 1))), [*into, 1.0], [u0 + 10.0, u0, 0.0, 10.0]
    B = np.array([into]) / (R * C)
    Ay, error, h = generator(-(1.0 / R + 1.0 / 50.0) / C, B, S), 1e-6, 2e-3
    flow, G = affine_flow(Ay, 1, 0.02), np.array([[-1.0 / R, *(B[0] * C)]])

    def noise(error: float) -> np.ndarray:
        found = FlowNoise(flow, G, error)
        return np.array(found.between(found.sizes(flow.start(np.array(y0))), h, h))

    moved = sum(abs(float(G[0] @ exact_state(Ay, h, unit))) for unit in np.diag(error * np.array(y0)))
    for found in (noise(error) - noise(0.0))[:, 0].tolist():
        assert moved * (1.0 - 1e-6) <= found <= 3.0 * moved
