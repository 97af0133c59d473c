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


def test_in_html_they_are_quotes() -> None:
    """HTML has no element for their kind."""
    assert "<blockquote><p>a b</p></blockquote>" == html_of('<div class="alert alert-info">a b</div>')
