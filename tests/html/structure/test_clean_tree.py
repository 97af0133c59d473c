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
        ("<blockquote>a<p>b</blockquote>", "<blockquote><p>a</p><p>b</p></blockquote>"),
        ("<li>a</li>", "<ul><li>a</li></ul>"),
        ("a<li>b<li>c</li>d<p><li>e", "<p>a</p><ul><li>b</li><li>c</li></ul><p>d</p><ul><li>e</li></ul>"),
        ("<li>a<li>b<p>c</p>d", "<ul><li>a</li></ul><p>b</p><p>c</p><p>d</p>"),
        ("<li>a<ul><li>b</ul><li>c", "<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul>"),
        ("<li>a<br><br>b", "<p>a</p><p>b</p>"),
        (
            "<table><tr><th>a<td><li>b<li>c",
            "<table><tbody><tr><th>a</th><td><ul><li>b</li><li>c</li></ul></td></tr></tbody></table>",
        ),
        ("<ul><li><b>a<li>b</b>c<li>d</ul>", "<ul><li><b>a</b></li><li><b>b</b><p>c</p></li><li>d</li></ul>"),
        ("<ul>a<li>b<li>c</ul>", "<ul><li>a</li><li>b</li><li>c</li></ul>"),
        (
            "<dl><dt>a<dt>b<dd>c<dd><p>d</dl>",
            "<dl><dt>a</dt><dt>b</dt><dd>c</dd><dd>d</dd></dl>",
        ),
        ("<dl>a<dt>b<dd>c<dt>d</dl>", "<dl><dd>a</dd><dt>b</dt><dd>c</dd><dt>d</dt></dl>"),
        ("a <acronym title='B C'>b</acronym> <tt>c</tt>", '<p>a <abbr title="B C">b</abbr> <code>c</code></p>'),
    ],
)
def test_elements_stand_where_they_may(html: str, expected: str) -> None:
    """Whatever the page nested in what."""
    assert expected == html_of(html)


def test_relative_links_and_images_of_a_page_without_an_url_stay() -> None:
    """Nobody knows where they lead, but whoever has the page may."""
    html = "<p>a <a href=../x>b</a> <a href=javascript:x()>c</a> <img src=i.png></p>"

    assert '<p>a <a href="../x">b</a> c <img src="i.png" alt=""></p>' == html_of(html, url="")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<code>-a</code> <code>-b</code>", "<code>-a</code> <code>-b</code>"),
        ("<b><kbd>A</kbd></b> <strong><kbd>B</kbd></strong>", "<b><kbd>A</kbd> <kbd>B</kbd></b>"),
        ("<a href=x>a </a><a href=x>b</a>", '<a href="x">a</a> <a href="x">b</a>'),
        ("<a href=x>a</a> <a href=x><br>b</a>", '<a href="x">a</a><br><a href="x">b</a>'),
        ("<a href=x>a <i>b</i> c</a>", '<a href="x">a <i>b</i> c</a>'),
        ("<a href=x>a</a><a href=x>b</a>", '<a href="x">ab</a>'),
        ("<code>a</code><tt>b</tt>", "<code>ab</code>"),
        ("<b>a</b><b>b</b> <strong>c</strong>", "<b>ab c</b>"),
        ("<a href=x><p>a</p><p>b</p></a>", '<a href="x">a</a></p><p><a href="x">b</a>'),
        (
            "<a href=x>a<img src=i></a> <a href=x><img src=i>b",
            '<a href="x">a<img src="i" alt=""></a> <a href="x">b</a>',
        ),
    ],
)
def test_two_codes_or_links_with_a_space_between_are_two(html: str, expected: str) -> None:
    """Emphasis is one, and so is what touches: in Markdown, the signs of two codes that touch would be those of one."""
    assert f"<p>{expected}</p>" == html_of(html, url="")


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


def test_rows_without_a_body_stand_in_one() -> None:
    """As in browsers; a body that the page has begins where it does."""
    rows = "<tr><td>a<td>b<tr><td>c<td>d"
    written = "<tr><td>a</td><td>b</td></tr><tr><td>c</td><td>d</td></tr>"
    html = f"<table>{rows}<tbody>{rows}</table><ul><li><table>{rows}</table></ul>"

    assert (
        f"<table><tbody>{written}</tbody><tbody>{written}</tbody></table>"
        f"<ul><li><table><tbody>{written}</tbody></table></li></ul>"
    ) == html_of(html)


