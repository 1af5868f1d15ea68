"""Broken networks of components: sources, capacitances and inertias, gears, heat, signals.

Each stands beside an innocent network that is fine.
"""

from acausal import (
    Circuit,
    Component,
    ContradictionError,
    DeclarationError,
    InitializationError,
    ParameterError,
    PortMismatchError,
    RequirementError,
    SingularModelError,
    Start,
    UnconnectedInputError,
)
from acausal.components import blocks, rotational, thermal, translational
from acausal.components.electrical import (
    Capacitor,
    ConstantCurrent,
    ConstantVoltage,
    Ground,
    IdealOpAmp,
    Inductor,
    Resistor,
)
from acausal.components.electromechanical import RotationalEMF
from acausal.components.rotational import ConstantSpeed, ConstantTorque, Fixed, IdealGear, Inertia

from .broken_models import Broken

BYSTANDERS = ("bystander", "witness")


def electrical() -> Circuit:
    """A circuit with a charged capacitor on a resistor, and a ground."""
    c = Circuit()
    c.add("ground", Ground())
    c.add("bystander", Capacitor(C=1e-6, v=1.0))
    c.add("witness", Resistor(R=1e3))
    c.connect(c.bystander.p, c.witness.p)
    c.connect(c.bystander.n, c.witness.n, c.ground.p)
    return c


def mechanical() -> Circuit:
    """A drive train that swings by itself."""
    c = Circuit()
    c.add("bystander", Inertia(J=1.0, w=1.0))
    c.add("witness", rotational.Spring(c=2.0))
    housing = c.add("housing", Fixed())
    c.connect(c.bystander.flange_b, c.witness.flange_a)
    c.connect(c.witness.flange_b, housing.flange)
    return c


# -- sources -----------------------------------------------------------------------------------------------------------


def parallel_sources() -> Component:
    c = electrical()
    a, b, load = (
        c.add("a", ConstantVoltage(V=1.0)),
        c.add("b", ConstantVoltage(V=2.0)),
        c.add("load", Resistor(R=1.0)),
    )
    c.connect(a.p, b.p, load.p)  # <-
    c.connect(a.n, b.n, load.n, c.ground.p)  # <-
    return c


def series_sources() -> Component:
    c = electrical()
    a, b, load = (
        c.add("a", ConstantCurrent(I=1.0)),
        c.add("b", ConstantCurrent(I=2.0)),
        c.add("load", Resistor(R=1.0)),
    )
    c.connect(a.n, b.p)  # <-
    c.connect(b.n, load.p)
    c.connect(load.n, a.p, c.ground.p)
    return c


def open_source() -> Component:
    c = electrical()
    a = c.add("a", ConstantCurrent(I=1.0))
    c.connect(a.n, c.ground.p)
    return c


def speeds_on_a_flange() -> Component:
    c = mechanical()
    a, b, load = (
        c.add("a", ConstantSpeed(w_fixed=10.0)),
        c.add("b", ConstantSpeed(w_fixed=20.0)),
        c.add("load", Inertia(J=1.0)),
    )
    c.connect(a.flange, b.flange, load.flange_a)  # <-
    return c


def positions_at_a_flange() -> Component:
    c = Circuit()
    a = c.add("a", translational.Position(s_ref=1.0))
    b = c.add("b", translational.Position(s_ref=2.0))
    load = c.add("load", translational.Mass(m=1.0, s=1.0))
    c.connect(a.flange, b.flange, load.flange_a)  # <-
    return c


def walls_apart() -> Component:
    c = Circuit()
    a, b = c.add("a", translational.Fixed()), c.add("b", translational.Fixed(s0=1.0))
    load = c.add("load", translational.Mass(m=1.0))
    c.connect(a.flange, load.flange_a)
    c.connect(load.flange_b, b.flange)
    return c


