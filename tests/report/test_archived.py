"""One record is found again."""

import dataclasses
from pathlib import Path

import pytest

from dbce_spark import config, warc
from dbce_spark.report.archived import Archived, Gone, archived, read_one
from dbce_spark.report.output import Output
from dbce_spark.report.views import COLUMNS
from tests.report.outputs import crawl, write_archive, write_output

LIMIT = config.default().page.max_html_bytes


def fetches(path: str) -> list[warc.Fetch]:
    return [one for one in warc.read(path, config.default().input, LIMIT) if isinstance(one, warc.Fetch)]


def again(path: str, fetch: warc.Fetch) -> warc.Fetch:
    """The record read by its place, with that place written back into it."""
    found = read_one(path, fetch.capture.warc_offset, fetch.capture.warc_length, config.default().input, LIMIT)
    place = {name: getattr(fetch.capture, name) for name in ("warc_file", "warc_offset")}
    return dataclasses.replace(found, capture=dataclasses.replace(found.capture, **place))


@pytest.mark.parametrize("gzip", [True, False])
def test_a_record_read_alone_is_the_record(tmp_path: Path, gzip: bool) -> None:
    """Each capture of a WARC file read by its offset is the one that reading the whole file gives."""
    path = str(write_archive(tmp_path / "crawl.warc", crawl(), gzip=gzip))
    read = fetches(path)
    assert len(read) == 12
    assert read == [again(path, fetch) for fetch in read]


@pytest.mark.data
@pytest.mark.parametrize(
    "name", ["archive.org/20080430-blackbook.arc.gz", "netarkivet.dk/20090706-arcfile_withredirects.arc"]
)
def test_a_record_of_an_arc_read_alone_is_the_record(shared_data: Path, name: str) -> None:
    """Each capture of an ARC file read by its offset is the one that reading the whole file gives."""
    path = str(shared_data / "warc" / name)
    read = fetches(path)
    assert read
    assert read == [again(path, fetch) for fetch in read]


def of_first_row(output: Path) -> Archived:
    source = Output(str(output))
    row = min(source.rows(all_ids(source), COLUMNS).values(), key=lambda row: row["url"])
    return archived(row, source.config())


def all_ids(source: Output) -> list[str]:
    return [one for batch in source.batches("extractions", ["capture_id"]) for one in batch["capture_id"].to_pylist()]


def test_a_missing_archive_is_gone(finished: Path, archive: Path) -> None:
    """A file that is no longer there is told of by its name."""
    archive.unlink()
    with pytest.raises(Gone, match=r"crawl\.warc\.gz cannot be read"):
        of_first_row(finished)


def test_another_archive_of_the_same_name_is_gone(finished: Path, archive: Path) -> None:
    """A record that is not the one that was read is not shown in its place."""
    write_archive(archive, [dataclasses.replace(one, html=one.html.replace("word", "list")) for one in crawl()])
    with pytest.raises(Gone, match="crawl"):
        of_first_row(finished)


def test_html_of_the_output_needs_no_archive(tmp_path: Path, archive: Path) -> None:
    """A run with --html can be shown when its archive is gone."""
    output = write_output(tmp_path / "output", [archive], htmls=True)
    archive.unlink()
    assert of_first_row(output).is_labelled
