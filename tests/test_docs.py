"""The documentation holds: examples run, links lead somewhere, generated pages are up to date and complete."""

import doctest
import re
from dataclasses import dataclass
from pathlib import Path

import pytest

import acausal
from acausal.errors import AcausalError
from docs.generator import api, docstrings, figures, library
from docs.generator.pages import generated

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MAPS = [ROOT / "docs" / "index.md", ROOT / "docs" / "reference" / "index.md"]
BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n```text\n(.*?)^```$)?", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")
HEADING = re.compile(r"^#+ (\w+)$", re.MULTILINE)
LARGEST_PICTURE = 60_000


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Example:
    """A Python block of a page, and the text block right below it: what it prints."""

    source: str
    """Below as many empty lines as stand before it in the page, so that errors tell the line."""
    printed: str | None


def examples(text: str) -> list[Example]:
    return [Example("\n" * text.count("\n", 0, m.start(1)) + m[1], m[2]) for m in BLOCK.finditer(text)]


def headings(page: Path) -> set[str]:
    return set(HEADING.findall(page.read_text(encoding="utf-8")))


WITH_EXAMPLES = [page for page in PAGES if examples(page.read_text(encoding="utf-8"))]


@pytest.mark.sweep(every=6)
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_the_examples_of_a_page_run_in_order_and_print_what_stands_below(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": page.stem}
    for example in examples(page.read_text(encoding="utf-8")):
        capsys.readouterr()
        exec(compile(example.source, str(page), "exec"), namespace)
        printed = capsys.readouterr().out
        if example.printed is not None:
            same = doctest.OutputChecker().check_output(example.printed, printed, doctest.ELLIPSIS)
            assert same, f"{page.name} says\n{example.printed}\nbut printed is\n{printed}"
    plt.close("all")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_between_pages_lead_to_files(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_the_maps_link_every_page() -> None:
    linked = {(m.parent / t).resolve() for m in MAPS for t in LINK.findall(m.read_text(encoding="utf-8"))}
    assert [name_of(p) for p in PAGES[1:] if p != MAPS[0] and p not in linked] == []


def test_examples_are_found_with_their_lines_and_output() -> None:
    text = "a\n```python\nx = 1\n```\nb\n```\nno\n```\n```python\ny\n```\n\n```text\nz\n```\n"
    assert examples(text) == [Example("\n\nx = 1\n", None), Example("\n" * 9 + "y\n", "z\n")]


def test_generated_pages_are_up_to_date() -> None:
    changed = [
        p for p, text in generated().items() if not p.exists() or p.read_text(encoding="utf-8") != text
    ]
    assert [name_of(p) for p in changed] == [], "run `make docs` and commit what it writes"


def test_no_page_of_the_reference_is_left_from_earlier() -> None:
    reference = ROOT / "docs" / "reference"
    kept = {reference / "glossary.md"}
    assert [name_of(p) for p in reference.glob("*.md") if p not in generated().keys() | kept] == []


@pytest.mark.parametrize("package", library.packages(), ids=library.title_of)
def test_the_reference_holds_all_components(package) -> None:
    page = ROOT / "docs" / "reference" / f"{package.__name__.rpartition('.')[2]}.md"
    assert [x.__name__ for x in library.exports(package) if x.__name__ not in headings(page)] == []


def test_the_reference_holds_all_public_names() -> None:
    pages = [ROOT / "docs" / "reference" / f"{page}.md" for page in api.PAGES]
    found = set().union(*(headings(page) for page in pages))
    errors = pages[-1].read_text(encoding="utf-8")
    found |= {n for n in api.public() if f"- `{n}`" in errors}
    assert sorted(api.public().keys() - found) == []
    exported = {n for n, o in vars(acausal).items() if not n.startswith("_") and type(o).__name__ != "module"}
    assert exported <= found


def test_every_public_name_has_a_docstring() -> None:
    assert [n for n, o in api.public().items() if not docstrings.text_of(o)] == []


def test_the_errors_form_one_tree() -> None:
    kinds = [o for o in api.public().values() if isinstance(o, type) and issubclass(o, Exception)]
    errors = [o for o in kinds if not issubclass(o, Warning)]
    assert [e for e in errors if not issubclass(e, AcausalError)] == []


def test_the_glossary_gives_each_term_one_meaning() -> None:
    rows = (ROOT / "docs" / "reference" / "glossary.md").read_text(encoding="utf-8").splitlines()
    terms = [line.split("|")[1].strip() for line in rows if line.startswith("| ") and "| term |" not in line]
    single = [term for cell in terms for term in cell.split(", ")]
    assert sorted({term for term in single if single.count(term) > 1}) == []


def test_pictures_are_small() -> None:
    pictures = sorted((ROOT / "docs" / "images").iterdir())
    assert [name_of(p) for p in pictures if p.stat().st_size > LARGEST_PICTURE] == []


class Documented:
    """Do something with ``x``.

    More about it.

    Parameters
    ----------
    x, y : float
        Two numbers
        on two lines.
    z
        Without type.

    Raises
    ------
    ParameterError
        If ``x`` is odd.

    Notes
    -----
    See below.

    mode : str
        How it works.
    """

    def call(self, x: int, *rest: float, mode: str = "auto", step: float = 1e-3) -> str: ...


def test_numpydoc_becomes_markdown() -> None:
    text = docstrings.markdown(Documented)
    assert text.startswith("Do something with `x`.\n\nMore about it.\n\n**Parameters**\n\n")
    assert "- `x`, `y` (float): Two numbers on two lines.\n- `z`: Without type.\n\n**Raises**" in text
    assert "- `ParameterError`: If `x` is odd." in text
    assert text.endswith("**Notes**\n\nSee below.\n\n- `mode` (str): How it works.")


def test_a_signature_shows_annotations_as_written() -> None:
    shown = docstrings.signature("call", Documented.call)
    assert shown == 'call(x: int, *rest: float, mode: str = "auto", step: float = 0.001) -> str'


def test_figures_are_inserted_between_their_marks() -> None:
    row = {"script": "buck", "question": "buck", "figure": 0.1234, "goal": 0.2, "error": 2e-14, "unit": "s"}
    machine = {"processor": "P", "cores": 2, "system": "S", "versions": {"Python": "3.11"}, "load": 0.0}
    measured = {"date": "2026-01-02", "machine": machine, "rows": [row]}
    text = figures.inserted(f"a\n{figures.BEGIN}\nold\n{figures.END}\nb", measured)
    assert "| buck | 123 ms | 2e-14 |" in text
    assert "2026-01-02: P, 2 cores, S, Python 3.11" in text
    assert text.startswith("a\n") and text.endswith("\nb") and "old" not in text
