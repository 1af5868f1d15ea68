"""Energies along numerically integrated segments: as good as the motion, with work that rounding does not multiply."""

from __future__ import annotations

import numpy as np
import pytest

import acausal.components.electrical as el
import acausal.components.planar as pl
from acausal import Component, Structural, connect, simulate
from acausal.results.result import Result

MOST_POINTS = 200
"""Points per first panel, of 21 nodes, of a quadrature that halves few panels."""


def points_of_audit(result: Result, monkeypatch: pytest.MonkeyPatch) -> float:
    """Points per first panel at which an audit asks for the states of the only segment with a length."""
    segment, count = result.segments.all[0], 0
    trajectory = segment.trajectory
    original = type(trajectory).sample

    def counted(self: object, hs: np.ndarray) -> np.ndarray:
        nonlocal count
        count += len(hs)
        return original(self, hs)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(type(trajectory), "sample", counted)
        result.audit()
    return count / (len(trajectory.edges(0.0, segment.end - segment.start)) - 1)


class Ladder(Component):
    """Inductors and voltage-dependent capacitors in a row: powers decay along it, far below rounding of the first."""

    n: Structural[int] = Structural(int)

    def build(self) -> None:
        self.source, self.ground = el.SineVoltage(V=3.0, f=1.0), el.Ground()
        self.coils = [el.Inductor(L=0.2) for _ in range(self.n)]
        self.junctions = [el.JunctionCapacitor(Cj=0.1) for _ in range(self.n)]

    def equations(self):
        p = self.source.p
        for coil, junction in zip(self.coils, self.junctions, strict=True):
            yield connect(p, coil.p)
            yield connect(coil.n, junction.n)
            p = junction.n
        yield connect(self.source.n, self.ground.p, *(c.p for c in self.junctions))


def test_powers_far_below_the_largest_are_not_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    result = simulate(Ladder(n=12), 0.3, progress=False)
    audit = result.audit()
    largest = max(abs(p.energy) for p in audit)
    # What flows into an inductor is its energy, 1/2 L i^2.
    for k in range(12):
        stored = 0.1 * result[f"coils[{k}].i"].final ** 2
        assert audit.into(f"coils[{k}]") == pytest.approx(stored, rel=1e-7, abs=1e-12 * largest)
    assert abs(audit.balance) <= 1e-12 * largest
    assert points_of_audit(result, monkeypatch) <= MOST_POINTS


class Swing(Component):
    """A point mass on a rod, whose angle is read off the motion."""

    def build(self) -> None:
        self.world, self.rope, self.load = pl.World(), pl.Rod(L=5.0), pl.Body(m=200.0)

    def equations(self):
        yield connect(self.world.frame_b, self.rope.frame_a)
        yield connect(self.rope.frame_b, self.load.frame_a)


def test_a_power_that_cancels_up_to_rounding_is_not_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rod is normal to the motion: it does no work."""
    result = simulate(Swing(), 0.5, initial={"rope.phi": -1.9}, progress=False)
    kinetic = 200.0 * 9.80665 * (np.sin(-1.9) * 5.0 - result["load.frame_a.y"].final)
    assert kinetic > 100.0
    for part in result.audit():
        assert abs(part.energy) <= 1e-12 * kinetic
    # Every node needs the angle, an integral of its own from the node before.
    assert points_of_audit(result, monkeypatch) <= 22 * MOST_POINTS
