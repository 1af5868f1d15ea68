"""Andrews' squeezing mechanism: seven bodies in a plane, three loops; index 3, against published values.

Geometry, data and solution: E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, 2nd ed., Springer 1996,
section VII.7, and the Test Set for IVP Solvers, release 2.4, "Andrews' squeezing mechanism". The equations are those of
Newton and Euler for the centres of gravity, projected on the angles by virtual work.
"""

import numpy as np
import pytest

from acausal import Component, Eq, Variable, cos, der, simulate, sin, sqrt

MASSES = (0.04325, 0.00365, 0.02373, 0.00706, 0.07050, 0.00706, 0.05498)
INERTIAS = (2.194e-6, 4.410e-7, 5.255e-6, 5.667e-7, 1.169e-5, 5.667e-7, 1.912e-5)
XA, YA, XB, YB, XC, YC = -0.06934, -0.00227, -0.03635, 0.03273, 0.014, 0.072
D, DA, E, EA, RR, RA = 28e-3, 115e-4, 2e-2, 1421e-5, 7e-3, 92e-5
SS, SA, SB, SC, SD = 35e-3, 1874e-5, 1043e-5, 18e-3, 2e-2
TA, TB, U, UA, UB, ZF, ZT, FA = 2308e-5, 916e-5, 4e-2, 1228e-5, 449e-5, 2e-2, 4e-2, 1421e-5
TORQUE, STIFFNESS, LENGTH = 0.033, 4530.0, 0.07785
ANGLES = ("beta", "theta", "gamma", "phi", "delta", "omega", "epsilon")
STARTS = (
    *(-0.0617138900142764496, 0.0, 0.455279819163070380, 0.222668390165885885, 0.487364979543842551),
    *(-0.222668390165885885, 1.23054744454982119),
)
AT_END = (
    *(15.81077119629904, -15.75637105984298, 0.04082224013073101, -0.5347301163226948, 0.5244099658805304),
    *(0.5347301163226948, 1.048080741042263),
)
"""After 30 ms, to 14 digits."""
SPEEDS = (1139.920302151208, -1424.379294994111, 11.03291221937134, 19.29337464421385, 0.5735699284790808,
          -19.29337464421385, 0.3231791658026955)  # fmt: skip


def arm(length, angle, of=()):
    """A point at a distance in the direction of an angle, and its derivatives by angles that turn it."""
    x, y = length * cos(angle), length * sin(angle)
    return x, y, {k: (-y, x) for k in of}


def joined(*arms):
    """A point at the end of arms, and its derivatives."""
    by = {}
    for _, _, turned in arms:
        for k, (dx, dy) in turned.items():
            known = by.get(k, (0.0, 0.0))
            by[k] = known[0] + dx, known[1] + dy
    return sum(a[0] for a in arms), sum(a[1] for a in arms), by


