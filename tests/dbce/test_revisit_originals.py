"""Originals that only an index has become the pages of their revisits."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dbce_spark.dbce import local
from dbce_spark.model import Capture
from tests.support import revisit_archive
from tests.support.builders import archive, config, gzipped, http, microseconds, record
from tests.support.indexes import cdx_line, entry, write_lines, write_wacz, write_zipnum
from tests.support.revisit_archive import HOST, digest, revisit

SETTINGS = ("label.by=T002", "fetch.first_wait_seconds=0.001", "fetch.attempts=2")
CONFIG = config(*SETTINGS, 'select.since="2020"', 'select.until="2021"')
LATER = "2021-01-02T00:00:00Z"


@pytest.fixture(scope="module")
def result(tmp_path_factory: pytest.TempPathFactory) -> local.Result:
    files, indexes = revisit_archive.write_with_index(tmp_path_factory.mktemp("crawl"))
    return local.extract(files, CONFIG, indexes)


def captures(result: local.Result) -> dict[str, Capture]:
    return {one.page.capture.url.removeprefix(HOST): one.page.capture for one in result.extractions}


def test_first_revisit_is_the_page(result: local.Result) -> None:
    """A row for each original: its words, with the URL, time and record id of the first of its revisits."""
    texts = {(one.page.capture.url, one.page.capture.timestamp): one.page.blocks.text for one in result.extractions}

    assert {
        (f"{HOST}/kept", microseconds("2021-01-01T00:00:00Z")): "About kept\n",
        (f"{HOST}/apple", microseconds(LATER)): "About apple\n",
        (f"{HOST}/plums", microseconds(LATER)): "About plum\n",
        (f"{HOST}/news", microseconds(LATER)): "About news2\n",
    } == {key: text[text.index("About") : text.index("\n", text.index("About")) + 1] for key, text in texts.items()}
    assert f"<urn:uuid:{HOST}/apple{LATER}>" == captures(result)["/apple"].record_id


def test_row_says_where_the_payload_lies(result: local.Result) -> None:
    """The place is that of the original, the kind of record that of the capture."""
    apple, kept = captures(result)["/apple"], captures(result)["/kept"]

    assert ("old.warc.gz", 0, "revisit", 0) == (
        Path(apple.warc_file).name,
        apple.warc_offset,
        apple.record_type,
        apple.http_status,
    )
    assert ("new.warc.gz", "response", 200) == (Path(kept.warc_file).name, kept.record_type, kept.http_status)


def test_other_revisits_share_the_row(result: local.Result) -> None:
    """Under whatever name they know the original; also the page of the run, if only the index knows it by that name."""
    by_id = {one.page.capture_id: one.page.capture.url.removeprefix(HOST) for one in result.extractions}

    assert [("/apple", "/apple"), ("/apples", "/apple"), ("/kept", "/kept"), ("/news", "/news")] == sorted(
        (one.revisit.url.removeprefix(HOST), by_id[one.original_id]) for one in result.revisits
    )


def test_what_is_no_page_is_passed_over(result: local.Result) -> None:
    """By what the index says, by what the original is, or by the URL."""
    assert {"mime": 2, "status:301": 1, "feed": 1} == dict(result.skipped)


def test_rejects_say_what_is_wrong_with_the_original(result: local.Result) -> None:
    """Or what was looked for in vain."""
    details = {one.url.removeprefix(HOST): one.detail for one in result.rejects}

    assert ["/again", "/lost", "/noise", "/nowhere"] == sorted(details)
    assert details["/again"].endswith("old.warc.gz: a revisit itself")
    assert details["/noise"].endswith("old.warc.gz: not_html: says text/html, is image/png")
    assert "its original at 0 of" in details["/lost"]
    assert details["/nowhere"] == f"no page is {digest('abc').replace('-', '')}"


def test_every_record_is_accounted_for(result: local.Result) -> None:
    """An original is no record that was read: its revisits are."""
    assert 16 == result.records_read
    assert 16 == len(result.extractions) + len(result.revisits) + len(result.rejects) + result.skipped.total()
    assert {"revisits": 15, "found": 13, "pages": 3} == result.originals


def test_no_more_than_the_most_are_looked_for(tmp_path: Path) -> None:
    """The first ones are; the others are rejects that say so."""
    files, indexes = revisit_archive.write_with_index(tmp_path)
    result = local.extract(files, replace(CONFIG, select=replace(CONFIG.select, max_wanted=3)), indexes)
    details = [one.detail for one in result.rejects]

    assert 2 == len(result.extractions)
    assert 11 == sum("more than select.max_wanted (3) revisits" in one for one in details) == len(details)
    assert {"revisits": 3, "found": 3, "pages": 1} == result.originals
    assert 16 == len(result.extractions) + len(result.revisits) + len(details) + result.skipped.total()


def crawl(folder: Path, html: bytes | None = None) -> tuple[list[str], list[str]]:
    """Write a revisit, and the lines of an index for its original and itself."""
    old, new = gzipped(
        record(http("<p>Hello world</p>") if html is None else html, url=f"{HOST}/old"),
        revisit(f"{HOST}/new", LATER, WARC_Payload_Digest="sha1:" + "A" * 32),
    )
    archive(folder / "a.warc.gz", old, new)
    known: dict[str, Any] = {"digest": "sha1:" + "A" * 32, "filename": "a.warc.gz", "mime": "text/html"}
    original = entry(**known, url=f"{HOST}/old", urlkey="org,example)/old", offset=0, length=len(old))
    itself = entry(
        **known,
        url=f"{HOST}/new",
        urlkey="org,example)/new",
        offset=len(old),
        length=len(new),
        timestamp=microseconds(LATER),
        status=0,
        is_revisit=True,
    )
    return [cdx_line(itself), cdx_line(original)], [str(folder / "a.warc.gz")]


def outcomes_of(result: local.Result) -> tuple[list[str], dict[str, int], list[str]]:
    urls = [one.page.capture.url.removeprefix(HOST) for one in result.extractions]
    return urls, dict(result.skipped), [one.detail for one in result.rejects]


@pytest.mark.parametrize("kind", ["lines", "zipnum", "wacz"])
def test_indexes_of_every_kind(tmp_path: Path, kind: str) -> None:
    """The filters let the revisit in and not its original; of a cluster the lines of the key alone are wanted."""
    lines, (path,) = crawl(tmp_path)
    index = {
        "lines": lambda: write_lines(tmp_path / "a.cdx", lines),
        "zipnum": lambda: write_zipnum(tmp_path, lines, 1),
        "wacz": lambda: write_wacz(
            tmp_path / "a.wacz", Path(path).read_bytes(), [one.replace("a.w", "data.w") for one in lines]
        ),
    }[kind]()
    settings = config(*SETTINGS, 'select.surts=["org,example)/"]', 'select.urls=["/new$"]')
    result = local.extract([], settings, [index])

    assert (["/new"], {}, []) == outcomes_of(result)
    assert 1 == result.records_read


def test_keys_that_revisits_refer_to_are_read_of_a_cluster(tmp_path: Path) -> None:
    """The parts of a cluster that have the originals are read, beside those that the selection needs."""
    old, new = gzipped(
        record(url="http://zzz.org/old"),
        revisit(f"{HOST}/new", LATER, WARC_Payload_Digest="A" * 32, WARC_Refers_To_Target_URI="http://zzz.org/old"),
    )
    archive(tmp_path / "a.warc.gz", old, new)
    lines = [
        f"{key} 20200102000000 {url} {kind} - {'A' * 32} - - {length} {offset} a.warc.gz"
        for key, url, kind, length, offset in [
            ("org,example)/new", f"{HOST}/new", "warc/revisit", len(new), len(old)),
            ("org,mmm)/broken", "http://mmm.org/broken", "text/html", "-", "-"),
            ("org,zzz)/old", "http://zzz.org/old", "text/html", len(old), 0),
        ]
    ]
    index = write_zipnum(tmp_path, lines, 1)
    result = local.extract([], config(*SETTINGS, 'select.hosts=["www.example.org"]'), [index])

    assert (["/new"], {}, []) == outcomes_of(result)


def test_filters_that_ask_about_the_payload(tmp_path: Path) -> None:
    """A revisit does not say of which type it is: its original does, in the index and by itself."""
    lines, _ = crawl(tmp_path)
    index = write_lines(tmp_path / "a.cdx", lines)

    for setting, filter_name in [
        ('mimes=["application/xhtml+xml"]', "select:mime"),
        ("statuses=[404]", "select:status"),
    ]:
        settings = config(*SETTINGS, "input.statuses=[200,404]", f"select.{setting}", 'select.urls=["/new$"]')
        assert ([], {filter_name: 1}, []) == outcomes_of(local.extract([], settings, [index]))


def test_original_that_is_nothing_to_read(tmp_path: Path) -> None:
    """A page without a word is a reject of its revisit, with the reason that it would have had itself."""
    lines, _ = crawl(tmp_path, http("<p></p>"))
    index = write_lines(tmp_path / "a.cdx", lines)
    _, _, (detail,) = outcomes_of(local.extract([], config(*SETTINGS, 'select.urls=["/new$"]'), [index]))

    assert "no_text" in detail
