"""Pages that are rows of a table."""

import inspect
import re
from datetime import date
from importlib import import_module
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import dbce_spark
from dbce_spark import InputError, extract_pages, extract_table
from dbce_spark.dbce.extraction.page_table import added_columns
from dbce_spark.dbce.kept.kept_formats import FORMATS
from dbce_spark.output.schemas.extraction_rows import EXTRACTIONS

MENU = "<nav><ul><li><a href=/>Home</a><li><a href=/town>Town and people</a></ul></nav>"
HTML = [f"{MENU}<main><h1>News</h1><p>Ship number {n} has landed at quay {n}.</p></main>" for n in range(4)]
URLS = [f"http://news.example/{n}" for n in range(4)]
DATES = ["2020-01-01", None, "2020-01-03", None]
COLUMNS = {"id": [7, 8, 9, 10], "html": HTML, "url": URLS, "date": DATES}


def rows(table: pa.Table) -> list[tuple[int, str, str]]:
    return [(row["id"], row["title"], row["text"]) for row in table.to_pylist()]


def test_rows_have_what_pages_have() -> None:
    """In their order, with what they had before; compared with each other."""
    expected = extract_pages(zip(HTML, URLS, DATES, strict=True))
    found = extract_table(pa.table(COLUMNS), date="date").to_pylist()

    assert [7, 8, 9, 10] == [row["id"] for row in found]
    assert [page.text for page in expected] == [row["text"] for row in found]
    assert [page.language for page in expected] == [row["language"] for row in found]
    assert [[vars_of(block) for block in page.blocks] for page in expected] == [row["blocks"] for row in found]
    assert found[0]["blocks"][0]["siblings"] > 0


def vars_of(block: dbce_spark.ExtractedBlock) -> dict[str, Any]:
    return {name: getattr(block, name) for name in block.__slots__}


def test_tables_of_all_kinds_give_the_same() -> None:
    """Of Arrow, also a batch, of pandas and of polars."""
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    table = pa.table(COLUMNS)
    expected = rows(extract_table(table))

    for given in (table.to_batches()[0], pandas.DataFrame(COLUMNS), polars.DataFrame(COLUMNS)):
        assert expected == rows(extract_table(given))


def test_what_is_no_page_has_its_error_in_its_row() -> None:
    """A row of null, and the others stay as they are; without rows there are none."""
    found = extract_table(pa.table({"html": [HTML[0], None]}), url=None)

    assert [True, False] == [one is None for one in found.column("error").to_pylist()]
    assert [False, True] == [one is None for one in found.column("text").to_pylist()]
    assert 0 == extract_table(pa.table(COLUMNS).slice(0, 0)).num_rows


def test_formats_are_columns_where_they_are_asked_for() -> None:
    """As pages have them; without asking there is none."""
    expected = extract_pages(zip(HTML, URLS, strict=True))
    found = extract_table(pa.table(COLUMNS), formats=["html", "markdown", "about"]).to_pylist()

    assert [(page.markdown, page.html) for page in expected] == [(row["markdown"], row["kept_html"]) for row in found]
    assert [page.to_dict()["about"] for page in expected] == [row["about"] for row in found]
    assert found[0]["about"]["title"]
    assert not {"markdown", "kept_html", "about"} & {*extract_table(pa.table(COLUMNS)).column_names}
    with pytest.raises(InputError, match="there is no format pdf; there are text, markdown, html, about"):
        extract_table(pa.table(COLUMNS), formats=["pdf"])


def test_what_a_page_says_of_itself_is_as_in_extractions() -> None:
    """The same column, so that programs read both."""
    assert EXTRACTIONS.field("about") == added_columns(["about"]).field("about")


def test_a_column_of_nulls_is_of_any_type() -> None:
    """As pandas makes one of numbers of URLs that are all missing; it stays as it was."""
    nothing = pa.nulls(4, pa.float64())
    columns = COLUMNS | {"url": nothing, "date": nothing}
    expected = extract_pages(HTML)
    found = extract_table(pa.table(columns), date="date")

    assert [page.text for page in expected] == found["text"].to_pylist()
    assert [pa.float64()] * 2 == [found.schema.field(name).type for name in ("url", "date")]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"html": HTML, "url": [float("nan")] * 4})
    assert found["text"] == extract_table(frame)["text"]


@pytest.mark.parametrize(("module", "name"), [("dbce_spark", "extract_table"), ("dbce_spark.spark", "extract")])
def test_the_help_has_each_column_and_format(module: str, name: str) -> None:
    """Of a table and of a DataFrame."""
    if module == "dbce_spark.spark":
        pytest.importorskip("pyspark")
    named = {*re.findall(r"`(\w+)`", inspect.getdoc(getattr(import_module(module), name)) or "")}

    assert {*added_columns(FORMATS).names, *FORMATS, "formats"} <= named


