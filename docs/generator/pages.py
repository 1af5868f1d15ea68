"""All generated pages with their paths."""

from __future__ import annotations

from pathlib import Path

from . import api, figures, gallery, library

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs" / "reference"

INDEX = """# Reference

Generated from fields and docstrings by `make docs`; to change a page, change the docstring.

**The package**

- [The language](language.md): {language}
- [Running and results](running.md): {running}
- [Errors](errors.md): {errors}

**The component library**

{library}

**Terms**

- [Glossary](glossary.md): every term of code, messages and documentation, each with one meaning.

## How to read the tables of components

Names, parameters and equations follow the Modelica Standard Library where it has the class. All units are SI.

| kind | what it is | how it is used |
|---|---|---|
| parameter | number that is fixed during a run | keyword: `Resistor(R=5.0)`; `required` has no default |
| structural | plain Python value that may decide which equations there are | keyword, not changed by `parameters=` of a run |
| input | signal that comes from outside | keyword, `PWM(frequency=1e5, duty=0.4)`, or `connect` |
| output | signal that the component determines | `connect`, or in an expression |
| port | where components are connected | `connect(a.p, b.n)` |
| variable | continuous unknown | `result["load.v"]`; as keyword its start value, `Capacitor(C=1e-6, v=10.0)` |
| discrete | variable that changes only at instants | as a variable |
| mode | branch in force of an ideal element | `result["diode.on"]` |
| part | component inside | `result["leg.diode.v"]` |

A start value is the value before the first instant; `v=Start(10.0, fixed=True)` must hold after it as well, see
[initial values](../concepts/initial_values.md). Flows are positive into the component, see
[sign convention](../concepts/sign_convention.md). A row without unit has that of what is connected.

Partial classes, those of which the docstring or the name says so, lack equations: they are there to be extended, see
[write a component](../howto/write_a_component.md).
"""


def generated() -> dict[Path, str]:
    """Return the text of every generated page, and of the readme with its table of figures."""
    pages = {REFERENCE / f"{name}.md": api.page(name) for name in api.PAGES}
    for package in library.packages():
        pages[REFERENCE / f"{package.__name__.rpartition('.')[2]}.md"] = library.page(package)
    texts = {name: text for name, (_, text) in api.PAGES.items()}
    pages[REFERENCE / "index.md"] = INDEX.format(library="\n".join(library.index_rows()), **texts)
    pages[ROOT / "docs" / "examples.md"] = gallery.page(ROOT / "examples")
    measured = figures.read(ROOT / "benchmarks" / "figures.json")
    pages[ROOT / "docs" / "figures.md"] = figures.page(measured)
    readme = ROOT / "README.md"
    pages[readme] = figures.inserted(readme.read_text(encoding="utf-8"), measured)
    return pages
