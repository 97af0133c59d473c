"""Binary search in a file finds what a scan finds."""

import io

from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index.index_lines import LONGEST_LINE
from dbce_spark.archive.index.sorted_file import behind, first_not_before, line_before

texts = st.text("ab,)é", min_size=1, max_size=6)


@given(st.lists(texts).map(lambda some: sorted(one.encode() for one in some)), texts, st.booleans())
def test_search_finds_what_a_scan_finds(keys: list[bytes], key: str, ends_with_newline: bool) -> None:
    """The first line that does not sort before the key, wherever in the file."""
    data = b"\n".join(keys) + (b"\n" if ends_with_newline and keys else b"")
    starts = [sum(len(one) + 1 for one in keys[:nth]) for nth in range(len(keys))]
    expected = next((start for start, one in zip(starts, keys, strict=True) if one >= key.encode()), len(data))
    actual = first_not_before(io.BytesIO(data), len(data), key.encode())

    assert expected == actual


@given(st.lists(texts.map(str.encode), min_size=1))
def test_line_before(keys: list[bytes]) -> None:
    """From each line the one before is found, from the first the first."""
    data = b"\n".join(keys) + b"\n"
    starts = [sum(len(one) + 1 for one in keys[:nth]) for nth in range(len(keys) + 1)]
    stream = io.BytesIO(data)

    assert [0, *starts[:-1]] == [line_before(stream, start) for start in starts]


def test_line_without_end_is_not_held() -> None:
    """Of a line that is longer than any in an index no more is read at once than such a line has."""

    class Read(io.BytesIO):
        longest = 0

        def readline(self, size: int | None = -1) -> bytes:
            line = super().readline(size)
            self.longest = max(self.longest, len(line))
            return line

    stream = Read(b"a\nb\n" + b"x" * (3 * LONGEST_LINE))
    first_not_before(stream, len(stream.getvalue()), b"c")

    assert stream.longest == LONGEST_LINE


def test_line_before_a_long_one() -> None:
    """It may begin several reads before."""
    data = b"a\n" + b"b" * 20_000 + b"\nc\n"

    assert 2 == line_before(io.BytesIO(data), 20_003)


@given(st.text(min_size=1).filter(lambda text: text[-1] < "\U0010ffff"), st.text())
def test_behind_a_prefix(prefix: str, rest: str) -> None:
    """All that begins with a prefix sorts before it, and what sorts before and not under the prefix begins with it."""
    if "\ud800" <= max(prefix + rest) <= "\udfff":
        return
    bound = behind(prefix).encode()

    assert prefix.encode() <= (prefix + rest).encode() < bound
    assert rest.startswith(prefix) or not prefix.encode() <= rest.encode() < bound
