"""Range reads from S3, off a real server of its protocol on loopback."""

from collections.abc import Iterator

import fsspec
import pytest

from dbce_spark.selection.fetch import Fetched, Unfetched, fetch
from dbce_spark.selection.ranges import by_file
from tests.builders import gzipped, record
from tests.selection.indexes import FETCH, cdxj_line, entry, found_in

moto = pytest.importorskip("moto.server", reason="moto[server] is not installed")
pytest.importorskip("s3fs", reason="s3fs is not installed")

MEMBERS = gzipped(*(record(url=f"http://www.example.org/{nth}") for nth in range(3)))
FILE = b"".join(MEMBERS)


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket with an archive and its index."""
    server = moto.ThreadedMotoServer("127.0.0.1", 0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    told = {"AWS_ACCESS_KEY_ID": "any", "AWS_SECRET_ACCESS_KEY": "any", "AWS_DEFAULT_REGION": "us-east-1"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in (told | {"AWS_ENDPOINT_URL": f"http://{host}:{port}"}).items():
            patch.setenv(name, value)
        store = fsspec.filesystem("s3", skip_instance_cache=False)
        store.mkdir("crawl")
        store.pipe("crawl/warc/a.warc.gz", FILE)
        starts = [sum(map(len, MEMBERS[:nth])) for nth in range(3)]
        lines = [
            cdxj_line(entry(urlkey=f"org,example)/{nth}", offset=start, length=len(member), filename="warc/a.warc.gz"))
            for nth, (start, member) in enumerate(zip(starts, MEMBERS, strict=True))
        ]
        store.pipe("crawl/index.cdxj", "".join(f"{line}\n" for line in lines).encode())
        yield "s3://crawl"
    server.stop()


def test_records_of_a_bucket(bucket: str) -> None:
    """An index in a bucket names archives beside it, and each of their records comes by itself."""
    files, _ = by_file(found_in(f"{bucket}/index.cdxj"))  # type: ignore[arg-type]
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
    """A range behind the end and a missing object are told apart, and neither is an exception."""
    (found,) = fetch(f"{bucket}/{name}", [entry(offset=offset)], FETCH, 1 << 20)

    assert isinstance(found, Unfetched)
    assert found.detail.startswith(reason)
