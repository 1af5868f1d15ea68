"""Which gear turns a load farthest in a given time?

A permanent-magnet motor on 24 V starts from rest and turns a table of inertia JL against a constant torque, through a gear
of ratio n: the motor makes n turns for one of the table.

Theory: at the motor counts J = Jm + JL / n^2 and the load T / n. Without inductance the speed is w (1 - exp(-t / tau)) with
w = (V - R T / (n k)) / k and tau = R J / k^2; the table turns by w (t - tau (1 - exp(-t / tau))) / n. Where the motor is still
far from w its torque is constant, and n = sqrt(JL / Jm), the matched gear, accelerates best (for T = 0).
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
import acausal.components.rotational as ro
from acausal.components.electromechanical import RotationalEMF

V, R, k, Jm, JL, T = 24.0, 0.8, 0.05, 5e-5, 0.02, 0.5


class Turntable(ac.Component):
    """Motor, gear, table, and a torque against its motion."""

    def build(self) -> None:
        self.source, self.ground = el.ConstantVoltage(V=V), el.Ground()
        self.R, self.emf, self.rotor = el.Resistor(R=R), RotationalEMF(k=k), ro.Inertia(J=Jm)
        self.gear, self.table = ro.IdealGear(ratio=1.0), ro.Inertia(J=JL)
        self.load = ro.ConstantTorque(tau_constant=-T)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, self.R.p)
        yield ac.connect(self.R.n, self.emf.p)
        yield ac.connect(self.source.n, self.emf.n, self.ground.p)
        yield ac.connect(self.emf.flange, self.rotor.flange_a)
        yield ac.connect(self.rotor.flange_b, self.gear.flange_a)
        yield ac.connect(self.gear.flange_b, self.table.flange_a)
        yield ac.connect(self.table.flange_b, self.load.flange)


def angle(n: np.ndarray | float, t: float) -> np.ndarray | float:
    """Angle of the table after a time."""
    w, tau = (V - R * T / (n * k)) / k, R * (Jm + JL / n**2) / k**2
    return w * (t - tau * (1 - np.exp(-t / tau))) / n


def main() -> dict[str, tuple[float, float, float]]:
    """Sweep the ratio, print the best and draw all: (simulated, theory, tolerance)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    program, answer, fine = ac.compile_model(Turntable()), {}, np.geomspace(2, 100, 2001)
    ratios, times = np.geomspace(3, 80, 12), (0.03, 0.1, 0.3)
    runs = [program.simulate(max(times), parameters={"gear.ratio": n}) for n in ratios]
    for color, t in enumerate(times):
        best = fine[np.argmax(angle(fine, t))]
        run = program.simulate(t, parameters={"gear.ratio": best})
        answer[f"best in {1e3 * t:g} ms, 1 : {best:.3g} [deg]"] = (
            np.degrees(run["table.phi"].final),
            np.degrees(angle(best, t)),
            1e-9,
        )
        left.loglog(ratios, [np.degrees(run["table.phi"].at(t)) for run in runs], f"oC{color}")
        left.loglog(fine, np.degrees(angle(fine, t)), f"C{color}", label=f"after {1e3 * t:g} ms")
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<34}{simulated:10.5g}   theory {theory:10.5g}")
    for n, run in list(zip(ratios, runs, strict=True))[2::3]:
        right.plot(1e3 * run["table.w"].t, run["table.w"], label=f"1 : {n:.3g}")
    left.axvline(np.sqrt(JL / Jm), color="0.7", ls="--", label="matched gear")
    left.set(xlabel="ratio of the gear", ylabel="angle of the table [deg]", ylim=(1, 4e3))
    right.set(xlabel="time [ms]", ylabel="speed of the table [rad/s]")
    left.legend(ncols=2)
    right.legend()
    figure.savefig("motor_gear.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
