"""One law, two domains: what a rotational component says of angle and torque its twin says of position and force."""

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import acausal.components.rotational as rotational
import acausal.components.translational as translational
from acausal.components.mechanics_1d import characteristic, quadratic_in_speed
from acausal.modeling import Component, Eq, Expr, Parameter, Statement, Structural
from acausal.modeling.fields import active
from acausal.modeling.statements import Initially, Named, Require
from tests.components.signals import run

WORDS = {
    "phi": "s",
    "tau": "f",
    "w": "v",
    "angle": "position",
    "Angle": "Position",
    "torque": "force",
    "Torque": "Force",
}
UNITS = {"rad": "m", "N.m": "N", "kg.m2": "kg"}
TWINS = {
    name: re.sub("Torque", "Force", re.sub("Angle", "Position", name))
    for name in (
        "AccSensor", "Accelerate", "AngleSensor", "ConstantSpeed", "ConstantTorque", "CoulombFriction", "CubicSpring",
        "Damper", "EddyCurrentTorque", "Fixed", "Flange", "InitializeFlange", "LinearSpeedDependentTorque", "MultiSensor",
        "PartialCompliant", "PartialCompliantWithRelativeStates", "Position", "PowerSensor", "QuadraticSpeedDependentTorque",
        "RelAccSensor", "RelAngleSensor", "RelSpeedSensor", "SignTorque", "Speed", "SpeedSensor", "Spring", "SpringDamper",
        "TableSpring", "Torque", "Torque2", "TorqueSensor", "TorqueStep",
    )
}  # fmt: skip


def translated(text: str) -> str:
    """The words of translational mechanics for those of rotational mechanics, in names and expressions."""
    for word, twin in WORDS.items():
        text = re.sub(rf"(?<![A-Za-z]){word}(?![a-z])", twin, text)
    return re.sub(r"(step|offset)Torque", r"\1Force", text).replace("TorqueDirection", "ForceDirection")


def unit(text: str) -> str:
    """A unit of rotational mechanics with rad and N.m replaced."""
    for own, twin in UNITS.items():
        text = text.replace(own, twin)
    return text


def said(cls: type[Component]) -> list[str]:
    """The statements of a component of its default structure."""
    given = {
        n: ((0.0, 0.0), (1.0, 2.0))
        for n, f in cls._fields.items()
        if isinstance(f, Structural) and f.type is tuple
    }
    obj = cls(**given)
    obj.ensure_built()
    active.stack.append(obj)
    try:
        return [text for statement in obj.equations() for text in lines(statement)]
    finally:
        active.stack.pop()


def lines(statement: Statement) -> Iterator[str]:
    if isinstance(statement, Eq):
        yield f"{statement.lhs} = {statement.rhs}"
    elif isinstance(statement, Initially):
        yield from (f"initially {line}" for line in lines(statement.equation))
    elif isinstance(statement, Require):
        yield f"require {statement.condition}"
    elif isinstance(statement, Named):
        yield from (f"{b.name}: {r} = 0" for b in statement.table().branches for r in b.residuals)


@pytest.mark.parametrize("name", [n for n in TWINS if n != "Flange"])
def test_twins_say_the_same(name: str) -> None:
    own, twin = getattr(rotational, name), getattr(translational, TWINS[name])
    assert [translated(line) for line in said(own)] == said(twin)


@pytest.mark.parametrize("name", TWINS)
def test_twins_declare_the_same(name: str) -> None:
    own, twin = getattr(rotational, name)._fields, getattr(translational, TWINS[name])._fields
    assert {translated(n): (type(f), unit(f.unit)) for n, f in own.items()} == {
        n: (type(f), f.unit) for n, f in twin.items()
    }
    for n, field in own.items():
        if isinstance(field, (Parameter, Structural)):
            assert field.default == twin[translated(n)].default


def test_a_characteristic_needs_no_point_outside() -> None:
    assert str(characteristic(Expr("time"), ((0.0, 0.0), (1.0, 2.0), (2.0, 3.0)))).count("min") == 1
    assert "no_event" in str(quadratic_in_speed(Expr("time"), Expr("time"), same_direction=False))


BETWEEN = (("part.flange_a", "fixed.flange"), ("part.flange_b", "body.flange_a"))
ON = (("part.flange", "body.flange_a"),)
MODELS: dict[str, tuple[tuple, dict[str, Any]]] = {
    "Spring": (BETWEEN, {"c": 3.0, "phi_rel0": 0.2}),
    "SpringDamper": (BETWEEN, {"c": 3.0, "d": 0.5}),
    "Damper": (BETWEEN, {"d": 0.5}),
    "CubicSpring": (BETWEEN, {"c": 3.0, "c3": 5.0}),
    "TableSpring": (BETWEEN, {"table": ((-1.0, -1.0), (0.0, 0.0), (0.3, 2.0))}),
    "CoulombFriction": (BETWEEN, {"tau_coulomb": 0.7}),
    "ConstantTorque": (ON, {"tau_constant": -2.0}),
    "TorqueStep": (ON, {"stepTorque": -2.0, "startTime": 1.0}),
    "LinearSpeedDependentTorque": (ON, {"tau_nominal": -2.0, "w_nominal": 3.0, "TorqueDirection": False}),
    "QuadraticSpeedDependentTorque": (ON, {"tau_nominal": -2.0, "w_nominal": 3.0}),
    "SignTorque": (ON, {"tau_nominal": -0.6}),
    "EddyCurrentTorque": (ON, {"tau_nominal": 2.0, "w_nominal": 1.0}),
    "InitializeFlange": (ON, {"phi_start": 0.3, "w_start": 1.5, "use_a_start": False}),
}


@pytest.mark.parametrize("name", MODELS)
def test_twins_move_the_same(name: str) -> None:
    """The rotational one is compared with closed forms elsewhere; numbers and path are the same, not only near."""
    joined, given = MODELS[name]
    twin = {translated(key): value for key, value in given.items()}
    turning = run(
        3.0,
        *joined,
        part=getattr(rotational, name)(**given),
        fixed=rotational.Fixed(),
        body=rotational.Inertia(J=0.8, w=1.5),
    )
    sliding = run(
        3.0,
        *joined,
        part=getattr(translational, TWINS[name])(**twin),
        fixed=translational.Fixed(),
        body=translational.Mass(m=0.8, v=1.5),
    )
    t = np.linspace(0.0, 3.0, 31)
    assert sliding["body.v"].at(t) == pytest.approx(turning["body.w"].at(t), abs=1e-12)
    assert sliding["body.s"].at(t) == pytest.approx(turning["body.phi"].at(t), abs=1e-12)
    assert sliding.modes[0].path == turning.modes[0].path


def test_a_rod_keeps_its_length() -> None:
    result = run(
        2.0,
        ("force.flange", "a.flange_a"),
        ("a.flange_b", "rod.flange_a"),
        ("rod.flange_b", "b.flange_a"),
        force=translational.ConstantForce(f_constant=6.0),
        a=translational.Mass(m=1.0, L=0.2),
        rod=translational.Rod(L=0.5),
        b=translational.Mass(m=2.0, L=0.4, s=0.8),
    )
    t = np.linspace(0.0, 2.0, 21)
    assert result["b.s"].at(t) == pytest.approx(0.8 + t**2, rel=1e-12)
    assert result["b.s"].at(t) - result["a.s"].at(t) == pytest.approx(np.full_like(t, 0.8), rel=1e-12)
    assert result["rod.flange_a.f"].at(t) == pytest.approx(np.full_like(t, 4.0), rel=1e-12)
