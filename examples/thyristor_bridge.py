"""How does the mean voltage of a thyristor bridge depend on its firing angle?

A fully controlled two-pulse bridge at 230 V, 50 Hz with a resistive and with an inductive load:

            +--------+---- + ---+
           t1       t3          |
    line ---+        +--- line [R, L]
           t2       t4          |
            +--------+----------+

Theory: the mean is 2 V cos(alpha) / pi while the current never ceases (beyond 90 degrees a source in the load must
drive it), and V (1 + cos(alpha)) / pi with a resistive load. Mohan, Undeland, Robbins, Power Electronics, chapter 6.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PhaseAngle

V, f, T = 230 * np.sqrt(2), 50.0, 20e-3


class Bridge(ac.Component):
    """Two-pulse bridge with resistance, inductance and a source as load."""

    alpha: ac.Parameter = ac.Parameter(default=np.pi / 3, unit="rad", doc="Firing angle")
    E: ac.Parameter = ac.Parameter(default=0.0, unit="V", doc="Voltage of a source in the load")
    L: ac.Parameter = ac.Parameter(default=0.0, unit="H", doc="Inductance of the load")

    def build(self) -> None:
        self.line, self.ground = el.SineVoltage(V=V, f=f), el.Ground()
        self.firing = PhaseAngle(alpha=self.alpha, frequency=f)
        self.t1, self.t4 = (el.IdealThyristor(fire=self.firing.fire_p) for _ in range(2))
        self.t2, self.t3 = (el.IdealThyristor(fire=self.firing.fire_n) for _ in range(2))
        self.R, self.coil, self.emf = el.Resistor(R=10.0), el.Inductor(L=self.L), el.ConstantVoltage(V=self.E)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.line.p, self.t1.p, self.t2.n)
        yield ac.connect(self.line.n, self.t3.p, self.t4.n)
        yield ac.connect(self.t1.n, self.t3.n, self.R.p)
        yield ac.connect(self.R.n, self.coil.p)
        yield ac.connect(self.coil.n, self.emf.p)
        yield ac.connect(self.t2.p, self.t4.p, self.emf.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Sweep the firing angle, print and draw the mean voltages: (simulated, theory, tolerance)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    program, answer, t = ac.compile_model(Bridge()), {}, np.linspace(9 * T, 11 * T, 4001)
    for name, style, theory in (
        ("inductive", "oC0", lambda alpha: 2 * V / np.pi * np.cos(alpha)),
        ("resistive", "sC1", lambda alpha: V / np.pi * (1 + np.cos(alpha))),
    ):
        for degrees in (0, 30, 60, 80, 120, 150):
            alpha = np.deg2rad(degrees)
            load = {"L": 0.2, "E": theory(alpha) - 100.0} if name == "inductive" else {}
            output = program.simulate(11 * T, parameters={"alpha": alpha, **load})["R.p.v"]
            mean = output.mean(9 * T, 11 * T)
            answer[f"{name}, {degrees} deg [V]"] = (mean, theory(alpha), 1e-9)
            left.plot(degrees, mean, style)
            if degrees == 60:
                right.plot(1e3 * (t - t[0]), output.at(t), style[1:], label=name)
        left.plot(np.arange(181), theory(np.deg2rad(np.arange(181))), style[1:], label=f"{name} load")
    left.set(xlabel="firing angle [deg]", ylabel="mean voltage [V]", xlim=(0, 180), xticks=range(0, 181, 30))
    right.set(xlabel="time [ms]", ylabel="output at 60 deg [V]", xlim=(0, 40))
    left.legend()
    left.grid(linewidth=0.3)
    right.grid(linewidth=0.3)
    figure.savefig("thyristor_bridge.png", dpi=150)
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    return answer


if __name__ == "__main__":
    main()