class Squeezer(Component):
    """A motor turns a crank, which moves two pairs of bodies and a lever on a spring."""

    beta: Variable = Variable(start=STARTS[0])
    theta: Variable = Variable(start=STARTS[1])
    gamma: Variable = Variable(start=STARTS[2])
    phi: Variable = Variable(start=STARTS[3])
    delta: Variable = Variable(start=STARTS[4])
    omega: Variable = Variable(start=STARTS[5])
    epsilon: Variable = Variable(start=STARTS[6])
    w: Variable = Variable(shape=(7,))
    x: Variable = Variable(shape=(7,))
    y: Variable = Variable(shape=(7,))
    vx: Variable = Variable(shape=(7,))
    vy: Variable = Variable(shape=(7,))
    force: Variable = Variable(shape=(6,))

    def equations(self):
        q = [getattr(self, name) for name in ANGLES]
        beta, theta, gamma, phi, delta, omega, epsilon = q
        quarter = np.pi / 2.0
        # A turn by a quarter makes the sines and cosines of the drawing.
        crank = arm(RR, beta, (0,))
        fixed_a, fixed_b = (XA, YA, {}), (XB, YB, {})
        fork = beta + theta
        turned = (0, 1)
        centres = [
            arm(RA, beta, (0,)),
            joined(crank, arm(-DA, fork, turned)),
            joined(fixed_b, arm(SA, gamma - quarter, (2,)), arm(SB, gamma, (2,))),
            joined(fixed_a, arm(ZT, delta, (4,)), arm(E - EA, phi + delta - quarter, (3, 4))),
            joined(fixed_a, arm(TA, delta, (4,)), arm(TB, delta + quarter, (4,))),
            joined(fixed_a, arm(U, epsilon - quarter, (6,)), arm(ZF - FA, omega + epsilon, (5, 6))),
            joined(fixed_a, arm(UA, epsilon - quarter, (6,)), arm(-UB, epsilon, (6,))),
        ]
        turns = [(0,), (0, 1), (2,), (3, 4), (4,), (5, 6), (6,)]
        pin = joined(crank, arm(-D, fork, turned))
        ends = [
            joined(fixed_b, arm(SS, gamma - quarter, (2,))),
            joined(fixed_a, arm(E, phi + delta - quarter, (3, 4)), arm(ZT, delta, (4,))),
            joined(fixed_a, arm(ZF, omega + epsilon, (5, 6)), arm(U, epsilon - quarter, (6,))),
        ]
        hook = joined(fixed_b, arm(SC, gamma - quarter, (2,)), arm(SD, gamma, (2,)))
        dx, dy = XC - hook[0], YC - hook[1]
        long = sqrt(dx**2 + dy**2)
        pull = STIFFNESS * (long - LENGTH) / long
        for k in range(7):
            yield Eq(der(q[k]), self.w[k])
            yield Eq(self.x[k], centres[k][0])
            yield Eq(self.y[k], centres[k][1])
            yield Eq(self.vx[k], der(self.x[k]))
            yield Eq(self.vy[k], der(self.y[k]))
        for end in ends:
            yield Eq(pin[0], end[0])
            yield Eq(pin[1], end[1])
        for j in range(7):
            balance = TORQUE if j == 0 else 0.0
            balance = balance + sum(pull * (dx * h[0] + dy * h[1]) for i, h in hook[2].items() if i == j)
            for k, end in enumerate(ends):
                for point, sign in ((pin, 1.0), (end, -1.0)):
                    if j in point[2]:
                        a, b = point[2][j]
                        balance = balance + sign * (self.force[2 * k] * a + self.force[2 * k + 1] * b)
            inertia = 0.0
            for i in range(7):
                if j in centres[i][2]:
                    a, b = centres[i][2][j]
                    inertia = inertia + MASSES[i] * (der(self.vx[i]) * a + der(self.vy[i]) * b)
                if j in turns[i]:
                    inertia = inertia + INERTIAS[i] * sum(der(self.w[m]) for m in turns[i])
            yield Eq(inertia, balance)


PROPORTION = 5.0
"""Largest error in units of the tolerance and of the largest angle or speed: the motion of 30 ms amplifies errors little."""


SQUEEZER = Squeezer()
BOTH = [(rtol, method) for rtol in (1e-2, 1e-6, 1e-10) for method in ("auto", "implicit")]
REST = [(rtol, "implicit") for rtol in (1e-3, 1e-4, 1e-8)]


@pytest.mark.sweep(every=30)
@pytest.mark.parametrize(
    ("rtol", "method"),
    [
        *BOTH,
        *((rtol, "auto") for rtol in (1e-3, 1e-4, 1e-8)),
        *(pytest.param(*case, marks=pytest.mark.sweep) for case in REST),
    ],
)
def test_errors_are_proportional_to_the_tolerance(rtol: float, method: str) -> None:
    result = simulate(SQUEEZER, 0.03, method=method, rtol=rtol)
    assert result.status == "finished"
    assert len(result.events) == 1
    angles = np.array([result[name].final for name in ANGLES])
    speeds = np.array([result[f"w[{k}]"].final for k in range(7)])
    assert angles == pytest.approx(np.array(AT_END), abs=PROPORTION * rtol * np.abs(AT_END).max())
    assert speeds == pytest.approx(np.array(SPEEDS), abs=4.0 * PROPORTION * rtol * np.abs(SPEEDS).max())
