"""How long does a ring modulator of four junctions take, a millisecond with 100 turns of its carrier?"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import count

from common import Row, finish, median

from acausal import Component, Eq, Parameter, Statement, compile_model, connect, exp
from acausal.components.electrical import (
    Capacitor,
    Ground,
    IdealTransformer,
    Inductor,
    OnePort,
    Pin,
    Resistor,
    SineVoltage,
)

STOP = 1e-3
PUBLISHED = {
    "first.capacitor.v": -0.2339057358486745e-1,
    "second.capacitor.v": -0.7367485485540825e-2,
    "first.upper.capacitor.v": 0.2582956709291169,
    "first.lower.capacitor.v": -0.4064465721283450,
    "second.upper.capacitor.v": -0.4039455665149794,
    "second.lower.capacitor.v": 0.2607966765422943,
    "bridge.v": 0.1106761861269975,
}
"""Voltages at the end: F. Mazzia, C. Magherini, Test Set for Initial Value Problem Solvers, release 2.4 (2008), problem "Ring
modulator"."""
ALLOWED = 4e-7


class Junction(OnePort):
    """``i = Is * (exp(v / Vt) - 1)``, without losses beside it."""

    Is: Parameter = Parameter(default=40.67286402e-9, unit="A")
    Vt: Parameter = Parameter(default=1.0 / 17.7493332, unit="V")

    def equations(self) -> Iterator[Statement]:
        yield from super().equations()
        yield Eq(self.i, self.Is * (exp(self.v / self.Vt) - 1))


class Half(Component):
    """Half of a secondary winding with its stray inductance, its losses and a capacitor across it."""

    p1, n1, p, n = Pin(), Pin(), Pin(), Pin()

    def build(self) -> None:
        self.winding, self.stray = IdealTransformer(n=2.0), Inductor(L=5e-4)
        self.loss, self.capacitor = Resistor(R=17.3), Capacitor(C=2e-12)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.p1, self.winding.p1)
        yield connect(self.n1, self.winding.n1)
        yield connect(self.winding.p2, self.stray.p)
        yield connect(self.stray.n, self.loss.p)
        yield connect(self.loss.n, self.capacitor.p, self.p)
        yield connect(self.winding.n2, self.capacitor.n, self.n)


class Transformer(Component):
    """A primary winding with its main inductance, and a secondary one with a tap in its middle."""

    p, n, upper_end, tap, lower_end = Pin(), Pin(), Pin(), Pin(), Pin()

    def build(self) -> None:
        self.capacitor, self.loss, self.main = Capacitor(C=1.6e-8), Resistor(R=25e3), Inductor(L=4.45)
        self.upper, self.lower = Half(), Half()

    def equations(self) -> Iterator[Statement]:
        upper, lower = self.upper, self.lower
        yield connect(self.p, self.capacitor.p, self.loss.p, self.main.p, upper.p1, lower.p1)
        yield connect(self.n, self.capacitor.n, self.loss.n, self.main.n, upper.n1, lower.n1)
        yield connect(upper.p, self.upper_end)
        yield connect(upper.n, lower.p, self.tap)
        yield connect(lower.n, self.lower_end)


class RingModulator(Component):
    """Two transformers with a ring of junctions between them, which a carrier opens in turn."""

    def build(self) -> None:
        self.signal, self.carrier = SineVoltage(V=0.5, f=1e3), SineVoltage(V=2.0, f=1e4)
        self.inner, self.stray = Resistor(R=86.3), Inductor(L=2e-3)
        self.load, self.stray_of_load = Resistor(R=636.3), Inductor(L=2e-3)
        self.first, self.second = Transformer(), Transformer()
        self.bridge, self.across = Capacitor(C=1e-8), Resistor(R=50.0)
        self.junctions = [Junction() for _ in range(4)]
        self.ground = Ground()

    def equations(self) -> Iterator[Statement]:
        first, second, (a, b, c, d) = self.first, self.second, self.junctions
        yield connect(self.signal.p, self.inner.p)
        yield connect(self.inner.n, self.stray.p)
        yield connect(self.stray.n, first.p)
        yield connect(self.load.p, self.stray_of_load.p)
        yield connect(self.stray_of_load.n, second.p)
        yield connect(self.bridge.p, self.across.p, second.tap)
        yield connect(self.bridge.n, self.across.n, self.carrier.p)
        yield connect(first.upper_end, a.p, d.n)
        yield connect(second.upper_end, a.n, c.p)
        yield connect(first.lower_end, b.p, c.n)
        yield connect(second.lower_end, b.n, d.p)
        grounded = first.n, first.tap, second.n, self.signal.n, self.carrier.n, self.load.n
        yield connect(self.ground.p, *grounded)


OUTPUTS = ("first.capacitor.v", "second.capacitor.v")


def meeting(names: Iterable[str], question: str) -> Row:
    """Time at the roughest tolerance with which some voltages are right."""
    program = compile_model(RingModulator())
    for rtol in (10.0 ** (-0.5 * k) for k in count(8)):
        result = program.simulate(STOP, rtol=rtol)
        error = max(abs(float(result[name].final) - PUBLISHED[name]) for name in names)
        if error <= ALLOWED:
            break
    figure = median(lambda: program.simulate(STOP, rtol=rtol), 1)
    note = f"rtol {rtol:.2g}, {result.stats.steps} steps"
    return Row(f"ring modulator, 1 ms, {question}", figure, error=error, allowed=ALLOWED, note=note)


def main() -> None:
    """Measure what its outputs take, and what all voltages do."""
    finish([meeting(OUTPUTS, "both outputs"), meeting(PUBLISHED, "all voltages")])


if __name__ == "__main__":
    main()
