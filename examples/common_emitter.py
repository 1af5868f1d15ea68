"""How much does a common-emitter stage amplify, and how small must its input be to come out undistorted?

An npn transistor, biased by a divider R1, R2. Capacitors couple the tone to the base and bypass the emitter:

    12 V --[R1]--B--[R2]-- 0 V      12 V --[Rc]--C      E--[Re]-- 0 V      tone --[Cin]--B      E--[Ce]-- 0 V

Theory: a small tone is amplified by -gm Rc, with the transconductance gm = Ic / Vt at the bias. An exponential driven
by A sin(w t) has the harmonics of exp(x sin(w t)), x = A / Vt, which are Bessel functions: the first makes the gain
2 I1(x) / x times larger, the second is I2(x) / I1(x) of the first, for a small tone x / 4.
Clarke and Hess, Communication Circuits: Analysis and Design, chapter 4.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import root_scalar
from scipy.special import iv

import acausal as ac
import acausal.components.electrical as el

V, R1, R2, Rc, Re, Bf, Is, Vt, f = 12.0, 68e3, 15e3, 4.7e3, 1.5e3, 200.0, 1e-15, 0.02585, 10e3


class Stage(ac.Component):
    """Common-emitter stage without load."""

    A: ac.Parameter = ac.Parameter(default=1e-3, unit="V", doc="Amplitude of the tone")

    def build(self) -> None:
        self.supply, self.ground = el.ConstantVoltage(V=V), el.Ground()
        self.tone = el.SineVoltage(V=self.A, f=f)
        self.R1, self.R2, self.Rc, self.Re = (el.Resistor(R=R) for R in (R1, R2, Rc, Re))
        self.Cin, self.Ce = el.Capacitor(C=100e-6), el.Capacitor(C=10e-3)
        self.Q = el.NPN(Bf=Bf, Is=Is, Vt=Vt, Vak=0.0, useCharges=False)

    def equations(self) -> Iterator[ac.Statement]:
        yield ac.connect(self.supply.p, self.R1.p, self.Rc.p)
        yield ac.connect(self.tone.p, self.Cin.n)
        yield ac.connect(self.Cin.p, self.R1.n, self.R2.p, self.Q.B)
        yield ac.connect(self.Rc.n, self.Q.C)
        yield ac.connect(self.Q.E, self.Re.p, self.Ce.p)
        yield ac.connect(self.supply.n, self.tone.n, self.R2.n, self.Re.n, self.Ce.n, self.ground.p)


def main() -> dict[str, tuple[float, float, float]]:
    """Amplify tones from 0.5 to 20 mV, print the answer and draw it: (simulated, theory, tolerance)."""
    Vb, Rb, back = V * R2 / (R1 + R2), R1 * R2 / (R1 + R2), Re * (1 + 1 / Bf)
    Ic = root_scalar(lambda i: Vb - i * (Rb / Bf + back) - Vt * np.log(1 + i / Is), bracket=(1e-6, 1e-2)).root
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    start = {"Cin.v": Vb - Ic * Rb / Bf, "Ce.v": Ic * back}
    program, answer, second = ac.compile_model(Stage()), {}, {}
    for A in (0.5e-3, 2e-3, 5e-3, 10e-3, 20e-3):
        output = program.simulate(2 / f, parameters={"A": A}, initial=start)["Q.C.v"]
        tones, t = output.harmonics(f, 2, 1 / f, 2 / f), np.linspace(1 / f, 2 / f, 500)
        gain, second[A], x = abs(tones[1]) / A, abs(tones[2] / tones[1]), A / Vt
        if A in (0.5e-3, 10e-3):
            answer[f"gain at {1e3 * A:g} mV"] = (gain, Ic / Vt * Rc * 2 * iv(1, x) / x, 1e-3)
            answer[f"2nd harmonic at {1e3 * A:g} mV"] = (second[A], iv(2, x) / iv(1, x), 1e-3)
        left.plot(1e6 * (t - 1 / f), output.at(t), label=f"{1e3 * A:g} mV")
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    A = np.geomspace(0.3e-3, 30e-3, 200)
    right.loglog(1e3 * A, 100 * iv(2, A / Vt) / iv(1, A / Vt), label="theory")
    right.loglog([1e3 * a for a in second], [100 * h for h in second.values()], "ko", label="simulated")
    left.set(xlabel="time [µs]", ylabel="output [V]", xlim=(0, 1e6 / f))
    right.set(xlabel="amplitude of the tone [mV]", ylabel="second harmonic [% of the first]")
    left.legend()
    right.legend()
    figure.savefig("common_emitter.png", dpi=150)
    return answer


if __name__ == "__main__":
    main()
