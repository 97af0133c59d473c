"""CDXJ as its writers write it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index import cdxj
from dbce_spark.archive.index.index_entry import IndexEntry, NoEntry
from tests.support.index_strategies import entries
from tests.support.indexes import DIGEST, cdxj_line, entry, faults_in, found_in, offsets_in, write_lines

PLACE = '"offset": 100, "length": 50, "filename": "a.warc.gz"'
LINES = {
    "pywb": cdxj_line(entry()),
    "numbers as numbers": 'org,example)/a 20200102120000 {"url": "http://www.example.org/a", "mime": "text/html",'
    f' "status": 200, "digest": "sha1:{DIGEST}", {PLACE}}}',
    "an index server's answer": '{"urlkey": "org,example)/a", "timestamp": "20200102120000", "url":'
    f' "http://www.example.org/a", "mime": "text/html", "status": "200", "digest": "{DIGEST}", {PLACE}}}',
    "OpenWayback": 'org,example)/a 2020-01-02T12:00:00Z response {"uri": "http://www.example.org/a",'
    f' "mct": "text/html","hsc": 200, "sha": "{DIGEST}", "rle": 50, "ref": "warcfile:a.warc.gz#100"}}',
}


@pytest.mark.parametrize("name", LINES)
def test_line(name: str) -> None:
    """Whoever wrote it, it is the same entry."""
    assert entry() == cdxj.read(LINES[name])


@given(entries, st.lists(st.sampled_from(("deu", "eng")), max_size=2, unique=True), st.sampled_from(("", "text/html")))
def test_entry_comes_back(written: IndexEntry, languages: list[str], detected: str) -> None:
    """An entry that is written is read again."""
    full = replace(written, languages=tuple(languages), mime_detected=detected)

    assert full == cdxj.read(cdxj_line(full))


@pytest.mark.parametrize("line", ["", "  ", '!meta 0 {"format": "cdxj-gzip-1.0"}', "!OpenWayback-CDXJ 1.0"])
def test_line_about_the_file(line: str) -> None:
    """It is no entry, and nothing is wrong with it."""
    assert cdxj.read(line) is None


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("org,example)/ 2020", "not a key, a date and a JSON object"),
        ("org,example)/ 2020 {", "not a key, a date and a JSON object"),
        ("org,example)/ 2020 {'a': 1}", "JSON: "),
        ("org,example)/ 2020 response extra {}", "not a key, a date and a JSON object"),
        ("org,example)/ 2020 {}", "no file name"),
        (f'org,example)/ 2020 {{"url": {"[" * 100_000}{"]" * 100_000}}}', "JSON: "),
        ('org,example)/ 2020 {"filename": "a", "offset": 1.5}', "offset is no number: '1.5'"),
        ('org,example)/ 2020 {"filename": "a", "offset": {}}', "offset is no number: '{}'"),
        ('org,example)/ 2020 {"filename": "a", "ref": 5}', "offset is no number: ''"),
        ('{"url": "http://a/", "filename": "a", "offset": 1}', "no date: ''"),
    ],
)
def test_line_that_is_no_entry(line: str, reason: str) -> None:
    """The reason says what is wrong."""
    with pytest.raises(NoEntry) as caught:
        cdxj.read(line)

    assert str(caught.value).startswith(reason)


def test_digest_of_another_algorithm() -> None:
    """It is kept with its name."""
    written = cdxj_line(entry()).replace(DIGEST, "sha-256:81f0ff72")
    found = cdxj.read(written)

    assert found is not None
    assert found.digest == "sha256:81f0ff72"


def test_file(tmp_path: Path) -> None:
    """A file of lines of which one is broken gives the others."""
    lines = ['!meta 0 {"a": 1}', cdxj_line(entry()), "org,example)/b 2020 {broken}", cdxj_line(entry(offset=9))]
    path = write_lines(tmp_path / "index", lines)

    assert [(3, "broken_index_line")] == faults_in(path)
    assert [100, 9] == offsets_in(path)


def test_key_with_a_brace() -> None:
    """The object begins behind the date, not at the first brace."""
    line = cdxj_line(entry(urlkey="org,example)/{a}"))
    found = cdxj.read(line)

    assert found == entry(urlkey="org,example)/{a}")
    assert json.loads(line.split(" ", 2)[2])["offset"] == "100"


def test_paths_are_beside_the_index(tmp_path: Path) -> None:
    """A file name is taken from the folder of the index, or from the base that is given."""
    path = write_lines(tmp_path / "index", [cdxj_line(entry(filename="warc/a.gz"))])
    beside, elsewhere = found_in(path), found_in(path, base="s3://bucket/crawl/")

    assert [f"{tmp_path}/warc/a.gz", "s3://bucket/crawl/warc/a.gz"] == [one.path for one in [*beside, *elsewhere]]


def test_half_of_a_surrogate_pair() -> None:
    """JSON can write it; no table takes it."""
    found = cdxj.read(LINES["pywb"].replace("www.example.org/a", r"www.example.org/\ud800a"))

    assert found is not None
    assert "http://www.example.org/?a" == found.url