def test_cells_without_a_row_stand_in_one() -> None:
    """As HTML's algorithm has it."""
    table = "<table><thead><th>a<th>b</thead><tr><td>c<td>d</tr><td>e<td>f</table>"

    assert (
        "<table><thead><tr><th>a</th><th>b</th></tr></thead>"
        "<tbody><tr><td>c</td><td>d</td></tr><tr><td>e</td><td>f</td></tr></tbody></table>"
    ) == html_of(table)


def test_a_line_begins_without_space() -> None:
    """White space of the source behind a break shows nothing, in elements neither."""
    assert "<p>a<br>b<b>c<br></b>d<br><i>e</i></p>" == html_of("<p>a <br> b<b>c<br>\n</b> d<br> <i>e</i>")


def test_structure_that_is_not_wanted_goes_without_a_word() -> None:
    """Texts of links and cells stay."""
    html = "<p><a href=x>a</a> b<img src=y></p><table><tr><th>c<th>d<tr><td>e<td>f</table>"
    config = replace(ALL, links="drop", tables="drop", images="drop")

    assert "<p>a b</p><p>c d</p><p>e f</p>" == html_of(html, config=config)


@pytest.mark.parametrize("page", ["<html dir=rtl lang=he><body>", "<html dir=ltr lang=en><body dir=rtl lang=he>"])
def test_the_direction_of_the_page_is_kept(page: str) -> None:
    """On the <article>, from the page's own elements."""
    assert '<article dir="rtl" lang="he"><p>שלום</p></article>' == formats_of(f"{page}שלום").html


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<html lang=en><head><foo>a</foo></head><body lang=de><p>b</p>", "<p>a</p><p>b</p>"),
        ("<html><head><title>T</title><foo>a</foo></head><body>b", "<p>a</p><p>b</p>"),
        ("<html><body><p>a</p></body><div>b</div> c</html>", "<p>a</p><p>b</p><p>c</p>"),
        ("<html><body>a</body> b </html>", "<p>a</p><p>b</p>"),
    ],
    ids=["head of another language", "head", "behind the body", "text behind the body"],
)
def test_text_outside_of_the_body_is_kept(html: str, expected: str) -> None:
    """It stands where the parser leaves it, with the same words as in the text."""
    article = formats_of(html).html or ""

    assert expected == article.partition(">")[2].removesuffix("</article>")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p dir=rtl lang=he>a</p>", '<p dir="rtl" lang="he">a</p>'),
        ("<div lang=he><p>a<h2>b</h2></div><p>c", '<p lang="he">a</p><h2 lang="he">b</h2><p>c</p>'),
        ("<div dir=rtl><ul><li>a<li><p dir=ltr>b</ul>", '<ul dir="rtl"><li>a</li><li><p dir="ltr">b</p></li></ul>'),
        ("<table><tr><td><div dir=rtl>a</div><p>b</table>", '<p dir="rtl">a</p><p>b</p>'),
        ("<div dir=ltr>a</div>", "<p>a</p>"),
        ("<div dir=auto>1 שלום<p>a</div>", '<p dir="rtl">1 שלום</p><p dir="rtl">a</p>'),
        ("<div dir=auto>1 a<p>שלום</div>", "<p>1 a</p><p>שלום</p>"),
    ],
    ids=["paragraph", "of a block", "in a list", "in a cell", "as all", "by the first letter", "by a Latin one"],
)
def test_the_direction_and_language_of_a_block_are_those_of_what_is_in_it(html: str, expected: str) -> None:
    """If it is not written itself; what the page has anyhow is not repeated."""
    assert expected == html_of(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ol start=0><li>a</ol>", '<ol start="0"><li>a</li></ol>'),
        ("<ol start=1><li>a</ol>", "<ol><li>a</li></ol>"),
        ("<ol start=-1><li>a</ol>", "<ol><li>a</li></ol>"),
        ("<ol><li value=5>a<li>b</ol>", '<ol><li value="5">a</li><li>b</li></ol>'),
        ("<ol type=a><li>a</ol>", '<ol type="a"><li>a</li></ol>'),
        ("<ul type=disc><li value=5>a</ul>", "<ul><li>a</li></ul>"),
        ("<ol start=999999999><li>a</ol>", '<ol start="99999999"><li>a</li></ol>'),
    ],
)
def test_lists_keep_their_numbers(html: str, expected: str) -> None:
    """All that Markdown can have: nine digits at most, which the last item must not pass."""
    assert expected == html_of(html)


@given(documents, st.data())
def test_an_html5_parser_reads_what_was_written(html: str, data: st.DataObject) -> None:
    """And writes it as it was."""
    table = data.draw(st.booleans())
    page = html.replace("<section>", "<table><tr>").replace("</section>", "</table>") if table else html
    written = formats_of(page).html or ""
    again = turbohtml.parse(written).find("article")

    assert again is not None
    assert written == str(again.html)
