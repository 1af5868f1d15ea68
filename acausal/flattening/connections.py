"""Connection sets of one class as integer rows: potentials equal, flows sum to zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import Location, PortMismatchError, UnitError
from ..modeling.expressions import Symbol
from ..modeling.fields import Input, Output
from ..modeling.ports import PortRef
from ..modeling.statements import Connect
from ..modeling.units import parse_unit
from .template import Origin

Base = Callable[[Any, str], tuple[int, bool]]
"""(owner, port or signal name) -> (local index of its first variable, owner is the traced object)."""


@dataclass(frozen=True, eq=False)
class Rows:
    """Integer rows in CSR form with the statement behind each."""

    lengths: list[int]
    col: list[int]
    val: list[int]
    origins: list[Origin]


@dataclass(frozen=True, eq=False)
class PortSet:
    """All ports of one type that are joined: (first variable, sign of the flows), origin of each set."""

    kind: type
    first: np.ndarray
    own: np.ndarray
    label: np.ndarray


def check_ends(statement: Connect, place: Location) -> None:
    """Raise when the ends of a connection do not fit together."""
    first = statement.ends[0]
    for end in statement.ends[1:]:
        if isinstance(first, PortRef) != isinstance(end, PortRef):
            raise PortMismatchError(f"cannot connect {_label(first)} with {_label(end)}: a port and a signal", where=(place,))
        if isinstance(first, PortRef):
            if type(first.port) is not type(end.port):
                raise PortMismatchError(
                    f"cannot connect {_label(first)} with {_label(end)}: their port types differ",
                    where=(place,),
                    hint="connect ports of one type; use a converter component between domains",
                )
        else:
            _check_signals(first, end, place)


def _check_signals(a: Symbol, b: Symbol, place: Location) -> None:
    if a.field.type is not b.field.type:
        raise PortMismatchError(
            f"cannot connect {_label(a)} with {_label(b)}: {a.field.type.__name__} and {b.field.type.__name__} signals",
            where=(place,),
        )
    ua, ub = parse_unit(a.field.unit), parse_unit(b.field.unit)
    if ua is not None and ub is not None and ua != ub:
        raise UnitError(
            f"cannot connect {_label(a)} [{a.field.unit}] with {_label(b)} [{b.field.unit}]: their units differ", where=(place,)
        )


def _label(end: Any) -> str:
    if isinstance(end, PortRef):
        return f"`{end.name}` ({type(end.port).__name__} of {type(end.owner).__name__})"
    return f"`{end.name}` of {type(end.owner).__name__}"


def is_port_connection(statement: Connect) -> bool:
    return isinstance(statement.ends[0], PortRef)


def connection_rows(
    ends: list[PortRef], sizes: list[int], origins: list[Origin], base: Base, open_ports: list[tuple[type, int]]
) -> Rows:
    """Return the rows of all port connections of a class.

    Parameters
    ----------
    ends, sizes, origins
        All connected ports, how many belong to each statement, and the statements.
    base
        Finds the first variable of a port.
    open_ports
        (port type, first variable) of the ports of all children; those that occur in no
        connection get zero flows.
    """
    rows = Rows([], [], [], [])
    located = [base(e.owner, e.name) for e in ends]
    kinds: dict[type, list[int]] = {}
    for k, end in enumerate(ends):
        kinds.setdefault(type(end.port), []).append(k)
    statement = np.repeat(np.arange(len(sizes)), sizes)
    for kind, members in kinds.items():
        _rows_of_kind(kind, np.array(members), located, statement, origins, rows)
    taken = {first for first, _ in located}
    fallback = origins[0] if origins else (connection_rows.__code__, 0)
    for kind, first in open_ports:
        if first not in taken:
            for offset, f in enumerate(kind.fields().values()):  # type: ignore[attr-defined]
                if f.flow:
                    _append(rows, [first + offset], [1], fallback)
    return rows


def _append(rows: Rows, col: list[int], val: list[int], origin: Origin) -> None:
    rows.lengths.append(len(col))
    rows.col.extend(col)
    rows.val.extend(val)
    rows.origins.append(origin)


def _rows_of_kind(
    kind: type, members: np.ndarray, located: list[tuple[int, bool]], statement: np.ndarray, origins: list[Origin], rows: Rows
) -> None:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    first = np.array([located[k][0] for k in members])
    own = np.array([located[k][1] for k in members])
    nodes, node = np.unique(first, return_inverse=True)
    owner = np.zeros(len(nodes), bool)
    owner[node] = own
    # a star from the first end of every statement
    stmt = statement[members]
    head = node[np.unique(stmt, return_index=True)[1]]
    star = head[np.searchsorted(np.unique(stmt), stmt)]
    graph = csr_array((np.ones(len(node), np.int8), (star, node)), shape=(len(nodes), len(nodes)))
    label = connected_components(graph, directed=False)[1]
    at = np.full(len(nodes), -1)
    at[node[::-1]] = stmt[::-1]
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.r_[True, label[order][1:] != label[order][:-1]])
    sign = np.where(owner, -1, 1)
    for offset, f in enumerate(kind.fields().values()):  # type: ignore[attr-defined]
        columns = nodes[order] + offset
        if f.flow:
            rows.lengths.extend(np.diff(np.r_[starts, len(order)]).tolist())
            rows.col.extend(columns.tolist())
            rows.val.extend(sign[order].tolist())
            rows.origins.extend(origins[s] for s in at[order[starts]].tolist())
        else:
            rest = np.ones(len(order), bool)
            rest[starts] = False
            heads = np.repeat(columns[starts], np.diff(np.r_[starts, len(order)]))[rest]
            pairs = np.column_stack([heads, columns[rest]]).ravel()
            rows.lengths.extend([2] * len(heads))
            rows.col.extend(pairs.tolist())
            rows.val.extend([1, -1] * len(heads))
            rows.origins.extend(origins[s] for s in at[order[rest]].tolist())


@dataclass(frozen=True, eq=False)
class SignalSet:
    """One source and the signals it feeds."""

    source: Symbol
    targets: list[Symbol]
    origin: Origin


def signal_sets(statements: list[tuple[Connect, Origin, Location]], traced: Any) -> list[SignalSet]:
    """Return the directed signal connections; every set has exactly one source.

    Raises
    ------
    PortMismatchError
        When no output, or more than one, feeds a connected set of inputs.
    """
    root: dict[tuple[int, str], tuple[int, str]] = {}
    symbols: dict[tuple[int, str], Symbol] = {}
    places: dict[tuple[int, str], tuple[Origin, Location]] = {}

    def find(k: tuple[int, str]) -> tuple[int, str]:
        while root[k] != k:
            k = root[k]
        return k

    for statement, origin, place in statements:
        keys = [(id(s.owner), s.name) for s in statement.ends]
        for key, s in zip(keys, statement.ends, strict=True):
            root.setdefault(key, key)
            symbols.setdefault(key, s)
            places.setdefault(key, (origin, place))
        for key in keys[1:]:
            root[find(key)] = find(keys[0])
    members: dict[tuple[int, str], list[tuple[int, str]]] = {}
    for key in symbols:
        members.setdefault(find(key), []).append(key)
    sets = []
    for keys in members.values():
        sources = [k for k in keys if isinstance(symbols[k].field, Output) != (symbols[k].owner is traced)]
        if len(sources) != 1:
            names = ", ".join(_label(symbols[k]) for k in (sources or keys))
            raise PortMismatchError(
                f"a signal connection needs one source, {names} {'are several' if sources else 'are inputs only'}",
                where=(places[keys[0]][1],),
            )
        targets = [symbols[k] for k in keys if k != sources[0]]
        sets.append(SignalSet(symbols[sources[0]], targets, places[keys[0]][0]))
    return sets


__all__ = ["Input", "Rows", "SignalSet", "check_ends", "connection_rows", "is_port_connection", "signal_sets"]
