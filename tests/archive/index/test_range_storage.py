"""Range reads from S3, off a real server of its protocol on loopback."""

from collections.abc import Iterator

import fsspec
import pytest

from dbce_spark.archive.index.byte_ranges import group_by_file
from dbce_spark.archive.index.fetch import Fetched, Unfetched, fetch
from tests.support.bucket import served
from tests.support.builders import gzipped, record
from tests.support.indexes import FETCH, cdxj_line, entry, found_in

MEMBERS = gzipped(*(record(url=f"http://www.example.org/{nth}") for nth in range(3)))
FILE = b"".join(MEMBERS)


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """Yield a bucket with an archive and its index."""
    with served() as url:
        store = fsspec.filesystem("s3")
        store.pipe(f"{url}/warc/a.warc.gz", FILE)
        starts = [sum(map(len, MEMBERS[:nth])) for nth in range(3)]
        lines = [
            cdxj_line(entry(urlkey=f"org,example)/{nth}", offset=start, length=len(member), filename="warc/a.warc.gz"))
            for nth, (start, member) in enumerate(zip(starts, MEMBERS, strict=True))
        ]
        store.pipe(f"{url}/index.cdxj", "".join(f"{line}\n" for line in lines).encode())
        yield url


def test_records_of_a_bucket(bucket: str) -> None:
    """An index in a bucket names archives beside it, and each of their records comes by itself."""
    files, _ = group_by_file(found_in(f"{bucket}/index.cdxj"))  # type: ignore[arg-type]
    found = fetch(f"{bucket}/warc/a.warc.gz", files[f"{bucket}/warc/a.warc.gz"], FETCH, 1 << 20)
    actual = [one.data for one in found if isinstance(one, Fetched)]

    assert MEMBERS == actual


@pytest.mark.parametrize(
    ("name", "offset", "reason"),
    [
        ("warc/a.warc.gz", len(FILE), "the file ends before byte"),
        ("warc/a.warc.gz", len(FILE) + 99, "the file ends before byte"),
        ("warc/none", 0, "FileNotFoundError"),
    ],
)
def test_what_a_bucket_does_not_hold(bucket: str, name: str, offset: int, reason: str) -> None:
    """A range behind the end and a missing object have different outcomes, and neither is an exception."""
    (found,) = fetch(f"{bucket}/{name}", [entry(offset=offset)], FETCH, 1 << 20)

    assert isinstance(found, Unfetched)
    assert found.detail.startswith(reason)