def temperatures_at_a_port() -> Component:
    c = Circuit()
    a, b = c.add("a", thermal.FixedTemperature(T=300.0)), c.add("b", thermal.FixedTemperature(T=400.0))
    body, path = c.add("body", thermal.HeatCapacitor(C=1.0)), c.add("path", thermal.ThermalConductor(G=1.0))
    c.connect(a.port, b.port, path.port_a)  # <-
    c.connect(path.port_b, body.port)
    return c


# -- gears ---------------------------------------------------------------------------------------------------------------


def locked_gears() -> Component:
    """A drive on two gears of different ratio side by side, which can only stand still."""
    c = mechanical()
    drive, load = c.add("drive", ConstantSpeed(w_fixed=10.0)), c.add("load", Inertia(J=1.0))
    first, second = c.add("first", IdealGear(ratio=2.0)), c.add("second", IdealGear(ratio=3.0))
    c.connect(drive.flange, first.flange_a, second.flange_a)
    c.connect(first.flange_b, second.flange_b, load.flange_a)
    return c


def locked_gears_that_turn() -> Component:
    """The same without a drive, with a speed that is said to hold."""
    c = mechanical()
    shaft, load = c.add("shaft", Inertia(J=1.0, w=Start(5.0, fixed=True))), c.add("load", Inertia(J=1.0))
    first, second = c.add("first", IdealGear(ratio=2.0)), c.add("second", IdealGear(ratio=3.0))
    c.connect(shaft.flange_b, first.flange_a, second.flange_a)
    c.connect(first.flange_b, second.flange_b, load.flange_a)
    return c


def nearly_inverse_gears() -> Component:
    """Three and its inverse with nine digits: not an inverse."""
    c = mechanical()
    drive, load = c.add("drive", ConstantSpeed(w_fixed=10.0)), c.add("load", Inertia(J=1.0))
    first, second = c.add("first", IdealGear(ratio=3.0)), c.add("second", IdealGear(ratio=0.333333333))
    c.connect(drive.flange, first.flange_a, second.flange_b)
    c.connect(first.flange_b, second.flange_a, load.flange_a)
    return c


def gear_on_nothing() -> Component:
    """A torque on a gear with nothing behind it."""
    c = mechanical()
    torque, gear = c.add("torque", ConstantTorque(tau_constant=5.0)), c.add("gear", IdealGear(ratio=2.0))
    c.connect(torque.flange, gear.flange_a)
    return c


def floating_mass() -> Component:
    """Nothing holds a mass of zero: any position will do."""
    c = Circuit()
    mass, load = c.add("mass", translational.Mass(m=0.0)), c.add("load", translational.Mass(m=1.0))
    spring = c.add("spring", translational.Spring(c=2.0))
    c.connect(load.flange_b, spring.flange_a)
    del mass
    return c


def massless_gear() -> Component:
    """Two gears without inertia between two torques that cancel: any speed will do."""
    c = mechanical()
    left, right = c.add("left", rotational.Torque(tau=1.0)), c.add("right", rotational.Torque(tau=-2.0))
    gear, meter = c.add("gear", IdealGear(ratio=2.0)), c.add("meter", rotational.SpeedSensor())
    c.connect(left.flange, gear.flange_a)
    c.connect(right.flange, gear.flange_b, meter.flange)
    return c


# -- starts --------------------------------------------------------------------------------------------------------------


def charged_capacitors() -> Component:
    c = electrical()
    a, b = (
        c.add("a", Capacitor(C=1e-6, v=Start(1.0, fixed=True))),
        c.add("b", Capacitor(C=1e-6, v=Start(2.0, fixed=True))),
    )
    load = c.add("load", Resistor(R=1.0))
    c.connect(a.p, b.p, load.p)
    c.connect(a.n, b.n, load.n, c.ground.p)
    return c


def inductors_in_series() -> Component:
    c = electrical()
    a, b = (
        c.add("a", Inductor(L=1e-3, i=Start(1.0, fixed=True))),
        c.add("b", Inductor(L=1e-3, i=Start(2.0, fixed=True))),
    )
    load = c.add("load", Resistor(R=1.0))
    c.connect(a.n, b.p)
    c.connect(b.n, load.p)
    c.connect(load.n, a.p, c.ground.p)
    return c


