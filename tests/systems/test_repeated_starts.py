"""What a start came to is a start: given again, it is kept, and everything goes on as it did."""

import warnings
from collections.abc import Iterator, Mapping

import numpy as np
import pytest

from acausal import Component, Eq, Program, Statement, Variable, compile_model, connect, der
from acausal.components import thermal
from acausal.components.electrical import Capacitor, ConstantVoltage, Ground, IdealDiode, Inductor, Resistor
from acausal.components.translational import CoulombFriction, Fixed, Force, Mass, Spring
from tests.systems.mechanism_models import Linkage
from tests.systems.test_long_chains import Chain
from tests.systems.test_tiny_starts import crank, four


class Network(Component):
    """A loop of capacitors and a source, behind a diode; the defaults of the loop contradict each other."""

    def build(self) -> None:
        self.source, self.ground, self.diode = ConstantVoltage(V=10.0), Ground(), IdealDiode()
        self.coil, self.load = Inductor(L=1e-3, i=2.0), Resistor(R=5.0)
        self.a, self.b, self.c = Capacitor(C=1e-3), Capacitor(C=2e-3, v=4.0), Capacitor(C=3e-3)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.source.p, self.coil.p)
        yield connect(self.coil.n, self.diode.p)
        yield connect(self.diode.n, self.a.p, self.c.p, self.load.p)
        yield connect(self.a.n, self.b.p)
        yield connect(self.b.n, self.c.n, self.load.n, self.source.n, self.ground.p)


class Wall(Component):
    """Two layers between rooms, the inner surface radiates."""

    def build(self) -> None:
        self.outside, self.inside = thermal.FixedTemperature(T=260.0), thermal.FixedTemperature(T=295.0)
        self.inner, self.outer = thermal.HeatCapacitor(C=1e4, T=280.0), thermal.HeatCapacitor(C=2e4, T=270.0)
        self.g1, self.g2 = thermal.ThermalConductor(G=5.0), thermal.ThermalConductor(G=8.0)
        self.radiation = thermal.BodyRadiation(Gr=0.1)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.inside.port, self.radiation.port_a)
        yield connect(self.radiation.port_b, self.inner.port, self.g1.port_a)
        yield connect(self.g1.port_b, self.outer.port, self.g2.port_a)
        yield connect(self.g2.port_b, self.outside.port)


class Sliding(Component):
    """A mass on dry friction, pulled by less than it holds: at rest it would stick, and a stretched spring holds it too."""

    x: Variable = Variable()

    def build(self) -> None:
        self.mass, self.wall, self.pull = Mass(m=2.0), Fixed(), Force(f=1.0)
        self.friction, self.spring = CoulombFriction(f_coulomb=3.0), Spring(c=10.0)

    def equations(self) -> Iterator[Statement]:
        yield connect(self.mass.flange_b, self.friction.flange_a, self.spring.flange_a, self.pull.flange)
        yield connect(self.friction.flange_b, self.spring.flange_b, self.wall.flange)
        yield Eq(der(self.x), -(self.x**3) + self.mass.v)


CASES: list[tuple[Program, Mapping[str, float]]] = [
    *((crank, {"joint.phi": phi, "joint.w": w}) for phi, w in ((0.0, 1.0), (1e-17, -40.0), (0.5, 1.0), (-2.0, 0.0))),
    *((four, {"joint.phi": phi, "joint.w": w}) for phi, w in ((0.0, 1.0), (0.5, -40.0), (3.0, 1.0))),
    (compile_model(Linkage()), {"x": 0.0, "y": 0.1}),
    (compile_model(Chain(n=4)), {f"joints[{k}].phi": 0.3 * k for k in range(4)}),
    (compile_model(Network()), {}),
    (compile_model(Network()), {"b.v": -3.0}),
    (compile_model(Wall()), {}),
    (compile_model(Wall()), {"": "steady state"}),  # type: ignore[dict-item]
    (compile_model(Sliding()), {"mass.v": 0.5, "mass.s": 0.2}),
]  # fmt: skip


@pytest.mark.sweep(every=12)
@pytest.mark.parametrize(("program", "given"), CASES)
def test_a_start_given_again_is_kept(program: Program, given: Mapping[str, float]) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore"
        )  # starts that contradict each other, or do not say which point is meant
        first = program.start(span=1e-3, initial=dict(given)).result
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = program.start(span=1e-3, initial=dict(first.initial)).result
    names = [*first.initial, *(f"der({name})" for name in first.initial)]
    before, after = (np.array([r[name].at(0.0) for name in names]) for r in (first, again))
    size = np.maximum(np.abs(before), 1.0)
    assert (np.abs(after - before) <= 1e-11 * size).all()


@pytest.mark.parametrize("v", [1.0, -1.0, 1e-3, -1e-6, 1e-12])
def test_a_fixed_sliding_speed_is_kept_beside_a_possible_rest(v: float) -> None:
    """The friction takes the sign of the speed, and the acceleration follows from Newton's law."""
    result = CASES[-1][0].start(span=1e-3, initial={"mass.v": v}).result
    assert result["mass.v"].at(0.0) == v
    assert result["der(mass.v)"].at(0.0) == pytest.approx((1.0 - np.sign(v) * 3.0) / 2.0, rel=1e-12)
