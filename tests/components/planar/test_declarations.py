"""What every planar component declares."""

import pytest

import acausal.components.planar as planar
from acausal.components.planar import Body
from acausal.modeling import Structural
from tests.components.declarations import classes


@pytest.mark.parametrize("cls", classes(planar), ids=lambda c: c.__name__)
def test_fields_have_a_unit_and_a_description(cls) -> None:
    assert [name for name, field in cls._fields.items() if not field.doc] == []
    assert [
        n for n, field in cls._fields.items() if not field.unit and not isinstance(field, Structural)
    ] == []


def test_a_frame_declares_the_power_of_both_forces_and_the_torque() -> None:
    power = str(Body(m=1.0).frame_a.power())
    assert power == "frame_a.fx*der(frame_a.x) + frame_a.fy*der(frame_a.y) + frame_a.tau*der(frame_a.phi)"
