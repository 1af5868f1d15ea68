"""Small piecewise-affine models that are run on both paths."""

from typing import Any

from acausal import (
    Circuit,
    Complementarity,
    Component,
    Discrete,
    Eq,
    If,
    Impulse,
    Parameter,
    Variable,
    der,
    if_else,
    time,
)
from acausal.components.blocks import BooleanPulse, BooleanStep, Ramp, Sine, Step
from acausal.components.electrical import (
    Capacitor,
    ConstantVoltage,
    IdealClosingSwitch,
    IdealDiode,
    IdealOpeningSwitch,
    IdealThyristor,
    IdealTriac,
    Inductor,
    Resistor,
    SineVoltage,
    StepVoltage,
)
from acausal.components.rotational import Brake, Clutch, ConstantTorque, Inertia
from acausal.components.translational import (
    ConstantForce,
    ConstantSpeed,
    Fixed,
    ForceStep,
    Friction,
    HardStop,
    ImpactStop,
    Mass,
    MassWithFriction,
    Spring,
)
from tests.systems.circuits import circuit, diode_bridge


def _wired(*connections: tuple[str, str], **parts: Component) -> Circuit:
    made = Circuit()
    for name, part in parts.items():
        made.add(name, part)

    def port(path: str) -> Any:
        name, member = path.split(".")
        return getattr(parts[name], member)

    for a, b in connections:
        made.connect(port(a), port(b))
    return made


# -- Circuits --------------------------------------------------------------------------------------------------------


def series_rlc() -> Circuit:
    """A step on R, L and C."""
    return circuit(
        ("source", StepVoltage(V=10.0, startTime=1e-4), "a", "0"),
        ("resistor", Resistor(R=2.0), "a", "b"),
        ("inductor", Inductor(L=1e-3), "b", "c"),
        ("capacitor", Capacitor(C=100e-6), "c", "0"),
    )


def freewheeling() -> Circuit:
    """The flow of a coil decays by fifteen decades through a diode that never blocks."""
    model = circuit(
        ("source", ConstantVoltage(V=24.0), "a", "0"),
        ("switch", IdealOpeningSwitch(), "a", "b"),
        ("winding", Resistor(R=5.0), "b", "c"),
        ("inductor", Inductor(L=20e-3), "c", "0"),
        ("damping", Resistor(R=15.0), "d", "b"),
        ("diode", IdealDiode(), "0", "d"),
        command=BooleanStep(startTime=0.01),
    )
    model.connect(model.command.y, model.switch.control)
    return model


def charging() -> Circuit:
    """A capacitor comes to rest at the source behind a diode that never blocks."""
    return circuit(
        ("source", ConstantVoltage(V=24.0), "a", "0"),
        ("resistor", Resistor(R=1.0), "a", "b"),
        ("diode", IdealDiode(), "b", "c"),
        ("capacitor", Capacitor(C=1e-3), "c", "0"),
    )


def bridge_at_resistor() -> Circuit:
    """All four diodes change over in one instant, without any state."""
    return circuit(
        ("source", SineVoltage(V=325.0, f=50.0), "a", "b"),
        *diode_bridge("ab", "plus", "0"),
        ("load", Resistor(R=50.0), "plus", "0"),
    )


def bridge_at_choke() -> Circuit:
    """Four diodes change over in one instant, one state."""
    return circuit(
        ("source", SineVoltage(V=325.0, f=50.0), "a", "b"),
        *diode_bridge("ab", "plus", "0"),
        ("load", Resistor(R=10.0), "plus", "c"),
        ("choke", Inductor(L=50e-3), "c", "0"),
    )


def bridge_at_capacitor() -> Circuit:
    """A capacitor that the source prescribes while the bridge conducts: the index changes."""
    return circuit(
        ("source", SineVoltage(V=325.0, f=50.0), "a", "b"),
        *diode_bridge("ab", "plus", "0"),
        ("capacitor", Capacitor(C=1e-3), "plus", "0"),
        ("load", Resistor(R=50.0), "plus", "0"),
    )


def damped_oscillator() -> Circuit:
    """L and C, damped by a resistor behind a bridge."""
    return circuit(
        ("capacitor", Capacitor(C=1e-6, v=10.0), "a", "0"),
        ("inductor", Inductor(L=10e-3), "a", "0"),
        *diode_bridge("a0", "plus", "minus"),
        ("load", Resistor(R=1e3), "plus", "minus"),
    )


