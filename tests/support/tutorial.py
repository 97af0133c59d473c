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
LEFT_OUT = "..."
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d[+-]\d\d:\d\d")


def shown(block: Block, printed: Sequence[str]) -> list[str]:
    """The lines of a text that a command did not print, or not behind those before them. `...` stands for anything."""
    left, missing = [plain(line) for line in printed], []
    for line in block.code.splitlines():
        pattern = re.compile(re.escape(plain(line)).replace(re.escape(LEFT_OUT), ".*"))
        if plain(line) in ("", LEFT_OUT):
            continue
        at = next((at for at, one in enumerate(left) if pattern.fullmatch(one)), -1)
        if at < 0:
            missing.append(line)
        left = left[at + 1 :]
    return missing


def plain(line: str) -> str:
    """A line without the moment of a run, the space between its words, and what it is bordered with."""
    return " ".join(re.sub(r"[─-╿]+|-{3,}", " ", _MOMENT.sub("MOMENT", line)).split())


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
