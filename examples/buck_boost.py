"""How do the output voltage and the voltage on the switch of a buck-boost converter grow with the duty ratio?

An inverting converter fed by 24 V at 100 kHz, with duty ratios from 0.2 to 0.8:

    Vin ---[switch]---+---|<|---+------+  negative output
                      |  diode  |      |
                     [L]       [C]    [R]
                      |         |      |
    0 V --------------+---------+------+

Theory in continuous conduction with small ripple: Vout = -Vin D / (1 - D). While the diode conducts the open switch
holds Vin - Vout = Vin / (1 - D). Erickson and Maksimovic, Fundamentals of Power Electronics, chapters 2 and 4.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PWM

Vin, f, L, C, R = 24.0, 100e3, 100e-6, 200e-6, 10.0


class BuckBoost(ac.Component):
    """Inverting converter with ideal switch and diode."""

    D: ac.Parameter = ac.Parameter(default=0.6, unit="1", doc="Duty ratio")

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=Vin), el.Ground()
        self.pwm = PWM(frequency=f, duty=self.D)
        self.switch, self.diode = el.IdealClosingSwitch(control=self.pwm.y), el.IdealDiode()
        self.inductor, self.capacitor, self.load = el.Inductor(L=L), el.Capacitor(C=C), el.Resistor(R=R)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.switch.p)
        yield ac.connect(self.switch.n, self.inductor.p, self.diode.n)
        yield ac.connect(self.diode.p, self.capacitor.p, self.load.p)
        yield ac.connect(self.source.n, self.inductor.n, self.capacitor.n, self.load.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Settle at several duty ratios, print and draw the voltages: (simulated, theory, tolerance)."""
    figure, ax = plt.subplot_mosaic("av;ai", figsize=(10, 4.4), layout="constrained")
    program, answer, stop = ac.compile_model(BuckBoost()), {}, 8e-3
    for D in (0.2, 0.4, 0.5, 0.6, 0.7, 0.8):
        Vout = -Vin * D / (1 - D)
        start = {"capacitor.v": Vout, "inductor.i": -Vout / R / (1 - D) - Vin * D / (2 * L * f)}
        result = program.simulate(stop + 2 / f, parameters={"D": D}, initial=start)
        t = np.linspace(stop, stop + 2 / f, 2001)
        output, switch = result["load.v"].mean(stop, stop + 2 / f), result["switch.v"].at(t)
        answer[f"output at D = {D} [V]"] = (output, Vout, 1e-3)
        answer[f"switch at D = {D} [V]"] = (float(switch.max()), Vin - Vout, 5e-3)
        ax["a"].plot(D, output, "oC0")
        ax["a"].plot(D, switch.max(), "sC1")
        if D == 0.6:
            ax["v"].plot(1e6 * (t - stop), switch, "C1")
            ax["i"].plot(1e6 * (t - stop), result["switch.i"].at(t), "C2")
    D = np.linspace(0, 0.82, 200)
    ax["a"].plot(D, -Vin * D / (1 - D), "C0", label="output")
    ax["a"].plot(D, Vin / (1 - D), "C1", label="switch, highest")
    ax["a"].set(xlabel="duty ratio", ylabel="voltage [V]", xlim=(0, 1))
    ax["a"].legend()
    ax["v"].set(title="switch at $D = 0.6$", ylabel="voltage [V]", xlim=(0, 2e6 / f))
    ax["i"].set(xlabel="time [µs]", ylabel="current [A]", xlim=(0, 2e6 / f))
    for one in ax.values():
        one.grid(linewidth=0.3)
    figure.savefig("buck_boost.png", dpi=150)
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    return answer


if __name__ == "__main__":
    main()
