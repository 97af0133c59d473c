"""Files of JSON lines."""

from pathlib import Path

import pytest

from dbce_spark.errors import InputError
from dbce_spark.files import jsonl


def test_line_that_is_too_deep(tmp_path: Path) -> None:
    """JSON that is deeper than Python's stack is an error with its place, as any other that is none."""
    path = tmp_path / "deep.jsonl"
    path.write_text('{"a": ' + "[" * 100_000)

    with pytest.raises(InputError, match=r"deep\.jsonl:1: no JSON"):
        list(jsonl.read(str(path)))
