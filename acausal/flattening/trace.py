"""Trace a class once per structural key.

``build()`` and ``equations()`` run on one object per key; what they yield is
sorted into its template over the local numbering of that.
"""

from __future__ import annotations

from typing import Any

from ..errors import DeclarationError, Location
from ..modeling.component import Component, existing_parts
from ..modeling.fields import Start, Structural, active
from .balance import check_balance
from .grouping import computed_names, group_children, own_layout
from .statements import StatementSorter
from .template import Template

MAX_DEPTH = 100
"""Levels of composites within each other."""


class Tracer:
    """Keeps the templates of one flattening, by key."""

    def __init__(self) -> None:
        self.templates: dict[tuple[Any, ...], Template] = {}
        self.path: list[str] = []
        """Steps from the root to the object being traced: the first instance of its class."""
        self._tracing: dict[tuple[Any, ...], str] = {}

    def place(self, obj: Component) -> str:
        """Return the path of the object being traced, the class name for the root."""
        return ".".join(self.path) or type(obj).__name__

    def template(self, obj: Component) -> Template:
        """Return the template of an object, tracing its class if the key is new.

        Raises
        ------
        DeclarationError
            If a component contains itself.
        """
        cls = type(obj)
        structural = tuple(
            vars(obj).get(n, f.default) for n, f in cls._fields.items() if isinstance(f, Structural)
        )
        key = (cls, structural, computed_names(obj), None if _shared(obj) else id(obj))
        found = self.templates.get(key)
        if found is None:
            if key in self._tracing or len(self.path) > MAX_DEPTH:
                inside = self._tracing.get(key) or f"{MAX_DEPTH} levels above"
                raise DeclarationError(
                    f"{cls.__name__} contains itself: `{'.'.join(self.path)}` stands inside {inside}",
                    where=tuple(Location(".".join(self.path), p.file, p.line) for p in obj.location()),
                    hint="a chain of parts is a list: self.cells = [Cell(...) for _ in range(n)]",
                )
            self._tracing[key] = f"`{'.'.join(self.path)}`" if self.path else "the model"
            found = self.templates[key] = self._trace(self._representative(obj))
            del self._tracing[key]
        return found

    def _child(self, step: str, obj: Component) -> Template:
        """The template of a part, one step further from the root."""
        self.path.append(step)
        found = self.template(obj)
        self.path.pop()
        return found

    def _representative(self, obj: Component) -> Component:
        """The object to trace: a fresh one with the structural values, or the unshared object itself."""
        if not _shared(obj):
            return obj
        cls = type(obj)
        fresh = cls.__new__(cls)
        for name, f in cls._fields.items():
            if isinstance(f, Structural) and name in obj.__dict__:
                fresh.__dict__[name] = obj.__dict__[name]
        fresh.__dict__.update(dict.fromkeys(computed_names(obj), Start(0.0)))
        return fresh

    def _trace(self, obj: Component) -> Template:
        obj.ensure_built()
        template = Template(type(obj))
        template.keep.append(obj)
        own_layout(template, obj)
        group_children(self._child, template, obj)
        active.stack.append(obj)
        try:
            StatementSorter(template, obj, self.place(obj)).collect()
        finally:
            active.stack.pop()
        check_balance(template, obj, self.place(obj))
        return template


def _shared(obj: Component) -> bool:
    """Whether one trace stands for all objects of the class: no part of this one was rebuilt from outside."""
    return type(obj).share and not any(
        part.restructured for _, part in existing_parts(obj) if part is not obj
    )
