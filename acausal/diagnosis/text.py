"""A structure as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ..errors import counted, shortened
from .facts import Facts
from .sequence import Block

SHORT = 12
"""Entries of a list that are shown without being asked for all."""
LONGEST = 110
"""Characters of an equation that are shown without being asked for all."""
MANY_BLOCKS = 60
"""Blocks up to which the whole sequence is shown."""


def structure_text(s: Facts, full: bool) -> str:
    """Return the text of a structure."""
    return "\n".join(_lines(s, full))


def _lines(s: Facts, full: bool) -> Iterator[str]:
    c = s.counts
    how = "as solved" if s.reduced else "as written"
    yield f"{s.label}, {how}: {counted(c.equations, 'equation')} for {counted(c.unknowns, 'unknown')}"
    yield (
        f"  {counted(c.components, 'component')}, {counted(c.connections, 'equation')} of connections,"
        f" {counted(c.parameters, 'parameter')}, {counted(c.discretes, 'discrete variable')}"
    )
    if s.reduced:
        yield (
            f"  {counted(c.aliases, 'alias', 'aliases')} eliminated, {counted(c.kept, 'unknown')}"
            f" in {counted(len(s.blocks), 'block')}"
        )
    if s.mode:
        yield from _list("mode", (f"{name}: {branch}" for name, branch in s.mode.items()), len(s.mode), full)
    inputs = (
        f"{name} = {value:.6g}" if isinstance(value, float) else f"{name} = {value}"
        for name, value in s.inputs.items()
    )
    yield from _list("inputs", inputs, len(s.inputs), full)
    if s.freedom is None:
        yield "  structurally singular"
    else:
        yield f"  index {s.index}, {counted(s.freedom, 'state')}, {counted(len(s.constraints), 'constraint')}"
    yield from _findings(s, full)
    yield from _sequence(s, full)
    if full and s.aliases:
        yield "aliases"
        for a in s.aliases:
            names = ", ".join(("-" if m.sign < 0 else "") + m.name for m in a.members)
            yield f"  {a.representative} = {names}"


def _findings(s: Facts, full: bool) -> Iterator[str]:
    constraints = (
        line
        for c in s.constraints
        for line in (
            f"{c.text}" + (f"  determines {c.variable}" if c.variable else ""),
            f"    {'differentiated ' + _times(c.order) + ', ' if c.order else ''}from "
            + "; ".join(
                f"{e} ({p})" if full and str(p) else e
                for e, p in zip(c.equations[:4], c.places, strict=False)
            ),
        )
    )
    yield from _list("constraints", constraints, 2 * len(s.constraints), full)
    states = [f"{x.name}  {x.why}" for x in s.states]
    if s.tied:
        names = _some(s.tied, len(s.tied) if full else SHORT)
        how = "numbers decide which" + ("" if s.reduced else ": reduce=True")
        states.insert(0, f"{(s.freedom or 0) - len(s.states)} of {names}, which constraints tie; {how}")
    yield from _list("states", states, len(states), full)
    if s.iteration:
        yield f"iteration on {_some(s.iteration, SHORT if not full else len(s.iteration))}"
    yield from _list("equations too many", s.surplus, len(s.surplus), full)
    yield from _list("unknowns without equation", s.open, len(s.open), full)
    yield from _list("conflicts", s.conflicts, len(s.conflicts), full)
    yield from _list("ports not connected", s.open_ports, len(s.open_ports), full)
    yield from _list("notes", s.notes, len(s.notes), full)


def _list(title: str, entries: Iterable[str], count: int, full: bool) -> Iterator[str]:
    if not count:
        return
    yield title
    for n, text in enumerate(entries):
        if n == SHORT and not full:
            yield f"  ... {count - SHORT} more"
            return
        yield f"  {text}"


def _sequence(s: Facts, full: bool) -> Iterator[str]:
    yield "sequence"
    count = len(s.blocks)
    shown = count if full or count <= MANY_BLOCKS else SHORT
    for k in range(shown):
        yield from (f"  {line}" for line in block_lines(s.blocks[k], full))
    if shown == count:
        return
    yield f"  ... {count - shown} more blocks"
    loops = s.blocks.loops
    for block in loops[:SHORT]:
        yield f"  {_heading(block)}"
    if len(loops) > SHORT:
        largest = max(len(b.unknowns) for b in loops)
        yield f"  ... {len(loops) - SHORT} more loops, the largest of {largest} equations"


def block_lines(block: Block, full: bool = False) -> Iterator[str]:
    """Yield the lines that show a block."""
    if block.is_assignment:
        yield f"{_assignment(block, 0)}{_place(block, 0)}" if full else _cut(_assignment(block, 0))
        return
    yield _heading(block) + (_place(block, 0) if full and not block.is_loop else "")
    if not block.is_loop:
        return
    if block.solution:
        for k in range(len(block.unknowns)):
            yield f"    {_assignment(block, k)}"
    shown = len(block.equations) if full else SHORT
    if full or not block.solution:
        for k, text in enumerate(block.equations[:shown]):
            yield f"    {text}{_place(block, k)}" if full else f"    {_cut(text)}"
    if not block.solution:
        if len(block.equations) > shown:
            yield f"    ... {len(block.equations) - shown} more equations"
        yield f"    tearing {_some(block.tearing)}; residual {_some(block.residuals)}"


def _heading(block: Block) -> str:
    kind = "linear" if block.linear else "nonlinear"
    names = _some(block.unknowns, 8)
    if block.is_loop:
        return f"{kind} loop of {len(block.equations)} equations for {names}"
    return f"{names} from the {kind} equation {_cut(block.equations[0])}"


def _assignment(block: Block, k: int) -> str:
    value, text = block.values[k] if block.values else None, block.solution[k]
    shown = "" if value is None or _is_number(text) else f" = {value:.10g}"
    return f"{block.unknowns[k]} = {text}{shown}"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _place(block: Block, k: int) -> str:
    return f"   [{block.places[k]}]" if str(block.places[k]) else ""


def _some(texts: tuple[str, ...], most: int = 4) -> str:
    more = f", ... ({len(texts)} altogether)" if len(texts) > most else ""
    return ("; " if any(" = " in t for t in texts) else ", ").join(_cut(t) for t in texts[:most]) + more


def _cut(text: str) -> str:
    return shortened(text, LONGEST)


def _times(order: int) -> str:
    return {1: "once", 2: "twice"}.get(order, f"{order} times")
