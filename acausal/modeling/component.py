"""Component: a class of fields, children and equations. An object holds values, never symbols."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from types import CodeType
from typing import Any, dataclass_transform

from ..errors import AcausalError, DeclarationError, Location, UnknownNameError, nearest
from .evaluation import given, number_of
from .expressions import Expr, Symbol, walk
from .fields import MISSING, Field, Parameter, Start, Structural, Variable, active
from .number_checks import is_finite, is_number, shown
from .ports import Port, PortRef, without_value
from .statements import Statement
from .typed_fields import Discrete, Input, Output


def line_of(code: CodeType, lasti: int) -> int:
    """Return the source line of an instruction."""
    return next(
        (line for start, end, line in code.co_lines() if start <= lasti < end and line), code.co_firstlineno
    )


@dataclass_transform(kw_only_default=True, field_specifiers=(Parameter, Structural))
class Component:
    """Base of all models and parts.

    Subclasses declare fields and ports, create children in ``build()`` and
    yield statements in ``equations()``. Both methods are pure and depend on
    declared fields only: a class is traced once for all instances.
    Set ``share = False`` in a class that needs one trace per instance.
    """

    share = True
    _fields: dict[str, Field] = {}
    _ports: dict[str, Port] = {}

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        _check_names((n for n, v in vars(cls).items() if isinstance(v, (Field, Port))), cls.__name__)
        declared: dict[str, Field | Port] = {}
        owners: dict[str, type] = {}
        for base in reversed(cls.__mro__):
            for name, value in vars(base).items():
                if isinstance(value, (Field, Port)):
                    before = declared.get(name, value)
                    if isinstance(before, Field) != isinstance(value, Field):
                        raise _hidden(name, cls, before, owners[name], value, base)
                    declared[name], owners[name] = value, base
        cls._fields = fields = {n: f for n, f in declared.items() if isinstance(f, Field)}
        cls._ports = {n: p for n, p in declared.items() if isinstance(p, Port)}
        cls._required = frozenset(
            n for n, f in fields.items() if isinstance(f, (Parameter, Structural)) and f.default is MISSING
        )
        cls._composite = any("build" in vars(k) for k in cls.__mro__ if k is not Component)

    def __init__(self, *positional: Any, **values: Any) -> None:
        frame = sys._getframe(1)
        own = self.__dict__
        own["_origin"] = (frame.f_code, frame.f_lasti)
        own["_born"] = active.build
        cls = type(self)
        fields = cls._fields
        if positional:
            name = next((n for n in fields if n in cls._required), next(iter(fields), ""))
            raise DeclarationError(
                f"{cls.__name__} takes keywords only, got {shown(positional[0])}",
                where=self.location(),
                hint=f"name the field: {cls.__name__}({name}=...)" if name else "it declares no field",
            )
        for name, value in values.items():
            field = fields.get(name)
            if field is None:
                raise DeclarationError(
                    f"{cls.__name__} has no field `{name}`", where=self.location(), hint=nearest(name, fields)
                )
            own[name] = self._accept(field, value)
        if not cls._required <= values.keys():
            # The model itself may leave numbers to the run; parts are made within a build().
            self.check_complete(open_numbers=not active.stack)

    def check_complete(self, *, open_numbers: bool = False) -> None:
        """Raise DeclarationError if a field without default has no value; ``open_numbers`` are left to the run."""
        own, cls = self.__dict__, type(self)
        missing = [n for n in self._fields if n in cls._required and n not in own]
        if all(open_numbers and isinstance(self._fields[n], Parameter) for n in missing):
            return
        raise DeclarationError(
            f"{cls.__name__} needs `{'`, `'.join(missing)}`",
            where=self.location(),
            hint=f"give it as keyword: {cls.__name__}({', '.join(f'{n}=...' for n in missing)})",
        )

    def _accept(self, field: Field, value: Any) -> Any:
        if isinstance(field, Parameter) and (isinstance(value, Start) or not field.fixed):
            self._check_start(field.computed, value)
        elif isinstance(field, (Parameter, Input)):
            field.check(value, self)
        elif isinstance(field, Structural):
            return field.convert(value, self)
        elif isinstance(field, Output):
            raise DeclarationError(
                f"output `{field.name}` of {type(self).__name__} cannot be given", where=self.location()
            )
        elif isinstance(field, (Variable, Discrete)) and isinstance(value, Expr):
            raise DeclarationError(
                f"`{field.name}` of {type(self).__name__} is a variable: its keyword is a start value, a number",
                where=self.location(),
                hint="state an equation with Eq, or give a number or Start(number, fixed=True)",
            )
        elif isinstance(field, Variable):
            self._check_start(field, value)
        elif isinstance(field, Discrete):
            given = value.value if isinstance(value, Start) else value
            numbers: Iterable[Any] = given if field.shape and isinstance(given, Iterable) else (given,)
            problem = next(filter(None, map(field.problem, numbers)), "")
            if isinstance(value, Start) and value.fixed:
                problem = (
                    "cannot be fixed: a Discrete has it before the first instant, in which it may change"
                )
            if problem:
                raise DeclarationError(
                    f"the start value `{field.name}` of {type(self).__name__} {problem}",
                    where=self.location(),
                )
            return given
        return value

    def _check_start(self, field: Variable, value: Any) -> None:
        given = value.value if isinstance(value, Start) else value
        numbers: Any = given if field.shape and hasattr(given, "__len__") else (given,)
        if not all(isinstance(v, Expr) or (is_number(v) and is_finite(v)) for v in numbers):
            raise DeclarationError(
                f"the start value `{field.name}` of {type(self).__name__} must be a finite number, got {shown(given)}",
                where=self.location(),
            )

    def build(self) -> None:
        """Create the sub-components as attributes: ``self.load = Resistor(R=self.R)``.

        Parameters read as symbols here, structural parameters as their values.
        """

    def equations(self) -> Iterator[Statement]:
        """Yield the statements of this component; a subclass begins with ``yield from super().equations()``."""
        return iter(())

    def location(self) -> tuple[Location, ...]:
        """Return where this object was created."""
        origin = self.__dict__.get("_origin")
        if origin is None:
            return ()
        code, lasti = origin
        return (Location(type(self).__name__, code.co_filename, line_of(code, lasti)),)

    # -- values ------------------------------------------------------------------------------------------------

    def override(self, name: str, value: Any) -> None:
        """Set a parameter after construction."""
        self.__dict__[name] = value
        if not active.stack:
            self.__dict__.setdefault("_overrides", {})[name] = value

    def set_structural(self, field: Structural[Any], value: Any) -> None:
        """Set a structural parameter after construction; the object is built anew."""
        converted = field.convert(value, self)
        if self.__dict__.get("_built"):
            for name in list(self.__dict__.get("_parts", ())):
                del self.__dict__[name]
            self.__dict__["_built"] = False
        self.__dict__[field.name] = converted
        if not active.stack:
            self.__dict__.setdefault("_structure", {})[field.name] = converted

    @property
    def restructured(self) -> dict[str, Any]:
        """Structural parameters that were set after construction."""
        return self.__dict__.get("_structure", {})

    def parameter_value(self, field: Parameter) -> Any:
        """Return the number (nested tuple for an array) of a parameter."""
        return number_of(given(self, field))

    def start_of(self, name: str, field: Field) -> tuple[Any, bool, bool]:
        """Return (start value, fixed, given) of a variable or discrete."""
        value = self.__dict__.get(field.name, MISSING)
        fixed = getattr(field, "fixed", False)
        if value is MISSING:
            return getattr(field, "start", 0.0), fixed, False
        if isinstance(value, Start):
            return value.value, value.fixed, True
        return value, fixed, True

    # -- children ----------------------------------------------------------------------------------------------

    def ensure_built(self) -> None:
        """Run ``build()`` if that has not happened yet."""
        own = self.__dict__
        if own.get("_built"):
            return
        own["_built"] = True
        before = set(own)
        try:
            with active.building(self) as number:
                build: Callable[[], object] = self.build
                given = build()
                if given is not None:
                    raise unbuilt(self, given)
        except RecursionError:
            own["_built"] = False
            raise endless("build", self) from None
        except Exception as error:
            own["_built"] = False
            locate(error, type(self).__name__)
            raise
        own["_parts"] = tuple(n for n in own if n not in before and not n.startswith("_"))
        for name in own["_parts"]:
            own[name] = _bind_ports(own[name], self, name)
        self._check_parts(number)

    def _check_parts(self, number: int) -> None:
        """Every part is made by this run of ``build()``, and stands in one place."""
        seen: dict[int, str] = {}
        for name in self.__dict__["_parts"]:
            for path, part in _components(name, self.__dict__[name]):
                part.__dict__["_within"] = (self, path)
                label = f"`{path}` of {type(self).__name__}"
                if id(part) in seen:
                    raise DeclarationError(
                        f"{label} is the same object as `{seen[id(part)]}`",
                        where=part.location(),
                        hint="create one component for each place: a list needs [Cell(...) for _ in range(n)]",
                    )
                seen[id(part)] = path
                if part.__dict__.get("_born") != number:
                    raise DeclarationError(
                        f"{label} was not created by its build(): other components may share it",
                        where=part.location(),
                        hint="create the part inside build(), where it is assigned",
                    )

    def parts(self) -> Iterator[tuple[str, Component]]:
        """Yield (attribute path, child) in the order of creation."""
        self.ensure_built()
        for name in self.__dict__["_parts"]:
            yield from _components(name, self.__dict__[name])

    def port_refs(self) -> list[PortRef]:
        """Return all ports, those of the class first, then those made in ``build()``."""
        self.ensure_built()
        refs = [PortRef(self, p, n) for n, p in self._ports.items()]
        for name in self.__dict__["_parts"]:
            refs.extend(_port_refs(self.__dict__[name]))
        return refs

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        if not name.startswith("_") and self._composite and not own.get("_built"):
            self.ensure_built()
            return getattr(self, name)
        known = [*self._fields, *self._ports, *own.get("_parts", ())]
        if name.startswith("_"):
            raise AttributeError(f"{type(self).__name__} has no `{name}`")
        hint = without_value(type(self), name) or nearest(name, known)
        raise UnknownNameError(f"{type(self).__name__} has no `{name}`", hint=hint)

    # -- copies ------------------------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        own = self.__dict__
        bound = [n for n in self._fields if isinstance(own.get(n), Expr) and _foreign(own[n], self)]
        if bound:
            raise DeclarationError(
                f"`{bound[0]}` is bound to a parameter of the enclosing component; pickle or copy that one",
                where=self.location(),
            )
        state = {n: own[n] for n in self._fields if n in own}
        changed = {
            p: dict(c.__dict__["_overrides"])
            for p, c in existing_parts(self)
            if c is not self and "_overrides" in c.__dict__
        }
        rebuilt = {p: c.restructured for p, c in existing_parts(self) if c is not self and c.restructured}
        return {"values": state, "rebuilt": rebuilt, "overrides": changed}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state["values"])
        self.__dict__["_born"] = active.build
        for path, values in state["rebuilt"].items():
            for name, value in values.items():
                setattr(resolve(self, path), name, value)
        for path, values in state["overrides"].items():
            child = resolve(self, path)
            for name, value in values.items():
                child.override(name, value)

    def __setattr__(self, name: str, value: Any) -> None:
        declared = getattr(type(self), name, None)
        building = active.stack and active.stack[-1] is self and active.build
        if building:
            _check_names((name,), type(self).__name__)
            if _made_beside(self.__dict__.get(name), value):
                raise DeclarationError(
                    f"two parts of {type(self).__name__} are named `{name}`",
                    hint="choose another name; a choice between parts is made before one of them is assigned",
                )
        if isinstance(declared, (Field, Port)) or name.startswith("_") or building:
            object.__setattr__(self, name, value)
            return
        self.ensure_built()
        known = [*self._fields, *self._ports, *self.__dict__["_parts"]]
        what, hint = f"{type(self).__name__} has no field `{name}`", nearest(name, known)
        if name in self.__dict__["_parts"]:
            what = f"the part `{name}` of {type(self).__name__} cannot be replaced"
            hint = "change its parameters, or make the choice in build() by a Structural field"
        raise DeclarationError(what, where=self.location(), hint=hint)

    def __repr__(self) -> str:
        values = ", ".join(f"{n}={self.__dict__[n]!r}" for n in self._fields if n in self.__dict__)
        return f"{type(self).__name__}({values})"


def _made_beside(earlier: Any, later: Any) -> bool:
    """Whether two parts were made by one function; the ``build()`` of a subclass may replace an inherited part."""
    both = isinstance(earlier, Component) and isinstance(later, Component) and earlier is not later
    return both and earlier.__dict__["_origin"][0] is later.__dict__["_origin"][0]


def endless(method: str, obj: Component) -> DeclarationError:
    """The error for a ``build()`` or ``equations()`` that calls itself without end."""
    code = getattr(type(obj), method).__code__
    name = type(obj).__name__
    return DeclarationError(
        f"{method}() of {name} calls itself without end",
        where=(Location(name, code.co_filename, code.co_firstlineno),),
        hint=f"a subclass calls super().{method}(); a chain of parts is a list: self.cells = [Cell(...) for _ in range(n)]",
    )


def unbuilt(obj: Component, given: Any) -> DeclarationError:
    """The error for a ``build()`` that returns something: as a generator it has not even run."""
    code, name = type(obj).build.__code__, type(obj).__name__
    return DeclarationError(
        f"build() of {name} returned {shown(given)}, which nothing uses",
        where=(Location(name, code.co_filename, code.co_firstlineno),),
        hint="build() assigns parts, `self.r = Resistor(R=1.0)`; what is yielded belongs into equations()",
    )


def _check_names(names: Iterable[str], label: str) -> None:
    """Raise DeclarationError for a field, port or part that would hide something every component has."""
    for name in names:
        if name in vars(Component) and not name.startswith("_"):
            raise DeclarationError(
                f"`{name}` of {label}: the name is reserved",
                why=f"every component has `{name}` already",
                hint=f"choose another name, such as `{name}_`",
            )


def _hidden(
    name: str, cls: type, earlier: Field | Port, owner: type, later: Field | Port, base: type
) -> DeclarationError:
    """The error for a field that would hide an inherited port, or the other way round."""

    def label(value: Field | Port) -> str:
        return "port" if isinstance(value, Port) else type(value).__name__.lower()

    return DeclarationError(
        f"the {label(later)} `{name}` of {base.__name__} hides the {label(earlier)} `{name}` of {owner.__name__}",
        where=(Location(cls.__name__),) if cls is not base else (),
        why="the equations and connections that mean one of them would read the other",
        hint=f"choose another name, such as `{name}_`",
    )


def locate(error: Exception, path: str) -> None:
    """Add the innermost line of ``build()`` or ``equations()`` in the traceback to an error without place."""
    frames = []
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name in ("build", "equations"):
            frames.append(Location(path, code.co_filename, trace.tb_lineno))
        trace = trace.tb_next
    if isinstance(error, AcausalError):
        error.locate(*frames[-1:])
    elif frames and not getattr(error, "__notes__", ()):
        error.add_note(f"while the model was built, at {frames[-1]}")


def _foreign(expr: Any, owner: Component) -> bool:
    return isinstance(expr, Expr) and any(isinstance(n, Symbol) and n.owner is not owner for n in walk(expr))


def _bind_ports(value: Any, owner: Component, name: str) -> Any:
    if isinstance(value, Port):
        return PortRef(owner, value, name)
    if isinstance(value, (list, tuple)) and any(isinstance(v, (Port, list, tuple)) for v in value):
        return type(value)(_bind_ports(v, owner, f"{name}[{k}]") for k, v in enumerate(value))
    return value


def _components(name: str, value: Any) -> Iterator[tuple[str, Component]]:
    if isinstance(value, Component):
        yield name, value
    elif isinstance(value, (list, tuple)):
        for k, v in enumerate(value):
            yield from _components(f"{name}[{k}]", v)


def _port_refs(value: Any) -> list[PortRef]:
    if isinstance(value, PortRef):
        return [value]
    return [r for v in value for r in _port_refs(v)] if isinstance(value, (list, tuple)) else []


def existing_parts(root: Component, path: str = "") -> Iterator[tuple[str, Component]]:
    """Yield (path, object) of the root and of all children that exist already."""
    yield path, root
    if root.__dict__.get("_built"):
        for name in root.__dict__["_parts"]:
            for attribute, child in _components(name, root.__dict__[name]):
                yield from existing_parts(child, f"{path}.{attribute}" if path else attribute)


def resolve(root: Component, path: str) -> Any:
    """Return the object at a path such as ``cells[3].r0``."""
    target: Any = root
    for step in path.replace("]", "").replace("[", ".").split("."):
        target = target[int(step)] if step.isdigit() else getattr(target, step)
    return target
