"""What every block declares."""

import pytest

import acausal.components.blocks as blocks
from tests.components.declarations import classes


@pytest.mark.parametrize("cls", classes(blocks), ids=lambda c: c.__name__)
def test_fields_have_a_description(cls) -> None:
    assert [name for name, field in cls._fields.items() if not field.doc] == []
