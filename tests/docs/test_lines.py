"""Markdown can be read in an editor and in a diff: no line is longer than a screen is wide."""

import re
from pathlib import Path

import pytest

from tests.support.code_blocks import ROOT

LONGEST = 140
"""Characters of a line; rows of tables cannot be broken, nor can a single word such as a URL."""


def too_long(path: Path) -> list[str]:
    """List the lines over the limit that could be broken, as `number: length`."""
    return [
        f"{number}: {len(line)}"
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if len(line) > LONGEST and not line.lstrip().startswith("|") and re.search(r"\S\s+\S", line.strip("-*> "))
    ]


@pytest.mark.parametrize("path", sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")]), ids=lambda path: path.name)
def test_no_line_of_markdown_is_too_long(path: Path) -> None:
    """README, CHANGELOG, CONTRIBUTING and all of docs/ keep to the limit."""
    assert [] == too_long(path)


def test_tables_and_urls_may_be_longer(tmp_path: Path) -> None:
    """A line that cannot be broken is not counted; a long sentence is, and so is a long line of code."""
    page = tmp_path / "page.md"
    page.write_text(f"| {'cell ' * 40}|\nhttps://example.org/{'a' * 140}\n{'word ' * 40}\n```\n{'code ' * 40}\n```\n")

    assert ["3: 200", "5: 200"] == too_long(page)
