"""One law, two domains: what a rotational component says of angle and torque its twin says of position and force."""

import re
from collections.abc import Iterator

import pytest

import acausal.components.rotational as rotational
import acausal.components.translational as translational
from acausal.components.mechanics_1d import characteristic, quadratic_in_speed
from acausal.modeling import Component, Eq, Expr, Parameter, Statement, Structural
from acausal.modeling.fields import active
from acausal.modeling.statements import Initially, Named, Require

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