def capacitor_on_a_source() -> Component:
    c = electrical()
    a, b = c.add("a", ConstantVoltage(V=5.0)), c.add("b", Capacitor(C=1e-6, v=Start(2.0, fixed=True)))
    c.connect(a.p, b.p)
    c.connect(a.n, b.n, c.ground.p)
    return c


# -- signals, connections and parameters ----------------------------------------------------------------------------------


def shifted_loop() -> Component:
    """``y = y + 1``."""
    c = Circuit()
    add, lag = c.add("shift", blocks.Add(u2=1.0)), c.add("lag", blocks.FirstOrder(T=1.0, u=1.0))
    c.connect(add.y, add.u1)
    del lag
    return c


def open_input() -> Component:
    c = Circuit()
    c.add("lag", blocks.FirstOrder(T=1.0, u=1.0))
    c.add("gain", blocks.Gain(k=2.0))  # <-
    return c


def amplifier_without_feedback() -> Component:
    """The output of an ideal amplifier acts on nothing."""
    c = electrical()
    source, opamp, load = (
        c.add("source", ConstantVoltage(V=1.0)),
        c.add("opamp", IdealOpAmp()),
        c.add("load", Resistor(R=1.0)),
    )
    c.connect(source.p, opamp.in_p)
    c.connect(source.n, opamp.in_n, opamp.out_n, load.n, c.ground.p)
    c.connect(opamp.out_p, load.p)
    return c


def unlike_ports() -> Component:
    c = electrical()
    mass = c.add("mass", Inertia(J=1.0))
    c.connect(mass.flange_a, c.witness.p)  # <-
    return c


def no_value() -> Component:
    c = electrical()
    c.add("load", Resistor())
    return c


def negative_mass() -> Component:
    return translational.Mass(m=-1.0)


def negative_inductance() -> Component:
    return Inductor(L=-1e-3)


def negative_capacitance() -> Component:
    return Capacitor(C=-1e-6)


def ratio_of_zero() -> Component:
    c = mechanical()
    drive, gear = c.add("drive", ConstantSpeed(w_fixed=10.0)), c.add("gear", IdealGear(ratio=0.0))
    c.connect(drive.flange, gear.flange_a)
    return c


def machine_constant_of_zero() -> Component:
    """A source on a machine that induces nothing, whatever its speed."""
    c = electrical()
    source, emf = c.add("source", ConstantVoltage(V=5.0)), c.add("emf", RotationalEMF(k=0.0))
    rotor = c.add("rotor", Inertia(J=0.1))
    c.connect(source.p, emf.p)
    c.connect(source.n, emf.n, c.ground.p)
    c.connect(emf.flange, rotor.flange_a)
    return c


