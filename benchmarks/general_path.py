"""How long do nonlinear models take on the general path?"""

from __future__ import annotations

from collections.abc import Iterator

from common import Row, finish, median
from gates import Gate

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


def converter() -> Row:
    """Run a converter with a nonlinear diode."""
    program = compile_model(JunctionBuck())
    tight = program.simulate(PERIODS * 1e-5, rtol=1e-9)["load.v"].final
    found = program.simulate(PERIODS * 1e-5)["load.v"].final
    figure = median(lambda: program.simulate(PERIODS * 1e-5), repeat=3)
    question = f"buck with exponential diode, {PERIODS} periods, rtol 1e-6"
    return Row(question, figure, error=abs(found / tight - 1.0), allowed=1e-5, note="error against rtol 1e-9")


def logic() -> Row:
    """Run a gate of transistors, the end of whose output is published."""
    program = compile_model(Gate())
    found = program.simulate(80.0, initial=Gate.START)["output.v"].final
    figure = median(lambda: program.simulate(80.0, initial=Gate.START), repeat=3)
    published = 4.970837023296724
    question = "NAND gate of transistors, 80 s, rtol 1e-6"
    return Row(question, figure, error=abs(found / published - 1.0), allowed=1e-6, note="error of the end")


if __name__ == "__main__":
    finish([converter(), logic()])
