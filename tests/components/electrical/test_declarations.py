"""What every electrical component declares: units, descriptions, laws, and its place in the reference."""

import re
from inspect import isclass
from pathlib import Path

import pytest

import acausal.components.electrical as electrical
from acausal.components.electrical import OnePort, Pin
from acausal.modeling import Component, Port, Structural

CLASSES = [c for c in vars(electrical).values() if isclass(c) and issubclass(c, (Component, Port))]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_fields_have_a_unit_and_a_description(cls: type[Component | Port]) -> None:
    for name, field in cls._fields.items():
        logical = isinstance(field, Structural) or getattr(field, "type", None) is bool
        assert field.doc, f"{cls.__name__}.{name} has no description"
        assert field.unit or logical, f"{cls.__name__}.{name} has no unit"


@pytest.mark.parametrize("cls", CLASSES, ids=lambda c: c.__name__)
def test_classes_stand_in_the_reference(cls: type[Component | Port], root: Path) -> None:
    table = (root / "docs" / "reference" / "electrical.md").read_text(encoding="utf-8")
    rows = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    assert any(f"`{cls.__name__}`" in cells for cells in rows)


def test_the_reference_names_existing_classes_only(root: Path) -> None:
    table = (root / "docs" / "reference" / "electrical.md").read_text(encoding="utf-8")
    first = [line.split("|")[1] for line in table.splitlines() if line.startswith("| `")]
    named = [name for cell in first for name in re.findall(r"`(\w+)`", cell)]
    assert sorted(named) == sorted(c.__name__ for c in CLASSES)


def test_a_pin_declares_its_power() -> None:
    part = OnePort()
    assert Pin().name == ""
    assert str(part.p.power()) == "p.v*p.i"
