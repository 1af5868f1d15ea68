"""At which amplitude and frequency does a Colpitts oscillator settle?

An npn transistor in common base, biased by a current I, keeps a resonant circuit with tapped capacitors swinging:

    10 V ---[L]---+--- C     0 V --- B     E ---+---[C1]--- C
    10 V ---[R]---+                             +---[C2]--- 0 V
                                                +---> I ---> 0 V

Theory: the circuit rings at f0 = 1 / (2 pi sqrt(L C)), C = C1 C2 / (C1 + C2), and its tap puts the sine n V,
n = C1 / (C1 + C2), on the emitter. The mean of the emitter current is I, so its fundamental is 2 I I1(x) / I0(x) with
x = n V / Vt, nearly 2 I: short pulses. Its power, (a - n) V / 2 times the fundamental with a = Bf / (1 + Bf), is that
of the resistor, V^2 / (2 R). Clarke and Hess, Communication Circuits: Analysis and Design, chapter 6.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import ive

import acausal as ac
import acausal.components.electrical as el

V0, L, C1, C2, R, Is, Bf, Vt, stop = 10.0, 10e-6, 1e-9, 10e-9, 3e3, 1e-15, 200.0, 0.02585, 40e-6
n = C1 / (C1 + C2)
f0 = 1 / (2 * np.pi * np.sqrt(L * C2 * n))


class Colpitts(ac.Component):
    """Oscillator with a transistor without charges of its own."""

    bias: ac.Parameter = ac.Parameter(default=1e-3, unit="A", doc="Current drawn from the emitter")

    def build(self) -> None:
        self.supply, self.source = el.ConstantVoltage(V=V0), el.ConstantCurrent(I=self.bias)
        self.L, self.R, self.C1 = el.Inductor(L=L), el.Resistor(R=R), el.Capacitor(C=C1)
        self.C2, self.ground = el.Capacitor(C=C2), el.Ground()
        self.Q = el.NPN(Is=Is, Bf=Bf, Vt=Vt, Vak=0.0, useCharges=False)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.supply.p, self.L.p, self.R.p)
        yield ac.connect(self.L.n, self.R.n, self.C1.p, self.Q.C)
        yield ac.connect(self.C1.n, self.C2.p, self.source.p, self.Q.E)
        yield ac.connect(self.supply.n, self.C2.n, self.source.n, self.Q.B, self.ground.p)


def amplitude(bias: float) -> float:
    """Return the amplitude at which the transistor gives the power that the resistor takes."""
    V = 2 * R * bias
    for _ in range(100):
        V = 2 * R * bias * (Bf / (1 + Bf) - n) * ive(1, n * V / Vt) / ive(0, n * V / Vt)
    return float(V)


def main() -> dict[str, tuple[float, float, float]]:
    """Let it start at several currents, print what it settles at and draw it: (simulated, theory, tolerance)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    program, answer, t = ac.compile_model(Colpitts()), {}, np.linspace(0, stop, 4001)
    for bias in (1e-3, 0.5e-3, 0.25e-3):
        start = {"C1.v": V0 + Vt * np.log(bias / Is), "C2.v": -Vt * np.log(bias / Is), "L.i": 0.5 * bias}
        output = program.simulate(stop, parameters={"bias": bias}, initial=start)["L.v"]
        v = output.at(t)
        up = np.flatnonzero((v[:-1] < 0) & (v[1:] >= 0))[-9:]
        f = 8 / np.ptp(t[up] - v[up] * t[1] / (v[up + 1] - v[up]))
        V = abs(output.harmonics(f, 1)[1])
        answer[f"amplitude at {1e3 * bias:g} mA [V]"] = (V, amplitude(bias), 5e-3)
        answer[f"frequency at {1e3 * bias:g} mA [MHz]"] = (1e-6 * f, 1e-6 * f0, 1e-3)
        left.plot(1e6 * t, v, lw=0.7)
        right.plot(1e3 * bias, V, "o")
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    right.plot(x := np.linspace(0.05, 1.2, 100), [amplitude(1e-3 * i) for i in x], "0.5", zorder=0)
    left.set(xlabel="time [µs]", ylabel="voltage on L [V]", xlim=(0, 1e6 * stop))
    right.set(xlabel="bias [mA]", ylabel="amplitude [V], line: theory", xlim=(0, None), ylim=(0, None))
    figure.savefig("colpitts.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
