"""Which voltages do the coupling capacitor and the switch of a SEPIC have to hold?

A converter from 12 V to 18 V that may step up and down without inverting, at 100 kHz:

    Vin ---[L1]---+---[C1]---+---|>|---+------+
                  |          |  diode  |      |
               [switch]     [L2]      [C2]   [R]
                  |          |         |      |
    0 V ----------+----------+---------+------+

Theory: no direct voltage can stand across L1 and L2, so C1 is charged to Vin. With small ripple
Vout = Vin D / (1 - D) and the open switch holds Vin + Vout. L1 carries Iout D / (1 - D), and L2 carries Iout upwards.
Erickson and Maksimovic, Fundamentals of Power Electronics, chapter 6. Hardly anything damps the resonance of C1 with
L1 and L2, so the run begins with the values that small-ripple theory gives for the begin of a period.
"""

from collections.abc import Iterator

import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PWM

Vin, D, f, R, L, C1, C2 = 12.0, 0.6, 100e3, 9.0, 100e-6, 20e-6, 100e-6
Vout = Vin * D / (1 - D)
Iout = Vout / R


class Sepic(ac.Component):
    """Single-ended primary-inductor converter with ideal switch and diode."""

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=Vin), el.Ground()
        self.pwm = PWM(frequency=f, duty=D)
        self.switch, self.diode = el.IdealClosingSwitch(control=self.pwm.y), el.IdealDiode()
        self.L1, self.L2 = el.Inductor(L=L), el.Inductor(L=L)
        self.C1, self.C2, self.load = el.Capacitor(C=C1), el.Capacitor(C=C2), el.Resistor(R=R)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.L1.p)
        yield ac.connect(self.L1.n, self.switch.p, self.C1.p)
        yield ac.connect(self.C1.n, self.L2.p, self.diode.p)
        yield ac.connect(self.diode.n, self.C2.p, self.load.p)
        yield ac.connect(self.source.n, self.switch.n, self.L2.n, self.C2.n, self.load.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Settle, then simulate four periods, print the answer and draw it: (simulated, theory, tolerance)."""
    model, charge, current = Sepic(), Iout * D / f, Iout * D / (1 - D)
    start = {"L1.i": current - Vin * D / (2 * f * L), "L2.i": -Iout + Vin * D / (2 * f * L)}
    start |= {"C1.v": Vin + charge / (2 * C1), "C2.v": Vout + charge / (2 * C2)}
    settled = ac.simulate(model, 20e-3, initial=start)
    result = ac.simulate(model, 4 / f, initial={x: settled[x].final for x in settled.states})
    answer = {
        "output [V]": (result["load.v"].mean(), Vout, 2e-3),
        "coupling capacitor [V]": (result["C1.v"].mean(), Vin, 2e-3),
        "open switch, highest [V]": (float(np.max(result["switch.v"])), Vin + Vout, 2e-2),
        "current of L1 [A]": (result["L1.i"].mean(), current, 2e-3),
        "current of L2 [A]": (result["L2.i"].mean(), -Iout, 2e-3),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    result.plot("L1.i", "L2.i", "diode.i", "switch.v", "C1.v", "load.v").savefig("sepic.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
