"""How evenly does a piston engine run without load, and what does its piston do to the connecting rod?

A flywheel on a crank of radius r, a light connecting rod of length L, and a piston of mass M in a level plane: a closed
loop with dead centres where the rod lies along the slide.

Theory: the piston is at s = r cos(phi) + sqrt(L^2 - r^2 sin(phi)^2). With s' = ds / dphi the kinetic energy is
(J + M s'^2) w^2 / 2, and constant. At the dead centres the rod carries M w^2 r (1 +- r / L). Norton, Design of
Machinery, chapter 13.
"""

import sys
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.planar as pl
from acausal.components.rotational import Inertia

r, L, M, J, w0 = 0.05, 0.15, 0.8, 0.005, 100.0


class Engine(ac.Component):
    """Flywheel, crank, connecting rod, piston."""

    def build(self) -> None:
        self.world, self.flywheel = pl.World(), Inertia(J=J)
        self.crank, self.arm = pl.Revolute(useAxisFlange=True, phi=0.0, w=w0), pl.FixedTranslation(r=(r, 0.0))
        self.rod, self.slide, self.piston = pl.Rod(L=L), pl.Prismatic(n=(1.0, 0.0)), pl.Body(m=M, g=0.0)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.world.frame_b, self.crank.frame_a, self.slide.frame_a)
        yield ac.connect(self.crank.axis, self.flywheel.flange_a)
        yield ac.connect(self.crank.frame_b, self.arm.frame_a)
        yield ac.connect(self.arm.frame_b, self.rod.frame_a)
        yield ac.connect(self.rod.frame_b, self.slide.frame_b, self.piston.frame_a)


def slope(phi: np.ndarray) -> np.ndarray:
    """``ds / dphi``."""
    return -r * np.sin(phi) * (1 + r * np.cos(phi) / np.sqrt(L**2 - (r * np.sin(phi)) ** 2))


def main(gif: bool = False) -> dict[str, tuple[float, float, float]]:
    """Let the engine turn freely, print the answer and draw it: (simulated, theory, tolerance)."""
    result = ac.simulate(Engine(), 0.2, rtol=1e-8, initial={"slide.s": r + L})
    t, turn = np.linspace(0, 0.2, 4001), np.linspace(0, 2 * np.pi, 1001)[1:]
    phi, w, s = (result[x].at(t) for x in ("crank.phi", "crank.w", "slide.s"))
    exact = w0 / np.sqrt(1 + M / J * slope(phi) ** 2)
    period = 2 * np.pi * np.mean(np.sqrt(1 + M / J * slope(turn) ** 2)) / w0
    closed = r * np.cos(phi) + np.sqrt(L**2 - (r * np.sin(phi)) ** 2)
    inner, outer = np.interp([np.pi, 2 * np.pi], phi, t)
    answer = {
        "time of a turn [s]": (outer, period, 1e-5),
        "least speed [rad/s]": (w.min(), exact.min(), 1e-6),
        "rod at the outer dead centre [N]": (result["rod.f"].at(outer), M * w0**2 * r * (1 + r / L), 1e-6),
        "rod at the inner dead centre [N]": (result["rod.f"].at(inner), -M * w0**2 * r * (1 - r / L), 1e-6),
        "stroke, loop closed [m]": (2 * r + np.abs(s - closed).max(), 2 * r, 1e-10),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<34}{simulated:10.5g}   theory {theory:10.5g}")
    figure, (top, middle, bottom) = plt.subplots(3, 1, figsize=(7, 8), layout="constrained")
    drawing = ac.Drawing().trace("arm.frame_b").box("piston.frame_a", 0.03, 0.06, color="0.8")
    drawing.line("world.frame_b", "arm.frame_b", "piston.frame_a", marker="o")
    result.strobe(drawing, 5, t=(0.0, inner), ax=top)
    if gif:
        result.animate(drawing, "slider_crank.gif", t=(0.0, outer), speed=0.05)
    middle.plot(phi / np.pi, w, lw=3, label="simulated")
    middle.plot(phi / np.pi, exact, "k--", lw=1, label="theory")
    middle.legend(title="speed [rad/s]")
    bottom.plot(phi / np.pi, result["rod.f"].at(t))
    bottom.set(xlabel="angle of the crank / $\\pi$", ylabel="force in the rod [N]")
    figure.savefig("slider_crank.png", dpi=150)
    return answer


if __name__ == "__main__":
    main("--gif" in sys.argv)
