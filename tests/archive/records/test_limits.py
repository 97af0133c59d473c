"""The limits on every input: lengths that lie, heads that do not end, bombs, damages without number."""

import bz2
import gzip
import io
import lzma
import resource
import tracemalloc
import zlib
from collections.abc import Callable
from time import process_time

import pytest
import zstandard

from dbce_spark.archive.records import (
    Cause,
    Damage,
    Record,
    archive_file,
    compression,
    inflated,
    record_headers,
    record_reader,
    records,
)
from dbce_spark.archive.records.archive_file import ArchiveFile
from dbce_spark.archive.records.buffered_file import BufferedFile
from dbce_spark.archive.records.compression import Dictionary
from tests.support.builders import arc_header, arc_record, at_most, gzipped, http, record
from tests.support.record_bytes import read, url, urls

LIMITS = at_most(record_bytes=100_000)
MB = 1 << 20


def lying(length: object, nth: int = 1) -> bytes:
    """Make a record that declares another length than it has."""
    true = record(http(b"<p>%d" % nth), url=url(nth))
    size = len(http(b"<p>%d" % nth))
    return true.replace(b"Content-Length: %d\r\n" % size, b"Content-Length: %s\r\n" % str(length).encode())


@pytest.mark.parametrize("how", ["plain", "gz", "one member"])
@pytest.mark.parametrize("length", [0, 5, 200, 1000, 99_999, 10**6, 10**12, 10**29, -1, -(10**12), "many", "", "1 2"])
def test_length_that_lies(length: object, how: str) -> None:
    """A Content-Length that is too small, too large, absurd or none costs no other record, in memory or not."""
    parts = [record(url=url(0)), lying(length), *(record(url=url(nth)) for nth in range(2, 9))]
    content = b"".join(gzipped(*parts) if how == "gz" else parts)
    found = read(gzip.compress(content, mtime=0) if how == "one member" else content, LIMITS)

    assert [url(nth) for nth in range(9)] == urls(found)


@pytest.mark.parametrize("how", ["plain", "gz", "one member"])
@pytest.mark.parametrize("length", ["0", "30", "99999", "1000000000000", "-2046788874", "many", ""])
def test_arc_length_that_lies(length: str, how: str) -> None:
    """So does an ARC's."""
    broken = b"http://www.example.org/1 192.0.2.1 20080430204826 text/html %s\n" % length.encode() + http() + b"\n"
    parts = [arc_header(), arc_record(url=url(0)), broken, *(arc_record(url=url(nth)) for nth in range(2, 9))]
    content = b"".join(gzipped(*parts) if how == "gz" else parts)
    found = read(gzip.compress(content, mtime=0) if how == "one member" else content, LIMITS)

    assert [url(nth) for nth in range(9)] == urls(found)[1:]


@pytest.mark.parametrize("how", ["plain", "one member"])
def test_length_that_goes_beyond_the_end_of_a_long_file(how: str) -> None:
    """Though the file has more bytes in front of the record than it claims."""
    parts = [record(http(bytes(300_000)), url=url(0)), lying(200_000), record(url=url(2))]
    content = b"".join(parts)

    assert [url(0), url(1), url(2)] == urls(read(gzip.compress(content) if how == "one member" else content, LIMITS))


def test_block_of_a_wrong_length_ends_in_front_of_its_line_ends() -> None:
    """Of either format, which end a record by two lines and by one."""
    arc = b"http://www.example.org/1 192.0.2.1 20080430204826 text/html %s\n" + http() + b"\n"
    for length in (b"99999", b"many", b"-5"):
        warc = record(url=url(1)).replace(b"Length: %d" % len(http()), b"Length: " + length)
        for parts in ([arc_header(), arc % length, arc_record()], [record(), warc, record()]):
            found = read(b"".join(parts), LIMITS)[1]

            assert isinstance(found, Record)
            assert (url(1), http()) == (found.url, found.block)


