"""Markdown by turbohtml, and the mending before and behind it."""

import pytest

from tests.support.structure import markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<h1>a</h1><h3>b</h3>", "# a\n\n### b"),
        ("<ul><li>a<ol><li>b</ol></ul>", "- a\n  1. b"),
        ("<p>a <em>b</em> <strong>c</strong></p>", "a *b* **c**"),
        ("<p>a<b>b</b>c</p>", "a**b**c"),
        ("<p>1. a * b _c_</p>", r"1\. a \* b \_c\_"),
        (
            "<p>a_b c__d _e <a href=x_y>g_h</a> <code>i_j</code></p>",
            r"a_b c\_\_d \_e [g_h](http://a.example/b/x_y) `i_j`",
        ),
        ("<p>4.1 a<br> 5.1<br>6.<p>7.<b>a</b><ul><li>8.1</ul>", "4.1 a  \n5.1  \n6\\.\n\n7\\.**a**\n\n- 8.1"),
        ("<p>~1 ~b (~c) d~e ~ ~~f <code>~g</code></p>", r"~1 ~b (~c) d\~e ~ \~\~f `~g`"),
        ("<p>~ a (~ b)<br>~ c <b>~ d</b> ~~ e</p>", "~ a (\\~ b)  \n~ c **\\~ d** \\~\\~ e"),
        ("<p>a ___ b____<br>c ___</p><p>___</p>", "a ___ b____  \nc ___\n\n\\_\\_\\_"),
        ("<p><b>a:</b> ____ ___d <b>e</b>___</p>", "**a:** ____ \\_\\_\\_d **e**___"),
        (
            "<p><b>1. a</b> b <b>- b</b> <i>#c</i> <b>+</b> 1.<b>2) d</b></p>",
            "**1. a** b **- b** *#c* **+** 1.**2) d**",
        ),
        ("<p><b>a<br><i><img src=x></i></b> b", "**a**  \n![](http://a.example/b/x) b"),
        ("<p>a<b>, b.</b>c <i>d'</i>s <i>e</i>f<i>(g)</i>", "a, **b**.c *d*'s *e*f<i>(g)</i>"),
        ("<p>1<i>. a</i> <b>b - <i>c -</i></b>d", "1<i>. a</i> <b>b - *c* -</b>d"),
        ("<p><b><u>a<br></u></b>b", "**a**  \nb"),
        ("<p>a <code>b<br>c <a href=x>d</a></code> e</p>", "a `b`  \n`c d` e"),
        ("<pre>1\\.1 a\\_b</pre>", "```\n1\\.1 a\\_b\n```"),
        ("<ol start=0><li>a</ol>", "0. a"),
        ("<ol><li>a<li value=5>b<li>c</ol>", "1. a\n5. b\n6. c"),
        ("<blockquote>a<blockquote>b</blockquote></blockquote>", "> a\n>\n> > b"),
        ("<dl><dd>a</dd><dd>b</dd><dt>c<dd>d</dl>", "a\n\nb\n\nc\n\n:   d"),
        ("<dl lang=de><dd>a<dl><dd>b</dl></dl>c", "a\n\nb\n\nc"),
        ("<blockquote dir=rtl><blockquote>a</blockquote></blockquote>", "> a"),
        ("<dl><dt>a<dd>b</dl>", "a\n\n:   b"),
        ("<dl><dt>a<dd><p>b<p>c</dl>", "a\n\nb\n\nc"),
        ("<dl><dt>a<dd><ul><li>b</ul><dt>c<dd><pre>d</pre></dl>", "a\n\n- b\n\nc\n\n```\nd\n```"),
        ("<p>x<sup>2</sup> H<sub>2</sub>O</p>", "x<sup>2</sup> H<sub>2</sub>O"),
        ("<p><a href=x>a</a> <img src=i.png alt=I></p>", "[a](http://a.example/b/x) ![I](http://a.example/b/i.png)"),
        ("<p><a href=http://x.example/y>http://x.example/y</a></p>", "[http://x.example/y](http://x.example/y)"),
        ("<p><ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby> x</p>", "漢(kan) x"),
        ("<p>alpha<script>x()</script>Omega beta</p>", "alpha Omega beta"),
        ("<p>a<br>b</p>", "a  \nb"),
        ("<p>| a | b |<br>| --- | --- |<br>| c | d |</p>", "| a | b |  \n\\| --- | --- |  \n| c | d |"),
        ("<p>a|b<br>:--|--<br>c</p>", "a|b  \n:--\\|--  \nc"),
        ("<p><b><a href=x>a<br>b</a></b><sup>long</sup></p>", "**[a b](http://a.example/b/x)**<sup>long</sup>"),
        ("<p>  a \n\t b&nbsp;c </p>", "a b c"),
        ("<p dir=rtl>שלום <b>עולם</b></p>", "שלום **עולם**"),
        ("<p>本文<b>太字</b>続き</p>", "本文**太字**続き"),
        ("<p><b>编者按：</b>正文<b>，完。</b>下文<b>「引」</b>用</p>", "**编者按**：正文，**完**。下文<b>「引」</b>用"),
        ("<p><b>مهم؛</b>النص</p>", "**مهم**؛النص"),
        ("<p>นี่<b>ที่</b>ๆ <b>हिन्दी</b>में</p>", "นี่**ที่**ๆ **हिन्दी**में"),
        ("<p>a<i>b<a href=x>c</a></i>d</p>", "a<i>b[c](http://a.example/b/x)</i>d"),
        ("<p>a<b>(b</b> c <b>d)</b>e <b>(f)</b>, g</p>", "a<b>(b</b> c <b>d)</b>e **(f)**, g"),
        ("<p><i>a<a href=x>b</a></i><b>c</b></p>", "<i>a[b](http://a.example/b/x)</i>**c**"),
        ("<p>a<b><i>(b)</i></b>c</p>", "a<b><i>(b)</i></b>c"),
        ("<p>™<b>(a)</b>\u2060</p>", "™<b>(a)</b>\u2060"),
        ("<p>,<b>(a)</b>”</p>", ",**(a)**”"),
        ("<p><b>a<br>b</b> c</p>", "**a**  \n**b** c"),
        ("<p>a<b><br></b>b</p>", "a  \nb"),
        ("<p>a <a href=x><br></a> b</p>", "a  \nb"),
        ("<p>a <i>b</i> <a href=x><br>c</a></p>", "a *b*  \n[c](http://a.example/b/x)"),
        ("<p><strong><b>a</b> b</strong> <em><i>c</i></em></p>", "**a b** *c*"),
        ("<p><i><b>a<br>b</b></i></p>", "***a***  \n***b***"),
        ("<p><sup>ไทย<br>a</sup></p><p>ไทยไทย</p>", "<sup>ไทย</sup>  \n<sup>a</sup>\n\nไทยไทย"),
        ("<div>a<tt><aside data-callout=tip>b</aside></tt></div>", "a\n\n> [!tip]\n>\n> `b`"),
        ("<p>a <b>B</b><strong>c</strong> <i>d</i> <em>e</em></p>", "a **Bc** *d e*"),
        ("<b><h2>a <i>b</i></h2></b>", "## a *b*"),
        ("<h2>a <a href=#x>#</a></h2>", "## a"),
        (f"<h3>{'a ' * 61}<br><br>b</h3>", f"{'a ' * 60}a\n\nb"),
        (f"<h3>{'a ' * 61}</h3>", f"### {'a ' * 60}a"),
        ("<a href=#x><h2>a</h2></a>", "## a"),
        ("<a href=x><h2>a <i>b</i></h2><p>c</p></a>", "## [a *b*](http://a.example/b/x)\n\nc"),
        ("<a href=x><h2>a</h2><p>b</p><h3>c</h3></a>", "## [a](http://a.example/b/x)\n\nb\n\n### c"),
        ("<a href=x><h2> </h2><p>b</p></a>", "[b](http://a.example/b/x)"),
        ("<h2><strong>a</strong> b</h2>", "## a b"),
        ("<p>a</p><hr><p>b</p>", "a\n\n---\n\nb"),
        ("<p>a</p><hr><div></div><hr><p>b</p><hr><blockquote>c</blockquote>", "a\n\n---\n\nb\n\n---\n\n> c"),
    ],
)
def test_markdown(html: str, expected: str) -> None:
    """Of each kind of element."""
    assert expected == markdown_of(html)


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("<tr><th>a<th>b<tr><td>c<td>d|e", "| a | b |\n| --- | --- |\n| c | d\\|e |"),
        ("<tr><th>a<th>b<tr><td colspan=2>c", "| a | b |\n| --- | --- |\n| c |  |"),
        ("<tr><th>a<th>b<tr><td rowspan=2>c<td>d<tr><td>e", "| a | b |\n| --- | --- |\n| c | d |\n|  | e |"),
        (
            "<tbody><tr><th>a<th>b<tr><td rowspan=0>c<td>d<tr><td>e<tbody><tr><td>f<td>g",
            "| a | b |\n| --- | --- |\n| c | d |\n|  | e |\n| f | g |",
        ),
        ("<thead><tr><th rowspan=2>a<th>b<tbody><tr><td>c", "| a | b |\n| --- | --- |\n| c |  |"),
        ("<tr><th>a<th>b<tr><td>c", "| a | b |\n| --- | --- |\n| c |  |"),
        ("<tr><th colspan=9>a<tr><td>b<td>c", "| a |  |\n| --- | --- |\n| b | c |"),
        (
            "<tr><th>x<th>y<th>z<tr><td colspan=2>a<td rowspan=2>b<tr><td>c<td>d",
            "| x | y | z |\n| --- | --- | --- |\n| a |  | b |\n| c | d |  |",
        ),
        (
            "<tr><th>x<th>y<th>z<tr><td colspan=2 rowspan=2>a<td>b<tr><td>c",
            "| x | y | z |\n| --- | --- | --- |\n| a |  | b |\n|  |  | c |",
        ),
        (
            "<tr><th>w<th>x<th>y<th>z<tr><td>a<td>b<td rowspan=3>c<td>d<tr><td>e<tr><td>f<td>g<td>h",
            "| w | x | y | z |\n| --- | --- | --- | --- |\n| a | b | c | d |\n| e |  |  |  |\n| f | g |  | h |",
        ),
    ],
    ids=[
        *("plain", "across", "down", "down to the end", "down into the body", "too few", "too wide"),
        *("down behind across", "down and across", "down behind too few"),
    ],
)
def test_each_row_has_all_columns(rows: str, expected: str) -> None:
    """A cell that spans others leaves empty ones."""
    assert expected == markdown_of(f"<table>{rows}</table>")


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        ("<p>c<p>d", "c<br>d"),
        ("c<ul><li>d <a href=x>e</a><li><p>f<ul><li>g</ul></ul>", "c<br>- d [e](http://a.example/b/x)<br>- f<br>- g"),
        ("<ul><li><ol><li>c</ol></ul>", "- c"),
        ("<pre>c\n\n  d|</pre>e", "`c`<br>`\xa0\xa0d\\|`<br>e"),
        ("<math display=block><mi>x</mi></math> c", "$x$<br>c"),
        ("<dl><dt>c<dd>d</dl>", "c<br>d"),
    ],
)
def test_blocks_in_a_cell_are_lines(cell: str, expected: str) -> None:
    """A cell of Markdown holds none; HTML keeps them."""
    written = markdown_of(f"<table><tr><th>a<th>b<tr><td>{cell}</td><td>z</table>")

    assert f"| a | b |\n| --- | --- |\n| {expected} | z |" == written
