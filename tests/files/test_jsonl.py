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


def test_a_file_that_is_not_there_is_called_that(tmp_path: Path) -> None:
    """No line of it is named."""
    with pytest.raises(InputError, match=r"nope\.jsonl: there is no such file$"):
        list(jsonl.read(str(tmp_path / "nope.jsonl")))


def test_what_cannot_be_opened_has_no_line(tmp_path: Path) -> None:
    """The error of a folder in place of a file is not behind line 0."""
    with pytest.raises(InputError, match="cannot be read: "):
        list(jsonl.read(str(tmp_path)))
