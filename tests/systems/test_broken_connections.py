"""Models with wrong connections are refused: error, text, component path, line, and what to do."""

import pytest

from acausal import (
    AcausalError,
    Circuit,
    Component,
    ContradictionError,
    ContradictorySourcesError,
    DuplicateWriterError,
    Eq,
    Input,
    Output,
    PortMismatchError,
    StatementError,
    UnconnectedInputError,
    UnitError,
    Variable,
    connect,
)
from acausal.components import blocks, translational
from acausal.components.electrical import (
    ConstantCurrent,
    ConstantVoltage,
    Ground,
    IdealClosingSwitch,
    IdealTransformer,
    Resistor,
)

from .refusals import Divider, Statements, refused, run


def test_unbalanced_sources_without_reference() -> None:
    class Model(Component):
        def build(self) -> None:
            self.a, self.b = ConstantVoltage(V=1.0), ConstantVoltage(V=2.0)

        def equations(self) -> Statements:
            yield connect(self.a.p, self.b.p)
            yield connect(self.a.n, self.b.n)

    with refused(
        ContradictionError, r"Eq\(v, V\) at a .*Eq\(v, V\) at b", hint="potentials in parallel", path="a"
    ):
        run(Model())


def test_two_sources_in_parallel() -> None:
    circuit = Circuit()
    a, b = circuit.add("a", ConstantVoltage(V=1.0)), circuit.add("b", ConstantVoltage(V=2.0))
    ground = circuit.add("ground", Ground())
    circuit.connect(a.p, b.p)
    circuit.connect(a.n, b.n, ground.p)
    text = r"(?s)Eq\(v, V\) at a .*Eq\(v, V\) at b .*connection of `a.p.v`, `b.p.v` at .*connection of `a.n.v`, `b.n.v`"
    with refused(ContradictionError, text, hint="in parallel"):
        run(circuit)


@pytest.mark.parametrize(
    ("part", "kind", "hint"),
    [
        ("switch", ContradictorySourcesError, "which elements"),
        ("transformer", ContradictionError, "the sources"),
    ],
)
def test_the_remedy_speaks_of_elements_only_where_there_are_any(
    part: str, kind: type[AcausalError], hint: str
) -> None:
    circuit = Circuit()
    source, ground = circuit.add("source", ConstantVoltage(V=1.0)), circuit.add("ground", Ground())
    circuit.connect(source.n, ground.p)
    if part == "switch":
        short = circuit.add("short", IdealClosingSwitch(control=True))
        circuit.connect(source.p, short.p)
        circuit.connect(ground.p, short.n)
    else:
        ratio, other = circuit.add("ratio", IdealTransformer(n=2.0)), circuit.add("b", ConstantVoltage(V=1.0))
        circuit.connect(source.p, ratio.p1)
        circuit.connect(other.p, ratio.p2)
        circuit.connect(ground.p, ratio.n1, ratio.n2, other.n)
    with refused(kind, "equations contradict each other", hint=hint):
        run(circuit)


def test_an_open_current_source() -> None:
    circuit = Circuit()
    source, ground = circuit.add("source", ConstantCurrent(I=2.0)), circuit.add("ground", Ground())
    circuit.connect(source.p, ground.p)
    with refused(
        ContradictionError,
        r"(?s)Eq\(i, I\) at source.*`source.n.i` = 0, for nothing",
        hint="connect `source.n`: nothing is",
    ):
        run(circuit)


def test_a_single_source_in_a_short_circuit() -> None:
    circuit = Circuit()
    source, ground = circuit.add("source", ConstantVoltage(V=2.0)), circuit.add("ground", Ground())
    circuit.connect(source.p, source.n, ground.p)
    with refused(ContradictionError, r"Eq\(v, V\) at source", hint="one given quantity alone"):
        run(circuit)


def test_current_sources_in_series() -> None:
    circuit = Circuit()
    a, b = circuit.add("a", ConstantCurrent(I=1.0)), circuit.add("b", ConstantCurrent(I=2.0))
    ground = circuit.add("ground", Ground())
    circuit.connect(a.p, b.n)
    circuit.connect(a.n, b.p, ground.p)
    with refused(ContradictionError, r"Eq\(i, I\) at a .*Eq\(i, I\) at b", hint="flows in series"):
        run(circuit)


def test_unconnected_input() -> None:
    class Leg(Component):
        def build(self) -> None:
            self.switch = IdealClosingSwitch()  # <-

        def equations(self) -> Statements:
            yield connect(self.switch.p, self.switch.n)

    class Model(Component):
        def build(self) -> None:
            self.leg = Leg()

    text = "input `control` of `leg.switch` has no value"
    with refused(
        UnconnectedInputError,
        text,
        hint="IdealClosingSwitch(control=...)",
        path="leg.switch",
        at=test_unconnected_input,
    ):
        run(Model())


