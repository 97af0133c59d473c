"""The map over files, one task of it: what it stages and counts. No Spark is needed for that."""

import shutil
import threading
import time
from pathlib import Path
from unittest.mock import Mock

import fsspec
import pyarrow.parquet as pq
import pytest

from dbce_spark.archive.index.range_reader import wait_to_start
from dbce_spark.dbce import pages
from dbce_spark.dbce.page_lots import LotSize
from dbce_spark.dbce.pages import read
from dbce_spark.files import parquet
from dbce_spark.html import charset
from dbce_spark.model import Page
from dbce_spark.spark.run import record_outcomes, staging
from dbce_spark.spark.run.record_counts import RecordCounts
from dbce_spark.spark.stages import read_pages
from dbce_spark.spark.stages.read_pages import SourceStaging
from tests.support import revisit_archive
from tests.support.builders import archive, config, http, record

CONFIG = config("label.by=T002")
KINDS = (http("<p>Some words</p>"), http("gone", status="404 Not Found"), http("<script>x</script>"))


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Thirty records: a page, one that is skipped, one without text, and so on; their addresses end in their number."""
    made = [record(KINDS[at % 3], url=f"http://www.example.org/{at}") for at in range(30)]
    return archive(tmp_path_factory.mktemp("archive") / "a.warc", *made)


def stage(path: str, output: Path, limit: int | None = None, with_html: bool = False) -> RecordCounts:
    staging.prepare(str(output))
    return SourceStaging(str(output), CONFIG, with_html, limit).stage(path, 0)


def staged(output: Path, name: str = read_pages.NAME) -> list[tuple[int, str]]:
    """Offsets and addresses of the staged rows."""
    rows = pq.read_table(staging.staged_file(str(output), name, 0)).to_pylist()
    return [(row["warc_offset"], row["url"].rsplit("/")[-1]) for row in rows]


@pytest.mark.parametrize(
    ("together", "lot_bytes"),
    [
        *((LotSize(count, 99), 1 << 20) for count in (1, 4, 64)),
        *((LotSize(64, 99), lot_bytes) for lot_bytes in (0, 40)),
        *((LotSize(64, blocks), 1 << 20) for blocks in (0, 1, 3)),
    ],
)
def test_staged_rows_do_not_depend_on_the_lots(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: LotSize, lot_bytes: int
) -> None:
    """However many captures are looked at together: the same pages in the order of the file, the same counts."""
    monkeypatch.setattr(record_outcomes, "TOGETHER", together)
    monkeypatch.setattr(record_outcomes, "HTML_TOGETHER", lot_bytes)
    counts = stage(path, tmp_path)

    assert [str(at) for at in range(0, 30, 3)] == [url for _, url in staged(tmp_path)]
    assert {str(at) for at in range(2, 30, 3)} == {url for _, url in staged(tmp_path, read_pages.REJECTS)}
    assert RecordCounts(30, 10, counts.skipped, counts.rejects) == counts
    assert ({"status:404": 10}, {"no_text": 10}) == (counts.skipped, counts.rejects)


@pytest.mark.parametrize("together", [1, 4, 64])
@pytest.mark.parametrize("limit", [1, 3, 9])
def test_nothing_behind_the_limit_is_counted(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: int, together: int
) -> None:
    """Reading ends with the record that is the last capture wanted, wherever in a lot that is."""
    monkeypatch.setattr(record_outcomes, "TOGETHER", LotSize(together, 2))
    counts = stage(path, tmp_path, limit)

    assert [str(at) for at in range(0, 3 * limit, 3)] == [url for _, url in staged(tmp_path)]
    assert (3 * limit - 2, limit) == (counts.records, counts.captures)
    assert counts.records == counts.captures + counts.skipped.total() + counts.rejects.total()


def test_rows_say_where_they_are(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows are numbered through, from lot to lot."""
    monkeypatch.setattr(record_outcomes, "TOGETHER", LotSize(3, 99))
    stage(path, tmp_path)

    assert (
        list(range(10)) == pq.read_table(staging.staged_file(str(tmp_path), read_pages.NAME, 0))["row_no"].to_pylist()
    )


