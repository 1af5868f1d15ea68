"""How far does the output of a voltage multiplier drop under load, and how much does it ripple?

A Cockcroft-Walton cascade of n = 3 stages: 5 kV and 10 kHz in, 30 kV out without load.

    source ---[c0]--- a1 ---[c2]--- a2 ---[c4]--- a3
       0 V ---[c1]--- b1 ---[c3]--- b2 ---[c5]--- b3 = output, loaded with 1 mA
       0 V -d0-> a1 -d1-> b1 -d2-> a2 -d3-> b2 -d4-> a3 -d5-> b3

Theory for small drops: in every period each diode passes the charge I / f of the load. The balance of charge of each
capacitor gives the ripple, I / (f C) n (n + 1) / 2 from peak to peak, and the drop of the crest below 2 n V,
I / (f C) (2 n^3 / 3 + n^2 / 4 + n / 12). Kuffel, Zaengl and Kuffel, High Voltage Engineering, chapter 2, have
n^2 / 2 - n / 6 in place of the last two terms: there the load takes its charge of a period at once, here evenly.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el

V, f, C, I_load, n = 5e3, 10e3, 10e-9, 1e-3, 3


class Multiplier(ac.Component):
    """Cascade of n stages; the even capacitors are pushed by the source, the odd ones hold the output."""

    def build(self) -> None:
        self.source, self.ground, self.load = (
            el.SineVoltage(V=V, f=f),
            el.Ground(),
            el.ConstantCurrent(I=I_load),
        )
        self.d = [el.IdealDiode() for _ in range(2 * n)]
        self.c = [el.Capacitor(C=C, v=V if k == 0 else 2 * V) for k in range(2 * n)]

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.n, self.d[0].p, self.c[1].n, self.load.n, self.ground.p)
        yield ac.connect(self.source.p, self.c[0].n)
        for k in range(2 * n):
            yield ac.connect(self.d[k].n, self.c[k].p)
        for k in range(2 * n - 1):
            yield ac.connect(self.d[k].n, self.d[k + 1].p)
        for k in range(2 * n - 2):
            yield ac.connect(self.c[k].p, self.c[k + 2].n)
        yield ac.connect(self.d[-1].n, self.load.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Load the charged cascade, print the answer and draw it: (simulated, theory, tolerance)."""
    periods, unit = 200, I_load / (f * C)
    result = ac.simulate(Multiplier(), periods / f)
    t = np.linspace((periods - 3) / f, periods / f, 3001)
    output = result["load.v"].at(t)
    answer = {
        "drop of the crest [V]": (2 * n * V - output.max(), unit * (2 * n**3 / 3 + n**2 / 4 + n / 12), 0.01),
        "ripple, peak to peak [V]": (np.ptp(output), unit * n * (n + 1) / 2, 0.025),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    left.plot(1e3 * result.t, result["load.v"] / 1e3, linewidth=0.5)
    right.plot(1e3 * (t - t[0]), output / 1e3)
    left.set(xlabel="time [ms]", ylabel="output [kV]", xlim=(0, 1e3 * periods / f))
    right.set(xlabel="time [ms], settled", ylabel="output [kV]", xlim=(0, 3e3 / f))
    for ax in (left, right):
        ax.grid(linewidth=0.3)
    figure.savefig("voltage_multiplier.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
