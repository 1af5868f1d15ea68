"""How far does the output of a regulated buck converter drop when its load current steps up?

24 V to 12 V at 200 kHz. At the begin of each period the outer controller turns the error of the output into a set point
of the inductor current, and the inner one turns the error of the current into the duty ratio. The load is a current:

    Vin ---[switch]---+---[L]---+--------+
              ^       |    i    |   v    |
              |    [diode]     [C]   [2 A, from 0.5 ms on 4 A]
              |       |         |        |
    0 V ------|-------+---------+--------+
             PWM <--- inner PI (i) <--- outer PI (v) <--- 12 V

Theory: an inner gain of f L / Vin brings the current to its set point within one period, hence quick compared with
the outer loop, C v' = kp e + ki integral(e) - I. With ki = kp^2 / (4 C) it is critically damped, and a step of dI makes
the output drop by 2 dI / (kp exp(1)), 2 C / kp later. The integral part leaves no error.
"""

from collections.abc import Iterator

import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PWM, SampledPI

Vin, Vref, f, L, C, dI, step = 24.0, 12.0, 200e3, 47e-6, 220e-6, 2.0, 0.5e-3
kp = 2 * C * 2 * np.pi * 500


class Regulated(ac.Component):
    """Buck converter with cascaded sampled control."""

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=Vin), el.Ground()
        self.inductor, self.capacitor = el.Inductor(L=L), el.Capacitor(C=C)
        self.load = el.StepCurrent(offset=2.0, I=dI, startTime=step)
        self.outer = SampledPI(
            reference=Vref, measurement=self.capacitor.v, kp=kp, ki=kp**2 / (4 * C), period=1 / f
        )
        self.inner = SampledPI(
            reference=self.outer.y, measurement=self.inductor.i, kp=f * L / Vin, ki=2e3, period=1 / f
        )
        self.pwm = PWM(frequency=f, duty=self.inner.y)
        self.switch, self.diode = el.IdealClosingSwitch(control=self.pwm.y), el.IdealDiode()

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.switch.p)
        yield ac.connect(self.switch.n, self.diode.n, self.inductor.p)
        yield ac.connect(self.inductor.n, self.capacitor.p, self.load.p)
        yield ac.connect(self.source.n, self.diode.p, self.capacitor.n, self.load.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Start close to the steady state, print the answer and draw it: (simulated, theory, tolerance)."""
    stop, valley = 4e-3, 2.0 - Vin / (8 * f * L)
    start = {"capacitor.v": Vref, "inductor.i": valley}
    start |= {"outer.integral": valley, "inner.integral": Vref / Vin}
    result = ac.simulate(Regulated(), stop, initial=start)
    t = np.linspace(step, stop, 20_001)
    output = result["capacitor.v"].at(t)
    answer = {
        "drop of the output [V]": (Vref - output.min(), 2 * dI / (kp * np.e), 0.05),
        "after [us]": (1e6 * (t[output.argmin()] - step), 1e6 * 2 * C / kp, 0.05),
        "output, settled [V]": (result["capacitor.v"].mean(stop - 1 / f, stop), Vref, 1e-3),
        "inductor, settled [A]": (result["inductor.i"].mean(stop - 1 / f, stop), 2.0 + dI, 1e-3),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    result.plot("capacitor.v", "inductor.i", "load.i", "inner.y").savefig("buck_control.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
