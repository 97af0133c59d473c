"""A figure that stands on several pages is the same on all of them."""

from tests.support.code_blocks import ROOT


def rows(page: str, words: str) -> list[list[str]]:
    """List the rows of the table of a page whose head has these words: their cells."""
    lines = (ROOT / page).read_text(encoding="utf-8").splitlines()
    head = next(at for at, line in enumerate(lines) if line.startswith("|") and words in line)
    table = lines[head + 2 : next(at for at in range(head, len(lines)) if not lines[at].startswith("|"))]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table]


def test_readme_has_the_scores_of_the_method() -> None:
    """Each of its rows is one of docs/method.md, where they are measured."""
    ours, measured = (rows(page, "pages with 2 siblings or more (2,167)") for page in ("README.md", "docs/method.md"))

    assert ours
    assert [] == [row for row in ours if row not in measured]
