"""Which harmonics does a three-phase inverter with sinusoidal pulse width modulation leave in its line voltage?

Three legs on 600 V feed a star of R and L. Each compares its sine of 50 Hz with a triangle of 39 times the frequency.

Theory, with the modulation depth M: a leg has 2 Vdc / (pi m) J_n(m M pi / 2) sin((m + n) pi / 2) at m times the carrier
plus n times the reference; two legs together have 2 sin(n pi / 3) times as much, so that carrier and triplen sidebands
vanish. The line voltage is not zero for abs(ua - ub) / 2 of the time: its mean square is sqrt(3) M / pi Vdc^2.
Holmes and Lipo, Pulse Width Modulation for Power Converters, chapters 3 and 5.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from scipy.special import jv

import acausal as ac
import acausal.components.electrical as el
from acausal.components.blocks import Carrier, NaturalPWM, Sine

Vdc, M, f, N, R, L = 600.0, 0.9, 50.0, 39, 5.0, 10e-3


class Inverter(ac.Component):
    """Changeover switches between two rails, their modulators, and a load with floating star point."""

    def build(self) -> None:
        self.source, self.ground, self.line = el.ConstantVoltage(V=Vdc), el.Ground(), el.VoltageSensor()
        self.sines = [Sine(amplitude=M / 2, f=f, phase=-k * 2 * np.pi / 3, offset=0.5) for k in range(3)]
        self.pwm = [NaturalPWM(frequency=N * f, duty=s.y, carrier=Carrier.TRIANGLE) for s in self.sines]
        self.legs = [el.IdealTwoWaySwitch(control=p.y) for p in self.pwm]
        self.loads, self.coils = [el.Resistor(R=R) for _ in range(3)], [el.Inductor(L=L) for _ in range(3)]

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.source.p, *(leg.n2 for leg in self.legs))
        yield ac.connect(self.source.n, *(leg.n1 for leg in self.legs), self.ground.p)
        for leg, load, coil in zip(self.legs, self.loads, self.coils, strict=True):
            yield ac.connect(leg.p, load.p)
            yield ac.connect(load.n, coil.p)
        yield ac.connect(*(coil.n for coil in self.coils))
        yield ac.connect(self.line.p, self.legs[0].p)
        yield ac.connect(self.line.n, self.legs[1].p)


def main() -> dict[str, tuple[float, float, float]]:
    """Simulate two periods, print the answer and draw it: (simulated, theory, tolerance)."""
    result = ac.simulate(Inverter(), 2 / f)
    frequencies, amplitudes = result["line.v"].spectrum(f, 100)
    n, m = np.meshgrid(np.arange(-9, 10), [1, 2])
    leg = 2 * Vdc / (np.pi * m) * jv(n, m * M * np.pi / 2) * np.sin((m + n) * np.pi / 2)
    theory = np.zeros(101)
    theory[1] = np.sqrt(3) * M * Vdc / 2
    theory[N * m + n] = np.abs(2 * np.sin(n * np.pi / 3) * leg)
    answer = {
        "fundamental [V]": (amplitudes[1], theory[1], 1e-9),
        "carrier + 2 [V]": (amplitudes[N + 2], theory[N + 2], 1e-9),
        "twice the carrier + 1 [V]": (amplitudes[2 * N + 1], theory[2 * N + 1], 1e-9),
        "distortion of the voltage": (result["line.v"].thd(f), np.sqrt(8 / (3**0.5 * np.pi * M) - 1), 1e-3),
    }
    for name, (simulated, expected, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {expected:10.5g}")
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5.6), layout="constrained")
    upper.plot(1e3 * result.t, result["line.v"], lw=0.8)
    upper.set(xlabel="time [ms]", ylabel="line voltage [V]", xlim=(1e3 / f, 2e3 / f))
    current = upper.twinx()
    current.plot(1e3 * result.t, result["coils[0].i"], "C1")
    current.set(ylabel="phase current [A]", ylim=(-55, 55))
    lower.vlines(frequencies / 1e3, 0, amplitudes, label="simulated")
    lower.plot(
        frequencies[theory > 1] / 1e3, theory[theory > 1], "o", fillstyle="none", color="k", label="theory"
    )
    lower.set(xlabel="frequency [kHz]", ylabel="line voltage [V]", xlim=(0, 5), ylim=(0, None))
    lower.legend()
    figure.savefig("inverter_spectrum.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
