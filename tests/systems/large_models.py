"""Networks that grow: a grid of resistors and capacitors, chains of masses, with their exact solutions."""

from collections.abc import Iterator

import numpy as np
from scipy.linalg import eigh
from scipy.sparse import diags_array, eye_array, kron

from acausal import Component, Statement, Structural, connect
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, Resistor
from acausal.components.translational import ConstantForce, CubicSpring, Fixed, Mass, SpringDamper

FEED = 1e-2
"""Resistance between the source and the corner of a grid, in ohm."""
STIFFNESS, DAMPING = 1e3, 1.0


class Grid(Component):
    """``m`` by ``m`` nodes with a capacitor each, 1 F and 1 ohm over the whole, fed at a corner by 1 V."""

    m: Structural[int] = Structural(int)

    def build(self) -> None:
        m = self.m
        self.source, self.feed, self.ground = ConstantVoltage(V=1.0), Resistor(R=FEED), Ground()
        self.c = [[Capacitor(C=1.0 / m) for _ in range(m)] for _ in range(m)]
        self.right = [[Resistor(R=1.0 / m) for _ in range(m - 1)] for _ in range(m)]
        self.down = [[Resistor(R=1.0 / m) for _ in range(m)] for _ in range(m - 1)]

    def equations(self) -> Iterator[Statement]:
        m, c = self.m, self.c
        yield connect(self.source.p, self.feed.p)
        yield connect(self.feed.n, c[0][0].p)
        for i in range(m):
            for j in range(m - 1):
                yield connect(self.right[i][j].p, c[i][j].p)
                yield connect(self.right[i][j].n, c[i][j + 1].p)
                yield connect(self.down[j][i].p, c[j][i].p)
                yield connect(self.down[j][i].n, c[j + 1][i].p)
        yield connect(self.source.n, self.ground.p, *(x.n for row in c for x in row))


def grid_voltages(m: int, t: float) -> np.ndarray:
    """Capacitor voltages of a grid from rest, (m, m), by the eigenvectors of its conductances."""
    ends = np.full(m, 2.0)
    ends[[0, -1]] = 1.0
    line = diags_array([-np.ones(m - 1), ends, -np.ones(m - 1)], offsets=[-1, 0, 1])
    G = (kron(line, eye_array(m)) + kron(eye_array(m), line)).toarray() * m
    G[0, 0] += 1.0 / FEED
    rates, shapes = eigh(G * m)
    rest = shapes @ (np.exp(-rates * t) * (shapes.T @ np.ones(m * m)))
    return (1.0 - rest).reshape(m, m)


class Chain(Component):
    """``n`` masses of 1 kg on a wall, springs and dampers between them, pulled by 1 N at the end."""

    n: Structural[int] = Structural(int)

    def build(self) -> None:
        self.wall, self.force = Fixed(), ConstantForce(f_constant=1.0)
        self.mass = [Mass(m=1.0) for _ in range(self.n)]
        self.spring = [SpringDamper(c=STIFFNESS, d=DAMPING) for _ in range(self.n)]

    def equations(self) -> Iterator[Statement]:
        yield connect(self.wall.flange, self.spring[0].flange_a)
        for spring, mass in zip(self.spring, self.mass, strict=True):
            yield connect(spring.flange_b, mass.flange_a)
        for mass, spring in zip(self.mass, self.spring[1:], strict=False):
            yield connect(mass.flange_b, spring.flange_a)
        yield connect(self.mass[-1].flange_b, self.force.flange)


def chain_positions(n: int, t: float) -> np.ndarray:
    """Positions of the masses of a chain from rest, (n,): every mode is a damped oscillator.

    Modes and their stiffnesses are those of a string of masses with one fixed and one free end: see `ladder`.
    """
    angle = (2 * np.arange(1, n + 1) - 1) * np.pi / (2 * n + 1)
    shapes = np.sin(np.outer(np.arange(1, n + 1), angle)) * np.sqrt(4 / (2 * n + 1))
    k = 4.0 * STIFFNESS * np.sin(0.5 * angle) ** 2
    delta = 0.5 * DAMPING / STIFFNESS * k
    omega = np.sqrt(k - delta**2)
    decay = np.exp(-delta * t) * (np.cos(omega * t) + delta / omega * np.sin(omega * t))
    return shapes @ (shapes[-1] * (1.0 - decay) / k)


class CubicChain(Component):
    """``n`` masses of 1 kg on a wall with hardening springs between them, the last one displaced."""

    n: Structural[int] = Structural(int)

    def build(self) -> None:
        self.wall = Fixed()
        self.mass = [Mass(m=1.0, s=0.0 if k < self.n - 1 else 1.0) for k in range(self.n)]
        self.spring = [CubicSpring(c=200.0, c3=50.0) for _ in range(self.n)]

    def equations(self) -> Iterator[Statement]:
        yield connect(self.wall.flange, self.spring[0].flange_a)
        for spring, mass in zip(self.spring, self.mass, strict=True):
            yield connect(spring.flange_b, mass.flange_a)
        for mass, spring in zip(self.mass, self.spring[1:], strict=False):
            yield connect(mass.flange_b, spring.flange_a)
