"""Which voltage does the switch of a flyback converter see, and where does its current go when it opens?

An isolated converter from the rectified line, 325 V, to 12 V and 3 A, at 65 kHz. The dots of the windings are opposed:

    Vin ---[winding 1 *]---[switch]--- 0 V           [* winding 2]---|>|---+------+
                                                           |        diode [C]    [R]
                                                           +---------------+------+--- 0 V

With perfect coupling, k = 1, nothing is lost when the switch opens: the ampere-turns pass to winding 2 at that instant.

Theory in continuous conduction with small ripple of the output, n = N2 / N1: Vout = n Vin D / (1 - D); the open switch
holds Vin + Vout / n; the magnetising current is n Iout / (1 - D), its ripple Vin D / (f L1), and the diode takes over
the highest of it, divided by n. Erickson and Maksimovic, Fundamentals of Power Electronics, chapter 6. A real
transformer adds a spike to the switch, from the energy of its leakage inductance.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PWM

Vin, Vout, Iout, f, n, L1, C = 325.0, 12.0, 3.0, 65e3, 0.1, 4e-3, 470e-6
D = Vout / (Vout + n * Vin)


class Flyback(ac.Component):
    """Flyback converter without leakage inductance."""

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=Vin), el.Ground()
        self.pwm = PWM(frequency=f, duty=D)
        self.switch, self.diode = el.IdealClosingSwitch(control=self.pwm.y), el.IdealDiode()
        self.core = el.CoupledInductors(L1=L1, L2=n**2 * L1, k=1.0)
        self.capacitor, self.load = el.Capacitor(C=C), el.Resistor(R=Vout / Iout)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.core.p1)
        yield ac.connect(self.core.n1, self.switch.p)
        yield ac.connect(self.core.n2, self.diode.p)
        yield ac.connect(self.diode.n, self.capacitor.p, self.load.p)
        yield ac.connect(self.source.n, self.switch.n, self.ground.p)
        yield ac.connect(self.core.p2, self.capacitor.n, self.load.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Settle, then simulate four periods, print the answer and draw it: (simulated, theory, tolerance)."""
    model, mean, ripple = Flyback(), n * Iout / (1 - D), Vin * D / (f * L1)
    settled = ac.simulate(model, 1500 / f, initial={"capacitor.v": Vout, "core.im": mean - ripple / 2})
    result = ac.simulate(model, 4 / f, initial={x: settled[x].final for x in ("capacitor.v", "core.im")})
    answer = {
        "output [V]": (result["load.v"].mean(), Vout, 1e-3),
        "open switch, highest [V]": (float(np.max(result["switch.v"])), Vin + Vout / n, 1e-3),
        "switch current, highest [A]": (float(np.max(result["switch.i"])), mean + ripple / 2, 1e-3),
        "diode current, highest [A]": (float(np.max(result["diode.i"])), (mean + ripple / 2) / n, 1e-3),
        "magnetising current [A]": (result["core.im"].mean(), mean, 1e-3),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(9, 6), layout="constrained")
    for ax, names in zip(axes, (["switch.v"], ["core.im", "switch.i"], ["diode.i"]), strict=True):
        for name in names:
            ax.plot(1e6 * result.t, result[name], label=name)
        ax.set_ylabel("[V]" if names == ["switch.v"] else "[A]")
        ax.grid(linewidth=0.3)
        ax.legend(loc="upper left", bbox_to_anchor=(1, 1))
    axes[-1].set(xlabel="time [µs]", xlim=(0, 4e6 / f))
    figure.savefig("flyback.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
