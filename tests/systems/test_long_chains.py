"""Chains of many pendulums: every force depends on all angles, and the equations are the same whatever the number."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from acausal import Component, Statement, Structural, compile_model, connect, simulate
from acausal.components.planar import Body, FixedTranslation, Revolute, World
from acausal.simulation.nonlinear import motion
from acausal.simulation.nonlinear.newton import newton

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


def test_points_of_a_long_chain_are_corrected_without_python(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[int] = []

    def counted(*args: Any, **options: Any) -> np.ndarray:
        calls.append(1)
        return newton(*args, **options)

    monkeypatch.setattr(motion, "newton", counted)
    program, counts = compile_model(Chain(n=12)), []
    for length in (0.05, 0.2):
        calls.clear()
        stats = program.simulate(length, initial={"joints[0].phi": 0.3}).stats
        counts.append((len(calls), stats.evaluations))
    # What is left belongs to the start.
    (begun, few), (done, many) = counts
    assert done == begun
    assert many > few + 50


def test_lengths_over_which_constraints_bend_are_those_of_each_coordinate() -> None:
    run = compile_model(Chain(n=3)).start(initial={"joints[0].phi": 0.3})
    run.advance(0.1)
    found = run._run.linearisation.last
    assert found is not None
    system, place = found.system, found.last
    others = place.X + 1e-6 * (1.0 + np.abs(place.X))
    first, own = system.constraint_levels == 0, np.arange(system.nx)
    y = np.tile(place.y, (system.nx, 1))
    y[own, own] = others
    slopes = system.many(y, np.tile(place.xi, (system.nx, 1)), found.constants)[1][:, : system.constraints]
    beside = system.beside(place.y, place.xi, found.constants, others)
    np.testing.assert_array_equal(beside, slopes[own, :, own][:, first].T)
    assert beside.any()


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