NETWORKS = {
    "sources in parallel": Broken(
        parallel_sources,
        ContradictionError,
        ("Eq(v, V) at a ", "Eq(v, V) at b "),
        (*BYSTANDERS, "at load"),
        "parallel",
        "1 = 0",
    ),
    "sources in series": Broken(
        series_sources,
        ContradictionError,
        ("Eq(i, I) at a ", "Eq(i, I) at b "),
        (*BYSTANDERS, "at load"),
        "series",
        "1 = 0",
    ),
    "a source on nothing": Broken(
        open_source, ContradictionError, ("Eq(i, I) at a ", "`a.p.i`"), BYSTANDERS, "connect `a.p`", "1 = 0"
    ),
    "two speeds on a flange": Broken(
        speeds_on_a_flange,
        ContradictionError,
        ("Eq(der(phi), w_fixed) at a ", "Eq(der(phi), w_fixed) at b "),
        (*BYSTANDERS, "at load"),
        "prescription",
        "10 = 0",
    ),
    "two positions at a flange": Broken(
        positions_at_a_flange,
        ContradictionError,
        ("Eq(a.s_ref, 1)", "Eq(b.s_ref, 2)"),
        ("at load",),
        "same quantity",
        "1 = 0",
    ),
    "walls apart": Broken(
        walls_apart,
        ContradictionError,
        ("Eq(flange.s, s0) at a ", "Eq(flange.s, s0) at b "),
        (),
        "same quantity",
        "1 = 0",
    ),
    "two temperatures at a port": Broken(
        temperatures_at_a_port,
        ContradictionError,
        ("Eq(port.T, T) at a ", "Eq(port.T, T) at b "),
        ("at body", "at path"),
        "same quantity",
        "100 = 0",
    ),
    "gears that lock": Broken(
        locked_gears,
        ContradictionError,
        ("at drive ", "at first ", "at second "),
        (*BYSTANDERS, "at load"),
        "ratio",
    ),
    "locked gears that turn": Broken(
        locked_gears_that_turn,
        InitializationError,
        ("`shaft.w` = 5", "at first ", "at second "),
        BYSTANDERS,
        "fixed",
    ),
    "gears nearly inverse": Broken(
        nearly_inverse_gears,
        ContradictionError,
        ("at drive ", "at first ", "at second "),
        (*BYSTANDERS, "at load"),
        "digits",
    ),
    "a torque on nothing": Broken(
        gear_on_nothing,
        ContradictionError,
        ("torque", "gear.flange_b"),
        BYSTANDERS,
        "connect `gear.flange_b`",
    ),
    "a mass of zero": Broken(
        floating_mass,
        SingularModelError,
        ("`mass.v`", "Eq(m*der(v)"),
        ("`load", "at load", "at spring"),
        "`m` in Eq(m*der(v)",
    ),
    "gears without inertia": Broken(
        massless_gear, SingularModelError, ("flange.phi`", "at gear "), BYSTANDERS, "inertia"
    ),
    "charged capacitors": Broken(
        charged_capacitors,
        InitializationError,
        ("`a.v` = 1", "`b.v` = 2"),
        (*BYSTANDERS, "`b.v` = `a.v`"),
        "fixed",
    ),
    "inductors in series": Broken(
        inductors_in_series, InitializationError, ("`a.i` = 1", "`b.i` = 2"), BYSTANDERS, "fixed"
    ),
    "a capacitor on a source": Broken(
        capacitor_on_a_source, InitializationError, ("`b.v` = 2", "`b.v` = 5"), BYSTANDERS, "fixed"
    ),
    "a loop that adds": Broken(
        shifted_loop, ContradictionError, ("at shift", "Eq(shift.u1, shift.y)"), ("lag",), "a gain", "1 = 0"
    ),
    "an input without value": Broken(
        open_input, UnconnectedInputError, ("`u`", "`gain`"), ("lag",), "Gain(u=...)"
    ),
    "an amplifier without feedback": Broken(
        amplifier_without_feedback,
        ContradictionError,
        ("at opamp", "at source "),
        (*BYSTANDERS, "at load"),
        "one given quantity",
    ),
    "unlike ports": Broken(
        unlike_ports, PortMismatchError, ("`mass.flange_a`", "`witness.p`"), ("bystander",), "one type"
    ),
    "a parameter without value": Broken(no_value, DeclarationError, ("`R`", "Resistor"), BYSTANDERS, "R=..."),
    "a negative mass": Broken(negative_mass, ParameterError, ("`m`", "-1"), (), ""),
    "a negative inductance": Broken(negative_inductance, ParameterError, ("`L`", "-0.001"), (), ""),
    "a negative capacitance": Broken(negative_capacitance, ParameterError, ("`C`", "-1e-06"), (), ""),
    "a ratio of zero": Broken(
        ratio_of_zero,
        RequirementError,
        ("`ratio`", "at gear "),
        (*BYSTANDERS, "at drive "),
        "change the parameters",
    ),
    "a machine constant of zero": Broken(
        machine_constant_of_zero,
        ContradictionError,
        ("at emf ", "at source "),
        (*BYSTANDERS, "at rotor"),
        "the factor `k`",
    ),
}
