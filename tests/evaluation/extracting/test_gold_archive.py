"""Gold pages as an archive: the same captures come out of it as go into the plain method."""

import gzip
import json
from dataclasses import replace
from pathlib import Path

import pytest
from warcio.archiveiterator import ArchiveIterator

from dbce_spark.archive import warc
from dbce_spark.archive.index.urls import url_key
from dbce_spark.evaluation.datasets import GoldPage
from dbce_spark.evaluation.extracting import gold_archive
from dbce_spark.model import Skip
from tests.support.builders import CONFIG
from tests.support.fake_extractors import gold_pages, line, own_set

MAX_HTML = CONFIG.page.max_html_bytes


def pages(folder: Path) -> list[GoldPage]:
    """Pages with and without site, URL and time, in many scripts and with a charset that they lie about."""
    lying = '<meta charset="windows-1251"><p>Caf\u00e9 \u043c\u043e\u0440\u0435 \U0001f6a2</p>'
    return gold_pages(
        folder,
        [
            *own_set(),
            line("early", lying, url="http://x.org/\u043c\u043e\u0440\u0435?q=\u00e9", date="19690720201740"),
            line("dated", lying, url="http://www.x.org:80/a%20b", wayback_ts="20050601120000", site="x.org"),
            line("nothing", "\ufeff<p>one</p>"),
        ],
    )


def read(files: list[Path]) -> list[warc.Fetch]:
    """The captures of an archive, where nothing is rejected or skipped but the warcinfo."""
    found = [record for path in files for record in warc.read(str(path), CONFIG.input, MAX_HTML)]
    assert [Skip("type:warcinfo")] * len(files) == [one for one in found if not isinstance(one, warc.Fetch)]
    return [one for one in found if isinstance(one, warc.Fetch)]


def test_what_is_written_is_what_the_method_is_given(tmp_path: Path) -> None:
    """Each capture is read as `GoldPage.fetch` made it, but for its place; so it has the same id in the Spark job."""
    given = pages(tmp_path)
    found = read(gold_archive.write(given, tmp_path / "archive"))
    assert [page.body for page in given] == [fetch.html for fetch in found]
    for page, fetch in zip(given, found, strict=True):
        capture = fetch.capture
        place = {name: getattr(capture, name) for name in ("warc_file", "warc_offset", "warc_length")}
        made = replace(page.fetch(0).capture, **place, record_id=gold_archive.record_id(page))
        assert made == capture
        assert page.fetch(0).capture.capture_id == capture.capture_id


def test_the_same_pages_give_the_same_bytes(tmp_path: Path) -> None:
    """Nothing in an archive is drawn at random or read from the clock."""
    given = pages(tmp_path)
    first, second = (gold_archive.write(given, tmp_path / name) for name in "ab")
    assert [path.read_bytes() for path in first] == [path.read_bytes() for path in second]
    assert (tmp_path / "a" / gold_archive.INDEX).read_bytes() == (tmp_path / "b" / gold_archive.INDEX).read_bytes()


def test_the_index_locates_each_page(tmp_path: Path) -> None:
    """Its lines are sorted, and each gives the record of its page, a gzip member by itself."""
    given = pages(tmp_path)
    gold_archive.write(given, tmp_path / "archive")
    lines = (tmp_path / "archive" / gold_archive.INDEX).read_text().splitlines()
    assert sorted(lines) == lines
    by_id = {page.page_id: page for page in given}
    for entry in lines:
        key, time, fields = entry.split(" ", 2)
        place = json.loads(fields)
        page = by_id.pop(place["page_id"])
        start, length = int(place["offset"]), int(place["length"])
        member = (tmp_path / "archive" / place["filename"]).read_bytes()[start : start + length]
        assert page.body in gzip.decompress(member)
        assert page.address == place["url"]
        assert (url_key(page.address), 14) == (key, len(time))
    assert {} == by_id


def test_an_independent_reader_finds_digests_in_order(tmp_path: Path) -> None:
    """warcio checks block and payload digests of each record and finds none that is wrong."""
    given = pages(tmp_path)
    [path] = gold_archive.write(given, tmp_path / "archive")
    checked = []
    with path.open("rb") as stream:
        for record in ArchiveIterator(stream, check_digests=True):
            record.content_stream().read()
            checked.append(record.digest_checker.passed)
    assert [True] * (1 + len(given)) == checked


def test_record_ids_are_all_different(tmp_path: Path) -> None:
    """Also those of two sets that call a page the same."""
    [page] = gold_pages(tmp_path, [line("a")])
    others = [page, replace(page, page_id="b"), replace(page, dataset="other")]
    assert 3 == len({gold_archive.record_id(other) for other in others})


@pytest.mark.parametrize(
    ("count", "files"), [(0, 0), (1, 1), (gold_archive.PAGES_A_FILE, 1), (gold_archive.PAGES_A_FILE + 1, 2)]
)
def test_a_large_set_is_cut_into_files(count: int, files: int, tmp_path: Path) -> None:
    """Each file begins with its warcinfo, and no page is lost or written twice."""
    [page] = gold_pages(tmp_path, [line("a")])
    given = [replace(page, page_id=str(number), url_key=f"gold:{number}") for number in range(count)]
    written = gold_archive.write(given, tmp_path / "archive")
    assert files == len(written)
    assert [gold_archive.record_id(page) for page in given] == [fetch.capture.record_id for fetch in read(written)]
