"""Notes beside a text, in the middle of its sentences."""

import pytest

from tests.support.structure import html_of, markdown_of

BOX = "<label for=s{0}>{1}</label> <input type=checkbox id=s{0}> <span>{2}</span>"


@pytest.mark.parametrize(
    "html",
    [
        f"<p>a {BOX.format(1, '', 'the note one')} b {BOX.format(2, '', 'the note <i>two</i>')} c</p>",
        f"<p>a {BOX.format(1, 1, '1. the note one')} b {BOX.format(2, 2, '<sup>2</sup> the note <i>two</i>')} c</p>",
        "<p>a <sup>1</sup><span><span><sup>1</sup><span>1</span>the note one</span></span> b"
        " <sup>2</sup><small>2 the note <i>two</i></small> c</p>",
    ],
    ids=["boxes", "numbered boxes", "numbers"],
)
def test_a_note_beside_the_text_is_a_footnote_behind_it(html: str) -> None:
    """Read on, it would be part of the sentence."""
    assert "a [^1] b [^2] c\n\nd\n\n[^1]: the note one\n\n[^2]: the note *two*" == markdown_of(f"{html}<p>d</p>")


def test_the_number_of_another_thing_stays_in_a_note() -> None:
    """It only begins with the same digit."""
    assert "a [^1]\n\n[^1]: 10 apples too" == markdown_of(f"<p>a {BOX.format(1, 1, '10 apples too')}</p>")


def test_a_note_beside_the_text_that_repeats_a_footnote_goes() -> None:
    """Pages have it at the foot for those who print them."""
    box = BOX.format(1, 1, "<sup>1</sup> the note one")

    assert "a[^1] b\n\n[^1]: the note one" == markdown_of(
        f"<p>a{box.replace('s1', 'n1')} b</p><div><sup><a id=n1 href=#r1>1</a></sup> <p>the note one</div>"
    )


def test_notes_beside_the_text_are_numbered_behind_the_footnotes() -> None:
    """A number has one note."""
    written = markdown_of(
        f"<p>a<a href=#n1>1</a> b {BOX.format(1, '', 'just beside it')}</p><p id=n1>1. at its foot</p>"
    )

    assert "a[^1] b [^2]\n\n[^1]: at its foot\n\n[^2]: just beside it" == written


@pytest.mark.parametrize(
    "html",
    [
        BOX.format(1, "more", "of the text"),
        BOX.format(1, "", "too short"),
        f"<p>{BOX.format(1, '', 'no text before')}</p>",
        "<sup>2</sup><span>3 apples too</span>",
        "<a href=/2>2</a><span>2 more such pages</span>",
        "<sup>2</sup> b <span>2 apples too</span>",
    ],
    ids=["button", "switch", "alone", "another number", "another page", "text between"],
)
def test_other_boxes_and_numbers_are_text(html: str) -> None:
    """Forms and menus are made of them, too."""
    assert "[^" not in markdown_of(f"<p>a</p><div>{html}</div>" if html.startswith("<p>") else f"<p>a {html} d</p>")


def test_html_links_a_note_beside_the_text() -> None:
    """As any footnote."""
    written = html_of(f"<p>a {BOX.format(1, '', 'the note one')} b</p>")

    assert (
        '<p>a <a class="footnote-ref" href="#fn1">1</a> b</p><p><a class="footnote" id="fn1">1</a>the note one</p>'
        == written
    )


@pytest.mark.parametrize("tag", ["sup", "label", "note"])
def test_attributes_of_a_page_make_no_mark_of_a_footnote(tag: str) -> None:
    """Ours have the same."""
    html = f"<p>a b <{tag} is=reference number=7>c</{tag}><span>7 the old note</span> d</p>"

    assert "[^" not in markdown_of(html)
