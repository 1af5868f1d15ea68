"""Chains of many pendulums: every force depends on all angles, and the equations are the same whatever the number."""

from collections.abc import Iterator

import numpy as np
import pytest

from acausal import Component, Statement, Structural, connect, simulate
from acausal.components.planar import Body, FixedTranslation, Revolute, World

MASS, INERTIA, LENGTH, GRAVITY = 1.0, 0.1, 1.0, 9.80665


class Chain(Component):
    """Links of equal length with a body at the end of each."""

    n: Structural[int] = Structural(int)

    def build(self) -> None:
        self.world = World()
        self.joints = [Revolute() for _ in range(self.n)]
        self.rods = [FixedTranslation(r=(LENGTH, 0.0)) for _ in range(self.n)]
        self.bodies = [Body(m=MASS, I=INERTIA) for _ in range(self.n)]

    def equations(self) -> Iterator[Statement]:
        end = self.world.frame_b
        for joint, rod, body in zip(self.joints, self.rods, self.bodies, strict=True):
            yield connect(end, joint.frame_a)
            yield connect(joint.frame_b, rod.frame_a)
            yield connect(rod.frame_b, body.frame_a)
            end = rod.frame_b


def accelerations(phi: np.ndarray) -> np.ndarray:
    """Angular accelerations of links at rest at the absolute angles ``phi``, by Lagrange's equations in these."""
    n = len(phi)
    behind = n - np.maximum.outer(np.arange(n), np.arange(n))
    inertia = MASS * LENGTH**2 * behind * np.cos(np.subtract.outer(phi, phi)) + INERTIA * np.eye(n)
    weight = MASS * GRAVITY * LENGTH * (n - np.arange(n)) * np.cos(phi)
    return np.linalg.solve(inertia, -weight)


SHORT = [(n, bend, first) for n in (4, 12) for bend in (0.0, 0.01) for first in (0.0, 0.3, -1.0)]
LONG = [(16, 0.01, 0.3), (20, 0.0, 0.3), (30, 0.0, 0.0)]
SWEPT = [
    *((16, bend, first) for bend in (0.0, 0.01) for first in (0.0, -1.0)),
    *[(16, 0.0, 0.3), (30, 0.01, 0.3), (40, 0.0, 0.3), (60, 0.0, 0.0)],
]


@pytest.mark.sweep(every=15)
@pytest.mark.parametrize(
    ("n", "bend", "first"), SHORT + LONG + [pytest.param(*case, marks=pytest.mark.sweep) for case in SWEPT]
)
def test_a_chain_starts_with_the_accelerations_of_its_angles(n: int, bend: float, first: float) -> None:
    joints = first * (np.arange(n) == 0) + bend * np.arange(n)
    result = simulate(Chain(n=n), 1e-3, initial={f"joints[{k}].phi": float(x) for k, x in enumerate(joints)})
    found = [result[f"der(bodies[{k}].w)"].at(0.0) for k in range(n)]
    assert found == pytest.approx(accelerations(np.cumsum(joints)).tolist(), rel=1e-6, abs=1e-6)
