"""Pages that are rows of a DataFrame."""

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from dbce_spark import extract_pages
from dbce_spark.errors import InputError
from dbce_spark.spark import extract
from dbce_spark.spark.jobs import page_frame
from tests.support.news_pages import SITE, page

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.spark

PAGES: list[tuple[Any, ...]] = [
    *((at, page(at).encode(), f"{SITE}{at}", None) for at in range(5)),
    *((10 + at, page(at).encode(), f"{SITE}same", datetime(2020 + at, 1, 1, tzinfo=UTC)) for at in range(3)),
    (20, page(7).encode(), "http://other.example.com/", None),
    (21, b"<script>1</script>", "http://other.example.com/empty", None),
    (22, None, None, None),
    (23, page(8).encode(), None, None),
]
SCHEMA = "number int, html binary, url string, date timestamp"


@pytest.mark.parametrize("partitions", [1, 7])
def test_rows_have_what_plain_python_gives(spark: "SparkSession", partitions: int) -> None:
    """Whatever the partitions; the columns of the rows stay."""
    rows = spark.createDataFrame(PAGES[::-1], SCHEMA).repartition(partitions)
    found = {row["number"]: row.asDict(recursive=True) for row in extract(rows, date="date").collect()}
    expected = extract_pages((html or b"", url, date) for _, html, url, date in PAGES)

    assert {number for number, *_ in PAGES} == set(found)
    for (number, html, url, _), one in zip(PAGES, expected, strict=True):
        row = found[number]
        assert (one.error or None, one.text if not one.error else None) == (row["error"], row["text"])
        assert (html, url) == (row["html"], row["url"])
        if not one.error:
            assert [(b.text, b.label, b.score, b.siblings_with) for b in one.blocks] == [
                (b["text"], b["label"], b["score"], b["siblings_with"]) for b in row["blocks"]
            ]


class Unwritten(bytes):
    """HTML that fails the test where it is written out as a text."""

    def __repr__(self) -> str:
        raise AssertionError


def test_pages_are_put_in_order_without_a_copy_of_their_html() -> None:
    """Their date counts first, then their URL, then the HTML, of bytes or text; a null has none."""
    htmls: list[bytes | str] = [Unwritten("б".encode()), "б", Unwritten(b"a"), b""]
    pages = [(html, "b" if html else "a", None) for html in htmls]

    assert [3, 2, 0, 1] == page_frame.in_order(pages)


def test_a_session_may_have_texts_with_long_offsets(spark: "SparkSession") -> None:
    """Spark then takes no columns of texts with short ones."""
    setting = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(setting, "true")
    try:
        found = extract(spark.createDataFrame(PAGES[:5], SCHEMA), date="date").collect()
    finally:
        spark.conf.unset(setting)
    expected = extract_pages((html, url, date) for _, html, url, date in PAGES[:5])

    assert {PAGES[at][0]: one.text for at, one in enumerate(expected)} == {row["number"]: row["text"] for row in found}


def test_a_large_site_is_compared_in_parts(spark: "SparkSession", monkeypatch: pytest.MonkeyPatch) -> None:
    """No task has all of it, and no row is lost."""
    monkeypatch.setattr(page_frame, "SITE_PAGES", 2)
    rows = spark.createDataFrame([(page(at), f"{SITE}{at}") for at in range(8)], "content string, address string")
    found = extract(rows, html="content", url="address").collect()

    assert 8 == len({row["address"] for row in found})
    assert max(block["siblings"] for row in found for block in row["blocks"]) < 7
    assert {None} == {row["error"] for row in found}


def test_options_and_formats_reach_the_workers(spark: "SparkSession") -> None:
    """As in plain Python."""
    rows = spark.createDataFrame([(page(1), f"{SITE}1")], "html string, url string")
    (expected,) = extract_pages([(page(1), f"{SITE}1")], title="drop")
    (found,) = extract(rows, formats=["markdown", "about"], title="drop").collect()

    assert (expected.text, expected.markdown) == (found["text"], found["markdown"])
    assert expected.to_dict()["about"] == found["about"].asDict()
    assert not expected.text.startswith("Seite 1")


