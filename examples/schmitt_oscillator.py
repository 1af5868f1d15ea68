"""Which frequency and which wave has a relaxation oscillator with one operational amplifier?

The amplifier compares the voltage on a capacitor with a part b of its own output, and charges the capacitor through R:

    out ---[R1]---+---[R2]--- 0 V          out ---[R]---+---[C]--- 0 V
                  |                                     |
                 in_p                                  in_n

Between the thresholds both limits of the output are possible: the present one stays until the capacitor reaches b V.
Theory: T = 2 R C ln((1 + b) / (1 - b)). The capacitor has the harmonics of the square wave, 4 V / (pi n), divided by
sqrt(1 + (2 pi n R C / T)^2). Sedra and Smith, Microelectronic Circuits, chapter on signal generators.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np

import acausal as ac
import acausal.components.electrical as el

V, R, C, R1, R2 = 12.0, 10e3, 10e-9, 10e3, 10e3
b = R2 / (R1 + R2)
T = 2 * R * C * np.log((1 + b) / (1 - b))


class Oscillator(ac.Component):
    """Schmitt trigger that charges a capacitor toward its own output."""

    def build(self) -> None:
        self.amplifier, self.ground = el.IdealOpAmpLimited(Vps=V, Vns=-V), el.Ground()
        self.R, self.C = el.Resistor(R=R), el.Capacitor(C=C, v=V)
        self.R1, self.R2 = el.Resistor(R=R1), el.Resistor(R=R2)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.amplifier.out, self.R.p, self.R1.p)
        yield ac.connect(self.amplifier.in_p, self.R1.n, self.R2.p)
        yield ac.connect(self.amplifier.in_n, self.R.n, self.C.p)
        yield ac.connect(self.R2.n, self.C.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Simulate from a charged capacitor, print the answer and draw it: (simulated, theory, tolerance)."""
    result = ac.simulate(Oscillator(), 6 * T)
    edges = [e.t for e in result.events if "amplifier.state" in e.modes]
    period = edges[-1] - edges[-3]
    n, lines = np.arange(1, 16), result["C.v"].harmonics(1 / period, 15, t1=edges[-1])[1:]
    wave = np.where(n % 2, 4 * V / (np.pi * n), 0.0)
    theory = wave / np.hypot(1, 2 * np.pi * n * R * C / T)
    answer = {
        "period [us]": (1e6 * period, 1e6 * T, 1e-9),
        "threshold [V]": (abs(result["C.v"].at(edges[-1])), b * V, 1e-9),
        "fundamental [V]": (abs(lines[0]), theory[0], 1e-9),
        "third harmonic [V]": (abs(lines[2]), theory[2], 1e-9),
        "distortion of the output": (
            result["amplifier.out.v"].thd(1 / period),
            np.sqrt(np.pi**2 / 8 - 1),
            1e-9,
        ),
    }
    for name, (simulated, expected, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {expected:10.5g}")
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(8, 5.6), layout="constrained")
    for path, name in (("amplifier.out.v", "output"), ("C.v", "capacitor"), ("R2.v", "threshold")):
        upper.plot(1e3 * result.t, result[path], "--" if name == "threshold" else "-", label=name)
    upper.set(xlabel="time [ms]", ylabel="voltage [V]", xlim=(0, 6e3 * T), ylim=(-V - 1, V + 1))
    lower.vlines(n / period / 1e3, 1e-3, np.abs(lines), color="C1", label="capacitor")
    lower.plot(n[::2] / T / 1e3, theory[::2], "o", fillstyle="none", color="k", label="theory")
    lower.set(xlabel="frequency [kHz]", ylabel="amplitude [V]", yscale="log", ylim=(0.01, 10))
    upper.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    lower.legend()
    figure.savefig("schmitt_oscillator.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