def test_port_types_differ() -> None:
    class Model(Component):
        def build(self) -> None:
            self.load, self.mass = Resistor(R=1.0), translational.Mass(m=1.0)

        def equations(self) -> Statements:
            yield connect(self.load.p, self.mass.flange_a)  # <-

    text = "cannot connect `load.p`, a Pin, with `mass.flange_a`, a Flange"
    with refused(PortMismatchError, text, hint="ports of one type", path="Model", at=test_port_types_differ):
        run(Model())


def test_port_with_signal() -> None:
    class Model(Component):
        def build(self) -> None:
            self.load, self.value = Resistor(R=1.0), blocks.Constant(k=1.0)

        def equations(self) -> Statements:
            yield connect(self.load.p, self.value.y)  # <-

    with refused(
        PortMismatchError, "`load.p` with `value.y`", hint="signals with signals", at=test_port_with_signal
    ):
        run(Model())


def test_signal_types_differ() -> None:
    class Model(Component):
        def build(self) -> None:
            self.value, self.switch = blocks.Constant(k=1.0), IdealClosingSwitch()

        def equations(self) -> Statements:
            yield connect(self.value.y, self.switch.control)  # <-

    text = "`value.y`, a float signal, with `switch.control`, a bool signal"
    with refused(PortMismatchError, text, hint="x > 0", path="Model", at=test_signal_types_differ):
        run(Model())


class Probe(Component):
    y: Output = Output(float, unit="V")

    def equations(self) -> Statements:
        yield Eq(self.y, 1)


class Meter(Component):
    u: Input = Input(float, unit="A")
    x: Variable = Variable(unit="A")

    def equations(self) -> Statements:
        yield Eq(self.x, self.u)


def test_signal_units_differ() -> None:
    class Model(Component):
        def build(self) -> None:
            self.probe, self.meter = Probe(), Meter()

        def equations(self) -> Statements:
            yield connect(self.probe.y, self.meter.u)  # <-

    text = "`probe.y` in V with `meter.u` in A"
    with refused(UnitError, text, hint="gain", path="Model", at=test_signal_units_differ):
        run(Model())


def test_two_outputs_feed_one_input() -> None:
    class Model(Component):
        def build(self) -> None:
            self.a, self.b, self.gain = blocks.Constant(k=1.0), blocks.Constant(k=2.0), blocks.Gain(k=1.0)

        def equations(self) -> Statements:
            yield connect(self.a.y, self.gain.u)  # <-
            yield connect(self.b.y, self.gain.u)

    text = "`a.y` and `b.y` feed one signal: `gain.u`"
    with refused(
        DuplicateWriterError, text, hint="one source", path="Model", at=test_two_outputs_feed_one_input
    ):
        run(Model())


def test_keyword_and_connection_feed_one_input() -> None:
    class Model(Component):
        def build(self) -> None:
            self.a, self.gain = blocks.Constant(k=1.0), blocks.Gain(k=1.0, u=3.0)

        def equations(self) -> Statements:
            yield connect(self.a.y, self.gain.u)  # <-

    with refused(
        DuplicateWriterError,
        "`gain.u` is given by two",
        hint="one source",
        at=test_keyword_and_connection_feed_one_input,
    ):
        run(Model())


def test_port_of_a_grandchild() -> None:
    class Model(Component):
        def build(self) -> None:
            self.divider, self.load = Divider(), Resistor(R=1.0)

        def equations(self) -> Statements:
            yield connect(self.divider.load.p, self.load.p)  # <-

    with refused(
        StatementError,
        "lies inside a part of Model",
        hint="port of its own",
        path="Model",
        at=test_port_of_a_grandchild,
    ):
        run(Model())


@pytest.mark.parametrize("count", [0, 1])
def test_connect_needs_two_ends(count: int) -> None:
    class Model(Component):
        def build(self) -> None:
            self.load = Resistor(R=1.0)

        def equations(self) -> Statements:
            yield connect(*[self.load.p][:count])  # <-

    with refused(
        StatementError, f"got {count}", hint="connect(a.p, b.n)", path="Model", at=test_connect_needs_two_ends
    ):
        run(Model())


def test_port_of_a_component_outside_the_model() -> None:
    other = Resistor(R=1.0)

    class Model(Component):
        def build(self) -> None:
            self.load = Resistor(R=1.0)

        def equations(self) -> Statements:
            yield connect(self.load.p, other.p)  # <-

    with refused(
        StatementError,
        "no part of Model",
        hint="create parts in build()",
        at=test_port_of_a_component_outside_the_model,
    ):
        run(Model())