def test_columns_are_checked_before_anything_runs(spark: "SparkSession") -> None:
    """One that is missing, and one that would be there twice."""
    rows = spark.createDataFrame([("<p>a", "http://a.example/", "b")], "html string, url string, text string")
    with pytest.raises(InputError, match="there is no column body; there are html, url, text"):
        extract(rows, html="body")
    with pytest.raises(InputError, match="a column text already"):
        extract(rows)
    rows = spark.createDataFrame([("<p>a", 5)], "html string, url int")
    with pytest.raises(InputError, match="the column url is of int32; url is text"):
        extract(rows)


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_columns_of_rows_stay_as_they_were(spark: "SparkSession", zone: str) -> None:
    """Times in any zone of the session, nested ones too; days and texts that are no date end no job."""
    spark.conf.set("spark.sql.session.timeZone", zone)
    try:
        time = "timestamp'2020-07-01 12:00:00+00:00'"
        rows = spark.sql(
            f"select '<p>Ships landed' html, 'http://a.example/' || id url, {time} time, date'2020-07-01' day,"
            f" 'yesterday' said, timestamp_ntz'2020-07-01 12:00:00' local, array(named_struct('at', {time})) times,"
            f" map('at', {time}) named from range(2)"
        )
        expected = sorted(rows.collect())
        for date in ("time", "day", "said", "local"):
            found = extract(rows, date=date).collect()

            assert expected == sorted(tuple(row)[: len(rows.columns)] for row in found)
            assert {None} == {row["error"] for row in found}
    finally:
        spark.conf.unset("spark.sql.session.timeZone")


def test_columns_that_spark_or_arrow_cannot_have_are_named(spark: "SparkSession") -> None:
    """One whose name Spark takes for that of an added one, and one of a type that Arrow has not."""
    rows = spark.createDataFrame([("<p>a", "http://a.example/", "b")], "html string, url string, Text string")
    with pytest.raises(InputError, match="a column Text already; rename it, as Spark takes text for it"):
        extract(rows)
    rows = spark.sql("SELECT '<p>a' AS html, '' AS url, interval '1' month AS span")
    with pytest.raises(InputError, match="the column span is of interval month, which Arrow has not"):
        extract(rows)


def test_only_rows_of_spark_that_are_there_are_taken(spark: "SparkSession") -> None:
    """The error of another table names what takes it."""
    with pytest.raises(InputError, match=r"not list; dbce_spark\.extract_table takes"):
        extract([("<p>a", "http://a.example/")])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="this DataFrame is a stream"):
        extract(spark.readStream.format("rate").load())


def test_names_of_columns_may_have_any_signs(spark: "SparkSession") -> None:
    """Dots, quotes and a star, a name that is there twice, and those that are ours inside."""
    names = ["p.html", "a`b", "*", "p.url", "_dbce_site", "_dbce_0", "twice", "twice"]
    rows = spark.createDataFrame([(page(1), 1, 2, f"{SITE}1", 3, 4, 5, 6)]).toDF(*names)
    (expected,) = extract_pages([(page(1), f"{SITE}1")])
    found = extract(rows, html="p.html", url="p.url")
    (row,) = found.collect()

    assert names == found.columns[: len(names)]
    assert (page(1), 1, 2, f"{SITE}1", 3, 4, 5, 6, expected.text) == tuple(row)[: len(names) + 1]


def test_pages_may_have_no_urls(spark: "SparkSession") -> None:
    """They are compared as one site, as in plain Python."""
    rows = spark.createDataFrame([(page(at),) for at in range(3)], "html string").repartition(3)
    found = {row["html"]: row["text"] for row in extract(rows, url=None).collect()}

    assert {page(at): one.text for at, one in enumerate(extract_pages([page(at) for at in range(3)]))} == found
