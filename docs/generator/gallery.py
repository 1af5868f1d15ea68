"""The page of the examples, from the first lines of their docstrings."""

from __future__ import annotations

import ast
from pathlib import Path

HEADER = """# Examples

Each script in [examples](../examples) answers one engineering question. Run it with
`python examples/buck_converter.py`; it prints the answer and draws it. The description of the model and the theory stand
at the top of the script.

| script | question |
|---|---|
"""


def question(script: Path) -> str:
    """Return the first line of the docstring of a script."""
    text = ast.get_docstring(ast.parse(script.read_text(encoding="utf-8")))
    if not text:
        raise ValueError(f"{script} has no docstring: it opens with the question that the script answers")
    return " ".join(text.split("\n\n")[0].split()).replace("``", "`").replace("|", "\\|")


def page(examples: Path) -> str:
    """Return the page of all scripts of a folder."""
    scripts = sorted(examples.glob("[!_]*.py"))
    return HEADER + "".join(f"| [{s.name}](../examples/{s.name}) | {question(s)} |\n" for s in scripts)
