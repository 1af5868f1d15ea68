"""How much voltage does a six-pulse rectifier lose while its diodes commutate?

Three phases of 230 V, 50 Hz with 5 mH each in the lines feed a load of constant current, 20 A:

                d1   d3   d5 ----- + ----+
                |    |    |              |
    a ---[L]----+    |    |              |
    b ---[L]---------+    |           [20 A]
    c ---[L]--------------+              |
                |    |    |              |
                d4   d6   d2 ----- 0 V --+

Theory: during the overlap u two phases share the current, and the output is the mean of theirs.
cos(u) = 1 - 2 w L Id / (sqrt(3) V) and Vmean = 3 sqrt(3) V / pi - 3 w L Id / pi, V the amplitude of a phase.
Mohan, Undeland and Robbins, Power Electronics, chapter 5.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el

V, f, L, Id = 230 * np.sqrt(2), 50.0, 5e-3, 20.0
w = 2 * np.pi * f


class SixPulse(ac.Component):
    """Diode bridge with line inductances and a constant current as load."""

    def build(self) -> None:
        self.source, self.ground = el.ThreePhaseVoltage(V=V, f=f), el.Ground()
        self.lines = [el.Inductor(L=L) for _ in range(3)]
        self.upper = [el.IdealDiode() for _ in range(3)]
        self.lower = [el.IdealDiode() for _ in range(3)]
        self.load = el.ConstantCurrent(I=Id)

    def equations(self) -> Iterator[ac.Statement]:
        phases = (self.source.p1, self.source.p2, self.source.p3)
        for phase, line, upper, lower in zip(phases, self.lines, self.upper, self.lower, strict=True):
            yield ac.connect(phase, line.p)
            yield ac.connect(line.n, upper.p, lower.n)
        yield ac.connect(*(d.n for d in self.upper), self.load.p)
        yield ac.connect(*(d.p for d in self.lower), self.load.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Simulate three periods from a periodic start, print the answer and draw it: (simulated, theory, tolerance)."""
    start = {"lines[1].i": -Id, "lines[2].i": Id, "lines[0].i": 0.0}
    result = ac.simulate(SixPulse(), 3 / f, initial=start)
    mean, overlap = result["load.v"].mean(1 / f, 2 / f), result["upper[0].on"].mean(1 / f, 2 / f) - 1 / 3
    u = np.arccos(1 - 2 * w * L * Id / (np.sqrt(3) * V))
    answer = {
        "mean voltage [V]": (mean, 3 / np.pi * (np.sqrt(3) * V - w * L * Id), 1e-9),
        "overlap [deg]": (360 * overlap, np.rad2deg(u), 1e-9),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    t = np.linspace(1 / f, 3 / f, 4001)
    figure, (upper, lower) = plt.subplots(2, 1, sharex=True, figsize=(8, 5.6), layout="constrained")
    phases = np.array([result[f"source.phases[{k}].v"].at(t) for k in range(3)])
    ms = 1e3 * (t - t[0])
    upper.plot(ms, np.ptp(phases, axis=0), "0.6", label="without inductance")
    upper.plot(ms, result["load.v"].at(t), "k", label="output")
    for k, name in enumerate("abc"):
        lower.plot(ms, result[f"upper[{k}].i"].at(t), label=f"upper diode, phase {name}")
    upper.set(ylabel="voltage [V]", ylim=(0, 600))
    lower.set(xlabel="time [ms]", ylabel="current [A]", xlim=(0, 40))
    for ax in (upper, lower):
        ax.grid(linewidth=0.3)
        ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    figure.savefig("six_pulse_rectifier.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
