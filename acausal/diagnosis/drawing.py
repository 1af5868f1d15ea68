"""Pictures of a structure: incidence in solution order, and the graph of the components."""

from __future__ import annotations

from typing import Any

import numpy as np

from .component_graph import ComponentGraph, component_graph
from .sequence import SolutionOrder

MOST_LABELS = 40
"""Components up to which names are written."""
MOST_ROWS = 80
"""Equations up to which they are written beside the picture."""
FONT = 8
"""Points of the names of components."""
ROUNDS = 200
"""Times that names which cover each other are moved apart."""
LARGE = 120
"""Nodes from which the layout is found by springs, which takes less time."""


def new_axes(width: float, height: float) -> Any:
    """Return axes of a new figure, made by pyplot, so that ``matplotlib.pyplot.show()`` shows it."""
    import matplotlib.pyplot as plt

    return plt.subplots(figsize=(width, height), layout="constrained")[1]


def draw_incidence(order: SolutionOrder, title: str, ax: Any = None) -> Any:
    """Draw a mark for every unknown in every equation, and a frame around every block."""
    from matplotlib.collections import PatchCollection
    from matplotlib.patches import Rectangle

    blocks, incidence = order.sorted, order.system.incidence
    n = len(blocks.equations)
    side = 0.15 * min(n, MOST_ROWS) + 2.0
    ax = new_axes(max(8.0, side + 3.0), max(6.0, side)) if ax is None else ax
    across, down = np.zeros(n, np.int64), np.zeros(n, np.int64)
    down[blocks.equations], across[blocks.unknowns] = np.arange(n), np.arange(n)
    frames = [
        Rectangle((a - 0.5, a - 0.5), b - a, b - a)
        for a, b in zip(blocks.ptr[:-1].tolist(), blocks.ptr[1:].tolist(), strict=True)
        if n <= MOST_ROWS or b - a > 1
    ]
    ax.add_collection(PatchCollection(frames, facecolor="none", edgecolor="tab:orange"))
    size = min(30.0, max(1.0, 900.0 / max(n, 1)))
    ax.scatter(across[incidence.col], down[incidence.row], s=size, marker="s", color="tab:blue")
    ax.set(xlim=(-1, n), ylim=(n, -1), aspect="equal", title=title, xlabel="unknowns", ylabel="equations")
    if n <= MOST_ROWS:
        system = order.system
        inches = 0.7 * min(ax.get_figure().get_size_inches())
        font = min(9.0, max(4.0, 72.0 * inches / max(n, 1)))
        ax.set_xticks(
            range(n), [system.unknown(c) for c in blocks.unknowns.tolist()], rotation=90, fontsize=font
        )
        ax.set_yticks(range(n), [_cut(system.text(r)) for r in blocks.equations.tolist()], fontsize=font)
    return ax


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."


def draw_components(order: SolutionOrder, title: str, ax: Any = None) -> Any:
    """Draw components as named boxes, connection sets as dots between them, signals as arrows."""
    import networkx as nx

    found = component_graph(order.system.equations)
    many = len(found.components) > MOST_LABELS
    ax = new_axes(*_size(found)) if ax is None else ax
    graph, place = _layout(found)
    parts = [n for n in graph if n[0] == "part"]
    names = {n: found.components[n[1]] or "(model)" for n in parts}
    if not many:
        place = _apart(place, names, ax)
    sets = [n for n in graph if n[0] == "set"]
    wires = [(a, b) for a, b in graph.edges if "set" in (a[0], b[0])]
    arrows = [(("part", a), ("part", b)) for a, b in found.signals]
    nx.draw_networkx_edges(graph, place, edgelist=wires, ax=ax, edge_color="gray")
    nx.draw_networkx_edges(
        graph, place, edgelist=arrows, ax=ax, edge_color="tab:green", style="dashed", arrows=True, arrowstyle="-|>",
        node_size=700,
    )  # fmt: skip
    nx.draw_networkx_nodes(graph, place, nodelist=sets, ax=ax, node_size=15, node_color="black")
    if many:
        nx.draw_networkx_nodes(graph, place, nodelist=parts, ax=ax, node_size=20, alpha=0.4)
    else:
        box = {"boxstyle": "round", "facecolor": "lightsteelblue", "edgecolor": "tab:blue"}
        nx.draw_networkx_labels(graph, place, names, ax=ax, font_size=FONT, bbox=box)
    ax.set(title=title)
    ax.margins(0.12)
    ax.set_axis_off()
    return ax


def _size(found: ComponentGraph) -> tuple[float, float]:
    """Inches that leave every name some room."""
    side = 1.9 * min(len(found.components), MOST_LABELS) ** 0.5
    return max(7.0, side), max(5.0, 0.7 * side)


def _layout(found: ComponentGraph) -> tuple[Any, Any]:
    """The graph with positions that fill the square from -1 to 1, the same in every process."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(("part", k) for k in range(len(found.components)))
    for k, members in enumerate(found.sets):
        graph.add_edges_from((("part", c), ("set", k)) for c in members)
    graph.add_edges_from((("part", a), ("part", b)) for a, b in found.signals)
    if len(graph) > LARGE:
        return graph, nx.spring_layout(graph, seed=1)
    if len(graph) < 3:
        return graph, nx.circular_layout(graph)
    place = nx.kamada_kawai_layout(graph)
    x = np.array(list(place.values()))
    low, high = x.min(axis=0), x.max(axis=0)
    x = 2.0 * (x - low) / np.where(high > low, high - low, 1.0) - 1.0
    return graph, dict(zip(place, x, strict=True))


def _apart(place: Any, names: Any, ax: Any) -> Any:
    """Positions at which no name covers another one or a dot."""
    inches = ax.get_figure().get_size_inches() * 0.8 / 2.0
    nodes = list(place)
    x = np.array([place[n] for n in nodes])
    letters = np.array([len(names.get(n, "")) for n in nodes])
    width, height = (0.07 * letters + 0.15) / inches[0], np.where(letters > 0, 0.3, 0.1) / inches[1]
    size = np.stack([width, height], axis=1)
    for _ in range(ROUNDS):
        gap = x[:, None] - x[None]
        over = (size[:, None] + size[None]) / 2.0 - np.abs(gap)
        pairs = np.argwhere(np.triu((over > 1e-9).all(axis=2), 1))
        if not len(pairs):
            break
        for i, j in pairs.tolist():
            axis = int(np.argmin(over[i, j]))
            step = 0.55 * over[i, j, axis] * (1.0 if gap[i, j, axis] >= 0.0 else -1.0)
            x[i, axis] += step
            x[j, axis] -= step
    return dict(zip(nodes, x, strict=True))
