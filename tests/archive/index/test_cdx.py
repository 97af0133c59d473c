"""CDX in every order of fields, with and without a legend."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.archive.index import cdx
from dbce_spark.archive.index.index_entry import IndexEntry, NoEntry
from tests.support.index_strategies import entries
from tests.support.indexes import cdx_line, entry, faults_in, found_in, micros, write_lines

LETTERS = ["N", "b", "a", "m", "s", "k", "S", "V", "g"]
OTHERS = ["r", "M", "e", "c", "v", "D", "d", "n", "A"]


@given(
    st.lists(entries, min_size=1, max_size=4),
    st.permutations(LETTERS),
    st.lists(st.sampled_from(OTHERS), max_size=5),
    st.sampled_from(" \t|;"),  # not the comma, which keys hold,
)
def test_any_order_of_fields(written: list[IndexEntry], order: list[str], others: list[str], separator: str) -> None:
    """Whatever the legend's order, further fields and separator, the same entries come back."""
    letters = " ".join(order + others)
    read = cdx.reader()
    header = separator + "CDX" + separator + letters.replace(" ", separator)
    assert read(header) is None
    actual = [read(cdx_line(one, letters, separator)) for one in written]

    assert written == actual


@pytest.mark.parametrize("letters", ["N b a m s k r V g", "N b a m s k r M V g", "N b a m s k r M S V g"])
def test_order_is_guessed_by_counting(letters: str) -> None:
    """9, 10 and 11 fields are what they mostly are; of 9 and 10 the length is not known."""
    expected = entry(length=50 if "S" in letters else -1)
    actual = cdx.reader()(cdx_line(entry(), letters))

    assert expected == actual


def test_order_of_outbackcdx() -> None:
    """Three fields behind eleven say where the record lay before."""
    assert entry() == cdx.reader()(f"{cdx_line(entry())} 7 8 old.warc.gz")


LINES: dict[str, tuple[str, dict[str, object]]] = {
    "2006, with what no one uses any more": (
        " CDX A b e a m s c k r V v D d g M n\n"
        "example.org/a 20010424210551 192.0.2.1 example.org:80/a text/html 200 58670 - - 17 59 19 65 crawl6.2001 - 5",
        {
            "urlkey": "example.org/a",
            "url": "http://example.org:80/a",
            "timestamp": micros("2001-04-24T21:05:51"),
            "digest": "58670",
            "offset": 17,
            "length": -1,
            "filename": "crawl6.2001",
        },
    ),
    "offset in the plain file only": (
        " CDX N b a v g\norg,example)/a 20200102120000 http://www.example.org/a 100 a.warc",
        {"mime": "", "status": 0, "digest": "", "length": -1, "filename": "a.warc"},
    ),
    "no URL but its key": (
        " CDX N b V g\norg,example,news:8080)/a?b 2020 5 a.arc.gz",
        {
            "urlkey": "org,example,news:8080)/a?b",
            "url": "http://news.example.org:8080/a?b",
            "timestamp": micros("2020-01-01T00:00:00"),
            "mime": "",
            "status": 0,
            "digest": "",
            "length": -1,
            "offset": 5,
            "filename": "a.arc.gz",
        },
    ),
    "legend without the separator before it": ("CDX N b a m s k r M S V g\n" + cdx_line(entry()), {}),
    "legend behind a byte order mark": ("\ufeff CDX N b a m s k r M S V g\n" + cdx_line(entry()), {}),
    "legend with a blank behind it": (" CDX N b a m s k r M S V g \n" + cdx_line(entry()), {}),
    "line ends of Windows": (" CDX N b a m s k r M S V g\r\n" + cdx_line(entry()) + "\r", {}),
    "a revisit": (cdx_line(entry(is_revisit=True, mime="")), {"is_revisit": True, "mime": ""}),
    "type with parameters": (
        cdx_line(entry()).replace("text/html", "Text/HTML;charset=utf-8"),
        {"mime": "text/html"},
    ),
    "microseconds": (
        cdx_line(entry()).replace("20200102120000", "20200102120000123456"),
        {"timestamp": micros("2020-01-02T12:00:00") + 123_456},
    ),
    "milliseconds": (
        cdx_line(entry()).replace("20200102120000", "20200102120000123"),
        {"timestamp": micros("2020-01-02T12:00:00") + 123_000},
    ),
}


@pytest.mark.parametrize("name", LINES)
def test_line(tmp_path: Path, name: str) -> None:
    """A line is read as what it says."""
    written, fields = LINES[name]
    path = write_lines(tmp_path / "a.cdx", [written])
    filename = str(fields.get("filename", "a.warc.gz"))
    expected = [entry(**(fields | {"path": f"{tmp_path}/{filename}"}))]

    assert expected == found_in(path)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("a b c", "3 fields and no legend"),
        ("", "1 fields and no legend"),
        (cdx_line(entry(filename="-")), "no file name"),
        (cdx_line(entry()).replace("20200102120000", "20201302120000"), "no date: '20201302120000'"),
        (cdx_line(entry()).replace("20200102120000", "yesterday"), "no date: 'yesterday'"),
        (cdx_line(entry()).replace(" 100 ", " -5 "), "offset is no number: '-5'"),
        (cdx_line(entry()).replace(" 100 ", " ١٠٠ "), "offset is no number: '١٠٠'"),
        (cdx_line(entry()).replace(" 50 ", f" {'9' * 30} "), f"length is no number: '{'9' * 30}'"),
        (cdx_line(entry(urlkey="-", url="-")), "no URL"),
    ],
)
def test_line_that_is_no_entry(line: str, reason: str) -> None:
    """The reason names the field."""
    with pytest.raises(NoEntry) as caught:
        cdx.reader()(line)

    assert reason == str(caught.value)


def test_broken_lines_are_named_by_number(tmp_path: Path) -> None:
    """A line that is no entry is reported with its number, and the others are read."""
    lines = [" CDX N b a m s k r M S V g", cdx_line(entry()), "a broken line", "", cdx_line(entry(offset=7))]
    path = write_lines(tmp_path / "a.cdx", lines)

    assert [(3, "broken_index_line")] == faults_in(path)
    assert [100, 7] == [one.offset for one in found_in(path) if isinstance(one, IndexEntry)]


def test_legend_holds_until_the_next(tmp_path: Path) -> None:
    """Files that were joined bring several legends."""
    lines = [" CDX N b a g V", cdx_line(entry(), "N b a g V"), " CDX g V N b a", cdx_line(entry(), "g V N b a")]
    path = write_lines(tmp_path / "a.cdx", lines)

    assert [100, 100] == [one.offset for one in found_in(path) if isinstance(one, IndexEntry)]
