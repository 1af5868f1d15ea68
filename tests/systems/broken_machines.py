"""Broken drives, machines and thermal networks: what holds, drives or heats the same thing twice, or nothing at all."""

from acausal import (
    BalanceError,
    Circuit,
    Component,
    ContradictionError,
    InitializationError,
    PortMismatchError,
    SingularModelError,
    Start,
    Variable,
)
from acausal.components import rotational, thermal, translational
from acausal.components.electrical import ConstantVoltage, Ground, Resistor
from acausal.components.electromechanical import DC_PermanentMagnet, RotationalEMF
from acausal.components.rotational import ConstantSpeed, IdealBelt, IdealGear, IdealGearR2T, Inertia

from .broken_models import Broken


class Blank(Component):
    """A component that states nothing."""

    x = Variable()


def motor() -> Circuit:
    """A machine on a source."""
    c = Circuit()
    source, ground = c.add("source", ConstantVoltage(V=12.0)), c.add("ground", Ground())
    dynamo = c.add("dynamo", DC_PermanentMagnet())
    c.connect(source.p, dynamo.pin_ap)
    c.connect(source.n, dynamo.pin_an, ground.p)
    return c


def grounds_apart() -> Component:
    c = Circuit()
    source, load = c.add("source", ConstantVoltage(V=5.0)), c.add("load", Resistor(R=1.0))
    left, right = c.add("left", Ground()), c.add("right", Ground())
    c.connect(source.p, load.p, left.p)  # <-
    c.connect(source.n, load.n, right.p)  # <-
    return c


def locked_motor() -> Component:
    c = motor()
    lock, drive = c.add("lock", rotational.Fixed()), c.add("drive", ConstantSpeed(w_fixed=10.0))
    c.connect(c.dynamo.flange, lock.flange, drive.flange)  # <-
    return c


def two_speeds_through_a_gear() -> Component:
    c = motor()
    gear, fast, slow = (
        c.add("gear", IdealGear(ratio=2.0)),
        c.add("fast", ConstantSpeed(w_fixed=10.0)),
        c.add("slow", ConstantSpeed(w_fixed=10.0)),
    )
    c.connect(c.dynamo.flange, fast.flange, gear.flange_a)  # <-
    c.connect(gear.flange_b, slow.flange)  # <-
    return c


def belts() -> Component:
    c = motor()
    near, far = (
        c.add("near", IdealBelt(radius_a=0.1, radius_b=0.2)),
        c.add("far", IdealBelt(radius_a=0.1, radius_b=0.3)),
    )
    drive, load = c.add("drive", ConstantSpeed(w_fixed=10.0)), c.add("load", Inertia(J=1.0))
    c.connect(drive.flange, near.flange_a, far.flange_a)  # <-
    c.connect(near.flange_b, far.flange_b, load.flange_a)  # <-
    return c


def racks() -> Component:
    c = motor()
    shaft = c.add("shaft", Inertia(J=1.0, w=Start(1.0, fixed=True)))  # <-
    fine, coarse = c.add("fine", IdealGearR2T(ratio=10.0)), c.add("coarse", IdealGearR2T(ratio=20.0))
    rail = c.add("rail", translational.Mass(m=1.0))
    c.connect(shaft.flange_b, fine.flangeR, coarse.flangeR)
    c.connect(fine.flangeT, coarse.flangeT, rail.flange_a)
    return c


def shorted_and_driven() -> Component:
    c = motor()
    emf, shaft = c.add("emf", RotationalEMF(k=1.0)), c.add("shaft", ConstantSpeed(w_fixed=1.0))
    c.connect(emf.p, emf.n, c.ground.p)  # <-
    c.connect(emf.flange, shaft.flange)  # <-
    return c


def torque_on_no_inertia() -> Component:
    c = motor()
    torque, disc = c.add("torque", rotational.ConstantTorque(tau_constant=1.0)), c.add("disc", Inertia(J=0.0))
    c.connect(torque.flange, disc.flange_a)  # <-
    return c


def mass_between_walls() -> Component:
    c = Circuit()
    left, right = c.add("left", translational.Fixed()), c.add("right", translational.Fixed())
    mass = c.add("mass", translational.Mass(m=1.0, v=Start(1.0, fixed=True)))  # <-
    c.connect(left.flange, mass.flange_a)
    c.connect(mass.flange_b, right.flange)
    return c


