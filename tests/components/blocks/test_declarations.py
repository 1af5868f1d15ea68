"""What every block declares, and its place in the reference."""

from pathlib import Path

import pytest

import acausal.components.blocks as blocks
from tests.components.declarations import classes, final, referenced


@pytest.mark.parametrize("cls", classes(blocks), ids=lambda c: c.__name__)
def test_fields_have_a_description(cls) -> None:
    assert [name for name, field in cls._fields.items() if not field.doc] == []


def test_the_reference_holds_all_blocks(root: Path) -> None:
    sections = referenced(root / "docs" / "reference" / "blocks.md")
    assert sorted(sum(sections, [])) == final(blocks)
