"""Connection sets of one class as integer rows: potentials equal, flows sum to zero."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field
from typing import Any

import numpy as np

from ..errors import DuplicateWriterError, Location, PortMismatchError, UnitError
from ..modeling.expressions import Symbol
from ..modeling.ports import PortRef
from ..modeling.statements import Connect
from ..modeling.typed_fields import Output
from ..modeling.units import parse_unit
from ..structure.union import Union
from ..values import frozen
from .template import Origin

Named = Callable[[Any], str]
"""A port or signal as the author of the traced component writes it: ``load.p``."""


@frozen
class ConnectionRows:
    """Integer rows in CSR form with the statement behind each."""

    lengths: list[int]
    col: list[int]
    val: list[int]
    origins: list[Origin]


def check_ends(statement: Connect, place: Location, named: Named) -> None:
    """Raise when the ends of a connection do not fit together."""
    first = statement.ends[0]
    for end in statement.ends[1:]:
        if isinstance(first, PortRef) != isinstance(end, PortRef):
            raise PortMismatchError(
                f"cannot connect `{named(first)}` with `{named(end)}`: one is a port, the other a signal",
                where=(place,),
                hint="connect ports with ports and signals with signals; sensors and controlled sources lie between them",
            )
        if isinstance(first, PortRef):
            if type(first.port) is not type(end.port):
                one, other = _kinds(type(first.port), type(end.port))
                raise PortMismatchError(
                    f"cannot connect `{named(first)}`, a {one}, with `{named(end)}`, a {other}",
                    where=(place,),
                    hint="connect ports of one type; between domains stands a component with a port of each",
                )
        else:
            _check_signals(first, end, place, named)


def _kinds(one: type, other: type) -> tuple[str, str]:
    """Names of two port types; of one name, with the parts of their modules that differ."""
    if one.__name__ != other.__name__:
        return one.__name__, other.__name__
    pairs = zip(one.__module__.split("."), other.__module__.split("."), strict=False)
    a, b = next((p for p in pairs if p[0] != p[1]), (one.__module__, other.__module__))
    return f"{a}.{one.__name__}", f"{b}.{other.__name__}"


def _check_signals(a: Symbol, b: Symbol, place: Location, named: Named) -> None:
    if a.field.type is not b.field.type:
        raise PortMismatchError(
            f"cannot connect `{named(a)}`, a {a.field.type.__name__} signal, with `{named(b)}`, a {b.field.type.__name__} signal",
            where=(place,),
            hint="compare a number, `x > 0`, to get a bool; choose with if_else(b, 1, 0) to get a number",
        )
    ua, ub = parse_unit(a.field.unit), parse_unit(b.field.unit)
    if ua is not None and ub is not None and ua != ub:
        raise UnitError(
            f"cannot connect `{named(a)}` in {a.field.unit} with `{named(b)}` in {b.field.unit}",
            where=(place,),
            hint="a signal without unit fits all; a gain between them converts",
        )


def is_port_connection(statement: Connect) -> bool:
    """Return True for a connection of ports, False for one of signals."""
    return isinstance(statement.ends[0], PortRef)


@frozen
class Ends:
    """Connected ports of one class, in the order of the statements."""

    first: list[int] = field(default_factory=list)
    """First variable of each."""
    own: list[bool] = field(default_factory=list)
    """Whether it is a port of the traced object itself."""
    kind: list[type] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)
    """How many ports each statement connects."""
    origins: list[Origin] = field(default_factory=list)
    """The statements."""


def connection_rows(ends: Ends, ports: list[tuple[np.ndarray, np.ndarray, type]]) -> ConnectionRows:
    """Return the rows of all port connections of a class.

    Parameters
    ----------
    ends
        All connected ports.
    ports
        (first variables, positions of the children, port type) of the ports of all children; those that
        occur in no connection get zero flows.
    """
    rows = ConnectionRows([], [], [], [])
    first, own = np.array(ends.first, np.int64), np.array(ends.own, bool)
    kinds: dict[type, list[int]] = {}
    for k, kind in enumerate(ends.kind):
        kinds.setdefault(kind, []).append(k)
    statement = np.repeat(np.arange(len(ends.sizes)), ends.sizes)
    for kind, members in kinds.items():
        at = np.array(members)
        _rows_of_kind(kind, first[at], own[at], statement[at], ends.origins, rows)
    fallback = ends.origins[0] if ends.origins else (connection_rows.__code__, 0)
    for place, kind in _without_connection(ports, first):
        for offset, f in enumerate(kind.fields().values()):
            if f.flow:
                _append(rows, [place + offset], [1], fallback)
    return rows


def _without_connection(
    ports: list[tuple[np.ndarray, np.ndarray, type]], taken: np.ndarray
) -> list[tuple[int, type]]:
    """First variables and types of the ports at which nothing is connected, child by child."""
    found = []
    for n, (firsts, children, kind) in enumerate(ports):
        for k in np.flatnonzero(~np.isin(firsts, taken)).tolist():
            found.append((int(children[k]), n, int(firsts[k]), kind))
    return [(place, kind) for _, _, place, kind in sorted(found, key=lambda f: f[:2])]


def _append(rows: ConnectionRows, col: list[int], val: list[int], origin: Origin) -> None:
    rows.lengths.append(len(col))
    rows.col.extend(col)
    rows.val.extend(val)
    rows.origins.append(origin)


def _rows_of_kind(
    kind: type,
    first: np.ndarray,
    own: np.ndarray,
    stmt: np.ndarray,
    origins: list[Origin],
    rows: ConnectionRows,
) -> None:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    nodes, node = np.unique(first, return_inverse=True)
    owner = np.zeros(len(nodes), bool)
    owner[node] = own
    # a star from the first end of every statement
    head = node[np.unique(stmt, return_index=True)[1]]
    star = head[np.searchsorted(np.unique(stmt), stmt)]
    graph = csr_array((np.ones(len(node), np.int8), (star, node)), shape=(len(nodes), len(nodes)))
    label = connected_components(graph, directed=False)[1]
    at = np.full(len(nodes), -1)
    at[node[::-1]] = stmt[::-1]
    order = np.argsort(label, kind="stable")
    starts = np.flatnonzero(np.r_[True, label[order][1:] != label[order][:-1]])
    sign = np.where(owner, -1, 1)
    for offset, f in enumerate(kind.fields().values()):
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


@frozen
class SignalSet:
    """One source and the signals it feeds."""

    source: Symbol
    targets: list[Symbol]
    origin: Origin


def signal_sets(
    statements: list[tuple[Connect, Origin, Location]], traced: Any, named: Named
) -> list[SignalSet]:
    """Return the directed signal connections; every set has exactly one source.

    Raises
    ------
    PortMismatchError
        When no output feeds a connected set of inputs.
    DuplicateWriterError
        When more than one does.
    """
    joins = [[(id(s.owner), s.name) for s in statement.ends] for statement, _, _ in statements]
    symbols: dict[tuple[int, str], Symbol] = {}
    places: dict[tuple[int, str], tuple[Origin, Location]] = {}
    for (statement, origin, place), ends in zip(statements, joins, strict=True):
        for key, s in zip(ends, statement.ends, strict=True):
            symbols.setdefault(key, s)
            places.setdefault(key, (origin, place))
    number = {key: k for k, key in enumerate(symbols)}
    joined = Union(len(number))
    for first, *others in joins:
        for key in others:
            joined.join(number[key], number[first])
    members: dict[int, list[tuple[int, str]]] = {}
    for key, k in number.items():
        members.setdefault(joined.find(k), []).append(key)
    sets = []
    for keys in members.values():
        sources = [k for k in keys if isinstance(symbols[k].field, Output) != (symbols[k].owner is traced)]
        if len(sources) != 1:
            raise _wrong_sources(
                [symbols[k] for k in keys], [symbols[k] for k in sources], [places[k][1] for k in keys], named
            )
        targets = [symbols[k] for k in keys if k != sources[0]]
        sets.append(SignalSet(symbols[sources[0]], targets, places[keys[0]][0]))
    return sets


def _wrong_sources(
    members: list[Symbol], sources: list[Symbol], places: list[Location], named: Named
) -> PortMismatchError | DuplicateWriterError:
    inputs = ", ".join(f"`{named(s)}`" for s in members if all(s is not x for x in sources))
    where = tuple(dict.fromkeys(places))
    if sources:
        names = " and ".join(f"`{named(s)}`" for s in sources)
        return DuplicateWriterError(
            f"{names} feed one signal{': ' + inputs if inputs else ''}",
            where=where,
            hint="a signal has one source; combine several with a block",
        )
    return PortMismatchError(
        f"{inputs} are joined, but no output feeds them",
        where=where,
        hint="connect an output, or an input of the enclosing component",
    )