def triac() -> Circuit:
    """A triac with snubber under gate pulses."""
    model = circuit(
        ("source", SineVoltage(V=5.0, f=2.0), "s", "0"),
        ("resistor", Resistor(R=20.0), "s", "n"),
        ("triac", IdealTriac(Ron=1e-5, Goff=1e-5, Vknee=0.8), "n", "0"),
        ("series", Resistor(R=100.0), "n", "m"),
        ("snubber", Capacitor(C=5e-3), "m", "0"),
        gate=BooleanPulse(period=0.25, width=50.0, startTime=0.1),
    )
    model.connect(model.gate.y, model.triac.fire)
    return model


def low_pass() -> Circuit:
    """Fifth order with two loops of capacitors: five capacitors, three of them states."""
    l1, l2 = 1.304, 0.8586
    return circuit(
        ("source", StepVoltage(V=1.0, startTime=1.0), "in", "0"),
        ("R1", Resistor(R=1.0), "in", "a"),
        ("C1", Capacitor(C=1.072), "a", "0"),
        ("L1", Inductor(L=l1), "a", "b"),
        ("C2", Capacitor(C=1 / (1.704992**2 * l1)), "a", "b"),
        ("C3", Capacitor(C=1.682), "b", "0"),
        ("L2", Inductor(L=l2), "b", "c"),
        ("C4", Capacitor(C=1 / (1.179945**2 * l2)), "b", "c"),
        ("C5", Capacitor(C=0.7262), "c", "0"),
        ("R2", Resistor(R=1.0), "c", "0"),
    )


def series_inductors() -> Circuit:
    """Two inductors in series, one state."""
    return circuit(
        ("source", ConstantVoltage(V=10.0), "a", "0"),
        ("L1", Inductor(L=0.1, i=0.1), "a", "b"),
        ("R1", Resistor(R=10.0), "b", "c"),
        ("R2", Resistor(R=20.0), "b", "c"),
        ("L2", Inductor(L=0.2, i=0.1), "c", "0"),
    )


def battery_charger(fire: Any) -> Circuit:
    """A thyristor from a sine source through a resistor into a battery."""
    return circuit(
        ("source", SineVoltage(V=325.0, f=50.0), "a", "0"),
        ("thyristor", IdealThyristor(fire=fire), "a", "b"),
        ("load", Resistor(R=10.0), "b", "c"),
        ("battery", ConstantVoltage(V=162.5), "c", "0"),
    )


def element(part: Component, *load: tuple[str, Component]) -> Circuit:
    """A sine source, a resistor, further parts and the part under test in series."""
    branches: list[Any] = [
        ("source", SineVoltage(V=10.0, f=50.0), "n0", "0"),
        ("R", Resistor(R=2.0), "n0", "n1"),
    ]
    names = [*load, ("part", part)]
    for k, (name, one) in enumerate(names, start=1):
        branches.append((name, one, f"n{k}", "0" if k == len(names) else f"n{k + 1}"))
    return circuit(*branches)


def shorted_source() -> Circuit:
    """A breaker closes across an ideal source."""
    model = circuit(
        ("supply", ConstantVoltage(V=24.0), "a", "0"),
        ("breaker", IdealClosingSwitch(), "a", "0"),
        ("load", Resistor(R=1.0), "a", "b"),
        ("storage", Capacitor(C=1e-3), "b", "0"),
        command=BooleanStep(startTime=1e-3),
    )
    model.connect(model.command.y, model.breaker.control)
    return model


# -- Mechanics -------------------------------------------------------------------------------------------------------


def ball() -> Circuit:
    """Restitution 0.7; infinitely many impacts accumulate at 2.56 s."""
    return _wired(
        ("floor.flange", "stop.flange_a"),
        ("stop.flange_b", "ball.flange_a"),
        ("weight.flange", "ball.flange_b"),
        floor=Fixed(),
        stop=ImpactStop(restitution=0.7),
        ball=Mass(m=1.0, s=1.0),
        weight=ConstantForce(f_constant=-9.81),
    )


def two_balls() -> Circuit:
    """A free mass hits another one."""
    return _wired(
        ("a.flange_b", "stop.flange_a"),
        ("stop.flange_b", "b.flange_a"),
        a=Mass(m=1.0, v=3.0),
        stop=ImpactStop(restitution=0.5),
        b=Mass(m=2.0, s=3.0),
    )


