"""How much ripple does unipolar modulation of an H-bridge save, and what does dead time take from the motor?

Two legs of transistors on 48 V drive a coil with resistance at 20 kHz, with duty ratios (1 + m) / 2 and (1 - m) / 2:

    48 V ---+-------------------+
           leg a ---[L]---[R]--- leg b
     0 V ---+-------------------+

If the carriers of the legs are half a period apart the legs change together (bipolar), else one by one (unipolar).
Theory, while the current is positive: dead time takes V td f from either leg, so that the mean of the voltage is u V
with u = m - 2 td f. The ripple is (1 - u^2) V / (2 L f) from peak to peak, unipolar only u (1 - u) V / (2 L f).
Mohan, Undeland and Robbins, Power Electronics, chapter 7.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import Carrier, ComplementaryPWM

V, R, L, f, td = 48.0, 2.0, 1e-3, 20e3, 1e-6


class Bridge(ac.Component):
    """Four transistors with diodes, a coil with resistance between the legs."""

    m: ac.Parameter = ac.Parameter(default=0.5, unit="1", doc="Modulation")
    shift: ac.Parameter = ac.Parameter(default=0.0, unit="1", doc="Delay of carrier b in periods")

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=V), el.Ground()
        self.a, self.b = (
            ComplementaryPWM(frequency=f, duty=duty, dead_time=td, carrier=Carrier.TRIANGLE, phase=phase)
            for duty, phase in ((0.5 + 0.5 * self.m, 0.0), (0.5 - 0.5 * self.m, self.shift))
        )
        gates = (self.a.high, self.a.low, self.b.high, self.b.low)
        self.T1, self.T2, self.T3, self.T4 = (el.IdealIGBT(gate=gate) for gate in gates)
        self.L, self.R = el.Inductor(L=L), el.Resistor(R=R)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.T1.p, self.T3.p)
        yield ac.connect(self.source.n, self.T2.n, self.T4.n, self.ground.p)
        yield ac.connect(self.T1.n, self.T2.p, self.L.p)
        yield ac.connect(self.L.n, self.R.p)
        yield ac.connect(self.T3.n, self.T4.p, self.R.n)


def main() -> dict[str, tuple[float, float, float]]:
    """Sweep the modulation, print the answer and draw it: (simulated, theory, tolerance)."""
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5.6), layout="constrained")
    model, answer, x, end = Bridge(), {}, np.linspace(0, 1, 101), 2e-3
    k = V / (2 * L * f)
    ripple = {"bipolar": lambda u: (1 - u**2) * k, "unipolar": lambda u: u * (1 - u) * k}
    for (name, theory), shift, color in zip(ripple.items(), (0.5, 0.0), ("C0", "C1"), strict=True):
        for m in (0.2, 0.35, 0.5, 0.65, 0.8):
            u = m - 2 * td * f
            run = ac.simulate(model, end, parameters={"m": m, "shift": shift}, initial={"L.i": u * V / R})
            i = run["L.i"]
            measured = float(np.ptp(i[i.t > end - 1 / f]))
            upper.plot(u, measured, "o", color=color, label="" if m > 0.2 else f"{name}, simulated")
            if m == 0.5:
                answer[f"mean current, {name} [A]"] = (i.mean(end - 1 / f), u * V / R, 1e-3)
                answer[f"ripple, {name} [A]"] = (measured, theory(u), 0.01)
                lower.plot(1e6 * i.t - 1900, i, label=name)
        upper.plot(x, theory(x), color, label=f"{name}, theory")
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    upper.set(xlabel="mean voltage / supply voltage", ylabel="ripple, p-p [A]", xlim=(0, 1), ylim=(0, None))
    lower.set(xlabel="time [us]", ylabel="current [A]", xlim=(0, 100))
    upper.legend()
    lower.legend()
    figure.savefig("h_bridge.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
