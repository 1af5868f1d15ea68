"""The documentation holds: its examples run, its links lead somewhere, and the index knows every page."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\((?!https?:)([^)#\s]+)")


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def blocks(text: str) -> list[str]:
    """Python examples of a page, each below as many empty lines as stand before it, so that errors tell the line."""
    return ["\n" * text.count("\n", 0, found.start(1)) + found[1] for found in BLOCK.finditer(text)]


WITH_EXAMPLES = [page for page in PAGES if blocks(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_the_examples_of_a_page_run_in_order(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import matplotlib.pyplot as plt

    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": page.stem}
    for source in blocks(page.read_text(encoding="utf-8")):
        exec(compile(source, str(page), "exec"), namespace)
    plt.close("all")


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_between_pages_lead_to_files(page: Path) -> None:
    targets = LINK.findall(page.read_text(encoding="utf-8"))
    assert [t for t in targets if not (page.parent / t).exists()] == []


def test_the_index_links_every_page() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {(index.parent / t).resolve() for t in LINK.findall(index.read_text(encoding="utf-8"))}
    assert [name_of(p) for p in PAGES[1:] if p != index and p not in linked] == []


def test_examples_are_found_with_their_lines() -> None:
    assert blocks("a\n```python\nx = 1\n```\nb\n```\nno\n```\n") == ["\n\nx = 1\n"]
