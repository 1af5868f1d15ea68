"""How far off is the fundamental approximation of a series resonant converter?

A full bridge on 400 V feeds a rectifier and a load through L and C in series: f0 = 100 kHz, Q = sqrt(L / C) / R = 2.

Theory, by the fundamental alone: Vout / Vin = 1 / sqrt(1 + Qe^2 (F - 1 / F)^2) with Qe = pi^2 Q / 8 at F = f / f0.
Exact for continuous current, in the state plane: M = Vout / Vin solves M^2 sin^2(g) + (Q M g + s)^2 cos^2(g) = 1 with
g = pi / (2 F), s = 1 above and -1 below the resonance. At 0.7 f0 the fundamental gives 11 % too little.
Erickson and Maksimovic, Fundamentals of Power Electronics, second edition, chapter 19.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import BooleanPulse

Vin, f0, R0, Q = 400.0, 100e3, 50.0, 2.0
L, C, R = R0 / (2 * np.pi * f0), 1 / (2 * np.pi * f0 * R0), R0 / Q


class Resonant(ac.Component):
    """Full bridge, series resonant circuit, rectifier with capacitor."""

    f: ac.Parameter = ac.Parameter(default=f0, unit="Hz", doc="Switching frequency")

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=Vin), el.Ground()
        self.clock = BooleanPulse(period=1 / self.f)
        self.a = el.IdealTwoWaySwitch(control=self.clock.y)
        self.b = el.IdealTwoWaySwitch(control=~self.clock.y)
        self.L, self.C, self.R = el.Inductor(L=L), el.Capacitor(C=C), el.Resistor(R=R)
        self.d1, self.d2, self.d3, self.d4 = (el.IdealDiode() for _ in range(4))
        self.filter = el.Capacitor(C=20e-6)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.a.n2, self.b.n2)
        yield ac.connect(self.source.n, self.a.n1, self.b.n1)
        yield ac.connect(self.a.p, self.L.p)
        yield ac.connect(self.L.n, self.C.p)
        yield ac.connect(self.C.n, self.d1.p, self.d2.n)
        yield ac.connect(self.b.p, self.d3.p, self.d4.n)
        yield ac.connect(self.d1.n, self.d3.n, self.filter.p, self.R.p)
        yield ac.connect(self.d2.p, self.d4.p, self.filter.n, self.R.n, self.ground.p)


def exact(F: np.ndarray) -> np.ndarray:
    """Voltage ratio by the state plane: the positive root of a quadratic equation."""
    g, c = np.pi / (2 * F), np.cos(np.pi / (2 * F)) ** 2
    a, b = 1 - c + c * (Q * g) ** 2, c * Q * g * np.where(F > 1, 1, -1)
    return (np.sqrt(b**2 + a * (1 - c)) - b) / a


def main() -> dict[str, tuple[float, float, float]]:
    """Sweep the frequency, print the answer and draw it: (simulated, theory, tolerance)."""
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5.6), layout="constrained")
    model, answer, F = Resonant(), {}, np.linspace(0.6, 2, 401)
    for x in (0.7, 0.8, 0.9, 1.1, 1.3, 1.6, 1.9):
        T, theory = 1 / (x * f0), float(exact(np.array(x)))
        run = ac.simulate(model, 200 * T, parameters={"f": x * f0}, initial={"filter.v": theory * Vin})
        gain = run["R.v"].mean(180 * T, 200 * T) / Vin
        answer[f"voltage ratio at {x} f0"] = (gain, theory, 2e-3)
        print(f"voltage ratio at {x} f0 {gain:15.5g}   theory {theory:10.5g}")
        upper.plot(x, gain, "ko", label="simulated" if x == 0.7 else "")
        if x in (0.7, 1.6):
            lower.plot(run.t / T - 198, run["L.i"], label=f"at {x} f0")
    upper.plot(F, exact(F), label="state plane")
    upper.plot(F, 1 / np.hypot(1, np.pi**2 * Q / 8 * (F - 1 / F)), "--", label="fundamental alone")
    upper.set(xlabel="switching frequency / f0", ylabel="Vout / Vin", xlim=(0.6, 2), ylim=(0, 1.05))
    lower.set(xlabel="time / period", ylabel="resonant current [A]", xlim=(0, 2))
    upper.legend(loc="upper right")
    lower.legend(loc="upper right")
    figure.savefig("resonant_converter.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
