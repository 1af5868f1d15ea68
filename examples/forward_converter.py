"""How long does the core of a forward converter need for its reset, and which voltage does that cost the switch?

An isolated step-down converter, 48 V to 9.6 V at 100 kHz. A third winding returns the magnetising energy to the source:

    Vin ---+----------------+        [* winding 2]---|>|---+---[L]---+------+
           |                |              |        D1     |         |      |
     [* winding 1]      cathode D3         |             [D2]       [C]    [R]
           |                |              |               |         |      |
       [switch]      [winding 3 *]         +---------------+---------+------+--- 0 V
           |                |
    0 V ---+----------------+

Theory: Vout = D Vin N2 / N1. The magnetising current rises to Vin D / (f Lm) while the switch conducts, and falls to
zero within N3 / N1 times that interval, so D must not exceed 1 / (1 + N3 / N1). Meanwhile the switch holds
Vin (1 + N1 / N3), afterwards Vin. Mohan, Undeland and Robbins, Power Electronics, chapter 10.
"""

from collections.abc import Iterator

import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PWM

Vin, D, f, N1, N2, N3, Lm = 48.0, 0.4, 100e3, 20, 10, 20, 200e-6


class Forward(ac.Component):
    """Forward converter: ideal transformers with common primary beside the magnetising inductance."""

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=Vin), el.Ground()
        self.pwm = PWM(frequency=f, duty=D)
        self.switch = el.IdealClosingSwitch(control=self.pwm.y)
        self.core = el.Inductor(L=Lm)
        self.secondary, self.reset = el.IdealTransformer(n=N1 / N2), el.IdealTransformer(n=N1 / N3)
        self.d1, self.d2, self.d3 = el.IdealDiode(), el.IdealDiode(), el.IdealDiode()
        self.inductor, self.capacitor, self.load = (
            el.Inductor(L=47e-6),
            el.Capacitor(C=100e-6),
            el.Resistor(R=2.0),
        )

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.core.p, self.secondary.p1, self.reset.p1, self.d3.n)
        yield ac.connect(self.core.n, self.secondary.n1, self.reset.n1, self.switch.p)
        yield ac.connect(self.reset.n2, self.d3.p)
        yield ac.connect(self.source.n, self.switch.n, self.reset.p2, self.ground.p)
        yield ac.connect(self.secondary.p2, self.d1.p)
        yield ac.connect(self.d1.n, self.d2.n, self.inductor.p)
        yield ac.connect(self.inductor.n, self.capacitor.p, self.load.p)
        yield ac.connect(self.secondary.n2, self.d2.p, self.capacitor.n, self.load.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Settle, then simulate three periods, print the answer and draw it: (simulated, theory, tolerance)."""
    model = Forward()
    settled = ac.simulate(model, 5e-3)
    result = ac.simulate(model, 3 / f, initial={x: settled[x].final for x in settled.states})
    reset = result["d3.on"].mean() / f
    answer = {
        "output [V]": (result["load.v"].mean(), D * Vin * N2 / N1, 1e-5),
        "magnetising current [A]": (float(np.max(result["core.i"])), Vin * D / (f * Lm), 1e-9),
        "reset takes [us]": (1e6 * reset, 1e6 * D / f * N3 / N1, 1e-9),
        "switch, highest [V]": (float(np.max(result["switch.v"])), Vin * (1 + N1 / N3), 1e-9),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    result.plot("switch.v", "core.i", "d1.i", "d2.i").savefig("forward_converter.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