@pytest.mark.parametrize("bytes_per_group", [0, 1_000, 1 << 20])
def test_pages_of_many_bytes_are_staged_a_few_at_a_time(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bytes_per_group: int
) -> None:
    """A row group is cut, and merging still reads as many rows together, each of them once."""
    monkeypatch.setattr(record_outcomes, "TOGETHER", LotSize(3, 99))
    monkeypatch.setattr(read_pages, "ROWS_PER_GROUP", 4)
    monkeypatch.setattr(read_pages, "BYTES_PER_GROUP", bytes_per_group)
    monkeypatch.setattr(read_pages, "_BYTES_AT_ONCE", bytes_per_group)
    stage(path, tmp_path)
    file = staging.staged_file(str(tmp_path), read_pages.NAME, 0)
    found = [
        [
            row
            for batch in read_pages.merging_batches(parquet.reader(file), number)
            for row in batch["row_no"].to_pylist()
        ]
        for number in range(3)
    ]

    assert [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] == found
    assert (pq.read_metadata(file).num_row_groups == 3) == (bytes_per_group == 1 << 20)


@pytest.mark.parametrize("together", [1, 3, 64])
def test_html_belongs_to_its_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, together: int) -> None:
    """With HTML asked for, each row has its own, as UTF-8; rejects between them shift nothing, nor do lots."""
    monkeypatch.setattr(record_outcomes, "TOGETHER", LotSize(together, 2))
    bodies = [f"<p>Some words {at}" if at % 3 else "<script>x</script>" for at in range(12)]
    path = archive(
        tmp_path / "a.warc", *(record(http(one), url=f"http://www.example.org/{at}") for at, one in enumerate(bodies))
    )
    stage(path, tmp_path / "staged", with_html=True)
    htmls = pq.read_table(staging.staged_file(str(tmp_path / "staged"), read_pages.NAME, 0))["html"].to_pylist()

    assert [one.encode() for at, one in enumerate(bodies) if at % 3] == htmls


