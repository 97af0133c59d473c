"""Write and read pages to annotate."""

from pathlib import Path

import pytest

from dbce_spark.annotation.markup import page_file
from dbce_spark.annotation.markup.page_file import SegmentSpan, Sheet
from dbce_spark.annotation.markup.submission import text_digest
from dbce_spark.errors import InputError

SHEET = Sheet(
    page="p1",
    html="<p>Grüße</p><p>an\nalle</p>",
    text="Grüße\nan alle",
    segments=(SegmentSpan("/html[1]/body[1]/p[1]", 0, 5), SegmentSpan("/html[1]/body[1]/p[2]", 6, 13)),
    url="http://a.example/",
)


def test_what_was_written_is_read(tmp_path: Path) -> None:
    """Pages come out of a file of JSON lines as they went in."""
    path = str(tmp_path / "pages.jsonl")
    page_file.write(path, [SHEET])

    assert list(page_file.read(path)) == [SHEET]


def test_a_page_has_the_digest_of_its_segments() -> None:
    """A page and a submission of it have the same digest."""
    assert text_digest(["Grüße", "an alle"]) == SHEET.text_digest


@pytest.mark.parametrize("segments", ['[["/p", 3, 2]]', '[["/p", 0, 9]]', '[["/p", 1, 2], ["/q", 1, 2]]', '["/p"]'])
def test_segments_outside_the_text_or_one_another_are_refused(tmp_path: Path, segments: str) -> None:
    """The error names the file and the line."""
    path = tmp_path / "pages.jsonl"
    path.write_text(f'{{"id": "p", "html": "", "text": "abc", "segments": {segments}}}', encoding="utf-8")

    with pytest.raises(InputError, match=r"pages\.jsonl:1: "):
        list(page_file.read(str(path)))
