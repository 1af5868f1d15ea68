"""What a package of components declares."""

from inspect import isclass
from types import ModuleType

from acausal.modeling import Component, Port


def classes(package: ModuleType) -> list[type[Component | Port]]:
    """All components and ports of a package, partial ones included."""
    return [c for c in vars(package).values() if isclass(c) and issubclass(c, (Component, Port))]
