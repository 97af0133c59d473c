"""The original of a revisit is found, by search in a sorted file or in a pass over any."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dbce_spark.selection.entry import Entry
from dbce_spark.selection.lookup import Originals, by_date, by_digest, find, originals
from tests.selection.indexes import DIGEST, cdx_line, cdxj_line, entry, micros
from tests.selection.strategies import entries

OTHER = "A" * 32
NOON = micros("2020-01-02T12:00:00")


def test_by_digest() -> None:
    """Of several captures with the payload the earliest that is no revisit is the original."""
    some = [
        entry(timestamp=3, offset=3),
        entry(timestamp=1, offset=1, is_revisit=True),
        entry(timestamp=2, offset=2),
        entry(timestamp=0, digest=f"sha1:{OTHER}"),
        entry(timestamp=4, offset=4),
    ]
    found = originals(some, [by_digest(f"sha1:{DIGEST}")], 10)

    assert {f"sha1:{DIGEST}": some[2]} == found


def test_by_date() -> None:
    """The URL by its key and the second must be those that the revisit names."""
    some = [
        entry(timestamp=NOON + 1_000_000),
        entry(urlkey="org,example)/b"),
        entry(url="https://example.org/a", urlkey=""),
    ]
    name = by_date("http://www.example.org/a", NOON + 500_000)

    assert {name: some[2]} == originals(some, [name], 10)


def test_names_are_bounded() -> None:
    """Beyond the limit a name is refused and counted, not forgotten."""
    pool = Originals(most=2)
    wanted = [pool.want(name) for name in ("a", "b", "a", "c", "d")]

    assert ([True, True, True, False, False], 2) == (wanted, pool.refused)


@pytest.mark.parametrize("line", [cdx_line, cdxj_line])
@pytest.mark.parametrize("legend", ["", " CDX N b a m s k r M S V g\n"])
@settings(deadline=None, max_examples=30)
@given(st.lists(entries, min_size=1, max_size=8), st.data())
def test_search_finds_what_a_pass_finds(line: object, legend: str, written: list[Entry], data: st.DataObject) -> None:
    """In a sorted CDX or CDXJ file the binary search gives the same original as a pass over all of it."""
    assert callable(line)
    if line is cdxj_line:
        legend = ""
    lines = sorted(line(one) for one in written)
    content = (legend + "".join(f"{one}\n" for one in lines)).encode()
    asked = data.draw(st.sampled_from(written))
    name = by_date(asked.url, asked.timestamp)
    expected = originals(written, [name], 10).get(name)
    actual = find(io.BytesIO(content), len(content), asked.url, asked.timestamp)

    assert actual is not None
    assert expected is not None
    assert (expected.timestamp, expected.offset, expected.url) == (actual.timestamp, actual.offset, actual.url)


def test_what_is_not_there() -> None:
    """No line, a line of another second, a revisit: nothing."""
    content = "".join(
        f"{cdxj_line(one)}\n" for one in (entry(is_revisit=True, mime=""), entry(timestamp=NOON + 9_000_000))
    ).encode()
    asked = [("http://www.example.org/a", NOON), ("http://www.example.org/", NOON), ("http://zzz.example/", NOON)]

    assert [None] * 3 == [find(io.BytesIO(content), len(content), url, date) for url, date in asked]
    assert find(io.BytesIO(b""), 0, "http://a/", 0) is None


def test_broken_lines_are_passed_over() -> None:
    """A line of the key that is no entry hides no other."""
    good = cdxj_line(entry())
    content = f"{good[:40]}\n{good}\n".encode()

    assert entry() == find(io.BytesIO(content), len(content), "http://www.example.org/a", NOON)
