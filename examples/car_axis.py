"""What does a bumpy road do to the body of a car on one axle?

The left wheel stands at the origin, the right one at (xb, yb) runs over bumps. On either wheel stands a spring below an
end of the body, a bar with half of its mass at either end. The left end stays on the normal of the axle; axle and bar have
length 1, and all is normalised. The multipliers F and G are the forces of the guide and of the bar over lengths.

Reference: a light body between stiff springs under two constraints, one of which moves, is a benchmark for integrators of
index 3, with published values at t = 3. Test Set for IVP Solvers, Car Axis problem.
"""

import sys
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac

m, height, bump, c, free, end = 5e-4, 0.5, 0.1, 1.0, 0.5, 3.0
published = {
    "left end, x": 0.04934557842755,
    "left end, y": 0.4969894602303,
    "right end, x": 1.041742524885,
    "right end, y": 0.3739110272652,
}


class CarAxis(ac.Component):
    """Body ends (x1, y1) and (x2, y2) above the wheels (0, 0) and (xb, yb)."""

    w: ac.Parameter = ac.Parameter(default=10.0, unit="rad/s", doc="Frequency of the bumps")
    x1, y1 = ac.Variable(start=0.0), ac.Variable(start=height)
    x2, y2 = ac.Variable(start=1.0), ac.Variable(start=height)
    vx1, vy1, vx2, vy2 = ac.Variable(start=-0.5), ac.Variable(), ac.Variable(start=-0.5), ac.Variable()
    xb, yb, F, G = ac.Variable(start=1.0), ac.Variable(), ac.Variable(), ac.Variable()

    def equations(self) -> Iterator[ac.Statement]:
        x1, y1, xb, yb = self.x1, self.y1, self.xb, self.yb
        dx, dy, x, y = self.x2 - x1, self.y2 - y1, self.x2 - xb, self.y2 - yb
        yield ac.Eq(yb, bump * ac.sin(self.w * ac.time))
        yield ac.Eq(xb**2 + yb**2, 1)
        yield ac.Eq(x1 * xb + y1 * yb, 0)
        yield ac.Eq(dx**2 + dy**2, 1)
        for place, speed in ((x1, self.vx1), (y1, self.vy1), (self.x2, self.vx2), (self.y2, self.vy2)):
            yield ac.Eq(ac.der(place), speed)
        push1, push2 = (c * (free / ac.sqrt(a**2 + b**2) - 1) for a, b in ((x1, y1), (x, y)))
        yield ac.Eq(m * ac.der(self.vx1), push1 * x1 + self.F * xb - self.G * dx)
        yield ac.Eq(m * ac.der(self.vy1), push1 * y1 + self.F * yb - self.G * dy - m)
        yield ac.Eq(m * ac.der(self.vx2), push2 * x + self.G * dx)
        yield ac.Eq(m * ac.der(self.vy2), push2 * y + self.G * dy - m)


def main(gif: bool = False) -> dict[str, tuple[float, float, float]]:
    """Drive for 3 s, print where the body is and draw it: (simulated, published, tolerance)."""
    result = ac.simulate(CarAxis(), end, rtol=1e-8)
    found = (result[path].final for path in ("x1", "y1", "x2", "y2"))
    answer = {name: (x, published[name], 1e-5) for name, x in zip(published, found, strict=True)}
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    drawing = ac.Drawing().line((0, 0), ("xb", "yb"), color="0.5").trace(("x2", "y2"), seconds=1.0)
    for wheel, body in (((0, 0), ("x1", "y1")), (("xb", "yb"), ("x2", "y2"))):
        drawing.spring(wheel, body, radius=0.04).circle(wheel, 0.08, color="0.8")
    drawing.line(("x1", "y1"), ("x2", "y2"), width=6, marker="o")
    result.strobe(drawing, [0.16, 0.47], t=(0.0, 0.63), ax=left)
    if gif:
        result.animate(drawing, "car_axis.gif", t=(0.0, 1.5), speed=0.5)
    t = np.linspace(0, end, 3001)
    right.plot(t, result["yb"].at(t), "0.6", label="road")
    right.plot(t, result["y2"].at(t) - height, label="right end of the body")
    right.plot(t, result["y1"].at(t) - height, label="left end")
    right.set(xlabel="time [s]", ylabel="height above rest", xlim=(0, end), ylim=(-0.19, 0.14))
    right.legend(ncols=3, loc="lower center")
    figure.savefig("car_axis.png", dpi=150)
    return answer


if __name__ == "__main__":
    main("--gif" in sys.argv)
