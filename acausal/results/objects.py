"""Objects as plain data: a table of nodes that JSON holds, and arrays. No code of a file is run when they are read.

An atom (None, Boolean, number, text) stands for itself, ``[k]`` for node ``k``. A node is a kind and its parts. Objects are
described by their attributes, and made again without calling anything of theirs, if their class is registered here. Classes of
users become names.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING as DATACLASS_MISSING
from dataclasses import fields, is_dataclass
from enum import Enum
from fractions import Fraction
from functools import cached_property, partial
from types import CodeType
from typing import Any

import numpy as np

from ..modeling.component import Component, line_of
from ..modeling.expressions import enum_index
from ..modeling.fields import MISSING

BUILTIN: dict[str, type] = {"bool": bool, "int": int, "float": float}
DTYPES = ("float64", "int64", "bool", "int32", "uint8")
_classes: dict[str, type] = {}
_hidden: dict[str, frozenset[str]] = {}
_by_identity: dict[str, frozenset[str]] = {}


_UNMADE = object()


class Unreadable(Exception):
    """What was read is not what `describe` writes."""


class RestoredPart:
    """Stands for a component of the model that ran: what a symbol belongs to."""

    _within: tuple[Any, str]

    def location(self) -> tuple[()]:
        """Nothing: where it was created is not kept."""
        return ()


class Opaque:
    """Stands for a value that a file does not hold, such as a function."""

    def __init__(self, text: str) -> None:
        self.text = text


def register(*classes: type, without: Sequence[str] = (), by_identity: Sequence[str] = ()) -> None:
    """Let objects of some classes be described.

    Parameters
    ----------
    *classes : type
    without : sequence of str
        Attributes that are left out.
    by_identity : sequence of str
        Attributes that are dictionaries from the ``id`` of an object in the attribute ``keep``, which is written too.
    """
    for cls in classes:
        if _classes.setdefault(cls.__name__, cls) is not cls:
            raise TypeError(f"two classes are named {cls.__name__}")
        _hidden[cls.__name__] = frozenset(without)
        _by_identity[cls.__name__] = frozenset(by_identity)


def _attributes(obj: Any, cls: type) -> dict[str, Any]:
    """Attributes of an object, without what is computed from them on demand."""
    found: dict[str, Any] = {}
    if is_dataclass(cls):
        found = {f.name: getattr(obj, f.name) for f in fields(cls)}
    else:
        for base in cls.__mro__:
            for name in getattr(base, "__slots__", ()):
                try:
                    found[name] = vars(base)[name].__get__(obj)
                except AttributeError:
                    continue
        found |= {n: v for n, v in getattr(obj, "__dict__", {}).items() if not _computed(cls, n)}
    hidden, by_identity = _hidden[cls.__name__], _by_identity[cls.__name__]
    found = {n: v for n, v in found.items() if n not in hidden}
    if by_identity:
        objects = {id(o): o for o in obj.keep}
        for name in by_identity:
            found[name] = [(objects[k], v) for k, v in found[name].items() if k in objects]
    return found


def _computed(cls: type, name: str) -> bool:
    return isinstance(getattr(cls, name, None), cached_property)


class Described:
    """Objects as nodes and arrays; made by `describe`."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.classes: dict[tuple[str, tuple[str, ...]], int] = {}
        self.arrays: dict[str, list[np.ndarray]] = {name: [] for name in DTYPES}
        self._sizes = dict.fromkeys(DTYPES, 0)
        self._memo: dict[int, int] = {}
        self._keep: list[Any] = []
        self._left: list[tuple[int, Any]] = []

    def add(self, value: Any) -> Any:
        """Return the atom or the reference that stands for a value."""
        found = self._reference(value)
        while self._left:
            k, left = self._left.pop()
            self.nodes[k] = self._node(left)
        return found

    def _reference(self, value: Any) -> Any:
        if isinstance(value, (np.bool_, np.integer, np.floating)):
            value = value.item()
        if value is None or type(value) in (bool, int, str):
            return value
        if type(value) is float and math.isfinite(value):
            return value
        k = self._memo.get(id(value))
        if k is None:
            k = self._memo[id(value)] = len(self.nodes)
            self.nodes.append(None)
            self._keep.append(value)
            self._left.append((k, value))
        return [k]

    def _references(self, values: Any) -> list[Any]:
        return [self._reference(v) for v in values]

    def _node(self, v: Any) -> list[Any]:
        if isinstance(v, float):
            return ["number", repr(float(v))]
        if v is MISSING:
            return ["missing"]
        if isinstance(v, np.ndarray):
            return self._array(v)
        if type(v).__name__ == "csr_array":
            return ["sparse", *self._references((v.data, v.indices, v.indptr)), *v.shape]
        if isinstance(v, Enum):
            return ["member", self._reference(type(v)), v.name]
        if isinstance(v, type):
            return self._type(v)
        if isinstance(v, tuple) and len(v) == 2 and isinstance(v[0], CodeType):
            return ["tuple", v[0].co_filename, line_of(v[0], v[1])]
        for kind, types in (("list", list), ("frozenset", (frozenset, set))):
            if isinstance(v, types):
                return [kind, *self._references(v)]
        cls = next((c for c in type(v).__mro__ if _classes.get(c.__name__) is c), None)
        if cls is not None:
            return self._object(v, cls)
        if isinstance(v, dict):
            return ["dict", *self._references(x for pair in v.items() for x in pair)]
        if isinstance(v, tuple):
            return ["tuple", *self._references(v)]
        if isinstance(v, Fraction):
            return ["fraction", v.numerator, v.denominator]
        if isinstance(v, (Component, RestoredPart)):
            return ["part", type(v).__name__, self._reference(v.__dict__.get("_within"))]
        return ["opaque", v.text if isinstance(v, Opaque) else repr(v)[:200]]

    def _array(self, v: np.ndarray) -> list[Any]:
        if v.dtype.name not in DTYPES:
            return ["opaque", f"array of {v.dtype}"]
        name = v.dtype.name
        at = self._sizes[name]
        self.arrays[name].append(v.ravel())
        self._sizes[name] += v.size
        return ["array", name, at, *v.shape]

    def _type(self, v: type) -> list[Any]:
        if v in BUILTIN.values():
            return ["builtin", v.__name__]
        if issubclass(v, Enum):
            return ["enum", v.__name__, *(x for m in v for x in (m.name, enum_index(m)))]
        return ["class", v.__name__]

    def _object(self, v: Any, cls: type) -> list[Any]:
        attributes = _attributes(v, cls)
        key = cls.__name__, tuple(attributes)
        return [
            "object",
            self.classes.setdefault(key, len(self.classes)),
            *self._references(attributes.values()),
        ]

    def pools(self) -> dict[str, np.ndarray]:
        """All arrays of one type in a row."""
        return {n: np.concatenate(a) if a else np.zeros(0, n) for n, a in self.arrays.items()}


