"""The pages of archives as a set to be labelled."""

import json
from pathlib import Path

from benchmarks import archive_pages
from tests.support.builders import CONFIG, archive, http, record


def test_each_page_is_written_once_in_utf8(tmp_path: Path) -> None:
    """A page is known by its URL, time and bytes, whichever file has it."""
    html = "<html><meta charset=iso-8859-1><p>Køb</p>"
    one = record(http(html.encode("iso-8859-1"), content_type="text/html"), url="http://a.example.org/1")
    paths = [archive(tmp_path / name, one) for name in ("a.warc", "b.warc")]
    output = tmp_path / "set.jsonl"

    assert 1 == archive_pages.write(paths, CONFIG, str(output))
    (row,) = map(json.loads, output.read_text(encoding="utf-8").splitlines())
    assert ("http://a.example.org/1", html, "") == (row["url"], row["html"], row["gold"])
