"""The lines of an index file, whatever it is packed in."""

import gzip
import io
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index import index_lines
from dbce_spark.archive.index.index_lines import LineFault, head, numbered

TEXT = b"one\ntwo\r\n\nfour"
NUMBERED = [(1, "one"), (2, "two"), (3, ""), (4, "four")]


def read(data: bytes) -> list[tuple[int, str]]:
    """List the lines of these bytes, a fault as "!"."""
    return [(number, "!" if isinstance(line, LineFault) else line) for number, line in numbered(io.BytesIO(data))]


@pytest.mark.parametrize(
    "data",
    [
        TEXT,
        gzip.compress(TEXT, mtime=0),
        gzip.compress(TEXT[:2], mtime=0) + gzip.compress(TEXT[2:], mtime=0),
        gzip.compress(TEXT, mtime=0) + b"\0" * 100,
        gzip.compress(TEXT, mtime=0) + gzip.compress(b"", mtime=0),
    ],
)
def test_lines_are_numbered(data: bytes) -> None:
    """Plain, one gzip member or several: the same lines."""
    assert NUMBERED == read(data)


@given(
    st.lists(st.text(st.characters(exclude_characters="\n\r\0", codec="utf-8"), min_size=1)),
    st.integers(1, 9),
)
def test_cutting_changes_nothing(written: list[str], chunk: int) -> None:
    """Wherever the bytes are cut on the way, the lines are those that were written."""
    data = "\n".join(written).encode()
    stream = _Slow(data, chunk)
    expected = list(enumerate(written, 1))
    actual = list(numbered(stream))

    assert expected == actual or data.startswith(b"\x1f\x8b\x08")


class _Slow(io.BytesIO):
    """A stream that gives few bytes at a time."""

    def __init__(self, data: bytes, chunk: int):
        super().__init__(data)
        self._chunk = chunk

    def read(self, size: int | None = -1) -> bytes:
        return super().read(self._chunk)


def test_broken_member_is_passed_over() -> None:
    """Its damage comes in the place of a line, and the next member is read."""
    middle = bytearray(gzip.compress(b"lost\n" * 50))
    middle[12] ^= 0xFF
    data = gzip.compress(b"one\n") + bytes(middle) + gzip.compress(b"last\n")
    actual = read(data)

    assert (1, "one") == actual[0]
    assert "!" in [line for _, line in actual]
    assert "last" == actual[-1][1]


def test_next_member_is_searched_far() -> None:
    """The bytes between may be many, and its magic may be cut in two by a read."""
    chunk = 1 << 18  # bytes of one read
    broken = b"\x1f\x8b\x08\x00" + b"\xff" * (chunk - 5)
    for between in (b"\xff", b"\xff" * 2, b"\xff" * (2 * chunk)):
        assert [(1, "!"), (2, "last")] == read(broken + between + gzip.compress(b"last"))


def test_padding_as_long_as_what_is_read_at_once() -> None:
    """Behind zeros up to the end of a read, or longer than one, the next member is read."""
    first, chunk = gzip.compress(b"one\n"), 1 << 18
    for zeros in (chunk - len(first), 3 * chunk):
        assert [(1, "one"), (2, "last")] == read(first + bytes(zeros) + gzip.compress(b"last"))


@pytest.mark.parametrize("cut", [1, 8, 15])
def test_gzip_that_ends_early(cut: int) -> None:
    """The lines until there are given, then the fault."""
    actual = read(gzip.compress(b"one\ntwo\n")[:-cut])

    assert "!" == actual[-1][1]


def test_line_without_end() -> None:
    """A line that is too long is a fault, is not held, and counts as one."""
    data = b"one\n" + b"x" * (3 * index_lines.LONGEST_LINE) + b"\nthree\n"

    assert [(1, "one"), (2, "!"), (3, "three")] == read(data)


def test_bomb_is_read_in_bounded_memory() -> None:
    """A gigabyte of nothing is one line, and a fault."""
    data = gzip.compress(b"\0" * (1 << 26))
    tracemalloc.start()
    actual = read(data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()

    assert [(1, "!")] == actual
    assert peak < 16 << 20


def test_bytes_that_are_no_text() -> None:
    """They are replaced: the line may still be one."""
    assert [(1, "a\ufffdb")] == read(b"a\xffb")


@pytest.mark.parametrize(
    ("data", "expected"), [(TEXT, b"one"), (gzip.compress(TEXT, mtime=0), b"one"), (b"", b""), (b"\x1f\x8b\x08", b"")]
)
def test_head(data: bytes, expected: bytes) -> None:
    """The first bytes tell what a file is, and reading begins at its start afterwards."""
    stream = io.BytesIO(data)

    assert expected == head(stream, 3)
    assert 0 == stream.tell()
