"""Why do rectifiers with a smoothing capacitor have a poor power factor, and those with a choke not?

A diode bridge at 230 V, 50 Hz feeds 100 Ohm, once through a choke of 10 H, once with a capacitor of 470 uF instead:

     +--------+------[choke]---+--------+
    d1       d3                |        |
     +--line--+           [capacitor] [load]
    d2       d4                |        |
     +--------+----------------+--------+

Theory, capacitor: with k = w R C the line gives V / R (k cos(w t) + sin(w t)) from the angle b, at which it has risen
to the voltage left over, to a = pi - atan(k): sin(b) = sin(a) exp(-(pi + b - a) / k). A large choke keeps the current
at its mean, 2 V / (pi R): the line current is rectangular, and the power factor is 2 sqrt(2) / pi.
Mohan, Undeland and Robbins, Power Electronics, chapter 5.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el

V, f, R, C, L = 230 * np.sqrt(2), 50.0, 100.0, 470e-6, 10.0


class Rectifier(ac.Component):
    """Diode bridge; a choke of 0 H is a wire, a capacitor of 0 F an open circuit."""

    L: ac.Parameter = ac.Parameter(default=0.0, unit="H", doc="Inductance before the load")
    C: ac.Parameter = ac.Parameter(default=0.0, unit="F", doc="Capacitance across the load")

    def build(self) -> None:
        self.line, self.ground = el.SineVoltage(V=V, f=f), el.Ground()
        self.d1, self.d2, self.d3, self.d4 = (el.IdealDiode() for _ in range(4))
        self.choke, self.capacitor = el.Inductor(L=self.L), el.Capacitor(C=self.C)
        self.load = el.Resistor(R=R)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.line.p, self.d1.p, self.d2.n)
        yield ac.connect(self.line.n, self.d3.p, self.d4.n)
        yield ac.connect(self.d1.n, self.d3.n, self.choke.p)
        yield ac.connect(self.choke.n, self.capacitor.p, self.load.p)
        yield ac.connect(self.d2.p, self.d4.p, self.capacitor.n, self.load.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Settle, print the answer and draw the last two periods: (simulated, theory, tolerance)."""
    factor, last, t = {}, (0.56, 0.6), np.linspace(0.56, 0.6, 4001)
    figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(8, 5.6), layout="constrained")
    for name, model in (("capacitor", Rectifier(C=C)), ("choke", Rectifier(L=L))):
        run = ac.simulate(model, 0.6, initial={"choke.i": 2 * V / np.pi / R} if name == "choke" else {})
        factor[name] = run["load.v"].rms(*last) ** 2 / R / run["line.i"].rms(*last) * np.sqrt(2) / V
        upper.plot(1e3 * (t - t[0]), run["load.v"].at(t), label=name)
        lower.plot(1e3 * (t - t[0]), -run["line.i"].at(t), label=name)
    upper.set(ylabel="load voltage [V]", ylim=(0, None))
    lower.set(xlabel="time [ms]", ylabel="line current [A]", xlim=(0, 40))
    upper.legend(loc="lower right")
    upper.grid(linewidth=0.3)
    lower.grid(linewidth=0.3)
    figure.savefig("bridge_rectifier.png", dpi=150)
    k, b = 2 * np.pi * f * R * C, 0.0
    a = np.pi - np.arctan(k)
    for _ in range(100):  # a contraction
        b = np.arcsin(np.sin(a) * np.exp(-(np.pi + b - a) / k))
    x = np.linspace(b, a, 10_001)
    current = k * np.cos(x) + np.sin(x)
    peaky = np.trapezoid(current * np.sin(x), x) / np.sqrt(np.trapezoid(current**2, x) * np.pi / 2)
    answer = {
        "power factor, capacitor": (factor["capacitor"], peaky, 1e-6),
        "power factor, choke": (factor["choke"], 2 * np.sqrt(2) / np.pi, 1e-3),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    return answer


if __name__ == "__main__":
    main()
