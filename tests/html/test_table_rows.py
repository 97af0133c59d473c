"""Rows of tables in the text of a page."""

import pytest

from tests.support.builders import parsed

LONG = "word " * 60 + "word"


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><th>Year<th>Ships<tr><td>1914<td>32", "Year\tShips\n1914\t32"),
        ("<tr><td>one<td><td>three<tr><td><td>two<td>three<td>", "one\t\tthree\n\ttwo\tthree"),
        ("<tr><td><p>one</p><td><div><b>two</b> more</div>", "one\ttwo more"),
        ("<tr><td>one<br>two<td>three<br> four", "one two\tthree four"),
        ("<tr><td>alone<br>in it<td>", "alone\nin it"),
        ("<tr><td><pre>one<br>two</pre><td>three", "one\ntwo\nthree"),
        ("<tr><td>alone<td><tr><td><td>by itself", "alone\nby itself"),
        ("<tr><td><p>one<p>two<td>three", "one\ntwo\nthree"),
        ("<tr><td><pre>one\ntwo</pre><td>three", "one\ntwo\nthree"),
        ("<tr><td><pre>one\ttwo</pre><td>three", "one\ttwo\nthree"),
        ("<tr><td>Ann Lee<td><p>12 Road<p>Kiel<td>4711<tr><td>a<td>b", "Ann Lee\t12 Road Kiel\t4711\na\tb"),
        (
            "<tr><td><td><p>one<p>two<br>three<td>a<td><td><p>b<p>c<td>d<tr><td>a<td>b",
            "\tone two three\ta\t\tb c\td\na\tb",
        ),
        ("<tr><td>a<td><p>one<p>two<td>b", "a\none\ntwo\nb"),
        ("<tr><td>a<td><p>one<p>two<tr><td>a<td>b", "a\none\ntwo\na\tb"),
        ("<tr><td><p>a<p>b<td><p>c<p>d<td>e<tr><td>a<td>b", "a\nb\nc\nd\ne\na\tb"),
        ("<tr><td>a<td><ul><li>one<li>two</ul><td>b<tr><td>a<td>b", "a\none\ntwo\nb\na\tb"),
        (f"<tr><th>a<td><p>one<p>{LONG}<td>b<tr><td>a<td>b", f"a\none\n{LONG}\nb\na\tb"),
        ("<tr><td>a<td><p>one<pre>b\nc</pre><td>d<tr><td>a<td>b", "a\none\nb\nc\nd\na\tb"),
        ("<tr>out<td>a<td><p>one<p>two<td>b<tr><td>a<td>b", "out\na\none\ntwo\nb\na\tb"),
        ("<tr><td>out<td><table><tr><td>one<td>two</table><tr><td>a<td>b", "out\none\ttwo\na\tb"),
    ],
)
def test_a_row_is_a_line_with_tabs_between_cells(rows: str, expected: str) -> None:
    """Also of empty cells; a row with lines in a cell, or with text in one alone, is lines, and so is one with several
    blocks in a cell but for data. A line break, or the end of a block, in a cell of a row is a space."""
    blocks = parsed(f"<p>before</p><noscript><table></table></noscript><table>{rows}</table><p>behind</p>").blocks

    assert f"before\n{expected}\nbehind" == blocks.text


def test_places_of_blocks_hold_where_cells_are_empty() -> None:
    """Spans are counted in characters, however many tabs part two blocks."""
    blocks = parsed("<table><tr><td><td>one two<td><td><td>three<tr><td>four<td>five</table>").blocks
    texts = [blocks.text[start:end] for start, end in zip(blocks.starts, blocks.ends, strict=True)]

    assert ["one two", "three", "four", "five"] == texts
    assert [2, 1, 1, 1] == blocks.words.tolist()
