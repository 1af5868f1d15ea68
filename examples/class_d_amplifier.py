"""How much distortion does dead time add to a class D amplifier, and how efficient is it?

A half bridge on +-40 V makes 200 kHz pulses of a tone of 1 kHz; a filter of L and C feeds a loudspeaker of 8 Ohm.
Theory: natural sampling adds no harmonics of the tone (Black). The channels lose Ron times the square of load current
and ripple. Dead time td takes 2 (Vdc + Vknee) td fc from the mean of a pulse period, against the current, unless that turns
within the period: around the zeros of the load current up to an angle a at which it equals the peak of the ripple,
(1 - u^2) Vdc / (4 L fc) at u = m sin(a). These are odd harmonics proportional to cos(n a) / n.
Holmes and Lipo, Pulse Width Modulation for Power Converters, chapters 2 and 3.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import Carrier, DeadTime, NaturalPWM, Sine

Vdc, R, L, C, Ron, Vknee = 40.0, 8.0, 100e-6, 220e-9, 0.1, 0.7
f, fc, m, td = 1e3, 200e3, 0.8, 50e-9


class ClassD(ac.Component):
    """Half bridge with output filter and loudspeaker."""

    dead_time: ac.Parameter = ac.Parameter(default=0.0, unit="s", doc="Dead time")

    def build(self) -> None:
        self.positive, self.negative = el.ConstantVoltage(V=Vdc), el.ConstantVoltage(V=Vdc)
        self.tone, self.ground = Sine(amplitude=m / 2, f=f, offset=0.5), el.Ground()
        self.pwm = NaturalPWM(frequency=fc, duty=self.tone.y, carrier=Carrier.TRIANGLE)
        self.delay = DeadTime(u=self.pwm.y, dead_time=self.dead_time)
        self.upper = el.IdealMOSFET(Ron=Ron, VkneeDiode=Vknee, gate=self.delay.high)
        self.lower = el.IdealMOSFET(Ron=Ron, VkneeDiode=Vknee, gate=self.delay.low)
        self.L, self.C, self.R = el.Inductor(L=L), el.Capacitor(C=C), el.Resistor(R=R)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.positive.p, self.upper.p)
        yield ac.connect(self.negative.n, self.lower.n)
        yield ac.connect(self.upper.n, self.lower.p, self.L.p)
        yield ac.connect(self.L.n, self.C.p, self.R.p)
        yield ac.connect(self.positive.n, self.negative.p, self.C.n, self.R.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Simulate with and without dead time, print the answer and draw it: (simulated, theory, tolerance)."""
    model, n = ClassD(), np.arange(1, 21)
    ideal, real = (ac.simulate(model, 1.2 / f, parameters={"dead_time": x}) for x in (0.0, td))
    clean, dirty = (run["R.v"].spectrum(f, 20)[1][1:] for run in (ideal, real))
    used, *fed = (ideal.energy(path, 0.2 / f) for path in ("R", "positive", "negative"))
    s = 2j * np.pi * n * f
    passed = np.abs(1 / (1 + (1 / R + s * C) * (Ron + s * L)))
    tone, peak = m * Vdc * passed[0], Vdc / (4 * L * fc)
    ripple = peak**2 / 3 * np.mean((1 - (m * np.sin(np.linspace(0, np.pi, 1000))) ** 2) ** 2)
    a = np.arcsin((np.hypot(dirty[0] / R, 2 * peak * m) - dirty[0] / R) / (2 * peak * m**2))
    taken = 8 / np.pi * (Vdc + Vknee) * td * fc * np.abs(np.cos(n * a)) / n * passed * (n % 2)
    answer = {
        "efficiency": (-used / sum(fed), 1 / (1 + Ron * (1 / R + 2 * R * ripple / tone**2)), 1e-4),
        "taken by dead time [V]": (clean[0] - dirty[0], taken[0], 0.03),
        "third harmonic [V]": (dirty[2], taken[2], 0.03),
        "distortion up to 20 kHz": (real["R.v"].thd(f, 20), np.linalg.norm(taken[1:]) / tone, 0.03),
    }
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5.6), layout="constrained")
    upper.plot(1e3 * real.t - 0.2, real["L.i"], lw=0.6, label="inductor")
    upper.plot(1e3 * real.t - 0.2, real["R.i"], label="loudspeaker")
    lower.vlines(n, 1e-4, dirty, label="with dead time")
    lower.plot(n[2::2], taken[2::2], "ko", fillstyle="none", label="theory")
    upper.set(xlabel="time [ms]", ylabel="current [A]", xlim=(0, 1))
    lower.set(xlabel="frequency [kHz]", ylabel="amplitude [V]", yscale="log", ylim=(1e-3, 100), xticks=n)
    upper.legend()
    lower.legend()
    figure.savefig("class_d_amplifier.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
