"""How large are the mean output voltage and the ripple of a buck converter with ideal switches?

A step-down converter, 24 V to 9.6 V at 100 kHz. The switch and the diode have neither resistance nor leakage:

    source.p ---[switch]---+---[inductor]---+--------+
        |                  |                |        |
       24 V             [diode]        [capacitor] [load]
        |                  |                |        |
    source.n --------------+----------------+--------+--- ground

Theory for continuous conduction, with the small-ripple approximation of the output:
mean = duty * Vin = 9.6 V, ripple = (1 - duty) * mean / (8 * L * C * f**2) = 15.3 mV peak to peak.
"""

from collections.abc import Iterator

import numpy as np

from acausal import Component, Parameter, Result, Statement, connect, simulate
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

FREQUENCY = 100e3


class Buck(Component):
    """Step-down converter."""

    Vin: Parameter = Parameter(default=24.0, unit="V", doc="Input voltage")
    duty: Parameter = Parameter(default=0.4, unit="1", min=0, max=1, doc="Duty ratio of the switch")

    def build(self) -> None:
        self.source = ConstantVoltage(V=self.Vin)
        self.pwm = PWM(frequency=FREQUENCY, duty=self.duty)
        self.switch = IdealClosingSwitch()
        self.diode = IdealDiode()
        self.inductor = Inductor(L=47e-6)
        self.capacitor = Capacitor(C=100e-6)
        self.load = Resistor(R=5.0)
        self.ground = Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.pwm.y, self.switch.control)
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.inductor.p)
        yield connect(self.inductor.n, self.capacitor.p, self.load.p)
        yield connect(self.source.n, self.diode.p, self.capacitor.n, self.load.n, self.ground.p)


def mean_and_ripple(result: Result, stop: float) -> tuple[float, float]:
    """Mean and peak-to-peak value of the output over the last period before ``stop``, in V."""
    start = stop - 1 / FREQUENCY
    output = result["capacitor.v"]
    return output.mean(start, stop), float(np.ptp(output.at(np.linspace(start, stop, 1001))))


def main() -> Result:
    """Simulate 20 ms from rest, print the answer and draw the output."""
    stop = 20e-3
    result = simulate(Buck(), stop)
    mean, ripple = mean_and_ripple(result, stop)
    print(f"mean output voltage  {mean:.4f} V")
    print(f"ripple, peak to peak {1e3 * ripple:.2f} mV")
    print(f"events               {len(result.events)}")
    print(f"modes                {len(result.modes)}")
    result.plot("load.v", "inductor.i").savefig("buck_converter.png", dpi=150)
    return result


if __name__ == "__main__":
    main()
