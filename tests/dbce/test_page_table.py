"""Pages that are rows of a table."""

from typing import Any

import pyarrow as pa
import pytest

import dbce_spark
from dbce_spark import InputError, extract_pages, extract_table

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
    """Markdown and HTML of what is kept, as pages have them; without asking there is neither."""
    expected = extract_pages(zip(HTML, URLS, strict=True))
    found = extract_table(pa.table(COLUMNS), formats=["html", "markdown"]).to_pylist()

    assert [(page.markdown, page.html) for page in expected] == [(row["markdown"], row["kept_html"]) for row in found]
    assert not {"markdown", "kept_html"} & {*extract_table(pa.table(COLUMNS)).column_names}
    with pytest.raises(InputError, match="there is no format pdf; there are markdown, html"):
        extract_table(pa.table(COLUMNS), formats=["pdf"])


@pytest.mark.parametrize(
    ("names", "message"), [({"html": "page"}, "there is no column page; there are id, html, url, date"), ({}, "text")]
)
def test_columns_that_do_not_fit_are_named(names: dict[str, Any], message: str) -> None:
    """One that is not there, and one that is there already."""
    table = pa.table(COLUMNS) if names else pa.table(COLUMNS).append_column("text", pa.nulls(4))

    with pytest.raises(InputError, match=message):
        extract_table(table, **names)