def flange_on_flange() -> Component:
    c = Circuit()
    mass, shaft = c.add("mass", translational.Mass(m=1.0)), c.add("shaft", Inertia(J=1.0))
    c.connect(mass.flange_a, shaft.flange_a)  # <-
    return c


def heat_in_series() -> Component:
    c = Circuit()
    left, right = (
        c.add("left", thermal.FixedHeatFlow(Q_flow=10.0)),
        c.add("right", thermal.FixedHeatFlow(Q_flow=20.0)),
    )
    wall = c.add("wall", thermal.ThermalConductor(G=2.0))
    c.connect(left.port, wall.port_a)  # <-
    c.connect(wall.port_b, right.port)  # <-
    return c


def heated_and_held() -> Component:
    c = Circuit()
    room = c.add("room", thermal.FixedTemperature(T=300.0))
    iron = c.add("iron", thermal.HeatCapacitor(C=10.0, T=Start(400.0, fixed=True)))  # <-
    c.connect(room.port, iron.port)
    return c


def sensor_on_nothing() -> Component:
    c = motor()
    c.add("meter", rotational.SpeedSensor())
    return c


MACHINES = {
    "two grounds with a source between": Broken(
        grounds_apart,
        ContradictionError,
        ("Eq(v, V) at source", "through `left`, `right`", "5 = 0"),
        ("load",),
        "points that are one",
    ),
    "a motor that is locked and driven": Broken(
        locked_motor,
        ContradictionError,
        ("contradict each other: Eq(der(phi), w_fixed) at drive", "Eq(flange.phi, phi0) at lock"),
        ("source.",),
        "same quantity",
    ),
    "two speeds through a gear": Broken(
        two_speeds_through_a_gear,
        ContradictionError,
        ("w_fixed) at fast", "w_fixed) at slow", "at gear"),
        ("dynamo.pin", "load"),
        "same quantity",
    ),
    "belts that lock": Broken(
        belts,
        ContradictionError,
        ("contradict each other: Eq(radius_a*flange_a.phi, radius_b*flange_b.phi) at near",),
        ("dynamo", "load.J"),
        "the factors `radius_a` of `near`, `radius_b` of `near`, `radius_a` of `far`, `radius_b` of `far`",
    ),
    "racks that lock": Broken(
        racks,
        InitializationError,
        ("`shaft.w` = 1", "at fine", "at coarse"),
        ("dynamo",),
        "drop `fixed`",
        "`shaft.w` = 0",
    ),
    "a machine that is shorted and driven": Broken(
        shorted_and_driven,
        ContradictionError,
        ("Eq(der(phi), w_fixed) at shaft", "through `emf`"),
        ("dynamo", "source.v"),
        "points that are one",
    ),
    "a torque on no inertia": Broken(
        torque_on_no_inertia,
        ContradictionError,
        (
            "contradict each other: Eq(J*der(w), flange_a.tau + flange_b.tau) at disc",
            "-tau_constant) at torque",
        ),
        ("dynamo",),
        "the factor `J`",
    ),
    "a moving mass between walls": Broken(
        mass_between_walls, InitializationError, ("`mass.v` = 1",), (), "drop `fixed`", "`mass.v` = 0"
    ),
    "flanges of two kinds": Broken(
        flange_on_flange,
        PortMismatchError,
        ("`mass.flange_a`, a translational.Flange", "`shaft.flange_a`, a rotational.Flange"),
        (),
        "ports of one type",
    ),
    "heat flows in series": Broken(
        heat_in_series,
        ContradictionError,
        ("at left", "at right", "at wall", "30 = 0"),
        ("alpha)` ", "is zero"),
        "same quantity",
    ),
    "a hot body on a cold source": Broken(
        heated_and_held,
        InitializationError,
        ("`iron.T` = 400", "at room"),
        (),
        "drop `fixed`",
        "`iron.T` = 300",
    ),
    "a sensor on nothing": Broken(
        sensor_on_nothing,
        SingularModelError,
        ("`meter.flange.phi`, `meter.w`",),
        ("dynamo",),
        "port `flange` of `meter` is not connected to anything",
    ),
    "no equations": Broken(
        Blank,
        BalanceError,
        ("Blank", "no method equations()", "broken_machines.py", "`x`"),
        (),
        "def equations(self)",
    ),
}
