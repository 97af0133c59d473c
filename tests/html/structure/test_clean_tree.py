"""The clean tree, as HTML."""

from dataclasses import replace

import pytest
import turbohtml
from hypothesis import given
from hypothesis import strategies as st

from tests.support.strategies import documents
from tests.support.structure import ALL, formats_of, html_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div><div>a</div><section>b</section></div>", "<p>a</p><p>b</p>"),
        ("<span>a <font>b</font></span> c", "<p>a b c</p>"),
        ("<b><div>a</div><div>b</div></b>", "<p><b>a</b></p><p><b>b</b></p>"),
        ("<a href=x><h2>a</h2></a>", '<h2><a href="http://a.example/b/x">a</a></h2>'),
        ("<ul><li>a<ul><li>b</ul><li>c</ul>", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"),
        ("<ul><li>a</li><ul><li>b</li></ul></ul>", "<ul><li>a<ul><li>b</li></ul></li></ul>"),
        ("<ol start=3><li>a</ol>", '<ol start="3"><li>a</li></ol>'),
        ("<dl><div><dt>a<dd>b</div></dl>", "<dl><dt>a</dt><dd>b</dd></dl>"),
        ("a<br>b<br><br>c<br>", "<p>a<br>b</p><p>c</p>"),
        ("<h2>a<div>b</div></h2>", "<h2>a b</h2>"),
        ("<p dir=rtl lang=he>a</p>", "<p>a</p>"),
        ("<blockquote>a<p>b</blockquote>", "<blockquote><p>a</p><p>b</p></blockquote>"),
        ("<li>a</li>", "<p>a</p>"),
        ("a <acronym title='B C'>b</acronym> <tt>c</tt>", '<p>a <abbr title="B C">b</abbr> <code>c</code></p>'),
    ],
)
def test_elements_stand_where_they_may(html: str, expected: str) -> None:
    """Whatever the page nested in what."""
    assert expected == html_of(html)


def test_signs_of_html_in_a_text_or_an_address_mean_nothing() -> None:
    """Nor do they in a description; addresses are in ASCII, as they are sent."""
    html = '<p>a &lt;b&gt; &amp;amp; "c"<img src=/é?x=1&amp;y=2 alt="&lt;b&gt; &amp;quot; &quot;"></p>'

    assert (
        '<p>a &lt;b&gt; &amp;amp; "c"'
        '<img src="http://a.example/%C3%A9?x=1&amp;y=2" alt="&lt;b&gt; &amp;quot; &quot;"></p>'
    ) == html_of(html)


def test_a_table_of_data_keeps_its_shape() -> None:
    """Head, spans and caption."""
    table = "<table><caption>t</caption><thead><tr><th colspan=2>a</thead><tr><td>b<td>c</table>"

    assert (
        '<table><caption>t</caption><thead><tr><th colspan="2">a</th></tr></thead>'
        "<tbody><tr><td>b</td><td>c</td></tr></tbody></table>"
    ) == html_of(table)


def test_cells_without_a_row_stand_in_one() -> None:
    """As HTML's algorithm has it."""
    table = "<table><thead><th>a<th>b</thead><tr><td>c<td>d</table>"

    assert "<table><thead><tr><th>a</th><th>b</th></tr></thead>" in html_of(table)


def test_a_table_of_layout_is_no_table() -> None:
    """Its cells are what they hold."""
    assert "<p>a</p><p>b</p>" == html_of("<table><tr><td>a</td></tr><tr><td><p>b</td></tr></table>")


def test_a_table_of_pictures_is_no_table() -> None:
    """Its cells say nothing together."""
    picture = "<td><img src=x>"

    assert "<table>" not in html_of(f"<table><tr><th>a{picture}<tr>{picture}{picture}</table><p>b")
    assert "<table>" in html_of(f"<table><tr><th>a{picture}<tr><td>b{picture}</table><p>b")


def test_headings_and_texts_in_a_column_are_sections() -> None:
    """Also where the headings are header cells; a column of short texts is a table."""
    text = "a " * 60 + "a"

    assert f"<h2>h</h2><p>{text}</p>" == html_of(f"<table><tr><th><h2>h</h2></th></tr><tr><td>{text}</td></tr></table>")
    assert "<table>" in html_of("<table><tr><th>h</th></tr><tr><td>a</td></tr></table>")


def test_structure_that_is_not_wanted_goes_without_a_word() -> None:
    """Texts of links and cells stay."""
    html = "<p><a href=x>a</a> b<img src=y></p><table><tr><th>c<th>d<tr><td>e<td>f</table>"
    config = replace(ALL, links="drop", tables="drop", images="drop")

    assert "<p>a b</p><p>c</p><p>d</p><p>e</p><p>f</p>" == html_of(html, config=config)


def test_the_direction_of_the_page_is_kept() -> None:
    """On the <article>, from the page's own element."""
    written = formats_of("<html dir=rtl lang=he><body>שלום").html

    assert '<article dir="rtl" lang="he"><p>שלום</p></article>' == written


@given(documents, st.data())
def test_an_html5_parser_reads_what_was_written(html: str, data: st.DataObject) -> None:
    """And writes it as it was."""
    table = data.draw(st.booleans())
    page = html.replace("<section>", "<table><tr>").replace("</section>", "</table>") if table else html
    written = formats_of(page).html or ""
    again = turbohtml.parse(written).find("article")

    assert again is not None
    assert written == str(again.html)
