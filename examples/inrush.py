"""Why does a transformer without load draw many times its rated current when it is switched on, and when not?

A primary winding with a saturating core, closed on 230 V, 50 Hz at an angle a after the zero of the line voltage:

    V sin(w t + a) ---[R]---[Psi(i)]--- 0 V

Theory: the line voltage is the slope of the flux. Without flux at the begin, Psi = V / w (cos(a) - cos(w t + a)), which
swings up to V / w (1 + cos(a)): at a = 0 twice the flux of the steady state, far into saturation; at 90 degrees there
is no inrush. The resistance takes R times the integral of the current from the flux, so that the offset decays.
Kulkarni and Khaparde, Transformer Engineering, chapter 2.
"""

from collections.abc import Iterator

import matplotlib.pyplot as plt
import numpy as np
from scipy import integrate, optimize

import acausal as ac
import acausal.components.electrical as el

V, f, w, R, Inom, Lnom, Lzer, Linf = 325.0, 50.0, 100 * np.pi, 0.2, 0.5, 2.07, 4.0, 20e-3


class Transformer(ac.Component):
    """Transformer without load on the line."""

    a: ac.Parameter = ac.Parameter(default=0.0, unit="rad", doc="Angle of closing")

    def build(self) -> None:
        self.line, self.ground = el.SineVoltage(V=V, f=f, phase=self.a), el.Ground()
        self.winding = el.Resistor(R=R)
        self.core = el.SaturatingInductor(Inom=Inom, Lnom=Lnom, Lzer=Lzer, Linf=Linf)

    def equations(self) -> Iterator[ac.Statement]:
        yield from (ac.connect(self.line.p, self.winding.p), ac.connect(self.winding.n, self.core.p))
        yield ac.connect(self.core.n, self.line.n, self.ground.p)


def curve() -> tuple[np.ndarray, np.ndarray]:
    """Return currents, and the flux of the core at each, which is Lnom Inom at Inom."""
    x = optimize.root_scalar(
        lambda x: x * np.arctan(1 / x) - (Lnom - Linf) / (Lzer - Linf), bracket=(1e-6, 1e3)
    ).root
    i = np.linspace(-50.0, 50.0, 50_001)
    return i, Linf * i + (Lzer - Linf) * Inom * x * np.arctan(i / (Inom * x))


def peak(a: float) -> float:
    """Return the highest current of the first period; what the resistance takes is put in four times."""
    t = np.linspace(0, 1 / f, 2001)
    (current, flux), i = curve(), np.zeros_like(t)
    for _ in range(4):
        taken = R * integrate.cumulative_trapezoid(i, t, initial=0)
        i = np.interp(V / w * (np.cos(a) - np.cos(w * t + a)) - taken, flux, current)
    return float(i.max())


def main() -> dict[str, tuple[float, float, float]]:
    """Close at several angles, print the peaks and draw them: (simulated, theory, tolerance)."""
    program, answer = ac.compile_model(Transformer()), {}
    figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for degrees in (0, 30, 60, 90):
        i = program.simulate(6 / f, parameters={"a": np.radians(degrees)})["core.i"]
        first = float(i.at(np.linspace(0, 1 / f, 2001)).max())
        answer[f"peak at {degrees} degrees [A]"] = (first, peak(np.radians(degrees)), 1e-3)
        left.plot(1e3 * i.t, i, label=f"{degrees}°")
        right.plot(degrees, first, "ko")
    right.plot(range(91), [peak(np.radians(a)) for a in range(91)], zorder=0)
    left.set(xlabel="time [ms]", ylabel="current [A]", xlim=(0, 6e3 / f), ylim=(-2, 42))
    right.set(xlabel="angle of closing [degrees]", ylabel="first peak [A], line: theory", ylim=(0, None))
    left.legend(loc="upper center", ncols=4)
    figure.savefig("inrush.png", dpi=150)
    for name, (simulated, theory, _) in answer.items():
        print(f"{name:<28}{simulated:10.5g}   theory {theory:10.5g}")
    return answer


if __name__ == "__main__":
    main()
