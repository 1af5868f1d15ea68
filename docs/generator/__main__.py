"""Write all generated pages: ``python -m docs.generator`` in the root of the repository."""

from .pages import generated


def main() -> None:
    """Write what has changed and name it."""
    for path, text in generated().items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
            print(path)


if __name__ == "__main__":
    main()
