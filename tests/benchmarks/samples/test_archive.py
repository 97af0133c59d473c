"""The written files: deterministic, readable, indexed, and of all the kinds of record that filters must meet."""

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks.samples import sample_records as samples_records
from benchmarks.samples import sorted_lines, write_archive
from dbce_spark.errors import OutputError


def digests(folder: Path) -> dict[str, str]:
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    """Equal pages and seed give equal files, byte for byte."""
    for name in ("one", "two"):
        write_archive(tmp_path / name, pages=40, seed=1)
    assert digests(tmp_path / "one") == digests(tmp_path / "two")


def test_other_seed_other_bytes(tmp_path: Path) -> None:
    """Another seed gives other content in every file."""
    for seed in (1, 2):
        write_archive(tmp_path / str(seed), pages=40, seed=seed)
    one, two = digests(tmp_path / "1"), digests(tmp_path / "2")
    assert set() == {name for name in one.keys() | two.keys() if one.get(name) == two.get(name)}


def test_digests_verify(archive: Any) -> None:
    """Every record that has a body is read back by warcio with digests that verify."""
    assert {True} == {record.digests_verify for record in archive.all_records if record.type != "revisit"}


def test_record_types(archive: Any) -> None:
    """Each file begins with a warcinfo record, and every capture has its request."""
    counts = Counter(record.type for record in archive.all_records)
    assert ["warcinfo"] * len(archive.records) == [records[0].type for records in archive.records.values()]
    assert counts["request"] == counts["response"] + counts["revisit"]
    assert counts["revisit"] > 20


def test_summary(archive: Any) -> None:
    """The summary counts what is in the files."""
    pages = {label["url"] for label in archive.labels}
    summary = archive.summary
    assert (3, len(archive.all_records), len(archive.index), 160, 8) == (
        summary.files,
        summary.records,
        summary.captures,
        summary.pages,
        summary.sites,
    )
    assert 160 == len(pages)


def test_index_points_at_records(archive: Any) -> None:
    """Every response and revisit stands in the index with its offset and length."""
    indexed = {
        (fields["filename"], int(fields["offset"]), int(fields["length"]), fields["url"])
        for _, _, fields in archive.index
    }
    stored = {
        (name, record.offset, record.length, record.url)
        for name, records in archive.records.items()
        for record in records
        if record.type in ("response", "revisit")
    }
    assert stored == indexed


def test_index_sorted(archive: Any) -> None:
    """The index is sorted by SURT key and timestamp, also where it was put together from several runs."""
    keys = [(key, timestamp) for key, timestamp, _ in archive.index]
    assert sorted(keys) == keys
    assert "example,gazette)/" == next(
        key for key, _, fields in archive.index if fields["url"] == "http://www.gazette.example/"
    )


def test_index_from_several_runs(archive: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An index too large for memory has the same lines in the same order, and leaves no temporary files."""
    monkeypatch.setattr(sorted_lines, "RUN", 50)
    write_archive(tmp_path / "runs", pages=160, seed=7)
    assert digests(archive.folder) == digests(tmp_path / "runs")


def test_new_file_after_many_bytes(archive: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A crawl is cut into several files when one would be too large, and no capture is lost."""
    monkeypatch.setattr(samples_records, "FILE_BYTES", 300_000)
    summary = write_archive(tmp_path / "cut", pages=160, seed=7)
    assert summary.files == len(list((tmp_path / "cut").glob("*.warc.gz")))
    assert summary.files > 6
    assert archive.summary.captures == summary.captures


def test_crawl_dates(archive: Any) -> None:
    """The three crawls are named and dated by their days."""
    dates = {name: {r.headers["WARC-Date"][:10] for r in records} for name, records in archive.records.items()}
    assert {
        "crawl-20220307-00000.warc.gz": {"2022-03-07"},
        "crawl-20220905-00000.warc.gz": {"2022-09-05"},
        "crawl-20230306-00000.warc.gz": {"2023-03-06"},
    } == dates


def test_distinct_ids_and_dates(archive: Any) -> None:
    """No two captures have the same timestamp, and no two records the same id."""
    timestamps = [timestamp for _, timestamp, _ in archive.index]
    ids = [record.headers["WARC-Record-ID"] for record in archive.all_records]
    assert (len(timestamps), len(ids)) == (len(set(timestamps)), len(set(ids)))


def test_revisits_refer(archive: Any) -> None:
    """Every revisit names an earlier response with the same URL, date and payload digest."""

    def key(record: Any, date: str) -> tuple[str, str, str]:
        return record.url, record.headers[date], record.headers["WARC-Payload-Digest"]

    responses = {key(record, "WARC-Date") for record in archive.all_records if record.type == "response"}
    revisits = {key(record, "WARC-Refers-To-Date") for record in archive.all_records if record.type == "revisit"}
    assert set() == revisits - responses


def test_revisited_pages(archive: Any) -> None:
    """Among the revisits are HTML pages, not only images and style sheets."""
    kinds = {r.http["Content-Type"].partition(";")[0] for r in archive.all_records if r.type == "revisit"}
    assert {"text/html", "image/png", "text/css", "text/plain"} == kinds


def test_filters_have_work(archive: Any) -> None:
    """Redirects, missing pages, images, chunked and gzipped bodies all occur."""
    responses = [record for record in archive.all_records if record.type == "response"]
    assert {"200", "301", "404"} == {record.status for record in responses}
    assert "chunked" in {record.http.get("Transfer-Encoding") for record in responses}
    assert "gzip" in {record.http.get("Content-Encoding") for record in responses}
    assert b"\x89PNG" in {record.payload[:4] for record in responses}


def test_pages_come_and_go(archive: Any) -> None:
    """Some pages are first seen in a later crawl, and some are gone in one."""
    seen: dict[str, dict[str, str]] = {}
    for _, timestamp, fields in archive.index:
        seen.setdefault(fields["url"], {})[timestamp[:6]] = fields["status"]
    pages = [seen[url] for url in {label["url"] for label in archive.labels}]
    assert any("202203" not in page for page in pages)
    assert any(page.get("202203") == "200" and page.get("202303") == "404" for page in pages)


def test_folder_in_use(tmp_path: Path) -> None:
    """A folder that holds something is left alone."""
    (tmp_path / "mine.txt").touch()
    with pytest.raises(OutputError, match="is not empty"):
        write_archive(tmp_path, pages=10, seed=1)
    assert ["mine.txt"] == [path.name for path in tmp_path.iterdir()]


def test_few_pages(tmp_path: Path) -> None:
    """One page of one site is enough for an archive."""
    summary = write_archive(tmp_path / "one", pages=1, seed=1)
    assert (1, 1) == (summary.pages, summary.sites)
