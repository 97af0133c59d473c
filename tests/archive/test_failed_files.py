"""Failed files, and when they are too many: real files, broken here."""

import gzip
import random
from pathlib import Path
from zipfile import ZipFile

import pytest

from dbce_spark.archive import failed_files
from dbce_spark.archive.failed_files import Loss
from dbce_spark.dbce.pages import fetches, losses
from dbce_spark.errors import BudgetError
from dbce_spark.model import Reject
from tests.support.builders import CONFIG, archive, gzipped, record
from tests.support.indexes import entry

NOISE = random.Random(1).randbytes(2_000)


def failed(path: str) -> list[str]:
    """List the reasons of the files that have failed: of one file, or of none."""
    rejects = [one for one in fetches(path, CONFIG) if isinstance(one, Reject)]
    return [one.reason.partition(":")[0] for one in losses(path, rejects) if one.has_failed]


GOOD = gzipped(*(record(url=f"http://www.example.org/{nth}", WARC_Noise=NOISE.hex()) for nth in range(6)))


@pytest.mark.parametrize(
    ("name", "data", "expected"),
    [
        ("good", b"".join(GOOD), []),
        ("empty", b"", ["not_an_archive"]),
        ("nothing in gzip", gzip.compress(b"", mtime=0), ["not_an_archive"]),
        ("zeros in gzip", gzip.compress(bytes(5000), mtime=0), ["not_an_archive"]),
        ("zeros", bytes(5000), ["not_an_archive"]),
        ("zeros from the first third on", b"".join(GOOD)[: len(GOOD[0] + GOOD[1])] + bytes(20_000), ["broken_record"]),
        ("padded with zeros", b"".join(GOOD) + bytes(10_240), []),
        ("one of six is damaged", b"".join([*GOOD[:3], GOOD[3][:600] + NOISE, *GOOD[4:]]), []),
        (
            "five of six are damaged",
            b"".join(one[: len(one) // 2] + NOISE for one in GOOD[:5]) + GOOD[5],
            ["broken_record"],
        ),
        ("no archive", b"this is no archive\n" * 50, ["not_an_archive"]),
        ("no archive in gzip", gzip.compress(NOISE, mtime=0), ["not_an_archive"]),
    ],
)
def test_file_fails_if_most_of_it_is_lost(tmp_path: Path, name: str, data: bytes, expected: list[str]) -> None:
    """More than half of the bytes, or all of it."""
    assert expected == failed(archive(tmp_path / name, data))


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"pages/pages.jsonl": b"x" * 10}, ["not_an_archive"]),
        ({"pages/pages.jsonl": b"x" * 2000}, ["not_an_archive"]),
        ({"archive/data.warc.gz": b"".join(GOOD), "archive/empty.warc.gz": b""}, []),
        ({"archive/data.warc.gz": NOISE}, ["not_an_archive"]),
    ],
)
def test_zip_without_an_archive_fails(tmp_path: Path, files: dict[str, bytes], expected: list[str]) -> None:
    """However large the files in it are; one that has an archive does not, whatever else is in it."""
    with ZipFile(tmp_path / "a.wacz", "w") as target:
        for name, content in files.items():
            target.writestr(name, content)

    assert expected == failed(str(tmp_path / "a.wacz"))


def test_file_that_is_not_there_fails(tmp_path: Path) -> None:
    """A file that storage does not give is lost."""
    assert ["file_unreadable"] == failed(str(tmp_path / "missing.warc"))


def test_archive_of_an_index_fails_by_its_records(tmp_path: Path) -> None:
    """A file fails by its unfetched records among all that were requested, in however many parts."""
    path = archive(tmp_path / "a.warc", record())
    inside, behind = entry(path=path, offset=0, length=len(record())), entry(path=path, offset=9_999_999)
    parts = [[inside, behind], [behind, behind], [entry(path=str(tmp_path / "gone"))]]
    found = [
        loss
        for part in parts
        for loss in losses(part, [one for one in fetches(part, CONFIG) if isinstance(one, Reject)])
    ]

    assert [("a.warc", 3, 4, True), ("gone", 1, 1, True)] == [
        (Path(one.path).name, one.lost, one.of, one.has_failed) for one in failed_files.join_losses(found, {path: 4})
    ]
    assert [False, True] == [one.has_failed for one in failed_files.join_losses(found, {path: 6})]


LOSSES = [Loss(f"{nth:03}", nth % 2, 1, "why") for nth in range(60)]


def test_report_names_the_first() -> None:
    """The report has how many of how many, and a bounded number of names."""
    counts = failed_files.report(LOSSES, 100)

    assert (30, 100, 20, "001") == (counts["count"], counts["of"], len(counts["first"]), min(counts["first"]))


@pytest.mark.parametrize("share", [0.3, 1.0])
def test_share_that_may_fail(share: float) -> None:
    """Up to it, a run ends well."""
    failed_files.check(failed_files.report(LOSSES, 100), share)


@pytest.mark.parametrize("share", [0.0, 0.29])
def test_more_is_an_error_that_names_files(share: float) -> None:
    """One line, a status of its own, the first files and why."""
    with pytest.raises(BudgetError, match=r"30 of 100 files failed.*001 \(why\); 003 \(why\); 005 \(why\)$") as caught:
        failed_files.check(failed_files.report(LOSSES, 100), share)

    assert 3 == caught.value.exit_status


@pytest.mark.parametrize(
    ("share", "files", "expected"), [(0.05, 20, 1), (0.05, 39, 1), (0.29, 100, 29), (1.0, 7, 7), (0.0, 7, 0)]
)
def test_files_that_may_fail(share: float, files: int, expected: int) -> None:
    """The share that was written decides, and not what the computer makes of .29 times 100."""
    assert expected == failed_files.allowed(share, files)


def test_nothing_read_is_no_failure() -> None:
    """An index that names nothing wanted ends well."""
    failed_files.check(failed_files.report([], 0), 0.0)


def test_a_file_of_which_half_is_lost_has_not_failed() -> None:
    """More than half has."""
    assert [False, True] == [Loss("a", lost, 10, "why").has_failed for lost in (5, 6)]
