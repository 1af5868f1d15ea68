"""How far does a lift run on when its power fails, and does the rope hold on the pulley?

A cabin and a counterweight hang on one rope over a pulley, which a motor drives through a gear. The brake on the motor's
shaft holds until 1 s; the cabin is accelerated upwards, runs at constant speed, and at 6 s the brake closes.

Theory: all moves as one, with a = (tau / r - (m1 - m2) g) / (m1 + m2 + J / r^2) for a torque tau at the pulley. The rope
holds while the ratio of its tensions, m1 (g + a) and m2 (g - a), is below exp(mu pi) (Eytelwein).
"""

import sys
from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.rotational as ro
import acausal.components.translational as tr

m1, m2, r, n, Jm, Jp, g, mu = 900.0, 700.0, 0.3, 20.0, 0.2, 10.0, 9.81, 0.15
begin, reached, failure, hold, a1 = 1.0, 3.0, 6.0, 60.0, 0.8
inertia, carry = m1 + m2 + (Jp + Jm * n**2) / r**2, (m1 - m2) * g * r / n


class Elevator(ac.Component):
    """Motor, brake, gear, pulley, rope, cabin, counterweight; heights upwards."""

    def build(self) -> None:
        t, speeding_up = ac.time, carry + a1 * inertia * r / n
        closed = ac.if_else(ac.or_(t < begin, t >= failure), 1.0, 0.0)
        torque = ac.if_else(t < reached, speeding_up, carry) * (1.0 - closed)
        self.motor, self.rotor = ro.Torque(tau=torque), ro.Inertia(J=Jm)
        self.brake, self.gear = ro.Brake(fn_max=hold, f_normalized=closed), ro.IdealGear(ratio=n)
        self.wheel, self.rope = ro.Inertia(J=Jp), ro.RopePulley(radius=r, s_a0=20.0)
        self.cabin, self.counterweight = tr.Mass(m=m1), tr.Mass(m=m2)
        self.weight1, self.weight2 = (tr.ConstantForce(f_constant=-m * g) for m in (m1, m2))

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.motor.flange, self.rotor.flange_a, self.brake.flange_a)
        yield ac.connect(self.brake.flange_b, self.gear.flange_a)
        yield ac.connect(self.gear.flange_b, self.wheel.flange_a, self.rope.flange)
        yield ac.connect(self.rope.flange_b, self.cabin.flange_a, self.weight1.flange)
        yield ac.connect(self.rope.flange_a, self.counterweight.flange_a, self.weight2.flange)


def main(gif: bool = False) -> dict[str, tuple[float, float, float]]:
    """Ride up, fail, print the answer and draw it: (simulated, theory, tolerance)."""
    result = ac.simulate(Elevator(), 8.0)
    v, s, stop = result["cabin.v"], result["cabin.s"], result.events[-1].t
    a2 = -(hold * n / r + (m1 - m2) * g) / inertia
    speed, steep = a1 * (reached - begin), m1 * (g + a1) / (m2 * (g - a1))
    f1, f2 = result["rope.f_b"], result["rope.f_a"]
    answer = {
        "speed [m/s]": (v.at(5.0), speed, 1e-9),
        "stops after [s]": (stop - failure, -speed / a2, 1e-9),
        "runs on [m]": (s.final - s.at(failure), -(speed**2) / (2 * a2), 1e-9),
        "torque of the brake at rest [Nm]": (-result["brake.tau"].final, carry, 1e-9),
        f"ratio of tensions, at most {np.exp(mu * np.pi):.3g}": (f1.at(2.0) / f2.at(2.0), steep, 1e-9),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<34}{simulated:10.5g}   theory {theory:10.5g}")
    figure, (left, top, bottom) = plt.subplots(1, 3, figsize=(11, 4.5), layout="constrained")
    drawing = ac.Drawing().circle((0, 24), 1.5, angle="wheel.phi", color="0.9")
    for x, end, height, color in ((-1.5, "counterweight.s", 2.0, "0.5"), (1.5, "cabin.s", 3.0, "C0")):
        drawing.line((x, 24), (x, end), color="0.3", width=1).box((x, end), 2.0, height, color=color)
    result.strobe(drawing, [0.0, 4.0, 8.0], ax=left)
    if gif:
        result.animate(drawing, "elevator.gif", fps=10)
    top.plot(v.t, v)
    top.set(xlabel="time [s]", ylabel="speed of the cabin [m/s]")
    bottom.plot(f1.t, 1e-3 * f1.values, label="cabin")
    bottom.plot(f2.t, 1e-3 * f2.values, label="counterweight")
    bottom.set(xlabel="time [s]", ylabel="tension of the rope [kN]")
    bottom.legend()
    figure.savefig("elevator.png", dpi=150)
    return answer


if __name__ == "__main__":
    main("--gif" in sys.argv)