def test_block_that_ends_inside_the_next_head() -> None:
    """A length that is too large by a few bytes costs only these: lines that lost their carriage returns are such."""
    size = len(http(b"<p>1"))
    found = read(record(url=url(0)) + lying(size + 10) + record(url=url(2)))

    assert [url(0), url(1), url(2)] == urls(found)
    assert isinstance(found[1], Record)
    assert http(b"<p>1") == found[1].block


@pytest.mark.parametrize("length", [0, 2])
def test_a_length_that_is_not_believed_is_still_a_limit(length: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """When so much was read twice that a block ends where a record begins: it ends where its head says, too."""
    honest = record(b"12", url=url(2)).replace(b"Content-Length: 2", b"Content-Length: %d" % length)
    content = record(url=url(0)) + lying(99_999) + honest[:-4] + b"345\r\n\r\n" + record(url=url(3))
    monkeypatch.setattr(archive_file, "_LEAST_LOOKED_BACK", -4 * len(content))
    found = read(content, LIMITS)

    assert [url(nth) for nth in range(4)] == urls(found)
    assert [b"12"[:length]] == [one.block for one in found if isinstance(one, Record) and one.url == url(2)]


def test_a_compressed_body_does_not_end_a_record_without_length() -> None:
    """A member that does not begin with a record is a part of one."""
    body = http(gzip.compress(b"<p>more", mtime=0))
    found = read(record(body, url=url(0)).replace(b"Length: %d" % len(body), b"Length: many") + record(url=url(1)))

    assert [(url(0), body), (url(1), http())] == [(one.url, one.block) for one in found if isinstance(one, Record)]


def test_to_inflate_again_costs_a_part_of_what_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """So a record in a block that is too large to be kept is found where little may be read twice."""
    large = lying(500_000)[:-4] + b"x" * 400_000 + b"\n"
    content = gzip.compress(record(url=url(0)) + large + record(url=url(2)) + b"y" * 200_000, mtime=0)
    monkeypatch.setattr(archive_file, "_LEAST_LOOKED_BACK", 60_000 - 4 * len(content))

    assert [url(0), url(1), url(2)] == urls(read(content, LIMITS))


def test_an_xz_that_wants_too_much_memory_is_refused() -> None:
    """Its head declares a dictionary of a gigabyte."""
    content = bytearray(lzma.compress(record(url=url(1))))
    content[16] = 36  # 2 << 29
    content[20:24] = zlib.crc32(content[12:20]).to_bytes(4, "little")
    found = read(record(url=url(0)) + content, LIMITS)

    assert [url(0)] == urls(found)
    assert [(Cause.BROKEN, len(content))] == [(one.cause, one.length) for one in found if isinstance(one, Damage)]


def test_a_dictionary_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file is not brought into memory as its own dictionary."""
    monkeypatch.setattr(compression, "_MOST_DICTIONARY", 1000)
    frames = [b"\x5d\x2a\x4d\x18" + size.to_bytes(4, "little") + b"words " * (size // 6) for size in (990, 996)]
    lost = [[one.cause for one in read(frame + record(), LIMITS) if isinstance(one, Damage)] for frame in frames]

    assert [[Cause.BLANK], [Cause.BROKEN]] == lost


def test_a_block_that_is_too_large_is_not_held() -> None:
    """To go behind it takes no more memory than a part of it does."""
    content = b"".join(gzipped(record(url=url(0)), record(bytes(32 * MB), url=url(1)), record(url=url(2))))
    tracemalloc.start()
    found = read(content, LIMITS)
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert [url(0), url(1), url(2)] == urls(found)
    assert held < 20 * MB


def test_large_block_is_not_read() -> None:
    """A block over the limit has its place and its length, and no bytes."""
    big = record(http(b"x" * 200_000), url=url(1))
    for content in (big, *gzipped(big), bz2.compress(big)):
        (found,) = read(content, LIMITS)

        assert isinstance(found, Record)
        assert (None, len(http(b"x" * 200_000))) == (found.block, found.declared_length)


@pytest.mark.parametrize("is_gzip", [True, False])
def test_head_without_end(is_gzip: bool) -> None:
    """A head that does not end is a damage, and the records around it are read."""
    endless = b"WARC/1.0\r\n" + b"X-Field: y\r\n" * 200_000
    parts = [record(url=url(0)), endless, record(url=url(2))]
    found = read(b"".join(gzipped(*parts) if is_gzip else parts), LIMITS)

    assert [url(0), url(2)] == urls(found)


def test_large_zeros_are_no_bomb() -> None:
    """A disk image may compress a thousandfold."""
    parts = [record(url=url(0)), record(http(bytes(30 * MB)), url=url(1)), record(url=url(2))]

    assert [url(0), url(1), url(2)] == urls(read(b"".join(gzipped(*parts)), LIMITS))


@pytest.mark.parametrize("coding", ["gzip", "zstd", "bz2"])
def test_bomb(coding: str) -> None:
    """Content that inflates beyond the limits is passed over and counted; the next record is read."""
    bomb = record(http(bytes(40 * MB)), url=url(1))
    compress = {"gzip": gzip.compress, "zstd": zstandard.ZstdCompressor().compress, "bz2": bz2.compress}[coding]
    with_care = record(url=url(2)).replace(b"Content-Length", b"content-length")
    parts = [*gzipped(record(url=url(0))), compress(bomb), *gzipped(with_care, record(url=url(3)))]
    limits = at_most(record_bytes=100_000, inflated_bytes=10 * MB, inflated_ratio=100)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = read(b"".join(parts), limits)

    assert [url(0), url(1), url(2), url(3)] == urls(found)
    assert [Cause.SWOLLEN] == [one.cause for one in found if isinstance(one, Damage)]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000  # KiB


class Counted(io.BytesIO):
    """A stream that counts what is read of it."""

    taken = 0

    def read(self, size: int | None = -1) -> bytes:
        part = super().read(size)
        self.taken += len(part)
        return part


@pytest.mark.parametrize(
    "content",
    [
        b"\x1f\x8b\x08\x00\0\0\0\0\0\xff" * 50_000,
        b"\x1f\x8b\x08\x00\0\0\0\0\0\xff\x00\xff\xff\x00\x00" * 30_000,
        b"BZh91AY&SY" * 50_000,
        b"WARC/1.0\r\n" * 50_000,
        b"WARC/1.0\r\nA: b\r\n" * 30_000,
        b"WARC/1.0\r\nContent-Length: 90000\r\n\r\n" * 50_000,
        b"WARC/1.0\r\nContent-Length: 9000000\r\n\r\n" * 50_000,
        b"http://a/ 1.2.3.4 20080430204826 text/html 90000\n" * 10_000,
        b"http:" * 100_000,
        b"http://" + b"a 1.2.3.4 20080430204826 " * 20_000,
        b"\n" * 500_000,
        b"\0" * 500_000,
        b"\x50\x2a\x4d\x18\x01\0\0\0\0" * 50_000,
        b"\x28\xb5\x2f\xfd\x20\x00\x01\x00\x00" * 50_000,
    ],
    ids=lambda content: repr(content[:24]),
)
def test_work_is_linear(content: bytes) -> None:
    """Half a megabyte of what looks like the start of something are not read again and again."""
    stream = Counted(content)
    found = list(records(stream, LIMITS))

    assert len(content) == sum(one.length for one in found)
    assert stream.taken < 6 * len(content) + 70 * MB


def test_a_head_of_nothing_but_lengths_is_read_once() -> None:
    """Though it fills a member of its own and has no end: nobody tries each of its lines as the one that counts."""
    endless = gzip.compress(b"WARC/1.0\r\n" + b"Content-Length: 1\r\n" * 20_000 + b"x", mtime=0)
    began = process_time()
    found = read(endless + b"".join(gzipped(record(url=url(1)))), LIMITS)

    assert url(1) == urls(found)[-1]
    assert process_time() - began < 5


def test_members_are_searched_once_in_text_that_reads_like_records() -> None:
    """If none follows, the file is not searched to its end again from each line that is no record after all."""
    line = b"http://a/ 1.2.3.4 20080430204826 text/html x9\n"
    began = process_time()
    found = read(gzipped(record(url=url(0)))[0] + line * 8000, LIMITS)

    assert [url(0)] == urls(found)
    assert process_time() - began < 5


def test_heads_without_end_are_searched_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of nothing but heads that do not end is not searched through from each of them."""
    monkeypatch.setattr(archive_file, "_LEAST_LOOKED_BACK", 0)
    monkeypatch.setattr(record_reader, "head_end", searched := Searched(record_headers.head_end))
    content = b"WARC/1.0\r\nXY: z\r\n" * 12_000
    read(content + b"x" * 200_000, at_most(head_bytes=100_000))

    assert 12_000 < searched.calls
    assert searched.taken < 12_000 * 5000 + 8 * len(content) + 5 * MB


class Searched:
    """A function of bytes that counts its calls, and the bytes."""

    def __init__(self, function: Callable[[bytes], int | None]) -> None:
        self.function, self.calls, self.taken = function, 0, 0

    def __call__(self, content: bytes) -> int | None:
        self.calls += 1
        self.taken += len(content)
        return self.function(content)


def test_members_that_share_a_bomb_are_inflated_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind a damage each of a thousand heads of gzip holds the next ones as its name, and the bomb behind them."""
    made = []

    def counted(file: BufferedFile, at: int, dictionary: Dictionary) -> compression.Pieces:
        for out, start, end in compression.pieces(file, at, dictionary):
            made.append(len(out))
            yield out, start, end

    monkeypatch.setattr(archive_file, "_LEAST_LOOKED_BACK", 0)
    monkeypatch.setattr(archive_file, "pieces", counted)
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    bomb = (compressor.compress(bytes(3 * MB)) + compressor.flush())[:2000]
    heads = b"\x1f\x8b\x08\x08\x01\x01\x01\x01\x01\x03" * 600
    found = read(record() + (b"garbage\n" + heads + b"\0" + bomb) * 5 + record(url=url(2)))

    assert 2 == len(urls(found))
    assert 900 * MB < sum(made) < 1100 * MB


@pytest.mark.parametrize("empty", [gzip.compress(b"", mtime=0), b"\x50\x2a\x4d\x18\0\0\0\0"])
def test_members_without_content_are_not_remembered(empty: bytes) -> None:
    """A file may be full of them."""
    content = b"".join(gzipped(record(url=url(0)))) + empty * 10_000 + b"".join(gzipped(record(url=url(1))))
    stream = io.BytesIO(content)
    tracemalloc.start()
    found = list(records(stream, LIMITS))
    held = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert [url(0), url(1)] == urls(found)
    assert [(Cause.BLANK, 10_000 * len(empty))] == [(one.cause, one.length) for one in found if isinstance(one, Damage)]
    assert held < MB


def test_garbage_behind_a_length_that_lies_is_searched_once() -> None:
    """A record of 60 MB was read ahead for; that is not copied for each line that begins none."""
    garbage = (record(url=url(2)) + b"garbage\n") * 4000
    content = gzip.compress(record(url=url(0)) + lying(60_000_000) + garbage, 1)
    taken = []

    class Content(inflated.InflatedContent):
        def peek(self, size: int) -> bytes:
            part = super().peek(size)
            taken.append(len(part))
            return part

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(record_reader, "InflatedContent", Content)
        found = read(content, at_most())

    assert 4002 == len(urls(found))
    assert sum(taken) < 4000 * 100_000


def test_what_may_be_read_again_is_bounded() -> None:
    """64 MiB and four times the file: then no more, however small."""
    archive = ArchiveFile(io.BytesIO(bytes(1 << 20)), at_most())
    asked = [archive.may_read_again(1 << 20) for _ in range(100)]

    assert [True] * 68 + [False] * 32 == asked
    assert not archive.may_read_again(1)
    assert archive.may_read_again(0)
