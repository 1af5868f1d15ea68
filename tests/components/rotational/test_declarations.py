"""What every rotational component declares."""

import pytest

import acausal.components.rotational as rotational
from acausal.components.rotational import Inertia
from acausal.modeling import Discrete, Structural
from tests.components.declarations import classes


@pytest.mark.parametrize("cls", classes(rotational), ids=lambda c: c.__name__)
def test_fields_have_a_unit_and_a_description(cls) -> None:
    assert [name for name, field in cls._fields.items() if not field.doc] == []
    assert [
        n
        for n, field in cls._fields.items()
        if not field.unit and not isinstance(field, (Discrete, Structural))
    ] == []


def test_a_flange_declares_its_power() -> None:
    assert str(Inertia(J=1.0).flange_a.power()) == "flange_a.tau*der(flange_a.phi)"
