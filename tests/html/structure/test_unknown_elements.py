"""Elements that HTML does not know, with the names of marks of ours."""

import pytest

from tests.support.structure import html_of, markdown_of


@pytest.mark.parametrize(
    "tag", ["callout", "callout kind=note", "footnote", "formula", "note", "note is=note number=x", "player"]
)
def test_an_element_with_the_name_of_a_mark_shows_what_it_holds(tag: str) -> None:
    """As that of any other name that HTML does not know."""
    html = f"<p>a <{tag}>b <i>c</i> d</{tag.split()[0]}> e</p>"

    assert "a b *c* d e" == markdown_of(html)
    assert "<p>a b <i>c</i> d e</p>" == html_of(html)


def test_the_place_that_an_element_names_stays() -> None:
    """A footnote may begin there."""
    html = "<p>a <a href=#n>1</a></p><p><note id=n></note>b c</p>"

    assert "a [^1]\n\n[^1]: b c" == markdown_of(html)
