"""The flattened model: arrays by batches of instances; names and lines are views made on demand."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import field
from functools import cached_property
from typing import Any, Protocol, TypeVar

import numpy as np

from ..errors import Location, ParameterError
from ..modeling.evaluation import FUNCTIONS
from ..modeling.expressions import Expr, Symbol, fold, walk
from ..modeling.fields import MISSING, Computed, Field, Parameter, Start, Variable
from ..modeling.typed_fields import Discrete, Input, Output
from ..values import frozen
from .locating import locate_symbol
from .template import Index, Template, find, name_of, place_of


@frozen
class Batch:
    """All instances of one template: first variable, parameter and discrete of each."""

    template: Template
    vb: np.ndarray
    pb: np.ndarray
    db: np.ndarray

    def __len__(self) -> int:
        return len(self.vb)

    @property
    def instances(self) -> np.ndarray:
        """Numbers of the instances."""
        return np.arange(len(self.vb))


class OfBatch(Protocol):
    """What stands for something in every instance of a batch."""

    @property
    def batch(self) -> int:
        """Number of the batch."""
        ...


Numbered = TypeVar("Numbered", bound=OfBatch)


@frozen
class FlatModel:
    """One component with all its parts.

    Integer rows say ``sum val * x[col] + known = 0``; residuals, elements and
    discrete statements stay with their templates.
    """

    root: Template
    label: str
    batches: tuple[Batch, ...]
    ptr: np.ndarray
    col: np.ndarray
    val: np.ndarray
    row_batch: np.ndarray
    """Per integer row: batch, local row, instance."""
    row_local: np.ndarray
    row_instance: np.ndarray
    own_values: dict[str, Any] = field(default_factory=dict)
    """Parameters, inputs and start values given to the root object."""

    @property
    def nv(self) -> int:
        """Number of continuous variables."""
        return self.root.nv

    @property
    def npar(self) -> int:
        """Number of parameters."""
        return self.root.npar

    @property
    def nd(self) -> int:
        """Number of discrete variables."""
        return self.root.nd

    def variable(self, k: int) -> str:
        """Return the path of continuous variable ``k``."""
        return name_of(self.root, "v", k)

    def discrete(self, k: int) -> str:
        """Return the path of discrete variable ``k``."""
        return name_of(self.root, "d", k)

    def parameter(self, k: int) -> str:
        """Return the path of parameter ``k``."""
        return name_of(self.root, "p", k)

    @cached_property
    def links(self) -> int:
        """How many bindings lead from a part to one of its brothers, or to parts of these."""
        return _links(self.root)

    @cached_property
    def computed(self) -> np.ndarray:
        """Variables that stand for parameters which are computed at the start, ascending."""
        found = [ids for f, ids in self.variable_fields() if isinstance(f, Computed)]
        return np.sort(np.concatenate(found)) if found else np.zeros(0, Index)

    def find(self, kind: str, path: str) -> tuple[int, Field]:
        """Return (index, field) of a variable ("v"), parameter ("p") or discrete ("d")."""
        k, template, name = find(self.root, kind, path)
        return k, template.fields(kind)[name]

    def instances(self) -> Iterator[tuple[int, int]]:
        """Yield (batch, instance) of all components."""
        for k, s in enumerate(self.batches):
            for i in range(len(s)):
                yield k, i

    def statements(self, kind: str) -> Iterator[tuple[int, int, Any]]:
        """Yield (batch, instance, statement) of all statements of a kind: "residuals", "elements", "checks", ..."""
        for k, s in enumerate(self.batches):
            for statement in getattr(s.template, kind):
                for i in range(len(s)):
                    yield k, i, statement

    def each(self, found: Iterable[Numbered]) -> Iterator[tuple[Numbered, int]]:
        """Yield what stands for something in every instance of a batch, with each instance."""
        for rows in found:
            for i in range(len(self.batches[rows.batch])):
                yield rows, i

    def path(self, batch: int, instance: int) -> str:
        """Return the path of an instance, "" for the root."""
        s = self.batches[batch]
        t = s.template
        if t is self.root:
            return ""
        for kind, base, table in (
            ("v", s.vb, t.variables),
            ("p", s.pb, t.parameters),
            ("d", s.db, t.discretes),
        ):
            if table:
                full = name_of(self.root, kind, int(base[instance]))
                return full[: -len(next(iter(table))) - 1]
        return self._path_by_search(t, int(s.vb[instance]))

    def name_in(self, batch: int, instance: int, name: str) -> str:
        """Return the path of what has a name within an instance."""
        path = self.path(batch, instance)
        return f"{path}.{name}" if path else name

    def _path_by_search(self, template: Template, vbase: int) -> str:
        def descend(t: Template, base: int, path: str) -> str | None:
            for step, g, row in t.children():
                here = f"{path}.{step}" if path else step
                start = base + int(g.voff[row])
                if g.template is template and start == vbase:
                    return here
                if start <= vbase <= start + g.template.nv:
                    found = descend(g.template, start, here)
                    if found is not None:
                        return found
            return None

        return descend(self.root, 0, "") or template.cls.__name__

    def location(self, batch: int, instance: int, origin: Any) -> Location:
        """Return the place of a statement of an instance."""
        return self.batches[batch].template.line(origin, self.path(batch, instance) or self.label)

    def row_text(self, row: int) -> str:
        """Return an integer row as written, "" for one that follows from a connection."""
        template = self.batches[int(self.row_batch[row])].template
        return template.row_texts.get(int(self.row_local[row]), "")

    def row_location(self, row: int) -> Location:
        """Return the place of an integer row."""
        s, local, i = int(self.row_batch[row]), int(self.row_local[row]), int(self.row_instance[row])
        return self.location(s, i, self.batches[s].template.row_origins[local])

    def symbol(self, batch: int, instance: int, kind: str, symbol: Symbol) -> int:
        """Return the global index of a symbol that occurs in a statement of an instance."""
        s = self.batches[batch]
        base = {"v": s.vb, "p": s.pb, "d": s.db}[kind]
        return int(base[instance]) + locate_symbol(s.template, kind, symbol)

    def variable_fields(self, kind: str = "v") -> list[tuple[Field, np.ndarray]]:
        """Return (field, global indices) for all continuous variables, or for all parameters ("p") or discretes ("d")."""
        found: list[tuple[Field, np.ndarray]] = []
        for s in self.batches:
            t, first = s.template, {"v": s.vb, "p": s.pb, "d": s.db}[kind]
            fields = {"v": t.variables, "p": t.parameters, "d": t.discretes}[kind]
            found += [(f, first + k) for k, f in enumerate(fields.values())]
        return found

    def field_of(self, kind: str) -> dict[int, Any]:
        """Return the fields of all variables of a kind by their numbers."""
        return {k: f for f, at in self.variable_fields(kind) for k in at.tolist()}


def kind_of(symbol: Symbol) -> str:
    """Return "v", "p" or "d" for a symbol."""
    f = symbol.field
    if isinstance(f, Parameter):
        return "p"
    if isinstance(f, Discrete) or (isinstance(f, (Input, Output)) and f.is_discrete):
        return "d"
    return "v"


def locate_variable(template: Template, symbol: Symbol) -> int | None:
    """Return the local index of a continuous variable, None for anything known."""
    return locate_symbol(template, "v", symbol) if kind_of(symbol) == "v" else None


def parameter_vector(flat: FlatModel, changes: dict[str, float]) -> np.ndarray:
    """Return all parameters, bindings evaluated parents first.

    Parameters
    ----------
    flat : FlatModel
    changes : dict
        Path -> number; a changed parameter wins over its binding.

    Raises
    ------
    UnknownPathError, ParameterError
        For a path that names no parameter, or a value outside its bounds.
    """
    P = np.full(flat.npar, np.nan)
    fixed: dict[int, float] = {}
    for path, value in changes.items():
        k, f = flat.find("p", path)
        assert isinstance(f, Parameter)
        problem = f.problem(value)
        if problem:
            raise ParameterError(f"`{path}` {problem}", where=place_of(flat.root, path))
        fixed[k] = float(value)
    own = flat.own_values
    for k, (name, f) in enumerate(flat.root.parameters.items()):
        assert isinstance(f, Parameter)
        given = own.get(f.name, f.default)
        if given is MISSING:
            if k not in fixed:
                raise ParameterError(
                    f"`{name}` of {flat.label} has no value",
                    hint=f'give it for the run, parameters={{"{name}": ...}}, or as keyword: {flat.label}({f.name}=...)',
                )
            continue
        value = _element(given, name[len(f.name) :])
        P[k] = np.nan if value is None else float(value)
    here = np.zeros(1, Index)
    with np.errstate(all="ignore"):
        _bind(flat.root, here, P, fixed)
        # What is bound to a brother, or to a part of one, may have been computed before that: once more for each link of a chain.
        for _ in range(flat.links):
            before = P.copy()
            _bind(flat.root, here, P, fixed)
            if np.array_equal(before, P, equal_nan=True):
                break
        _check_bounds(flat, flat.root, here, P, fixed)
    return P


def _element(value: Any, index: str) -> Any:
    for i in index.replace("]", "").split("[")[1:]:
        value = value[int(i)]
    return value if isinstance(value, (int, float)) or hasattr(value, "__float__") else None


def _bind(template: Template, pb: np.ndarray, P: np.ndarray, fixed: dict[int, float]) -> None:
    at, values = list(fixed), list(fixed.values())
    P[at] = values
    for g in template.groups:
        cpb = pb[:, None] + g.poff
        n = g.values.shape[1]
        if n:
            V = np.broadcast_to(g.values, (len(pb), *g.values.shape))
            if g.bound:
                V = V.copy()
                for row, j, expr in g.bound:
                    V[:, row, j] = evaluate_on(template, expr, pb, P)
            P[(cpb.ravel()[:, None] + np.arange(n))] = V.reshape(-1, n)
            P[at] = values
        if g.template.groups:
            _bind(g.template, cpb.ravel(), P, fixed)


def _links(template: Template) -> int:
    own = len(template.parameters)
    found = sum(
        any(locate_symbol(template, "p", node) >= own for node in walk(expr) if isinstance(node, Symbol))
        for g in template.groups
        for _, _, expr in g.bound
    )
    parts = {id(g.template): g.template for g in template.groups}
    return found + sum(_links(part) for part in parts.values())


def _check_bounds(
    flat: FlatModel, template: Template, pb: np.ndarray, P: np.ndarray, fixed: dict[int, float]
) -> None:
    """Raise ParameterError for a binding that gives a value outside the bounds; one that is changed does not count."""
    for g in template.groups:
        fields = list(g.template.parameters.values())
        for row, j, expr in g.bound:
            f, at = fields[j], pb + (int(g.poff[row]) + j)
            assert isinstance(f, Parameter)
            values = P[at]
            computable = np.isfinite(values) & ((values == 0) | (np.abs(values) >= np.finfo(float).tiny))
            wrong = ~(computable & (values >= f.min) & (values <= f.max))
            for i in np.flatnonzero(wrong).tolist():
                if int(at[i]) in fixed:
                    continue
                path = flat.parameter(int(at[i]))
                names = ", ".join(dict.fromkeys(f"`{n}`" for n in walk(expr) if isinstance(n, Symbol)))
                raise ParameterError(
                    f"`{path}` {f.problem(float(values[i]))}",
                    where=place_of(flat.root, path),
                    why=f"it is bound to `{expr}`",
                    hint=f"change {names}" if names else "",
                )
        if g.template.groups:
            _check_bounds(flat, g.template, (pb[:, None] + g.poff).ravel(), P, fixed)


def evaluate_on(template: Template, expr: Expr, pb: np.ndarray, P: np.ndarray) -> Any:
    """Evaluate a parameter expression of a template for all instances with parameter bases ``pb``."""

    def leaf(node: Expr) -> Any:
        if isinstance(node, Symbol):
            return P[pb + locate_symbol(template, "p", node)]
        return node.data

    return fold(expr, leaf, lambda node, args: VECTOR[node.op](*args, *(node.data or ())))


VECTOR: dict[str, Any] = {
    **FUNCTIONS,
    **{
        n: getattr(np, n)
        for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "floor", "sign", "abs")
    },
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "atan2": np.arctan2,
    "min": np.minimum,
    "max": np.maximum,
    "mod": lambda x, y: x - y * np.floor(x / y),
    "if_else": lambda c, a, b: np.where(c, a, b),
    "and": np.logical_and,
    "or": np.logical_or,
    "not": np.logical_not,
    "xor": np.logical_xor,
}


def start_values(flat: FlatModel, P: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return (start, fixed, given) of all variables and the starts of all discretes."""
    start, fixed, given = np.zeros(flat.nv), np.zeros(flat.nv, bool), np.zeros(flat.nv, bool)
    discrete = np.zeros(flat.nd)
    for s in flat.batches:
        for k, f in enumerate(s.template.variables.values()):
            if isinstance(f, Variable) and (f.start or f.fixed):
                start[s.vb + k], fixed[s.vb + k] = f.start, f.fixed
        for k, f in enumerate(s.template.discretes.values()):
            if isinstance(f, Discrete):
                discrete[s.db + k] = number_of(f.start)
    for k, number, fix in root_starts(flat):
        start[k], fixed[k], given[k] = number, fix, True
    for name, f in flat.root.discretes.items():
        if isinstance(f, Discrete) and f.name in flat.own_values:
            discrete[flat.root.index("d", name)] = number_of(flat.own_values[f.name])
    for s in flat.batches:
        for g in s.template.groups:
            for row, name, value, fix in g.starts:
                number = (
                    evaluate_on(s.template, value, s.pb, P) if isinstance(value, Expr) else number_of(value)
                )
                k = g.template.index("v", name)
                if k is not None:
                    at = s.vb + g.voff[row] + k
                    start[at], fixed[at], given[at] = number, fix, True
                else:
                    discrete[s.db + g.doff[row] + g.template.index("d", name)] = number
    return start, fixed, given, discrete


def root_starts(flat: FlatModel) -> list[tuple[int, float, bool]]:
    """Return (variable, value, fixed) for the start values given to the root object itself."""
    found = []
    for k, (name, f) in enumerate(flat.root.variables.items()):
        given = flat.own_values.get(f.name)
        if given is None or not isinstance(f, Variable) or "." in name:
            continue
        value, fixed = (given.value, given.fixed) if isinstance(given, Start) else (given, f.fixed)
        scalar = _element(value, name[len(f.name) :])
        found.append((k, float(value if scalar is None else scalar), fixed))
    return found


def number_of(value: Any) -> float:
    """Return the code of a start value: enum members count as their index."""
    from ..modeling.expressions import enum_index

    return float(enum_index(value)) if hasattr(type(value), "__members__") else float(value)
