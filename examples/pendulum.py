"""How much longer does a pendulum take when it swings wider, and what if it turns over?

A point mass on a rod of length L, in Cartesian coordinates: two equations of motion and the constraint
x^2 + y^2 = L^2. No coordinate serves for a full turn: x and y take over from each other, without an event.

Theory: with w0 = sqrt(g / L) and the speed v at the bottom, k = v / (2 w0 L). For k < 1 it swings, sin(amplitude / 2) = k,
with a period 4 K(k) / w0; for k > 1 it turns, once in 2 K(1 / k) / (k w0). K is the complete elliptic integral.
Landau and Lifshitz, Mechanics, section 11.
"""

import sys
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ellipk

import acausal as ac

L, g = 1.0, 9.81
w0 = np.sqrt(g / L)


class Pendulum(ac.Component):
    """Point mass on a rod, of which ``pull`` is the force over mass and length."""

    x: ac.Variable = ac.Variable(unit="m")
    y: ac.Variable = ac.Variable(unit="m", start=-L)
    vx: ac.Variable = ac.Variable(unit="m/s")
    vy: ac.Variable = ac.Variable(unit="m/s")
    pull: ac.Variable = ac.Variable(unit="s-2")

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.Eq(ac.der(self.x), self.vx)
        yield ac.Eq(ac.der(self.y), self.vy)
        yield ac.Eq(ac.der(self.vx), -self.pull * self.x)
        yield ac.Eq(ac.der(self.vy), -self.pull * self.y - g)
        yield ac.Eq(self.x**2 + self.y**2, L**2)


def main(gif: bool = False) -> dict[str, tuple[float, float, float]]:
    """Push the pendulum ever harder, print the answer and draw it: (simulated, theory, tolerance)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    program, answer, stretch = ac.compile_model(Pendulum()), {}, 0.0
    t = np.linspace(0, 3, 1501)
    drawing = ac.Drawing().trace(("x", "y")).line((0, 0), ("x", "y"), marker="o", color="C0")
    for k in (0.1, 0.5, 0.9, 0.99, 1.01, 1.1, 1.5):
        result = program.simulate(3.0, method="explicit", rtol=1e-9, initial={"x": 0.0, "vx": 2 * k * w0 * L})
        period = 4 * ellipk(k**2) / w0 if k < 1 else 2 * ellipk(1 / k**2) / (k * w0)
        # From the bottom to the bottom: half a swing, or a whole turn.
        x, y = result["x"].at(t), result["y"].at(t)
        n = np.flatnonzero((np.sign(x[:-1]) != np.sign(x[1:])) & (y[1:] < 0) & (t[1:] > 0.3))[0]
        found = (t[n] - x[n] * (t[n + 1] - t[n]) / (x[n + 1] - x[n])) * (2 if k < 1 else 1)
        name = f"period for k = {k:g} [s]"
        answer[name] = (found, period, 1e-6)
        right.plot(k, found, "o", color="C0")
        stretch = max(stretch, np.abs(np.hypot(x, y) - L).max())
        if k == 1.01:
            result.strobe(drawing, 12, t=(0.0, found), ax=left)
            if gif:
                result.animate(drawing, "pendulum.gif", t=(0.0, found))
    answer["length of the rod [m]"] = (L + stretch, L, 1e-12)
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    k = np.linspace(0.02, 0.9995, 300)
    right.plot(k, 4 * ellipk(k**2) / w0, "C1", label="theory, swinging")
    right.plot(1 / k[k > 0.6], 2 * k[k > 0.6] * ellipk(k[k > 0.6] ** 2) / w0, "C2", label="theory, turning")
    right.set(xlabel="speed at the bottom / least for a turn", ylabel="period [s]", ylim=(0, 6))
    right.legend()
    figure.savefig("pendulum.png", dpi=150)
    return answer


if __name__ == "__main__":
    main("--gif" in sys.argv)
