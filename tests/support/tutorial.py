"""The blocks of code of the tutorial, and what they print set beside what it shows."""

import re
from collections.abc import Sequence

import pytest

from tests.support.code_blocks import Block, blocks

TUTORIAL = [one for one in blocks() if one.page == "docs/tutorial.md"]
AFTERWARDS = [
    one
    for one in blocks()
    if one.page in ("docs/collections.md", "docs/duplicates.md") and one.kind in ("python", "sql")
]
"""Programs and queries of other pages, on what the tutorial leaves behind."""


def shown(block: Block, printed: Sequence[str]) -> list[str]:
    """The lines of a text that a command did not print, or not behind those before them."""
    left, missing = [plain(line) for line in printed], []
    for line in block.code.splitlines():
        if plain(line) in ("", "..."):
            continue
        if plain(line) in left:
            left = left[left.index(plain(line)) + 1 :]
        else:
            missing.append(line)
    return missing


def plain(line: str) -> str:
    """A line without its figures, the space between its words, and what it is bordered with."""
    return " ".join(re.sub(r"[─-╿]+|-{3,}", " ", re.sub(r"[\d.,:]*\d", "N", line)).split())


def answer(block: Block, capsys: pytest.CaptureFixture[str]) -> object:
    """Return the output of a program, or the rows that a query finds."""
    if block.kind == "python":
        exec(block.code, {})
        return capsys.readouterr().out
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    for name in ("extractions", "duplicates"):
        connection.sql(f"CREATE VIEW {name} AS SELECT * FROM 'extracted/{name}/*/*.parquet'")
    return connection.sql(block.code).fetchall()
