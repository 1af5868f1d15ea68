"""Reading a printed structure again, without its incidence: which names stand in an equation."""

import re

from acausal.diagnosis.structure import Structure

NAME = re.compile(r"der\([\w.\[\]]+(?:, \d)?\)|[A-Za-z_][\w.\[\]]*")


def names(text: str) -> set[str]:
    """Names and derivatives that occur in a text."""
    return set(NAME.findall(text))


def assert_solvable_in_order(structure: Structure) -> None:
    """Every block holds as many equations as unknowns, and reads of the unknowns only its own and those before it."""
    unknowns = {u for block in structure.blocks for u in block.unknowns}
    known: set[str] = set()
    for block in structure.blocks:
        assert len(block.equations) == len(block.unknowns)
        own = set(block.unknowns)
        for text in block.equations:
            if "d/dt" not in text and "^" not in text:
                used = names(text) & unknowns
                assert used <= known | own, f"{text} reads {used - known - own} too early"
        for text in block.solution:
            assert names(text) & unknowns <= known
        known |= own
    assert len(unknowns) == sum(len(b.unknowns) for b in structure.blocks)
