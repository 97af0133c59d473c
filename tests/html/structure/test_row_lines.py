"""Rows of tables that are not written as tables."""

from dataclasses import replace

import pytest

from tests.support.structure import ALL, html_of

DROP = replace(ALL, tables="drop")


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("<tr><th>Ship<th>Length<tr><td>Anna<td>10 m", "<p>Ship Length</p><p>Anna 10 m</p>"),
        ("<tr><th>a<th>b<tr><td><p>c</p><td><div><b>d</b> e</div>", "<p>a b</p><p>c <b>d</b> e</p>"),
        ("<tr><th>a<th>b<tr><td>c<br>d<td>e", "<p>a b</p><p>c d e</p>"),
        ("<tr><th>a<th>b<tr><td>c<br><br>d<td>e", "<p>a b</p><p>c</p><p>d</p><p>e</p>"),
        ("<tr><th>a<th>b<tr><td><ul><li>c</ul><td>e", "<p>a b</p><ul><li>c</li></ul><p>e</p>"),
        ("<tr><th>a<th>b<tr><td><p>c<p>d<td>e", "<p>a b</p><p>c</p><p>d</p><p>e</p>"),
        ("<tr><td>a<td><table><tr><td>b<td>c</table>", "<p>a</p><p>b c</p>"),
    ],
    ids=["row", "block in a cell", "line break", "empty line", "list", "two paragraphs", "table in a layout"],
)
def test_a_row_of_a_table_that_is_not_wanted_is_a_line(table: str, expected: str) -> None:
    """Unless a cell holds more than one, or more than a text."""
    assert expected == html_of(f"<table>{table}</table>", config=DROP)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("<table><tr><td>Anna<td><td>10 m", "<p>Anna 10 m</p>"),
        ("<table role=none><tr><td>a<td>b", "<p>a</p><p>b</p>"),
        ("<table><tr><td>a<br>b<td>c<br>d", "<p>a<br>b</p><p>c<br>d</p>"),
        (f"<table><tr><td>a<td>{'b ' * 61}", f"<p>a</p><p>{('b ' * 61).strip()}</p>"),
    ],
    ids=["short texts", "role", "columns of lines", "long text"],
)
def test_a_table_of_one_row_is_a_line(table: str, expected: str) -> None:
    """If its texts are short ones: it may as well lay out a page."""
    assert expected == html_of(f"{table}</table>")


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><td>1.<td>Roll call<tr><td><b>B)</b><td><a href=x>Closed</a>", None),
        ("<tr><td><td>•<td><p>Roll call</p>", "<p>• Roll call</p>"),
        ("<tr><td>(iv)<td>Roll<br>call", "<p>(iv) Roll call</p>"),
        ("<tr><td>1.<td><p>Roll<p>call", "<p>1.</p><p>Roll</p><p>call</p>"),
        ("<tr><td>No.<td>Roll call", "<p>No.</p><p>Roll call</p>"),
        ("<tr><td>17<td>Roll call", "<p>17</p><p>Roll call</p>"),
        (
            "<form><tr><td>1.<td>Roll call</form><tr><td><table><tr><th>No.<th>Name<tr><td>1.<td>Ann</table>",
            "<p>1. Roll call</p><table><tbody><tr><th>No.</th><th>Name</th></tr>"
            "<tr><td>1.</td><td>Ann</td></tr></tbody></table>",
        ),
    ],
    ids=["numbers", "bullet", "Roman", "two paragraphs", "word", "number alone", "rows of a table in it"],
)
def test_a_row_that_begins_with_the_mark_of_an_item_is_a_line(rows: str, expected: str | None) -> None:
    """In a table that lays out a page, too: so old pages write lists."""
    expected = expected or '<p>1. Roll call</p><p><b>B)</b> <a href="http://a.example/b/x">Closed</a></p>'

    assert expected == html_of(f"<table role=none>{rows}</table>")
