"""What a package of components declares, and how it stands in its reference page."""

import re
from inspect import isclass
from pathlib import Path
from types import ModuleType

from acausal.modeling import Component, Port


def classes(package: ModuleType) -> list[type[Component | Port]]:
    """All components and ports of a package, partial ones included."""
    return [c for c in vars(package).values() if isclass(c) and issubclass(c, (Component, Port))]


def final(package: ModuleType) -> list[str]:
    """Names of the components that have a meaning alone."""
    partial = re.compile(r"Partial|Flange$|(Boolean)?S[IO](2?SO)?$")
    return sorted(c.__name__ for c in classes(package) if not partial.match(c.__name__))


def referenced(page: Path) -> list[list[str]]:
    """Component names in each section of a reference page, read from its tables."""
    sections = page.read_text(encoding="utf-8").split("\n## ")
    return [re.findall(r"^\| `(\w+)` ", section, re.MULTILINE) for section in sections]
