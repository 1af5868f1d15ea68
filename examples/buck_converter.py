"""How large are the mean output voltage and the ripple of a buck converter with ideal switches?

A step-down converter, 24 V to 9.6 V at 100 kHz. The switch and the diode have neither resistance nor leakage:

    source.p ---[switch]---+---[inductor]---+--------+
        |                  |                |        |
       24 V             [diode]        [capacitor] [load]
        |                  |                |        |
    source.n --------------+----------------+--------+--- ground

Theory in continuous conduction: mean = D Vin, exact in the steady state; ripple = (1 - D) mean / (8 L C f^2) from
peak to peak, as long as it is small. Erickson and Maksimovic, Fundamentals of Power Electronics, chapter 2.
"""

from collections.abc import Iterator

import numpy as np

from acausal import Component, Parameter, Statement, connect, simulate
from acausal.components.blocks import PWM
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealDiode,
    Inductor,
    Resistor,
)

Vin, D, f, L, C = 24.0, 0.4, 100e3, 47e-6, 100e-6


class Buck(Component):
    """Step-down converter."""

    duty: Parameter = Parameter(default=D, unit="1", min=0, max=1, doc="Duty ratio of the switch")

    def build(self) -> None:
        self.source = ConstantVoltage(V=Vin)
        self.pwm = PWM(frequency=f, duty=self.duty)
        self.switch = IdealClosingSwitch(control=self.pwm.y)
        self.diode = IdealDiode()
        self.inductor = Inductor(L=L)
        self.capacitor = Capacitor(C=C)
        self.load = Resistor(R=5.0)
        self.ground = Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.inductor.p)
        yield connect(self.inductor.n, self.capacitor.p, self.load.p)
        yield connect(self.source.n, self.diode.p, self.capacitor.n, self.load.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Simulate 20 ms from rest, print the answer and draw the last periods: (simulated, theory, tolerance)."""
    stop = 20e-3
    result = simulate(Buck(), stop)
    output = result["load.v"]
    ripple = float(np.ptp(output.at(np.linspace(stop - 1 / f, stop, 1001))))
    answer = {
        "mean output voltage [V]": (output.mean(stop - 1 / f, stop), D * Vin, 1e-6),
        "ripple, peak to peak [mV]": (1e3 * ripple, 1e3 * (1 - D) * D * Vin / (8 * L * C * f**2), 1e-3),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    print(f"{len(result.events)} events, {len(result.modes)} modes")
    result.plot("load.v", "inductor.i", t=(stop - 4 / f, stop)).savefig("buck_converter.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
