"""Condensation of a network to the ports of its storage elements and diodes.

Unknowns are node potentials, the currents of all elements, and the voltages of storage elements and diodes. Gaussian
elimination with rational numbers removes everything but the port quantities; what is left are equations
``sum over ports (a v + b i) = sources``, the sources given by their Taylor coefficients (value, derivative, ...).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tests.oracles.networks import GROUND, Element

ONE = Fraction(1)


@dataclass(frozen=True)
class PortRow:
    """Coefficients (of voltage, of current) per storage element and per diode, and the source terms."""

    storage: tuple[tuple[Fraction, Fraction], ...]
    diodes: tuple[tuple[Fraction, Fraction], ...]
    sources: tuple[Fraction, ...]


@dataclass(frozen=True)
class Ports:
    """Port description; `diodes` are the elements that block: `enabled` tells which of them may conduct.

    Thyristors neither fired nor latched and open switches block for good.
    """

    storage: tuple[Element, ...]
    diodes: tuple[Element, ...]
    enabled: tuple[bool, ...]
    rows: tuple[PortRow, ...]


Row = dict[Any, Fraction]


def condense(network: Sequence[Element]) -> Ports:
    """Port equations of `network`; independent of the state and of the diodes' conduction."""
    storage = tuple(e for e in network if e.kind in "LC")
    diodes = tuple(e for e in network if e.kind in "DT" or (e.kind == "S" and not e.value))
    enabled = tuple(e.kind == "D" or bool(e.value) for e in diodes)
    ports = {(quantity, e.name) for e in (*storage, *diodes) for quantity in "vi"}
    rows = [*_node_rows(network), *(row for e in network for row in _element_rows(e))]
    return Ports(
        storage, diodes, enabled, tuple(_port_row(row, storage, diodes) for row in _reduce(rows, ports))
    )


def _node_rows(network: Sequence[Element]) -> list[Row]:
    nodes = dict.fromkeys(node for e in network for node in (e.p, e.n))
    rows = []
    for node in nodes:
        row: Row = {}
        for e in network:
            _add(row, ("i", e.name), ONE * ((e.p == node) - (e.n == node)))
        rows.append(row)
    return rows


def _element_rows(e: Element) -> list[Row]:
    """Potential difference of a port, or the equation of a resistor, source or closed switch."""
    difference: Row = {}
    for node, sign in ((e.p, 1), (e.n, -1)):
        if node != GROUND:
            _add(difference, ("e", node), ONE * sign)
    current = ("i", e.name)
    if e.kind in "LCDT" or (e.kind == "S" and not e.value):
        return [_plus(difference, ("v", e.name), -ONE)]
    if e.kind == "R":
        return [_plus(difference, current, -Fraction(e.value))]
    if e.kind == "S":
        return [difference]
    if e.kind not in "VI":
        msg = f"unknown kind {e.kind!r} of element {e.name!r}"
        raise ValueError(msg)
    taylor = e.value if isinstance(e.value, tuple) else (e.value,)
    row = difference if e.kind == "V" else {current: ONE}
    for k, value in enumerate(taylor):
        row = _plus(row, ("rhs", k), -Fraction(value))
    return [row]


def _add(row: Row, key: Any, value: Fraction) -> None:
    total = row.get(key, Fraction(0)) + value
    if total:
        row[key] = total
    else:
        row.pop(key, None)


def _plus(row: Row, key: Any, value: Fraction) -> Row:
    result = dict(row)
    _add(result, key, value)
    return result


def _reduce(rows: list[Row], ports: set[Any]) -> list[Row]:
    """Eliminate everything that is neither a port quantity nor a source; shortest row and unit pivots first."""
    pending = [row for row in rows if row]
    done: list[Row] = []
    while pending:
        pending.sort(key=len)
        row = pending.pop(0)
        inner = [key for key in row if key not in ports and key[0] != "rhs"]
        if not inner:
            done.append(row)
            continue
        pivot = min(inner, key=lambda key: (abs(row[key]) != 1, sum(key in other for other in pending)))
        rest = []
        for other in pending:
            if pivot in other:
                factor = other[pivot] / row[pivot]
                other = dict(other)
                for key, value in row.items():
                    _add(other, key, -factor * value)
            if other:
                rest.append(other)
        pending = rest
    return done


def _port_row(row: Row, storage: tuple[Element, ...], diodes: tuple[Element, ...]) -> PortRow:
    def pairs(elements: tuple[Element, ...]) -> tuple[tuple[Fraction, Fraction], ...]:
        zero = Fraction(0)
        return tuple((row.get(("v", e.name), zero), row.get(("i", e.name), zero)) for e in elements)

    orders = [key[1] for key in row if key[0] == "rhs"]
    sources = tuple(-row.get(("rhs", k), Fraction(0)) for k in range(max(orders, default=0) + 1))
    return PortRow(pairs(storage), pairs(diodes), sources)
