"""What does a bumpy road do to the body of a car on one axle?

The left wheel stays where it is, the right one runs over bumps and lifts its end of the axle by 0.1 sin(w t). On either wheel
stands a spring below an end of the body, a bar with half of its mass at either end; the left end slides on the normal
of the axle. All is normalised: axle and bar have length 1, the springs stiffness 1, and gravity is 1.

Reference: a light body between springs, in a guide that moves, is a benchmark for integrators of systems of index 3, with
published values at t = 3. Test Set for IVP Solvers, Car Axis problem.
"""

import sys
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.planar as pl
from acausal.components.rotational import Position

m, height, end = 1e-3, 0.5, 3.0


class CarAxis(ac.Component):
    """Axle, wheels, springs, guide and body."""

    w: ac.Parameter = ac.Parameter(default=10.0, unit="rad/s", doc="Frequency of the bumps")

    def build(self) -> None:
        self.world, self.axle = pl.World(), pl.Revolute(useAxisFlange=True)
        self.road = Position(phi_ref=ac.asin(0.1 * ac.sin(self.w * ac.time)))
        self.wheel, self.guide = pl.FixedTranslation(r=(1.0, 0.0)), pl.Prismatic(n=(0.0, 1.0))
        self.left, self.right = (pl.FixedTranslation(r=(0.5, 0.0)) for _ in range(2))
        self.spring1, self.spring2 = (pl.Spring(c=1.0, s_unstretched=height) for _ in range(2))
        self.hinge, self.body = pl.Revolute(), pl.Body(m=m, I=m * 0.5**2, g=1.0)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.world.frame_b, self.axle.frame_a)
        yield ac.connect(self.road.flange, self.axle.axis)
        yield ac.connect(self.axle.frame_b, self.wheel.frame_a, self.guide.frame_a, self.spring1.frame_a)
        yield ac.connect(self.guide.frame_b, self.hinge.frame_a, self.spring1.frame_b)
        yield ac.connect(self.hinge.frame_b, self.left.frame_a)
        yield ac.connect(self.left.frame_b, self.body.frame_a, self.right.frame_a)
        yield ac.connect(self.right.frame_b, self.spring2.frame_b)
        yield ac.connect(self.wheel.frame_b, self.spring2.frame_a)


def main(gif: bool = False) -> dict[str, tuple[float, float, float]]:
    """Drive for 3 s, print where the body is and draw it: (simulated, published, tolerance)."""
    level = {"guide.s": height, "guide.v": 0.0, "body.frame_a.phi": 0.0, "body.w": 0.0}
    result = ac.simulate(CarAxis(), end, rtol=1e-8, initial=level)
    x1, y1, x2, y2 = (result[f"{part}.frame_b.{n}"] for part in ("guide", "right") for n in "xy")
    answer = {
        "left end, x [m]": (x1.final, 0.04934557842755, 1e-6),
        "left end, y [m]": (y1.final, 0.4969894602303, 1e-6),
        "right end, x [m]": (x2.final, 1.041742524885, 1e-6),
        "right end, y [m]": (y2.final, 0.3739110272652, 1e-6),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    drawing = ac.Drawing().trace("right.frame_b").line("axle.frame_b", "wheel.frame_b", color="0.5")
    for wheel, body in (("axle.frame_b", "guide.frame_b"), ("wheel.frame_b", "right.frame_b")):
        drawing.spring(wheel, body, radius=0.04).circle(wheel, 0.08, color="0.8")
    drawing.line("guide.frame_b", "right.frame_b", width=6, marker="o")
    result.strobe(drawing, [0.16, 0.47], t=(0.0, 0.63), ax=left)
    if gif:
        result.animate(drawing, "car_axis.gif", t=(0.0, 1.3), speed=0.5)
    t = np.linspace(0, end, 3001)
    right.plot(t, result["wheel.frame_b.y"].at(t), "0.6", label="road")
    right.plot(t, y2.at(t) - height, label="right end of the body")
    right.plot(t, y1.at(t) - height, label="left end")
    right.set(xlabel="time [s]", ylabel="height above rest [m]", ylim=(-0.19, 0.14))
    right.legend(ncols=3, loc="lower center")
    figure.savefig("car_axis.png", dpi=150)
    return answer


if __name__ == "__main__":
    main("--gif" in sys.argv)
