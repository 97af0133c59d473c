"""Emphasis that only a style shows."""

import pytest

from tests.support.structure import html_of, markdown_of


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<span style='font-weight: bold'>a</span> b", "**a** b"),
        ("<span style='color: red; font-weight:700'>a</span> b", "**a** b"),
        ("<span style='font-style:italic'>a</span> b", "*a* b"),
        ("<font style='FONT-WEIGHT: bold; font-style: oblique'>a <u>b</u></font> c", "***a b*** c"),
        ("<span style='font-weight:400'>a</span> b", "a b"),
        ("<b style='font-weight:normal'>a <i>b</i></b> c", "a *b* c"),
        ("<em style='font-style: normal'>a</em> b", "a b"),
        ("<em style='font-weight: normal'>a</em> b", "*a* b"),
        ("<span style='x-font-weight: bold'>a</span> b", "a b"),
    ],
)
def test_emphasis_is_what_a_style_shows(html: str, expected: str) -> None:
    """Whatever the element is."""
    assert expected == markdown_of(f"<p>{html}</p>")


def test_one_emphasis_in_its_like_is_one() -> None:
    """<b> in <strong> and <i> in <em> show no more than the outer one."""
    assert "<p><strong>a b</strong> <em>c</em></p>" == html_of("<p><strong><b>a</b> b</strong> <em><i>c</i></em></p>")
