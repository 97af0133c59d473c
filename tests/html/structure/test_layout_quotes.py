"""Quotes that only set the margins of a page are what they hold."""

import pytest

from tests.support.structure import html_of, markdown_of

TEXT = "".join(f"<p>{letter}</p>" for letter in "abcdefghij")
WRITTEN = "a\n\nb\n\nc\n\nd\n\ne\n\nf\n\ng\n\nh\n\ni\n\nj"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f"<blockquote>{TEXT}</blockquote>", WRITTEN),
        (f"<blockquote><blockquote>{TEXT}</blockquote></blockquote>", WRITTEN),
        (f"<p>z</p><blockquote>{TEXT}</blockquote>", f"z\n\n{WRITTEN}"),
        (f"<blockquote><h2>x</h2>{TEXT}</blockquote><blockquote>y</blockquote>", f"## x\n\n{WRITTEN}\n\ny"),
        (f"<blockquote>{TEXT}<blockquote>x y</blockquote></blockquote>", f"{WRITTEN}\n\n> x y"),
        (f"<table><tr><td><blockquote>{TEXT}</blockquote></table>", WRITTEN),
    ],
    ids=["all", "twice", "nearly all", "with a heading", "with a quote", "in a layout table"],
)
def test_a_quote_of_all_of_the_text_is_a_margin(html: str, expected: str) -> None:
    """As pages had it before style sheets; a quote in it is one."""
    assert expected == markdown_of(html)


@pytest.mark.parametrize(
    "html",
    [
        "<blockquote><p>a</p><p>b</p></blockquote>",
        f"<h2>z</h2><blockquote>{TEXT}</blockquote>",
        f"<p>y z</p><blockquote>{TEXT}</blockquote>",
        f"<blockquote>{TEXT}</blockquote><ul><li><h2>z</h2><li>y</ul>",
        f"<div class='admonition note'><p class=admonition-title>z</p>{TEXT}</div>",
    ],
    ids=["short", "under a heading", "beside own words", "beside a heading in a list", "callout"],
)
def test_a_quote_that_is_introduced_stays_one(html: str) -> None:
    """By a heading or words of its own, and one of few blocks anyhow."""
    assert "\n> b" in markdown_of(html)


def test_what_a_margin_held_keeps_its_direction_and_language() -> None:
    """An own one goes first."""
    html = f"<blockquote dir=rtl lang=he>{TEXT}<p lang=ar>k</p></blockquote>"

    assert '<p dir="rtl" lang="he">a</p>' == html_of(html)[:28]
    assert html_of(html).endswith('<p lang="ar" dir="rtl">k</p>')
