"""How does a motor balance a pendulum on a cart, and carry it half a metre?

A DC motor drives the wheels of a cart on which a pendulum stands upright. Its current i is a feedback of place s and speed
of the cart, lean p and its rate, with the gains of a linear-quadratic regulator.

Theory: for small leans, with the inertia of the rotor in M, (M + m) s'' - m L p'' = k i / r, (J + m L^2) p'' - m L s'' = m g L p.
"""

import sys
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import expm, solve_continuous_are

import acausal as ac
import acausal.components.electrical as el
import acausal.components.planar as pl
from acausal.components.electromechanical import RotationalEMF
from acausal.components.rotational import IdealRollingWheel, Inertia

M, Jr, m, L, J, k, r, g = 1.0, 1e-4, 0.3, 0.5, 0.01, 0.05, 0.03, 9.80665
mass = np.array([[M + Jr / r**2 + m, -m * L], [-m * L, J + m * L**2]])
(a, b), (c, d) = np.linalg.solve(mass, np.array([[0, k / r], [m * g * L, 0]]))
A, B = np.array([[0, 1, 0, 0], [0, 0, a, 0], [0, 0, 0, 1], [0, 0, c, 0]]), np.array([[0, b, 0, d]]).T
K = B.T @ solve_continuous_are(A, B, np.diag([50.0, 1.0, 100.0, 1.0]), [[1.0]])


class Balance(ac.Component):
    """Drive with feedback, motor, wheels, cart, pendulum."""

    gains: ac.Parameter = ac.Parameter(default=tuple(K[0].tolist()), shape=(4,), doc="Feedback")
    goal: ac.Parameter = ac.Parameter(default=0.0, unit="m", doc="Place of the cart")

    def build(self) -> None:
        self.world, self.slide, self.cart = pl.World(), pl.Prismatic(useAxisFlange=True), pl.Body(m=M)
        self.hinge, self.rod, self.bob = pl.Revolute(), pl.FixedTranslation(r=(0.0, L)), pl.Body(m=m, I=J)
        state = (self.slide.s - self.goal, self.slide.v, self.hinge.phi, self.hinge.w)
        feedback = sum(gain * x for gain, x in zip(self.gains, state, strict=True))
        self.drive, self.ground, self.emf = el.SignalCurrent(i=feedback), el.Ground(), RotationalEMF(k=k)
        self.rotor, self.wheel = Inertia(J=Jr), IdealRollingWheel(radius=r)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.drive.p, self.emf.p)
        yield ac.connect(self.drive.n, self.emf.n, self.ground.p)
        yield ac.connect(self.emf.flange, self.rotor.flange_a, self.wheel.flangeR)
        yield ac.connect(self.wheel.flangeT, self.slide.axis)
        yield ac.connect(self.world.frame_b, self.slide.frame_a)
        yield ac.connect(self.slide.frame_b, self.cart.frame_a, self.hinge.frame_a)
        yield ac.connect(self.hinge.frame_b, self.rod.frame_a)
        yield ac.connect(self.rod.frame_b, self.bob.frame_a)


def main(gif: bool = False) -> dict[str, tuple[float, float, float]]:
    """Let it lean a little and much, print the answer and draw it: (simulated, theory, tolerance)."""
    program, begin = ac.compile_model(Balance()), {"slide.s": 0.0, "hinge.phi": 1e-4}
    little, exact = program.simulate(0.5, rtol=1e-8, initial=begin), expm((A - B @ K) * 0.5) @ [0, 0, 1e-4, 0]
    result = program.simulate(8.0, parameters={"goal": -0.5}, initial=begin | {"hinge.phi": -0.45})
    answer = {
        "cart after a small lean [um]": (1e6 * little["slide.s"].final, 1e6 * exact[0], 1e-5),
        "cart in the end [m]": (result["slide.s"].final, -0.5, 1e-3),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<34}{simulated:10.5g}   theory {theory:10.5g}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4), layout="constrained")
    drawing = ac.Drawing().trace("bob.frame_a").box("cart.frame_a", 0.3, 0.12, color="0.8")
    drawing.line("cart.frame_a", "bob.frame_a", marker="o")
    result.strobe(drawing, (0, 0.2, 0.6, 1.2, 3), t=(0.0, 3.0), ax=left)
    if gif:
        result.animate(drawing, "cart_pendulum.gif", t=(0.0, 3.0))
    t, place, lean, i = result.table(["slide.s", "hinge.phi", "drive.i"], np.linspace(0, 4, 801)).values()
    for values, label in ((100 * place, "place [cm]"), (np.degrees(lean), "lean [deg]"), (i, "current [A]")):
        right.plot(t, values, label=label)
    right.legend(title="over the time in s")
    figure.savefig("cart_pendulum.png", dpi=150)
    return answer


if __name__ == "__main__":
    main("--gif" in sys.argv)
