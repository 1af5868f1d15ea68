"""How far does a four-bar linkage swing its rocker, and which way goes a point of the coupler?

A crank a with a flywheel J turns on the left pivot, a rocker c of inertia J2 swings on the right one, d away; the coupler b
joins their ends. As a + d < b + c the crank turns fully (Grashof), past both dead centres of the rocker.

Theory: at the dead centres crank and coupler are in line, and the law of cosines holds. At angles p, q, u of crank, coupler
and rocker the latter turns by k = a sin(p - q) / (c sin(u - q)) times the speed w of the crank, and (J + J2 k^2) w^2 stays.
Norton, Design of Machinery, chapters 4 and 6.
"""

import sys
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.planar as pl
from acausal.components.rotational import Inertia

a, b, c, d, J, J2, w0 = 0.1, 0.25, 0.2, 0.25, 0.02, 0.05, 10.0
# At the start the crank points away from the rocker.
p0, u0 = np.pi, np.pi - np.arccos(((a + d) ** 2 + c**2 - b**2) / (2 * (a + d) * c))


class FourBar(ac.Component):
    """Crank with flywheel, coupler without mass, rocker with inertia; in a level plane."""

    def build(self) -> None:
        self.left, self.right, self.flywheel = pl.World(), pl.Fixed(r=(d, 0.0)), Inertia(J=J)
        self.crank, self.arm = pl.Revolute(useAxisFlange=True, phi=p0, w=w0), pl.FixedTranslation(r=(a, 0.0))
        self.rocker, self.lever = pl.Revolute(), pl.FixedTranslation(r=(c, 0.0))
        self.body, self.coupler = pl.Body(m=1.0, I=J2), pl.Rod(L=b)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.left.frame_b, self.crank.frame_a)
        yield ac.connect(self.crank.axis, self.flywheel.flange_a)
        yield ac.connect(self.crank.frame_b, self.arm.frame_a)
        yield ac.connect(self.arm.frame_b, self.coupler.frame_a)
        yield ac.connect(self.right.frame_b, self.rocker.frame_a)
        yield ac.connect(self.rocker.frame_b, self.lever.frame_a, self.body.frame_a)
        yield ac.connect(self.lever.frame_b, self.coupler.frame_b)


def main(gif: bool = False) -> dict[str, tuple[float, float, float]]:
    """Let the linkage turn freely, print the answer and draw it: (simulated, theory, tolerance)."""
    result = ac.simulate(FourBar(), 1.5, rtol=1e-8, initial={"rocker.phi": u0})
    paths, t = ("crank.phi", "crank.w", "coupler.phi", "rocker.phi"), np.linspace(0, 1.5, 3001)
    p, w, q, u = (result[path].at(t) for path in paths)
    k = a * np.sin(p - q) / (c * np.sin(u - q))
    exact = w0 * np.sqrt((J + J2 * k[0] ** 2) / (J + J2 * k**2))
    outer, inner = (np.degrees(np.arccos((c**2 + d**2 - x**2) / (2 * c * d))) for x in (b + a, b - a))
    reach = np.hypot(a * np.cos(p) - d - c * np.cos(u), a * np.sin(p) - c * np.sin(u))
    answer = {
        "swing of the rocker [deg]": (np.degrees(np.ptp(u)), outer - inner, 1e-5),
        "least speed of the crank [rad/s]": (w.min(), exact.min(), 1e-6),
        "greatest [rad/s]": (w.max(), exact.max(), 1e-6),
        "coupler, loop closed [m]": (b + np.abs(reach - b).max(), b, 1e-10),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<34}{simulated:10.5g}   theory {theory:10.5g}")
    (x1, y1), (x2, y2) = ([result[f"{end}.frame_b.{n}"] for n in "xy"] for end in ("arm", "lever"))
    P = (0.5 * (x1 + x2) - 0.6 * (y2 - y1), 0.5 * (y1 + y2) + 0.6 * (x2 - x1))
    drawing = ac.Drawing().trace(P).line("arm.frame_b", "lever.frame_b", P, closed=True, color="C2")
    drawing.line("left.frame_b", "arm.frame_b", marker="o").line("right.frame_b", "lever.frame_b", marker="o")
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained")
    result.strobe(drawing, [0.0, 0.17, 0.34], t=(0.0, np.interp(p0 + 2 * np.pi, p, t)), ax=left)
    if gif:
        result.animate(drawing, "four_bar.gif", speed=0.5)
    right.plot(p / np.pi, w, lw=3, label="simulated")
    right.plot(p / np.pi, exact, "k--", lw=1, label="theory")
    right.set(xlabel="angle of the crank / $\\pi$", ylabel="speed of the crank [rad/s]")
    right.legend()
    figure.savefig("four_bar.png", dpi=150)
    return answer


if __name__ == "__main__":
    main("--gif" in sys.argv)
