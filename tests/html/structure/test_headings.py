"""Headings that are no <h1> to <h6>, and those that stand in a summary."""

import pytest

from tests.support.structure import html_of, markdown_of


@pytest.mark.parametrize(
    ("attributes", "expected"),
    [
        ("role=heading aria-level=3", "### a b"),
        ("role=heading", "## a b"),
        ("role='Heading none' aria-level=1", "# a b"),
        ("role=heading aria-level=9", "###### a b"),
        ("role=heading aria-level=0", "## a b"),
        ("role=heading aria-level=x", "## a b"),
        ("role=presentation aria-level=3", "a **b**"),
    ],
    ids=["level", "no level", "two roles", "too deep", "nought", "no number", "another role"],
)
def test_a_block_in_the_role_of_a_heading_is_one(attributes: str, expected: str) -> None:
    """Of the level that WAI-ARIA gives it, of the second without one."""
    assert expected == markdown_of(f"<div {attributes}><span>a</span> <b>b</b></div>")


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<div role=heading><h3>a</h3></div>", "### a"),
        ("<h3><div role=heading>a</div></h3>", "### a"),
        ("<p>a <span role=heading>b</span> c</p>", "a b c"),
        ("<ul><li role=heading>a<li>b</ul>", "- a\n- b"),
        ("<a href=x><div role=heading aria-level=3>a</div>b</a>", "### [a](http://a.example/b/x)\n\nb"),
        ("<div role=heading>a<a href=#a>#</a></div>", "## a"),
    ],
    ids=["around a heading", "in a heading", "in a line", "an item", "in a card", "with a permalink"],
)
def test_that_role_makes_no_second_heading_and_none_in_a_line(html: str, expected: str) -> None:
    """Links are those of any heading."""
    assert expected == markdown_of(html)


def test_a_heading_in_a_summary_stays_one() -> None:
    """Text beside it stays in the summary."""
    html = "<details><summary>x <h3>a <b>b</b></h3> y</summary><p>c</p></details>"

    assert "x\n\n### a b\n\ny\n\nc" == markdown_of(html)
    assert "<details><summary>x<h3>a b</h3> y</summary><p>c</p></details>" == html_of(html)