class Restored:
    """Objects made from nodes and arrays.

    ``former`` has, by the name of a class in an older file, its name now and the attributes that were renamed; those that
    are new have their defaults.

    Raises
    ------
    Unreadable
        If they are not what `Described` makes.
    """

    def __init__(
        self, nodes: Sequence[Any], classes: Sequence[Any], pools: dict[str, np.ndarray],
        former: Mapping[str, tuple[str, Mapping[str, str]]],
    ) -> None:  # fmt: skip
        self._nodes, self._pools = nodes, pools
        self._made: list[Any] = [_UNMADE] * len(nodes)
        self._former = former
        self._building: set[int] = set()
        self._classes = [self._class(*c) for c in classes]
        for k in range(len(nodes)):
            self._at(k)
        for made, node in zip(self._made, nodes, strict=True):
            self._fill(made, *node)
        for made, node in zip(self._made, nodes, strict=True):
            if node[0] == "object":
                self._finish(made, self._classes[node[1]][0])

    def value(self, what: Any) -> Any:
        """The value that an atom or a reference stands for."""
        return self._at(what[0]) if isinstance(what, list) else what

    def _at(self, k: int) -> Any:
        """The object of a node; what cannot change is made with its parts, the rest is filled later."""
        if self._made[k] is _UNMADE:
            if k in self._building:
                raise Unreadable("a part of it holds itself")
            self._building.add(k)
            self._made[k] = self._shell(*self._nodes[k])
        return self._made[k]

    def _class(self, name: str, attributes: list[str]) -> tuple[type, list[str]]:
        older = name in self._former
        name, renamed = self._former.get(name, (name, {}))
        attributes = [renamed.get(n, n) for n in attributes]
        cls = _classes.get(name)
        if cls is None:
            raise Unreadable(f"it holds a {name}, which this version does not know")
        if is_dataclass(cls):
            expected = {f.name for f in fields(cls)} - _hidden[name]
            missing = expected - set(attributes)
            if not set(attributes) <= expected or (
                missing and not (older and missing <= _defaults(cls).keys())
            ):
                raise Unreadable(f"this version describes a {name} otherwise")
        if any(not n.isidentifier() or n.startswith("__") for n in attributes):
            raise Unreadable(f"a {name} has no such attributes")
        return cls, attributes

    def _shell(self, kind: str, *parts: Any) -> Any:
        match kind:
            case "number":
                return float(parts[0])
            case "missing":
                return MISSING
            case "array":
                name, at, shape = parts[0], parts[1], parts[2:]
                size = math.prod(shape)
                if not 0 <= at <= at + size <= len(self._pools[name]):
                    raise Unreadable("an array lies outside the file")
                return self._pools[name][at : at + size].reshape(shape)
            case "sparse":
                data, indices, indptr = map(self.value, parts[:3])
                return _sparse(data, indices, indptr, parts[3:])
            case "builtin":
                return BUILTIN[parts[0]]
            case "enum":
                return Enum(parts[0], dict(zip(parts[1::2], parts[2::2], strict=True)))
            case "class":
                return type(str(parts[0]), (), {})
            case "member":
                return self.value(parts[0])[parts[1]]
            case "fraction":
                return Fraction(*parts)
            case "tuple":
                return tuple(self.value(p) for p in parts)
            case "frozenset":
                return frozenset(self.value(p) for p in parts)
            case "list":
                return []
            case "dict":
                return {}
            case "part":
                return type(str(parts[0]), (RestoredPart,), {})()
            case "opaque":
                return Opaque(parts[0])
            case "object":
                cls, attributes = self._classes[parts[0]]
                made = cls.__new__(cls)
                for name, default in _defaults(cls).items():
                    if name not in attributes and name not in _hidden[cls.__name__]:
                        object.__setattr__(made, name, default())
                return made
        raise Unreadable(f"it has a part of unknown kind {kind!r}")

    def _fill(self, made: Any, kind: str, *parts: Any) -> None:
        values = [self.value(p) for p in parts]
        if kind == "list":
            made.extend(values)
        elif kind == "dict":
            made.update(zip(values[::2], values[1::2], strict=True))
        elif kind == "part" and values[1] is not None:
            made._within = values[1]
        elif kind == "object":
            for name, value in zip(self._classes[parts[0]][1], values[1:], strict=True):
                object.__setattr__(made, name, value)

    def _finish(self, made: Any, cls: type) -> None:
        """What follows from the attributes of an object."""
        for name in _by_identity[cls.__name__]:
            object.__setattr__(made, name, {id(o): v for o, v in getattr(made, name)})
        if hasattr(cls, "__post_init__"):
            made.__post_init__()


def _defaults(cls: type) -> dict[str, Callable[[], Any]]:
    """What makes the defaults of the fields of a dataclass that have one."""
    if not is_dataclass(cls):
        return {}
    made = {f.name: f.default_factory for f in fields(cls) if f.default_factory is not DATACLASS_MISSING}
    return made | {
        f.name: partial(_itself, f.default) for f in fields(cls) if f.default is not DATACLASS_MISSING
    }


def _itself(value: Any) -> Any:
    return value


def _sparse(data: np.ndarray, indices: np.ndarray, indptr: np.ndarray, shape: Any) -> Any:
    from scipy.sparse import csr_array

    return csr_array((data, indices, indptr), shape=tuple(shape))
