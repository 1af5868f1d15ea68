"""What every thermal component declares."""

import pytest

import acausal.components.thermal as thermal
from acausal.components.thermal import FixedTemperature
from acausal.modeling import Structural
from tests.components.declarations import classes


@pytest.mark.parametrize("cls", classes(thermal), ids=lambda c: c.__name__)
def test_fields_have_a_unit_and_a_description(cls) -> None:
    assert [name for name, field in cls._fields.items() if not field.doc] == []
    assert [
        n for n, field in cls._fields.items() if not field.unit and not isinstance(field, Structural)
    ] == []


def test_the_power_of_a_heat_port_is_its_heat_flow() -> None:
    assert str(FixedTemperature(T=300.0).port.power()) == "port.Q_flow"
