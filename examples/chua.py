"""How does Chua's circuit come from rest to its double scroll?

A resonant circuit, L with its resistance R0 beside C2, is coupled by R to a capacitor C1 beside N, a resistor with two
negative slopes: Ga inside of +-E, Gb outside. The coupling is made stronger.

Theory: each piece of N leaves a linear circuit. Outside of +-E it rests at v1 = (Gb - Ga) E / (Gb + 1 / (R + R0)), and
the eigenvalues there tell how a small oscillation about that point decays or grows: it grows below R = 1.92 kOhm.
What grows reaches the other pieces. Kennedy, Frequenz 46 (1992): Robust op amp realization of Chua's circuit.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el

L, R0, C1, C2, Ga, Gb, E = 18e-3, 12.5, 10e-9, 100e-9, -0.757576e-3, -0.409091e-3, 1.0


class ChuaDiode(el.OnePort):
    """Resistor of three pieces: slope ``Ga`` inside of ``+-E``, ``Gb`` outside."""

    Ga: ac.Parameter = ac.Parameter(default=Ga, unit="S", doc="Slope inside")
    Gb: ac.Parameter = ac.Parameter(default=Gb, unit="S", doc="Slope outside")
    E: ac.Parameter = ac.Parameter(default=E, unit="V", doc="Voltage between the pieces")

    def equations(self) -> Iterator[ac.Statement]:
        yield from super().equations()
        bent = ac.absolute(self.v + self.E) - ac.absolute(self.v - self.E)
        yield ac.Eq(self.i, self.Gb * self.v + (self.Ga - self.Gb) / 2 * bent)


class Chua(ac.Component):
    """Chua's circuit."""

    R: ac.Parameter = ac.Parameter(default=1.8e3, unit="Ohm", doc="Coupling")

    def build(self) -> None:
        self.L, self.R0, self.R1 = el.Inductor(L=L), el.Resistor(R=R0), el.Resistor(R=self.R)
        self.C1, self.C2, self.N = el.Capacitor(C=C1), el.Capacitor(C=C2), ChuaDiode()
        self.ground = el.Ground()

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.L.p, self.C2.p, self.R1.p)
        yield ac.connect(self.L.n, self.R0.p)
        yield ac.connect(self.R1.n, self.C1.p, self.N.p)
        yield ac.connect(self.R0.n, self.C2.n, self.C1.n, self.N.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Disturb the rest at three couplings, print what becomes of it and draw it: (simulated, theory, tolerance)."""
    figure, axes = plt.subplots(1, 3, figsize=(10, 3.6), sharex=True, sharey=True, layout="constrained")
    program, answer, t = ac.compile_model(Chua()), {}, np.linspace(1e-3, 5e-3, 4001)
    for ax, R, off in zip(axes, (2e3, 1.87e3, 1.8e3), (1.0, 0.1, 0.1), strict=True):
        v1 = (Gb - Ga) * E / (Gb + 1 / (R + R0))
        rest = {"C1.v": v1 + off, "C2.v": v1 * R0 / (R + R0), "L.i": v1 / (R + R0)}
        result = program.simulate(30e-3, parameters={"R": R}, initial=rest)
        v = result["C1.v"].at(t) - v1
        up = np.flatnonzero((v[:-1] < 0) & (v[1:] >= 0))
        zeros, slopes = t[up] - v[up] * (t[1] - t[0]) / (v[up + 1] - v[up]), v[up + 1] - v[up]
        equations = np.array([[-1 / R - Gb, 1 / R, 0], [1 / R, -1 / R, -1], [0, 1, -R0]]) / [[C1], [C2], [L]]
        s = max(np.linalg.eigvals(equations), key=np.imag)
        name, turns = f"at {1e-3 * R:g} kOhm", len(zeros) - 1
        answer[f"frequency {name} [Hz]"] = (turns / np.ptp(zeros), s.imag / (2 * np.pi), 1e-5)
        answer[f"growth {name} [1/s]"] = (np.log(slopes[-1] / slopes[0]) / np.ptp(zeros), s.real, 5e-3)
        ax.plot(result["C1.v"].at(T := np.linspace(0, 30e-3, 20_001)), result["C2.v"].at(T), lw=0.4)
        ax.set(title=f"R = {1e-3 * R:g} k$\\Omega$", xlabel="voltage on C1 [V]")
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    axes[0].set_ylabel("voltage on C2 [V]")
    figure.savefig("chua.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
