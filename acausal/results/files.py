"""Results in files: the record of a run and the equations of its model as plain data, read without running any code from it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ..compilation.discrete import Sample, Stop
from ..errors import Location, ParameterError
from ..flattening.flat_model import Batch, FlatModel
from ..flattening.template import (
    Assignment,
    Check,
    ElementStatement,
    Group,
    ResidualStatement,
    Template,
    WhenChain,
)
from ..modeling.elements import BranchTable, ElementTable, Leave
from ..modeling.expressions import EnumMember, Expr, Symbol
from ..modeling.fields import Computed, Field, Flow, Parameter, Start, Variable
from ..modeling.statements import Assign, Reinit, Terminate
from ..modeling.typed_fields import Discrete, Input, Output
from ..reduction.reduced_model import reduce_model
from .container import Damaged, pack, unpack, write_whole
from .names import Names
from .objects import DTYPES, Described, Restored, Unreadable, register
from .record import Ending
from .statistics import Statistics
from .trace import record_of, trace_of

FORMAT = 7
"""Of what is written."""
_SINCE_6 = {"State": ("State", {})}
_SINCE_5 = {**_SINCE_6, "ExactMode": ("KeptMode", {})}
_SINCE_4 = {**_SINCE_5, "KnownJump": ("Jump", {}), "Statistics": ("Statistics", {})}
_SINCE_3 = {
    **_SINCE_4,
    "Residual": ("ResidualStatement", {}),
    "Stamp": ("Batch", {}),
    "Feed": ("OpenInput", {}),
    "Checkpoint": ("Checkpoint", {"feeds": "open_inputs"}),
    "FlatModel": ("FlatModel", {"stamps": "batches", "row_stamp": "row_batch"}),
    "Sample": ("Sample", {"stamp": "batch"}),
}
FORMER: Mapping[int, Mapping[str, tuple[str, Mapping[str, str]]]] = {
    2: {
        **_SINCE_3,
        "Stats": ("Statistics", {}),
        "Trace": ("Trace", {"jump": "parts"}),
        "AffineFlow": ("AffineFlow", {"_left": "left", "_right": "right", "_function": "function"}),
    },
    3: _SINCE_3,
    4: _SINCE_4,
    5: _SINCE_5,
    6: _SINCE_6,
    FORMAT: {},
}
"""Formats that are read: per name of a class in the file its name now, and attributes that were renamed. New attributes have
their defaults."""

register(
    FlatModel,
    Batch,
    Group,
    ResidualStatement,
    ElementStatement,
    Assignment,
    WhenChain,
    Check,
    Sample,
    Stop,
    Statistics,
    Location,
)
register(Template, by_identity=("resolve", "layouts", "direct"))
register(EnumMember, without=("member", "marks"))
register(Expr, Symbol, without=("marks",))
register(BranchTable, ElementTable, Leave, Assign, Reinit, Terminate, Start)
register(Field, Variable, Computed, Flow, Parameter, Discrete, Input, Output)


def write(result: Any, file: Any, paths: Sequence[Any] | None) -> None:
    """Write a result whole or not at all; `Result.save`."""
    only = None if paths is None else tuple(result[p].path for p in paths)
    write_whole(file, as_bytes(result, only))


def as_bytes(result: Any, only: tuple[str, ...] | None = None) -> bytes:
    """Return what files hold of a result; ``only`` are the paths that can be read from it, None for all."""
    described = Described()
    names = result.names
    content = described.add(
        {
            "flat": names.flat, "samples": tuple(names.samples), "stop": names.stop,
            "trace": trace_of(result.record, *result.points[1:]),
            "t_end": result.t_end, "status": result.status, "parameters": dict(result.parameters),
            "saved": result.saved, "grid": result.grid, "stats": result.stats, "state": result.state,
            "only": only or result.only,
        }
    )  # fmt: skip
    classes = [[name, list(attributes)] for name, attributes in described.classes]
    about = {"label": result.label, "nodes": described.nodes, "classes": classes, "content": content}
    return pack(about, described.pools(), FORMAT)


def read(file: Any, kind: Callable[..., Any]) -> Any:
    """Read a saved result; `Result.load`."""
    with nullcontext(file) if hasattr(file, "read") else open(file, "rb") as stream:
        data = stream.read()
    name = getattr(file, "name", file)
    return from_bytes(
        data, kind, f"{name}" if isinstance(name, str) or hasattr(name, "__fspath__") else "this"
    )


def from_bytes(data: bytes, kind: Callable[..., Any], name: str = "this") -> Any:
    """Return the result that `as_bytes` wrote.

    Raises
    ------
    ParameterError
        With what is wrong.
    """
    hint = f"write it with result.save(file); this version reads format {' and '.join(map(str, FORMER))}"
    try:
        about, arrays, found = unpack(data, tuple(FORMER))
        pools = {n: arrays.get(n, np.zeros(0, n)) for n in DTYPES}
        restored = Restored(about["nodes"], about["classes"], pools, FORMER[found])
        content = restored.value(about["content"])
        return _result(content, kind)
    except Damaged as error:
        raise ParameterError(
            f"{name} is no saved result, or is damaged", why=error.reason, hint=hint
        ) from None
    except (Unreadable, ValueError, KeyError, TypeError, IndexError, AttributeError) as error:
        why = f"its content is not what this version writes: {error}"
        raise ParameterError(f"{name} is no saved result", why=why, hint=hint) from error


def _result(content: dict[str, Any], kind: Callable[..., Any]) -> Any:
    trace, reduced = _with_parts(content["trace"]), reduce_model(content["flat"])
    if trace.core is not None and not _same(trace.core, reduced.W_core):
        raise Unreadable("this version reduces its model to other unknowns")
    return kind(
        Names(reduced, None, content["samples"], content.get("stop", Stop.none())), record_of(trace, reduced),
        Ending(content["t_end"], content["status"], content["state"]),
        stats=content["stats"], parameters=content["parameters"], saved=content["saved"], grid=content["grid"],
        only=content["only"],
    )  # fmt: skip


def _with_parts(trace: Any) -> Any:
    """A trace whose jumps have parts: the first files of format 2 had one jump for a micro-step."""
    return replace(trace, parts={k: p if isinstance(p, tuple) else (p,) for k, p in trace.parts.items()})


def _same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and all(
        np.array_equal(getattr(a, n), getattr(b, n)) for n in ("data", "indices", "indptr")
    )
