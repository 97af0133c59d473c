"""One record is found again."""

import dataclasses
from gzip import compress
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import pytest

from dbce_spark import config
from dbce_spark.archive import warc
from dbce_spark.html.charset import decode
from dbce_spark.html.dom import PageError
from dbce_spark.html.page import parse
from dbce_spark.report.archived_html import Archived, HtmlGone, archived
from dbce_spark.report.page_views import COLUMNS
from dbce_spark.report.report_output import ReportOutput
from tests.support.builders import URL, arc_header, arc_record, archive, gzipped, http, record
from tests.support.report_outputs import crawl, write_archive, write_output

CONFIG = config.default()


def fetches(path: str) -> list[warc.Fetch]:
    """List the captures of a file that have a word."""
    found = warc.read(path, CONFIG.input, CONFIG.page.max_html_bytes)
    return [one for one in found if isinstance(one, warc.Fetch) and text_of(one)]


def text_of(fetch: warc.Fetch) -> str:
    try:
        return parse(fetch.html, fetch.capture.declared_charset, CONFIG.page).blocks.text
    except PageError:
        return ""


def row(fetch: warc.Fetch) -> dict[str, Any]:
    """Build the row of a capture's extraction."""
    columns = {name: getattr(fetch.capture, name, None) for name in COLUMNS}
    return columns | {"capture_id": fetch.capture.capture_id, "page_text": text_of(fetch)}


def again(fetch: warc.Fetch) -> bytes:
    """Find the HTML of an extraction again, by its row."""
    return archived(row(fetch), CONFIG).html


@pytest.mark.parametrize("gzip", [True, False])
def test_a_record_read_alone_is_the_record(tmp_path: Path, gzip: bool) -> None:
    """Each capture of a WARC file read by its offset is the one that reading the whole file gives."""
    read = fetches(str(write_archive(tmp_path / "crawl.warc", crawl(), gzip=gzip)))

    assert len(read) == 11
    assert [fetch.html for fetch in read] == [again(fetch) for fetch in read]


def test_the_payload_of_a_revisit(tmp_path: Path) -> None:
    """The row of a revisit whose original only an index had names the original's place: there its payload lies."""
    (read,) = fetches(
        archive(tmp_path / "a.warc.gz", *gzipped(record(http("<p>Words of old"), url="http://old.example/")))
    )
    revisit = row(read) | {"record_type": "revisit", "url": URL, "capture_id": "of the revisit", "http_status": 304}

    assert read.html == archived(revisit, CONFIG).html


def segments(html: bytes) -> bytes:
    """Write a record in three segments, others between them."""
    block = http(html)
    first = record(block[:90], url=URL, WARC_Segment_Number="1", WARC_Record_ID="<urn:uuid:s>")
    rest = [
        record(
            part, kind="continuation", url=URL, WARC_Segment_Number=str(nth), WARC_Segment_Origin_ID="<urn:uuid:s>",
            **({"WARC_Segment_Total_Length": str(len(block))} if nth == 3 else {}),
        )
        for nth, part in ((2, block[90:150]), (3, block[150:]))
    ]  # fmt: skip
    return b"".join([record(url="http://a.example/"), first, record(), rest[0], record(url=URL), rest[1]])


def test_a_record_in_segments(tmp_path: Path) -> None:
    """The page of a record in segments is put together again from all of them."""
    html = b"<p>" + b"words of the page " * 20
    read = fetches(archive(tmp_path / "a.warc", segments(html)))

    assert html in [fetch.html for fetch in read]
    assert [fetch.html for fetch in read] == [again(fetch) for fetch in read]


@pytest.mark.parametrize(
    "content",
    [
        compress(b"".join(record(http(b"<p>%d" % nth), url=f"{URL}{nth}") for nth in range(3))),
        arc_header() + arc_record(date="19961013", url="http://www.example.org/ with spaces"),
        record(kind="warcinfo") + record(date="null"),
    ],
    ids=["one member for all", "a line of an ARC", "dated by its file"],
)
def test_a_record_that_needs_its_file(tmp_path: Path, content: bytes) -> None:
    """A record that its own bytes alone do not give is found by reading the file."""
    read = fetches(archive(tmp_path / "a", content))

    assert read
    assert [fetch.html for fetch in read] == [again(fetch) for fetch in read]


@pytest.mark.parametrize("how", [ZIP_STORED, ZIP_DEFLATED])
def test_a_record_of_a_wacz(tmp_path: Path, how: int) -> None:
    """A file of a WACZ is found by the name that rows have."""
    path = tmp_path / "a.wacz"
    with ZipFile(path, "w", how) as target:
        target.writestr("archive/data.warc.gz", b"".join(gzipped(record(url=f"{URL}1"), record(url=f"{URL}2"))))
    read = fetches(str(path))

    assert [f"{path}!/archive/data.warc.gz"] * 2 == [fetch.capture.warc_file for fetch in read]
    assert [fetch.html for fetch in read] == [again(fetch) for fetch in read]


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["archive.org/20080430-blackbook.arc.gz", "netarkivet.dk/20090706-arcfile_withredirects.arc"]
)
def test_a_record_of_an_arc_read_alone_is_the_record(shared_data: Path, name: str) -> None:
    """Each capture of an ARC file read by its offset is the one that reading the whole file gives."""
    read = fetches(str(shared_data / "warc" / name))

    assert read
    assert [decode(fetch.html, fetch.capture.declared_charset).html for fetch in read] == list(map(again, read))


def of_first_row(output: Path) -> Archived:
    source = ReportOutput(str(output))
    row = min(source.rows(all_ids(source), COLUMNS).values(), key=lambda row: row["url"])
    return archived(row, source.config())


def all_ids(source: ReportOutput) -> list[str]:
    return [one for batch in source.batches("extractions", ["capture_id"]) for one in batch["capture_id"].to_pylist()]


def test_a_missing_archive_is_gone(finished: Path, archive: Path) -> None:
    """The error names the missing file."""
    archive.unlink()
    with pytest.raises(HtmlGone, match=r"crawl\.warc\.gz cannot be read"):
        of_first_row(finished)


def test_another_archive_of_the_same_name_is_gone(finished: Path, archive: Path) -> None:
    """A record that is not the one that was read is not shown in its place."""
    write_archive(archive, [dataclasses.replace(one, html=one.html.replace("word", "list")) for one in crawl()])
    with pytest.raises(HtmlGone, match="crawl"):
        of_first_row(finished)


def test_html_of_the_output_needs_no_archive(tmp_path: Path, archive: Path) -> None:
    """A run with --annotated-html can be shown when its archive is gone."""
    output = write_output(tmp_path / "output", [archive], htmls=True)
    archive.unlink()
    assert of_first_row(output).is_labelled
