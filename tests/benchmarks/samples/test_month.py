"""A month of daily deliveries, and all that goes wrong in it."""

import hashlib
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from benchmarks.__main__ import main
from benchmarks.samples import sample_month, write_month
from dbce_spark import config
from dbce_spark.archive import warc
from dbce_spark.archive.warc import Fetch
from dbce_spark.model import Reject, RejectReason, Revisit
from tests.support.written_archives import read

PAGES = 60


@pytest.fixture(scope="module")
def days(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("month") / "days"
    write_month(folder, pages=PAGES, days=sample_month.DAYS, seed=1)
    return folder


def files(days: Path, day: int) -> list[Path]:
    return sorted(days.glob(f"day-{day:02}/*"))


def extracted(file: Path) -> Iterator[Fetch | Revisit | Reject]:
    """Read a file as the reader of archives does."""
    settings = config.default()
    for one in warc.read(str(file), settings.input, settings.page.max_html_bytes):
        if isinstance(one, Fetch | Revisit | Reject):
            yield one


def digests(folder: Path) -> dict[str, str]:
    return {str(file.relative_to(folder)): hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.glob("*/*")}


def test_the_same_month_has_the_same_bytes(tmp_path: Path) -> None:
    """Another seed has others in every file."""
    for name, seed in (("one", 1), ("same", 1), ("other", 2)):
        write_month(tmp_path / name, pages=9, days=sample_month.WHOLE, seed=seed)
    one, same, other = (digests(tmp_path / name) for name in ("one", "same", "other"))

    assert one == same
    assert one.keys() == other.keys()
    assert not {*one.values()} & {*other.values()}


def test_a_day_has_a_file_or_two(days: Path) -> None:
    """One day has none: there was no crawl."""
    counts = {day: len([file for file in files(days, day) if file.name.startswith("crawl-")]) for day in range(1, 31)}

    assert [sample_month.MISSING] == [day for day, count in counts.items() if not count]
    assert {1, 2} == {count for count in counts.values() if count}


def test_the_command_writes_a_shorter_month(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Faults after its end do not occur; the crawled pages are counted."""
    status = main(["sample-archive", str(tmp_path / "short"), "--pages", "9", "--days", "4"])

    assert 0 == status
    assert ["day-01", "day-02", "day-03", "day-04"] == sorted(one.name for one in (tmp_path / "short").iterdir())
    assert capsys.readouterr().out.startswith("9 pages of 8 sites, ")


def test_pages_that_did_not_change_are_revisits(days: Path) -> None:
    """Each names a response of an earlier day with the same URL, date and digest."""
    damaged = files(days, sample_month.DAMAGED)[0]
    records = [record for file in sorted(days.glob("*/*")) if file != damaged for record in read(file)]
    kinds = Counter(record.type for record in records)

    def names(kind: str, date: str) -> set[tuple[str, str, str]]:
        return {
            (record.url, record.headers[date], record.headers["WARC-Payload-Digest"])
            for record in records
            if record.type == kind
        }

    assert names("revisit", "WARC-Refers-To-Date") < names("response", "WARC-Date")
    assert kinds["revisit"] > kinds["response"] / 3


def test_pages_are_born_and_deleted_day_by_day(days: Path) -> None:
    """On many days there are pages that were not there the day before, and in half a month some are gone."""
    pages = {
        day: {record.url: record.status for file in files(days, day) for record in read(file) if record.status}
        for day in range(1, sample_month.DAMAGED)
        if day != sample_month.MISSING
    }
    found = {day: {url for url, status in urls.items() if status == "200"} for day, urls in pages.items()}
    born = [len(found[after] - pages[before].keys()) for before, after in pairwise(sorted(found))]
    gone = [len(found[before] - found[after]) for before, after in pairwise(sorted(found))]

    assert sum(count > 0 for count in born) > 3
    assert sum(gone) > 2


def test_a_crawl_comes_twice(days: Path) -> None:
    """The files of the day before, byte for byte, beside those of the day."""
    before = [file.read_bytes() for file in files(days, sample_month.AGAIN - 1)]
    again = [file.read_bytes() for file in files(days, sample_month.AGAIN) if file.name.startswith(sample_month.COPY)]

    assert before == again
    assert len(files(days, sample_month.AGAIN)) > len(again)


def test_one_site_is_redesigned(days: Path) -> None:
    """From that day on its pages hold what no page of it held before, and those of other sites do not."""

    def has_new_design(day: int) -> set[str]:
        return {
            one.capture.url.split("/")[2]
            for file in files(days, day)
            for one in extracted(file)
            if isinstance(one, Fetch) and b'<header class="hero">' in one.html
        }

    assert [set(), {"dnevnik.example"}] == [
        has_new_design(day) for day in (sample_month.REDESIGNED - 1, sample_month.REDESIGNED)
    ]


def test_a_damaged_file_is_read_but_for_what_it_lost(days: Path) -> None:
    """Records before and behind the gap are whole; one page is cut short, and what cannot be read is a reject."""
    (mended,) = (file for file in files(days, sample_month.WHOLE) if file.name.startswith(sample_month.MENDED))
    damaged = files(days, sample_month.DAMAGED)[0]
    whole = {one.capture.capture_id for one in extracted(mended) if isinstance(one, Fetch)}
    found = [*extracted(damaged)]
    read = {one.capture.capture_id for one in found if isinstance(one, Fetch) and not one.capture.truncated}
    cut = [one for one in found if isinstance(one, Fetch) and one.capture.truncated]

    assert damaged.name == mended.name.removeprefix(sample_month.MENDED)
    assert read < whole
    assert len(read) > len(whole) / 2
    assert 1 == len(cut)
    assert {RejectReason.BROKEN_RECORD} == {one.reason for one in found if isinstance(one, Reject)}


def test_gold_is_made_of_three_crawls_only(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A month has none, and the command refuses it in a line."""
    status = main(["sample-archive", str(tmp_path / "out"), "--days", "3", "--gold", "gold.jsonl"])

    assert 2 == status
    assert "--gold cannot be combined with --days" in capsys.readouterr().err


def test_a_month_of_one_day_has_one_crawl(tmp_path: Path) -> None:
    """Nothing can be gone in it."""
    made = write_month(tmp_path, pages=300, days=1, seed=1)

    assert ["day-01"] == [folder.name for folder in tmp_path.iterdir()]
    assert made.captures > made.pages / 2
