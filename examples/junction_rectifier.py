"""From which voltage on does it matter that the diodes of a rectifier are not ideal?

A bridge rectifier with 1 kOhm, fed by a sine of 50 Hz with amplitudes from 2 V to 100 V. Its diodes are ideal,
ideal with a knee of 0.6 V, or junctions with i = Is (exp(v / Vt) - 1):

    V sin(w t) --- ~[bridge]~ --- [R]

Theory: two diodes conduct in series, so |V sin(w t)| = v + 2 Vd(v / R), with Vd = 0, Vknee, or Vt ln(1 + i / Is). The
output exceeds v as long as sin(w t) exceeds (v + 2 Vd) / V, the share arccos((v + 2 Vd) / V) 2 / pi of the time, and the
mean is the integral of that over v, for ideal diodes 2 V / pi. Sedra and Smith, Microelectronic Circuits, chapter 4.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el

f, R, Is, Vt, Vknee = 50.0, 1e3, 1e-9, 0.045, 0.6


class Rectifier(ac.Component):
    """Single-phase bridge with a resistor."""

    V: ac.Parameter = ac.Parameter(default=1.0, unit="V", doc="Amplitude")
    Vknee: ac.Parameter = ac.Parameter(default=0.0, unit="V", doc="Forward voltage of ideal diodes")
    junctions: ac.Structural[bool] = ac.Structural(bool, default=False, doc="True: diodes with exponential")

    def build(self) -> None:
        self.line, self.load, self.ground = el.SineVoltage(V=self.V, f=f), el.Resistor(R=R), el.Ground()
        if self.junctions:
            self.D = [el.Diode(Ids=Is, Vt=Vt, Maxexp=40.0, R=1e12) for _ in range(4)]
        else:
            self.D = [el.IdealDiode(Vknee=self.Vknee) for _ in range(4)]

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.line.p, self.D[0].p, self.D[2].n)
        yield ac.connect(self.line.n, self.D[1].p, self.D[3].n, self.ground.p)
        yield ac.connect(self.D[0].n, self.D[1].n, self.load.p)
        yield ac.connect(self.D[2].p, self.D[3].p, self.load.n)


def mean(V: float, kind: str) -> float:
    """Return the mean output at an amplitude."""
    v = np.linspace(0, V, 200_001)
    Vd = {"ideal": 0 * v, "knee": Vknee + 0 * v, "junction": Vt * np.log1p(v / (R * Is))}[kind]
    return float(2 / np.pi * np.trapezoid(np.arccos(np.minimum((v + 2 * Vd) / V, 1)), v))


def main() -> dict[str, tuple[float, float, float]]:
    """Rectify with three kinds of diodes, print and draw the mean output: (simulated, theory, tolerance)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    models = {"ideal": Rectifier(), "knee": Rectifier(Vknee=Vknee), "junction": Rectifier(junctions=True)}
    answer, t, amplitudes = {}, np.linspace(0, 1 / f, 1001), np.geomspace(1, 100, 25)
    for k, (kind, model) in enumerate(models.items()):
        for V in (2.0, 10.0, 100.0):
            output = ac.simulate(model, 1 / f, parameters={"V": V})["load.v"]
            answer[f"{kind} at {V:g} V [V]"] = (output.mean(0, 1 / f), mean(V, kind), 1e-4)
            right.semilogx(V, output.mean(0, 1 / f) / V, f"oC{k}")
            if V == 2.0:
                left.plot(1e3 * t, output.at(t), label=kind)
        right.semilogx(amplitudes, [mean(V, kind) / V for V in amplitudes], f"C{k}", zorder=0)
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    left.set(xlabel="time [ms]", ylabel="output at 2 V [V]", xlim=(0, 1e3 / f))
    right.set(xlabel="amplitude of the line [V]", ylabel="mean of the output over amplitude, lines: theory")
    left.legend()
    figure.savefig("junction_rectifier.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
