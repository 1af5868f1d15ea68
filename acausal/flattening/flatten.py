"""From a component object to a flat model: one trace per class, arrays for its instances."""

from __future__ import annotations

import gc

import numpy as np

from ..errors import DeclarationError
from ..modeling.component import Component, existing_parts
from .flat_model import Batch, FlatModel
from .template import Index, Template
from .trace import Tracer


def flatten(model: Component) -> FlatModel:
    """Flatten a component and all its parts.

    Notes
    -----
    Time is linear in the number of instances: a class with equal structural
    values is traced once, its instances are rows of index arrays. Garbage
    collection is paused meanwhile, since it dominates at 1e5 live objects.
    """
    if not isinstance(model, Component):
        name = model.__name__ if isinstance(model, type) else repr(model)
        raise DeclarationError(
            f"a model is a component object, got {'the class ' * isinstance(model, type)}{name}",
            hint=f"make an object: {name}()" if isinstance(model, type) else "derive a class from Component",
        )
    enabled = gc.isenabled()
    gc.disable()
    try:
        root = Tracer().template(model)
        batches = _batches(root)
        return FlatModel(
            root, type(model).__name__, batches, *_integer_rows(batches), own_values=_own_values(model)
        )
    finally:
        if enabled:
            gc.enable()


def _own_values(model: Component) -> dict[str, object]:
    return {n: model.__dict__[n] for n in type(model)._fields if n in model.__dict__}


def overrides(model: Component) -> dict[str, float]:
    """Return parameters that were set after construction, by path."""
    found: dict[str, float] = {}
    for path, obj in existing_parts(model):
        for name, value in obj.__dict__.get("_overrides", {}).items():
            prefix = f"{path}.{name}" if path else name
            if hasattr(value, "__len__"):
                found.update({f"{prefix}[{k}]": v for k, v in enumerate(value)})
            else:
                found[prefix] = value
    return found


def _batches(root: Template) -> tuple[Batch, ...]:
    parts: dict[int, list[tuple[np.ndarray, np.ndarray, np.ndarray]]] = {}
    templates: dict[int, Template] = {}

    def expand(t: Template, vb: np.ndarray, pb: np.ndarray, db: np.ndarray) -> None:
        parts.setdefault(id(t), []).append((vb, pb, db))
        templates[id(t)] = t
        for g in t.groups:
            expand(
                g.template, *((b[:, None] + o).ravel() for b, o in ((vb, g.voff), (pb, g.poff), (db, g.doff)))
            )

    zero = np.zeros(1, Index)
    expand(root, zero, zero, zero)
    return tuple(
        Batch(templates[k], *(np.concatenate(a) for a in zip(*p, strict=True))) for k, p in parts.items()
    )


def _integer_rows(batches: tuple[Batch, ...]) -> tuple[np.ndarray, ...]:
    lengths, cols, vals, batch, local, instance = [], [], [], [], [], []
    for k, s in enumerate(batches):
        t, n = s.template, len(s)
        rows = len(t.ptr) - 1
        if rows:
            lengths.append(np.tile(np.diff(t.ptr), n))
            cols.append((s.vb[:, None] + t.col).ravel())
            vals.append(np.tile(t.val, n))
            batch.append(np.full(rows * n, k, Index))
            local.append(np.tile(np.arange(rows, dtype=Index), n))
            instance.append(np.repeat(np.arange(n, dtype=Index), rows))

    def join(a: list[np.ndarray]) -> np.ndarray:
        return np.concatenate(a) if a else np.zeros(0, Index)

    ptr = np.concatenate([[0], np.cumsum(join(lengths))]).astype(Index)
    return ptr, join(cols), join(vals), join(batch), join(local), join(instance)
