"""How hot does a motor get at its rated torque, and how much more may it give when it rests in between?

The losses of a DC machine heat its winding (C1), which warms the housing (C2), which the air cools. Its resistance follows
its temperature. The load is on always, or for 3 of 10 minutes with a torque of the same root mean square.

Theory: matrix exponentials solve C1 T1' = R (1 + alpha (T1 - T0)) i^2 - G1 (T1 - T2), C2 T2' = G1 (T1 - T2) - G2 (T2 - T0).
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from scipy.linalg import expm

import acausal as ac
import acausal.components.electrical as el
import acausal.components.thermal as th
from acausal.components.blocks import PWM
from acausal.components.electromechanical import DC_PermanentMagnet
from acausal.components.rotational import Torque

C1, C2, G1, G2, T0, R, alpha, k = 4e3, 2e4, 20.0, 15.0, 293.15, 0.05, 3.92e-3, 95.0 / 149.2256510455152
rated, cycle, share, end = 60.0, 600.0, 0.3, 7200.0


class Drive(ac.Component):
    """Machine of 100 V and 100 A with its heat: winding, housing, air."""

    duty: ac.Parameter = ac.Parameter(default=1.0, unit="1", doc="Share of time under load")
    torque: ac.Parameter = ac.Parameter(default=rated, unit="N.m", doc="Torque of the load")

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=100.0), el.Ground()
        self.motor = DC_PermanentMagnet(useThermalPort=True, alpha20a=alpha, wMechanical=100.0 / k)
        self.pwm = PWM(frequency=1 / cycle, duty=self.duty)
        self.load = Torque(tau=ac.if_else(self.pwm.y, -self.torque, 0.0))
        self.winding, self.housing = th.HeatCapacitor(C=C1, T=T0), th.HeatCapacitor(C=C2, T=T0)
        self.inside, self.outside = (th.ThermalConductor(G=G) for G in (G1, G2))
        self.air = th.FixedTemperature(T=T0)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.motor.pin_ap)
        yield ac.connect(self.source.n, self.motor.pin_an, self.ground.p)
        yield ac.connect(self.motor.flange, self.load.flange)
        yield ac.connect(self.motor.heatPortArmature, self.winding.port, self.inside.port_a)
        yield ac.connect(self.inside.port_b, self.housing.port, self.outside.port_a)
        yield ac.connect(self.outside.port_b, self.air.port)


def matrix(torque: float) -> np.ndarray:
    """Rates of (T1 - T0, T2 - T0, 1)."""
    P = R * (torque / k) ** 2
    return np.array([[(alpha * P - G1) / C1, G1 / C1, P / C1], [G1 / C2, -(G1 + G2) / C2, 0], [0, 0, 0]])


def main() -> dict[str, tuple[float, float, float]]:
    """Load the motor both ways, print the answer and draw it: (simulated, theory, tolerance)."""
    figure, ax = plt.subplots(figsize=(8, 4), layout="constrained")
    program, answer = ac.compile_model(Drive()), {}
    for duty, torque, name in ((1.0, rated, "always"), (share, rated / np.sqrt(share), "3 of 10 minutes")):
        result = program.simulate(end, parameters={"duty": duty, "torque": torque})
        turn = expm(matrix(0.0) * (1 - duty) * cycle) @ expm(matrix(torque) * duty * cycle)
        last = np.linalg.matrix_power(turn, round(end / cycle) - 1) @ [0, 0, 1]
        exact, hot = expm(matrix(torque) * duty * cycle) @ last, end - (1 - duty) * cycle
        for part, theory in zip(("winding", "housing"), exact, strict=False):
            T = result[f"{part}.T"]
            answer[f"{part}, {name} [K]"] = (T.at(hot) - T0, theory, 1e-3)
            ax.plot(T.t / 3600, T - T0, label=f"{part}, {torque:.0f} Nm {name}")
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<34}{simulated:10.5g}   theory {theory:10.5g}")
    steady = -np.linalg.solve(matrix(rated)[:2, :2], matrix(rated)[:2, 2])
    ax.axhline(steady[0], color="0.7", ls="--", label="winding in the end")
    ax.set(xlabel="time [h]", ylabel="temperature above the air [K]", xlim=(0, end / 3600))
    ax.legend()
    figure.savefig("thermal_motor.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
