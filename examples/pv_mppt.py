"""How closely does a solar converter that perturbs and observes follow the point of maximum power?

A module of 200 W feeds a bus of 48 V through a boost converter of 10 kHz. Every 0.3 ms the controller moves the voltage
that it asks of the module by 0.4 V, on in the same direction if the power has risen, else back. A cloud passes at 3 ms:

    module ---+---[L]---+---|>|--- 48 V
             [C]     [switch]
    0 V ------+---------+--- 0 V

Theory: the most power that the equation of the module allows, i = Iph - I0 (exp((v + Rs i) / a) - 1) - (v + Rs i) / Rp.
De Soto, Klein and Beckman, Solar Energy 80 (2006). The search and the ripple cost less than a percent of it.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PWM, Step

sheet = el.single_diode_parameters(Isc=8.21, Voc=32.9, Imp=7.61, Vmp=26.3, ns=54)
f, period, move, change, stop = 10e3, 0.3e-3, 0.4, 3e-3, 10.2e-3
a = sheet["N"] * sheet["ns"] * sheet["Vt"]


class Converter(ac.Component):
    """Module, boost converter and controller, which moves ``asked`` by ``move`` up or down at each sample."""

    asked: ac.Discrete = ac.Discrete(float, start=27.0, unit="V", doc="Voltage asked of the module")
    power: ac.Discrete = ac.Discrete(float, unit="W", doc="Power at the last sample")
    way: ac.Discrete = ac.Discrete(float, start=-1.0, doc="1: up, -1: down")

    def build(self) -> None:
        self.sun = Step(offset=600, height=400, startTime=change)
        self.bus, self.ground = el.ConstantVoltage(V=48.0), el.Ground()
        self.pv, self.C = el.PhotovoltaicModule(**sheet, S=self.sun.y, T=298.15), el.Capacitor(C=22e-6)
        self.pwm, self.L = PWM(frequency=f, duty=1 - self.asked / self.bus.v), el.Inductor(L=1e-3)
        self.switch, self.diode = el.IdealClosingSwitch(control=self.pwm.y), el.IdealDiode()

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.pv.p, self.C.p, self.L.p)
        yield ac.connect(self.L.n, self.switch.p, self.diode.p)
        yield ac.connect(self.diode.n, self.bus.p)
        yield ac.connect(self.pv.n, self.C.n, self.switch.n, self.bus.n, self.ground.p)
        power, before = -self.pv.v * self.pv.i, ac.pre(self.way)
        way = ac.assign(self.way, ac.if_else(power < ac.pre(self.power), -before, before))
        asked = ac.assign(self.asked, ac.pre(self.asked) + move * self.way)
        yield ac.when(ac.sample(period=period), ac.assign(self.power, power), way, asked)


def main() -> dict[str, tuple[float, float, float]]:
    """Simulate, print the powers found and draw the search: (simulated, theory, tolerance)."""
    result, answer = ac.simulate(Converter(), stop, initial={"C.v": 27.0, "L.i": 4.0}), {}
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for S, end in ((600, change), (1000, stop)):
        begin, s, vd = end - 8 * period, S / 1000, np.linspace(0, 34, 10_001)
        i = s * (sheet["IphRef"] - vd / sheet["RpRef"]) - sheet["I0Ref"] * np.expm1(vd / a)
        v = vd - sheet["Rs"] * i
        best, found = float((v * i).max()), -result.energy("pv", begin, end) / (end - begin)
        taken = -result["pv.v"].at(t := np.linspace(begin, end - 1e-9, 1000)) * result["pv.i"].at(t)
        answer[f"highest at {S} W/m2 [W]"] = (float(taken.max()), best, 1e-5)
        answer[f"mean at {S} W/m2 [W]"] = (found, best, 0.01)
        right.plot(v, v * i, "0.7", result["pv.v"].at(t), taken, "C0")
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    left.plot(1e3 * result.t, result["pv.v"], label="module")
    left.plot(1e3 * result.t, result["asked"], label="asked for")
    left.set(xlabel="time [ms]", ylabel="voltage [V]", xlim=(0, 1e3 * stop))
    right.set(xlabel="voltage of the module [V]", ylabel="power [W]", xlim=(15, 33), ylim=(0, 220))
    left.legend()
    figure.savefig("pv_mppt.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
