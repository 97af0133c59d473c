"""Lists that only lay out a page are what they hold."""

import pytest

from tests.support.structure import html_of, markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><ul><li>a</ul></ul>", "- a"),
        ("<ul><li><ol start=3><li>a</ol></ul>", "3. a"),
        ("<ul><ul><ul><li>a<li>b</ul></ul></ul>", "- a\n- b"),
        ("<ul><li><ul><li>a</ul><li><ol><li>b</ol></ul>", "- a\n1. b"),
        ("<ul><ul><li>a</ul><li>b<ul><li>c</ul></ul>", "- a\n* b\n  - c"),
        ("<ol><li><ol><li>a</ol><li>b</ol>", "1. \n   1. a\n2. b"),
    ],
    ids=["right in it", "of another kind", "thrice", "two", "before an item", "in numbers"],
)
def test_lists_that_a_list_begins_with_stand_for_themselves(html: str, expected: str) -> None:
    """Numbers of items stay."""
    assert expected == markdown_of(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li>a<li><ul><li>b</ul></ul>", "- a\n  - b"),
        ("<ul><li>a<li><ul><li>b</ul><li><ol><li>c</ol><li>d</ul>", "- a\n  - b\n  1. c\n- d"),
        ("<ol><li>a<li><ul><li>b</ul></ol>", "1. a\n2. \n   - b"),
    ],
    ids=["one", "two", "in numbers"],
)
def test_an_item_of_lists_alone_is_part_of_the_item_before(html: str, expected: str) -> None:
    """Unless it has a number of its own."""
    assert expected == markdown_of(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<ul><li><h2>a</h2><p>b<p>c</ul>", "## a\n\nb\n\nc"),
        ("<ul><li>a <b>b</b><h2>c</h2>d</ul>", "a **b**\n\n## c\n\nd"),
        ("<ul><ul><li><h2>a</h2>b</ul></ul>", "## a\n\nb"),
        ("<ul><li>a<ul><li><h2>b</h2><li>c</ul></ul>", "a\n\n- ## b\n\n- c"),
        ("<ul><li><h2>a</h2><li>b</ul>", "- ## a\n\n- b"),
        ("<ul><li><p>a<p>b</ul>", "- a\n\n  b"),
    ],
    ids=["article", "text first", "in a list", "in an item", "of two items", "without a heading"],
)
def test_an_article_in_one_item_is_no_list(html: str, expected: str) -> None:
    """Headings in it tell."""
    assert expected == markdown_of(html)


def test_blocks_keep_the_direction_of_the_list_that_held_them() -> None:
    """And that of its item."""
    html = "<ul dir=rtl><li lang=he>a<h2 lang=ar>b</h2></ul><ul dir=rtl><ul><li>c</ul></ul>"

    assert '<p lang="he" dir="rtl">a</p><h2 lang="ar" dir="rtl">b</h2><ul dir="rtl"><li>c</li></ul>' == html_of(html)
