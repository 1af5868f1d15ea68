"""Memory and time of a modular multilevel converter: one phase leg, full bridges of four switches, a mode for each gating.

Run as ``python -m benchmarks.multilevel [submodules] [Ron] [time]``; prints modes, seconds and the peak of resident memory.
"""

import resource
import sys
from collections.abc import Iterator
from time import perf_counter

from acausal import Component, Parameter, Statement, Structural, compile_model, connect
from acausal.components.blocks import PWM
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealOpeningSwitch,
    Inductor,
    Resistor,
)
from acausal.components.electrical.interfaces import TwoPin


class Submodule(TwoPin):
    """A full bridge around a capacitor; its legs are switched one after the other."""

    phase: Parameter = Parameter(default=0.0, unit="s")
    frequency: Parameter = Parameter(default=250.0, unit="Hz")
    Ron: Parameter = Parameter(default=0.0, unit="Ohm")

    def build(self) -> None:
        self.left = PWM(frequency=self.frequency, duty=0.7, startTime=self.phase)
        self.right = PWM(frequency=self.frequency, duty=0.2, startTime=self.phase)
        self.upper = [IdealClosingSwitch(control=leg.y, Ron=self.Ron) for leg in (self.left, self.right)]
        self.lower = [IdealOpeningSwitch(control=leg.y, Ron=self.Ron) for leg in (self.left, self.right)]
        self.capacitor = Capacitor(C=5e-3)

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield connect(self.capacitor.p, self.upper[0].p, self.upper[1].p)
        yield connect(self.capacitor.n, self.lower[0].n, self.lower[1].n)
        yield connect(self.p, self.upper[0].n, self.lower[0].p)
        yield connect(self.n, self.upper[1].n, self.lower[1].p)


class Leg(Component):
    """A phase leg of two arms between the poles of a direct voltage, with a load at its middle."""

    n: Structural[int] = Structural(int)
    Ron: Parameter = Parameter(default=0.0, unit="Ohm")

    def build(self) -> None:
        self.source = ConstantVoltage(V=20e3)
        self.middle = ConstantVoltage(V=10e3)
        self.cells = [Submodule(phase=k * 4e-3 / self.n, Ron=self.Ron) for k in range(self.n)]
        self.arms = [Inductor(L=3e-3), Inductor(L=3e-3)]
        self.coil, self.load, self.ground = Inductor(L=10e-3), Resistor(R=20.0), Ground()

    def equations(self) -> Iterator[Statement]:
        upper, lower = self.cells[: self.n // 2], self.cells[self.n // 2 :]
        yield connect(self.source.p, upper[0].p)
        for a, b in zip(upper[:-1], upper[1:], strict=True):
            yield connect(a.n, b.p)
        yield connect(upper[-1].n, self.arms[0].p)
        yield connect(self.arms[0].n, self.arms[1].p, self.coil.p)
        yield connect(self.arms[1].n, lower[0].p)
        for a, b in zip(lower[:-1], lower[1:], strict=True):
            yield connect(a.n, b.p)
        yield connect(lower[-1].n, self.source.n, self.middle.n, self.ground.p)
        yield connect(self.coil.n, self.load.p)
        yield connect(self.load.n, self.middle.p)


def main(n: int = 40, Ron: float = 0.0, stop: float = 8e-3) -> tuple[int, float]:
    """Simulate and return the number of modes and the peak of resident memory in MB."""
    program = compile_model(Leg(n=n))
    start = {f"cells[{k}].capacitor.v": 1000.0 for k in range(n)}
    before, begin = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024, perf_counter()
    result = program.simulate(stop, parameters={"Ron": Ron}, initial=start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{4 * n} switches, Ron = {Ron:g}: {len(result.modes)} modes, {len(result.events)} events in")
    print(f"{perf_counter() - begin:.1f} s, peak {peak:.0f} MB, before the run {before:.0f} MB")
    return len(result.modes), peak


if __name__ == "__main__":
    given = sys.argv[1:] + ["40", "0", "8e-3"][len(sys.argv) - 1 :]
    main(int(given[0]), float(given[1]), float(given[2]))
