"""Callouts are quotes that begin with their kind."""

import pytest

from tests.support.structure import html_of, markdown_of

TITLED = '<p class="admonition-title">Mind this</p><p>a b</p>'


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        (f'<div class="admonition warning">{TITLED}</div>', "> [!warning] Mind this\n>\n> a b"),
        (f'<aside class="callout callout-tip">{TITLED}</aside>', "> [!tip] Mind this\n>\n> a b"),
        ('<blockquote data-callout="note"><p>a b</p></blockquote>', "> [!note]\n>\n> a b"),
        ('<div class="alert alert-info">a <b>b</b></div>', "> [!info]\n>\n> a **b**"),
        ('<details class="admonition note"><summary>t</summary><p>a b</p></details>', "> [!note] t\n>\n> a b"),
        (
            '<div class="theme-admonition theme-admonition-tip alert alert--success">'
            '<div class="admonitionHeading_x">tip</div><p>a b</div>',
            "> [!tip] tip\n>\n> a b",
        ),
        (
            '<div class="admonitionblock note"><table><tr><td class=icon><div class=title>Note</div></td>'
            "<td>a b</td></tr></table></div>",
            "> [!note] Note\n>\n> a b",
        ),
        ('<div class="alert">a b</div>', "a b"),
        ('<div class="note">a b</div>', "a b"),
    ],
    ids=["docutils", "prefixed", "attribute", "no title", "details", "modifier", "table", "no kind", "no callout"],
)
def test_callouts_are_quotes_with_their_kind(html: str, expected: str) -> None:
    """Whatever program made them."""
    assert expected == markdown_of(html)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ('<div class="alert alert-info">a b</div>', '<blockquote class="callout info"><p>a b</p></blockquote>'),
        (
            f'<div class="admonition warning">{TITLED}</div>',
            '<blockquote class="callout warning"><p>Mind this</p><p>a b</p></blockquote>',
        ),
    ],
)
def test_in_html_they_are_quotes_of_a_class(html: str, expected: str) -> None:
    """HTML has no element for their kind."""
    assert expected == html_of(html)


def test_their_html_has_the_same_kind_when_it_is_read_again() -> None:
    """As what was extracted may be a page of an archive, too."""
    html = '<div class="alert alert-info">a b</div>'

    assert markdown_of(html) == markdown_of(html_of(html))
