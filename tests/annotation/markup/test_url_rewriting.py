"""Rewrite what a page loads, and remove what acts."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dbce_spark.annotation.markup import url_rewriting

HERE = "http://www.example.org/a/"
BASE = f"{HERE}b.html"


def rewritten(html: str) -> tuple[str, set[tuple[str, str]]]:
    """Return a page with what it loads rewritten to "/kept", and the URLs that were rewritten."""
    found: set[tuple[str, str]] = set()
    root = url_rewriting.parse_rewritten(html, BASE, lambda url, kind: found.add((kind, url)) or "/kept")  # type: ignore[func-returns-value]
    return url_rewriting.to_html(root, ""), found


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<img src="c.png">', {("image", f"{HERE}c.png")}),
        ('<html><body>a</body></html><img src="c.png">', {("image", f"{HERE}c.png")}),
        ('<base href="/x/"><img src="c.png">', {("image", "http://www.example.org/x/c.png")}),
        ('<img srcset="a,b.png 1x, //o.example/c.png 2x">', {("image", f"{HERE}a,b.png"), ("image", "http://o.example/c.png")}),
        ('<body background="c.gif">', {("image", f"{HERE}c.gif")}),
        ('<p style="background: URL( c.png )">', {("image", f"{HERE}c.png")}),
        ('<style>@import "c.css" print;</style>', {("style", f"{HERE}c.css")}),
        ('<style>p { src: url("d.png") }</style>', {("image", f"{HERE}d.png")}),
        ("<p style='content: image-set(\"c.png\" 1x)'>", {("image", f"{HERE}c.png")}),
        ("<style>@media screen { @font-face { src: url(c.woff) } }</style>", {("image", f"{HERE}c.woff")}),
        ('<link rel="Stylesheet" href="c.css">', {("style", f"{HERE}c.css")}),
        ('<iframe src="c.html#d"></iframe>', {("frame", f"{HERE}c.html")}),
        ('<video poster="c.png"><source src="d.mp4"></video>', {("image", f"{HERE}c.png"), ("other", f"{HERE}d.mp4")}),
        ('<svg><image href="c.png" xlink:href="d.png"/></svg>', {("image", f"{HERE}c.png"), ("image", f"{HERE}d.png")}),
        ('<img src="data:image/png;base64,AA"><a href="c.html">x</a><img src="javascript:x()">', set()),
        ('<link rel="preconnect" href="//o.example"><link rel="icon" href="c.ico"><script src="c.js"></script>', set()),
    ],
)  # fmt: skip
def test_what_a_page_loads_is_found(html: str, expected: set[tuple[str, str]]) -> None:
    """Every resource loaded without a script is found; what only a click or a script would load is not."""
    written, found = rewritten(html)

    assert expected == found
    assert "www.example.org" not in written


@pytest.mark.parametrize(
    "html",
    [
        "<script>alert(1)</script>",
        "<html><body>a</body></html><p onclick='alert(1)'>b</p><script>alert(1)</script>",
        "<p onclick='alert(1)' onMouseOver='alert(2)'>x</p>",
        "<meta http-equiv=Refresh content='0; url=http://o.example/'>",
        "<meta http-equiv=Content-Security-Policy content='default-src *'>",
        "<a href='javascript:alert(1)'>x</a>",
        "<svg><a xlink:href='javascript:alert(1)'><text>x</text></a><script>alert(1)</script></svg>",
        "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
        "<form action='http://o.example/'><button formaction='javascript:alert(1)'>x</button></form>",
        "<object data='http://o.example/'></object><embed src='http://o.example/'><applet code=x></applet>",
        "<a href='http://o.example/' ping='http://o.example/' target=_top>x</a>",
        "<link rel='dns-prefetch' href='//o.example'>",
        "<!--[if IE]><script src='http://o.example/'></script><![endif]-->",
        "<style>p { background: url(javascript:alert(1)) }</style>",
        "<iframe src='data:text/html,<script>alert(1)</script>'></iframe>",
        "<iframe src='file:///etc/passwd'></iframe>",
        "<svg><style><img src=x onerror=alert(1)> {}</style></svg>",
        "<svg><a><set attributeName=href to='http://o.example/'/><text>x</text></a></svg>",
    ],
)
def test_what_acts_is_gone(html: str) -> None:
    """No part of a page is left that runs, sends, or leads away from the store."""
    written, _ = rewritten(html)

    assert [] == [word for word in ("alert", "o.example", "default-src", "passwd", "onclick") if word in written]


@pytest.mark.parametrize("css", ['p { content: "%s" }', '@import "data:,%s";', "%s { color: red }"])
@pytest.mark.parametrize("end", [r"\3c/style>\3cscript>", "</**//style><script>"])
def test_a_style_sheet_does_not_end_its_element(css: str, end: str) -> None:
    """However its "<" is written."""
    written, _ = rewritten(f"<style>{css % end}</style>")

    assert 1 == written.count("</style")


def test_a_url_in_a_style_sheet_does_not_end_its_string() -> None:
    """A line end that was an escape is one again."""
    css = r'a { b: url("data:\d )} c { d: url(http://o.example/x) }") }'
    once = url_rewriting.rewrite_css(css, BASE, lambda url, kind: "/kept")
    found: list[str] = []
    url_rewriting.rewrite_css(once, BASE, lambda url, kind: found.append(url) or "/kept")  # type: ignore[func-returns-value]

    assert [] == found


@pytest.mark.parametrize(
    "html",
    ["<!---->" * 25 + "<p>a", f"<img srcset='{'a' * 30_000} b c'>", f"<img srcset='a{' ' * 30_000}b c d'>"],
    ids=["comments", "letters", "spaces"],
)
def test_no_page_keeps_the_server_busy(html: str) -> None:
    """However many comments stand where its document type could, and however long a list of images is."""
    began = time.process_time()
    url_rewriting.doctype(html)
    rewritten(html)

    assert time.process_time() - began < 1


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("\ufeff <?xml version='1.0'?>\n<!-- a --><!-- > --><!DocType html><p>", "<!DocType html>"),
        ("<!-- a --> b --><!doctype html>", ""),
        ("<p><!doctype html>", ""),
    ],
)
def test_a_document_type_is_found_behind_comments_alone(html: str, expected: str) -> None:
    """As browsers find it: behind text it counts for nothing."""
    assert expected == url_rewriting.doctype(html)


def test_a_base_that_is_no_url_counts_as_none() -> None:
    """As in browsers; it keeps no page from being shown."""
    assert {("image", f"{HERE}c.png")} == rewritten('<base href="http://["><img src="c.png">')[1]


@given(st.text(alphabet="@import url()\"';{}\\ab.:/ \n", max_size=60))
def test_any_text_can_be_read_as_a_style_sheet(css: str) -> None:
    """The rewritten style sheet loads from nowhere but the store."""
    found = url_rewriting.rewrite_css(css, BASE, lambda url, kind: "/kept")

    assert "example.org" not in found


def test_style_sheets_nested_without_end_are_empty() -> None:
    """Blocks that nest deeper than Python does do not end the server."""
    assert "" == url_rewriting.rewrite_css("a" + "{a(" * 5000, BASE, lambda url, kind: "/kept")
