"""Pictures of a structure: incidence in solution order, and the graph of the components."""

from __future__ import annotations

from typing import Any

import numpy as np

from .component_graph import ComponentGraph, component_graph
from .sequence import SolutionOrder

MOST_LABELS = 40
"""Equations, or components, up to which names are written."""
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

    ax = new_axes(8.0, 6.0) if ax is None else ax
    blocks, incidence = order.sorted, order.system.incidence
    n = len(blocks.equations)
    across, down = np.zeros(n, np.int64), np.zeros(n, np.int64)
    down[blocks.equations], across[blocks.unknowns] = np.arange(n), np.arange(n)
    frames = [
        Rectangle((a - 0.5, a - 0.5), b - a, b - a)
        for a, b in zip(blocks.ptr[:-1].tolist(), blocks.ptr[1:].tolist(), strict=True)
        if n <= MOST_LABELS or b - a > 1
    ]
    ax.add_collection(PatchCollection(frames, facecolor="none", edgecolor="tab:orange"))
    size = min(30.0, max(1.0, 900.0 / max(n, 1)))
    ax.scatter(across[incidence.col], down[incidence.row], s=size, marker="s", color="tab:blue")
    ax.set(xlim=(-1, n), ylim=(n, -1), aspect="equal", title=title, xlabel="unknowns", ylabel="equations")
    if n <= MOST_LABELS:
        system = order.system
        font = min(9.0, max(5.0, 180.0 / max(n, 1)))
        ax.set_xticks(
            range(n), [system.unknown(c) for c in blocks.unknowns.tolist()], rotation=90, fontsize=font
        )
        ax.set_yticks(range(n), [_cut(system.text(r)) for r in blocks.equations.tolist()], fontsize=font)
    return ax


def _cut(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:37]}..."


def draw_components(order: SolutionOrder, title: str, ax: Any = None) -> Any:
    """Draw components as named nodes, connection sets as dots between them, signals as arrows."""
    import networkx as nx

    ax = new_axes(7.0, 5.0) if ax is None else ax
    found = component_graph(order.system.equations)
    graph, place = _layout(found)
    sets = [n for n in graph if n[0] == "set"]
    parts = [n for n in graph if n[0] == "part"]
    wires = [(a, b) for a, b in graph.edges if "set" in (a[0], b[0])]
    arrows = [(a, b) for a, b in graph.edges if (a, b) not in set(wires)]
    nx.draw_networkx_edges(graph, place, edgelist=wires, ax=ax, edge_color="gray")
    nx.draw_networkx_edges(graph, place, edgelist=arrows, ax=ax, edge_color="tab:green", style="dashed")
    nx.draw_networkx_nodes(graph, place, nodelist=sets, ax=ax, node_size=15, node_color="black")
    many = len(parts) > MOST_LABELS
    nx.draw_networkx_nodes(
        graph, place, nodelist=parts, ax=ax, node_size=20 if many else 300, node_color="tab:blue", alpha=0.4
    )
    if not many:
        names = {n: found.components[n[1]] or "(model)" for n in parts}
        nx.draw_networkx_labels(graph, place, names, ax=ax, font_size=8)
    ax.set(title=title)
    ax.set_axis_off()
    return ax


def _layout(found: ComponentGraph) -> tuple[Any, Any]:
    """The graph with positions, the same in every process."""
    import networkx as nx

    graph = nx.Graph()
    graph.add_nodes_from(("part", k) for k in range(len(found.components)))
    for k, members in enumerate(found.sets):
        graph.add_edges_from((("part", c), ("set", k)) for c in members)
    graph.add_edges_from((("part", a), ("part", b)) for a, b in found.signals)
    if len(graph) > LARGE:
        return graph, nx.spring_layout(graph, seed=1)
    return graph, nx.kamada_kawai_layout(graph) if len(graph) > 1 else nx.circular_layout(graph)
