"""Tables of measured figures, from the file that ``benchmarks/run_all.py --save`` writes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

BEGIN, END = "<!-- figures: written by `make figures` -->", "<!-- end of figures -->"
PEERS = "beside_peers"
DETAILS = re.compile(r"with Ron and Roff|N = 100:|N = 1000: (run|build$)|growth exponent|import alone")
"""Cases that are not ideal, and parts of others, stand on the page only."""
ERROR = "Error: the largest deviation from an exact solution, relative to its largest magnitude."
PAGE = """# Figures

How fast and how exact the library is, measured by `make bench`. `make figures` measures anew and rewrites this page and
the table of the readme from `benchmarks/figures.json`.

{machine}

{own}

The error is the largest deviation from the reference, relative to the largest magnitude of the reference: a closed
form or a piecewise-exact solution that shares no code with the library. `warm` means that the model has been compiled
and run before in the same process. A figure without goal is not judged.

## Beside other tools

{peers}
"""
NO_PEERS = "Not measured on this machine: no other tool is installed there."


def read(file: Path) -> dict[str, Any]:
    """Return the content of the file of figures."""
    return json.loads(file.read_text(encoding="utf-8"))


def machine(figures: dict[str, Any]) -> str:
    """Return where and when the figures were measured."""
    m = figures["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in m["versions"].items())
    return (
        f"Measured on {figures['date']}: {m['processor']}, {m['cores']} cores, {m['system']}, {versions}; "
        f"one thread, load average before the run {m['load']:.1f}."
    )


def amount(figure: float | None, unit: str) -> str:
    """Return a figure with three digits and the prefix that fits."""
    if figure is None:
        return ""
    if unit != "s":
        return f"{figure:.3g} {unit}"
    scale, name = (1.0, "s") if figure >= 1 else (1e3, "ms")
    return f"{figure * scale:.3g} {name}"


def own_rows(figures: dict[str, Any], judged: bool) -> Iterator[str]:
    """Yield the lines of the table of the library's own figures, with goals if they are judged."""
    goals = (" goal |", "---|") if judged else ("", "")
    yield f"| case | time |{goals[0]} error |"
    yield f"|---|---|{goals[1]}---|"
    for row in figures["rows"]:
        if row["script"] == PEERS or (DETAILS.search(row["question"]) and not judged):
            continue
        goal = f" {amount(row['goal'], row['unit'])} |" if judged else ""
        error = "" if row["error"] is None else f"{row['error']:.0e}"
        yield f"| {row['question']} | {amount(row['figure'], row['unit'])} |{goal} {error} |"


def peer_rows(figures: dict[str, Any]) -> Iterator[str]:
    """Yield the lines of the table of other tools, or why there is none."""
    rows = [row for row in figures["rows"] if row["script"] == PEERS]
    if not rows:
        yield NO_PEERS
        return
    yield from ("| case and tool | time | error | |", "|---|---|---|---|")
    for row in rows:
        error = "" if row["error"] is None else f"{row['error']:.0e}"
        yield f"| {row['question']} | {amount(row['figure'], row['unit'])} | {error} | {row['note']} |"


def page(figures: dict[str, Any]) -> str:
    """Return the page of all figures."""
    own, peers = "\n".join(own_rows(figures, True)), "\n".join(peer_rows(figures))
    return PAGE.format(machine=machine(figures), own=own, peers=peers)


def inserted(text: str, figures: dict[str, Any]) -> str:
    """Return a text with the table between its two marks written anew."""
    before, rest = text.split(BEGIN)
    after = rest.split(END)[1]
    table = "\n".join([*own_rows(figures, False), "", ERROR, machine(figures)])
    return f"{before}{BEGIN}\n{table}\n{END}{after}"
