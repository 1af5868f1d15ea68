"""How much power does a phase-cut dimmer leave to a lamp, and at which angle is it half?

A triac at 230 V, 50 Hz, fired in each half-wave after the angle alpha, until the current ceases:

    line ---[triac]---+
     |                |
    230 V           [lamp]
     |                |
    line -------------+

Theory for a resistive lamp: Vrms = V / sqrt(2) sqrt(1 - alpha / pi + sin(2 alpha) / (2 pi)), V the amplitude. It
follows from the integral of the square of the sine from alpha to pi; at 90 degrees the power is half.
Rashid, Power Electronics, chapter on AC voltage controllers.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import PhaseAngle

V, f, R, T = 230 * np.sqrt(2), 50.0, 529.0, 20e-3


class Dimmer(ac.Component):
    """Triac in series with a lamp of constant resistance."""

    alpha: ac.Parameter = ac.Parameter(default=np.pi / 2, unit="rad", doc="Firing angle")

    def build(self) -> None:
        self.line, self.lamp, self.ground = el.SineVoltage(V=V, f=f), el.Resistor(R=R), el.Ground()
        self.firing = PhaseAngle(alpha=self.alpha, frequency=f)
        self.triac = el.IdealTriac(fire=ac.or_(self.firing.fire_p, self.firing.fire_n))

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.line.p, self.triac.p)
        yield ac.connect(self.triac.n, self.lamp.p)
        yield ac.connect(self.lamp.n, self.line.n, self.ground.p)


def rms(alpha: np.ndarray | float) -> np.ndarray:
    """Return the root mean square of the lamp voltage in V."""
    return V / np.sqrt(2) * np.sqrt(1 - alpha / np.pi + np.sin(2 * alpha) / (2 * np.pi))


def main() -> dict[str, tuple[float, float, float]]:
    """Sweep the angle, print and draw voltage and power: (simulated, theory, tolerance)."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    program, answer, t = ac.compile_model(Dimmer()), {}, np.linspace(0, 2 * T, 4001)
    for degrees in (15, 45, 90, 135, 165):
        result = program.simulate(2 * T, parameters={"alpha": np.deg2rad(degrees)})
        voltage = result["lamp.v"].rms(T, 2 * T)
        power = result.energy("lamp", T, 2 * T) / T
        answer[f"voltage at {degrees} deg [V]"] = (voltage, rms(np.deg2rad(degrees)).item(), 1e-9)
        answer[f"power at {degrees} deg [W]"] = (power, rms(np.deg2rad(degrees)).item() ** 2 / R, 1e-9)
        right.plot(degrees, voltage, "oC0")
        right.plot(degrees, power, "sC1")
        if degrees in (45, 135):
            left.plot(1e3 * t, result["lamp.v"].at(t), label=f"{degrees} deg")
    angles = np.arange(180)
    right.plot(angles, rms(np.deg2rad(angles)), "C0", label="voltage, rms [V]")
    right.plot(angles, rms(np.deg2rad(angles)) ** 2 / R, "C1", label="power [W]")
    left.plot(1e3 * t, V * np.sin(2 * np.pi * f * t), "0.6", linewidth=0.8, label="line", zorder=0)
    left.set(xlabel="time [ms]", ylabel="lamp voltage [V]", xlim=(0, 40))
    right.set(xlabel="firing angle [deg]", xlim=(0, 180), xticks=range(0, 181, 30), ylim=(0, None))
    for ax in (left, right):
        ax.grid(linewidth=0.3)
        ax.legend(loc="upper right")
    figure.savefig("dimmer.png", dpi=150)
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    return answer


if __name__ == "__main__":
    main()
