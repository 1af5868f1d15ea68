"""Ports with nothing connected: their flows are zero, which may be meant or forgotten."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ..errors import AcausalError, listed
from ..modeling.ports import Port
from .flat_model import FlatModel

MOST_NAMED = 4
"""Ports in one sentence."""


@dataclass(frozen=True)
class PortPlace:
    """A port of a model: its component, its name, and its first variable."""

    component: str
    name: str
    kind: type[Port]
    first: int

    def __str__(self) -> str:
        return f"`{self.name}` of `{self.component}`"


def ports(flat: FlatModel) -> Iterator[PortPlace]:
    """Yield the ports of all parts of a model, component by component."""
    for k, s in enumerate(flat.batches):
        for i in range(len(s) if s.template.ports and s.template is not flat.root else 0):
            path, base = flat.path(k, i), int(s.vb[i])
            for name, (kind, first) in s.template.ports.items():
                yield PortPlace(path, name, kind, base + first)


def open_flow(flat: FlatModel, row: int) -> str:
    """Path of the flow that an integer row sets to zero because its port is not connected, "" for other rows."""
    if flat.ptr[row + 1] - flat.ptr[row] != 1:
        return ""
    return "" if flat.row_text(row) else flat.variable(int(flat.col[flat.ptr[row]]))


def open_ports(flat: FlatModel) -> tuple[str, ...]:
    """Return the paths of all ports with nothing connected, in the order of their variables."""
    rows = np.flatnonzero(np.diff(flat.ptr) == 1)
    rows = rows[np.argsort(flat.col[flat.ptr[rows]], kind="stable")]
    flows = (open_flow(flat, k) for k in rows.tolist())
    return tuple(dict.fromkeys(flow.rpartition(".")[0] for flow in flows if flow))


def forgotten_ports(flat: FlatModel, variables: Iterable[int]) -> list[str]:
    """Return the open ports that may have left some variables without reference.

    These are ports with such variables, and ports of the same type of components that nothing is connected to.
    """
    wanted, opened, every = set(variables), set(open_ports(flat)), list(ports(flat))
    kinds = {p.kind for p in every if p.first in wanted}
    connected = {p.component for p in every if f"{p.component}.{p.name}" not in opened}
    return [
        str(p)
        for p in every
        if f"{p.component}.{p.name}" in opened
        and (p.first in wanted or (p.kind in kinds and p.component not in connected))
    ]


def with_open_ports(error: AcausalError, flat: FlatModel) -> AcausalError:
    """Return an error whose hint ends with the unconnected ports of the components that it concerns, and of the model."""
    paths = [*(place.path for place in error.where), *error.about]

    def concerns(path: str) -> bool:
        return any(f"{concerned}.".startswith(f"{path}.") for concerned in paths)

    ends = (port.rpartition(".")[::2] for port in open_ports(flat))
    found = [f"`{name}` of `{path}`" for path, name in ends if path and concerns(path)]
    if found:
        error.advise(not_connected(found))
    concerned = {path.partition(".")[0] for path in error.about}
    own = [f"`{name}`" for name in flat.root.ports if name in concerned]
    if own:
        error.advise(
            f"{_listed(own)} of the model itself {'are' if len(own) > 1 else 'is'} open, so that anything may pass: make the"
            " model a part of another one, in which nothing passes a port that is not connected"
        )
    return error


def not_connected(names: Sequence[str]) -> str:
    """Return the sentence that ports, such as "`p` of `ground`", are not connected."""
    return f"{_listed(names)} {'are' if len(names) > 1 else 'is'} not connected to anything"


def _listed(names: Sequence[str]) -> str:
    return f"port{'s' * (len(names) > 1)} {listed(names, MOST_NAMED)}"
