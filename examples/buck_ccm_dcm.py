"""At which load does a buck converter leave continuous conduction, and what becomes of its output voltage?

The 24 V buck converter of buck_converter.py at a duty ratio of 0.4, with loads from 5 to 200 Ohm:

    Vin ---[switch]---+---[L]---+------+
                      |         |      |
                   [diode]     [C]    [R]
                      |         |      |
    0 V --------------+---------+------+

Theory: with K = 2 L f / R conduction is continuous for K > 1 - D, and Vout / Vin = D. Below, the current pauses at
zero and Vout / Vin = 2 / (1 + sqrt(1 + 4 K / D^2)). Erickson and Maksimovic, Fundamentals of Power Electronics,
chapter 5; small ripple of the output is assumed.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PWM

Vin, D, f, L, C = 24.0, 0.4, 100e3, 47e-6, 10e-6


class Buck(ac.Component):
    """Step-down converter with ideal switch and diode."""

    R: ac.Parameter = ac.Parameter(unit="Ohm", doc="Load")

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=Vin), el.Ground()
        self.pwm = PWM(frequency=f, duty=D)
        self.switch, self.diode = el.IdealClosingSwitch(control=self.pwm.y), el.IdealDiode()
        self.inductor, self.capacitor, self.load = el.Inductor(L=L), el.Capacitor(C=C), el.Resistor(R=self.R)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.switch.p)
        yield ac.connect(self.switch.n, self.diode.n, self.inductor.p)
        yield ac.connect(self.inductor.n, self.capacitor.p, self.load.p)
        yield ac.connect(self.source.n, self.diode.p, self.capacitor.n, self.load.n, self.ground.p)


def ratio(load: float | np.ndarray) -> np.ndarray:
    """Return Vout / Vin at a load in Ohm."""
    K = 2 * L * f / load
    return np.where(K > 1 - D, D, 2 / (1 + np.sqrt(1 + 4 * K / D**2)))


def main() -> dict[str, tuple[float, float, float]]:
    """Settle at several loads, print the outputs and draw them: (simulated, theory, tolerance)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    program, answer = ac.compile_model(Buck(R=5.0)), {}
    for load in (5.0, 10.0, 15.0, 25.0, 50.0, 100.0, 200.0):
        expected, stop = Vin * ratio(load).item(), round(max(2e-3, 4 * load * C) * f) / f
        result = program.simulate(stop + 2 / f, parameters={"R": load}, initial={"capacitor.v": expected})
        mean = result["load.v"].mean(stop, stop + 2 / f)
        answer[f"output at {load:g} Ohm [V]"] = (mean, expected, 2e-3)
        right.plot(load, mean / Vin, "o", color="C0" if mean < 1.001 * D * Vin else "C1")
        if load in (5.0, 100.0):
            t = np.linspace(stop, stop + 2 / f, 2001)
            left.plot(1e6 * (t - stop), result["inductor.i"].at(t), label=f"{load:g} $\\Omega$")
    loads = np.geomspace(4, 250, 300)
    right.semilogx(loads, ratio(loads), color="0.5", zorder=0, label="theory")
    right.axvline(2 * L * f / (1 - D), color="0.5", linestyle=":", label="boundary $K = 1 - D$")
    left.set(xlabel="time [µs]", ylabel="inductor current [A]", xlim=(0, 2e6 / f), ylim=(0, None))
    right.set(xlabel="load resistance [$\\Omega$]", ylabel="$V_{out}/V_{in}$", ylim=(0, 1))
    for ax in (left, right):
        ax.grid(linewidth=0.3)
        ax.legend()
    figure.savefig("buck_ccm_dcm.png", dpi=150)
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    return answer


if __name__ == "__main__":
    main()
