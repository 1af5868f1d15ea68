"""What every electromechanical component declares."""

import pytest

import acausal.components.electromechanical as electromechanical
from acausal.modeling import Structural
from tests.components.declarations import classes


@pytest.mark.parametrize("cls", classes(electromechanical), ids=lambda c: c.__name__)
def test_fields_have_a_unit_and_a_description(cls) -> None:
    assert [name for name, field in cls._fields.items() if not field.doc] == []
    assert [
        n for n, field in cls._fields.items() if not field.unit and not isinstance(field, Structural)
    ] == []
