"""What every electrical component declares: units and descriptions."""

from inspect import isclass

import pytest

import acausal.components.electrical as electrical
from acausal.components.electrical import OnePort, Pin
from acausal.modeling import Component, Port, Structural

CLASSES = [
    c for c in vars(electrical).values() if isclass(c) and issubclass(c, (Component, Port)) and c._fields
]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_fields_have_a_unit_and_a_description(cls: type[Component | Port]) -> None:
    for name, field in cls._fields.items():
        logical = isinstance(field, Structural) or getattr(field, "type", None) is bool
        assert field.doc, f"{cls.__name__}.{name} has no description"
        assert field.unit or logical, f"{cls.__name__}.{name} has no unit"


def test_a_pin_declares_its_power() -> None:
    part = OnePort()
    assert Pin().name == ""
    assert str(part.p.power()) == "p.v*p.i"