def test_html_is_decoded_once(path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The HTML that is kept of a page is what it was parsed from."""
    cleaned = Mock(side_effect=charset.cleaned)  # a step of each decoding
    monkeypatch.setattr(charset, "cleaned", cleaned)
    stage(path, tmp_path, with_html=True)

    assert 20 == cleaned.call_count  # ten pages, and ten captures without text


def test_stage_reads_what_the_method_reads(path: str, tmp_path: Path) -> None:
    """The same pages as `dbce.pages.read`."""
    stage(path, tmp_path)
    expected = [one.capture for one in read(path, CONFIG) if isinstance(one, Page)]

    assert [(one.warc_offset, one.url.rsplit("/")[-1]) for one in expected] == staged(tmp_path)


def stage_once(path: str, output: Path) -> RecordCounts:
    staging.prepare(str(output))
    return SourceStaging(str(output), CONFIG, False, None).once(path, 0)


def test_a_file_is_read_once(tmp_path: Path) -> None:
    """Its staged pages are taken as they are, also if the file has vanished or has other content now."""
    path = archive(tmp_path / "a.warc", record(KINDS[0]))
    counts = stage_once(path, tmp_path)
    before = staged(tmp_path)
    Path(path).write_bytes(bytes(Path(path).stat().st_size))
    assert counts == stage_once(path, tmp_path)
    Path(path).unlink()

    assert counts == stage_once(path, tmp_path)
    assert (1, before) == (counts.captures, staged(tmp_path))


def test_a_file_of_another_size_is_read_again(tmp_path: Path) -> None:
    """Nothing is left of what it was before, with its rejects and its revisits."""
    again = revisit_archive.revisit("http://www.example.org/", "2020-01-05T00:00:00Z", WARC_Payload_Digest="sha1:A")
    path = archive(tmp_path / "a.warc", record(KINDS[2]), again)
    before = stage_once(path, tmp_path)
    archive(tmp_path / "a.warc", record(KINDS[0]))
    counts = stage_once(path, tmp_path)
    rest = [
        pq.read_table(staging.staged_file(str(tmp_path), name, 0)).num_rows
        for name in (read_pages.REJECTS, staging.REVISITS)
    ]

    assert (1, 1) == (before.rejects.total(), before.revisits)
    assert (RecordCounts(1, 1), [0, 0]) == (counts, rest)


def test_a_file_that_could_not_be_read_is_tried_again(tmp_path: Path) -> None:
    """It is a reject, and no more when storage gives it again."""
    path = tmp_path / "a.warc"
    lost = stage_once(str(path), tmp_path)
    assert lost == stage_once(str(path), tmp_path)
    archive(path, record(KINDS[0]))
    counts = stage_once(str(path), tmp_path)

    assert {"file_unreadable": 1} == lost.rejects
    assert RecordCounts(1, 1) == counts
    assert 0 == pq.read_table(staging.staged_file(str(tmp_path), read_pages.REJECTS, 0)).num_rows


def test_a_file_that_its_store_did_not_give_is_tried_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though it has the size that it had then."""
    path = archive(tmp_path / "a.warc", record(KINDS[0]))
    with monkeypatch.context() as broken:
        broken.setattr(pages, "open_file", Mock(side_effect=OSError("the store is away")))
        lost = stage_once(path, tmp_path)
    counts = stage_once(path, tmp_path)

    assert ({"file_unreadable": 1}, RecordCounts(1, 1)) == (lost.rejects, counts)


def test_a_worker_waits_before_it_asks_a_store_for_the_first_time(
    path: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to `fetch.start_jitter_seconds`; not for a local file, and not again for each of thousands of small ones."""
    wait_to_start.cache_clear()
    fsspec.filesystem("memory").pipe("/waited/a.warc", Path(path).read_bytes())
    waits: list[float] = []
    own = threading.get_ident()  # threads of the session that tests share sleep too
    monkeypatch.setattr(time, "sleep", lambda seconds: waits.append(seconds) if threading.get_ident() == own else None)
    staging.prepare(str(tmp_path))
    waits_behind = []
    for at, source in enumerate([path, "memory://waited/a.warc", "memory://waited/a.warc"]):
        SourceStaging(str(tmp_path), CONFIG, False, None).once(source, at)
        waits_behind.append(sum(0 < one <= CONFIG.fetch.start_jitter_seconds for one in waits))

    assert [0, 1, 1] == waits_behind


@pytest.mark.parametrize("broken", ["pages/00000000.parquet", "rejects/00000000.parquet", "done/pages/00000000.json"])
@pytest.mark.parametrize("how", ["missing", "empty", "of another source"])
def test_a_source_whose_staged_rows_are_not_its_own_is_read_again(tmp_path: Path, broken: str, how: str) -> None:
    """A run that goes on takes nothing for granted that a disk may have lost."""
    path = archive(tmp_path / "a.warc", record(KINDS[0]), record(KINDS[2]), record(KINDS[0], url="http://b.example/"))
    other = archive(tmp_path / "b.warc", record(KINDS[0], url="http://c.example/"), *[record(KINDS[2])] * 2)
    before, _ = stage_once(path, tmp_path / "one"), stage_once(other, tmp_path / "other")
    file = tmp_path / "one" / "_staging" / broken
    if how == "missing":
        file.unlink()
    elif how == "empty":
        file.write_bytes(b"")
    else:
        shutil.copy(tmp_path / "other" / "_staging" / broken, file)
    again = stage_once(path, tmp_path / "one")

    assert (before, ["a.html", ""]) == (again, [name for _, name in staged(tmp_path / "one")])
