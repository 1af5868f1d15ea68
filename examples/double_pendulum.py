"""Which two tones does a double pendulum have, and how fast does it forget its start when it swings wide?

Two equal masses hang on rods of length L, in Cartesian coordinates, so that each rod is a constraint. F1 and F2 are the
tensions of the rods over mass and length.

Theory: small swings have the frequencies w^2 = (2 -+ sqrt 2) g / L, in which the lower rod tilts by +-sqrt 2 times the
angle of the upper one. Wide swings are chaotic: runs that begin 1 um apart part exponentially; what remains of the
start is the energy. Landau and Lifshitz, Mechanics, section 5; Shinbrot et al., American Journal of Physics 60 (1992).
"""

import sys
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac

L, g = 0.5, 9.81


class DoublePendulum(ac.Component):
    """Two point masses on two rods."""

    x1, y1 = ac.Variable(unit="m"), ac.Variable(unit="m", start=-L)
    x2, y2 = ac.Variable(unit="m"), ac.Variable(unit="m", start=-2 * L)
    vx1, vy1 = ac.Variable(unit="m/s"), ac.Variable(unit="m/s")
    vx2, vy2 = ac.Variable(unit="m/s"), ac.Variable(unit="m/s")
    F1, F2 = ac.Variable(unit="s-2"), ac.Variable(unit="s-2")

    def equations(self) -> Iterator[ac.Statement]:
        dx, dy = self.x2 - self.x1, self.y2 - self.y1
        yield ac.Eq(self.x1**2 + self.y1**2, L**2)
        yield ac.Eq(dx**2 + dy**2, L**2)
        for x, v in ((self.x1, self.vx1), (self.y1, self.vy1), (self.x2, self.vx2), (self.y2, self.vy2)):
            yield ac.Eq(ac.der(x), v)
        yield ac.Eq(ac.der(self.vx1), self.F2 * dx - self.F1 * self.x1)
        yield ac.Eq(ac.der(self.vy1), self.F2 * dy - self.F1 * self.y1 - g)
        yield ac.Eq(ac.der(self.vx2), -self.F2 * dx)
        yield ac.Eq(ac.der(self.vy2), -self.F2 * dy - g)


def energy(result: ac.Result, t: np.ndarray) -> np.ndarray:
    """Energy over mass, in J/kg, above that of hanging at rest."""
    kinetic = sum(result[v].at(t) ** 2 for v in ("vx1", "vy1", "vx2", "vy2")) / 2
    return kinetic + g * (result["y1"].at(t) + result["y2"].at(t) + 3 * L)


def main(gif: bool = False) -> dict[str, tuple[float, float, float]]:
    """Swing it gently and wildly, print the answer and draw it: (simulated, theory, tolerance)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.4), layout="constrained")
    program, answer, small = ac.compile_model(DoublePendulum()), {}, 1e-3
    t = np.linspace(0, 4, 1001)
    for sign, name in ((1, "in phase"), (-1, "in opposition")):
        tilt = {"x1": small, "x2": small * (1 + sign * np.sqrt(2))}
        x = program.simulate(4.0, method="explicit", rtol=1e-8, initial=tilt)["x1"]
        up = np.flatnonzero((x.at(t[:-1]) < 0) & (x.at(t[1:]) >= 0))
        zeros = [np.interp(0.0, x.at(t[n : n + 2]), t[n : n + 2]) for n in up]
        found = (len(zeros) - 1) / (zeros[-1] - zeros[0])
        w = np.sqrt((2 - sign * np.sqrt(2)) * g / L)
        answer[f"frequency {name} [Hz]"] = (found, w / (2 * np.pi), 1e-5)
    hits = [{"x1": 0.0, "x2": off, "vx1": 5.0, "vx2": 1.0} for off in (0.0, 1e-6)]
    one, two = (program.simulate(4.0, method="explicit", rtol=1e-8, initial=hit) for hit in hits)
    answer["energy at the end [J/kg]"] = (energy(one, t)[-1], energy(one, t)[0], 1e-6)
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    drawing = ac.Drawing().trace(("x2", "y2"), seconds=2.0)
    drawing.line((0, 0), ("x1", "y1"), ("x2", "y2"), marker="o", color="C0")
    one.strobe(drawing, 9, t=(0.0, 1.2), ax=left)
    if gif:
        one.animate(drawing, "double_pendulum.gif", t=(0.0, 3.0))
    right.semilogy(t, np.hypot(*(one[n].at(t) - two[n].at(t) for n in ("x2", "y2"))))
    right.set(xlabel="time [s]", ylabel="distance of two runs [m]")
    figure.savefig("double_pendulum.png", dpi=150)
    return answer


if __name__ == "__main__":
    main("--gif" in sys.argv)
