"""The end of a record whose length nobody tells."""

import gzip
import random
import zlib
from typing import Any

import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.record_extent import NoRecord, end_of
from tests.support.builders import arc_record, gzipped, record

WARC = record(b"x" * 1000)
ARC = arc_record(b"y" * 1000)
FORMS = {
    "gzip": gzipped(WARC)[0],
    "zstd": zstandard.ZstdCompressor(write_checksum=True).compress(WARC),
    "zstd of unknown size": zstandard.ZstdCompressor(write_content_size=False).compress(WARC),
    "zstd of zeros": zstandard.ZstdCompressor().compress(b"\0" * 1_000_000),
    "warc": WARC,
    "warc of line feeds": WARC.replace(b"\r\n", b"\n").removesuffix(b"\n\n") + b"\n\n",
    "arc": ARC,
    "gzip of arc": gzipped(ARC)[0],
}


@pytest.mark.parametrize("name", FORMS)
def test_end_is_found(name: str) -> None:
    """Whatever follows, a record ends where it ends."""
    data = FORMS[name]

    assert [len(data)] * 3 == [end_of(data + behind) for behind in (b"WARC/1.0\r\n", data, b"http://a/ 1 2 3 4\n")]


def test_long_gzip_is_inflated_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """zlib copies what is left of its input each time that it stops, so it is given little at once."""
    content = gzip.compress(random.Random(1).randbytes(8 << 20), 0)
    make, copied = zlib.decompressobj, []

    class Copying:
        def __init__(self, wbits: int) -> None:
            self.inflater = make(wbits)

        def __getattr__(self, name: str) -> Any:
            found = getattr(self.inflater, name)
            copied.append(len(found) if name == "unconsumed_tail" else 0)
            return found

    monkeypatch.setattr(zlib, "decompressobj", Copying)

    assert len(content) == end_of(content + b"behind")
    assert sum(copied) < len(content)


@pytest.mark.parametrize("name", FORMS)
def test_record_that_goes_on(name: str) -> None:
    """With a part of it, and even with all but the blanks behind it, the end is not known."""
    data = FORMS[name]
    body = data.rstrip(b"\r\n") if not name.startswith(("gzip", "zstd")) else data

    assert {None} == {end_of(data[:length]) for length in (20, len(body) // 2, len(body) - 1)}


@pytest.mark.parametrize(
    "data",
    [b"<html>\n" * 20, b"WARC/1.0\r\nA: b\r\n\r\n" + b"x" * 99, b"\x1f\x8b\x08" + b"\xff" * 99, b"x" * (2 << 20)],
)
def test_bytes_that_are_no_record(data: bytes) -> None:
    """They have no end to look for."""
    with pytest.raises(NoRecord):
        end_of(data)


@given(st.binary(max_size=400), st.sampled_from([b"", b"\x1f\x8b\x08", b"\x28\xb5\x2f\xfd", b"WARC/1.0\r\n"]))
def test_nothing_breaks_it(data: bytes, magic: bytes) -> None:
    """Any bytes have an end within them, none yet, or are no record."""
    whole = magic + data
    try:
        end = end_of(whole)
    except NoRecord:
        return
    assert end is None or 0 < end <= len(whole)
