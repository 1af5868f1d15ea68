"""Ports with nothing connected are listed where the model runs, and end the error where they leave something open."""

import warnings

import pytest

from acausal import Circuit, SingularModelError, compile_model, simulate
from acausal.components.electrical import ConstantVoltage, Ground, Inductor, Resistor
from acausal.components.electromechanical import RotationalEMF
from acausal.components.planar import Body, FixedTranslation, Prismatic, Revolute, Rod, World
from acausal.components.rotational import Damper, IdealGear, Inertia, SpeedSensor


def drive(*, coupled: bool = True, grounded: bool = True) -> Circuit:
    """A motor on a gear with a load."""
    c = Circuit()
    source, ground = c.add("source", ConstantVoltage(V=12.0)), c.add("ground", Ground())
    winding, field = c.add("winding", Inductor(L=1e-3)), c.add("field", Resistor(R=1.0))
    emf, rotor = c.add("emf", RotationalEMF(k=0.1)), c.add("rotor", Inertia(J=1e-3))
    gear, load = c.add("gear", IdealGear(ratio=10.0)), c.add("load", Inertia(J=0.1))
    c.connect(source.p, winding.p)
    c.connect(winding.n, field.p)
    c.connect(field.n, emf.p)
    c.connect(emf.n, source.n, *([ground.p] * grounded))
    c.connect(emf.flange, rotor.flange_a)
    if coupled:
        c.connect(rotor.flange_b, gear.flange_a)
    c.connect(gear.flange_b, load.flange_a)
    return c


def slider_crank(forgotten: str) -> Circuit:
    """A slider-crank without one of its connections."""
    c = Circuit()
    world, crank = c.add("world", World()), c.add("crank", Revolute(phi=0.5, w=1.0))
    arm, rod = c.add("arm", FixedTranslation(r=(0.3, 0.0))), c.add("rod", Rod(L=1.0))
    slide, piston = c.add("slide", Prismatic(s=1.0)), c.add("piston", Body(m=2.0, I=0.1, g=0.0))
    joints = {
        "crank": (world.frame_b, crank.frame_a),
        "slide": (world.frame_b, slide.frame_a),
        "arm": (crank.frame_b, arm.frame_a),
        "rod": (arm.frame_b, rod.frame_a),
        "tip": (rod.frame_b, slide.frame_b),
        "piston": (slide.frame_b, piston.frame_a),
    }
    for name, ends in joints.items():
        if name != forgotten:
            c.connect(*ends)
    return c


@pytest.mark.parametrize("reduce", [True, False])
def test_the_structure_lists_open_ports(reduce: bool) -> None:
    found = compile_model(drive(coupled=False)).structure(reduce=reduce)
    assert found.open_ports == ("rotor.flange_b", "gear.flange_a", "load.flange_b")
    assert (
        "ports not connected\n  rotor.flange_b\n  gear.flange_a\n  load.flange_b\nsequence" in found.to_text()
    )


def test_a_closed_ring_has_no_open_ports() -> None:
    c = Circuit()
    source, load, ground = (
        c.add("source", ConstantVoltage(V=1.0)),
        c.add("load", Resistor(R=1.0)),
        c.add("ground", Ground()),
    )
    c.connect(source.p, load.p)
    c.connect(source.n, load.n, ground.p)
    found = compile_model(c).structure()
    assert found.open_ports == () and "ports" not in str(found)


def test_a_free_end_is_no_matter_for_a_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = simulate(drive(), 0.01)
    assert result.t_end == 0.01
    assert compile_model(drive()).structure().open_ports == ("load.flange_b",)


def test_a_ground_that_was_forgotten_is_named_beside_what_floats() -> None:
    with pytest.warns(
        UserWarning, match=r"no reference .*; port `p` of `ground` is not connected to anything$"
    ):
        simulate(drive(grounded=False), 0.01)


@pytest.mark.parametrize(
    ("forgotten", "port"),
    [
        ("crank", "`frame_a` of `crank`"),
        ("slide", "`frame_a` of `slide`"),
        ("rod", "`frame_a` of `rod`"),
        ("tip", "`frame_b` of `rod`"),
    ],
)
def test_an_open_joint_ends_the_error(forgotten: str, port: str) -> None:
    with pytest.raises(Exception, match="determine|nonlinear equations") as info:
        simulate(slider_crank(forgotten), 0.1)
    assert str(info.value).endswith(f"; port {port} is not connected to anything")


def test_a_sensor_on_nothing_is_named() -> None:
    c = drive()
    c.add("speed", SpeedSensor())
    with pytest.raises(SingularModelError, match=r"nothing determines `speed\.flange\.phi`") as info:
        simulate(c, 0.1)
    assert info.value.hint.endswith("; port `flange` of `speed` is not connected to anything")


def test_open_ports_of_parts_that_the_error_does_not_name_stay_out_of_it() -> None:
    c = drive()
    c.add("speed", SpeedSensor())
    free = c.add("free", Damper(d=1.0))
    c.connect(c.load.flange_b, free.flange_a)
    with pytest.raises(SingularModelError) as info:
        simulate(c, 0.1)
    assert "free" not in str(info.value)


def test_a_part_alone_says_why_its_ports_are_open() -> None:
    with pytest.warns(UserWarning, match="`v`, for there are fewer equations than unknowns; the smallest"):
        simulate(Resistor(R=1.0), 1.0)