@pytest.mark.parametrize(
    ("names", "message"), [({"html": "page"}, "there is no column page; there are id, html, url, date"), ({}, "text")]
)
def test_columns_that_do_not_fit_are_named(names: dict[str, Any], message: str) -> None:
    """One that is not there, and one that is there already."""
    table = pa.table(COLUMNS) if names else pa.table(COLUMNS).append_column("text", pa.nulls(4))

    with pytest.raises(InputError, match=message):
        extract_table(table, **names)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"html": [1], "url": ["a"]}, "the column html is of int64; html is text or bytes"),
        ({"html": ["<p>a"], "url": [1.5]}, "the column url is of double; url is text"),
        (
            {"html": ["<p>a"], "url": ["a"], "date": [5]},
            "the column date is of int64; date is timestamps, days or text",
        ),
        ({"html": ["<p>a"]}, "there is no column url; there are html; url=None if pages have none"),
    ],
)
def test_columns_are_of_their_types(columns: dict[str, Any], message: str) -> None:
    """Said before a page is looked at."""
    with pytest.raises(InputError, match=message):
        extract_table(pa.table(columns), date="date" if "date" in columns else None)


@pytest.mark.parametrize("formats", ["text", ["text"], ["text", "markdown"]])
def test_text_is_a_format_that_is_always_there(formats: Any) -> None:
    """As in `dbce extract --format text,markdown`."""
    others = [one for one in formats if one == "markdown"]

    assert extract_table(pa.table(COLUMNS), formats=others) == extract_table(pa.table(COLUMNS), formats=formats)
    (found,) = extract_pages([(HTML[0], URLS[0])])
    assert found.to_dict(others) == found.to_dict(formats)


@pytest.mark.parametrize(
    ("formats", "message"),
    [
        (None, "formats are some of text, markdown, html, about, not NoneType"),
        ([["html"]], "there is no format"),
        (3, "not int"),
    ],
)
def test_formats_of_the_wrong_type_are_named(formats: Any, message: str) -> None:
    """As formats that there are not."""
    with pytest.raises(InputError, match=message):
        extract_table(pa.table(COLUMNS), formats=formats)


def test_a_name_is_that_of_one_column() -> None:
    """Not of two, and not none where the page itself should be."""
    twice = pa.Table.from_arrays([pa.array(HTML[:1])] * 2, ["html", "html"])

    with pytest.raises(InputError, match="there are 2 columns html; rename all but one"):
        extract_table(twice, url=None)
    with pytest.raises(InputError, match="there is no column None"):
        extract_table(pa.table(COLUMNS), html=None)  # type: ignore[arg-type]


def test_a_text_that_is_not_utf_8_is_its_bytes() -> None:
    """Arrow and Spark take such a text without a look; the charset of the page shows in them."""
    html, url = (
        pa.array([one]).view(pa.string()) for one in ("<p>Übermut tut gut".encode("latin-1"), b"http://a/\xff")
    )
    (row,) = extract_table(pa.table({"html": html, "url": url}), html="html").select(["page_text", "error"]).to_pylist()

    assert {"page_text": "Übermut tut gut", "error": None} == row


def test_a_query_is_to_be_collected() -> None:
    """A LazyFrame of polars is no table yet."""
    pl = pytest.importorskip("polars")
    with pytest.raises(InputError, match=r"this LazyFrame is a query: give its \.collect\(\)$"):
        extract_table(pl.LazyFrame({"html": HTML}))


def test_good_rows_have_no_error() -> None:
    """It is null, whereby they are selected; an empty page and a null have one."""
    found = extract_table(pa.table({"html": [HTML[0], "", None]}), url=None)

    assert [None, *["empty_payload: there is no HTML"] * 2] == found["error"].to_pylist()
    assert 1 == found.filter(pc.field("error").is_null()).num_rows


@pytest.mark.parametrize("pages", ["<p>a", 5, None, [HTML[0]]])
def test_what_is_no_table_is_said(pages: Any) -> None:
    """In one line, with its type."""
    with pytest.raises(
        InputError, match=f"^pages are a table of Arrow, pandas or polars, and this {type(pages).__name__} "
    ):
        extract_table(pages)


@pytest.mark.parametrize(
    "dates",
    [
        ["2020-01-01", "yesterday", "20200103000000", None],
        ["2020-01-01", "", "Fri, 3 Jan 2020 00:00:00 +0000", " "],
        pa.array([date(2020, 1, 1), None, date(2020, 1, 3), None]),
        pa.array([1577836800 * 10**9 + 5, None, 1578009600 * 10**9, None], pa.timestamp("ns")),
        pa.array([1577836800, 10**12, 1578009600, None], pa.timestamp("s", "Europe/Berlin")),
    ],
)
def test_dates_are_read_whatever_their_column(dates: Any) -> None:
    """Text, days and times of any zone; one that cannot be read counts as none, and its column is as it was."""
    columns = COLUMNS | {"url": [URLS[0]] * 4, "date": dates}
    expected = extract_pages(zip(HTML, [URLS[0]] * 4, ["2020-01-01", None, "2020-01-03", None], strict=True))
    found = extract_table(pa.table(columns), date="date")

    assert [page.text for page in expected] == found.column("text").to_pylist()
    assert [page.blocks[0].snapshots for page in expected] == [
        one[0]["snapshots"] for one in found.column("blocks").to_pylist()
    ]
    assert pa.table(columns).column("date") == found.column("date")
