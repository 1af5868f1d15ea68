"""An empty model that scripts fill."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any, TypeVar

from ..errors import DeclarationError
from .component import Component, existing_parts
from .statements import Statement, connect

C = TypeVar("C", bound=Component)


class Circuit(Component):
    """An empty model for scripts: ``c.add("r", Resistor(R=1))``, ``c.connect(a.p, b.n)``."""

    share = False

    def add(self, name: str, component: C) -> C:
        """Add a sub-component under a name and return it.

        Raises
        ------
        DeclarationError
            If the name is taken or is no Python identifier, or the object is no component or lacks a value.
        """
        self.ensure_built()
        if not isinstance(component, Component):
            raise DeclarationError(
                f"add() takes a component object, got {component!r}",
                hint='make an object: add("r", Resistor(R=1.0))',
            )
        component.check_complete(open_numbers=False)
        placed = self.__dict__.setdefault("_placed", {})
        if not placed:
            placed.update((id(part), path) for path, part in self.parts())
        there = placed.get(id(component))
        if there is not None:
            raise DeclarationError(
                f"`{name}` of {type(self).__name__} is the same object as `{there}`",
                where=component.location(),
                hint="make one component for each place",
            )
        if any(part is self for _, part in existing_parts(component)):
            raise DeclarationError(
                f"a {type(self).__name__} cannot be a part of itself, as `{name}`",
                where=self.location(),
                hint="add the parts one by one, or make a second object",
            )
        if not isinstance(name, str):
            raise DeclarationError(
                f"the name of a part is a string, got {name!r}",
                hint='a name is a Python identifier, such as "r1"',
            )
        if name in self.__dict__ or name in self._fields or hasattr(Circuit, name) or not name.isidentifier():
            taken = name.isidentifier()
            raise DeclarationError(
                f"`{name}` {'exists already in' if taken else 'cannot name a part of'} {type(self).__name__}",
                hint="take another name" if taken else "a name is a Python identifier, such as `r1`",
            )
        self.__dict__[name] = component
        self.__dict__["_parts"] = (*self.__dict__["_parts"], name)
        placed[id(component)] = name
        return component

    def connect(self, *ends: Any) -> None:
        """Connect ports or signals; as the function `connect`."""
        self.state(connect(*ends))

    def state(self, *statements: Statement) -> None:
        """Add further statements, such as ``Eq``."""
        frame = sys._getframe(1)
        if frame.f_code.co_name == "connect" and frame.f_code.co_filename == __file__:
            frame = frame.f_back or frame
        for s in statements:
            self.__dict__.setdefault("_statements", []).append((s, (frame.f_code, frame.f_lasti)))

    def equations(self) -> Iterator[Statement]:
        """Yield the recorded statements."""
        for statement, _ in self.__dict__.get("_statements", ()):
            yield statement

    def __getstate__(self) -> dict[str, Any]:
        # Code objects do not pickle: a copy keeps its statements, but not the lines they came from.
        own = ("_origin", "_program", "_placed")
        state = {name: value for name, value in self.__dict__.items() if name not in own}
        if "_statements" in state:
            state["_statements"] = [(statement, None) for statement, _ in state["_statements"]]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if "_statements" in state:
            origin = (type(self).equations.__code__, 0)
            state = {**state, "_statements": [(statement, origin) for statement, _ in state["_statements"]]}
        self.__dict__.update(state)
