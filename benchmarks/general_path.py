"""How long do nonlinear and large models take on the general path?"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from common import Row, finish, median

from acausal import Component, Statement, compile_model, connect
from acausal.components.blocks import PWM
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Diode,
    Ground,
    IdealClosingSwitch,
    Inductor,
    Resistor,
)

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.systems.ladder import Ladder

SECTIONS = 1000
END = 1.0
PERIODS = 100


class JunctionBuck(Component):
    """Step-down converter with an ideal switch and an exponential diode."""

    def build(self) -> None:
        self.source = ConstantVoltage(V=24.0)
        self.pwm = PWM(frequency=100e3, duty=0.4)
        self.switch, self.diode = IdealClosingSwitch(), Diode(R=1e6)
        self.inductor, self.capacitor = Inductor(L=47e-6), Capacitor(C=100e-6)
        self.load, self.ground = Resistor(R=5.0), Ground()

    def equations(self) -> Iterator[Statement]:
        yield connect(self.pwm.y, self.switch.control)
        yield connect(self.source.p, self.switch.p)
        yield connect(self.switch.n, self.diode.n, self.inductor.p)
        yield connect(self.inductor.n, self.capacitor.p, self.load.p)
        yield connect(self.source.n, self.diode.p, self.capacitor.n, self.load.n, self.ground.p)


def last_potential(n: int, t: float) -> float:
    """Potential at the open end of a ladder at 1 V whose sections have R = C = 1/n, by its eigenvectors."""
    k, j = np.arange(1, n + 1), np.arange(1, n + 1)
    angle = (2 * j - 1) * np.pi / (2 * n + 1)
    vectors = np.sin(np.outer(k, angle))
    rate = -4.0 * n**2 * np.sin(0.5 * angle) ** 2
    weights = vectors.sum(axis=0) * 4.0 / (2 * n + 1)
    return float(1.0 - vectors[-1] @ (weights * np.exp(rate * t)))


def ladder() -> list[Row]:
    """Build and run a long ladder with the implicit method."""
    start = time.perf_counter()
    program = compile_model(Ladder(n=SECTIONS))
    built = time.perf_counter() - start
    start = time.perf_counter()
    result = program.simulate(END, method="implicit")
    ran = time.perf_counter() - start
    error = abs(result[f"section[{SECTIONS - 1}].c.v"].final - last_potential(SECTIONS, END))
    name = f"ladder of {SECTIONS} sections, general path"
    return [
        Row(f"{name}: build", built),
        Row(f"{name}: 1 s, implicit, rtol 1e-6", ran, error=error, allowed=1e-5),
    ]


def converter() -> Row:
    """Run a converter with a nonlinear diode."""
    program = compile_model(JunctionBuck())
    tight = program.simulate(PERIODS * 1e-5, rtol=1e-9)["load.v"].final
    found = program.simulate(PERIODS * 1e-5)["load.v"].final
    figure = median(lambda: program.simulate(PERIODS * 1e-5), repeat=3)
    question = f"buck with exponential diode, {PERIODS} periods, rtol 1e-6"
    return Row(question, figure, error=abs(found / tight - 1.0), allowed=1e-5, note="error against rtol 1e-9")


if __name__ == "__main__":
    finish([*ladder(), converter()])
