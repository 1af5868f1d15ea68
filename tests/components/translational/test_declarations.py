"""What every translational component declares."""

import pytest

import acausal.components.translational as translational
from acausal.components.translational import Mass
from acausal.modeling import Discrete, Structural
from tests.components.declarations import classes


@pytest.mark.parametrize("cls", classes(translational), ids=lambda c: c.__name__)
def test_fields_have_a_unit_and_a_description(cls) -> None:
    assert [name for name, field in cls._fields.items() if not field.doc] == []
    assert [
        n
        for n, field in cls._fields.items()
        if not field.unit and not isinstance(field, (Discrete, Structural))
    ] == []


def test_a_flange_declares_its_power() -> None:
    assert str(Mass(m=1.0).flange_a.power()) == "flange_a.f*der(flange_a.s)"
