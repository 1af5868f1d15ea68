"""Children of one object by template: offsets, own parameter columns, bindings, start values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import DeclarationError, ParameterError
from ..modeling.component import Component
from ..modeling.expressions import Expr, Symbol, walk
from ..modeling.fields import Computed, Parameter, Start, Variable
from ..modeling.typed_fields import Discrete, Input, Output
from .template import Group, Index, Origin, ResidualStatement, Template


def own_layout(template: Template, obj: Component) -> None:
    """Number the own variables, parameters and discretes: ports first, then fields in written order."""
    for ref in obj.port_refs():
        template.ports[ref.name] = (type(ref.port), len(template.variables))
        for f in type(ref.port).fields().values():
            for name in f.names():
                template.variables[f"{ref.name}.{name}"] = f
    for f in type(obj)._fields.values():
        if isinstance(f, Parameter) and f.is_computed(obj):
            template.variables.update(dict.fromkeys(f.names(), f.computed))
            continue
        for name in f.names():
            if isinstance(f, Parameter):
                template.parameters[name] = f
            elif isinstance(f, Variable) or (isinstance(f, (Input, Output)) and not f.is_discrete):
                template.variables[name] = f
            elif isinstance(f, (Discrete, Input, Output)):
                template.discretes[name] = f
            if isinstance(f, Input):
                template.inputs.append(name)


def computed_names(obj: Component) -> tuple[str, ...]:
    """Return the parameters of an object that it was given starts of, so that they are computed."""
    fields = type(obj)._fields
    given = [n for n, v in obj.__dict__.items() if isinstance(v, Start)]
    return tuple(sorted(n for n in given if isinstance(fields.get(n), Parameter)))


def rest_of_computed(template: Template, obj: Component) -> list[ResidualStatement]:
    """Return the equations of parameters that are computed at the start: they rest afterwards."""
    origin: Origin = (type(obj).equations.__code__, 0)
    symbols = [Symbol(obj, n, f) for n, f in template.variables.items() if isinstance(f, Computed)]
    return [ResidualStatement(Expr("der", (s,)), origin, f"der({s}) = 0") for s in symbols]


def group_children(trace: Callable[[str, Component], Template], template: Template, obj: Component) -> None:
    """Number the children of the traced object and collect them in groups; ``trace`` gives the template of one."""
    template.resolve[id(obj)] = (0, 0, 0)
    template.layouts[id(obj)] = template
    members: dict[int, list[int]] = {}
    layouts: dict[int, Template] = {}
    kids: list[Component] = []
    for path, kid in obj.parts():
        if template.direct.setdefault(id(kid), path) != path:
            raise DeclarationError(
                f"`{path}` of {type(obj).__name__} is the same object as `{template.direct[id(kid)]}`",
                where=kid.location(),
                hint="create one component for each place",
            )
        layout = trace(path, kid)
        template.runs.append((path, len(kids)))
        members.setdefault(id(layout), []).append(len(kids))
        layouts[id(layout)] = layout
        kids.append(kid)
    template.keep.extend(kids)
    of_kid = np.zeros(len(kids), Index)
    for k, ids in enumerate(members.values()):
        of_kid[ids] = k
    sizes = [(t.nv, t.npar) for t in layouts.values()]
    nv = np.array([s[0] for s in sizes], Index)[of_kid] if kids else np.zeros(0, Index)
    npar = np.array([s[1] for s in sizes], Index)[of_kid] if kids else np.zeros(0, Index)
    voff = len(template.variables) + np.cumsum(nv) - nv
    poff = len(template.parameters) + np.cumsum(npar) - npar
    template.count(int(nv.sum()), int(npar.sum()))
    for layout, ids in zip(layouts.values(), members.values(), strict=True):
        at = np.array(ids, Index)
        values, bound, starts = _values(layout, [kids[k] for k in ids])
        template.groups.append(
            Group(layout, at, voff[at], poff[at], np.zeros(len(at), Index), values, bound, starts)
        )
    for k, (v, p) in enumerate(zip(voff.tolist(), poff.tolist(), strict=True)):
        template.resolve[id(kids[k])] = (v, p, 0)
    for layout, ids in zip(layouts.values(), members.values(), strict=True):
        for k in ids:
            template.layouts[id(kids[k])] = layout


def _values(layout: Template, kids: list[Component]) -> tuple[np.ndarray, tuple[Any, ...], tuple[Any, ...]]:
    names = list(layout.parameters)
    values = np.full((len(kids), len(names)), np.nan)
    bound: list[tuple[int, int, Expr]] = []
    dicts = [k.__dict__ for k in kids]
    for f in dict.fromkeys(layout.parameters.values()):
        assert isinstance(f, Parameter)
        name, default = f.name, f.default
        column = [d.get(name, default) for d in dicts]
        j = names.index(f.names()[0])
        if not f.shape and set(map(type, column)) <= {float, int}:
            values[:, j] = column
            continue
        for row, value in enumerate(column):
            for k, scalar in enumerate(_scalars(value)):
                if isinstance(scalar, Expr):
                    _check_binding(f, scalar, kids[row])
                    bound.append((row, j + k, scalar))
                else:
                    values[row, j + k] = float(scalar)
    return values, tuple(bound), tuple(_starts(layout, kids))


def _check_binding(f: Parameter, value: Expr, kid: Component) -> None:
    """Raise ParameterError for a parameter that is bound to one without a number before the start."""
    for node in walk(value):
        if isinstance(node, Symbol) and isinstance(node.field, Computed):
            raise ParameterError(
                f"`{f.name}` of {type(kid).__name__} is bound to `{value}`",
                where=kid.location(),
                why=f"`{node}` is computed at the start, and bindings are evaluated before",
                hint=f"let the part's own parameter be computed, {f.name}=Start(guess), and use that one in equations",
            )


def _scalars(value: Any) -> list[Any]:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [s for v in value for s in _scalars(v)]
    return [value]


def _starts(layout: Template, kids: list[Component]) -> list[tuple[int, str, Any, bool]]:
    fields = {n: f for n, f in layout.cls._fields.items() if isinstance(f, (Variable, Discrete))}
    fields |= {f.name: f for f in layout.variables.values() if isinstance(f, Computed)}
    starts = []
    for row, kid in enumerate(kids):
        if kid.__dict__.keys().isdisjoint(fields):
            continue
        for name, f in fields.items():
            if name in kid.__dict__:
                given = kid.__dict__[name]
                fixed = getattr(f, "fixed", False)
                value, fixed = (given.value, given.fixed) if isinstance(given, Start) else (given, fixed)
                scalars = _scalars(value)
                if len(scalars) not in (1, len(f.names())):
                    raise DeclarationError(
                        f"start of `{name}` needs {len(f.names())} values", where=kid.location()
                    )
                if len(scalars) == 1:
                    scalars = scalars * len(f.names())
                starts += [(row, n, s, fixed) for n, s in zip(f.names(), scalars, strict=True)]
    return starts
