"""Which current does the output capacitor of a boost converter have to carry?

A step-up converter, 12 V to 30 V, 60 W, at 100 kHz:

    Vin ---[L]---+---[diode]---+------+
                 |             |      |
              [switch]        [C]    [R]
                 |             |      |
    0 V ---------+-------------+------+

Theory in continuous conduction with small ripple: Vout = Vin / (1 - D), and the inductor carries I = Iout / (1 - D)
with the ripple dI = Vin D / (f L). The diode hands it to the output in pulses, of which the capacitor takes the
alternating part: Irms^2 = Iout^2 D / (1 - D) + (1 - D) dI^2 / 12, and dV = Iout D / (f C) from peak to peak.
Erickson and Maksimovic, Fundamentals of Power Electronics, chapter 2.
"""

from collections.abc import Iterator

import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PWM

Vin, D, f, L, C, R = 12.0, 0.6, 100e3, 47e-6, 100e-6, 15.0
Vout = Vin / (1 - D)
Iout = Vout / R


class Boost(ac.Component):
    """Step-up converter with ideal switch and diode."""

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=Vin), el.Ground()
        self.pwm = PWM(frequency=f, duty=D)
        self.switch, self.diode = el.IdealClosingSwitch(control=self.pwm.y), el.IdealDiode()
        self.inductor, self.capacitor, self.load = el.Inductor(L=L), el.Capacitor(C=C), el.Resistor(R=R)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.inductor.p)
        yield ac.connect(self.inductor.n, self.switch.p, self.diode.p)
        yield ac.connect(self.diode.n, self.capacitor.p, self.load.p)
        yield ac.connect(self.source.n, self.switch.n, self.capacitor.n, self.load.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Settle, then simulate four periods, print the answer and draw it: (simulated, theory, tolerance)."""
    model, ripple, sag = Boost(), Vin * D / (f * L), Iout * D / (f * C)
    start = {"capacitor.v": Vout + sag / 2, "inductor.i": Iout / (1 - D) - ripple / 2}
    settled = ac.simulate(model, 30e-3, initial=start)
    result = ac.simulate(model, 4 / f, initial={x: settled[x].final for x in settled.states})
    rms = np.sqrt(Iout**2 * D / (1 - D) + (1 - D) * ripple**2 / 12)
    answer = {
        "output voltage [V]": (result["load.v"].mean(), Vout, 1e-3),
        "its ripple, p-p [V]": (float(np.ptp(result["load.v"])), sag, 1e-3),
        "inductor current [A]": (result["inductor.i"].mean(), Iout / (1 - D), 1e-3),
        "its ripple, p-p [A]": (float(np.ptp(result["inductor.i"])), ripple, 1e-6),
        "capacitor current, rms [A]": (result["capacitor.i"].rms(), rms, 1e-3),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    result.plot("inductor.i", "capacitor.i", "load.v").savefig("boost.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
