"""Archives that one process is to hold are checked before it works."""

import gzip
from pathlib import Path
from types import SimpleNamespace

import pytest
from fsspec.registry import known_implementations

from dbce_spark.commands.archive_checks import check_archives, check_fits
from dbce_spark.errors import InputError
from dbce_spark.files import sources
from tests.support.builders import config, record


def test_an_archive_whose_server_gives_no_size_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not the first of them, and not as too large; the remedy is a file."""
    unsized = SimpleNamespace(info=lambda path: {"size": None if path == "b" else 1})
    monkeypatch.setattr(sources, "file_system", lambda path: (unsized, path))

    with pytest.raises(InputError, match=r"^b: its server does not say how large it is; fetch it to a file"):
        check_fits(["a", "b"], 1 << 30)


def test_a_driver_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """In the words in which a run names it."""
    monkeypatch.setitem(known_implementations, "cloud", {"class": "no_such_driver.Cloud", "err": "Install cloudfs"})

    with pytest.raises(InputError, match=r"^cloud://a: cannot be read: its driver is not installed \(Install"):
        check_fits(["cloud://a"], 1 << 30)


CDX = b" CDX N b a m s k r M S V g\norg,example)/ 20240101000000 http://example.org/ text/html 200 - - - 9 0 a.warc\n"
CDXJ = b'org,example)/ 20240101000000 {"url": "http://example.org/", "filename": "a.warc.gz", "offset": "0"}\n'


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (CDX, "it is an index, which `dbce extract --index` takes$"),
        (gzip.compress(CDXJ), "it is an index, which `dbce extract --index` takes$"),
        (
            gzip.compress(gzip.compress(record())),
            "it is compressed twice; decompress it once$",
        ),
        (gzip.compress(b"words\n" * 9), "give WARC, ARC or WACZ files, or HTML files to `dbce text`$"),
    ],
    ids=["cdx", "cdxj in gzip", "archive in gzip in gzip", "text in gzip"],
)
def test_what_is_given_in_place_of_an_archive_is_named(tmp_path: Path, content: bytes, expected: str) -> None:
    """An index or an archive that is compressed twice is recognised, and the message says what to do with it."""
    (tmp_path / "a.warc.gz").write_bytes(content)

    with pytest.raises(InputError, match=expected):
        check_archives([str(tmp_path / "a.warc.gz")], config())