def two_stops() -> Circuit:
    """Elastic motion between two stops."""
    return _wired(
        ("mass.flange_a", "stop.flange"),
        mass=Mass(m=3.0, v=2.0),
        stop=HardStop(s_min=-1.0, s_max=1.0, restitution=1.0),
    )


def leaving_a_stop() -> Circuit:
    """A mass rests at a stop until the force turns."""
    return _wired(
        ("force.flange", "mass.flange_a"),
        ("mass.flange_b", "stop.flange"),
        force=ForceStep(offsetForce=2.0, stepForce=-3.0, startTime=3.0),
        mass=Mass(m=1.0),
        stop=HardStop(s_min=-9.0, s_max=1.0),
    )


def spring_and_mass() -> Circuit:
    """No switching at all."""
    return _wired(
        ("wall.flange", "spring.flange_a"),
        ("spring.flange_b", "mass.flange_a"),
        wall=Fixed(),
        spring=Spring(c=50.0, s_rel0=1.0),
        mass=Mass(m=2.0, s=1.3, v=0.5),
    )


def stick_slip() -> Circuit:
    """A mass on a belt, held by a spring."""
    return _wired(
        ("wall.flange", "spring.flange_a"),
        ("spring.flange_b", "mass.flange_a"),
        ("mass.flange_a", "friction.flange_b"),
        ("belt.flange", "friction.flange_a"),
        belt=ConstantSpeed(v_fixed=0.1),
        wall=Fixed(),
        spring=Spring(c=1.0),
        friction=Friction(f_coulomb=1.0, f_breakaway=2.0),
        mass=Mass(m=1.0),
    )


def damped_by_friction() -> Circuit:
    """Seven half periods of an oscillator, then it sticks."""
    return _wired(
        ("wall.flange", "spring.flange_a"),
        ("spring.flange_b", "mass.flange_a"),
        wall=Fixed(),
        spring=Spring(c=50.0),
        mass=MassWithFriction(m=2.0, f_coulomb=4.0, f_breakaway=4.0, s=1.05),
    )


def clutch() -> Circuit:
    """Two inertias lock and lose a state."""
    return _wired(
        ("force.y", "clutch.f_normalized"),
        ("j1.flange_b", "clutch.flange_a"),
        ("clutch.flange_b", "j2.flange_a"),
        force=Ramp(startTime=1.0, duration=3.0, height=3.0),
        j1=Inertia(J=1.0, w=10.0),
        clutch=Clutch(fn_max=6.0),
        j2=Inertia(J=2.0),
    )


def brake() -> Circuit:
    """A shaft under load is stopped and held."""
    return _wired(
        ("j.flange_b", "brake.flange_a"),
        ("brake.flange_b", "load.flange"),
        ("force.y", "brake.f_normalized"),
        j=Inertia(J=2.0, w=10.0),
        brake=Brake(fn_max=12.0, mu=0.5),
        load=ConstantTorque(tau_constant=1.0),
        force=Step(startTime=1.0),
    )


class DogClutch(Component):
    """Two shafts that teeth join in an instant: momentum is conserved, energy is not."""

    engaged: Discrete = Discrete(bool)
    w1: Variable = Variable(start=10.0)
    w2: Variable = Variable(start=-2.0)
    tau: Variable = Variable()

    def equations(self) -> Any:
        yield Eq(self.engaged, (time >= 1.0) & (time < 3.0))
        yield Eq(der(self.w1), 1 - 0.1 * self.w1 - self.tau)
        yield Eq(2 * der(self.w2), self.tau - 0.3 * self.w2)
        yield If(self.engaged, [Eq(self.w1, self.w2)], [Eq(self.tau, 0)], impulse=Impulse.ALLOW)


class Backlash(Component):
    """``y`` follows ``u`` with play ``b``: memory by two complementarities."""

    b: Parameter = Parameter(default=0.4)

    def build(self) -> None:
        self.source = Sine(amplitude=1.0, f=0.7, phase=0.3)

    y: Variable = Variable()
    up: Variable = Variable()
    down: Variable = Variable()

    def equations(self) -> Any:
        u = self.source.y
        yield Eq(der(self.y), self.up - self.down)
        yield Complementarity(self.y - u + self.b / 2, self.up, name="low")
        yield Complementarity(u + self.b / 2 - self.y, self.down, name="high")


class Relay(Component):
    """Falls to zero, where it is driven back from either side."""

    x: Variable = Variable(start=0.6)

    def equations(self) -> Any:
        yield Eq(der(self.x), if_else(self.x > 0, -1, 1))
