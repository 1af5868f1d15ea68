"""How fast does an astable multivibrator of two transistors run, and what ends each half period?

Two saturating transistors at 9 V pull each other's base down through the capacitors that couple them:

    9 V ---+----------+----------+----------+
         [Rc]       [Rb]       [Rb]       [Rc]
    c1 ----+---[C]----+ b2  b1 +----[C]-----+---- c2

Theory, for Rc far below Rb: when one transistor turns on, its collector falls from V to 0 and takes the other base from
Vbe to Vbe - V. From there Rb charges it toward V, until it conducts: T = 2 Rb C ln((2 V - Vbe) / (V - Vbe)). A collector
rises with the time constant Rc C only. Sedra and Smith, Microelectronic Circuits, chapter on signal generators.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el

V, Vbe, Rc, Rb, C = 9.0, 0.6, 1e3, 47e3, 10e-9
T = 2 * Rb * C * np.log((2 * V - Vbe) / (V - Vbe))


class Transistor(ac.Component):
    """Saturating transistor: while its base conducts, the collector is tied to the emitter."""

    base, collector, emitter = (el.Pin() for _ in range(3))
    scale: ac.Parameter = ac.Parameter(default=Rb, unit="Ohm", doc="Makes a voltage of the base current")

    def equations(self) -> Iterator[ac.Statement]:
        below = self.base.v - self.emitter.v - Vbe
        on = [ac.Eq(below, 0), ac.Eq(self.collector.v, self.emitter.v)]
        off = [ac.Eq(self.base.i, 0), ac.Eq(self.collector.i, 0)]
        yield ac.If(self.base.i * self.scale + below > 0, on, off, name="on")  # of the two terms one is zero
        yield ac.Eq(self.base.i + self.collector.i + self.emitter.i, 0)


class Multivibrator(ac.Component):
    """Two transistors, each with its resistors; the capacitor k couples collector k to the other base."""

    def build(self) -> None:
        self.source, self.ground, self.Q = el.ConstantVoltage(V=V), el.Ground(), [Transistor(), Transistor()]
        self.Rc, self.Rb = [el.Resistor(R=Rc) for _ in range(2)], [el.Resistor(R=Rb) for _ in range(2)]
        self.C = [el.Capacitor(C=C, v=v) for v in (0.0, V - Vbe)]

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, *(r.p for r in (*self.Rc, *self.Rb)))
        yield ac.connect(self.source.n, *(q.emitter for q in self.Q), self.ground.p)
        for k in range(2):
            yield ac.connect(self.Q[k].collector, self.Rc[k].n, self.C[k].p)
            yield ac.connect(self.Q[k].base, self.Rb[k].n, self.C[1 - k].n)


def main() -> dict[str, tuple[float, float, float]]:
    """Simulate four periods, print the answer and draw it: (simulated, theory, tolerance)."""
    result = ac.simulate(Multivibrator(), 4 * T)
    rising = [e.t for e in result.events if e.modes.get("Q[0].on") == ("true", "false")]
    collector, base = result["Q[0].collector.v"], result["Q[0].base.v"]
    answer = {
        "period [us]": (1e6 * (rising[-1] - rising[-2]), 1e6 * T, 1e-9),
        "lowest base voltage [V]": (base.at(rising[-1]), Vbe - V, 1e-9),
        "collector after Rc C [V]": (collector.at(rising[-1] + Rc * C), V * (1 - np.exp(-1)), 1e-9),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    figure, axes = plt.subplots(2, 1, sharex=True, figsize=(8, 5.6), layout="constrained")
    for ax, pin in zip(axes, ("collector", "base"), strict=True):
        for k in range(2):
            ax.plot(1e3 * result.t, result[f"Q[{k}].{pin}.v"], label=f"Q{k + 1}")
        ax.set(ylabel=f"{pin} voltage [V]", xlim=(0, 4e3 * T))
    axes[1].set_xlabel("time [ms]")
    axes[0].legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
    figure.savefig("astable_multivibrator.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
